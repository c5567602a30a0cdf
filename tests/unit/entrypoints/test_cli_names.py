"""`jupyter_codeagent.entrypoints.cli`: what `ask` calls the data of a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

from jupyter_codeagent.entrypoints.cli import notebook_of, variable_name


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("flights", "flights"),
        ("2024 sales-eu", "data_2024_sales_eu"),
        ("class", "data_class"),
        ("None", "data_None"),
        ("_if_", "data_if"),
        ("", "data_"),
    ],
)
def test_a_file_gives_its_name_to_a_variable_that_can_be_assigned_to(stem: str, name: str) -> None:
    assert variable_name(stem) == name


def test_the_loading_cell_is_python_for_a_file_called_as_a_keyword(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("class.csv").touch()
    source = notebook_of([Path("class.csv")], "%%agent\nq").cells[0].source
    assert "data_class = pd.read_csv('class.csv')" in source
    ast.parse(source.replace("%load_ext", "# %load_ext"))
