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
DIGITS = {"1": 1, "one": 1, "2": 2, "two": 2, "3": 3, "three": 3, "4": 4, "four": 4}


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
    where = re.sub(r"\bwhere(?:by)?\b|[{}]", " ", FORM.sub("", form))
    where = re.sub(r"\s+", " ", where).strip(" ,.;\n")
    values = [value for _, value in found]
    shown = [_placeholder(value, name, values.count(value), where) for name, value in found]
    lines = "\n".join(f'print(f"@{name}[{value}]")' for (name, _), value in zip(found, shown, strict=True))
    asked = f"{entry['question'].strip()} {entry['constraints'].strip()}\nPrint the answer with:\n{lines}"
    return f"{asked}\n({where})" if where else asked


def _placeholder(value: str, name: str, uses: int, where: str) -> str:
    """``{mean_fare:.2f}``; ``{month}, {year}`` for several; the items of a list without its brackets."""
    words = [word.strip().strip("\"'") for word in value.split(",")]
    if "…" in value or "..." in value or re.search(r"\blist\b|_list\b|\blist_", value):
        return f"{{', '.join(map(str, {name}))}}"
    if uses == 1 and all(word.isidentifier() for word in words):
        return ", ".join(f"{{{word}{_digits(word, where)}}}" for word in words)
    return f"{{{name}{_digits(words[0], where)}}}"


def _digits(word: str, where: str) -> str:
    """``:.2f`` where the form says of this value how many digits it is rounded to."""
    spelt = re.escape(word).replace("_", "[_ ]")  # "RMSE value" for RMSE_value, mostly but not always in quotes
    said = re.search(rf"(?<!\w){spelt}(?!\w)(?P<of>.*?)(?=[.;] ?[\"']|,? and [\"']\w+[\"'] is|$)", where)
    if said is None or re.search(r"\b(?:string|integers?|boolean|list|date)\b", said["of"]):
        return ""
    digits = [DIGITS[word.lower()] for word in re.findall(r"(\w+) decimal", said["of"]) if word.lower() in DIGITS]
    return f":.{digits[0]}f" if digits else ""


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
