"""Changes by the rules before a run to programs nobody had in view: `python -m evals.suites.ds1000 FOLDER --rules`.

Reference programs are right, so each change of one has to be a name that today's libraries have changed.
"""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from evals.suites.ds1000 import read_problems, read_replies
from evals.task import Task
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.agent.rules.registry import DISPLAY_RULES, RULES, correct
from jupyter_codeagent.agent.rules.rule import Program


def fired(programs: Iterable[Program]) -> tuple[int, Counter[str]]:
    """Count the programs whose meaning the rules before a run change, and how many each rule changes."""
    names = [set(correct(program).rules) for program in programs]
    return sum(bool(rules - DISPLAY_RULES) for rules in names), Counter(name for rules in names for name in rules)


def references_of(tasks: Iterable[Task]) -> list[Program]:
    """The reference programs of our own tasks."""
    return [
        Program(code=textwrap.dedent(turn.reference), prompt=turn.question, copied=task.variables)
        for task in tasks
        for turn in task.turns
    ]


def rules_text(folder: Path) -> str:
    """How many reference programs and stored replies the rules change, and which rules."""
    problems = {problem["metadata"]["problem_id"]: problem for problem in read_problems(folder)}
    sets = {"references": [Program(code=one["reference_code"], prompt=one["prompt"]) for one in problems.values()]}
    for reply in read_replies(folder):
        program = Program(code=extract_code(reply.text).code, prompt=problems[reply.id]["prompt"])
        sets.setdefault(reply.model, []).append(program)
    found = {name: fired(programs) for name, programs in sets.items()}
    lines = [f"{name}: {changed} of {len(sets[name])} changed" for name, (changed, _) in found.items()]
    for rule in (rule.name for rule in RULES if rule.stage == "before_run"):
        lines.append(f"{rule:<24}" + "".join(f"{counts[rule]:>8}" for _, counts in found.values()))
    return "\n".join(lines)
