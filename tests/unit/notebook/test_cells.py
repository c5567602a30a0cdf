from __future__ import annotations

import ast
import copy
import hashlib
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbformat.sign import MemorySignatureStore, NotebookNotary
from nbformat.v4 import new_code_cell, new_notebook
from run_examples import CODE, OUTPUTS, example_run

from jupyter_codeagent.notebook.cells import (
    cells_from_run,
    insert_cells,
    remove_pending,
)
from jupyter_codeagent.notebook.export import export_notebook, export_script
from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.errors import InsertError
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sandbox import Output


def notebook_with(*cells: Any) -> Any:
    """A notebook of one `%%agent` cell, these cells and a last one."""
    first, last = new_code_cell("%%agent\nhow late?", id="agent"), new_code_cell("1 + 1", id="last")
    return new_notebook(cells=[first, *(nbformat.from_dict(copy.deepcopy(cell)) for cell in cells), last])


def ids(notebook: Any) -> list[str]:
    return [cell.id for cell in notebook.cells]


def cell_ids(run: AgentRun) -> list[str]:
    return [cell["id"] for cell in cells_from_run(run, state="pending")]


def insert_run(notebook: Any, run: AgentRun, **options: Any) -> tuple[str, ...]:
    """Insert the cells of a run, in the run's own cell state."""
    return insert_cells(notebook, cells_from_run(run, state=run.cell_state), **options)


# --- what a run becomes -----------------------------------------------------------------------------


def test_a_run_becomes_a_code_cell_with_its_outputs_and_a_markdown_answer() -> None:
    code, answer = cells_from_run(example_run(), state="pending")

    assert (code["cell_type"], code["source"], code["execution_count"]) == ("code", CODE, None)
    assert code["outputs"] == list(OUTPUTS)
    assert (answer["cell_type"], answer["source"]) == ("markdown", "Frontier (F9) is 21.9 minutes late.")


def test_cells_carry_tag_and_provenance() -> None:
    run = example_run()
    for cell, role in zip(cells_from_run(run, state="accepted"), ("code", "answer"), strict=True):
        assert cell["metadata"]["tags"] == ["codeagent"]
        assert cell["metadata"]["codeagent"] == {
            "version": 1,
            "run_id": run.id,
            "role": role,
            "step": 2,
            "model": "qwen-coder",
            "prompt_sha256": hashlib.sha256(run.request.prompt.encode()).hexdigest(),
            "code_sha256": hashlib.sha256(CODE.encode()).hexdigest(),
            "sandbox": "bubblewrap, no network",
            "state": "accepted",
        }


def printed(text: str) -> Output:
    return {"output_type": "stream", "name": "stdout", "text": text}


def table(rows: int) -> Output:
    html = f"<table>{'<tr><td>1</td></tr>' * rows}</table>"
    return {"output_type": "display_data", "data": {"text/html": html, "text/plain": "1\n" * 9}, "metadata": {}}


@pytest.mark.parametrize(
    ("outputs", "scrolled"),
    [
        ([printed("1\n" * 3000)], True),
        ([printed("1\n" * 30)] * 2, True),
        ([table(100)], True),
        ([printed("1\n" * 20)], False),
        ([table(11)], False),
    ],
)
def test_outputs_that_are_taller_than_the_window_get_a_scroll_bar(outputs: list[Output], scrolled: bool) -> None:
    code, _ = cells_from_run(replace(example_run(), outputs=tuple(outputs)), state="pending")
    assert code["metadata"].get("scrolled", False) is scrolled


def test_cells_of_a_refined_run_say_which_run_it_refines_and_how() -> None:
    run = example_run(request__refines="0123456789ab", request__refinement="top 10")
    for cell in cells_from_run(run, state="pending"):
        origin = cell["metadata"]["codeagent"]
        assert (origin["run_id"], origin["refines"], origin["refinement"]) == (run.id, "0123456789ab", "top 10")


def test_cells_form_a_valid_notebook() -> None:
    nbformat.validate(notebook_with(*cells_from_run(example_run(), state="pending")))


@pytest.mark.parametrize("run_id", ["a", "Ünï code/../" * 20, "x" * 500])
def test_ids_are_valid_and_the_same_each_time_for_any_run_id(run_id: str) -> None:
    once, again = cell_ids(example_run(id=run_id)), cell_ids(example_run(id=run_id))

    assert once == again
    assert len(set(once)) == 2
    assert all(re.fullmatch(r"[a-zA-Z0-9_-]{1,64}", cell_id) for cell_id in once)
    assert not set(once) & set(cell_ids(example_run()))


def test_the_step_is_the_one_whose_code_a_person_edited() -> None:
    first, second = example_run().steps
    edited = Decision(action="approve", code="late", decided_by="panel")
    run = example_run(code="late", steps=(type(first)(index=1, messages=(), code="lat", decision=edited), second))

    assert cells_from_run(run, state="pending")[0]["metadata"]["codeagent"]["step"] == 1


def test_a_run_without_an_answer_is_one_cell_and_one_without_code_none() -> None:
    assert len(cells_from_run(example_run(answer=""), state="pending")) == 1
    assert cells_from_run(example_run(code="", outputs=(), answer=""), state="pending") == ()


@pytest.mark.parametrize(
    "answer", ["![x](http://192.0.2.1/?q=secret)", "late <img src=//192.0.2.1/x>", "[x]: http://192.0.2.1"]
)
def test_an_answer_cannot_make_the_page_fetch_anything(answer: str) -> None:
    for cell in cells_from_run(example_run(code="", outputs=(), answer=f"It is {answer}"), state="pending"):
        assert "![" not in cell["source"]
        assert "<img" not in cell["source"]
        assert "http" not in cell["source"]


def test_an_answer_of_nothing_but_a_reference_is_no_cell() -> None:
    assert cells_from_run(example_run(code="", outputs=(), answer="[x]: http://192.0.2.1"), state="pending") == ()


def test_cells_do_not_share_their_outputs_with_the_run() -> None:
    run = example_run()
    cells_from_run(run, state="pending")[0]["outputs"][1]["data"]["text/plain"] = "changed"

    assert run == example_run()
    assert OUTPUTS[1]["output_type"] == "display_data"
    assert OUTPUTS[1]["data"]["text/plain"] == "<Figure>"


def test_a_lone_surrogate_in_an_answer_can_be_saved(tmp_path: Path) -> None:
    notebook = notebook_with(*cells_from_run(example_run(answer="half a pair: \ud83d"), state="pending"))

    nbformat.write(notebook, tmp_path / "a.ipynb")

    assert nbformat.read(tmp_path / "a.ipynb", as_version=4).cells[2].source.startswith("half a pair: ")


@pytest.mark.parametrize(("trusted", "signed"), [(True, True), (False, False)])
def test_inserted_cells_keep_a_trusted_notebook_trusted_because_they_are_marked(
    trusted: bool, signed: bool
) -> None:
    notebook = notebook_with(*cells_from_run(example_run(), state="pending"))
    if not trusted:  # the twin: without the mark the whole notebook would lose its trust
        del notebook.cells[1].metadata["trusted"]

    assert NotebookNotary(store_factory=MemorySignatureStore).check_cells(notebook) is signed


# --- insertion without a browser ----------------------------------------------------------------------


def test_cells_go_directly_below_the_anchor_and_the_notebook_stays_valid() -> None:
    notebook = notebook_with()

    new = insert_run(notebook, example_run(), anchor="agent")

    assert ids(notebook) == ["agent", *new, "last"]
    assert list(new) == cell_ids(example_run())
    nbformat.validate(notebook)


def test_an_index_is_an_anchor_and_no_anchor_is_the_end() -> None:
    by_index, at_end = notebook_with(), notebook_with()
    new = insert_run(by_index, example_run(), anchor=0)
    insert_run(at_end, example_run(), anchor=None)

    assert ids(by_index) == ["agent", *new, "last"]
    assert ids(at_end) == ["agent", "last", *new]


def test_cells_take_the_state_of_the_run() -> None:
    notebook = notebook_with()
    insert_run(notebook, example_run(cell_state="accepted"), anchor="agent")

    assert notebook.cells[1].metadata.codeagent.state == "accepted"


def test_inserting_twice_changes_nothing() -> None:
    notebook = notebook_with()
    insert_run(notebook, example_run(), anchor="agent")
    before = copy.deepcopy(notebook)

    assert insert_run(notebook, example_run(), anchor="agent") == ()
    assert notebook == before


def test_a_deleted_cell_of_a_run_comes_back_below_the_one_that_is_still_there() -> None:
    notebook = notebook_with()
    code, answer = insert_run(notebook, example_run(), anchor="agent")
    notebook.cells = [notebook.cells[0], notebook.cells[3], notebook.cells[1]]  # agent, last, code

    assert insert_run(notebook, example_run(), anchor="agent") == (answer,)
    assert ids(notebook) == ["agent", "last", code, answer]


def test_pending_cells_of_an_earlier_run_are_replaced_and_decided_ones_stay() -> None:
    earlier = {state: example_run(id=state, answer="") for state in ("pending", "accepted", "edited")}
    cells = [cells_from_run(run, state=state)[0] for state, run in earlier.items()]  # type: ignore[arg-type]
    notebook = notebook_with(*cells)

    new = insert_run(notebook, example_run(), anchor="agent", replace=list(earlier))

    assert ids(notebook) == ["agent", *new, cells[1]["id"], cells[2]["id"], "last"]


def test_pending_cells_of_other_runs_stay() -> None:
    other = cells_from_run(example_run(id="other"), state="pending")
    notebook = notebook_with(*other)
    insert_run(notebook, example_run(), anchor="agent", replace=["third"])

    assert {cell["id"] for cell in other} < set(ids(notebook))


def test_a_pending_cell_that_someone_edited_without_the_panel_is_not_replaced() -> None:
    code, _ = cells_from_run(example_run(id="old"), state="pending")
    notebook = notebook_with({**code, "source": code["source"] + "  # mine"})
    insert_run(notebook, example_run(), anchor="agent", replace=["old"])

    assert code["id"] in ids(notebook)


@pytest.mark.parametrize("anchor", ["gone", 7, -1])
def test_an_unknown_anchor_is_an_error_and_nothing_is_half_inserted(anchor: str | int) -> None:
    notebook = notebook_with(*cells_from_run(example_run(id="old"), state="pending"))
    before = copy.deepcopy(notebook)

    with pytest.raises(InsertError, match="no cell"):
        insert_run(notebook, example_run(), anchor=anchor, replace=["old"])
    assert notebook == before


def test_a_notebook_without_cell_ids_gets_them() -> None:
    notebook = notebook_with()
    notebook.nbformat_minor = 4
    for cell in notebook.cells:
        del cell["id"]

    new = insert_run(notebook, example_run(), anchor=0)

    assert ids(notebook)[1:3] == list(new)
    nbformat.validate(notebook)
    assert notebook.nbformat_minor == 5


def test_a_notebook_of_format_3_is_refused() -> None:
    with pytest.raises(InsertError, match="format 3"):
        insert_run(nbformat.v3.new_notebook(), example_run(), anchor=None)


def test_collected_cells_can_be_placed_without_their_run() -> None:
    notebook = notebook_with()
    insert_cells(notebook, cells_from_run(example_run(), state="pending"), anchor="agent")

    assert len(notebook.cells) == 4


# --- states ------------------------------------------------------------------------------------------


def test_remove_pending_takes_only_the_named_runs() -> None:
    a, b = (cells_from_run(example_run(id=name, answer=""), state="pending") for name in "ab")
    notebook = notebook_with(*a, *b)
    remove_pending(notebook, ["a"])

    assert ids(notebook) == ["agent", b[0]["id"], "last"]


def test_foreign_metadata_is_no_reason_to_fail() -> None:
    odd = new_code_cell("1", metadata={"codeagent": "mine", "tags": ["x"]})
    notebook = notebook_with(odd)
    insert_run(notebook, example_run(), anchor="agent", replace=["x"])
    remove_pending(notebook, ["x"])

    assert odd.id in ids(notebook)


# --- export -------------------------------------------------------------------------------------------


def test_an_exported_notebook_is_valid_and_holds_prompt_code_outputs_and_answer(tmp_path: Path) -> None:
    nbformat.write(export_notebook(example_run()), tmp_path / "run.ipynb")
    notebook = nbformat.read(tmp_path / "run.ipynb", as_version=4)

    nbformat.validate(notebook)
    prompt, code, answer = notebook.cells
    assert example_run().request.prompt in prompt.source
    assert code.source == CODE
    assert [output.output_type for output in code.outputs] == ["stream", "display_data", "execute_result"]
    assert answer.source == example_run().answer


def test_an_exported_notebook_claims_no_trust() -> None:
    assert "trusted" not in export_notebook(example_run()).cells[1].metadata


def test_a_prompt_with_fences_cannot_leave_its_block_in_the_export() -> None:
    prompt = "```\n# heading\n````text\n![](http://192.0.2.1/x)"
    source = export_notebook(example_run(request__prompt=prompt)).cells[0].source

    assert source.startswith(f"`````text\n{prompt}\n`````\n")


def test_an_exported_script_is_python_in_the_percent_format() -> None:
    script = export_script(example_run())

    ast.parse(script)
    assert f"\n# %%\n{CODE}\n" in script
    assert script.startswith("# %% [markdown]\n# Which carrier is late?")
    assert script.endswith("# %% [markdown]\n# Frontier (F9) is 21.9 minutes late.\n")


@pytest.mark.parametrize("end", ["\n", "\r", "\r\n", "\f", "\v", "\u2028", "\x85"])
def test_no_line_end_lets_a_prompt_become_code_of_the_script(end: str) -> None:
    script = export_script(example_run(request__prompt=f"question{end}injected = 1", code="", outputs=()))

    assert ast.parse(script).body == []


def test_notebook_commands_are_commented_out_in_the_script_but_not_inside_a_string() -> None:
    script = export_script(example_run(code="%matplotlib inline\n!ls\nx = 1"))
    plain = export_script(example_run(code='text = """\n%s and !\n%d"""'))

    assert "\n# %matplotlib inline\n# !ls\nx = 1\n" in script
    assert 'text = """\n%s and !\n%d"""' in plain
    ast.parse(script)
