"""JupyterLab in German: what the agent says is German too."""

from __future__ import annotations

import json
import os
import tomllib
from pathlib import Path

import nbformat
import pytest
from lab_server import running_lab
from model_server import ModelServer, code
from nbformat.v4 import new_code_cell, new_notebook
from notebook_page import NotebookPage
from playwright.sync_api import Browser, expect

pytestmark = pytest.mark.browser

PYPROJECT = Path(__file__).parents[2] / "pyproject.toml"
NAME = "deutsch.ipynb"


@pytest.mark.long("another situation of what a test beside it proves")
def test_panel_cells_and_commands_are_german_where_jupyterlab_is_german(
    browser: Browser, shared_model: ModelServer, tmp_path: Path
) -> None:
    shared_model.script(code("print(len(df))"))
    environment = {
        "CODEAGENT_BASE_URL": shared_model.url,
        "CODEAGENT_MODEL": "scripted",
        "PYTHONPATH": os.pathsep.join(filter(None, (str(language_pack(tmp_path)), os.environ.get("PYTHONPATH")))),
    }
    chosen = tmp_path / "lab" / "settings" / "@jupyterlab" / "translation-extension" / "plugin.jupyterlab-settings"
    chosen.parent.mkdir(parents=True)
    chosen.write_text(json.dumps({"locale": "de_DE"}), encoding="utf-8")
    with running_lab(tmp_path / "lab", environment) as lab:
        data = "%load_ext jupyter_codeagent\nimport pandas as pd\ndf = pd.DataFrame({'n': [1, 2]})"
        cells = [new_code_cell(data), new_code_cell("%%agent\nHow many rows?")]
        metadata = {"kernelspec": {"name": "python3", "display_name": "Python 3"}}
        nbformat.write(new_notebook(cells=cells, metadata=metadata), lab.root / NAME)
        lab.start_session(NAME)
        notebook = NotebookPage(page=browser.new_page(viewport={"width": 1500, "height": 950}), lab=lab, name=NAME)
        page = notebook.page
        notebook.open()
        notebook.command("jupyter-codeagent:open")
        panel = page.get_by_role("region", name="Code-Agent")
        expect(panel.get_by_role("tab", name="Jetzt")).to_be_visible()
        notebook.run_all()
        expect(panel).to_contain_text("Zellen warten auf Entscheidung")
        bar = page.get_by_role("toolbar", name="Wartende Zelle des Code-Agenten")
        expect(bar.get_by_role("button", name="Verwerfen")).to_be_visible()
        expect(page.locator(".jp-CodeAgent-statusItem")).to_have_text("1 Ergebnis zu prüfen")
        label = page.evaluate("() => window.jupyterapp.commands.label('jupyter-codeagent:accept')")
        assert label == "Wartende Zellen dieses Laufs übernehmen"
        panel.get_by_role("tab", name="Modell").click()
        expect(panel.get_by_label("Datenschutz")).to_have_value("stats")
        if folder := os.environ.get("CODEAGENT_SCREENSHOTS"):
            page.screenshot(path=f"{folder}/german.png")
        bar.get_by_role("button", name="Übernehmen", exact=True).click()
        notebook.wait_for_states(["", "", "accepted"])
        page.close()


def language_pack(folder: Path) -> Path:
    """Where JupyterLab finds German, so that it can be chosen, and our catalogue as `pyproject.toml` tells it."""
    place = folder / "packages"
    pack, entries = place / "german_pack", place / "german_pack-1.dist-info"
    pack.mkdir(parents=True)
    entries.mkdir()
    (pack / "__init__.py").touch()
    (entries / "METADATA").write_text("Metadata-Version: 2.1\nName: german-pack\nVersion: 1\n", encoding="utf-8")
    declared = tomllib.loads(PYPROJECT.read_text(encoding="utf-8"))["project"]["entry-points"]["jupyterlab.locale"]
    lines = ["[jupyterlab.languagepack]", "de_DE = german_pack", "[jupyterlab.locale]"]
    lines += [f"{name} = {module}" for name, module in declared.items()]
    (entries / "entry_points.txt").write_text("\n".join(lines), encoding="utf-8")
    return place
