"""Conversion of a sandbox message to a cleaned notebook output. Its fields may have any type and any size."""

from __future__ import annotations

import json
from typing import Any, Literal, cast

from jupyter_codeagent.notebook.outputs.html import MAX_HTML_CHARS, clean_html, has_active_content, text_of_html
from jupyter_codeagent.notebook.outputs.images import BadImageError, clean_image, image_size
from jupyter_codeagent.notebook.outputs.interactive import (
    INTERACTIVE_MIME,
    INTERACTIVE_SOURCES,
    MAX_DEPTH,
    describe_interactive,
    interactive_entry,
    is_deeper,
)
from jupyter_codeagent.notebook.outputs.nesting import (
    is_cheap_to_parse,
    is_cheap_to_serialize,
    without_style_blocks,
)
from jupyter_codeagent.notebook.outputs.svg import BadSvgError, clean_svg
from jupyter_codeagent.notebook.outputs.table_styles import with_inline_styles
from jupyter_codeagent.notebook.outputs.text import MAX_TEXT_CHARS, clean_text, strip_colours
from jupyter_codeagent.types.rust_panics import PanicError, panics_as_errors
from jupyter_codeagent.types.sandbox import DisplayOutput, ErrorOutput, Output, ResultOutput, StreamOutput

MAX_JSON_CHARS = 200_000
MAX_MIME_TYPES = 20
MAX_TRACEBACK_LINES = 100
MAX_NAME_CHARS = 100
MAX_IMAGE_SIDE = 4000
IMAGES = ("image/png", "image/jpeg")

Notes = tuple[str, ...]


def clean_output(msg_type: str, content: object) -> tuple[Output | None, Notes]:
    """Return the cleaned output of a ``stream``, ``display_data``, ``execute_result`` or ``error`` message.

    None if nothing of it is allowed. The notes list what was removed, one short line each.
    """
    if not isinstance(content, dict):
        return None, ("output that is not a message dropped",)
    if msg_type == "stream":
        return _stream(content)
    if msg_type == "error":
        return _error(content), ()
    if msg_type in ("display_data", "execute_result"):
        return _rich(msg_type, content)
    return None, (f"output of type {_name(msg_type)} dropped",)


def _stream(content: dict[str, Any]) -> tuple[Output | None, Notes]:
    name, text = content.get("name"), clean_text(_text(content.get("text")))
    if name not in ("stdout", "stderr"):
        return None, ("text of an unknown stream dropped",)
    if not text:
        return None, ()
    stream = cast('Literal["stdout", "stderr"]', name)
    return StreamOutput(output_type="stream", name=stream, text=text), ()


def _error(content: dict[str, Any]) -> ErrorOutput:
    lines = content.get("traceback")
    lines = lines if isinstance(lines, list) else []
    if len(lines) > MAX_TRACEBACK_LINES:
        half = MAX_TRACEBACK_LINES // 2
        lines = [*lines[:half], f"[… {len(lines) - 2 * half} lines cut]", *lines[-half:]]
    return ErrorOutput(
        output_type="error",
        ename=_name(content.get("ename")) or "Error",
        evalue=strip_colours(clean_text(_text(content.get("evalue")), 10_000)),
        traceback=[clean_text(_text(line), 10_000) for line in lines],
    )


def _rich(msg_type: str, content: dict[str, Any]) -> tuple[Output | None, Notes]:
    offered = content.get("data")
    if not isinstance(offered, dict):
        return None, ("output without data dropped",)
    data, notes = _clean_data(offered)
    if not data:
        return None, notes
    metadata = _metadata(content.get("metadata"), data)
    if msg_type == "display_data":
        return DisplayOutput(output_type="display_data", data=data, metadata=metadata), notes
    result = ResultOutput(output_type="execute_result", data=data, metadata=metadata, execution_count=None)
    return result, notes


def _clean_data(offered: dict[Any, Any]) -> tuple[dict[str, Any], Notes]:
    """Return the cleaned bundle; it has ``text/plain`` unless the original was empty."""
    data: dict[str, Any] = {}
    notes: list[str] = []
    considered = dict(list(offered.items())[:MAX_MIME_TYPES])
    entry, problem = interactive_entry(considered, _text(considered.get("text/html")))
    if entry is not None:
        data[INTERACTIVE_MIME] = entry
    if problem:
        notes.append(problem)
    for mime, value in considered.items():
        if mime in INTERACTIVE_SOURCES:
            continue
        cleaned, note = _clean_value(mime, value)
        if cleaned is not None:
            data[mime] = cleaned
        if note:
            notes.append(note)
    if offered and "text/plain" not in data:
        data["text/plain"] = _fallback_text(data, notes)
    return data, tuple(notes)


def _clean_value(mime: object, value: object) -> tuple[Any, str]:
    """Return the cleaned value or None, and a note about what was removed."""
    try:
        with panics_as_errors():
            return _cleaned(mime, value)
    except PanicError:
        return None, f"{_name(mime)} dropped: its sanitizer failed"


def _cleaned(mime: object, value: object) -> tuple[Any, str]:
    if mime == "text/plain":
        return clean_text(_text(value), MAX_TEXT_CHARS), ""
    if mime == "text/html":
        return _clean_html_value(_text(value))
    if mime in IMAGES:
        try:
            return clean_image(str(mime), value), ""
        except BadImageError as problem:
            return None, f"{mime} dropped: {problem}"
    if mime == "image/svg+xml":
        return _clean_svg_value(_text(value))
    if mime == "application/json":
        return _clean_json(value)
    return None, f"{_name(mime) or 'data without a type'} dropped"


def _clean_html_value(text: str) -> tuple[str | None, str]:
    if len(text) > MAX_HTML_CHARS:
        return None, f"text/html dropped: {len(text):,} characters; the limit is {MAX_HTML_CHARS:,}"
    note = "active or remote content removed from text/html" if has_active_content(text) else ""
    text = without_style_blocks(with_inline_styles(strip_colours(clean_text(text, MAX_HTML_CHARS))))
    if not is_cheap_to_parse(text):
        return None, "text/html dropped: many tags that are not strictly nested or too deep"
    if not is_cheap_to_serialize(text):
        return None, "text/html dropped: too many ampersands and no-break spaces"
    cleaned = clean_html(text)
    if len(cleaned) > 2 * MAX_HTML_CHARS:
        return None, f"text/html dropped: more than {2 * MAX_HTML_CHARS:,} characters after cleaning"
    return cleaned or None, note


def _clean_svg_value(text: str) -> tuple[str | None, str]:
    try:
        cleaned = clean_svg(text)
    except BadSvgError as problem:
        return None, f"image/svg+xml dropped: {problem}"
    return cleaned.text, "active or remote content removed from image/svg+xml" if cleaned.is_changed else ""


def _clean_json(value: object) -> tuple[Any, str]:
    if is_deeper(value, MAX_DEPTH):
        return None, f"application/json dropped: nested deeper than {MAX_DEPTH}"
    try:
        text = json.dumps(value, allow_nan=False, ensure_ascii=False)
        text.encode()  # a lone surrogate would prevent saving the whole notebook
    except (TypeError, ValueError, RecursionError):
        return None, "application/json dropped: not JSON"
    if len(text) > MAX_JSON_CHARS:
        return None, f"application/json dropped: {len(text):,} characters; the limit is {MAX_JSON_CHARS:,}"
    return json.loads(text), ""


def _fallback_text(data: dict[str, Any], notes: list[str]) -> str:
    """Return plain text for a bundle without any."""
    if image := describe_image(data):
        return image
    if "image/svg+xml" in data:
        return "[image/svg+xml]"
    if "text/html" in data and (words := text_of_html(data["text/html"])):
        return clean_text(words, 10_000)
    if "application/json" in data:
        return clean_text(json.dumps(data["application/json"], ensure_ascii=False), 10_000)
    if INTERACTIVE_MIME in data:
        return describe_interactive(data[INTERACTIVE_MIME])
    return f"[not shown: {'; '.join(notes[:3])}]" if notes else "[empty output]"


def describe_image(data: dict[str, Any]) -> str:
    """Return ``[image/png 640x480]`` for a cleaned bundle with an image, else empty."""
    import base64

    for mime in IMAGES:
        if mime in data:
            width, height = image_size(mime, base64.b64decode(data[mime]))
            return f"[{mime} {width}x{height}]"
    return ""


def _metadata(offered: object, data: dict[str, Any]) -> dict[str, Any]:
    """Return the allowed metadata: only the display size of images."""
    kept: dict[str, Any] = {}
    for mime in IMAGES:
        size = offered.get(mime) if isinstance(offered, dict) and mime in data else None
        if isinstance(size, dict):
            sides = {side: size[side] for side in ("width", "height") if _is_side(size.get(side))}
            kept |= {mime: sides} if sides else {}
    return kept


def _is_side(value: object) -> bool:
    return type(value) in (int, float) and 0 < cast("float", value) <= MAX_IMAGE_SIDE


def _text(value: object) -> str:
    """Return the text of a string or a list of strings, as in notebook files; empty for anything else."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(part, str) for part in value):
        return "".join(value)
    return ""


def _name(value: object) -> str:
    return " ".join(strip_colours(clean_text(_text(value)[:MAX_NAME_CHARS])).split())
