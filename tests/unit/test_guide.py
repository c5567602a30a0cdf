"""The guide to the panel, `docs/panel.md`: its pictures are there, and its keys are those of the extension."""

from __future__ import annotations

import json
import re
from pathlib import Path

from pictures import FOLDER, LARGEST_BYTES, landmarks

ROOT = Path(__file__).parents[2]
GUIDE = ROOT / "docs" / "panel.md"
RECORDING_BYTES = 1_500_000
PICTURE = re.compile(r"!\[(?P<text>[^\]]*)\]\((?P<place>[^)]+)\)")


def test_every_picture_that_the_docs_show_is_there_with_words_for_who_cannot_see_it() -> None:
    shown = 0
    for document in (ROOT / "README.md", *ROOT.glob("docs/*.md")):
        for picture in PICTURE.finditer(document.read_text(encoding="utf-8")):
            shown += 1
            assert (document.parent / picture["place"]).is_file(), f"{document.name} shows {picture['place']}"
            assert picture["text"], f"{document.name}: {picture['place']} has no text"
    assert shown > 5


def test_every_picture_is_shown_small_and_has_the_list_by_which_it_is_compared() -> None:
    shown = "\n".join(document.read_text(encoding="utf-8") for document in ROOT.glob("docs/*.md"))
    pictures = sorted(FOLDER.glob("*.png"))
    assert pictures
    for picture in pictures:
        assert f"(pictures/{picture.name})" in shown, f"{picture.name} is in no document"
        assert picture.stat().st_size <= LARGEST_BYTES, f"{picture.name} is too large for a document"
    assert {picture.stem for picture in pictures} == {written.stem for written in FOLDER.glob("*.txt")}


def test_the_recording_in_the_readme_is_small_enough_to_load_with_the_page() -> None:
    assert (ROOT / "docs" / "recording.webp").stat().st_size <= RECORDING_BYTES


def test_the_guide_names_each_key_of_the_review() -> None:
    schema = json.loads((ROOT / "labextension" / "schema" / "plugin.json").read_text(encoding="utf-8"))
    bound = [key for shortcut in schema["jupyter.lab.shortcuts"] for key in shortcut["keys"] if key]
    assert bound
    for key in bound:
        assert key.replace("Accel", "Ctrl") in GUIDE.read_text(encoding="utf-8"), f"{key} is not in the guide"


def test_the_list_beside_a_picture_has_what_can_be_done_there_and_no_figures_that_differ_from_run_to_run() -> None:
    snapshot = """
- region "Code agent":
  - tab "Now 1" [selected]
  - heading "Run" [level=3]
  - text: 3.1 s
  - listitem: step
  - button "Use qwen2.5-coder:7b" [disabled]
  - button "Say \\"yes\\""
"""
    assert landmarks(snapshot) == 'tab Now #\nheading Run\nbutton Use qwen#\nbutton Say \\"yes\\"\n'
