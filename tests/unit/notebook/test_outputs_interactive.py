"""Interactive output is kept whole in one checked entry, and nothing active is anywhere else."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_codeagent.notebook.cells import cells_from_run
from jupyter_codeagent.notebook.export import export_notebook
from jupyter_codeagent.notebook.outputs import clean_output, plain_text
from jupyter_codeagent.notebook.outputs.interactive import (
    CHART_MIMES,
    INTERACTIVE_MIME,
    MAX_CONTENT_BYTES,
    MAX_DEPTH,
)
from jupyter_codeagent.notebook.outputs.table_styles import with_inline_styles
from jupyter_codeagent.types.run import AgentRequest, AgentRun
from jupyter_codeagent.types.run_json import run_from_json, run_to_json
from jupyter_codeagent.types.sandbox import Output

FIGURE = {"data": [{"type": "bar", "y": [1, 2]}], "layout": {"title": {"text": "a"}}}
SPEC = {"mark": "bar", "data": {"values": [{"a": 1}]}}
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SCRIPTED = "<p>kept</p><script>draw(1)</script>"


def cleaned(data: Any) -> tuple[dict[str, Any], tuple[str, ...], Output]:
    output, notes = clean_output("display_data", {"data": data, "metadata": {}})
    assert output is not None
    assert output["output_type"] == "display_data"
    return output["data"], notes, output


@pytest.mark.parametrize(("mime", "kind"), CHART_MIMES.items())
def test_a_chart_becomes_one_entry_with_its_kind(mime: str, kind: str) -> None:
    content = FIGURE if kind == "plotly" else SPEC
    data, notes, _ = cleaned({mime: content, "text/plain": "Figure()"})

    assert data == {
        INTERACTIVE_MIME: {"version": 1, "kind": kind, "content": content},
        "text/plain": "Figure()",
    }
    assert notes == ()


def test_static_forms_stay_next_to_the_entry() -> None:
    data, _, _ = cleaned(
        {"application/vnd.plotly.v1+json": FIGURE, "image/png": PNG, "text/html": SCRIPTED, "text/plain": "x"}
    )

    assert data.keys() == {INTERACTIVE_MIME, "image/png", "text/html", "text/plain"}
    assert data["text/html"] == "<p>kept</p>"
    assert data[INTERACTIVE_MIME]["kind"] == "plotly"


@pytest.mark.parametrize(
    ("offered", "text"),
    [
        ({"application/vnd.plotly.v1+json": FIGURE}, "[interactive Plotly chart: shown on click in JupyterLab]"),
        ({"application/vnd.vegalite.v5+json": SPEC}, "[interactive Vega-Lite chart: shown on click in JupyterLab]"),
        ({"application/vnd.vega.v5+json": SPEC}, "[interactive Vega chart: shown on click in JupyterLab]"),
        ({"text/html": "<script>draw()</script>"}, "[interactive page: shown on click in JupyterLab]"),
        ({"text/html": SCRIPTED}, "kept"),
        ({"application/vnd.plotly.v1+json": FIGURE, "image/png": PNG}, "[image/png 1x1]"),
    ],
)
def test_there_is_always_plain_text(offered: dict[str, Any], text: str) -> None:
    data, _, output = cleaned(offered)

    assert data["text/plain"] == text
    assert plain_text([output]) == text


@pytest.mark.parametrize(
    "html",
    [
        SCRIPTED,
        "<SCRIPT src='https://cdn.example/x.js'></SCRIPT>",
        "<div><iframe srcdoc='&lt;script&gt;draw()&lt;/script&gt;'></iframe></div>",
    ],
)
def test_html_with_scripts_is_kept_in_the_entry_and_nowhere_else(html: str) -> None:
    data, _, _ = cleaned({"text/html": html, "text/plain": "x"})

    assert data.pop(INTERACTIVE_MIME) == {"version": 1, "kind": "html", "content": html}
    assert not any(word in json.dumps(data).lower() for word in ("script", "srcdoc", "style", "cdn.example"))


def test_html_in_lines_as_a_notebook_file_has_it_is_one_text() -> None:
    data, _, _ = cleaned({"text/html": ["<script>\n", "draw()</script>"]})

    assert data[INTERACTIVE_MIME]["content"] == "<script>\ndraw()</script>"


def test_the_colours_weights_and_bars_of_a_styler_are_in_its_cells_and_no_click_is_needed() -> None:
    pytest.importorskip("jinja2")
    import pandas as pd

    frame: Any = pd.DataFrame({"a": [1, 2], "b": [3, -1]})
    styler = frame.style.highlight_max(props="color: red; font-weight: bold", subset=["a"]).bar(subset=["b"])
    styler = styler.set_table_styles([{"selector": "th.col_heading", "props": "text-align: left"}])
    data, _, _ = cleaned({"text/html": styler.to_html(), "text/plain": "<Styler>"})

    html = data["text/html"]
    assert '<td style="color: red; font-weight: bold">2</td>' in html
    assert "<td>1</td>" in html
    assert html.count('<th style="text-align: left">') == 2
    assert "background: linear-gradient(90deg, #d65f5f" in html
    assert "<style" not in html
    assert INTERACTIVE_MIME not in data


@pytest.mark.parametrize(
    "css",
    [
        "#T { position: fixed }",
        "#T { background: url(https://evil.example/x) }",
        "#T { background: linear-gradient(red, url(https://evil.example/x)) }",
        "#T { color: red; } /* } #T { margin: -99px } */",
        '#T { color: red" onmouseover="alert(1) }',
        "#T { color: expression(alert(1)) }",
        "#T td { margin-top: -500px }",
    ],
)
def test_rules_of_a_style_block_pass_the_same_allow_list_as_style_attributes(css: str) -> None:
    html = f'<style>{css}</style><table id="T"><tr><td id="T">2</td></tr></table>'
    shown = cleaned({"text/html": html, "text/plain": "x"})[0]["text/html"]
    assert ">2</td>" in shown
    for word in ("position", "url", "evil", "-99", "-500", "onmouseover", "alert", "expression"):
        assert word not in shown


def test_a_style_rule_that_would_make_the_table_much_larger_is_left_out() -> None:
    cells = '<td id="T">2</td>' * 20_000
    html = f"<style>#T {{ color: {'red ' * 100} }}</style><table><tr>{cells}</tr></table>"
    assert with_inline_styles(html) == html
    small = html.replace(cells, cells[:17])
    assert with_inline_styles(small) != small


def test_ordinary_tables_and_text_get_no_entry() -> None:
    import pandas as pd
    import polars as pl

    frame: Any = pd.DataFrame({"a": [1, 2]})
    for html in (frame._repr_html_(), pl.DataFrame({"a": [1]})._repr_html_(), "<b>descript</b>", ""):
        assert INTERACTIVE_MIME not in cleaned({"text/html": html, "text/plain": "x"})[0]


# --- hostile entries ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("alert(1)", "not of version 1"),
        ({"version": 2, "kind": "html", "content": "x"}, "not of version 1"),
        ({"version": True, "kind": "html", "content": "x"}, "not of version 1"),
        ({"version": 1.0, "kind": "html", "content": "x"}, "not of version 1"),
        ({"version": 1, "kind": "javascript", "content": "x"}, "its kind is none of plotly"),
        ({"version": 1, "kind": ["html"], "content": "x"}, "its kind is none of plotly"),
        ({"version": 1, "kind": "html"}, "not a text"),
        ({"version": 1, "kind": "html", "content": {"a": 1}}, "not a text"),
        ({"version": 1, "kind": "html", "content": " "}, "not a text"),
        ({"version": 1, "kind": "vega", "content": "x"}, "not an object"),
        ({"version": 1, "kind": "plotly", "content": {"data": {}}}, "without a list of traces"),
        ({"version": 1, "kind": "vega", "content": {"a": float("nan")}}, "not JSON"),
        ({"version": 1, "kind": "vega", "content": {"a": float("inf")}}, "not JSON"),
        ({"version": 1, "kind": "vega", "content": {"a": {1, 2}}}, "not JSON"),
        ({"version": 1, "kind": "vega", "content": {"a": "\ud800"}}, "not JSON"),
        ({"version": 1, "kind": "html", "content": "\udfff"}, "not JSON"),
        ({"version": 1, "kind": "html", "content": "ü" * MAX_CONTENT_BYTES}, "the limit is 4 MiB"),
    ],
)
def test_an_entry_of_the_sandbox_is_checked_like_any_other(value: Any, reason: str) -> None:
    data, notes, _ = cleaned({INTERACTIVE_MIME: value, "text/plain": "x"})

    assert data == {"text/plain": "x"}
    assert len(notes) == 1
    assert reason in notes[0]
    assert len(notes[0]) < 200


def nested(depth: int) -> dict[str, Any]:
    value: dict[str, Any] = {}
    for _ in range(depth - 1):
        value = {"a": value}
    return value


def test_nesting_is_limited_before_anything_recurses() -> None:
    mime = "application/vnd.vega.v5+json"

    assert INTERACTIVE_MIME in cleaned({mime: nested(MAX_DEPTH)})[0]
    for depth in (MAX_DEPTH + 1, 100_000):
        data, notes, _ = cleaned({mime: nested(depth), "text/plain": "x"})
        assert data == {"text/plain": "x"}
        assert notes == (f"interactive Vega chart dropped: nested deeper than {MAX_DEPTH}",)


def test_only_the_three_known_keys_of_an_entry_are_kept() -> None:
    offered = {"version": 1, "kind": "html", "content": "<b>", "onload": "alert(1)"}
    data, _, _ = cleaned({INTERACTIVE_MIME: offered})

    assert data[INTERACTIVE_MIME] == {"version": 1, "kind": "html", "content": "<b>"}


def test_a_bundle_has_one_entry_and_the_chart_is_preferred_to_the_page() -> None:
    data, _, _ = cleaned(
        {"text/html": SCRIPTED, "application/vnd.vega.v5+json": SPEC, **dict.fromkeys(CHART_MIMES, FIGURE)}
    )

    assert data[INTERACTIVE_MIME] == {"version": 1, "kind": "plotly", "content": FIGURE}
    assert data.keys() == {INTERACTIVE_MIME, "text/html", "text/plain"}


def test_entries_beyond_the_limit_of_types_are_not_looked_at() -> None:
    many = {f"made/up-{number}": "x" for number in range(20)}

    assert (
        INTERACTIVE_MIME
        not in cleaned({**many, INTERACTIVE_MIME: {"version": 1, "kind": "html", "content": "x"}})[0]
    )


BUNDLES = st.dictionaries(
    st.sampled_from([INTERACTIVE_MIME, *CHART_MIMES, "text/html", "text/plain", "application/json"]),
    st.one_of(
        st.text(),
        st.sampled_from([SCRIPTED, FIGURE, SPEC, {"version": 1, "kind": "html", "content": SCRIPTED}]),
        st.recursive(
            st.none() | st.booleans() | st.floats() | st.text(),
            lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
        ),
    ),
    min_size=1,
)


@given(BUNDLES)
def test_cleaning_what_was_cleaned_changes_nothing_and_it_is_json(bundle: dict[str, Any]) -> None:
    data, _, output = cleaned(bundle)
    again, notes = clean_output("display_data", output)

    assert again == output
    assert notes == ()
    assert json.loads(json.dumps(data, allow_nan=False).encode()) == data
    assert "text/plain" in data


def test_the_entry_survives_the_record_the_notebook_and_its_validation() -> None:
    output = cleaned({"application/vnd.plotly.v1+json": FIGURE, "text/html": SCRIPTED})[2]
    run = AgentRun(
        id="r",
        request=AgentRequest(prompt="p", model="m"),
        status="ok",
        started_at=0,
        code="fig",
        outputs=(output,),
    )
    back = run_from_json(json.loads(json.dumps(run_to_json(run))))
    notebook = nbformat.reads(nbformat.writes(export_notebook(back)), as_version=4)
    nbformat.validate(notebook)

    assert back == run
    assert notebook.cells[1].outputs[0].data[INTERACTIVE_MIME] == output["data"][INTERACTIVE_MIME]  # type: ignore[typeddict-item]
    assert cells_from_run(back, state="pending")[0]["outputs"] == [output]
