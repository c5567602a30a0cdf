"""Palmer penguins (CC0): 344 rows, missing sexes and measurements."""

from __future__ import annotations

from functools import cache
from typing import Any

from evals.checks import all_of, at_most_numbers, close, figure, frame, has_bars, labelled, number, row
from evals.task import Task, Turn

SETUP = "from palmerpenguins import load_penguins\npenguins = load_penguins()"
SOURCE = "palmerpenguins: penguins"


@cache
def table() -> Any:
    from palmerpenguins import load_penguins

    return load_penguins()


def _mass_by_species() -> dict[str, float]:
    return {str(name): float(mean) for name, mean in table().groupby("species").body_mass_g.mean().items()}


def _judge_complete(found: Any) -> str:
    wanted = table().dropna()
    if len(found) != len(wanted):
        return f"complete has {len(found)} rows"
    ratio = (wanted.bill_length_mm / wanted.bill_depth_mm).mean()
    return "" if close(found["bill_ratio"].mean(), ratio) else "bill_ratio is not length by depth"


TASKS = (
    Task(
        id="penguins-mass-by-species",
        topic="group",
        source=SOURCE,
        setup=SETUP,
        variables=("penguins",),
        turns=(
            Turn(
                prompt="What is the average body mass of each species, and how many birds of each were weighed?",
                check=all_of(
                    *(
                        row(name, mean, table().groupby("species").body_mass_g.count()[name], digits=0)
                        for name, mean in _mass_by_species().items()
                    )
                ),
                reference="penguins.groupby('species').body_mass_g.agg(['mean', 'count'])",
                wrong=(
                    "penguins.groupby('species').body_mass_g.agg(['median', 'count'])",
                    "penguins.groupby('species').body_mass_g.agg(['mean', 'size'])",
                ),
            ),
            Turn(
                prompt="Make a bar chart of these averages, the heaviest species first.",
                check=figure(has_bars(sorted(_mass_by_species().values(), reverse=True), ordered=True), labelled),
                reference=(
                    "m = penguins.groupby('species').body_mass_g.mean().sort_values(ascending=False)\n"
                    "ax = m.plot.bar(title='Body mass')\nax.set_ylabel('g')\nax.set_xlabel('species')"
                ),
                wrong=(
                    "ax = penguins.groupby('species').body_mass_g.mean().plot.bar()\nax.set_ylabel('g')",
                    "penguins.groupby('species').body_mass_g.mean()",
                ),
            ),
        ),
    ),
    Task(
        id="penguins-complete-rows",
        topic="cleaning",
        source=SOURCE,
        setup=SETUP,
        variables=("penguins",),
        turns=(
            Turn(
                prompt="""
                    Drop the penguins with any missing value, add a column bill_ratio (bill length divided by bill
                    depth) and keep the result as complete. How many rows are left?
                """,
                check=all_of(
                    number(len(table().dropna()), digits=0), at_most_numbers(60), frame("complete", _judge_complete)
                ),
                reference="""
                    complete = penguins.dropna().copy()
                    complete["bill_ratio"] = complete.bill_length_mm / complete.bill_depth_mm
                    print(len(complete))
                """,
                wrong=(
                    """
                    complete = penguins.dropna(subset=["sex"]).copy()
                    complete["bill_ratio"] = complete.bill_depth_mm / complete.bill_length_mm
                    print(len(complete))
                    """,
                    "complete = penguins.dropna(how='all')\nprint(len(complete))",
                ),
            ),
        ),
    ),
)
