"""The measure of extraction, on replies made up here."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from evals.suites.ds1000 import Reply, measure, measure_prose, score, table
from evals.suites.ds1000_rules import fired, live_of, references_of, rules_text
from evals.suites.ds1000_run import Program, ours_of, own_extraction, source
from evals.suites.kpi import TASKS as KPI
from evals.suites.own import fresh, own_tasks
from jupyter_codeagent.agent.prompt.asked_changes import asked_changes
from jupyter_codeagent.agent.rules import rule
from jupyter_codeagent.agent.rules.changed_variables import UserVariable
from jupyter_codeagent.agent.rules.registry import DISPLAY_RULES, KEEP_VARIABLES, correct

CONTEXT = (
    "def test_execution(solution):\n    names = {}\n    exec(solution, names)\n    assert names['result'] == 3\n"
)


def reply(text: str) -> Reply:
    return Reply(model="parrot", library="Pandas", id=7, text=text)


def write_replies(folder: Path, model: str, texts: list[str | list[str]]) -> None:
    rows = [
        {"id": key, "code": text, "metadata": {"problem_id": key, "library": "Numpy"}}
        for key, text in enumerate(texts)
    ]
    lines = "".join(json.dumps(row) + "\n" for row in rows)
    (folder / f"{model}-answers.jsonl").write_text(lines, encoding="utf-8")


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("```python\na = 1\n```", "fence"),
        ("<code>\na = 1\n</code>", "tag"),
        ("a = 1\n</code>\nEND SOLUTION", "tag"),
        ("a = 1", "text"),
    ],
)
def test_a_reply_with_code_is_valid(text: str, form: str) -> None:
    scored = score(reply(text))
    assert (scored.form, scored.is_valid, scored.has_code, scored.fault) == (form, True, True, "")


@pytest.mark.parametrize("text", ["", "</code>\nEND SOLUTION", "# nothing but\n# comments", "I would rather not."])
def test_a_reply_without_code_rightly_gives_none(text: str) -> None:
    scored = score(reply(text))
    assert (scored.form, scored.is_valid, scored.has_code, scored.fault) == ("", False, False, "")
    assert scored.problem


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("a = f(1)\nb = f(2)\nc = f(", "cut off"),
        ("a = = f(1)\nb = = f(2)\nc = = f(3)\nd = = f(4)\ne = = f(5)", "no Python"),
    ],
)
def test_whose_fault_it_is_that_there_is_no_code(text: str, fault: str) -> None:
    scored = score(reply(text))
    assert not scored.is_valid
    assert scored.fault == fault


def test_every_stored_reply_of_every_model_is_scored(tmp_path: Path) -> None:
    write_replies(tmp_path, "parrot", ["a = 1", "I would rather not."])
    write_replies(tmp_path, "crow", [["b = 2", "another sample"], "c = f("])
    scores = measure(tmp_path)
    assert [(one.model, one.id, one.is_valid) for one in scores] == [
        ("crow", 0, True),
        ("crow", 1, False),
        ("parrot", 0, True),
        ("parrot", 1, False),
    ]
    lines = [line.split() for line in table(scores).splitlines()]
    assert ["crow", "2", "1", "50.0", "0", "0", "0", "0", "0", "1", "0"] in lines
    assert ["parrot", "1", "1", "100.0", "1", "1", "0", "0", "0", "1", "0"] in lines
    assert ["all", "3", "2", "66.7", "1", "1", "0", "0", "0", "2", "0"] in lines
    assert ["crow", "50.0"] in lines
    assert lines[-1][:6] == ["crow", "Numpy", "1:", "no", "Python:", "SyntaxError"]


def test_a_folder_without_replies_is_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match="holds no replies: no file is named <model>-answers"):
        measure(tmp_path)


def test_sentences_of_the_problems_are_no_code(tmp_path: Path) -> None:
    prompts = ["I have a table of fares by class.\n\ndf = load()\n\nHow do I add up the fares?", "x = 1"]
    with gzip.open(tmp_path / "ds1000.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.writelines(json.dumps({"prompt": prompt}) + "\n" for prompt in prompts)
    assert measure_prose(tmp_path) == (2, [])


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("```python\na = 1\n```\n```python\nb = 2\n```", "\na = 1\n"),
        ("<code>\na = 1\n</code>\nb = 2", "\na = 1\n"),
        ("a = 1\nEND SOLUTION\nb = 2", "a = 1"),
    ],
)
def test_the_benchmark_itself_takes_what_comes_first(text: str, code: str) -> None:
    assert own_extraction(text) == code


def test_the_body_of_a_function_is_moved_to_where_it_belongs() -> None:
    program = ours_of(reply("```python\na = 1\nreturn a\n```"), "def f():\n[insert]\nresult = f()\n")
    assert program == Program(id=7, solution="    a = 1\n    return a")
    assert ours_of(reply("a = 1"), "b = 2\n[insert]\n").solution == "a = 1"


@pytest.mark.parametrize(
    ("solution", "passes"), [("result = 1 + 2", True), ("result = 4", False), ("result =", False)]
)
def test_the_cell_raises_unless_the_solution_passes(solution: str, passes: bool) -> None:
    cell = source(Program(id=7, solution=solution), {"code_context": CONTEXT})
    if passes:
        exec(cell, {})
    else:
        with pytest.raises((AssertionError, SyntaxError)):
            exec(cell, {})


def test_the_rules_before_a_run_change_the_meaning_of_none_of_our_own_reference_programs() -> None:
    """Of the 1,000 of DS-1000, which may not be shipped, 16 are changed: `evals.suites.ds1000 FOLDER --rules`.

    Two of ours write a column to a frame of the user's, and do the same on a copy.
    """
    programs = references_of((*own_tasks(), *fresh.TASKS, *KPI))
    changed, counts = fired(programs)
    assert len(programs) > 150
    assert (changed, set(counts) - DISPLAY_RULES) == (2, {KEEP_VARIABLES})


def test_no_reference_program_changes_a_frame_that_its_question_does_not_ask_to_change() -> None:
    """Those that are asked to still do."""
    asked, unasked = 0, 0
    for program in references_of((*own_tasks(), *fresh.TASKS, *KPI)):
        code, wanted = correct(program).code, asked_changes(program.prompt, program.live)
        variables = (UserVariable(name=name, type_name=kind) for name, kind in program.live.data.items())
        changed = {variable.name for variable in variables if variable.is_changed_itself(code)}
        asked += bool(changed & wanted)
        unasked += bool(changed - wanted)
    assert (asked, unasked) == (2, 0)


def test_the_variables_of_a_problem_are_those_bound_before_its_solution() -> None:
    context = 'exec_context = r"""\nimport pandas as pd\ndf, List = test_input\n[insert]\n"""'
    assert set(live_of({"code_context": context}).data) == {"df", "List"}
    inside = 'exec_context = r"""\na = test_input\ndef f(x):\n[insert]\n"""'
    assert set(live_of({"code_context": inside}).data) == {"a"}
    assert live_of({}).data == {}


def test_a_reference_program_with_a_name_that_is_gone_counts_as_changed() -> None:
    changed, counts = fired([rule.Program(code=code) for code in ("x = np.NaN", "x = 1", "print(df.shape)")])
    assert (changed, counts["modern-names"], counts["display-last"]) == (1, 1, 2)


def test_what_the_rules_change_in_references_and_replies_is_told(tmp_path: Path) -> None:
    problem = {"metadata": {"problem_id": 1}, "prompt": "Mean?", "reference_code": "x = np.NaN\nprint(x)"}
    with gzip.open(tmp_path / "ds1000.jsonl.gz", "wt", encoding="utf-8") as lines:
        lines.write(json.dumps(problem) + "\n")
    reply = {"code": "```python\nprint(1)\n```", "metadata": {"library": "Pandas", "problem_id": 1}}
    (tmp_path / "model-answers.jsonl").write_text(json.dumps(reply) + "\n", encoding="utf-8")
    text = rules_text(tmp_path)
    assert text.startswith("references: 1 of 1 changed\nmodel: 0 of 1 changed\n")
    assert re.search(r"^modern-names +1 +0$", text, re.MULTILINE)
