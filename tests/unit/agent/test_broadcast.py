"""Figures of groups reach the rows of their table; each corrected program is run."""

from __future__ import annotations

from typing import Any

import pandas as pd
import pytest
from rule_calls import fix, ran

from jupyter_codeagent.agent.rules.broadcast import broadcast_to_rows
from jupyter_codeagent.types.sandbox import NamespaceEntry

BIRDS = pd.DataFrame({"kind": ["a", "a", "b"], "mass": [1.0, 3.0, 5.0]})
NAMESPACE = [NamespaceEntry(name="birds", type_name="DataFrame", columns=("kind", "mass", "mean"))]


@pytest.mark.parametrize("grouped", ["birds.groupby('kind')['mass'].mean()", "birds.groupby('kind').mass.mean()"])
def test_the_figure_of_a_group_is_written_to_each_of_its_rows(grouped: str) -> None:
    found = fix(broadcast_to_rows, f"birds['mean'] = {grouped}", result=ran(NAMESPACE))
    assert found is not None
    assert found.notes == ("group statistic broadcast to rows with `transform()`",)
    variables: dict[str, Any] = {"birds": BIRDS.copy()}
    exec(found.code, variables)
    assert variables["birds"]["mean"].tolist() == [2.0, 2.0, 5.0]


@pytest.mark.parametrize(
    "plot", ["birds.plot(kind='bar', x='kind', y='mean')", "birds.plot.bar(x='kind', y='mean', title='T')"]
)
def test_a_bar_is_drawn_for_each_group_and_not_for_each_row(plot: str) -> None:
    found = fix(
        broadcast_to_rows,
        f"birds['mean'] = birds.groupby('kind')['mass'].mean()\naxes = {plot}",
        result=ran(NAMESPACE),
    )
    assert found is not None
    variables: dict[str, Any] = {"birds": BIRDS.copy()}
    exec(found.code, variables)
    assert [bar.get_height() for bar in variables["axes"].patches] == [2.0, 5.0]


@pytest.mark.parametrize(
    "code",
    [
        "birds['mean'] = birds.groupby('kind')['mass'].transform('mean')",
        "birds['mean'] = birds.groupby('id')['mass'].mean()",
        "birds['mean'] = other.groupby('kind')['mass'].mean()",
        "birds['mean'] = birds.groupby(['kind', 'mass'])['mass'].mean()",
        "birds['mean'] = birds.groupby('kind')['mass'].mean(numeric_only=True)",
        "means = birds.groupby('kind')['mass'].mean()",
        "birds['mean'] = birds['mass'].mean()",
        "birds['mean'] = birds.groupby('kind'",
    ],
)
def test_what_finds_its_rows_or_may_mean_something_else_stays(code: str) -> None:
    assert fix(broadcast_to_rows, code, result=ran(NAMESPACE)) is None
