"""The tutorial tells what the quickstart notebook tells, which the tests execute (tests/integration)."""

from __future__ import annotations

import re

from doc_pages import DOCS
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook, new_output

from docs.make_tutorial import MAX_LINES, PENDING, PICTURE, chart, page, parts, read_quickstart, shortened

PAGE = (DOCS / "tutorial.md").read_text(encoding="utf-8")


def test_the_tutorial_has_the_prose_and_the_cells_of_the_quickstart_in_their_order() -> None:
    wanted = [part for cell in read_quickstart().cells for part in parts(cell)]
    assert [part for part in wanted if part not in PAGE] == [], "docs/tutorial.md is not up to date: make pictures"
    places = [PAGE.index(part) for part in wanted]
    assert places == sorted(places)
    prose = [part for part in wanted if not part.startswith("```")]
    left = re.sub(r"^```.*?^```$", "", PAGE, flags=re.DOTALL | re.MULTILINE)
    for part in [*prose, PENDING, f"![The chart that the code drew]({PICTURE})"]:
        left = left.replace(part, "")
    assert left.partition("-->")[2].strip() == ""


def test_every_question_of_the_tutorial_has_its_receipt_and_a_pending_cell() -> None:
    questions = PAGE.count("```ipython\n%%agent")
    assert questions == PAGE.count("```text\n✓ ") == PAGE.count(PENDING) > 3


def test_an_executed_notebook_becomes_a_page() -> None:
    table = new_output("stream", text="a\n" * 40)
    figure = new_output("display_data", data={"image/png": "QUJD", "text/plain": "<Figure>"})
    ours = new_code_cell("plot()", metadata={"codeagent": {"role": "code"}}, outputs=[figure])
    cells = [
        new_markdown_cell("# One\n[more](../docs/usage.md)"),
        new_code_cell("%%agent\nWhy?", outputs=[table]),
        ours,
    ]
    notebook = new_notebook(cells=cells)
    assert "# One\n[more](usage.md)\n\n```ipython\n%%agent\nWhy?\n```\n\n```text\na\n" in page(notebook)
    assert f"{PENDING}\n\n```python\nplot()\n```\n\n![The chart that the code drew]({PICTURE})\n" in page(notebook)
    assert chart(notebook) == b"ABC"


def test_long_outputs_are_cut_and_show_it() -> None:
    assert shortened("a\n" * 40).splitlines() == [*["a"] * (MAX_LINES - 1), "…"]
    assert shortened("word " * 40).endswith(" …")
    assert shortened("a\nb\n") == "a\nb"
