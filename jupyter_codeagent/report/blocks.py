"""The outputs of a result as numbered blocks with anchors: what a template displays one below the other."""

from __future__ import annotations

import base64
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from jupyter_codeagent.notebook.outputs.bundle import IMAGES
from jupyter_codeagent.notebook.outputs.text import strip_colours
from jupyter_codeagent.report.report import Passage, Report, Result
from jupyter_codeagent.types.sandbox import Output

MAX_ALT_CHARS = 250


@dataclass(frozen=True, kw_only=True)
class Block:
    """One output."""

    kind: Literal["table", "figure", "text", "error"]
    anchor: str = ""
    """``table-2``; empty for text."""
    label: str = ""
    """``Table 2``."""
    html: str = ""
    """Cleaned fragment of a table."""
    text: str = ""
    """Text with colours; of a table or a picture its plain form."""
    image: str = ""
    """Address of the picture with the picture itself in it."""
    width: int | None = None
    """Width in pixels, if the output gives one."""
    alt: str = ""


@dataclass(frozen=True, kw_only=True)
class Section:
    """A result with its blocks, or a passage."""

    anchor: str = ""
    passage: Passage | None = None
    result: Result | None = None
    blocks: tuple[Block, ...] = ()


def sections(report: Report) -> tuple[Section, ...]:
    """Return the report's items with numbers: results, tables and figures are each counted through."""
    made: list[Section] = []
    counts = {"table": 0, "figure": 0}
    for item in report.items:
        if isinstance(item, Passage):
            made.append(Section(passage=item))
        else:
            number = sum(section.result is not None for section in made) + 1
            blocks = tuple(_blocks(item, counts))
            made.append(Section(anchor=f"result-{number}", result=item, blocks=blocks))
    return tuple(made)


def heading_of(result: Result) -> str:
    """Return one line that names a result."""
    lines = [line for line in (result.question or result.answer).splitlines() if line.strip()]
    return textwrap.shorten(lines[0], 160, placeholder=" …") if lines else f"Result in cell {result.cell_number}"


def rest_of_question(result: Result) -> str:
    """Return what the heading does not have of the question, such as how it was refined; nothing of a finding."""
    if result.is_finding:
        return ""
    first, _, rest = result.question.strip().partition("\n")
    return rest.strip() if " ".join(first.split()) == heading_of(result) else result.question.strip()


def judged(result: Result) -> str:
    """Return in one line what was checked and assumed; other verdicts stand in a box of their own."""
    said = []
    if result.verdict is not None and result.verdict.level == "checked":
        said.append(f"Checked: {result.verdict.reason}")
    if result.assumptions:
        said.append(f"Assumed: {'; '.join(result.assumptions)}")
    edited = " (refers to the code before it was edited)" if said and result.is_edited else ""
    return " · ".join(said) + edited


def _blocks(result: Result, counts: dict[str, int]) -> Iterator[Block]:
    for output in result.outputs:
        block = _block(output, result)
        if block is None:
            continue
        if block.kind in counts:
            counts[block.kind] += 1
            number = counts[block.kind]
            yield Block(
                **{**vars(block), "anchor": f"{block.kind}-{number}", "label": f"{block.kind.title()} {number}"}
            )
        else:
            yield block


def _block(output: Output, result: Result) -> Block | None:
    if output["output_type"] == "stream":
        # Warnings of libraries are for who runs the code.
        return Block(kind="text", text=output["text"]) if output["name"] == "stdout" else None
    if output["output_type"] == "error":
        return Block(kind="error", text=f"{output['ename']}: {output['evalue']}")
    data, plain = output["data"], str(output["data"].get("text/plain", ""))
    for mime in IMAGES:
        if mime in data:
            width = output["metadata"].get(mime, {}).get("width")
            return Block(
                kind="figure",
                image=f"data:{mime};base64,{data[mime]}",
                width=int(width) if width else None,
                alt=_alt(result),
                text=plain,
            )
    if "image/svg+xml" in data:  # as a picture, in which nothing can act
        encoded = base64.b64encode(str(data["image/svg+xml"]).encode()).decode()
        return Block(kind="figure", image=f"data:image/svg+xml;base64,{encoded}", alt=_alt(result), text=plain)
    if "text/html" in data:
        return Block(kind="table", html=str(data["text/html"]), text=strip_colours(plain))
    return Block(kind="text", text=plain) if plain else None


def _alt(result: Result) -> str:
    """Return words for who cannot see a chart: what was asked, and what was answered."""
    words = dict.fromkeys(" ".join(text.split()) for text in (heading_of(result), result.answer) if text)
    return textwrap.shorten(f"Chart. {' '.join(words)}".replace("`", ""), MAX_ALT_CHARS, placeholder=" …")
