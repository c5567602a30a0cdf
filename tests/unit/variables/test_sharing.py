"""Arguments of `%agent hide`, the lists in a notebook's metadata, and which of them takes precedence."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.variables.privacy.sharing.notebook_metadata import (
    LISTS_VARIABLE,
    lists_environment,
    notebook_lists,
)
from jupyter_codeagent.variables.privacy.sharing.rules import (
    MAX_COLUMNS,
    MAX_LABEL_CHARS,
    Sharing,
    parse_targets,
    read_sharing,
    sharing_view,
)
from jupyter_codeagent.variables.privacy.sharing.state import SharingState

LISTS = {"version": 1, "shared": {"a": "hidden", "b": "shared"}, "hidden_columns": {"df": ["x", "y"]}}


@pytest.mark.parametrize(
    ("text", "targets"),
    [
        ("df", [("df", set())]),
        ("df, other", [("df", set()), ("other", set())]),
        ("flights[tailnum,'dep delay'], df", [("flights", {"tailnum", "dep delay"}), ("df", set())]),
        ("""df[ "a,b" , 'c]d', e f ]""", [("df", {"a,b", "c]d", "e f"})]),
        (r"df['it\'s']", [("df", {"it's"})]),
    ],
)
def test_variables_and_columns_are_read(text: str, targets: list[tuple[str, set[str]]]) -> None:
    assert [(name, set(labels)) for name, labels in parse_targets(text)] == targets


@pytest.mark.parametrize("text", ["", "1a", "df[", "df[]", "df['']", "df[a] b", "df['a]", "a b", "df[a][b]"])
def test_what_is_no_list_of_variables_is_one_line(text: str) -> None:
    with pytest.raises(UsageError) as raised:
        parse_targets(text)
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize(
    "data",
    [
        *(None, 7, "x", [], {}, {"shared": 7, "hidden_columns": []}),
        {"shared": {"1a": "hidden", "a b": "hidden", "_x": "hidden", "c": "yes", "d": ["hidden"], "e": "auto"}},
        {"hidden_columns": {"<b>": ["x"], "df": "x", "e": [7, None], "f": {"x": 1}}},
    ],
)
def test_what_is_no_list_is_left_out(data: object) -> None:
    assert read_sharing(data, only_hidden=False) == Sharing()


def test_a_file_may_hide_and_share_nothing() -> None:
    assert read_sharing(LISTS, only_hidden=True).shared == {"a": "hidden"}
    assert read_sharing(LISTS, only_hidden=False).shared == {"a": "hidden", "b": "shared"}
    assert read_sharing(LISTS, only_hidden=True).hidden_columns == {"df": {"x", "y"}}


@pytest.mark.parametrize("labels", [["x" * (MAX_LABEL_CHARS + 1)], [str(at) for at in range(MAX_COLUMNS + 1)]])
def test_a_list_that_would_have_to_be_cut_hides_the_whole_variable(labels: list[str]) -> None:
    assert read_sharing({"hidden_columns": {"df": labels}}, only_hidden=True).shared == {"df": "hidden"}


def test_the_same_lists_are_the_same_bytes() -> None:
    view = sharing_view({"b": "hidden", "a": "shared", "c": "auto"}, {"df": frozenset("yx")})
    assert json.dumps(view) == '{"shared": {"a": "shared", "b": "hidden"}, "hidden_columns": {"df": ["x", "y"]}}'
    assert read_sharing(view, only_hidden=False).hidden_columns == {"df": {"x", "y"}}


def page(**hidden: str) -> Sharing:
    return read_sharing(
        {"hidden_columns": {name: list(labels) for name, labels in hidden.items()}}, only_hidden=False
    )


def test_what_the_user_chose_in_this_kernel_goes_before_the_lists_of_a_page() -> None:
    sharing = SharingState()
    sharing.set_variable("a", "auto")
    sharing.set_columns("df", frozenset("x"), "shared")
    assert sharing.adopt_page(read_sharing(LISTS, only_hidden=False)) == ("df",)
    assert sharing.shared == {"a": "auto", "b": "shared"}
    assert sharing.hidden_columns == {"df": {"y"}}


def test_a_second_page_hides_more_and_shows_nothing_again() -> None:
    sharing = SharingState()
    assert sharing.adopt_page(page(df="x")) == ("df",)
    assert sharing.adopt_page(page()) == ()
    assert sharing.adopt_page(page(df="xy")) == ("df",)
    assert sharing.hidden_columns == {"df": {"x", "y"}}


def test_the_page_goes_before_the_file_that_was_saved_earlier() -> None:
    sharing = SharingState()
    sharing.adopt_file(read_sharing(LISTS, only_hidden=True))
    assert sharing.shared == {"a": "hidden"}
    sharing.adopt_page(page(df="y"))
    assert sharing.shared == {}
    assert sharing.hidden_columns == {"df": {"y"}}


def test_what_page_and_file_both_hide_stays_hidden_throughout_and_is_nothing_new() -> None:
    sharing = SharingState()
    sharing.adopt_file(read_sharing(LISTS, only_hidden=True))
    assert sharing.adopt_page(read_sharing(LISTS, only_hidden=True)) == ()
    assert sharing.shared == {"a": "hidden"}
    assert sharing.hidden_columns == {"df": {"x", "y"}}


def test_what_is_shown_again_leaves_no_entry() -> None:
    sharing = SharingState()
    sharing.set_columns("df", frozenset("xy"), "hidden")
    sharing.set_columns("df", frozenset("x"), "shared")
    assert sharing.hidden_columns == {"df": {"y"}}
    sharing.set_columns("df", frozenset("y"), "shared")
    assert sharing.hidden_columns == {}


def test_the_lists_of_a_notebook_reach_its_kernel_through_the_environment(tmp_path: Path) -> None:
    environment = lists_environment({"codeagent": LISTS})
    lists = notebook_lists(None, environment)
    assert lists.shared == {"a": "hidden"}
    assert lists.hidden_columns == {"df": {"x", "y"}}


def test_lists_too_long_for_the_environment_hide_whole_variables() -> None:
    labels = [f"column {at}" for at in range(MAX_COLUMNS)]
    hidden = {"codeagent": {"hidden_columns": dict.fromkeys("abc", labels)}}
    assert notebook_lists(None, lists_environment(hidden)).shared == dict.fromkeys("abc", "hidden")
    many = {"codeagent": {"shared": {f"variable_{at}": "hidden" for at in range(9000)}}}
    with pytest.raises(UsageError, match="hide fewer"):
        lists_environment(many)


def test_without_a_page_the_lists_are_those_of_the_saved_file(tmp_path: Path) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(json.dumps({"metadata": {"codeagent": LISTS}, "cells": []}), encoding="utf-8")
    assert notebook_lists(str(path), {}).hidden_columns == {"df": {"x", "y"}}
    assert notebook_lists(str(path), {LISTS_VARIABLE: "{}"}) == Sharing()
    assert notebook_lists(str(tmp_path / "renamed.ipynb"), {}) == Sharing()
    assert notebook_lists(None, {}) == Sharing()


@pytest.mark.parametrize("content", ["{", "[]", "null"])
def test_a_notebook_whose_lists_cannot_be_read_stops_the_run(tmp_path: Path, content: str) -> None:
    path = tmp_path / "a.ipynb"
    path.write_text(content, encoding="utf-8")
    with pytest.raises(UsageError, match="nothing was sent"):
        notebook_lists(str(path), {})
