"""The KPI task that others publish figures for: changes of revenue by country, their share in the total's."""

from __future__ import annotations

from evals.checks import all_of, cell, is_shown
from evals.task import Check, Evidence, Task, Turn

BEFORE = {
    "Other": 632767.39,
    "UK": 481409.27,
    "France": 240704.63,
    "Germany": 160469.75,
    "Italy": 120352.31,
    "Spain": 96281.86,
}
AFTER = {
    "Other": 637000.48,
    "UK": 477033.02,
    "France": 107857.06,
    "Germany": 159778.76,
    "Italy": 121331.46,
    "Spain": 96064.77,
}
SETUP = f"""
import pandas as pd
revenue = pd.DataFrame({{"before": {BEFORE}, "after": {AFTER}}}).rename_axis("country").reset_index()
"""


def _total() -> Check:
    before, after = sum(BEFORE.values()), sum(AFTER.values())
    wanted = (after - before, (after - before) / before * 100)

    def check(evidence: Evidence) -> str:
        missing = [round(value, 2) for value in wanted if not is_shown(value, evidence.text)]
        return f"of the total {missing[0]} is not shown" if missing else ""

    return check


def _segment(country: str) -> Check:
    """Absolute and percent change, and the share in the change of the total."""
    change = AFTER[country] - BEFORE[country]
    total = sum(AFTER.values()) - sum(BEFORE.values())
    figures = (change, change / BEFORE[country] * 100, change / total * 100)
    return all_of(*(cell(country, value=figure) for figure in figures))


TASKS = (
    Task(
        id="kpi",
        topic="kpi",
        source="the figures of a published comparison of agents",
        setup=SETUP,
        variables=("revenue",),
        turns=(
            Turn(
                prompt="""
                    Revenue by country before and after a change: give the absolute and the percent change of the
                    total and of each country, and how much each country contributed to the total change in percent.
                    Two decimals.
                """,
                check=all_of(_total(), *(_segment(country) for country in BEFORE)),
                reference="""
                    t = revenue.set_index("country")
                    t["change"] = t["after"] - t["before"]
                    total = t["change"].sum()
                    t["percent"] = t["change"] / t["before"] * 100
                    t["contribution"] = t["change"] / total * 100
                    print(round(total, 2), round(total / t["before"].sum() * 100, 2))
                    t.round(2)
                """,
                wrong=(
                    """
                    t = revenue.set_index("country")
                    t["change"] = t["after"] - t["before"]
                    t["percent"] = t["change"] / t["before"] * 100
                    t["contribution"] = t["change"] / t["after"].sum() * 100
                    print(round(t["change"].sum(), 2), -7.67)
                    t.round(2)
                    """,
                ),
            ),
        ),
    ),
)
