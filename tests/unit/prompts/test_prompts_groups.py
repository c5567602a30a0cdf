"""A figure for each of something, where the program has computed one for all."""

from __future__ import annotations

import pytest

from jupyter_codeagent.prompts.groups import forgotten_group
from jupyter_codeagent.values import NamespaceEntry

YIELDS = NamespaceEntry(
    name="df", type_name="DataFrame", shape=(9, 4), columns=("site", "yield", "Dep_Hour", "hour"), dtypes=()
)


@pytest.mark.parametrize(
    ("prompt", "code", "label"),
    [
        ("Mean yield per site?", "df['yield'].mean()", "site"),
        ("What is the mean for each Site", "df['yield'].mean()", "site"),
        ("Mean yield per site?", "df.groupby('site')['yield'].mean()", ""),
        ("The mean of each dep_hour", "df['yield'].mean()", "Dep_Hour"),
        ("Average speed in miles per hour?", "df['yield'].mean()", ""),
        ("Mean yield of each variety", "df['yield'].mean()", ""),
        ("Mean yield", "df['yield'].mean()", ""),
        ("Mean yield at each site (A, B)", "print(yields('A').mean(), yields('B').mean())", ""),
        ("Mean yield at each site but A", "df[df['x'] == 'A']['yield'].mean()", "site"),
    ],
)
def test_a_group_that_was_asked_for_and_is_not_in_the_code_is_told(prompt: str, code: str, label: str) -> None:
    told = forgotten_group(prompt, code, [YIELDS])
    assert bool(told) == bool(label)
    assert label in told
