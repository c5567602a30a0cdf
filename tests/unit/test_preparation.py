"""`jupyter_codeagent.preparation`: what is decided before anything is sent."""

from __future__ import annotations

import pytest

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.options import RunOptions
from jupyter_codeagent.preparation import check_options
from jupyter_codeagent.settings import Settings


def test_more_candidates_than_allowed_are_refused_with_both_figures() -> None:
    settings = Settings(max_candidates=3)
    with pytest.raises(UsageError, match="--candidates 4: at most 3"):
        check_options(RunOptions(candidates=4), settings)
    check_options(RunOptions(candidates=3), settings)
