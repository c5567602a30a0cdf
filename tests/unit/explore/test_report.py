"""The report of the sandbox is read as what hostile code wrote."""

from __future__ import annotations

import json
from typing import Any

import pytest
from exploration_cases import CASES, exploration_of

from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.types.errors import VariableError

COLUMNS = {"flights": ["delay", "carrier", "day"], "planes": ["tailnum"]}
FACTS = {
    "highest": "F9",
    "lowest": "US",
    "highest_mean": 20.2,
    "lowest_mean": 3.8,
    "highest_n": 682,
    "lowest_n": 19873,
    "levels": 16,
    "n": 300,
}
GOOD: dict[str, Any] = {
    "kind": "group_difference",
    "table": "flights",
    "columns": ["delay", "carrier"],
    "effect": 0.4,
    "p_value": 0.0,
    "facts": FACTS,
}
TABLES = [{"table": "flights", "library": "pandas", "rows": 5}, {"table": "planes", "library": "polars", "rows": 2}]


def read(*findings: object, **more: object) -> Any:
    return read_report(json.dumps({"tables": TABLES, "findings": list(findings), "tried": 7} | more), COLUMNS)


def test_a_finding_is_read() -> None:
    one = read(GOOD).findings[0]

    assert one.columns == ("delay", "carrier")
    assert one.facts == FACTS
    assert read(GOOD).tried == 7


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "invented"},
        {"kind": ["group_difference"]},
        {"table": "os"},
        {"table": None},
        {"columns": ["delay"]},
        {"columns": ["delay", "delay"]},
        {"columns": ["delay", "carrier", "day"]},
        {"columns": ["delay", "invented"]},
        {"columns": ["", "carrier"]},
        {"columns": "delay"},
        {"columns": [["delay"], "carrier"]},
        {"effect": 1.5},
        {"effect": float("nan")},
        {"effect": True},
        {"p_value": -1},
        {"p_value": "0"},
        {"facts": []},
        *(
            {"facts": FACTS | {"highest_mean": value}}
            for value in (float("inf"), float("nan"), "1", None, 1e300, 10**400, True)
        ),
        *({"facts": FACTS | {"levels": value}} for value in (-1, 1.5, 1 << 70, "3")),
        *({"facts": FACTS | {"highest": value}} for value in (1, None, "x" * 201, ["a"])),
        {"facts": {name: value for name, value in FACTS.items() if name != "lowest"}},
    ],
)
def test_a_finding_that_does_not_fit_is_left_out(change: dict[str, Any]) -> None:
    assert read(GOOD | change).findings == ()


def test_facts_that_a_kind_does_not_have_are_left_out() -> None:
    assert "code" not in read(GOOD | {"facts": FACTS | {"code": "x"}}).findings[0].facts


@pytest.mark.parametrize("at", ["2022-13-01", "2022-07-01; x", "today", "2022-07-01\n", 20220701])
def test_a_date_that_is_none_is_left_out(at: object) -> None:
    facts = {"at": at, "before": 1.0, "after": 2.0, "period": "M", "n": 10}

    assert read(GOOD | {"kind": "break", "columns": ["delay", "day"], "facts": facts}).findings == ()


@pytest.mark.parametrize(("cycle", "highest"), [("weekday", 7), ("month", 0), ("hour", 24), ("year", 1)])
def test_a_part_of_no_cycle_is_left_out(cycle: str, highest: int) -> None:
    facts = {"cycle": cycle, "highest": highest, "lowest": 1, "highest_mean": 2.0, "lowest_mean": 1.0, "n": 10}

    assert read(GOOD | {"kind": "season", "columns": ["delay", "day"], "facts": facts}).findings == ()


@pytest.mark.parametrize("right", ["flights", "os", 3])
def test_a_join_needs_two_tables(right: object) -> None:
    facts = {"left": "flights", "right": right, "matched": 0.5, "right_unique": True, "repeats": 0, "n": 10}

    assert read(GOOD | {"kind": "join", "columns": ["carrier", "tailnum"], "facts": facts}).findings == ()


TWO = {"left": "flights", "right": "planes", "matched": 0.5, "right_unique": True, "repeats": 0, "n": 10}


def join_by(columns: object, **facts: object) -> Any:
    tables = {"flights": ["carrier", "day", "delay", "tailnum"], "planes": ["tailnum", "day", "seats", "delay"]}
    report = {"tables": TABLES, "findings": [GOOD | {"kind": "join", "columns": columns, "facts": TWO | facts}]}
    return read_report(json.dumps(report), tables).findings


def test_a_join_by_several_columns_is_read() -> None:
    assert join_by(["tailnum", "day", "tailnum", "day"])[0].columns == ("tailnum", "day", "tailnum", "day")
    assert len(join_by(["tailnum", "day", "delay", "tailnum", "day", "delay"])) == 1


@pytest.mark.parametrize(
    "columns",
    [
        [],
        ["day"],
        ["tailnum", "day", "tailnum"],
        ["tailnum", "day", "tailnum", "day", "seats"],
        ["carrier", "tailnum", "day", "delay", "tailnum", "day", "delay", "seats"],
        ["tailnum", "tailnum", "tailnum", "day"],
        ["tailnum", "day", "tailnum", "tailnum"],
        ["tailnum", "day", "tailnum", "carrier"],
        ["tailnum", "seats", "tailnum", "day"],
        ["tailnum", "os", "tailnum", "day"],
        ["", "day", "", "day"],
        ["tailnum", None, "tailnum", "day"],
        ["tailnum", ["day"], "tailnum", "day"],
        [["tailnum", "day"], ["tailnum", "day"]],
        {"tailnum": "tailnum"},
        "tailnum",
    ],
)
def test_a_join_has_as_many_keys_as_columns_each_of_its_own_table(columns: object) -> None:
    assert join_by(columns) == ()


@pytest.mark.parametrize(
    "facts",
    [
        {"left": "planes"},
        {"right": "flights"},
        {"right": "os"},
        {"matched": 1.1},
        {"matched": None},
        {"right_unique": 1},
        {"repeats": -1},
        {"repeats": "3"},
    ],
)
def test_a_join_by_several_columns_is_held_to_the_facts_of_any_join(facts: dict[str, object]) -> None:
    assert join_by(["tailnum", "day", "tailnum", "day"], **facts) == ()


def test_all_kinds_are_read() -> None:
    for make in CASES.values():
        case = make()
        assert exploration_of(case, "pandas").findings[0].kind == case.kind


def test_tables_that_are_not_the_users_and_long_lists_are_cut() -> None:
    report = read(*[GOOD] * 5000, tables=[*TABLES, {"table": "os", "library": "pandas", "rows": 1}])

    assert [one.table for one in report.tables] == ["flights", "planes"]
    assert len(report.findings) == 2000


def test_an_overview_is_read_as_far_as_it_fits() -> None:
    columns = [
        {"name": "delay", "type": "float64\n", "role": "number", "missing": 3, "distinct": 10},
        {"name": "invented", "type": "x"},
        {"name": "day", "type": 7, "role": "god", "missing": -3},
        "day",
    ]
    table = {
        "table": "flights",
        "library": "pandas",
        "rows": 10,
        "columns": columns,
        "keys": [["day"], ["invented"], "day"],
        "dates": {"column": "day", "first": "2022-01-01", "last": "<script>"},
        "sampled": -1,
    }
    one = read(tables=[table]).tables[0]

    assert [(column.name, column.type, column.role, column.missing) for column in one.columns] == [
        ("delay", "float64", "number", 3),
        ("day", "", "other", 0),
    ]
    assert one.keys == (("day",),)
    assert one.dates is None
    assert one.sampled == 0


@pytest.mark.parametrize("text", ["[]", "1", "", "nonsense", "[" * 100_000, '"x"'])
def test_what_is_no_report_is_an_error(text: str) -> None:
    with pytest.raises(VariableError, match="report on the tables cannot be read"):
        read_report(text, COLUMNS)


def test_names_that_are_no_variables_never_reach_code() -> None:
    report = {"tables": [{"table": "a b", "library": "pandas", "rows": 1}], "findings": [GOOD | {"table": "class"}]}
    read = read_report(json.dumps(report), {"a b": ["delay"], "class": ["delay", "carrier"]})

    assert read.tables == ()
    assert read.findings == ()
