"""`jupyter_codeagent.entrypoints.data_files`: how `ask` and `explore` load the data of a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pandas as pd
import pytest

from jupyter_codeagent.entrypoints.data_files import LOOKED_AT_ROWS, date_columns, notebook_of, variable_name


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


def loaded(file: Path) -> pd.DataFrame:
    source = notebook_of([file], "%%agent\nq").cells[0].source
    values: dict[str, pd.DataFrame] = {}
    exec(source.replace("%load_ext", "# %load_ext"), values)
    return values[variable_name(file.stem)]


def test_the_loading_cell_is_python_for_a_file_called_as_a_keyword(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("class.csv").touch()
    source = notebook_of([Path("class.csv")], "%%agent\nq").cells[0].source
    assert "data_class = pd.read_csv('class.csv')" in source
    ast.parse(source.replace("%load_ext", "# %load_ext"))


@pytest.mark.parametrize(("suffix", "separator"), [(".csv", ","), (".tsv", "\t")])
def test_iso_dates_of_a_text_file_are_read_as_dates_and_nothing_else_is(
    tmp_path: Path, suffix: str, separator: str
) -> None:
    rows = [
        ["day", 'it\'s "at"', "version", "mixed", "american", "empty", "n"],
        ["2024-01-31", "2024-01-31 10:30", "2024-01-31", "2024-01-31 10:30", "01/31/2024", "", "20240131"],
        ["", "2024-02-01 11:00", "1.2", "2024-02-01", "02/01/2024", "", "20240201"],
    ]
    quoted = [['"' + value.replace('"', '""') + '"' for value in row] for row in rows]
    file = tmp_path / f"visits{suffix}"
    file.write_text("\n".join(map(separator.join, quoted)), encoding="utf-8-sig")

    assert date_columns(file, separator) == ("day", 'it\'s "at"')
    read = loaded(file)
    assert [str(kind).partition("[")[0] for kind in read.dtypes[:3]] == ["datetime64", "datetime64", "str"]
    assert read["day"].isna().tolist() == [False, True]


def test_a_column_that_has_something_else_further_down_is_read_as_text(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("day\n" + "2024-01-31\n" * LOOKED_AT_ROWS + "unknown\n")

    assert date_columns(file, ",") == ("day",)
    assert loaded(file)["day"].iloc[-1] == "unknown"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"day\n", id="no rows"),
        pytest.param(b"day,day\n2024-01-31,2024-01-31\n", id="one name twice"),
        pytest.param(b"\xff\xfe\x00day\n2024-01-31\n", id="no text in UTF-8"),
        pytest.param(b"day\n2024-01-31,5\n", id="more values than names"),
        pytest.param(b"day;n\n2024-01-31;5\n", id="another separator"),
    ],
)
def test_a_file_that_is_no_plain_table_with_dates_is_left_to_pandas(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "visits.csv"
    file.write_bytes(content)

    assert date_columns(file, ",") == ()
    assert "read_csv" in notebook_of([file], "").cells[0].source
    assert "parse_dates" not in notebook_of([file], "").cells[0].source
