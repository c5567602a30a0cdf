"""A report as the text of a file, by nbconvert with templates of ours (`templates/`).

In HTML everything is escaped unless a filter here has made it safe. A page has no script and loads nothing.
"""

from __future__ import annotations

import re
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from jinja2 import Environment
from markupsafe import Markup, escape
from nbconvert.exporters import TemplateExporter
from nbconvert.filters import Highlight2HTML, ansi2html
from nbconvert.filters.markdown_mistune import IPythonRenderer, MarkdownWithMath
from nbformat import NotebookNode, v4

from jupyter_codeagent.notebook.outputs.html import clean_html
from jupyter_codeagent.notebook.outputs.text import strip_colours
from jupyter_codeagent.report.blocks import heading_of, judged, rest_of_question, sections
from jupyter_codeagent.report.output_file import MARK, with_digest
from jupyter_codeagent.report.prose import fenced, one_line, passage, quoted
from jupyter_codeagent.report.report import Report, Result, day_of, limits, summary

TEMPLATES = Path(__file__).parent / "templates"
TEMPLATE = "codeagent_report"
LEXER = "ipython3"
_TICKED = re.compile(r"`([^`]+)`")
_HEADING = re.compile(r"<(?P<end>/?)h(?P<level>[1-5])>")


class ReportExporter(TemplateExporter):
    """nbconvert with the templates of a report; the report is in the resources, the notebook itself is empty."""

    def __init__(self, template_file: str, **kwargs: Any) -> None:
        super().__init__(  # type: ignore[no-untyped-call]
            template_name=TEMPLATE,
            template_file=template_file,
            extra_template_basedirs=[str(TEMPLATES)],
            **kwargs,
        )

    def _create_environment(self) -> Environment:
        environment: Environment = super()._create_environment()  # type: ignore[no-untyped-call]
        environment.autoescape = self.template_file == "index.html.j2"
        environment.trim_blocks = environment.lstrip_blocks = True
        filters: dict[str, Callable[..., str]] = {
            "prose": _prose,
            "terminal": lambda text: Markup(ansi2html(str(text))),  # noqa: S704 - it escapes
            "python": _python,
            "cleaned": Markup,  # an output: it has passed the sanitizer
            "heading": heading_of,
            "ticked": _ticked,
            "rest": rest_of_question,
            "judged": judged,
            "day": day_of,
            "moment": _moment,
            "writer": written_by,
            "plain": strip_colours,
            "passage": passage,
            "fenced": fenced,
            "one_line": one_line,
            "label": lambda text: one_line(re.sub(r"[\[\]]", "", text)),
            "quoted": quoted,
            "one_block": lambda html: re.sub(r"\n\s*\n", "\n", str(html)),
        }
        environment.filters.update(filters)
        return environment


def report_text(report: Report, suffix: str) -> str:
    """Return the text of a report file: ``.html``, ``.md`` or ``.qmd``."""
    html = suffix == ".html"
    resources = {
        "report": report,
        "sections": sections(report),
        "limits": limits(report),
        "summary": summary(report),
        "mark": MARK,
        "quarto": suffix == ".qmd",
        "style": Markup(_style()) if html else "",  # noqa: S704 - ours
    }
    exporter = ReportExporter("index.html.j2" if html else "index.md.j2")
    empty: NotebookNode = v4.new_notebook()
    text, _ = exporter.from_notebook_node(empty, resources={"codeagent": resources})
    return with_digest(text)


def written_by(result: Result) -> str:
    """Return who wrote the code of a result."""
    by = result.model or "no model (template)"
    return f"{by}, edited by a person" if result.is_edited else by


def _python(code: str) -> Markup:
    """Return code in colours, in a block that the keyboard can scroll."""
    coloured = str(Highlight2HTML(pygments_lexer=LEXER)(str(code)))
    return Markup(coloured.replace("<pre>", '<pre tabindex="0">', 1))  # noqa: S704 - pygments escapes


def _prose(text: str) -> Markup:
    """Return cleaned Markdown as HTML, its headings below those of the page."""
    rendered = MarkdownWithMath(renderer=IPythonRenderer(escape=True, exclude_anchor_links=True)).render(str(text))
    lowered = _HEADING.sub(lambda found: f"<{found['end']}h{int(found['level']) + 1}>", clean_html(rendered))
    return Markup(lowered)  # noqa: S704 - it has passed the sanitizer


def _ticked(text: str) -> Markup:
    """Return a heading of one line, of which what stands in backticks is code."""
    return Markup(_TICKED.sub(r"<code>\1</code>", str(escape(text))))  # noqa: S704 - escaped


def _moment(seconds: float) -> str:
    return time.strftime("%Y-%m-%d %H:%M", time.localtime(seconds))


def _style() -> str:
    """Return the style sheet, with the colours of code for light and dark pages."""
    from pygments.formatters import HtmlFormatter

    def colours(style: str) -> str:
        return str(HtmlFormatter(style=style, nobackground=True).get_style_defs(".highlight"))

    css = (TEMPLATES / TEMPLATE / "style.css").read_text(encoding="utf-8")
    dark = f"@media screen and (prefers-color-scheme: dark) {{\n{colours('github-dark')}\n}}"
    return f"{css}\n{colours('default')}\n{dark}\n"
