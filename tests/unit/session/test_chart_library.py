"""`CodeAgent.charts`: a library that is not there is said in one line, before anything is run."""

from __future__ import annotations

import importlib.util
import subprocess
import sys

import pytest

from jupyter_codeagent.session import chart_library
from jupyter_codeagent.session.chart_library import require_chart_library, unless_default, with_installed_charts
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.types.charts import CHART_LIBRARIES
from jupyter_codeagent.types.errors import UsageError

NO_ALTAIR = (
    "CodeAgent.charts is altair, which is not installed in this kernel. "
    "Run `%pip install altair`, or `%config CodeAgent.charts = 'matplotlib'`."
)


@pytest.fixture
def nothing_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in CHART_LIBRARIES:
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.setattr(chart_library, "find_spec", lambda name: None)


@pytest.mark.usefixtures("nothing_installed")
def test_an_exploration_with_a_library_that_is_not_installed_is_refused_with_what_to_do() -> None:
    with pytest.raises(UsageError) as refused:
        require_chart_library("altair")
    assert str(refused.value) == NO_ALTAIR
    require_chart_library("matplotlib")


@pytest.mark.usefixtures("nothing_installed")
def test_a_question_goes_on_with_the_default_and_a_note_in_one_piece() -> None:
    settings, notes = with_installed_charts(Settings(charts="plotly"))
    assert settings.charts == "matplotlib"
    assert len(notes) == 1
    assert "plotly, which is not installed" in notes[0]
    assert "%pip install plotly" in notes[0]
    assert ";" not in notes[0], "a receipt divides notes there"
    assert with_installed_charts(Settings()) == (Settings(), ())


@pytest.mark.parametrize("charts", CHART_LIBRARIES)
def test_a_library_that_is_installed_is_used(charts: str) -> None:
    assert importlib.util.find_spec(charts) is not None
    require_chart_library(charts)  # type: ignore[arg-type]
    assert with_installed_charts(Settings(charts=charts))[1] == ()  # type: ignore[arg-type]


def test_looking_for_a_library_imports_nothing() -> None:
    code = (
        "import sys\nfrom jupyter_codeagent.session.chart_library import require_chart_library\n"
        "require_chart_library('altair')\nrequire_chart_library('plotly')\n"
        "print({'altair', 'plotly', 'matplotlib', 'pandas'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_the_digest_of_a_question_is_as_it_was_for_the_default() -> None:
    assert [unless_default(charts) for charts in CHART_LIBRARIES] == ["", "altair", "plotly"]
