"""Nothing that the sandbox or the model writes runs in the user's browser, nor fetches anything.

Every payload of `hostile_payloads` carries a number. If it runs, it pushes the number to `window.__fired` and asks
a listener for it; if it fetches, the listener is asked. The first test shows that the same payloads do fire where
nothing cleans them.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import nbformat
import pytest
from browser_console import BrowserConsole
from command_line import codeagent
from hostile_payloads import ERRORS, NOTEBOOK_BREAKERS, PROSE, SVG, TEXTS, Payload, armed, armed_all, payloads
from lab_server import Lab
from model_server import ModelServer, Reply, code
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from notebook_page import NotebookPage
from playwright.sync_api import Browser, BrowserContext, Page, expect

from jupyter_codeagent.notebook.outputs import clean_markdown

pytestmark = [pytest.mark.browser, pytest.mark.timeout(600), pytest.mark.xdist_group("hostile outputs")]

CANARY = """
window.F = number => {
  (window.__fired ??= []).push(number);
  new Image().src = 'LISTENER/' + number;
};
"""
COMMAND = """() => window.jupyterapp.commands.hasCommand('canary:fire') || Boolean(
  window.jupyterapp.commands.addCommand('canary:fire', { execute: args => window.F(args.number) })
)"""
# A link that says where it leads is the reader's own decision; every other thing that can be clicked is.
TOUCH_ALL = """(selector) => {
  let touched = 0;
  for (const root of document.querySelectorAll(selector)) {
    for (const node of [root, ...root.querySelectorAll('*')]) {
      if (node.closest('.jp-CodeAgent-interactiveBar')) {
        continue;
      }
      if (node.tagName === 'A' && node.textContent === node.getAttribute('href')) {
        continue;
      }
      for (const type of ['mouseover', 'mouseenter', 'pointerdown', 'focus', 'click']) {
        node.dispatchEvent(new MouseEvent(type, { bubbles: true, cancelable: true }));
      }
      node.focus?.();
      touched += 1;
    }
  }
  return touched;
}"""


@pytest.fixture(autouse=True)
def _hostile_console(quiet_console: BrowserConsole) -> None:
    """Payloads are meant to go wrong, and say so in the console: what counts here is what fires."""
    quiet_console.tolerated.append("")


@dataclass
class Listener:
    """Whom a payload tells that it fired; it also has pages of raw payloads."""

    url: str
    asked: list[str] = field(default_factory=list)
    raw_pages: dict[str, str] = field(default_factory=dict)


@pytest.fixture(scope="module")
def listener() -> Iterator[Listener]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            page = heard.raw_pages.get(self.path)
            if page is None:
                heard.asked.append(self.path)
                self.send_response(204)
                self.end_headers()
                return
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page.encode())))
            self.end_headers()
            self.wfile.write(page.encode())

        do_POST = do_GET  # ping

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    heard = Listener(url=f"http://127.0.0.1:{server.server_port}")
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True)
    thread.start()
    yield heard
    server.shutdown()
    server.server_close()
    thread.join()


@dataclass
class Watched:
    """A browser context of which every request, console line and opened page is seen."""

    context: BrowserContext
    listener: Listener
    origin: str
    requests: list[str] = field(default_factory=list)
    pages: list[Page] = field(default_factory=list)
    asked_before: int = 0

    def opened(self, page: Page) -> None:
        self.pages.append(page)

    def foreign(self) -> list[str]:
        """Requests to any other server; data and blob addresses leave nothing."""
        return [
            url
            for url in self.requests
            if urlsplit(url).scheme not in ("data", "blob", "about") and not url.startswith(f"{self.origin}/")
        ]

    def fired(self) -> list[Any]:
        """What ran in any frame of any page."""
        seen: list[Any] = []
        for page in self.pages:
            for frame in page.frames:
                seen += frame.evaluate("() => window.__fired ?? []")
        return seen

    def assert_silent(self) -> None:
        """Nothing ran, nothing was asked for, no page was opened or left."""
        self.pages[0].wait_for_timeout(1000)  # what is fetched or runs late
        assert [page.url for page in self.pages[1:]] == []
        assert self.listener.asked[self.asked_before :] == []
        assert self.foreign() == []
        assert self.fired() == []
        assert self.pages[0].url.startswith(self.origin)


@contextmanager
def watched(browser: Browser, listener: Listener, origin: str) -> Iterator[Watched]:
    context = browser.new_context(viewport={"width": 1500, "height": 950})
    context.add_init_script(CANARY.replace("LISTENER", listener.url))
    seen = Watched(context=context, listener=listener, origin=origin, asked_before=len(listener.asked))
    context.on("request", lambda request: seen.requests.append(request.url))
    context.on("page", seen.opened)
    try:
        yield seen
    finally:
        context.close()


# --- the control ----------------------------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_same_payloads_fire_where_nothing_cleans_them(browser: Browser, listener: Listener) -> None:
    wanted = [payload for payload in payloads(listener.url) if payload.fires_raw]
    with watched(browser, listener, listener.url) as seen:
        silent = [payload.raw_page for payload in wanted if not fires(seen, payload)]

    assert silent == []
    assert len(wanted) >= 60


def fires(seen: Watched, payload: Payload) -> bool:
    """Whether it does on a page of its own, where everything is clicked."""
    address = f"/raw/{payload.number}"
    seen.listener.raw_pages[address] = payload.raw_page
    page = seen.context.new_page()
    page.goto(seen.listener.url + address, wait_until="commit")
    for attempt in range(20):
        if any(path.startswith(f"/{payload.number}") for path in seen.listener.asked):
            break
        page.wait_for_timeout(50)
        if attempt in (4, 10):
            page.evaluate(TOUCH_ALL, "body")
    page.close()
    return any(path.startswith(f"/{payload.number}") for path in seen.listener.asked)


# --- a run whose sandbox is hostile ------------------------------------------------------------------

ASK = "%%agent --vars hostile\nShow me what is in it."
OWN_FORMULA = "from IPython.display import Math\nMath('x')"
ASK_FOR_WORDS = "%%agent --vars hostile\nSay it in your own words."
LOAD = """%load_ext jupyter_codeagent
import json
hostile = json.load(open("hostile.json"))"""
DISPLAY_ALL = """for payload in hostile["payloads"]:
    display(payload["bundle"], metadata=payload["metadata"], raw=True)
    print("shown", payload["number"])
for text in hostile["texts"]:
    print(text)
print("end of all")"""
ACCEPTED = ["", "", "accepted", "", ""]
PLAIN_PROSE = [text for text in reversed(PROSE) if "```" not in text and "~~~" not in text]
QUOTED = "The model says: “I cannot:"
OUTPUTS = ".jp-Notebook .jp-Cell-outputArea, .jp-CodeAgent-outputs, .jp-RenderedMarkdown"


@dataclass(frozen=True)
class Ran:
    """The page in which the run took place, and the notebook that it left."""

    notebook: NotebookPage
    seen: Watched


@pytest.fixture(scope="module")
def ran(lab: Lab, browser: Browser, listener: Listener, shared_model: ModelServer) -> Iterator[Ran]:
    """A failed step with a hostile exception, then one that displays every payload; accepted and saved.

    A second question is answered in hostile words without any code: they are looked at while they are written, and
    what the agent quotes of them stays below the question.
    """
    all_payloads = payloads(listener.url)
    texts = armed_all(TEXTS, 2000, listener.url)
    prepared = {
        "payloads": [{"number": p.number, "bundle": p.bundle, "metadata": p.metadata} for p in all_payloads],
        "texts": texts,
    }
    (lab.root / "hostile.json").write_text(json.dumps(prepared), encoding="utf-8")
    errors = armed_all(ERRORS, 2100, listener.url)
    breaker = armed(NOTEBOOK_BREAKERS, 2200, listener.url)
    words = " ".join(["I cannot:", *armed_all([*TEXTS, *PLAIN_PROSE], 2300, listener.url), "That is all."])
    written = threading.Event()
    shared_model.script(
        code(f"raise type({errors[0]!r}, (Exception,), {{}})({errors[1] + errors[2]!r})"),
        code(f"# {texts[0]}\n{breaker}\n{DISPLAY_ALL}"),
        Reply(text=words, until=written, hold_at=-1),
        words,
    )
    cells = [new_code_cell(source) for source in (LOAD, ASK, OWN_FORMULA, ASK_FOR_WORDS)]
    write_cells(lab.root / "hostile.ipynb", cells)
    lab.start_session("hostile.ipynb")
    with watched(browser, listener, lab.url) as seen:
        notebook = NotebookPage(page=seen.context.new_page(), lab=lab, name="hostile.ipynb")
        notebook.open()
        notebook.page.evaluate(COMMAND)
        panel = notebook.open_panel()
        notebook.run_all()
        growing = panel.get_by_role("group", name="What the model has written so far")
        expect(growing).to_contain_text(armed(TEXTS[0], 2300, listener.url))
        expect(growing).to_contain_text("That is")
        expect(notebook.cells.nth(4)).to_contain_text("the model is writing")
        notebook.page.evaluate(TOUCH_ALL, ".jp-CodeAgent-prose")
        written.set()
        expect(notebook.cells.nth(4)).to_contain_text(QUOTED)
        expect(panel.locator(".jp-CodeAgent-problem").filter(has_text=QUOTED)).to_be_visible()
        notebook.page.evaluate(TOUCH_ALL, ".jp-CodeAgent-problem")
        notebook.cells.nth(2).get_by_role("button", name="Accept", exact=True).click()
        notebook.wait_for_states(ACCEPTED)
        notebook.saved()
        yield Ran(notebook=notebook, seen=seen)
    for session in lab.request("/api/sessions"):
        lab.request(f"/api/sessions/{session['id']}", method="DELETE")


def write_cells(path: Path, cells: list[Any]) -> None:
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = cells
    nbformat.validate(notebook)
    path.write_text(json.dumps(notebook), encoding="utf-8")


def show_all(notebook: NotebookPage) -> None:
    """Lab draws fifty outputs of a cell and puts a button in place of the others."""
    more = notebook.cells.nth(2).get_by_role("button", name="Show more outputs")
    more.click()
    expect(more).to_have_count(0)
    expect(notebook.cells.nth(2).locator(".jp-Cell-outputArea")).to_contain_text("end of all")


def touch_everything(notebook: NotebookPage) -> None:
    """Every output is drawn, folded ones too, and everything in it is clicked."""
    show_all(notebook)
    draw_all(notebook)
    expect(notebook.page.locator("mjx-container")).to_have_count(1)  # the user's own: no other text is a formula
    assert notebook.page.evaluate(TOUCH_ALL, OUTPUTS) > 300


def draw_all(notebook: NotebookPage) -> None:
    """Lab draws a cell when it comes into sight."""
    notebook.page.evaluate("() => document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
    notebook.page.evaluate(
        """async () => {
          const content = window.jupyterapp.shell.currentWidget.content;
          for (const [index, cell] of content.widgets.entries()) {
            await content.scrollToItem(index);
            await cell.ready;
            await new Promise(resolve => setTimeout(resolve, 100));
          }
        }"""
    )


def test_nothing_fires_while_it_runs_and_is_accepted(ran: Ran) -> None:
    touch_everything(ran.notebook)
    cell = ran.notebook.cells.nth(2)
    for number in (payload.number for payload in payloads(ran.seen.listener.url)):
        expect(cell.locator(".jp-Cell-outputArea")).to_contain_text(f"shown {number}")
    saved = ran.notebook.saved()
    ran.seen.assert_silent()
    assert [c.source for c in saved.cells if "codeagent" not in c.metadata] == [
        LOAD,
        ASK,
        OWN_FORMULA,
        ASK_FOR_WORDS,
    ]
    assert not ran.notebook.page.evaluate("() => Boolean(window.clobbered || document.getElementById('clobbered'))")
    assert ran.notebook.page.evaluate("() => ({}).polluted === undefined")


@pytest.mark.long("another situation of what a test beside it proves")
def test_an_ordinary_drawing_among_them_is_shown(ran: Ran) -> None:
    """Else it would be enough to show nothing at all."""
    drawings = ran.notebook.cells.nth(2).locator(".jp-RenderedSVG img")
    if ran.notebook.cells.nth(2).get_by_role("button", name="Show more outputs").count():
        show_all(ran.notebook)
    expect(drawings.nth(len(SVG) - 2)).to_be_attached()
    sizes = drawings.evaluate_all(
        "async images => { await Promise.all(images.map(image => image.decode()));"
        " return images.map(image => image.naturalWidth); }"
    )
    assert all(sizes)


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_fires_after_a_reload(ran: Ran) -> None:
    ran.notebook.saved()
    ran.notebook.reload()
    ran.notebook.wait_for_states(ACCEPTED)
    ran.notebook.page.evaluate(COMMAND)
    assert cell_is_trusted(ran.notebook)
    touch_everything(ran.notebook)
    ran.seen.assert_silent()


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_fires_in_the_detail_of_the_history(ran: Ran) -> None:
    panel = ran.notebook.open_panel()
    panel.get_by_role("tab", name="History").click()
    runs = panel.get_by_role("listbox", name="Runs, newest first")
    runs.get_by_role("option").filter(has_text="Say it in your own words.").first.click()
    quoted = panel.locator(".jp-CodeAgent-problem").filter(has_text=QUOTED)
    expect(quoted).to_be_visible()
    assert ran.notebook.page.evaluate(TOUCH_ALL, ".jp-CodeAgent-problem, .jp-CodeAgent-steps") > 0
    panel.get_by_role("button", name="All runs").click()
    runs.get_by_role("option").filter(has_text="Show me what is in it.").first.click()
    expect(panel.get_by_role("button", name="Insert again")).to_be_visible()
    expect(quoted).to_have_count(0)
    folds = panel.locator("details:not([open]) > summary")
    while folds.count():
        folds.first.click()
    expect(panel.locator(".jp-CodeAgent-outputs").last).to_contain_text("end of all")
    assert ran.notebook.page.evaluate(TOUCH_ALL, ".jp-CodeAgent-outputs, .jp-CodeAgent-steps") > 300
    ran.seen.assert_silent()


def cell_is_trusted(notebook: NotebookPage) -> bool:
    return bool(
        notebook.page.evaluate("() => window.jupyterapp.shell.currentWidget.content.widgets[2].model.trusted")
    )


@pytest.mark.parametrize("trusted", [True, False])
@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_fires_when_it_is_opened_by_someone_else(
    ran: Ran, trusted: bool, lab: Lab, browser: Browser, listener: Listener
) -> None:
    notebook = nbformat.read(lab.root / "hostile.ipynb", as_version=4)
    # Another file than the one that was signed: nobody trusts it until someone says so.
    notebook.cells.append(new_code_cell("2", outputs=[], metadata={"trusted": True}))
    name = f"opened-{trusted}.ipynb"
    (lab.root / name).write_text(nbformat.writes(notebook), encoding="utf-8")
    if trusted:
        jupyter(lab, "trust", name)
    lab.start_session(name)
    with watched(browser, listener, lab.url) as seen:
        opened = NotebookPage(page=seen.context.new_page(), lab=lab, name=name)
        opened.open()
        opened.page.evaluate(COMMAND)
        assert cell_is_trusted(opened) is trusted
        touch_everything(opened)
        seen.assert_silent()


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_a_reader_lets_run_in_its_closed_frame_reaches_nobody(
    ran: Ran, lab: Lab, browser: Browser, listener: Listener
) -> None:
    (lab.root / "shown.ipynb").write_bytes((lab.root / "hostile.ipynb").read_bytes())
    lab.start_session("shown.ipynb")
    with watched(browser, listener, lab.url) as seen:
        answered: list[str] = []
        seen.context.on("response", lambda response: answered.append(response.url))
        opened = NotebookPage(page=seen.context.new_page(), lab=lab, name="shown.ipynb")
        opened.open()
        opened.page.evaluate(COMMAND)
        show_all(opened)
        buttons = opened.cells.nth(2).locator(".jp-CodeAgent-interactiveBar button")
        for index in range(buttons.count()):
            buttons.nth(index).click()
        page = opened.page
        page.wait_for_function("() => document.querySelectorAll('iframe').length > 5")
        page.wait_for_timeout(2000)  # for what would get out
        assert page.evaluate("() => window.__fired ?? []") == []
        assert listener.asked[seen.asked_before :] == []
        assert [url for url in answered if url.startswith("http") and not url.startswith(f"{lab.url}/")] == []
        assert len(seen.pages) == 1
        assert page.url.startswith(lab.url)


def jupyter(lab: Lab, *arguments: str) -> None:
    subprocess.run(
        [sys.executable, "-m", "jupyter", *arguments], cwd=lab.root, env=lab.environment, check=True, timeout=120
    )


# --- the saved notebook as a page ---------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_fires_in_the_page_that_nbconvert_makes(
    ran: Ran, lab: Lab, browser: Browser, listener: Listener
) -> None:
    own = requests_of_the_exporter(lab, browser, listener)
    requests, fired, touched = exported(lab, browser, listener, "hostile.ipynb")

    assert touched > 300
    assert fired == []
    assert requests <= own


def requests_of_the_exporter(lab: Lab, browser: Browser, listener: Listener) -> set[str]:
    """Those that the page of any notebook makes: libraries of the exporter."""
    write_cells(lab.root / "harmless.ipynb", [new_code_cell("1"), new_markdown_cell("words")])
    requests, _, _ = exported(lab, browser, listener, "harmless.ipynb")
    return requests


def exported(lab: Lab, browser: Browser, listener: Listener, name: str) -> tuple[set[str], list[Any], int]:
    """Foreign requests of the exported page, what fired, how many nodes were touched."""
    jupyter(lab, "nbconvert", "--to", "html", name)
    page_path = (lab.root / name).with_suffix(".html")
    listener.raw_pages[f"/raw/{name}"] = page_path.read_text(encoding="utf-8")
    asked_before = len(listener.asked)
    with watched(browser, listener, listener.url) as seen:
        page = seen.context.new_page()
        page.route(lambda url: not url.startswith(listener.url), lambda route: route.abort())
        page.goto(f"{listener.url}/raw/{name}")
        touched = page.evaluate(TOUCH_ALL, ".jp-Cell-outputWrapper, .jp-RenderedMarkdown")
        page.wait_for_timeout(1000)
        told = [path for path in listener.asked[asked_before:] if path != "/favicon.ico"]
        return set(seen.foreign()), [*seen.fired(), *told, *seen.pages[1:]], touched


WITH_ITS_POLICY = pytest.mark.rare("by cleaning alone nothing fires; the policy of the page can only forbid more")


@pytest.mark.parametrize(
    "policy",
    [
        pytest.param(True, id="with its policy", marks=WITH_ITS_POLICY),
        pytest.param(False, id="by cleaning alone"),
    ],
)
def test_nothing_fires_in_the_report_of_a_strangers_notebook(
    tmp_path: Path, browser: Browser, listener: Listener, policy: bool
) -> None:
    """Nothing in that file was ever cleaned: its metadata alone says that it was accepted."""
    stranger_notebook(tmp_path / "stranger.ipynb", listener.url)
    done = codeagent(tmp_path, None, "report", "stranger.ipynb", "-o", "page.html")
    assert done.returncode == 0, done.stderr
    page_text = (tmp_path / "page.html").read_text(encoding="utf-8")
    if not policy:
        page_text = page_text.replace('http-equiv="Content-Security-Policy"', "")
    listener.raw_pages["/raw/report"] = page_text
    asked_before = len(listener.asked)
    with watched(browser, listener, listener.url) as seen:
        page = seen.context.new_page()
        page.goto(f"{listener.url}/raw/report")
        # Links to cells of the notebook are the page's own.
        page.evaluate("() => document.querySelectorAll('a[href^=\"stranger.ipynb\"]').forEach(a => a.remove())")
        page.evaluate("() => document.querySelectorAll('details').forEach(fold => { fold.open = true; })")
        assert page.evaluate(TOUCH_ALL, "main") > 300
        page.wait_for_timeout(1000)
        assert seen.fired() == []
        assert [path for path in listener.asked[asked_before:] if path != "/favicon.ico"] == []
        assert seen.foreign() == []
        assert len(seen.pages) == 1
        assert page.url.startswith(f"{listener.url}/raw/report")


def stranger_notebook(path: Path, url: str) -> None:
    """Two accepted cells, code and answer, and a cell of Markdown."""
    outputs: list[Any] = [
        {"output_type": "display_data", "data": one.bundle, "metadata": one.metadata} for one in payloads(url)
    ]
    texts = "\n".join(armed_all(TEXTS, 4000, url))
    outputs.append({"output_type": "stream", "name": "stdout", "text": texts})
    accepted = {"version": 1, "run_id": "r", "state": "accepted", "model": texts, "prompt_sha256": texts}
    made = [{**accepted, "role": role, "code_sha256": ""} for role in ("code", "answer")]
    prose = "\n\n".join(armed_all(PROSE, 4200, url))
    cells = [
        {"cell_type": "markdown", "metadata": {}, "source": f"# {texts}\n\n{prose}"},
        {"cell_type": "code", "metadata": {"codeagent": made[0]}, "source": f"# {texts}", "outputs": outputs},
        {"cell_type": "markdown", "metadata": {"codeagent": made[1]}, "source": prose},
    ]
    numbered = [{"id": f"cell-{number}", **cell} for number, cell in enumerate(cells)]
    notebook = {"cells": numbered, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    path.write_text(json.dumps(notebook), encoding="utf-8")


# --- what the agent writes as Markdown ------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_nothing_fires_in_the_words_of_a_finding(lab: Lab, browser: Browser, listener: Listener) -> None:
    """They name columns and values of the user's data, which anybody may have written."""
    prose = [clean_markdown(text) for text in armed_all(PROSE, 3000, listener.url)]
    write_cells(lab.root / "prose.ipynb", [new_code_cell("1"), *(new_markdown_cell(text) for text in prose)])
    lab.start_session("prose.ipynb")
    with watched(browser, listener, lab.url) as seen:
        notebook = NotebookPage(page=seen.context.new_page(), lab=lab, name="prose.ipynb")
        notebook.open()
        notebook.page.evaluate(COMMAND)
        draw_all(notebook)
        expect(notebook.page.locator(".jp-Notebook .jp-RenderedMarkdown")).to_have_count(len(PROSE))
        assert notebook.page.evaluate(TOUCH_ALL, ".jp-Notebook .jp-RenderedMarkdown") > 2 * len(PROSE)
        expect(notebook.page.locator("mjx-container")).to_have_count(0)
        links = notebook.page.locator(".jp-Notebook .jp-RenderedMarkdown a").evaluate_all(
            "links => links.map(link => link.getAttribute('href'))"
        )
        assert [link for link in links if link and not link.startswith("#")] == []
        seen.assert_silent()
    own = requests_of_the_exporter(lab, browser, listener)
    requests, fired, _ = exported(lab, browser, listener, "prose.ipynb")
    assert fired == []
    assert requests <= own
