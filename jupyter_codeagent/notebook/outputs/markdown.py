"""A model's prose for a markdown cell: emphasis, lists, tables and code; nothing that is fetched, clicked or run.

A markdown cell is rendered automatically and untrusted data can steer the model, so an image address, a link or a
formula, whose styles load from anywhere, could carry data out. Dangerous syntax is broken by blanks that no
Markdown dialect ignores, in code spans, too: code cannot be distinguished from text exactly as the renderer does,
and a blank harms neither.
"""

from __future__ import annotations

import re

from jupyter_codeagent.notebook.outputs.text import clean_text, strip_colours

MAX_MARKDOWN_CHARS = 20_000
WIDE_DOLLAR = "\N{FULLWIDTH DOLLAR SIGN}"

# A target with a dot, slash, colon or hash; `f[0](x)` is code.
_LINK = re.compile(
    r"!?\[([^\[\]\n]{0,500})\]\((?=[^()\n]*[.:/#])[^()\n]{0,2000}(?:\([^()\n]{0,500}\)[^()\n]{0,500})?\)"
)
_DEFINITION = re.compile(r"^[ \t>]*\[[^\]\n]{1,200}\]:.*$", re.MULTILINE)
_SCHEME = re.compile(r"(?:https?|ftp)\s*:\s*//", re.IGNORECASE)
_WWW = re.compile(r"\bwww\.(?=\S)", re.IGNORECASE)
# MathJax commands that make links, load packages or set styles.
_TEX = re.compile(
    r"\\(?=\s*(?:href|url|require|html|style|class|css|unicode|data|includegraphics|def|let|newcommand))"
)
# Languages of code blocks that are only coloured. A viewer may interpret any other: mermaid draws, and a page of
# nbconvert fetches the library for it.
_FENCE = re.compile(
    r"((?<!`)`{3,}+|(?<!~)~{3,}+)(?=[^\s`~]|[ \t]++[^\s`~])"
    r"(?![ \t]*+(?:python|py|ipython|sql|text|txt|json|bash|sh|r|csv|html|yaml)(?:[ \t]|$))",
    re.MULTILINE,
)
# What JupyterLab looks for in the page, behind the escapes of Markdown: beside dollars these begin a formula.
_FORMULA = re.compile(r"\\(?=[()\[\]]|(?:begin|end|ref|eqref)\b)")
_DOLLAR = re.compile(r"\\?\$")
# A single dollar, and a mail address, which renderers turn into a link.
_LITERAL = re.compile(r"(?<!\\)\$|(?<=[\w.+-])@(?=\w)")
_CODE = re.compile(r"(```.*?```|`[^`\n]*`)", re.DOTALL)


def clean_markdown(text: str) -> str:
    """Return safe Markdown: the text of links and images stays, their addresses go; no formulas, only dollars.

    Two dollars enclose a formula even where Markdown escapes them, so that several are replaced by full-width ones.
    """
    text = strip_colours(clean_text(text, MAX_MARKDOWN_CHARS))
    text = _fixed(_LINK, r"\1", text)
    text = _DEFINITION.sub("", text)
    text = _fixed(_SCHEME, "", text)
    text = _fixed(_WWW, "", text)
    text = _DOLLAR.sub(WIDE_DOLLAR, text) if text.count("$") > 1 else text
    text = _literal(text)
    text = _FENCE.sub(r"\1 text ", text)
    text = _TEX.sub(r"\\ ", text)
    text = _FORMULA.sub(r"\\ ", text)
    # Last, so that no removal above can join two characters again.
    text = re.sub(r"&(?=#?\w{1,40};)", "& ", text)
    text = re.sub(r"<(?=[A-Za-z/!?])", "< ", text)
    text = re.sub(r"!(?=\[)", "! ", text)
    return re.sub(r"\](?=[(\[:])", "] ", text).strip()


def without_formulas(text: str) -> str:
    """Return text, not Markdown, in which JupyterLab finds no formula once it is displayed."""
    return _FORMULA.sub(r"\\ ", text.replace("$", WIDE_DOLLAR))


def _fixed(pattern: re.Pattern[str], replacement: str, text: str) -> str:
    """Replace until nothing changes, because a removal can create a new match."""
    while (after := pattern.sub(replacement, text)) != text:
        text = after
    return text


def _literal(text: str) -> str:
    parts = _CODE.split(text)
    parts[::2] = [_LITERAL.sub(r"\\\g<0>", part) for part in parts[::2]]
    return "".join(parts)
