"""Tables with planted findings and tables of noise: what an exploration shows of them.

``python -m evals.suites.explore [development|held_back|group_trends]``. No model and no sandbox: the tables are
looked at as the sandbox does it, and chosen from as the kernel does it. Of what is held back only the counts are
printed. Of the tables with group trends nothing else is counted: not all that is in them is on their list.
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Mapping
from typing import Any

from evals.explore.judge import Found, judge, judge_noise
from evals.explore.noise import noise_cases
from evals.explore.planted import planted_cases
from jupyter_codeagent.explore.ranking import choose
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.sandbox.guest.exploration.explore import explore

SECONDS = 60.0
MAX_ROWS = 500_000
NOISE_SEED = 20261126


def found_in(tables: Mapping[str, Any]) -> list[Found]:
    """Return what is shown of tables that belong together: joins, flaws, then insights in their order."""
    report = explore(dict(tables), {}, SECONDS, MAX_ROWS)
    columns = {name: tuple(map(str, table.columns)) for name, table in tables.items()}
    chosen = choose(read_report(json.dumps(report), columns))
    return [
        Found(one.kind, one.table, frozenset(one.columns) - {""})
        for one in (*chosen.joins, *chosen.quality, *chosen.insights)
    ]


def main() -> None:
    """Print recall by kind, what is shown that nobody planted, and what is found in noise."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "half", nargs="?", choices=["development", "held_back", "group_trends"], default="development"
    )
    parser.add_argument("--noise", type=int, default=100, help="how many tables of noise (100)")
    options = parser.parse_args()
    started = time.monotonic()
    cases = planted_cases(options.half)
    found = [one for case in cases for one in found_in(case.tables)]
    if options.half == "group_trends":
        found = [one for one in found if one.kind == "group_trend"]
    verdict = judge(cases, found)
    print(f"planted findings shown: {verdict.recall}")
    for kind, tally in verdict.by_kind.items():
        print(f"  {kind}: {tally}")
    print(f"insights: {verdict.planted} planted, {verdict.related} related, {len(verdict.unrelated)} neither")
    if options.half == "development":
        for missed in verdict.missed:
            print(f"  missed: {missed.kind} in {missed.table}: {', '.join(sorted(missed.columns))}")
    noise = [judge_noise([case], found_in(case.tables)) for case in noise_cases(options.noise, NOISE_SEED)]
    effects, flaws = sum(bool(one.false_effects) for one in noise), sum(bool(one.false_quality) for one in noise)
    print(f"of {len(noise)} tables of noise {effects} show an effect, {flaws} a flaw or a join")
    print(f"{time.monotonic() - started:.0f} s")


if __name__ == "__main__":
    main()
