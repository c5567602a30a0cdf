"""SVG of the sandbox: pictures of plotting libraries pass as they are, and nothing that acts does."""

from __future__ import annotations

import base64
import io
import re
import time
from html.parser import HTMLParser
from typing import Any
from xml.dom import minidom
from xml.parsers.expat import ExpatError

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from jupyter_codeagent.notebook.outputs import clean_output, svg
from jupyter_codeagent.notebook.outputs.svg import BadSvgError, clean_svg

NS = 'xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink"'
PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
REMOTE = "http://evil.example/x"


def drawing(inside: str, attributes: str = "") -> str:
    return f'<svg {NS} viewBox="0 0 10 10"{attributes}>{inside}</svg>'


class AsHtml(HTMLParser):
    """What a page is given that has the drawing in it."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, str, str]] = []
        self.odd: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen += [(tag, "", ""), *((tag, name, value or "") for name, value in attrs)]

    def handle_comment(self, data: str) -> None:
        self.odd.append(data)

    def handle_decl(self, decl: str) -> None:
        self.odd.append(decl)

    def handle_pi(self, data: str) -> None:
        self.odd.append(data)

    def unknown_decl(self, data: str) -> None:
        self.odd.append(data)


def as_xml(text: str) -> list[tuple[str, str, str]]:
    """Each element and each attribute; an element has no attribute name."""
    seen: list[tuple[str, str, str]] = []
    for element in minidom.parseString(text).getElementsByTagName("*"):
        seen.append((element.tagName, "", ""))
        attributes: Any = element.attributes
        seen += [(element.tagName, name, value) for name, value in attributes.items()]
    return seen


# Written down here on its own: a rule that is lost in the package must not be lost here.
# fmt: off
HARMLESS = {
    "svg", "g", "defs", "clippath", "symbol", "path", "rect", "circle", "ellipse", "line", "polyline", "polygon",
    "text", "tspan", "use", "image", "lineargradient", "radialgradient", "stop", "pattern",
}
# fmt: on


def assert_harmless(text: str) -> None:
    """By two parsers that the package does not use."""
    html = AsHtml(text)
    xml = as_xml(text)
    assert not html.odd
    assert [tag for tag, name, _ in html.seen if not name] == [tag.lower() for tag, name, _ in xml if not name]
    for tag, name, value in [*html.seen, *xml]:
        assert tag.lower() in HARMLESS
        assert not name.lower().startswith("on")
        assert name.lower() in ("", "xmlns") or ":" not in name
        if name == "xmlns":
            assert value == "http://www.w3.org/2000/svg"
            continue
        assert name != "class"
        if name == "id":
            assert value.startswith("svg-")
        if name == "href":
            assert re.fullmatch(r"#svg-[\w.:-]+|data:image/(png|jpeg);base64,[A-Za-z0-9+/=]+", value), value
            assert value.startswith("#") or base64.b64decode(value.partition(",")[2])[:4] in (
                b"\x89PNG",
                b"\xff\xd8",
            )
            continue
        assert not re.search(r"script|import|expression|position|//|[<>{}\\@]", value, re.IGNORECASE), value
        assert "url(" not in re.sub(r"url\(#svg-[\w.:-]+\)", "", value).lower()


ATTACKS = [
    "<script>alert(1)</script>",
    "<script xlink:href='http://evil.example/x'/>",
    "<script xmlns='http://www.w3.org/1999/xhtml'>alert(1)</script>",
    "<x:script xmlns:x='http://www.w3.org/2000/svg'>alert(1)</x:script>",
    "<foreignObject><iframe xmlns='http://www.w3.org/1999/xhtml' src='http://evil.example/x'/></foreignObject>",
    "<foreignObject><body xmlns='http://www.w3.org/1999/xhtml' onload='alert(1)'/></foreignObject>",
    "<rect onclick='alert(1)' onload='alert(1)' OnError='alert(1)'/>",
    "<a href='javascript:alert(1)'><text>click</text></a>",
    "<a xlink:href='http://evil.example/x'><text>click</text></a>",
    "<animate attributeName='href' values='javascript:alert(1)' begin='0s'/>",
    "<a id='x'><set attributeName='href' to='javascript:alert(1)'/><text>click</text></a>",
    "<animateTransform attributeName='transform' onbegin='alert(1)'/>",
    "<use href='http://evil.example/x#a'/>",
    "<use xlink:href='data:image/svg+xml;base64,PHN2Zy8+#a'/>",
    "<use href='//evil.example/x#a'/>",
    "<image href='http://evil.example/x'/>",
    "<image xlink:href='HTTP://evil.example/x'/>",
    "<image href='data:image/svg+xml;base64,PHN2Zy8+'/>",
    "<image href='data:text/html;base64,PHN2Zy8+'/>",
    "<image href='data:image/png;base64,PHN2Zy8+'/>",
    "<image href='&#106;avascript:alert(1)'/>",
    "<feImage href='http://evil.example/x'/>",
    "<filter id='f'><feImage href='http://evil.example/x'/></filter><rect filter='url(#f)'/>",
    "<rect fill='url(http://evil.example/x#a)'/>",
    "<rect style='fill:url(http://evil.example/x)'/>",
    "<rect style='fill:u\\72l(http://evil.example/x)'/>",
    "<rect style='fill:url(&quot;http://evil.example/x&quot;)'/>",
    "<rect style='background:url(http://evil.example/x)'/>",
    "<rect style='fill:image-set(\"http://evil.example/x\" 1x)'/>",
    "<rect style='font-family:expression(alert(1))'/>",
    "<text style='position:fixed;inset:0'>over the page</text>",
    "<rect cursor='url(http://evil.example/x)' mask='url(http://evil.example/x#m)'/>",
    "<style>@import 'http://evil.example/x';</style>",
    "<style>*{fill:url(http://evil.example/x)}</style>",
    "<style>@font-face{font-family:a;src:url(http://evil.example/x)}</style>",
    "<style><![CDATA[</style><img src=x onerror=alert(1)>]]></style>",
    "<style>body{display:none}</style>",
    "<title>&lt;img src=x onerror=alert(1)&gt;</title>",
    "<title><img xmlns='http://www.w3.org/1999/xhtml' src='x' onerror='alert(1)'/></title>",
    "<desc><script>alert(1)</script></desc>",
    "<text><![CDATA[</text></svg><img src=x onerror=alert(1)>]]></text>",
    "<!--><script>alert(1)</script>--><rect/>",
    "<?pi ><script>alert(1)</script>?><rect/>",
    "<text>&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text>",
    "<metadata><script>alert(1)</script></metadata>",
    "<g id='body' class='jp-Notebook' data-commandlinker-command='terminal:create-new'><rect/></g>",
    "<g xml:base='http://evil.example/'><use href='#a'/></g>",
    "<image href='x' xlink:href='http://evil.example/x'/>",
    "<image srcset='http://evil.example/x 1x'/>",
    "<rect fill='&lt;img src=x onerror=alert(1)&gt;'/>",
    "<text font-family='a&quot; onload=&quot;alert(1)'>x</text>",
    "<video xmlns='http://www.w3.org/1999/xhtml' src='http://evil.example/x'/>",
    "<math xmlns='http://www.w3.org/1998/Math/MathML'><maction actiontype='statusline#http://evil'>x</maction></math>",
    "<handler xmlns='http://www.w3.org/2001/xml-events' type='text/javascript'>alert(1)</handler>",
    "<switch><foreignObject><p xmlns='http://www.w3.org/1999/xhtml'>x</p></foreignObject></switch>",
    "<marker id='m'><rect/></marker><path marker-mid='url(http://evil.example/x#m)' d='M0 0'/>",
    "<cursor xlink:href='http://evil.example/x'/>",
    "<font-face-uri xlink:href='http://evil.example/x'/>",
]
HARMLESS_AS_WRITTEN = {
    "<text>&lt;/svg&gt;&lt;script&gt;alert(1)&lt;/script&gt;</text>",  # unless someone unescapes it
    "<text font-family='a&quot; onload=&quot;alert(1)'>x</text>",
}


@pytest.mark.parametrize("attack", ATTACKS)
def test_what_acts_or_fetches_is_taken_out_and_the_rest_of_the_drawing_stays(attack: str) -> None:
    cleaned = clean_svg(drawing(f'<circle r="1"/>{attack}<rect width="7"/>'))

    assert_harmless(cleaned.text)
    assert '<circle r="1">' in cleaned.text
    assert '<rect width="7">' in cleaned.text
    assert clean_svg(cleaned.text).text == cleaned.text


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('<!DOCTYPE svg [<!ENTITY a "aa">]>' + drawing("<text>&a;</text>"), "it declares entities"),
        ('<!DOCTYPE svg [<!ENTITY a SYSTEM "file:///etc/passwd">]>' + drawing("<text>&a;</text>"), "entities"),
        ("<!DOCTYPE svg [<!ATTLIST rect onload CDATA 'alert(1)'>]>" + drawing("<rect/>"), "it declares entities"),
        (drawing("<text>&undefined;</text>"), "not well-formed"),
        (drawing("<rect"), "not well-formed"),
        ("\ud800" + drawing("<rect/>"), "not well-formed"),
        ("", "not well-formed"),
        ("<svg><rect/></svg>", "not an SVG"),
        ("<html><svg/></html>", "not an SVG"),
        (drawing(""), "nothing to draw"),
        (drawing("<script/>"), "nothing to draw"),
        (drawing("<g>" * 100 + "</g>" * 100), "nested deeper than 60"),
        (drawing("<metadata>" * 100 + "</metadata>" * 100), "nested deeper than 60"),
        (drawing("<g/>" * 50_001), "more than 50,000 elements"),
        (drawing("<metadata>" + "<g/>" * 50_001 + "</metadata><g/>"), "more than 50,000 elements"),
        (drawing(f"<path d='{'M0 0' * (1 << 20)}'/>"), "the limit is 4,194,304"),
        (drawing("<g id='a'><use href='#a'/></g>"), "it draws itself"),
        (drawing("<g id='a'><use href='#b'/></g><g id='b'><rect fill='url(#a)'/></g>"), "it draws itself"),
    ],
)
def test_what_no_viewer_should_be_given_is_dropped_with_its_reason(text: str, reason: str) -> None:
    with pytest.raises(BadSvgError, match=re.escape(reason)):
        clean_svg(text)


@pytest.mark.parametrize("reference", ["<use href='#{}'/>", "<use xlink:href='#{}'/>", "<rect fill='url(#{})'/>"])
def test_a_small_file_that_draws_very_much_is_dropped(reference: str) -> None:
    levels = [f"<g id='l{n}'>{reference.format(f'l{n - 1}') * 10}</g>" for n in range(1, 11)]

    with pytest.raises(BadSvgError, match=r"draws .* elements; the limit is 200,000"):
        clean_svg(drawing("<g id='l0'><rect/></g>" + "".join(levels)))


@pytest.mark.parametrize("text", ["&amp;" * 800_000, "\N{NO-BREAK SPACE}" * 2_000_000])
def test_a_text_that_takes_long_to_write_is_dropped_at_once(text: str) -> None:
    started = time.process_time()
    with pytest.raises(BadSvgError, match="too many ampersands"):
        clean_svg(f"<svg xmlns='http://www.w3.org/2000/svg'><text>{text}</text></svg>")
    assert time.process_time() - started < 5


def test_many_short_texts_with_ampersands_are_drawn() -> None:
    label = "<text style='font: 10px &quot;DejaVu Sans&quot;'>R&amp;D</text>"
    cleaned = clean_svg(f"<svg xmlns='http://www.w3.org/2000/svg'>{label * 20_000}</svg>")
    assert cleaned.text.count("R&amp;D") == 20_000


def test_a_long_chain_of_references_is_dropped() -> None:
    links = "".join(f"<g id='l{n}'><use href='#l{n + 1}'/></g>" for n in range(5_000))

    with pytest.raises(BadSvgError):
        clean_svg(drawing(links))


def test_an_image_that_is_one_stays_and_one_that_decodes_to_gigabytes_goes() -> None:
    import struct

    huge = bytearray(base64.b64decode(PNG))
    huge[16:24] = struct.pack(">II", 60_000, 60_000)
    inside = f"<image href='data:image/png;base64,\n{PNG}'/>"
    bomb = f"<image href='data:image/png;base64,{base64.b64encode(huge).decode()}'/>"
    cleaned = clean_svg(drawing(inside + bomb)).text

    assert f'href="data:image/png;base64,{PNG}"' in cleaned
    assert cleaned.count("href") == 1


def test_many_large_images_in_one_drawing_are_dropped() -> None:
    import struct

    large = bytearray(base64.b64decode(PNG))
    large[16:24] = struct.pack(">II", 9_000, 9_000)
    image = f"<image href='data:image/png;base64,{base64.b64encode(large).decode()}'/>"

    with pytest.raises(BadSvgError, match="more than 100 million pixels"):
        clean_svg(drawing(image * 2))


def test_a_drawing_cannot_be_larger_than_any_screen() -> None:
    assert 'width="' not in clean_svg(drawing("<rect/>", ' width="99999999" height="1e9px"')).text
    assert 'width="460.8pt"' in clean_svg(drawing("<rect/>", ' width="460.8pt"')).text


# --- what libraries draw ------------------------------------------------------------------------------


def matplotlib_svg(fonts: str) -> str:
    import matplotlib as mpl
    from matplotlib.backends.backend_svg import FigureCanvasSVG
    from matplotlib.figure import Figure

    with mpl.rc_context({"svg.fonttype": fonts}):
        figure: Any = Figure()
        left, right = FigureCanvasSVG(figure).figure.subplots(1, 2)
        left.plot([1, 3, 2], "o-", label="$x^2$ & <b>")
        left.legend()
        left.bar([0, 1], [2, 1], hatch="/")
        right.imshow([[1, 2], [3, 4]])
        buffer = io.StringIO()
        figure.savefig(buffer, format="svg")
    return buffer.getvalue()


def by_kind(text: str) -> dict[str, int]:
    """How many of each element there are."""
    tags = [tag for tag, name, _ in as_xml(text) if not name]
    return {tag: tags.count(tag) for tag in sorted(set(tags)) if tag.lower() in HARMLESS}


@pytest.mark.parametrize("fonts", ["path", "none"])
def test_a_matplotlib_figure_passes_whole_and_without_a_note(fonts: str) -> None:
    figure = matplotlib_svg(fonts)
    cleaned = clean_svg(figure)

    assert_harmless(cleaned.text)
    assert not cleaned.is_changed
    assert by_kind(cleaned.text) == by_kind(figure)
    shapes = {value for _, name, value in as_xml(figure) if name == "d"}
    assert {" ".join(value.split()) for value in shapes} == {
        v for _, name, v in as_xml(cleaned.text) if name == "d"
    }
    assert cleaned.text.count("href=") == figure.count("href=")
    assert cleaned.text.count("clip-path=") == figure.count("clip-path=")
    assert cleaned.text.count('style="') == figure.count('style="') + 1
    assert 'style="stroke-linejoin: round; stroke-linecap: butt"' in cleaned.text  # from the sheet of all elements
    assert clean_svg(cleaned.text) == cleaned


def test_every_reference_of_a_cleaned_figure_leads_somewhere() -> None:
    seen = as_xml(clean_svg(matplotlib_svg("path")).text)
    ids = {value for _, name, value in seen if name == "id"}
    targets = {value[1:] for _, name, value in seen if name == "href" and value.startswith("#")}
    targets |= {match for _, _, value in seen for match in re.findall(r"url\(#([^)]+)\)", value)}

    assert len(targets) > 10
    assert targets <= ids


GRAPHVIZ = """<?xml version="1.0" encoding="UTF-8" standalone="no"?>
<!DOCTYPE svg PUBLIC "-//W3C//DTD SVG 1.1//EN" "http://www.w3.org/Graphics/SVG/1.1/DTD/svg11.dtd">
<!-- Title: G Pages: 1 -->
<svg width="83pt" height="116pt" viewBox="0.00 0.00 83.00 116.00"
 xmlns="http://www.w3.org/2000/svg" xmlns:xlink="http://www.w3.org/1999/xlink">
<g id="graph0" class="graph" transform="scale(1 1) rotate(0) translate(4 112)"><title>G</title>
<polygon fill="white" stroke="transparent" points="-4,4 -4,-112 79,-112 79,4 -4,4"/>
<g id="edge1" class="edge"><title>a&#45;&gt;b</title>
<path fill="none" stroke="#123456" d="M37.5,-71.7C37.5,-63.98 37.5,-54.71 37.5,-46.11"/>
<text text-anchor="middle" x="37.5" y="-14.3" font-family="Times,serif" font-size="14.00">a&#45;&gt;b&#160;c</text>
</g></g></svg>"""
VEGA = f"""<svg {NS} class="marks" width="392" height="364" viewBox="0 0 392 364"><defs>
<linearGradient id="gradient_0" x1="0" x2="1" y1="0" y2="0"><stop offset="0" stop-color="rgb(255, 255, 255)"/>
<stop offset="1" stop-color="darkgreen"/></linearGradient>
<clipPath id="clip0"><rect x="0" y="0" width="300" height="300"/></clipPath></defs>
<g fill="none" stroke-miterlimit="10" transform="translate(43,26)"><g class="mark-symbol" role="graphics-object"
 aria-label="x" clip-path="url(#clip0)"><path aria-label="a: 1" transform="translate(5,6)"
 d="M2.7,0A2.7,2.7,0,1,1,0,1"
 stroke="hsl(10, 50%, 50%)" stroke-width="2" opacity="0.7" fill="url(#gradient_0)" stroke-dasharray="4,4"/></g>
<text text-anchor="middle" transform="translate(0,-10) rotate(-90)" font-family="sans-serif" font-size="13px"
 font-weight="bold" fill="#000">A &amp; B</text></g></svg>"""


def test_a_graph_of_graphviz_keeps_its_shapes_and_its_words() -> None:
    cleaned = clean_svg(GRAPHVIZ)

    assert by_kind(cleaned.text) == by_kind(GRAPHVIZ)
    assert 'transform="scale(1 1) rotate(0) translate(4 112)"' in cleaned.text
    assert 'points="-4,4 -4,-112 79,-112 79,4 -4,4"' in cleaned.text
    assert "a-&gt;b\N{NO-BREAK SPACE}c" in cleaned.text
    assert 'font-family="Times,serif"' in cleaned.text
    assert not cleaned.is_changed


def test_a_chart_of_vega_keeps_its_gradients_clips_and_transforms() -> None:
    cleaned = clean_svg(VEGA)

    assert by_kind(cleaned.text) == by_kind(VEGA)
    for kept in (
        'clip-path="url(#svg-clip0)"',
        'fill="url(#svg-gradient_0)"',
        'stop-color="rgb(255, 255, 255)"',
        'stroke="hsl(10, 50%, 50%)"',
        'transform="translate(0,-10) rotate(-90)"',
        'stroke-dasharray="4,4"',
        'font-size="13px"',
        "A &amp; B",
    ):
        assert kept in cleaned.text
    assert not cleaned.is_changed


# --- in a bundle --------------------------------------------------------------------------------------


def shown(data: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    output, notes = clean_output("display_data", {"data": data, "metadata": {"image/svg+xml": {"isolated": True}}})
    assert output is not None
    assert output["output_type"] == "display_data"
    assert output["metadata"] == {}
    return output["data"], notes


def test_svg_passes_beside_png_and_replaces_nothing() -> None:
    data, notes = shown({"image/svg+xml": drawing("<rect/>"), "image/png": PNG, "text/plain": "<Figure>"})

    assert set(data) == {"image/svg+xml", "image/png", "text/plain"}
    assert data["image/png"] == PNG
    assert data["text/plain"] == "<Figure>"
    assert notes == ()


def test_svg_alone_gets_words_for_readers_without_pictures() -> None:
    assert shown({"image/svg+xml": [drawing("<rect/>")]})[0]["text/plain"] == "[image/svg+xml]"


@pytest.mark.parametrize(
    ("value", "note"),
    [
        (drawing("<rect/><script>1</script>"), "active or remote content removed from image/svg+xml"),
        (drawing("<rect onload='1'/>"), "active or remote content removed from image/svg+xml"),
        (drawing("<image href='http://evil.example/x'/>"), "active or remote content removed from image/svg+xml"),
        (drawing("<a href='x'><rect/></a>"), "active or remote content removed from image/svg+xml"),
        (drawing("<rect/><style>g{fill:red}</style>"), "active or remote content removed from image/svg+xml"),
        ("<html/>", "image/svg+xml dropped: not an SVG"),
        (7, "image/svg+xml dropped: not well-formed XML"),
    ],
)
def test_the_user_is_told_what_was_taken_out_of_a_drawing(value: Any, note: str) -> None:
    assert shown({"image/svg+xml": value, "text/plain": "x"})[1] == (note,)


# --- anything at all ----------------------------------------------------------------------------------

# fmt: off
names = st.sampled_from([
    "svg", "g", "path", "rect", "text", "tspan", "use", "image", "style", "script", "foreignObject", "a", "set",
    "animate", "title", "desc", "defs", "pattern", "metadata", "clipPath", "linearGradient", "iframe", "img", "p",
    "math", "feImage", "switch", "marker", "handler", "table", "font", "template", "noscript",
])
keys = st.sampled_from([
    "id", "href", "xlink:href", "xlink:title", "style", "fill", "stroke", "clip-path", "onload", "onclick", "d",
    "to", "transform", "class", "xml:base", "font-family", "width", "viewBox", "attributeName", "values", "from",
    "src", "srcset", "filter", "mask", "cursor", "font", "xml:space", "color", "face",
])
# fmt: on
values = st.sampled_from(
    [
        *(
            "javascript:alert(1)",
            "http://evil.example/x",
            "//evil.example",
            "#a",
            "#b",
            "url(#a)",
            "url(http://e#a)",
        ),
        *(
            "red",
            "1e3",
            "M0 0L1 1",
            "fill:url(//e);stroke:red",
            "font-family:'a</style>'",
            "a;b:c",
            "translate(1,2)",
        ),
        *("data:text/html,x", f"data:image/png;base64,{PNG}", "data:image/svg+xml,x", "--><script>", "\x85", "]]>"),
        *(
            "&quot; onload=&quot;alert(1)",
            "&lt;script&gt;",
            "ur&#108;(//e)",
            "u\\72l(x)",
            "expression(1)",
            "\u00a0",
        ),
    ]
) | st.text(max_size=10)
leaves = st.sampled_from(
    [
        "",
        "words",
        "&lt;b&gt;",
        "<![CDATA[</svg><script>]]>",
        "<!--><img src=x>-->",
        "<?a ><b>?>",
        "\u00a0",
        "*{fill:red}",
    ]
)


def element(parts: tuple[str, dict[str, str], list[str]]) -> str:
    name, attributes, inside = parts
    quoted = "".join(
        ' {}="{}"'.format(key, value.replace("<", "&lt;").replace('"', "&quot;"))
        for key, value in attributes.items()
    )
    return f"<{name}{quoted}>{''.join(inside)}</{name}>"


trees = st.recursive(
    leaves,
    lambda inner: st.tuples(names, st.dictionaries(keys, values, max_size=4), st.lists(inner, max_size=4)).map(
        element
    ),
    max_leaves=25,
)


@example(drawing("<a></a>"))
@given(st.lists(trees, max_size=5).map(lambda parts: drawing("".join(parts))) | st.text(max_size=60))
def test_whatever_comes_out_is_harmless_to_both_kinds_of_parsers_and_stays_as_it_is(text: str) -> None:
    try:
        cleaned = clean_svg(text)
    except BadSvgError:
        return
    assert_harmless(cleaned.text)
    assert clean_svg(cleaned.text).text == cleaned.text


@pytest.mark.parametrize("attack", ATTACKS)
def test_the_reader_of_these_tests_notices_an_attack_that_was_not_cleaned(attack: str) -> None:
    """Else the tests above would pass with a cleaner that cleans nothing."""
    if attack in HARMLESS_AS_WRITTEN:
        return
    as_it_is = f'<svg xmlns="http://www.w3.org/2000/svg">{attack.replace("xlink:href", "href")}</svg>'

    with pytest.raises((AssertionError, ExpatError)):
        assert_harmless(as_it_is)


def test_a_mistake_in_the_rules_is_caught_by_the_sanitizer(monkeypatch: pytest.MonkeyPatch) -> None:
    """The second parser is no decoration."""
    monkeypatch.setattr(svg, "clean_attribute", lambda _element, _name, value: value)

    cleaned = clean_svg(drawing("<rect onload='alert(1)' width='7'/><use href='javascript:alert(1)'/>")).text

    assert 'width="7"' in cleaned
    assert "alert" not in cleaned


def test_an_element_of_another_language_is_no_shape() -> None:
    cleaned = clean_svg(drawing("<x:rect xmlns:x='urn:other'/><text xmlns=''>x</text><circle r='1'/>"))

    assert [tag for tag, name, _ in as_xml(cleaned.text) if not name] == ["svg", "circle"]
    assert cleaned.is_changed
