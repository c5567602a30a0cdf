"""What stands in a report, in which order, and that nothing in it acts."""

from __future__ import annotations

import copy
import json
import re
import time
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import nbformat
import pytest
import yaml
from hostile_payloads import ERRORS, PIXEL, PROSE, TEXTS, armed_all, payloads
from markdown_it import MarkdownIt
from nbformat.v4 import new_code_cell, new_markdown_cell, new_output

from jupyter_codeagent.history import HistoryStore
from jupyter_codeagent.notebook.cells import Cell, cells_from_run
from jupyter_codeagent.report.build import build_report, with_reruns
from jupyter_codeagent.report.comparison import compare_outputs
from jupyter_codeagent.report.notebook_file import read_saved, with_decisions
from jupyter_codeagent.report.output_file import check_output, with_digest, write_report
from jupyter_codeagent.report.page import report_text
from jupyter_codeagent.report.report import Report, Rerun, summary
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Assumption, CellState, Verdict
from jupyter_codeagent.types.sandbox import DisplayOutput, Output, ResultOutput, StreamOutput
from jupyter_codeagent.types.variables import CopiedVariable, Manifest

TABLE: ResultOutput = {
    "output_type": "execute_result",
    "data": {"text/html": "<table class='dataframe'><tr><td>5</td></tr></table>", "text/plain": "  n\n0 5"},
    "metadata": {},
    "execution_count": None,
}
PICTURE: DisplayOutput = {
    "output_type": "display_data",
    "data": {"image/png": PIXEL, "text/plain": "<Figure size 640x480 with 1 Axes>"},
    "metadata": {},
}
URL = "http://listener.example:1"


def a_run(run_id: str, prompt: str = "", **fields: Any) -> AgentRun:
    request = AgentRequest(prompt=prompt or f"question {run_id}?", model="qwen", notebook="/gone/n.ipynb")
    run = AgentRun(
        id=run_id,
        request=request,
        status="ok",
        started_at=1_790_000_000.0,
        ended_at=1_790_000_001.0,
        code="import pandas as pd\ndf.sum()",
        outputs=(TABLE,),
        manifest=Manifest(copied=(CopiedVariable(name="df", type_name="DataFrame", size_bytes=2048),)),
        context="df: DataFrame 1234x2",
    )
    return replace(run, **fields)


def text_of(output: str) -> StreamOutput:
    return {"output_type": "stream", "name": "stdout", "text": output}


class Saved:
    """A notebook on the disk with a history."""

    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.path = directory / "n.ipynb"
        self.history = HistoryStore(directory / "history.sqlite")
        self.cells: list[Any] = []

    def add(self, run: AgentRun, state: CellState, *, known: bool = True) -> list[Cell]:
        cells = [copy.deepcopy(cell) for cell in cells_from_run(run, state=state)]
        self.cells += [nbformat.from_dict(cell) for cell in cells]
        if known:
            self.history.save(replace(run, cell_state=state), session="s")
        return cells

    def report(self, suffix: str = ".html", **options: Any) -> Report:
        # Not by nbformat, which refuses what a stranger's file may hold.
        self.path.write_text(json.dumps({"cells": self.cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}))
        saved = with_decisions(read_saved(self.path, self.history))
        arguments = {"title": "", "output": self.directory / f"r{suffix}", "now": time.time(), **options}
        return build_report(saved, **arguments)

    def page(self, suffix: str = ".html", **options: Any) -> str:
        return report_text(replace(self.report(suffix, **options), not_rerun="not asked for"), suffix)


@pytest.fixture
def saved(tmp_path: Path) -> Saved:
    return Saved(tmp_path)


# --- what is in, and in which order -------------------------------------------------------------------


def test_accepted_and_edited_results_stand_in_the_order_of_the_notebook_with_the_users_text(saved: Saved) -> None:
    saved.cells += [new_markdown_cell("# Delays\n\nWhat we *know*."), new_code_cell("secret_of_the_user = 1")]
    saved.add(a_run("first", answer="It is 5."), "accepted")
    saved.cells.append(new_markdown_cell("## By carrier"))
    saved.add(a_run("second"), "pending")
    saved.add(a_run("third"), "accepted")
    saved.cells[-1].source += "\n# by hand"
    page = saved.page()
    parts = [
        "<title>Delays</title>",
        "What we <em>know</em>",
        "question first?",
        "It is 5.",
        "By carrier",
        "third?",
    ]
    assert sorted(parts, key=page.index) == parts
    assert page.count("Delays") == 2, "the heading that became the title is not repeated"
    assert "secret_of_the_user" not in page
    assert "second" not in page
    assert "code: qwen · run first" in page
    assert "code: qwen, edited by a person · run third" in page
    assert "1 pending and 0 discarded results" in page
    assert "1,234 × 2" in page
    assert "2 KiB" in page
    assert re.search(r"Python 3\.\d+\.\d+ · pandas \d", page)


def test_each_table_and_figure_has_an_anchor_words_and_a_link_to_its_cell(saved: Saved) -> None:
    run = a_run("r", outputs=(TABLE, PICTURE, TABLE), answer="It is 5.")
    cells = saved.add(run, "accepted")
    page = saved.page()
    assert [*re.findall(r'<figure id="([^"]+)"', page)] == ["table-1", "figure-1", "table-2"]
    assert page.count(f'href="n.ipynb#cell-id={cells[0]["id"]}"') == 4, "and one of the section"
    assert 'alt="Chart. question r? It is 5."' in page


def test_a_verdict_and_a_part_of_the_data_stand_beside_the_result_and_in_the_limits(saved: Saved) -> None:
    part = CopiedVariable(name="df", type_name="DataFrame", size_bytes=1, note="random sample of 9 rows")
    verdict = Verdict(level="doubtful", reason="the join repeats 3 % of the rows")
    saved.add(a_run("r", verdict=verdict, manifest=Manifest(copied=(part,))), "accepted")
    saved.add(a_run("fine", verdict=Verdict(level="checked", reason="rows counted")), "accepted")
    page = saved.page()
    assert re.search(r"Doubtful:</strong>\s+the join repeats 3 % of the rows", page)
    assert page.count("df: random sample of 9 rows") == 2
    assert "1 result marked as doubtful" in page
    assert "Checked: rows counted" in page


def test_what_the_code_assumed_stands_below_each_result_in_one_quiet_line(saved: Saved) -> None:
    skipped = Assumption(text="61 missing values of order_id skipped", refinement="count them", line=1)
    read = Assumption(text="494 values of amount became missing", refinement="", line=2)
    checked = Verdict(level="checked", reason="rows counted")
    saved.add(a_run("r", verdict=checked, assumptions=(skipped, read)), "accepted")
    line = f"Checked: rows counted · Assumed: {skipped.text}; {read.text}"
    assert f'<p class="quiet judged">{line}</p>' in saved.page()
    assert f"\n{line}\n" in saved.page(".md")
    saved.add(a_run("s", assumptions=(read,)), "accepted")
    saved.cells[-1].source += "\n# by hand"
    assert f"Assumed: {read.text} (refers to the code before it was edited)" in saved.page()


def test_the_top_says_that_the_same_need_not_be_right_and_is_green_only_without_doubts(saved: Saved) -> None:
    saved.add(a_run("a", verdict=Verdict(level="checked", reason="rows counted")), "accepted")
    page = report_text(with_reruns(saved.report(), [Rerun(outcome="same")]), ".html")
    assert "The same figures are not necessarily right ones" in page
    assert '<p class="summary good">' in page
    saved.add(a_run("b", verdict=Verdict(level="look", reason="2 attempts")), "accepted")
    page = report_text(with_reruns(saved.report(), [Rerun(outcome="same")] * 2), ".html")
    assert '<p class="summary open">Reproduced: all 2 results' in page


def test_a_refined_question_is_printed_once_and_backticks_of_a_heading_are_code(saved: Saved) -> None:
    saved.add(a_run("r", "how many orders?\ncount missing ones as 0"), "accepted")
    saved.add(a_run("s", "date is written as `%d/%m/%Y` <b>"), "accepted")
    page = saved.page()
    assert page.count("how many orders?") == 1
    assert '<blockquote class="question">count missing ones as 0</blockquote>' in page
    assert "<h3>date is written as <code>%d/%m/%Y</code> &lt;b&gt;</h3>" in page
    assert saved.page(".md").count("how many orders?") == 1


def test_a_finding_says_that_no_model_wrote_it_and_its_line_is_the_heading(saved: Saved) -> None:
    request = AgentRequest(prompt="explore df: trend", model="no model", exploration="e1")
    saved.add(a_run("r", request=request, answer="n grows by 2 a day."), "accepted")
    page = saved.page()
    assert "<h3>n grows by 2 a day.</h3>" in page
    assert page.count("n grows by 2 a day.") == 1
    assert "code: no model (template)" in page
    assert "explore df" not in page


def test_a_notebook_of_another_computer_has_what_stands_in_it_and_nothing_of_a_run_of_the_same_id(
    saved: Saved,
) -> None:
    saved.cells.append(new_code_cell("%%agent --vars df\nquestion here?"))
    saved.add(a_run("r1", "question here?"), "accepted", known=False)
    saved.add(a_run("r2", "forged?"), "accepted", known=False)
    saved.history.save(a_run("r2", "a private question"), session="s")
    page = saved.page()
    assert "<h3>question here?</h3>" in page
    assert "private question" not in page
    assert "<h3>Result in cell 3</h3>" in page


def test_the_title_is_the_option_else_the_first_heading_else_the_name_of_the_file(saved: Saved) -> None:
    saved.add(a_run("r"), "accepted")
    assert saved.report().title == "n"
    saved.cells.insert(0, new_markdown_cell("text\n\n## A *heading* ##"))
    assert saved.report().title == "A *heading"
    assert saved.report(title="Mine").title == "Mine"


def test_without_an_accepted_result_there_is_no_report(saved: Saved) -> None:
    saved.add(a_run("r"), "pending")
    with pytest.raises(UsageError, match="has no accepted result"):
        saved.report()


# --- whether the file is what the user sees -----------------------------------------------------------


def test_a_decision_that_is_newer_than_the_file_asks_for_a_save(saved: Saved) -> None:
    here = AgentRequest(prompt="q", model="m", notebook=str(saved.path))
    saved.add(a_run("kept", request=here), "accepted")
    late = a_run("late", request=replace(here, prompt="q2"))
    saved.add(late, "pending")
    saved.report()
    saved.history.set_cell_state("late", "accepted", "panel")
    read = read_saved(saved.path, saved.history)
    with pytest.raises(UsageError, match="Save the notebook first: what you decided about run late"):
        with_decisions(replace(read, saved_at=time.time() - 60))
    later = with_decisions(replace(read, saved_at=time.time() + 60))
    report = build_report(later, title="", output=saved.path, now=0.0)
    assert [result.run_id for result in report.results] == ["kept", "late"], "accepted without a page"


def test_a_result_discarded_after_the_save_asks_for_a_save_and_is_counted_after_it(saved: Saved) -> None:
    here = AgentRequest(prompt="q", model="m", notebook=str(saved.path))
    saved.add(a_run("kept", request=here), "accepted")
    saved.add(a_run("gone", request=replace(here, prompt="q2")), "accepted")
    saved.report()
    saved.history.set_cell_state("gone", "discarded", "panel")
    read = read_saved(saved.path, saved.history)
    with pytest.raises(UsageError, match="Save the notebook first"):
        with_decisions(replace(read, saved_at=0.0))
    saved.cells.pop()
    assert saved.report().discarded == 1


CODE = '{"cell_type": "code", "source": %s, "outputs": %s, "metadata": %s}'
NOTEBOOK = '{"cells": [%s], "nbformat": 4, "nbformat_minor": 5, "metadata": {}}'


@pytest.mark.parametrize(
    "text",
    [
        *("", "{", "[]", '{"nbformat": 4}', '{"cells": []}', '{"cells": [], "nbformat": 3, "metadata": {}}'),
        '{"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": []}',
        NOTEBOOK % "3",
        NOTEBOOK % "{}",
        NOTEBOOK % (CODE % (5, [], {})),
        NOTEBOOK % (CODE % ('"x"', [3], {})),
        NOTEBOOK % (CODE % ('"x"', [], [])),
    ],
)
def test_a_file_that_is_no_notebook_is_a_line(saved: Saved, text: str) -> None:
    saved.path.write_text(text)
    with pytest.raises(UsageError, match=r"n\.ipynb") as raised:
        build_report(read_saved(saved.path, saved.history), title="", output=saved.path, now=0.0)
    assert "\n" not in str(raised.value)


# --- nothing in it acts -------------------------------------------------------------------------------


class Elements(HTMLParser):
    """Tags, and attributes with their values."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: list[tuple[str, str, str]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]


def hostile_outputs() -> list[Any]:
    made = [{"output_type": "display_data", "data": one.bundle, "metadata": one.metadata} for one in payloads(URL)]
    made += [new_output("stream", name="stdout", text=text) for text in armed_all(TEXTS, 1, URL)]
    made += [new_output("error", ename=text, evalue=text, traceback=[text]) for text in armed_all(ERRORS, 100, URL)]
    return made


def test_a_page_has_no_script_no_handler_and_no_remote_address_whatever_stands_in_the_notebook(
    saved: Saved,
) -> None:
    question = "<script>F(1)</script> <img src=x onerror=F(2)>"
    verdict = Verdict(level="look", reason="</p><script>F(3)</script>")
    part = CopiedVariable(
        name="df", type_name="<img src=x onerror=F(6)>", size_bytes=1, note="<script>F(4)</script>"
    )
    run = a_run("r", question, verdict=verdict, manifest=Manifest(copied=(part,)), answer="x")
    saved.add(run, "accepted")
    saved.cells[0].outputs = hostile_outputs()
    saved.cells[0].source += "\n# </pre><script>F(5)</script>"
    saved.cells[1].source = "\n\n".join(armed_all(PROSE, 500, URL))
    saved.cells += [new_markdown_cell(text) for text in armed_all(PROSE, 600, URL)]
    saved.cells.insert(0, new_markdown_cell("# </title><script>F(7)</script>"))
    saved.cells[1].metadata["codeagent"]["model"] = "<img src=x onerror=F(8)>"
    report = saved.report()
    rerun = Rerun(outcome="differs", reason="<script>", recorded="<script>F(9)</script>", again="<img src=x>")
    found = Elements(page := report_text(with_reruns(report, [rerun]), ".html"))
    assert found.tags <= {
        *(
            "html",
            "head",
            "meta",
            "title",
            "style",
            "body",
            "main",
            "header",
            "nav",
            "ol",
            "ul",
            "li",
            "p",
            "a",
            "h1",
        ),
        *("h2", "h3", "h4", "h5", "h6", "section", "div", "figure", "figcaption", "img", "pre", "span", "details"),
        *("summary", "footer", "table", "thead", "tbody", "tr", "th", "td", "strong", "em", "code", "blockquote"),
        *("b", "i", "u", "s", "small", "sub", "sup", "br", "hr", "dl", "dt", "dd", "caption", "col", "colgroup"),
    }
    for tag, name, value in found.attributes:
        assert not name.startswith("on"), (tag, name, value)
        assert name not in ("srcset", "action", "background", "poster", "data", "ping", "formaction"), (tag, name)
        if name == "src":
            assert value.startswith("data:image/"), value[:80]
        if name == "href":
            assert re.match(r"#[a-z]+-\d+$|n\.ipynb(#cell-id=[\w-]+)?$", value), value
        if name == "style":
            assert "url(" not in value
            assert "position" not in value
    assert "default-src 'none'; img-src data:; style-src 'unsafe-inline'" in page
    assert page.count("<style>") == page.count("</style>") == 1
    assert "url(" not in page.partition("</style>")[0]


@pytest.mark.parametrize("suffix", [".md", ".qmd"])
def test_markdown_has_no_address_no_html_and_nothing_that_quarto_runs(saved: Saved, suffix: str) -> None:
    saved.add(a_run("r", "x {{< include /etc/passwd >}} `{python} 1`", answer="x"), "accepted")
    saved.cells[0].outputs = [new_output("stream", name="stdout", text="```\n{{< env SECRET >}}\n```{python}\n")]
    saved.cells[0].source += "\nprint('''\n```\n{{< include /etc/passwd >}}''')"
    saved.cells[1].source = "a `<b>`{=html} [x]{onclick=F(1)} `{python} 1+1` {{< video x >}}"
    saved.cells += [
        new_markdown_cell(
            "```{python}\nimport os\n```\n\n```{=html}\n<script>F(1)</script>\n```\n\n::: {onclick=F(2)}\n:::"
        ),
        *(new_markdown_cell(text) for text in armed_all(PROSE, 600, URL)),
    ]
    page = saved.page(suffix)
    assert "{{<" not in page
    assert "`{" not in _prose(page)
    assert not re.search(r"(?<!\\)\{\s*(?:=html|onclick|\.)", _prose(page))
    assert URL not in page
    assert not re.search(r"<(?:script|img|svg|b |input|a )", _prose(page))
    assert not re.search(r"\]\((?!n\.ipynb|data:image/)", _prose(page))


def _prose(page: str) -> str:
    """The page without its fenced code."""
    return re.sub(r"^(`{3,})[^`\n]*\n.*?^\1$", "", page, flags=re.MULTILINE | re.DOTALL)


def test_a_quarto_document_has_a_header_that_yaml_reads_and_blocks_that_commonmark_reads(saved: Saved) -> None:
    code = "text = '''\n```\n---\n'''\nprint(text, len(df))"
    saved.cells.append(new_markdown_cell("## By carrier\n\n1. one\n2. two\n\n```\n# no heading"))
    saved.add(a_run("r", "why: `x`?\n\n```\n# 1\n---\n", code=code, answer="Because: *5*."), "accepted")
    saved.cells[1].outputs = [
        new_output("stream", name="stdout", text="```\n---\n# 2\n~~~\n"),
        new_output("display_data", data={"image/png": PIXEL}),
        new_output("display_data", data=dict(TABLE["data"])),
    ]
    report = replace(
        saved.report(".qmd", title="Delays: \"why\" # 1 --- {a: b}\n---\n- 'x'"), not_rerun="not asked"
    )
    text = report_text(report, ".qmd")
    before, header, body = text.split("---\n", 2)
    assert before == ""
    assert yaml.safe_load(header) == {
        "title": "Delays: \"why\" # 1 --- {a: b} --- - 'x'",
        "date": time.strftime("%Y-%m-%d"),
        "engine": "markdown",
        "from": "markdown-raw_tex-raw_attribute-latex_macros",
        "format": {"html": {"embed-resources": True, "toc": True}},
    }
    tokens = MarkdownIt("commonmark").enable("table").parse(body)
    headings = [inside.content for one, inside in pairwise(tokens) if one.type == "heading_open"]
    assert headings == ["By carrier", "why: `x`?", "How this was made", "Data", "Versions", "Left out", "Limits"]
    fences = [(one.info, one.content) for one in tokens if one.type == "fence"]
    assert fences == [
        ("", "# no heading\n"),
        ("text", "```\n# 1\n---\n"),
        ("text", "```\n---\n# 2\n~~~\n"),
        ("python", f"{code}\n"),
    ]
    html = [one.content.split()[0] for one in tokens if one.type == "html_block"]
    assert html == ["<!--", "<div>", "<details><summary>Code</summary>", "</details>"]
    assert sum(one.type == "table_open" for one in tokens) == 1


def test_keys_and_passwords_are_masked_everywhere(saved: Saved) -> None:
    key = "sk-proj-abcdefghijklmnop"
    saved.add(a_run("r", f"what about {key}?", answer=f"It is {key}."), "accepted")
    saved.cells[0].source += f"\nclient = Client('{key}')"
    saved.cells[0].outputs = [
        new_output("stream", name="stdout", text=f"key: {key}\n"),
        new_output("display_data", data={"text/html": f"<p>{key}</p>", "text/plain": key}),
        new_output("display_data", data={"image/png": PIXEL}),
    ]
    saved.cells.append(new_markdown_cell(f"# {key}"))
    for suffix in (".html", ".md", ".qmd"):
        page = saved.page(suffix)
        assert key not in page
        assert PIXEL in page
        assert "***" in page


# --- running it again ---------------------------------------------------------------------------------


def display(html: str) -> DisplayOutput:
    return {
        "output_type": "display_data",
        "data": {"text/html": html, "text/plain": "<Styler at 0x7f00aa11bb22>"},
        "metadata": {},
    }


@pytest.mark.parametrize(
    ("recorded", "again", "outcome"),
    [
        ([TABLE, PICTURE], [TABLE, PICTURE], "same"),
        ([text_of("a\n"), text_of("b \n")], [text_of("a\nb\n")], "same"),
        ([text_of("<x at 0x7f00aa11bb22>")], [text_of("<x at 0x7f99aa11bb22>")], "same"),
        ([text_of("\x1b[31ma\x1b[0m")], [text_of("a")], "same"),
        ([{**text_of("warned"), "name": "stderr"}, TABLE], [TABLE], "same"),
        (
            [display("<table><tr><td>1</td></tr></table>")],
            [display("<table><tr><td>2</td></tr></table>")],
            "differs",
        ),
        ([text_of("5")], [text_of("5.0")], "differs"),
        ([TABLE], [TABLE, PICTURE], "differs"),
        ([TABLE, PICTURE], [TABLE], "differs"),
        ([], [TABLE], "differs"),
        ([], [], "same"),
    ],
)
def test_text_and_tables_are_compared_word_by_word_and_pictures_by_number_and_size(
    recorded: list[Output], again: list[Output], outcome: str
) -> None:
    compared = compare_outputs(recorded, again)
    assert compared.outcome == outcome
    assert bool(compared.again) == (outcome == "differs")


def test_only_if_all_results_are_the_same_a_report_says_reproduced(saved: Saved) -> None:
    saved.add(a_run("a"), "accepted")
    saved.add(a_run("b"), "accepted")
    report = saved.report()
    same, differs = Rerun(outcome="same"), Rerun(outcome="differs", recorded="1", again="2")
    failed = Rerun(outcome="failed", reason="KeyError: 'n'")
    assert summary(with_reruns(report, [same, same])).startswith(
        "Reproduced: all 2 results came out the same on 20"
    )
    for reruns, said in (
        ([same, differs], "1 of 2 came out the same, 1 differs."),
        ([differs, failed], "0 of 2 came out the same, 1 differs, 1 could not be re-run."),
        ([same, failed], "1 of 2 came out the same, 1 could not be re-run."),
        ([same, Rerun()], "1 of 2 came out the same, 1 could not be re-run."),
    ):
        for suffix in (".html", ".md", ".qmd"):
            page = report_text(with_reruns(report, reruns), suffix)
            assert said in page
            assert "eproduced" not in page
    saved.cells.pop()
    alone = with_reruns(saved.report(), [same])
    assert summary(alone).startswith("Reproduced: the result came out the same on 20")
    assert "KeyError: &#39;n&#39;" in report_text(with_reruns(report, [same, failed]), ".html")


# --- the file -----------------------------------------------------------------------------------------


def test_only_an_earlier_report_that_nobody_has_changed_is_replaced(saved: Saved) -> None:
    saved.add(a_run("r"), "accepted")
    for suffix in (".html", ".md", ".qmd"):
        output = saved.directory / f"r{suffix}"
        page = saved.page(suffix)
        write_report(output, page)
        check_output(output, overwrite=False)
        output.write_text(page.replace("question", "Question"))
        with pytest.raises(UsageError, match="exists and is not a report, or was changed"):
            check_output(output, overwrite=False)
        check_output(output, overwrite=True)
    assert not list(saved.directory.glob(".*"))


def test_a_report_is_written_whole_or_not_at_all(saved: Saved) -> None:
    with pytest.raises(UsageError, match="there is no directory"):
        check_output(saved.directory / "nowhere" / "r.html", overwrite=True)
    (saved.directory / "r.html").mkdir()
    with pytest.raises(UsageError, match="is a directory"):
        check_output(saved.directory / "r.html", overwrite=True)
    with pytest.raises(UsageError, match="cannot be written"):
        write_report(saved.directory / "r.html", "text")
    assert not list(saved.directory.glob(".*")), "nothing half written stays"
    assert "\ud800" not in with_digest("half a pair: \ud800")
