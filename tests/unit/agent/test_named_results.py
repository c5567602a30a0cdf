"""Results at the end of a program get their names; each corrected program is run."""

from __future__ import annotations

import ast
import contextlib
import io
from typing import Any

import numpy as np
import pandas as pd
import pytest
from rule_calls import correct, fix, ran

from jupyter_codeagent.agent.rules.named_results import NOTE, name_results
from jupyter_codeagent.types.sandbox import NamespaceEntry

SALES = pd.DataFrame({"shop": ["N", "S"], "old": [10.0, 20.0], "new": [15.0, 10.0]})


def run(code: str) -> tuple[str, Any, list[NamespaceEntry]]:
    """What is printed, the value of the last expression, the namespace."""
    variables: dict[str, Any] = {"sales": SALES.copy(), "np": np, "pd": pd, "display": lambda *_: None}
    printed = io.StringIO()
    lines = code.split("\n")
    start = max(at for at, line in enumerate(lines) if line[:1] not in ("", " ", "}"))
    with contextlib.redirect_stdout(printed):
        exec("\n".join(lines[:start]), variables)
        value = eval("\n".join(lines[start:]), variables)
    return printed.getvalue(), value, [_entry(name, variables[name]) for name in variables]


def _entry(name: str, value: Any) -> NamespaceEntry:
    frame = isinstance(value, pd.DataFrame)
    return NamespaceEntry(
        name=name,
        type_name=type(value).__name__,
        shape=getattr(value, "shape", ()),
        columns=tuple(value.columns) if frame else (),
        dtypes=tuple(str(dtype) for dtype in value.dtypes) if frame else (),
    )


def named(code: str, prompt: str = "Change for each shop?") -> tuple[str, Any]:
    found = fix(name_results, code, prompt=prompt, result=ran(run(code)[2]), defined=["pd"])
    assert found is not None
    assert found.notes == (NOTE,)
    printed, value, _ = run(found.code)
    return printed, value


def test_columns_made_of_a_frame_are_one_table_beside_its_texts_and_figures_have_names() -> None:
    printed, value = named(
        "total = sales['new'].sum() - sales['old'].sum()\n"
        "change = sales['new'] - sales['old']\n"
        "share = round(change / total * 100, 1)\n"
        "display(total, change, share)"
    )
    assert printed == "total: -5.0\n"
    assert value.to_dict("list") == {"shop": ["N", "S"], "change": [5.0, -10.0], "share": [-100.0, 200.0]}


def test_as_many_decimals_are_shown_as_were_asked_for() -> None:
    code = "total = sales['new'].sum() / 7\nshare = sales['new'] / total\ndisplay(total, share)"
    printed, value = named(code, "Share of each shop, two decimals.")
    assert printed == "total: 3.57\n"
    assert value["share"].tolist() == [4.2, 2.8]
    assert named(code)[0] == "total: 3.5714285714285716\n"


def test_one_column_of_a_frame_alone_is_shown_beside_its_texts() -> None:
    _, value = named("change = (sales['new'] - sales['old']).abs()\nchange")
    assert list(value.columns) == ["shop", "change"]


def test_a_copy_of_a_frame_has_its_texts_too_and_what_is_printed_counts() -> None:
    _, value = named("mine = sales.copy()\nchange = mine['new'] / mine['old']\nprint(change)")
    assert value.to_dict("list") == {"shop": ["N", "S"], "change": [1.5, 0.5]}


def test_columns_of_groups_are_one_table_with_the_groups() -> None:
    _, value = named(
        "change = sales.groupby('shop')['new'].sum() - sales.groupby('shop')['old'].sum()\n"
        "share = change / change.sum() * 100\n"
        "display(change, share)"
    )
    assert value.loc["S"].tolist() == [-10.0, 200.0]


@pytest.mark.parametrize(
    "code",
    [
        "change = sales.groupby('shop')['new'].sum()\nchange",
        "total = sales['new'].sum()\ntotal",
        "a = sales.head()\nb = sales.tail()\ndisplay(a, b)",
        "a = sales['new'].sort_values(ignore_index=True)\nb = sales['old'].head()\ndisplay(a, b)",
        "sales = sales.head(1)\na = sales['new'] * 2\na",
        "a = sales['new'] * 2\nprint(a)\nsales.shape",
    ],
)
def test_what_has_a_name_or_no_certain_row_stays(code: str) -> None:
    assert fix(name_results, code, prompt="Change for each shop?", result=ran(run(code)[2]), defined=["pd"]) is None


def test_texts_that_the_prompt_does_not_speak_of_are_not_shown() -> None:
    code = "change = sales['new'] - sales['old']\nchange"
    assert (
        fix(name_results, code, prompt="By how much has it changed?", result=ran(run(code)[2]), defined=["pd"])
        is None
    )


def test_a_label_is_a_string_whatever_it_holds() -> None:
    label = 'shop": print("out"), "'
    frame = NamespaceEntry(
        name="sales", type_name="DataFrame", shape=(2, 2), columns=(label, "x"), dtypes=("str", "int64")
    )
    series = NamespaceEntry(name="change", type_name="Series", shape=(2,))
    found = fix(
        name_results,
        "change = sales['x'] * 2\nchange",
        prompt="of each shop print out",
        result=ran([frame, series]),
        defined=["pd"],
    )
    assert found is not None
    [call] = [node for node in ast.walk(ast.parse(found.code)) if isinstance(node, ast.Call)]
    assert ast.unparse(call.func) == "pd.DataFrame"


def test_what_a_question_in_parts_computes_and_forgets_is_shown() -> None:
    code = "n = len(df)\nshare = df['x'].mean()\nprint(n)"
    assert (
        correct(code, copied=["df"], prompt="What is the change of each shop? What is the share?").code
        == f"{code}\nshare"
    )
    assert correct(code, copied=["df"]).code == code


def test_what_a_later_part_goes_on_with_is_shown_too() -> None:
    code = "late = df[df['x'] > 1]\nchange = late['x'] - late['y']\nshare = change / change.sum()"
    assert (
        correct(code, copied=["df"], prompt="What is the change of each shop? What is the share?").code
        == f"{code}\ndisplay(change, share)"
    )
    assert correct(code, copied=["df"]).code == f"{code}\nshare"


@pytest.mark.parametrize(
    "code",
    [
        "n = len(df)\nprint(n)",
        "share = df['x'].mean()\ndf.head()",
        "fig, ax = plt.subplots()\nplt.show()",
        "n, bins, patches = plt.hist(df['x'])\nplt.show()",
        "bars = plt.bar(df['g'], df['x'])\nplt.show()",
    ],
)
def test_a_program_in_parts_that_shows_all_stays(code: str) -> None:
    assert (
        correct(
            code, copied=["df"], defined=["plt"], prompt="What is the change of each shop? What is the share?"
        ).code
        == code
    )


@pytest.mark.parametrize(
    ("code", "shown"),
    [
        ("a = 1.5\nb = 2\nprint(a)\nprint(b)\n0", "a: 1.5\nb: 2\n"),
        (
            "a = 1.26\nprint(round(a, 1))\nday = pd.Timestamp('2024-05-01')\nday",
            "a: 1.3\nday: 2024-05-01 00:00:00\n",
        ),
        ("m = 2.5\nn = np.int64(3)\nprint(m)\nprint(n)\nsales", "m: 2.5\nn: 3\n"),
    ],
)
def test_single_values_that_are_printed_one_by_one_get_their_names(code: str, shown: str) -> None:
    found = fix(name_results, code, prompt="How many, and when?", result=ran(run(code)[2]), defined=["pd"])
    assert found is not None
    assert found.notes == (NOTE,)
    assert run(found.code)[0] == shown


@pytest.mark.parametrize(
    "code",
    [
        "a = 1.5\nprint(a)\n0",
        "a = 1.5\nprint(a)\nprint(a)\n0",
        "a = 1.5\nb = 2\nprint('a', a)\nprint(f'{b}')\n0",
        "a = 1.5\nprint(a)\nprint(sales)\nsales",
        "a = 1.5\nb = 2\nprint('Means:')\nprint(a)\nprint(b)\n0",
        "a = 'name  n'\nb = 'usa   3'\nprint(a)\nprint(b)\n0",
        "a = 1.5\nb = 2\nprint(a, b)\n0",
    ],
)
def test_what_is_printed_alone_or_in_another_way_stays(code: str) -> None:
    assert fix(name_results, code, prompt="How many?", result=ran(run(code)[2]), defined=["pd"]) is None
