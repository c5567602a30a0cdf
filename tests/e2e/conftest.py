"""A JupyterLab, a Chromium and notebooks for the browser tests, and what was to be seen when one of them fails."""

from __future__ import annotations

import json
import os
import re
import uuid
from collections.abc import Generator, Iterator, Sequence
from pathlib import Path

import nbformat
import pytest
from browser_console import BrowserConsole
from kernel_client import NO_SPARE
from lab_server import Lab, running_lab
from model_server import ModelServer, serving
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import WAIT_S, NotebookPage, OpenNotebook, chromium_path
from playwright.sync_api import Browser, BrowserContext, Error, Page, ViewportSize, expect, sync_playwright
from shared_page import SharedPage

CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
]
HERE = Path(__file__).parent
ARTIFACTS = HERE.parents[1] / "build" / "test-artifacts"
VIEWPORT: ViewportSize = {"width": 1500, "height": 950}
LIMIT_S = 900
"""Of a test: three of them share two cores, and each starts kernels and a page."""
SCREENSHOT_MS = 10_000
LOG_LINES = 60
NO_SANDBOXES_BESIDE = (
    "c.CodeAgent.next_questions = False",
    f"c.InteractiveShellApp.exec_lines = [{NO_SPARE!r}]",
)
"""What is tried and started behind each result costs more processor time than the run; few tests are about it."""
OF_THE_RUN = pytest.StashKey[dict[str, Browser | Lab]]()
FAILED = pytest.StashKey[bool]()


def pytest_configure(config: pytest.Config) -> None:
    config.stash[OF_THE_RUN] = {}
    expect.set_options(timeout=WAIT_S * 1000)


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    for item in items:
        if HERE in item.path.parents and item.get_closest_marker("timeout") is None:
            item.add_marker(pytest.mark.timeout(LIMIT_S))


@pytest.fixture(scope="session")
def shared_model() -> Iterator[ModelServer]:
    """One scripted model for all browser tests; each test scripts it anew."""
    with serving() as server:
        yield server


@pytest.fixture(autouse=True)
def _nothing_of_the_test_before(request: pytest.FixtureRequest) -> None:
    if "shared_model" in request.fixturenames:
        request.getfixturevalue("shared_model").forget()


@pytest.fixture(scope="session")
def lab(
    tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer, pytestconfig: pytest.Config
) -> Iterator[Lab]:
    """One server for all browser tests: notebooks need names of their own, and the history grows with each test."""
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    base = tmp_path_factory.mktemp("lab")
    with running_lab(base, environment, kernel_settings=NO_SANDBOXES_BESIDE) as running:
        pytestconfig.stash[OF_THE_RUN]["lab"] = running
        yield running


@pytest.fixture(scope="session")
def browser_console() -> BrowserConsole:
    """Of the whole run: some pages are opened for several tests."""
    return BrowserConsole()


@pytest.fixture(autouse=True)
def quiet_console(browser_console: BrowserConsole) -> Iterator[BrowserConsole]:
    """Every browser test fails where one of its pages has an error in the console that it does not tolerate."""
    yield browser_console
    browser_console.check()  # after the pages of the test were closed


@pytest.fixture(scope="session")
def profile(
    pytestconfig: pytest.Config, browser_console: BrowserConsole, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[BrowserContext]:
    """A person's browser, which has JupyterLab in its cache: a page of it costs a third less than in a new context.

    While it is there no `asyncio.run` works in this process: the browser tests come last, see ../conftest.py.
    """
    with sync_playwright() as playwright:
        lasting = playwright.chromium.launch_persistent_context(
            tmp_path_factory.mktemp("profile"),
            executable_path=chromium_path(),
            args=CHROMIUM_FLAGS,
            viewport=VIEWPORT,
        )

        def prepare(context: BrowserContext) -> None:
            context.set_default_timeout(WAIT_S * 1000)
            browser_console.watch(context)

        prepare(lasting)
        for empty in lasting.pages:
            empty.close()
        assert lasting.browser is not None
        lasting.browser.on("context", prepare)
        pytestconfig.stash[OF_THE_RUN]["browser"] = lasting.browser
        yield lasting
        lasting.close()


@pytest.fixture(scope="session")
def browser(profile: BrowserContext) -> Browser:
    """For contexts of one's own: what a page that knows nothing yet does, and what others must not see."""
    assert profile.browser is not None
    return profile.browser


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item,
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Before the pages of a failed test are closed: pictures of them as files, the rest in the report."""
    report = yield
    item.stash[FAILED] = item.stash.get(FAILED, False) or report.failed
    if report.failed and report.when != "teardown":
        name = re.sub(r"[^\w.-]+", "-", item.nodeid.removeprefix("tests/e2e/"))
        running = item.config.stash[OF_THE_RUN]
        if isinstance(browser := running.get("browser"), Browser):
            pages = [page for context in browser.contexts for page in context.pages]
            for number, page in enumerate(pages):
                report.sections.append((f"page {number}: {page.url}", looked_at(page, f"{name}.{number}.png")))
        if isinstance(lab := running.get("lab"), Lab):
            lines = (lab.root.parent / "server.log").read_text(encoding="utf-8").splitlines()
            report.sections.append(("end of JupyterLab's log", "\n".join(lines[-LOG_LINES:])))
    return report


def looked_at(page: Page, file_name: str) -> str:
    """Take a picture of a page; where it lies, and what the page's console said."""
    ARTIFACTS.mkdir(parents=True, exist_ok=True)
    try:
        page.screenshot(path=ARTIFACTS / file_name, timeout=SCREENSHOT_MS)
        console = [f"{message.type}: {message.text}" for message in page.console_messages()]
        errors = [f"uncaught: {error}" for error in page.page_errors()]
    except Error as problem:  # the page itself may be what is broken: the test's own failure counts
        return f"The page could not be looked at: {problem}"
    return "\n".join([f"screenshot: {ARTIFACTS / file_name}", *console[-LOG_LINES:], *errors])


@pytest.fixture(scope="session")
def shared_page() -> SharedPage:
    return SharedPage(VIEWPORT)


@pytest.fixture
def open_notebook(
    lab: Lab,
    profile: BrowserContext,
    shared_page: SharedPage,
    quiet_console: BrowserConsole,
    request: pytest.FixtureRequest,
) -> Iterator[OpenNotebook]:
    """Write a notebook with the given cells, start its kernel, open it in a page: the first in the shared one."""
    pages: list[NotebookPage] = []
    own_name = f"{request.node.name.split('[')[0]}-{uuid.uuid4().hex[:4]}.ipynb"  # all tests share the directory

    def open_it(sources: Sequence[str], name: str | None = None) -> NotebookPage:
        notebook_name = name or own_name
        path = lab.root / notebook_name
        if not path.exists():
            write_notebook(path, sources)
        elif sources and notebook_name not in {page.name for page in pages}:
            pytest.fail(f"{notebook_name} is there from another test: choose another name")
        lab.start_session(notebook_name)
        kept = None if pages else shared_page.take(lab.url)
        page = NotebookPage(page=kept or profile.new_page(), lab=lab, name=notebook_name)
        pages.append(page)
        if kept:
            page.open_in_loaded_page()
        else:
            page.open()
        return page

    yield open_it
    for page in pages:
        if (screenshots := os.environ.get("CODEAGENT_SCREENSHOTS")) and not page.page.is_closed():
            page.page.screenshot(path=f"{screenshots}/{request.node.name}.png")
    is_well = not request.node.stash.get(FAILED, False) and not quiet_console.tolerated
    is_as_new = is_well and lab.application == "lab"
    shared_page.keep_first([page.page for page in pages], is_as_new)
    profile.clear_cookies()
    while sessions := lab.request("/api/sessions"):  # those that share a kernel end together
        lab.request(f"/api/sessions/{sessions[0]['id']}", method="DELETE")
    if forget_settings(lab):
        shared_page.close()


def forget_settings(lab: Lab) -> bool:
    """What a test has kept in JupyterLab's settings is not for the tests behind it, whose Lab is the same."""
    settings = Path(lab.environment["JUPYTERLAB_SETTINGS_DIR"]).rglob("*.jupyterlab-settings")
    kept = [path for path in settings if path.stem != "notification"]
    for path in kept:
        path.unlink()
    return bool(kept)


def write_notebook(path: Path, sources: Sequence[str]) -> None:
    """Code cells whose ids no other notebook has: the history knows a question again by them."""
    own = uuid.uuid4().hex[:8]
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_code_cell(source, id=f"{own}-{index}") for index, source in enumerate(sources)]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    nbformat.validate(nbformat.read(path, as_version=4))
