"""What is shown of an exploration: an overview of each table, then the findings, each as words and a program."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass

from jupyter_codeagent.explore.figures import are_shown
from jupyter_codeagent.explore.goal import columns_meant
from jupyter_codeagent.explore.overview import overview_program, overview_words
from jupyter_codeagent.explore.programs import program
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.explore.words import words
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.exploration import Exploration, Finding, TableOverview


@dataclass(frozen=True, kw_only=True)
class FindingCell:
    """One cell of an exploration, before its program has run."""

    prompt: str
    """What the history calls it: ``explore flights: arr_delay by carrier``."""
    words: str
    """The line that stands below the result."""
    words_without_figures: str
    """The line where the output does not show all figures of `words`."""
    figures: tuple[str, ...]
    code: str
    table: str
    finding: Finding | None = None
    """None for the overview of a table."""

    def words_for(self, output: str) -> str:
        """Return the line that may stand below this output: none of its figures is missing there."""
        return self.words if are_shown(self.figures, output) else self.words_without_figures


def cells_of(
    exploration: Exploration,
    *,
    goal: str,
    taken: Collection[str],
    personal: Mapping[str, Collection[str]],
    charts: ChartLibrary = "matplotlib",
) -> tuple[FindingCell, ...]:
    """Return the cells in the order in which they are inserted.

    Parameters
    ----------
    goal
        The user's question: findings on columns that it names come first.
    taken
        Names of the live kernel, which no program binds.
    personal
        Columns by table of which no values are shown.
    charts
        The library that draws charts.
    """
    chosen = choose(exploration, columns_meant(exploration, goal))
    overviews = [_overview_cell(exploration, one, taken, personal) for one in exploration.tables]
    findings = (*chosen.joins, *chosen.quality, *chosen.insights)
    return (*overviews, *(_finding_cell(exploration, one, taken, personal, charts) for one in findings))


def _overview_cell(
    exploration: Exploration,
    overview: TableOverview,
    taken: Collection[str],
    personal: Mapping[str, Collection[str]],
) -> FindingCell:
    text = " ".join(overview_words(exploration, overview.table))
    return FindingCell(
        prompt=f"explore {overview.table}: overview",
        words=text,
        words_without_figures=text,
        figures=(),
        code=overview_program(overview, taken, personal.get(overview.table, ())).strip(),
        table=overview.table,
    )


def _finding_cell(
    exploration: Exploration,
    finding: Finding,
    taken: Collection[str],
    personal: Mapping[str, Collection[str]],
    charts: ChartLibrary,
) -> FindingCell:
    said = words(finding)
    return FindingCell(
        prompt=f"explore {finding.table}: {said.title}",
        words=said.line,
        words_without_figures=said.title,
        figures=said.figures,
        code=program(finding, exploration, taken, personal, charts=charts).strip(),
        table=finding.table,
        finding=finding,
    )
