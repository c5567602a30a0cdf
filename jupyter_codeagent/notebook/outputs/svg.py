"""Static SVG: shapes, text and embedded PNG or JPEG; nothing that runs, fetches, moves or grows.

Two parsers must agree, because viewers of notebooks use both kinds: the XML parser here, which rewrites and counts
what is allowed (`svg_rules`), and then the HTML parser of the sanitizer with the same list.
"""

from __future__ import annotations

import base64
import re
from dataclasses import dataclass, field
from html import escape
from typing import Any
from xml.parsers import expat

import nh3

from jupyter_codeagent.notebook.outputs.images import MAX_PIXELS, BadImageError, clean_image, image_size
from jupyter_codeagent.notebook.outputs.nesting import is_cheap_to_serialize
from jupyter_codeagent.notebook.outputs.svg_rules import (
    ALLOWED,
    HARMLESS_TO_LOSE,
    UNWRAPPED,
    clean_attribute,
    references,
    root_style,
)

MAX_SVG_CHARS = 4 << 20
MAX_ELEMENTS = 50_000
MAX_DEPTH = 60
MAX_DRAWN = 200_000
"""Limit for drawn elements, with each `<use>` and pattern counted as often as it is referenced."""

_SVG = "http://www.w3.org/2000/svg"
_XLINK_HREF = "http://www.w3.org/1999/xlink href"


class BadSvgError(ValueError):
    """The SVG is not allowed; `str()` is the reason in a few words."""


@dataclass(frozen=True, slots=True)
class CleanSvg:
    """A cleaned drawing."""

    text: str
    """A whole `<svg>` element, well-formed as XML and the same as HTML."""
    is_changed: bool
    """Whether something active or remote was removed, which the user should know."""


def clean_svg(text: str) -> CleanSvg:
    """Return the drawing with only what the list allows; cleaning it again changes nothing.

    Raises
    ------
    BadSvgError
        It is not well-formed, not an SVG, too large to draw, or empty after cleaning.
    """
    if len(text) > MAX_SVG_CHARS:
        raise BadSvgError(f"{len(text):,} characters; the limit is {MAX_SVG_CHARS:,}")
    copy = _SvgCopier()
    copy.read(text)
    _check_drawn_elements(copy.root)
    written = "".join(copy.written)
    if not is_cheap_to_serialize(*written.split("<")):  # each part begins with a tag, because text was escaped
        raise BadSvgError("too many ampersands and no-break spaces in one text")
    cleaned = _sanitize_as_html(written)
    _require_well_formed(cleaned)
    return CleanSvg(text=cleaned, is_changed=copy.is_changed)


@dataclass
class _Element:
    """An element with all that is drawn for it: its children and the elements it references."""

    points_at: tuple[str, ...] = ()
    children: list[_Element] = field(default_factory=list)
    ids: dict[str, _Element] = field(default_factory=dict)
    """Elements of the whole drawing by id; at the root only."""


class _SvgCopier:
    """The handlers of one parse, which write what is allowed."""

    def __init__(self) -> None:
        self.written: list[str] = []
        self.root = _Element()
        self.is_changed = False
        self._open: list[_Element] = []
        self._names: list[str] = []
        """Names of the elements in `_open`, "" for one of which only the children stay."""
        self._dropped_depth = 0
        self._style: list[str] | None = None
        self._elements = 0
        self._kept = 0
        self._pixels = 0

    def read(self, text: str) -> None:
        """Parse the text."""
        parser = expat.ParserCreate(encoding="utf-8", namespace_separator=" ")
        parser.buffer_text = True
        parser.StartDoctypeDeclHandler = self._doctype
        parser.EntityDeclHandler = self._entity
        parser.StartElementHandler = self._start
        parser.EndElementHandler = self._end
        parser.CharacterDataHandler = self._text
        try:
            parser.Parse(re.sub(r"\A\s*<\?xml[^>]*\?>", "", text).strip().encode(), True)
        except (expat.ExpatError, UnicodeEncodeError):
            raise BadSvgError("not well-formed XML") from None
        if self._kept < 2:  # only the root
            raise BadSvgError("nothing to draw in it")

    def _doctype(self, _name: str, _system: str | None, _public: str | None, has_internal_subset: int) -> None:
        if has_internal_subset:
            raise BadSvgError("it declares entities")

    def _entity(self, *_: object) -> None:
        raise BadSvgError("it declares entities")

    def _start(self, qualified: str, attributes: dict[str, str]) -> None:
        self._elements += 1
        if self._elements > MAX_ELEMENTS:
            raise BadSvgError(f"more than {MAX_ELEMENTS:,} elements")
        if len(self._open) + self._dropped_depth >= MAX_DEPTH:
            raise BadSvgError(f"nested deeper than {MAX_DEPTH}")
        namespace, _, name = qualified.rpartition(" ")
        if not self._open and not self._dropped_depth and (namespace, name) != (_SVG, "svg"):
            raise BadSvgError("not an SVG")
        if self._dropped_depth or namespace != _SVG or not (name in ALLOWED or name in UNWRAPPED):
            self._drop(name)
            return
        self._enter(name if name in ALLOWED else "", attributes)

    def _drop(self, name: str) -> None:
        if not self._dropped_depth:
            self._style = [] if name == "style" else None
            self.is_changed |= name not in HARMLESS_TO_LOSE
        self._dropped_depth += 1

    def _enter(self, name: str, attributes: dict[str, str]) -> None:
        kept = self._clean_attributes(name, attributes) if name else {}
        self.is_changed |= not name and bool(attributes)  # a link
        element = _Element(points_at=references(kept))
        if self._open:
            self._open[-1].children.append(element)
        else:
            self.root = element
        if "id" in kept:
            self.root.ids.setdefault(kept["id"], element)
        self._open.append(element)
        self._names.append(name)
        if name:
            self._kept += 1
            xmlns = f' xmlns="{_SVG}"' if len(self._open) == 1 else ""
            written = "".join(f' {key}="{escape(value)}"' for key, value in kept.items())
            self.written.append(f"<{name}{xmlns}{written}>")

    def _clean_attributes(self, name: str, attributes: dict[str, str]) -> dict[str, str]:
        kept: dict[str, str] = {}
        for key, value in attributes.items():
            plain = "href" if key == _XLINK_HREF else key
            cleaned = (
                self._clean_image(value)
                if (name, plain) == ("image", "href")
                else clean_attribute(name, plain, value)
            )
            if cleaned is not None:
                kept[plain] = cleaned
            elif plain == "href" or plain.startswith("on") or "url" in value.lower():
                self.is_changed = True
        return kept

    def _clean_image(self, value: str) -> str | None:
        """Return a data address with a valid image, or None.

        Raises
        ------
        BadSvgError
            The images together are too large to decode.
        """
        head, _, encoded = value.partition(",")
        mime = {"data:image/png;base64": "image/png", "data:image/jpeg;base64": "image/jpeg"}.get(head.strip())
        if mime is None:
            return None
        try:
            cleaned = clean_image(mime, encoded)
        except BadImageError:
            return None
        width, height = image_size(mime, base64.b64decode(cleaned))
        self._pixels += width * height
        if self._pixels > MAX_PIXELS:
            raise BadSvgError(f"its images have more than {MAX_PIXELS // 1_000_000} million pixels")
        return f"data:{mime};base64,{cleaned}"

    def _end(self, _qualified: str) -> None:
        if self._dropped_depth:
            self._dropped_depth -= 1
            if not self._dropped_depth and self._style is not None:
                self._use_style("".join(self._style))
                self._style = None
            return
        self._open.pop()
        name = self._names.pop()
        if name:
            self.written.append(f"</{name}>")

    def _use_style(self, sheet: str) -> None:
        """Move matplotlib's one rule for all elements to the root, which inherits it; drop any other sheet."""
        inherited = root_style(sheet)
        if inherited is None:
            self.is_changed = True
        elif inherited and self.written[0].startswith("<svg ") and ' style="' not in self.written[0]:
            self.written[0] = f'{self.written[0][:-1]} style="{escape(inherited)}">'

    def _text(self, text: str) -> None:
        if self._dropped_depth:
            if self._style is not None:
                self._style.append(text)
        elif {"text", "tspan"} & set(self._names):
            self.written.append(escape(text, quote=False))


def _check_drawn_elements(root: _Element) -> None:
    """Check the number of elements that a browser draws: ten levels of ten `<use>` are ten billion elements."""
    costs: dict[int, int] = {}

    def cost(element: _Element, within: frozenset[int]) -> int:
        if id(element) in within:
            raise BadSvgError("it draws itself")
        if id(element) not in costs:
            inner = within | {id(element)}
            targets = [root.ids[name] for name in element.points_at if name in root.ids]
            costs[id(element)] = 1 + sum(cost(part, inner) for part in [*element.children, *targets])
        return costs[id(element)]

    try:
        drawn = cost(root, frozenset())
    except RecursionError:
        raise BadSvgError("its references form too long a chain") from None
    if drawn > MAX_DRAWN:
        raise BadSvgError(f"draws {drawn:,} elements; the limit is {MAX_DRAWN:,}")


def _sanitize_as_html(text: str) -> str:
    cleaned = nh3.clean(
        text,
        tags=set(ALLOWED),
        attributes={name: set(keys) for name, keys in ALLOWED.items()},
        clean_content_tags=set(),
        url_schemes={"data"},
        generic_attribute_prefixes=set(),
        link_rel=None,
        strip_comments=True,
    )
    return cleaned.replace("&nbsp;", "\N{NO-BREAK SPACE}")  # XML knows no such entity


def _require_well_formed(text: str) -> None:
    parser: Any = expat.ParserCreate(encoding="utf-8")
    try:
        parser.Parse(text.encode(), True)
    except (expat.ExpatError, UnicodeEncodeError):
        raise BadSvgError("HTML and XML parsers read it differently") from None
