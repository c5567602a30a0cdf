"""`jupyter_codeagent.entrypoints.data_files`: how `ask` and `explore` load the data of a file."""

from __future__ import annotations

import ast
from pathlib import Path

import pandas as pd
import pytest

from jupyter_codeagent.entrypoints.data_files import (
    LOOKED_AT_ROWS,
    SEPARATORS,
    notebook_of,
    text_form,
    variable_names,
)


@pytest.mark.parametrize(
    ("stem", "name"),
    [
        ("flights", "flights"),
        ("2024 sales-eu", "data_2024_sales_eu"),
        ("class", "data_class"),
        ("None", "data_None"),
        ("_if_", "data_if"),
        ("..", "data_"),
        ("pd", "pd_2"),
    ],
)
def test_a_file_gives_its_name_to_a_variable_that_can_be_assigned_to(stem: str, name: str) -> None:
    assert variable_names([Path(f"{stem}.csv")]) == (name,)


def test_files_of_one_name_become_different_variables() -> None:
    paths = [Path(name) for name in ("2023/sales.csv", "2024/sales.csv", "a b.csv", "a-b.csv", "sales_2.csv")]
    assert variable_names(paths) == ("sales", "sales_2", "a_b", "a_b_2", "sales_2_2")


def loaded(file: Path) -> pd.DataFrame:
    source = notebook_of([file], "%%agent\nq").cells[0].source
    values: dict[str, pd.DataFrame] = {}
    exec(source.replace("%load_ext", "# %load_ext"), values)
    return values[variable_names([file])[0]]


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

    assert text_form(file, SEPARATORS[suffix]).dates == ("day", 'it\'s "at"')
    read = loaded(file)
    assert [str(kind).partition("[")[0] for kind in read.dtypes[:3]] == ["datetime64", "datetime64", "str"]
    assert read["day"].isna().tolist() == [False, True]


def test_a_column_that_has_something_else_further_down_is_read_as_text(tmp_path: Path) -> None:
    file = tmp_path / "visits.csv"
    file.write_text("day\n" + "2024-01-31\n" * LOOKED_AT_ROWS + "unknown\n")

    assert text_form(file, [","]).dates == ("day",)
    assert loaded(file)["day"].iloc[-1] == "unknown"


@pytest.mark.parametrize(
    "content",
    [
        pytest.param(b"", id="empty"),
        pytest.param(b"day\n", id="no rows"),
        pytest.param(b"day,day\n2024-01-31,2024-01-31\n", id="one name twice"),
        pytest.param(b"\xff\xfe\x00day\n2024-01-31\n", id="not text at all"),
        pytest.param(b"day\n2024-01-31,5\n", id="more values than names"),
    ],
)
def test_a_file_that_is_no_plain_table_with_dates_is_left_to_pandas(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "visits.csv"
    file.write_bytes(content)

    assert text_form(file, SEPARATORS[".csv"]).dates == ()
    assert "read_csv" in notebook_of([file], "").cells[0].source
    assert "parse_dates" not in notebook_of([file], "").cells[0].source


@pytest.mark.parametrize(
    ("content", "told", "first"),
    [
        pytest.param("day;n\n2024-01-31;5\n", "sep=';', parse_dates=['day']", 5, id="semicolons"),
        pytest.param("town;n\na,b;1,5\nc;2,25\n", "sep=';', decimal=','", 1.5, id="decimal commas"),
        pytest.param("town|n\na|5\n", "sep='|'", 5, id="bars"),
        pytest.param("town\tn\na\t5\n", "sep='\\t'", 5, id="tabs in a CSV file"),
        pytest.param('town,n\n"a;b",5\nc;d,6\n', "", 5, id="semicolons in text"),
        pytest.param("n\n5\n", "", 5, id="one column"),
        pytest.param("town;n;day\nx;1.5;31.12.2024\n", "sep=';'", 1.5, id="points stay decimals"),
    ],
)
def test_what_separates_the_values_and_the_decimals_is_read_from_the_first_rows(
    tmp_path: Path, content: str, told: str, first: float
) -> None:
    file = tmp_path / "TOWNS.CSV"
    file.write_text(content)
    source = notebook_of([file], "").cells[0].source

    assert source.endswith(f"TOWNS = pd.read_csv({str(file)!r}{', ' if told else ''}{told})")
    assert loaded(file)["n"].iloc[0] == first


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
def test_letters_beyond_ascii_are_read_whatever_the_file_is_written_in(tmp_path: Path, encoding: str) -> None:
    file = tmp_path / "towns.csv"
    rows = ["town;n", *["Ulm;1"] * 200_000, "Zürich;2"]  # only behind the first rows, and the first megabyte
    file.write_text("\n".join(rows), encoding=encoding)

    assert loaded(file)["town"].iloc[-1] == "Zürich"


def test_leading_zeros_of_codes_are_kept(tmp_path: Path) -> None:
    file = tmp_path / "towns.csv"
    file.write_text("plz,n,zero\n01067,5,0\n80331,6,10\n")

    assert loaded(file)["plz"].tolist() == ["01067", "80331"]
    assert str(loaded(file)["zero"].dtype) == "int64"
