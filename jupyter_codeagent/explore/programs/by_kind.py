"""One program for each kind of finding."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from jupyter_codeagent.explore.programs import groups, joins, pairs, quality, spellings, strata, times
from jupyter_codeagent.explore.programs.draft import Draft
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.exploration import Exploration, Finding, FindingKind

_WRITERS: Mapping[FindingKind, Callable[[Draft], None]] = {
    "duplicates": quality.duplicates,
    "text_type": quality.text_type,
    "missing": quality.missing,
    "missing_by_group": groups.missing_by_group,
    "missing_together": quality.missing_together,
    "gap": times.gap,
    "outliers": quality.outliers,
    "impossible": quality.impossible,
    "ratio": quality.ratio,
    "spelling": spellings.spelling,
    "key_spelling": spellings.key_spelling,
    "skew": quality.skew,
    "group_difference": groups.group_difference,
    "correlation": pairs.correlation,
    "association": groups.association,
    "trend": times.trend,
    "group_trend": times.group_trend,
    "season": times.season,
    "break": times.level_shift,
    "reversal": strata.reversal,
    "interaction": strata.interaction,
    "same": pairs.same,
    "join": joins.join,
}


def program(
    finding: Finding,
    exploration: Exploration,
    taken: Collection[str] = (),
    leave_out: Mapping[str, Collection[str]] | None = None,
    *,
    charts: ChartLibrary = "matplotlib",
) -> str:
    """Return the program that shows a finding: plain pandas or polars, whichever its table is made of.

    Parameters
    ----------
    taken
        Names of the user's, which the program does not assign to.
    leave_out
        Personal columns by table, whose values are not shown.
    charts
        The library that draws the chart.
    """
    draft = Draft(finding, exploration, taken, leave_out, charts=charts)
    _WRITERS[finding.kind](draft)
    return draft.text()
