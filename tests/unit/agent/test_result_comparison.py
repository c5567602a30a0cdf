"""What counts as the same result: figures and keys, not wording."""

from __future__ import annotations

import time

import pytest
from runner_double import shown

from jupyter_codeagent.agent.html_tables import table_cells
from jupyter_codeagent.agent.result_comparison import Findings, agree, findings, warning_count
from jupyter_codeagent.types.sandbox import DisplayOutput, ExecutionResult, Output, StreamOutput


def printed(text: str) -> Findings:
    return findings(shown(text))


def displayed(**data: str) -> Findings:
    kinds = {kind.replace("_", "/"): value for kind, value in data.items()}
    output: Output = DisplayOutput(output_type="display_data", data=kinds, metadata={})
    return findings(ExecutionResult(status="ok", outputs=(output,)))


SERIES = "sex\nmale      577\nfemale    314\nName: count, dtype: int64"
FRAME = "      sex  count\n0    male    577\n1  female    314"
FRAME_HTML = (
    "<div><table class='dataframe'><thead><tr><th></th><th>sex</th><th>count</th></tr></thead><tbody>"
    "<tr><th>0</th><td>male</td><td>577</td></tr><tr><th>1</th><td>female</td><td>314</td></tr></tbody></table></div>"
)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mean: 3.14", "The mean is 3.14"),
        ("@mean[3.14]", "3.14"),
        ("@mean[3.14]", "mean = 3.14159"),
        ("Mean fare: 32.2", "average fare: 32.20421"),
        ("np.float64(3.25)", "3.25"),
        ("12,345.6", "12345.61"),
        ("10234", "10,234.0"),
        ("38.4%", "0.38384"),
        ("0.00001", "1e-05"),
        ("3\n4", "[3, 4]"),
        ("t = 2.5, p = 0.013", "t-statistic: 2.5\np-value: 0.01300001"),
        (
            "male: 577\nfemale: 314",
            "female: 577\nmale: 314".replace("577", "x").replace("314", "577").replace("x", "314"),
        ),
        (SERIES, FRAME),
        (SERIES, "{'male': 577, 'female': 314}"),
        ("0    5\n1    7", "5\n7"),
        ("Germany", "The country is Germany."),
        ("UA    58665\nName: count, dtype: int64", "Top carrier: UA (58665)"),
        ("Mean delay: 12.5 min", "Mean delay: 12.50 minutes"),
        ("2013-07-04 00:00:00", "2013-07-04"),
        ("PearsonRResult(statistic=np.float64(0.03658), pvalue=0.6070246)", "Correlation: 0.0366, p-value: 0.607"),
        ("┌─────┐\n│ a   │\n╞═════╡\n│ 3.5 │\n└─────┘", "3.5"),
    ],
)
def test_wording_layout_and_more_digits_make_no_other_result(one: str, other: str) -> None:
    assert agree(printed(one), printed(other))
    assert agree(printed(other), printed(one))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("mean: 3.14", "mean: 3.15"),
        ("mean: 3.14", "median: 3.14"),
        ("@mean_fare[3.14]", "@mean_age[3.14]"),
        ("3\n4", "4\n3"),
        ("3\n4", "3"),
        ("3", "-3"),
        ("10234", "10236"),
        ("0.4", "0.38"),
        ("male: 577\nfemale: 314", "male: 314\nfemale: 577"),
        (SERIES, FRAME.replace("male ", "crew ")),
        ("Germany", "France"),
        ("Germany", "Germany\nFrance"),
        ("nan", "3"),
        ("1" * 400, "2"),
    ],
)
def test_other_figures_keys_or_order_are_another_result(one: str, other: str) -> None:
    assert not agree(printed(one), printed(other))
    assert not agree(printed(other), printed(one))


def test_a_frame_is_compared_by_its_cells_however_it_is_shown() -> None:
    assert table_cells(FRAME_HTML) == [["0", "male", "577"], ["1", "female", "314"]]
    assert agree(displayed(text_html=FRAME_HTML, text_plain="not looked at 1 2 3"), printed(FRAME))
    assert agree(displayed(text_html=FRAME_HTML), displayed(text_plain=SERIES))
    assert not agree(displayed(text_html=FRAME_HTML.replace("314", "315")), printed(FRAME))


def test_pictures_are_counted_and_what_is_printed_beside_them_is_compared() -> None:
    picture = displayed(image_png="abcd", text_plain="<Figure size 640x480 with 1 Axes>")
    assert agree(picture, displayed(image_png="other"))
    assert not agree(picture, printed("<Figure size 640x480 with 1 Axes>"))


def test_warnings_are_counted_and_are_no_result() -> None:
    warned = StreamOutput(
        output_type="stream", name="stderr", text="a.py:1: FutureWarning: 3\nb.py:2: UserWarning: x\n"
    )
    result = ExecutionResult(status="ok", outputs=(warned, *shown("7").outputs))
    assert warning_count(result) == 2
    assert agree(findings(result), printed("7"))


@pytest.mark.parametrize(
    "piece", ["9", "1,234", "a", "- ", "1.1.", "a: ", "x  ", "@a[", "np.f(", "1e", "<table><td>", "1  "]
)
def test_output_made_to_take_long_is_read_in_no_time(piece: str) -> None:
    text = piece * 100_000
    assert len(printed(text).rows) < 100_000
    assert displayed(text_html=f"<table>{text}").pictures == 0


def test_html_that_leaves_brackets_open_is_no_table_and_takes_no_time() -> None:
    started = time.monotonic()
    assert table_cells("<table><tr><td>1</td></tr></table>" + "<a " * 13_000) == []
    assert time.monotonic() - started < 1
