"""Allowed elements, attributes and values of an SVG: pure functions over text."""

from __future__ import annotations

import re
from collections.abc import Mapping
from string import ascii_lowercase

_NAME = re.compile(r"[A-Za-z_][\w.:-]{0,199}", re.ASCII)
_ID_PREFIX = "svg-"
"""Prefix of each id, so that a drawing in a page has no name that the page or its scripts use."""

_LENGTH = re.compile(r"[-+]?[\d.]{1,40}(?:[eE][-+]?\d{1,3})?(?:px|pt|em|ex|cm|mm|in|pc|%)?", re.ASCII)
_NUMBERS = re.compile(r"[-+.\deE\s,]*+", re.ASCII)
_PATH = re.compile(r"[MmZzLlHhVvCcSsQqTtAa\deE.,+\-\s]*+", re.ASCII)
_LENGTHS = re.compile(r"[-+.\deE\s,%]*+|[-+.\deE\s,a-z%]{1,2000}+", re.ASCII)
_TRANSFORM = re.compile(
    r"(?:(?:matrix|translate|scale|rotate|skewX|skewY)\s{0,9}\([-+.\deE\s,]{0,400}\)[\s,]{0,9}){1,40}", re.ASCII
)
_WORDS = re.compile(r"[\w\s-]{1,100}", re.ASCII)
_COLOUR = re.compile(r"#[\da-fA-F]{3,8}|[A-Za-z]{1,30}|(?:rgb|hsl)a?\([\d\s.,%/]{1,60}\)", re.ASCII)
_REFERENCE = re.compile(r"url\(\s*[\"']?#([A-Za-z_][\w.:-]{0,199})[\"']?\s*\)", re.ASCII)
_FONT = re.compile(r"[\w\s,'\"./%+-]{1,400}", re.ASCII)
_ALL_ELEMENTS = re.compile(r"\s*(?:/\*[^*]*\*/\s*)?\*\s*\{([^{}]{0,500})\}\s*", re.ASCII)

# fmt: off
_PAINTS = frozenset({"fill", "stroke", "clip-path"})
_COLOURS = frozenset({"color", "stop-color"})
_FONTS = frozenset({"font", "font-family"})
_INHERITED = frozenset({"stroke-linejoin", "stroke-linecap"})
_STYLES = _PAINTS | _COLOURS | _FONTS | _INHERITED | {
    "fill-opacity", "fill-rule", "clip-rule", "stroke-width", "stroke-opacity", "stroke-dasharray",
    "stroke-dashoffset", "stroke-miterlimit", "opacity", "stop-opacity", "font-size", "font-style", "font-weight",
    "font-variant", "font-stretch", "text-anchor", "dominant-baseline", "alignment-baseline", "baseline-shift",
    "letter-spacing", "word-spacing", "text-decoration", "white-space", "visibility", "display", "image-rendering",
    "shape-rendering", "text-rendering", "paint-order", "vector-effect", "writing-mode",
}
_EVERYWHERE = _STYLES | {"id", "style", "transform"}
ALLOWED: dict[str, frozenset[str]] = {name: frozenset(_EVERYWHERE | own) for name, own in {
    "svg": {"xmlns", "viewBox", "width", "height", "x", "y", "preserveAspectRatio"},
    "g": set[str](), "defs": set[str](), "clipPath": {"clipPathUnits"},
    "symbol": {"viewBox", "preserveAspectRatio"},
    "path": {"d"}, "rect": {"x", "y", "width", "height", "rx", "ry"}, "circle": {"cx", "cy", "r"},
    "ellipse": {"cx", "cy", "rx", "ry"}, "line": {"x1", "y1", "x2", "y2"},
    "polyline": {"points"}, "polygon": {"points"},
    "text": {"x", "y", "dx", "dy", "rotate", "textLength", "lengthAdjust"},
    "tspan": {"x", "y", "dx", "dy", "rotate", "textLength", "lengthAdjust"},
    "use": {"href", "x", "y", "width", "height"},
    "image": {"href", "x", "y", "width", "height", "preserveAspectRatio"},
    "linearGradient": {"x1", "y1", "x2", "y2", "gradientUnits", "gradientTransform", "spreadMethod", "href"},
    "radialGradient": {
        "cx", "cy", "r", "fx", "fy", "gradientUnits", "gradientTransform", "spreadMethod", "href",
    },
    "stop": {"offset"},
    "pattern": {
        "x", "y", "width", "height", "viewBox", "patternUnits", "patternContentUnits", "patternTransform",
        "preserveAspectRatio", "href",
    },
}.items()}
UNWRAPPED = frozenset({"a"})
"""Elements of which only the children stay."""
HARMLESS_TO_LOSE = frozenset({"metadata", "title", "desc", "style"})
"""Elements whose removal is not reported; that of a style sheet depends on its contents."""
# fmt: on

MAX_SIDE = 10_000
"""Limit for width and height of the drawing, in any unit; a larger one is scaled by its `viewBox`."""


def clean_attribute(element: str, name: str, value: str) -> str | None:
    """Return the normalised value, or None if this element may not have it. Does not handle image addresses."""
    if name not in ALLOWED.get(element, ()) or name == "xmlns":
        return None
    if name == "style":
        return _style(value)
    if name == "id":
        return _prefixed(value) if _NAME.fullmatch(value) else None
    if name == "href":
        target = value.strip().removeprefix("#")
        return f"#{_prefixed(target)}" if value.strip().startswith("#") and _NAME.fullmatch(target) else None
    if name in _STYLES:
        return _setting(name, value)
    if element == "svg" and name in ("width", "height"):
        return _side(value)
    pattern = {"d": _PATH, "points": _NUMBERS, "viewBox": _NUMBERS}.get(name)
    if pattern is None:
        pattern = _TRANSFORM if name.lower().endswith("transform") else _LENGTHS
    if name in ("preserveAspectRatio", "clipPathUnits", "lengthAdjust", "spreadMethod") or name.endswith("Units"):
        pattern = _WORDS
    value = " ".join(value.split())
    return value if pattern.fullmatch(value) else None


def references(attributes: Mapping[str, str]) -> tuple[str, ...]:
    """Return the ids that cleaned attributes reference."""
    found = [match[1] for value in attributes.values() for match in _REFERENCE.finditer(value)]
    href = attributes.get("href", "")
    return (*found, href[1:]) if href.startswith("#") else tuple(found)


def root_style(sheet: str) -> str | None:
    """Return the style for the root of a sheet with one rule for all elements; None for any other sheet."""
    rule = _ALL_ELEMENTS.fullmatch(sheet)
    if rule is None:
        return None if sheet.strip() else ""
    kept = _style(rule[1]) or ""
    return "; ".join(part for part in kept.split("; ") if part.partition(":")[0] in _INHERITED)


def _style(value: str) -> str | None:
    kept = []
    for declaration in value[:4000].split(";"):
        name, _, setting = declaration.partition(":")
        name = name.strip().lower()
        cleaned = _setting(name, setting) if name in _STYLES else None
        if cleaned is not None:
            kept.append(f"{name}: {cleaned}")
    return "; ".join(kept) or None


def _setting(name: str, value: str) -> str | None:
    """Return the cleaned value of a presentation attribute or declaration, which have the same values."""
    value = " ".join(value.split())
    if name in _PAINTS and (reference := _REFERENCE.fullmatch(value)):
        return f"url(#{_prefixed(reference[1])})"
    if name in _PAINTS | _COLOURS:
        return value if _COLOUR.fullmatch(value) else None
    pattern = (
        _FONT if name in _FONTS else _LENGTHS if name == "stroke-dasharray" else re.compile(r"[\w\s.,%+-]{1,200}")
    )
    return value if pattern.fullmatch(value) else None


def _side(value: str) -> str | None:
    match = _LENGTH.fullmatch(value.strip())
    if match is None:
        return None
    try:
        size = float(value.strip().rstrip(f"{ascii_lowercase}%"))
    except ValueError:
        return None
    return value.strip() if 0 < size <= MAX_SIDE else None


def _prefixed(name: str) -> str:
    return name if name.startswith(_ID_PREFIX) else _ID_PREFIX + name
