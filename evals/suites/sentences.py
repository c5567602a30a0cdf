"""Sentences about outputs, right and wrong, and which pass the check: `python -m evals.suites.sentences [BATCH]`.

No model is asked. A good check stops every wrong sentence and loses no right one.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter
from pathlib import Path

from jupyter_codeagent.agent.answer.answer import check_answer

FOLDER = Path(__file__).parent.parent / "sentence_pairs"


def sentences_table(batch: str) -> str:
    """Return how many wrong sentences of each kind are stopped, and how many right ones are lost."""
    stopped: Counter[str] = Counter()
    wrong: Counter[str] = Counter()
    right = lost = 0
    for result in json.loads((FOLDER / f"{batch}.json").read_text("utf-8")):
        known = (result["output"], result["question"], result["code"])
        for sentence in result["right"]:
            right += 1
            lost += not check_answer(sentence, *known)
        for one in result["wrong"]:
            wrong[one["kind"]] += 1
            stopped[one["kind"]] += not check_answer(one["sentence"], *known)
    lines = ["| kind | wrong ones stopped |", "|---|---|"]
    lines += [f"| {kind} | {stopped[kind]} of {count} |" for kind, count in wrong.items()]
    lines.append(f"\nwrong ones stopped: {stopped.total()} of {wrong.total()}, right ones lost: {lost} of {right}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.sentences", description=__doc__)
    parser.add_argument("batch", nargs="?", default="development")
    print(sentences_table(parser.parse_args().batch))


if __name__ == "__main__":
    main()
