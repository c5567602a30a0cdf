"""Which variables of the user's are left as they are."""

from __future__ import annotations

import pandas as pd

from jupyter_codeagent.session.live_names import live_names
from jupyter_codeagent.types.variables import LiveNames
from jupyter_codeagent.variables.describe import describe

VARIABLES = {
    "flights": pd.DataFrame({"month": [1], "dep delay": [2]}),
    "monthly": pd.Series([1.0]),
    "rows": [{"n": 1}],
    "limit": 10,
    "total": 3,
    "pd": pd,
    "f": len,
}


def test_what_is_copied_and_all_frames_and_containers_are_the_users() -> None:
    found = live_names(
        describe(VARIABLES, privacy="stats", mentioned=""),
        copied=["flights", "limit"],
        own=["monthly"],
        taken=[*VARIABLES, "secret"],
    )
    assert found == LiveNames(
        data={"flights": "DataFrame", "rows": "list", "limit": "int"},
        columns=frozenset({"month", "dep delay"}),
        taken=frozenset({*VARIABLES, "secret"}),
    )
