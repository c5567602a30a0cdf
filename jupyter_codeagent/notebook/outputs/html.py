"""HTML with tables and text only: no script, no handler, no remote address, nothing that overlays the page.

Nor a formula: JupyterLab typesets those in outputs, with links and styles that load from anywhere.
"""

from __future__ import annotations

import re
from html import unescape

import nh3

MAX_HTML_CHARS = 1 << 20

# fmt: off
_TAGS = {
    "table", "thead", "tbody", "tfoot", "tr", "th", "td", "caption", "colgroup", "col", "p", "br", "hr", "b", "i",
    "u", "s", "em", "strong", "small", "sub", "sup", "code", "pre", "span", "div", "ul", "ol", "li", "dl", "dt",
    "dd", "h1", "h2", "h3", "h4", "h5", "h6", "blockquote", "img", "figure", "figcaption", "details", "summary",
}
_WITH_CONTENT = {
    "script", "style", "iframe", "object", "embed", "noscript", "noframes", "noembed", "template", "svg", "math",
    "form", "title", "textarea", "select", "xmp", "plaintext", "frameset",
}
# fmt: on
_ATTRIBUTES = {
    "*": {"style"},
    "td": {"colspan", "rowspan", "align"},
    "th": {"colspan", "rowspan", "align", "scope"},
    "col": {"span"},
    "table": {"border", "class"},
    "ol": {"start"},
    "img": {"src", "alt", "width", "height"},
}
_NUMBER = re.compile(r"\d{1,4}")
_WORD = re.compile(r"[a-z]{1,10}")
_IMAGE = re.compile(r"data:image/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/=\s]*")
_PROPERTY = re.compile(
    r"color|background(?:-color)?|text-align|vertical-align|font-(?:weight|style|size|family)|white-space"
    r"|(?:padding|margin)(?:-(?:top|right|bottom|left))?|border(?:-(?:top|right|bottom|left))?(?:-(?:color|style|width))?"
    r"|border-(?:collapse|spacing)|(?:max-|min-)?width|height|text-decoration"
)
_VALUE = re.compile(r"(?:[\w\s#%.,+-]|\b(?:rgb|hsl)a?\([\d\s.,%/]{1,40}\)){1,100}")
# For the bars of pandas' Styler.
_GRADIENT = re.compile(r"linear-gradient\((?:[\w\s#%.,+-]|\brgba?\([\d\s.,%]{1,40}\)){1,400}\)")
# A negative margin or a huge size would overlay other cells.
_OUT_OF_PLACE = re.compile(
    r"(?<![\w.])-\s*[\d.]|(?<!#)\b\d{5,}|\d{4,}\s*(?:em|rem|ex|ch|vw|vh|in|cm|%)|\de\d", re.IGNORECASE
)
_ACTIVE = re.compile(
    r"<\s*+(?:script|iframe|object|embed|form|svg|link|meta|base)\b|\bon\w++\s*+=|\bsrc\s*+=\s*+[\"']?+\s*+(?!data:)\w++:",
    re.IGNORECASE,
)


NO_FORMULAS = "mathjax_ignore tex2jax_ignore"
"""Classes of an element in which MathJax, of any version, looks for no formulas."""
_OPEN, _CLOSE = f'<div class="{NO_FORMULAS}">', "</div>"


def clean_html(text: str) -> str:
    """Return the allowed part of a fragment, balanced; empty if nothing is left."""
    text = text.strip()
    if text.startswith(_OPEN) and text.endswith(_CLOSE):  # cleaned before
        text = text[len(_OPEN) : -len(_CLOSE)]
    cleaned = _allowed(text)
    return f"{_OPEN}{cleaned}{_CLOSE}" if "$" in cleaned or "\\" in cleaned else cleaned


def _allowed(text: str) -> str:
    return nh3.clean(
        text,
        tags=_TAGS,
        clean_content_tags=_WITH_CONTENT,
        attributes=_ATTRIBUTES,
        attribute_filter=_filtered,
        url_schemes={"data"},
        generic_attribute_prefixes=set(),
        link_rel=None,
        strip_comments=True,
    ).strip()


def text_of_html(text: str) -> str:
    """Return the text of a fragment, for an output without plain text."""
    broken = re.sub(r"</(?:tr|p|div|li|h\d)>|<br\b", r"\n\g<0>", re.sub(r"</t[dh]>", r"\g<0> ", text))
    return unescape(nh3.clean(broken, tags=set(), clean_content_tags=_WITH_CONTENT)).strip()


def has_active_content(text: str) -> bool:
    """Check whether a fragment has active content whose removal the user should know (not pandas' style block)."""
    return _ACTIVE.search(text) is not None


def _filtered(tag: str, name: str, value: str) -> str | None:
    if name == "style":
        return _style(value)
    if name == "class":
        return "dataframe" if "dataframe" in value.split() else None
    if name == "alt":
        return value[:200]
    allowed = {"src": _IMAGE, "align": _WORD, "scope": _WORD}.get(name, _NUMBER)
    return value if allowed.fullmatch(value) else None


def _style(value: str) -> str | None:
    kept = []
    for declaration in value[:2000].split(";"):
        name, _, setting = declaration.partition(":")
        name, setting = name.strip().lower(), setting.strip()
        allowed = _VALUE.fullmatch(setting) or (name == "background" and _GRADIENT.fullmatch(setting))
        if _PROPERTY.fullmatch(name) and allowed and not _OUT_OF_PLACE.search(setting):
            kept.append(f"{name}: {setting}")
    return "; ".join(kept) or None
