"""A JupyterLab, a Chromium and notebooks for the browser tests."""

from __future__ import annotations

import json
import os
import shutil
import uuid
from collections.abc import Iterator, Sequence
from pathlib import Path

import nbformat
import pytest
from lab_server import Lab, running_lab
from model_server import ModelServer, serving
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage, OpenNotebook
from playwright.sync_api import Browser, sync_playwright

CHROMIUM_FLAGS = [
    *("--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"),
    *("--disable-component-update", "--disable-sync", "--force-color-profile=srgb"),
]


@pytest.fixture(scope="module")
def shared_model() -> Iterator[ModelServer]:
    """One scripted model for a file of browser tests; each test scripts it anew."""
    with serving() as server:
        yield server


@pytest.fixture(scope="module")
def lab(tmp_path_factory: pytest.TempPathFactory, shared_model: ModelServer) -> Iterator[Lab]:
    environment = {"CODEAGENT_BASE_URL": shared_model.url, "CODEAGENT_MODEL": "scripted"}
    with running_lab(tmp_path_factory.mktemp("lab"), environment) as running:
        yield running


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    path = shutil.which("chromium") or shutil.which("google-chrome")
    if path is None:
        pytest.fail("No Chromium on PATH: apt-get install chromium, or run the tests with `make test`.")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=path, args=CHROMIUM_FLAGS)
        yield started
        started.close()


@pytest.fixture
def open_notebook(
    lab: Lab, browser: Browser, request: pytest.FixtureRequest, tmp_path: Path
) -> Iterator[OpenNotebook]:
    """Write a notebook with the given cells, start its kernel, open it in a new page."""
    pages: list[NotebookPage] = []

    def open_it(sources: Sequence[str], name: str | None = None) -> NotebookPage:
        notebook_name = name or f"{request.node.name.split('[')[0]}.ipynb"
        path = lab.root / notebook_name
        if not path.exists():
            write_notebook(path, sources)
        lab.start_session(notebook_name)
        context = browser.new_context(viewport={"width": 1500, "height": 950})
        page = NotebookPage(page=context.new_page(), lab=lab, name=notebook_name)
        pages.append(page)
        page.open()
        return page

    yield open_it
    for page in pages:
        if screenshots := os.environ.get("CODEAGENT_SCREENSHOTS"):
            page.page.screenshot(path=f"{screenshots}/{request.node.name}.png")
        page.page.context.close()
    for session in lab.request("/api/sessions"):
        lab.request(f"/api/sessions/{session['id']}", method="DELETE")


def write_notebook(path: Path, sources: Sequence[str]) -> None:
    """Code cells whose ids no other notebook has: the history knows a question again by them."""
    own = uuid.uuid4().hex[:8]
    notebook = new_notebook(metadata={"kernelspec": {"name": "python3", "display_name": "Python 3"}})
    notebook.cells = [new_code_cell(source, id=f"{own}-{index}") for index, source in enumerate(sources)]
    path.write_text(json.dumps(notebook), encoding="utf-8")
    nbformat.validate(nbformat.read(path, as_version=4))
