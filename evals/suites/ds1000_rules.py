"""Changes by the rules before a run to programs nobody had in view: `python -m evals.suites.ds1000 FOLDER --rules`.

Reference programs are right, so each change of one has to be a name that today's libraries have changed.
"""

from __future__ import annotations

import ast
import re
import textwrap
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from evals.suites.ds1000 import read_problems, read_replies
from evals.task import Task
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.agent.rules.registry import DISPLAY_RULES, RULES, correct
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.agent.source import base_names, parse
from jupyter_codeagent.types.variables import LiveNames

FRAME = "DataFrame"
_BEFORE = re.compile(r'exec_context = r"""(.*?)\[insert\]', re.DOTALL)


def fired(programs: Iterable[Program]) -> tuple[int, Counter[str]]:
    """Count the programs whose meaning the rules before a run change, and how many each rule changes."""
    names = [set(correct(program).rules) for program in programs]
    return sum(bool(rules - DISPLAY_RULES) for rules in names), Counter(name for rules in names for name in rules)


def references_of(tasks: Iterable[Task]) -> list[Program]:
    """The reference programs of our own tasks."""
    return [
        Program(
            code=textwrap.dedent(turn.reference),
            prompt=turn.question,
            copied=task.variables,
            live=LiveNames(data=dict.fromkeys(task.variables, FRAME), taken=frozenset(task.variables)),
        )
        for task in tasks
        for turn in task.turns
    ]


def live_of(problem: Mapping[str, Any]) -> LiveNames:
    """The variables that a problem's tests bind before the solution, as if they were frames of the user's."""
    before = _BEFORE.search(problem.get("code_context", ""))
    bodies = (parse(before[1].rstrip() + end) for end in ("", " pass")) if before is not None else ()
    tree = next((tree for tree in bodies if tree is not None), None)
    assigned = [node for node in tree.body if isinstance(node, ast.Assign)] if tree is not None else []
    names = {name for node in assigned for target in node.targets for name in base_names(target)}
    return LiveNames(data=dict.fromkeys(sorted(names), FRAME), taken=frozenset(names))


def _program(code: str, problem: Mapping[str, Any]) -> Program:
    return Program(code=code, prompt=problem["prompt"], live=live_of(problem))


def rules_text(folder: Path) -> str:
    """How many reference programs and stored replies the rules change, and which rules."""
    problems = {problem["metadata"]["problem_id"]: problem for problem in read_problems(folder)}
    sets = {"references": [_program(one["reference_code"], one) for one in problems.values()]}
    for reply in read_replies(folder):
        program = _program(extract_code(reply.text).code, problems[reply.id])
        sets.setdefault(reply.model, []).append(program)
    found = {name: fired(programs) for name, programs in sets.items()}
    lines = [f"{name}: {changed} of {len(sets[name])} changed" for name, (changed, _) in found.items()]
    for rule in (rule.name for rule in RULES if rule.stage == "before_run"):
        lines.append(f"{rule:<24}" + "".join(f"{counts[rule]:>8}" for _, counts in found.values()))
    return "\n".join(lines)
