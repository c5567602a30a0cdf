from __future__ import annotations

import re
import subprocess
import sys

import pytest

import jupyter_codeagent

HEAVY = {"pandas", "numpy", "polars", "pyarrow", "matplotlib", "openai", "nbformat", "tornado", "jupyter_server"}


def modules_after(statement: str) -> set[str]:
    script = f"import sys; {statement}; print(*sys.modules)"
    return set(
        subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True).stdout.split()
    )


def test_importing_the_package_imports_none_of_its_modules() -> None:
    loaded = {name for name in modules_after("import jupyter_codeagent") if name.startswith("jupyter_codeagent.")}

    assert loaded == set()


@pytest.mark.parametrize("module", ["cells", "history", "record"])
def test_what_the_magic_needs_to_remember_imports_no_heavy_library(module: str) -> None:
    assert modules_after(f"import jupyter_codeagent.{module}") & HEAVY == set()


def test_the_package_knows_its_version_and_no_other_name() -> None:
    assert re.match(r"\d+", jupyter_codeagent.__version__)
    with pytest.raises(AttributeError, match="no attribute 'verzion'"):
        _ = jupyter_codeagent.verzion


def test_jupyter_finds_the_server_extension_and_the_panel() -> None:
    assert jupyter_codeagent._jupyter_server_extension_points() == [{"module": "jupyter_codeagent.server"}]
    assert jupyter_codeagent._jupyter_labextension_paths() == [{"src": "labextension", "dest": "jupyter-codeagent"}]


def test_on_windows_itself_loading_says_that_wsl_is_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")
    with pytest.raises(OSError, match="inside WSL 2"):
        jupyter_codeagent.load_ipython_extension(object())
