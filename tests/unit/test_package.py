from __future__ import annotations

import gzip
import re
import subprocess
import sys
from pathlib import Path

import pytest
from jupyter_core.paths import jupyter_path

import jupyter_codeagent

HEAVY = {"pandas", "numpy", "polars", "pyarrow", "matplotlib", "openai", "nbformat", "tornado", "jupyter_server"}

NAME = "jupyter_codeagent"


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_imports_none_of_its_modules() -> None:
    loaded = {name for name in modules_after("import jupyter_codeagent") if name.startswith("jupyter_codeagent.")}

    assert loaded == set()


@pytest.mark.parametrize("module", ["notebook.cells", "history", "types.run_json"])
def test_what_the_magic_needs_to_remember_imports_no_heavy_library(module: str) -> None:
    assert modules_after(f"import jupyter_codeagent.{module}") & HEAVY == set()


def test_loading_the_extension_imports_no_library_that_the_user_does_not_use() -> None:
    shell = "from IPython.testing.globalipapp import start_ipython; shell = start_ipython()"
    loaded = {
        name.partition(".")[0] for name in modules_after(f"{shell}; shell.run_line_magic('load_ext', {NAME!r})")
    }

    unasked = {"pandas", "polars", "pyarrow", "openai", "duckdb", "sqlalchemy", "mcp"}
    assert NAME in loaded
    assert loaded & unasked == set()


def test_the_package_knows_its_version_and_no_other_name() -> None:
    assert re.match(r"\d+", jupyter_codeagent.__version__)
    with pytest.raises(AttributeError, match="no attribute 'verzion'"):
        _ = jupyter_codeagent.verzion


def test_jupyter_finds_the_server_extension_and_the_panel() -> None:
    assert jupyter_codeagent._jupyter_server_extension_points() == [{"module": "jupyter_codeagent.frontend.server"}]
    assert jupyter_codeagent._jupyter_labextension_paths() == [{"src": "labextension", "dest": "jupyter-codeagent"}]


def test_on_windows_itself_loading_says_that_wsl_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OSError, match="inside WSL 2"):
        jupyter_codeagent.load_ipython_extension(object())


def test_the_page_loads_at_most_250_kb_of_the_panel_and_the_library_of_charts_only_with_a_chart() -> None:
    places = [Path(place) / "labextensions" / "jupyter-codeagent" for place in jupyter_path()]
    static = next(place / "static" for place in places if place.exists())
    texts = {path.name: path.read_bytes() for path in static.glob("*.js")}
    of_charts = [name for name, text in texts.items() if b"vega-embed" in text and len(text) > 100_000]
    rest = {name: text for name, text in texts.items() if name not in of_charts}

    assert len(of_charts) == 1  # and nothing else in it: a chunk is fetched when something of it is asked for
    assert b"jupyter-codeagent:plugin" not in texts[of_charts[0]]
    assert any(name.startswith("panel.") for name in rest)
    assert sum(len(gzip.compress(text)) for text in rest.values()) <= 250_000
