"""The accepted results of a notebook, in its order, with the user's own Markdown between them."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

from jupyter_codeagent.notebook.cells import cell_state, has_changed_code, provenance, run_id_of, sha256_of
from jupyter_codeagent.notebook.outputs import clean_markdown, clean_output, clean_text, visible_code
from jupyter_codeagent.report.report import Passage, Result
from jupyter_codeagent.types.run import KEPT_STATES, NO_MODEL, AgentRun
from jupyter_codeagent.types.sandbox import Output
from jupyter_codeagent.variables.privacy.secret import mask_keys

MAX_QUESTION_CHARS = 4_000
MAX_NAME_CHARS = 120
_HEADING = re.compile(r"^[ \t]{0,3}#{1,6}[ \t](?P<text>[^\n]*)$", re.MULTILINE)
_AGENT_CELL = re.compile(r"%%agent\b[^\n]*\n(?P<prompt>.*)", re.DOTALL)


@dataclass(frozen=True, kw_only=True)
class _Question:
    """The last `%%agent` cell above."""

    prompt: str = ""


def read_items(cells: tuple[Any, ...], runs: Mapping[str, AgentRun]) -> tuple[Result | Passage, ...]:
    """Return a result for each code cell that the user has kept, and a passage for each of their Markdown cells."""
    items: list[Result | Passage] = []
    at: dict[str, int] = {}
    """Run -> position of its result."""
    question = _Question()
    for number, cell in enumerate(cells, start=1):
        run_id = run_id_of(cell)
        if run_id is None:
            question = _question_of(cell, question)
            items += _passages(cell)
        elif cell_state(cell) in KEPT_STATES:
            result = _result(cell, number, run_id, runs.get(run_id), question)
            if provenance(cell).get("role") == "answer":
                if run_id not in at:
                    at[run_id] = len(items)
                    items.append(result)
                there = items[at[run_id]]
                assert isinstance(there, Result)
                items[at[run_id]] = _with_answer(there, cell)
            else:
                at[run_id] = len(items)
                items.append(result)
    return tuple(items)


def _passages(cell: Any) -> Iterator[Passage]:
    if cell.get("cell_type") == "markdown" and (text := clean_prose(_source(cell))):
        yield Passage(text=text)


def _question_of(cell: Any, before: _Question) -> _Question:
    found = _AGENT_CELL.match(_source(cell).lstrip()) if cell.get("cell_type") == "code" else None
    return before if found is None else _Question(prompt=found["prompt"].strip())


def _result(cell: Any, number: int, run_id: str, run: AgentRun | None, above: _Question) -> Result:
    known = provenance(cell)
    if run is not None and sha256_of(run.request.prompt) != known.get("prompt_sha256"):
        run = None  # another run of this id, or forged metadata: nothing of the history is told
    result = Result(
        question=_prompt(known, run, above),
        is_edited=cell_state(cell) == "edited" or has_changed_code(cell),
        model=_model(known),
        run_id=_line(run_id, 40),
        cell_id=str(cell.get("id", ""))[:64],
        cell_number=number,
        run=run,
    )
    if run is not None:
        parts = tuple(f"{copy.name}: {copy.note}" for copy in run.manifest.copied if copy.note)
        result = replace(
            result,
            started_at=run.started_at,
            verdict=run.verdict,
            assumptions=tuple(mask_keys(_line(one.text, 300)) for one in run.assumptions),
            parts=tuple(_line(part, 300) for part in parts),
            is_finding=bool(run.request.exploration),
        )
    if known.get("role") == "answer":
        return result
    outputs, notes = clean_outputs(cell.get("outputs", ()))
    source = _source(cell)
    return replace(result, code=clean_code(source), source=source, outputs=outputs, notes=notes)


def _prompt(known: Mapping[str, Any], run: AgentRun | None, above: _Question) -> str:
    if run is not None:
        prompt = run.request.prompt
    elif sha256_of(above.prompt) == known.get("prompt_sha256"):
        prompt = above.prompt
    else:
        prompt = ""
    return mask_keys(clean_text(prompt, MAX_QUESTION_CHARS)).strip()


def _model(known: Mapping[str, Any]) -> str:
    model = _line(known.get("model"), MAX_NAME_CHARS)
    return "" if model == NO_MODEL else model


def _with_answer(result: Result, cell: Any) -> Result:
    answer = clean_prose(_source(cell))
    return replace(result, answer=answer, question=answer if result.is_finding else result.question)


# --- cleaning ---------------------------------------------------------------------------------------


def clean_outputs(outputs: Any) -> tuple[tuple[Output, ...], tuple[str, ...]]:
    """Return the outputs of a cell as the guard lets them through, and what was removed.

    They may come from anybody's file. Keys and passwords in text and tables are masked.
    """
    kept: list[Output] = []
    notes: list[str] = []
    for output in outputs if isinstance(outputs, list | tuple) else ():
        cleaned, removed = clean_output(str(output.get("output_type", "")), dict(output))
        notes += removed
        if cleaned is not None:
            kept.append(_without_keys(cleaned))
    return tuple(kept), tuple(dict.fromkeys(_line(note, 200) for note in notes))


_TAG = re.compile(r"""(<(?:[^<>"]|"[^"<]*+")*+>)""")


def _without_keys(output: Output) -> Output:
    if output["output_type"] == "stream":
        return {**output, "text": mask_keys(output["text"])}
    if output["output_type"] == "error":
        traceback = [mask_keys(line) for line in output["traceback"]]
        return {**output, "evalue": mask_keys(output["evalue"]), "traceback": traceback}
    data = dict(output["data"])
    if "text/plain" in data:
        data["text/plain"] = mask_keys(data["text/plain"])
    if "text/html" in data:  # between the tags: an embedded picture is a long random text
        parts = _TAG.split(data["text/html"])
        parts[::2] = [mask_keys(part) for part in parts[::2]]
        data["text/html"] = "".join(parts)
    output = copy.deepcopy(output)
    output["data"] = data
    return output


def clean_code(code: str) -> str:
    """Return code as it may be displayed: nothing in it is hidden, and no key is in it."""
    return mask_keys(visible_code(code.replace("\r\n", "\n"))).strip("\n")


def clean_prose(text: str) -> str:
    """Return Markdown without addresses, HTML and keys."""
    return mask_keys(clean_markdown(text))


def _line(value: object, max_chars: int) -> str:
    return " ".join(clean_text(value if isinstance(value, str) else "", max_chars).split())


def _source(cell: Any) -> str:
    source = cell.get("source", "")
    return source if isinstance(source, str) else ""


# --- title ------------------------------------------------------------------------------------------


def find_title(items: tuple[Result | Passage, ...], default: str) -> tuple[str, tuple[Result | Passage, ...]]:
    """Return the first heading of the notebook, and the items without it; `default` if there is none."""
    for at, item in enumerate(items):
        found = _HEADING.search(item.text) if isinstance(item, Passage) else None
        if found is not None and isinstance(item, Passage) and (title := found["text"].strip(" \t#*_`")):
            rest = f"{item.text[: found.start()]}{item.text[found.end() :]}".strip()
            kept = (Passage(text=rest),) if rest else ()
            return title, (*items[:at], *kept, *items[at + 1 :])
    return default, items
