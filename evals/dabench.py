"""InfiAgent-DABench (Hu et al. 2024): questions over CSV files, answers as ``@name[value]``.

The benchmark's folder is given by the user: ``questions.jsonl``, ``labels.jsonl`` and ``tables/``. Scoring is the
official one: right if every ``@name[value]`` of the label is there, with an equal text or a number within 1e-6.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

from evals.task import Check, Evidence, Task, Turn

SHOWN = re.compile(r"@(\w+)\[(.*?)\]")
FORM = re.compile(r"@(\w+)\s*\[([^\]]*)\]")
TOLERANCE = 1e-6


def dabench_tasks(folder: Path) -> tuple[Task, ...]:
    """All questions of the folder.

    Raises
    ------
    FileNotFoundError
        The folder is not the benchmark's.
    """
    labels = {entry["id"]: entry["common_answers"] for entry in _lines(folder / "labels.jsonl")}
    return tuple(_task(entry, labels[entry["id"]], folder) for entry in _lines(folder / "questions.jsonl"))


def _task(entry: dict[str, Any], label: list[list[str]], folder: Path) -> Task:
    table = folder.resolve() / "tables" / entry["file_name"]
    return Task(
        id=f"dabench-{entry['id']}",
        topic="table",
        level=entry["level"],
        source=f"DABench: {entry['file_name']}",
        setup=f"import pandas as pd\ndf = pd.read_csv({str(table)!r})",
        variables=("df",),
        turns=(Turn(prompt=prompt(entry), check=scored(label), reference="", wrong=(), verbatim=True),),
    )


def prompt(entry: dict[str, Any]) -> str:
    """Question, constraints and the form of the answer as lines to print: bare, small models take it for code."""
    form = entry["format"].replace("\\n", "\n")
    found = FORM.findall(form)
    values = [value for _, value in found]
    lines = "\n".join(
        f'print(f"@{name}[{_placeholder(value, name, values.count(value))}]")' for name, value in found
    )
    where = re.sub(r"\bwhere(?:by)?\b|[{}]", " ", FORM.sub("", form))
    where = re.sub(r"\s+", " ", where).strip(" ,.;\n")
    asked = f"{entry['question'].strip()} {entry['constraints'].strip()}\nEnd with:\n{lines}"
    return f"{asked}\n({where})" if where else asked


def _placeholder(value: str, name: str, uses: int) -> str:
    """``{mean_fare}``; ``{month}, {year}`` for several; the items of a list without its brackets."""
    words = [word.strip().strip("\"'") for word in value.split(",")]
    if "…" in value or "..." in value or re.search(r"\blist\b|_list\b|\blist_", value):
        return f"{{', '.join(map(str, {name}))}}"
    if uses == 1 and all(word.isidentifier() for word in words):
        return ", ".join(f"{{{word}}}" for word in words)
    return f"{{{name}}}"


def scored(label: list[list[str]]) -> Check:
    def check(evidence: Evidence) -> str:
        shown = dict(SHOWN.findall(evidence.text))
        for name, wanted in label:
            if name not in shown:
                return f"@{name} is not printed"
            if not is_equal(shown[name], wanted):
                return f"@{name} is {shown[name]!r}, wanted {wanted!r}"
        return ""

    return check


def is_equal(found: str, wanted: str) -> bool:
    if found == wanted:
        return True
    try:
        return abs(float(found) - float(wanted)) < TOLERANCE
    except ValueError:
        return False


def _lines(file: Path) -> list[dict[str, Any]]:
    if not file.exists():
        raise FileNotFoundError(f"{file} is not there: --folder wants the folder with {file.name} and tables/")
    return [json.loads(line) for line in file.read_text(encoding="utf-8").splitlines() if line.strip()]
