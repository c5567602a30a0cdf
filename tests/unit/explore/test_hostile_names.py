"""Names, categories and dates of the user's data stay data: literals of a program, never code."""

from __future__ import annotations

import ast
import json
import re
from functools import cache
from typing import Any

import pandas as pd
import pytest
from exploration_cases import CASES, Case, exploration_of, finding_of, frames, grouped, three_ways
from exploration_runner import faults, run

from jupyter_codeagent.explore.figures import are_shown
from jupyter_codeagent.explore.overview import overview_program, overview_words
from jupyter_codeagent.explore.programs import program
from jupyter_codeagent.explore.report import read_report
from jupyter_codeagent.explore.words import words
from jupyter_codeagent.types.exploration import OF_TWO_TABLES

LIBRARIES = ("pandas", "polars")
NASTY = ('it\'s a "quoted"\n{0!r} \\ $x$ # größe', "mean", "n", "difference", "class", "x" * 70)
PAYLOADS = (
    '"]); import os; os.system("id") #',
    "'); raise SystemExit('",
    "\n__import__('os')\n",
    "\r__import__('os')",
    "{__import__('os')}",
    '"""; x = 1; """',
    "\\",
    "\u2028x = 1",
    "\x0cx = 1",
    "`x` <script>",
)


@cache
def case_of(name: str) -> Case:
    return CASES[name]()


def renamed(case: Case, name: str, place: int) -> Case:
    """Return the case with one of its columns called otherwise."""
    old = case.columns[place]
    table, *others = case.tables.items()
    tables = {table[0]: table[1].rename(columns={old: name}), **dict(others)}
    columns = [name if one == old else one for one in case.columns]
    others_found = [one for one in case.others if one["columns"] != [old]]
    return Case(tables=tables, kind=case.kind, columns=columns, facts=case.facts, others=others_found)


NAMED = [
    *("group", "association", "missing_by_group", "interaction", "reversal", "reversal_numbers", "line", "curve"),
    *("trend", "trend_rows", "break", "season_weekday", "season_month_rows", "gap", "missing_together"),
    *(
        "outliers",
        "impossible",
        "ratio",
        "text_number",
        "text_date",
        "skew",
        "spelling",
        "missing",
        "same",
        "same_factor",
        "duplicates_keys",
    ),
]


OTHER_LIBRARY = pytest.mark.rare("each name is tried with one of the two libraries, every other with pandas")
IN_TURN = [
    pytest.param(first, library, marks=() if first % 2 == place else OTHER_LIBRARY)
    for first in range(len(NASTY))
    for place, library in enumerate(LIBRARIES)
]


@pytest.mark.parametrize(("first", "library"), IN_TURN)
@pytest.mark.parametrize("case_name", NAMED)
def test_columns_of_any_name_are_shown(case_name: str, first: int, library: str) -> None:
    case = case_of(case_name)
    for place, column in enumerate(case.columns):
        if column:
            case = renamed(case, NASTY[(first + place) % len(NASTY)], place)
    finding, exploration = finding_of(case, library)
    code = program(finding, exploration)
    ran = run(code, frames(case, library))

    assert are_shown(words(finding).figures, ran.output), code
    assert "; ".join(fault for figure in ran.figures for fault in faults(figure)) == "", code


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("name", NASTY)
def test_categories_of_any_text_are_shown(name: str, library: str) -> None:
    levels = [name, "b", "c"]
    for case in (
        grouped(levels),
        three_ways("interaction", levels),
        three_ways("interaction", ["p", "q"], (name, "b")),
    ):
        finding, exploration = finding_of(case, library)
        code = program(finding, exploration)
        ran = run(code, frames(case, library))

        assert are_shown(words(finding).figures, ran.output), code
        assert "; ".join(fault for figure in ran.figures for fault in faults(figure)) == "", code


ONE_OF_EACH = sorted({case_of(name).kind: name for name in CASES if "many" not in name}.values())
LEVELS = ("highest", "lowest", "a_level", "b_level", "level", "a", "b", "level_high", "level_low")


def structure(code: str) -> list[Any]:
    """Return the program without the values of its literals."""
    tree = ast.parse(code)
    names = {re.sub("^by_.*", "by_", node.id) for node in ast.walk(tree) if isinstance(node, ast.Name)}
    attributes = {node.attr for node in ast.walk(tree) if isinstance(node, ast.Attribute)}
    calls = [ast.unparse(node.func)[:40] for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return [sorted(names), sorted(attributes), len(calls), [type(node).__name__ for node in tree.body]]


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case_name", ONE_OF_EACH)
def test_names_of_columns_are_literals_only(case_name: str, library: str) -> None:
    case = case_of(case_name)
    plain = with_names(case, "plain, name", library)
    for payload in PAYLOADS:
        assert structure(with_names(case, payload, library)) == structure(plain)


def with_names(case: Case, text: str, library: str) -> str:
    """Return the program of the case with this text before the names of all its columns."""
    one = case
    for place, name in enumerate(case.columns):
        if name and not (case.kind in OF_TWO_TABLES and place >= len(case.columns) // 2):
            one = renamed(one, text + str(place), place)
    if case.kind in OF_TWO_TABLES:
        many = len(case.columns) // 2
        columns = [*one.columns[:many], *case.columns[many:]]
        one = Case(tables=one.tables, kind=case.kind, columns=columns, facts=case.facts)
    finding, exploration = finding_of(one, library)
    return program(finding, exploration)


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("case_name", ONE_OF_EACH)
def test_texts_among_the_facts_are_literals_only(case_name: str, library: str) -> None:
    case = case_of(case_name)
    texts = [fact for fact in LEVELS if isinstance(case.facts.get(fact), str) and case.facts[fact]]
    if not texts:
        return
    plain = of_facts(case, dict.fromkeys(texts, "plain, text"), library)
    for payload in PAYLOADS:
        assert structure(of_facts(case, dict.fromkeys(texts, payload), library)) == structure(plain)


def of_facts(case: Case, facts: dict[str, str], library: str) -> str:
    one = Case(
        tables=case.tables, kind=case.kind, columns=case.columns, facts=case.facts | facts, others=case.others
    )
    finding, exploration = finding_of(one, library)
    return program(finding, exploration)


@pytest.mark.parametrize("fact", ["at", "period"])
@pytest.mark.parametrize("payload", PAYLOADS)
def test_a_date_or_word_that_is_none_leaves_the_finding_out(fact: str, payload: str) -> None:
    case = CASES["break"]()
    good = case.facts[fact]
    for value in (payload, f"{good}{payload}", f"{payload}{good}"):
        one = Case(tables=case.tables, kind="break", columns=case.columns, facts=case.facts | {fact: value})

        assert exploration_of(one, "pandas").findings == ()


@pytest.mark.parametrize("payload", PAYLOADS)
def test_words_are_one_line_in_which_markdown_reads_nothing(payload: str) -> None:
    case = renamed(grouped([payload, "b", "c"]), payload, 1)
    said = words(finding_of(case)[0])

    assert said.line.isprintable()
    assert said.title.isprintable()
    assert "<script>" not in said.line.replace("`'x' <script>`", "")


@pytest.mark.parametrize("library", LIBRARIES)
@pytest.mark.parametrize("payload", [*PAYLOADS, *NASTY])
def test_the_overview_takes_any_name(payload: str, library: str) -> None:
    case = renamed(grouped(["a", "b"]), payload, 1)
    overview = exploration_of(case, library).tables[0]
    ran = run(overview_program(overview), frames(case, library))

    assert len(ran.table) == 2
    assert all(sentence.isprintable() for sentence in overview_words(exploration_of(case, library), "flights"))


def test_types_that_the_report_invents_only_choose_among_our_own_templates() -> None:
    case = CASES["season_text"]()
    finding, exploration = finding_of(case)
    report = {
        "tables": [
            {
                "table": "flights",
                "library": "pandas",
                "rows": 10,
                "columns": [{"name": "when", "type": "str'); import os #", "role": "date"}],
            }
        ],
        "findings": [
            {
                "kind": "season",
                "table": "flights",
                "columns": ["delay", "when"],
                "effect": 1,
                "p_value": 0,
                "facts": case.facts,
            }
        ],
    }
    read = read_report(json.dumps(report), {"flights": ["when", "delay"]})

    assert "import os" not in program(read.findings[0], read)
    assert pd.notna(exploration.tried)
    assert finding.kind == "season"
