"""Programs of all kinds run on tables that show the finding, as pandas and as polars."""

from __future__ import annotations

import copy
from typing import Any

import pandas as pd
import pytest
from exploration_cases import CASES, WITHOUT_CHART, Case, finding_of, frames
from exploration_runner import Ran, faults, run

from jupyter_codeagent.explore.figures import are_shown
from jupyter_codeagent.explore.programs import program
from jupyter_codeagent.explore.table_part import table_part
from jupyter_codeagent.explore.words import words

LIBRARIES = ("pandas", "polars")
TAKEN = frozenset({"fig", "by_carrier", "rows", "known", "means", "ends", "part"})


def run_case(case: Case, library: str, taken: frozenset[str] = frozenset()) -> tuple[str, Ran, dict[str, Any]]:
    finding, exploration = finding_of(case, library)
    code = program(finding, exploration, taken)
    tables = frames(case, library)
    before = copy.deepcopy(tables)
    ran = run(code, tables | dict.fromkeys(taken, "the user's"))
    for name, table in tables.items():
        if library == "pandas":
            pd.testing.assert_frame_equal(table, before[name])
        else:
            assert table.equals(before[name])
    return code, ran, tables


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CASES)
def test_a_program_shows_each_figure_of_the_words_and_changes_nothing(name: str, library: str) -> None:
    case = CASES[name]()
    code, ran, tables = run_case(case, library)
    said = words(finding_of(case, library)[0])

    assert are_shown(said.figures, ran.output), f"{said.line}\n{code}\n{ran.output}"
    assert len(ran.figures) == (0 if case.kind in WITHOUT_CHART else 1)
    assert "; ".join(fault for figure in ran.figures for fault in faults(figure)) == ""
    assert len(ran.table) <= (12 if library == "pandas" else 10)
    assert code.startswith(f"# {said.title}"[:100])

    part = run(table_part(code), tables)
    assert part.output == ran.output, "without the chart it shows the same"
    assert part.figures == ()


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", CASES)
def test_a_program_assigns_to_no_name_of_the_users(name: str, library: str) -> None:
    _, ran, tables = run_case(CASES[name](), library, TAKEN)

    assert not ran.made & (TAKEN | tables.keys())


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", ["impossible", "ratio", "duplicates", "duplicates_keys"])
def test_rows_are_shown_without_personal_columns(name: str, library: str) -> None:
    case = CASES[name]()
    finding, exploration = finding_of(case, library)
    ran = run(program(finding, exploration, leave_out={"sales": ["e mail"]}), frames(case, library))

    assert "e mail" not in list(ran.table.columns)
    assert "city" in list(ran.table.columns)


@pytest.mark.parametrize("library", LIBRARIES)
def test_a_column_called_ratio_is_shown_beside_the_ratio(library: str) -> None:
    case = CASES["ratio"]()
    case.tables["sales"].insert(0, "ratio", 7.0)
    _, ran, _ = run_case(case, library)
    assert set(ran.table["ratio"]) == {7.0}
    assert min(ran.table["ratio_"]) > 300


@pytest.mark.parametrize("library", LIBRARIES)
def test_only_days_without_rows_are_listed_as_gaps(library: str) -> None:
    _, ran, _ = run_case(CASES["gap"](), library)
    assert list(ran.table["days"]) == sorted(ran.table["days"], reverse=True)
    assert min(ran.table["days"]) > 0


@pytest.mark.parametrize("library", LIBRARIES)
def test_one_row_for_each_level_makes_no_warning(library: str) -> None:
    table = pd.DataFrame({"delay": [1.0, 2.0, 5.0], "carrier": ["a", "b", "c"]})
    facts = {"highest": "c", "lowest": "a", "highest_mean": 5.0, "lowest_mean": 1.0, "highest_n": 1, "lowest_n": 1}
    for levels in (2, 3):
        kept = table.head(levels)
        case = Case(
            tables={"flights": kept},
            kind="group_difference",
            columns=["delay", "carrier"],
            facts=facts | {"levels": levels, "n": levels},
        )
        run_case(case, library)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize(
    "name", ["group", "group_many", "line", "outliers", "association", "join", "season_weekday"]
)
def test_programs_are_short(name: str, library: str) -> None:
    code, _, _ = run_case(CASES[name](), library)

    assert len([line for line in code.splitlines() if line.strip()]) <= 34


@pytest.mark.parametrize("code", ["df.plot()", "%matplotlib inline\ndf", "", "import altair as alt\nalt.Chart(df)"])
def test_what_has_no_table_of_its_own_or_is_no_program_is_left_as_it_is(code: str) -> None:
    assert table_part(code) == code
