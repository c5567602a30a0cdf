"""Programs with a planted silent error and their right twins: which of them the verdict doubts.

``python -m evals.suites.silent_errors [BATCH]``. No model is asked: each program runs observed, and the
verdict is made of what was counted. An error is found if its result is not *checked*, and a right twin is doubted
if its result is not.
"""

from __future__ import annotations

import argparse
import json
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from jupyter_codeagent.agent.verdict.prompt_check import unheeded
from jupyter_codeagent.agent.verdict.signals import Signals
from jupyter_codeagent.agent.verdict.verdict import judge
from jupyter_codeagent.sandbox.guest.observation.observer import Observer
from jupyter_codeagent.sandbox.guest_reports import read_after_cell_report
from jupyter_codeagent.types.run import Verdict
from jupyter_codeagent.types.variables import LiveNames

FOLDER = Path(__file__).parent.parent / "silent_errors"


@dataclass(frozen=True, kw_only=True)
class Pair:
    """One planted error and the program that is right."""

    name: str
    kind: str
    question: str
    setup: str
    frames: tuple[str, ...]
    wrong: str
    right: str


@dataclass(frozen=True, kw_only=True)
class Judged:
    """The verdicts on one pair."""

    pair: Pair
    wrong: Verdict
    right: Verdict

    @property
    def is_found(self) -> bool:
        return self.wrong.level != "checked"

    @property
    def is_false_alarm(self) -> bool:
        return self.right.level != "checked"


def read_pairs(batch: str) -> list[Pair]:
    """Return the pairs of one batch: ``development`` or ``held_back``."""
    return [_pair(found) for found in json.loads((FOLDER / f"{batch}.json").read_text("utf-8"))]


def _pair(found: dict[str, Any]) -> Pair:
    programs = {name: "\n".join(found[name]) for name in ("setup", "wrong", "right")}
    told = {name: found[name] for name in ("name", "kind", "question")}
    return Pair(**told, **programs, frames=tuple(found["frames"]))


def judge_pairs(pairs: list[Pair]) -> Iterator[Judged]:
    """Run each program observed, in a namespace of its own."""
    shell = InteractiveShell(history_load_length=0)
    for pair in pairs:
        yield Judged(
            pair=pair,
            wrong=_verdict(shell, pair, pair.wrong),
            right=_verdict(shell, pair, pair.right),
        )


def _verdict(shell: InteractiveShell, pair: Pair, program: str) -> Verdict:
    shell.reset(new_session=False)
    with capture_output(), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _run(shell, pair, pair.setup)
        live = _live_names(shell, pair)
        observer = Observer(shell)  # only now: the frames are the user's
        _run(shell, pair, program)
    observer.close()
    report = read_after_cell_report(json.dumps(observer.report()))
    signals = Signals(
        operations=report.operations,
        not_observed=report.not_observed,
        code=program,
        unheeded=tuple(unheeded(pair.question, program, live)),
    )
    return judge(signals, pair.question)


def _live_names(shell: InteractiveShell, pair: Pair) -> LiveNames:
    frames = {name: shell.user_ns[name] for name in pair.frames}
    labels = frozenset(str(label) for frame in frames.values() for label in frame.columns)
    return LiveNames(data={name: type(frame).__name__ for name, frame in frames.items()}, columns=labels)


def _run(shell: InteractiveShell, pair: Pair, code: str) -> None:
    outcome = shell.run_cell(code)
    if not outcome.success:
        raise RuntimeError(f"{pair.name} fails: {outcome.error_in_exec or outcome.error_before_exec}")


def silent_errors_table(batch: str, *, in_full: bool) -> str:
    """Return recall and precision by kind; with `in_full` each pair that was judged wrongly, and why."""
    judged = list(judge_pairs(read_pairs(batch)))
    kinds = list(dict.fromkeys(one.pair.kind for one in judged))
    lines = ["| kind | errors found | right ones doubted |", "|---|---|---|"]
    for kind in [*kinds, "all"]:
        of_kind = [one for one in judged if kind in (one.pair.kind, "all")]
        found, alarms = sum(one.is_found for one in of_kind), sum(one.is_false_alarm for one in of_kind)
        lines.append(f"| {kind} | {found} of {len(of_kind)} | {alarms} of {len(of_kind)} |")
    found, alarms = sum(one.is_found for one in judged), sum(one.is_false_alarm for one in judged)
    lines.append(f"\nrecall {found / len(judged):.2f}, precision {found / max(found + alarms, 1):.2f}")
    if in_full:
        for one in judged:
            if not one.is_found:
                lines.append(f"missed {one.pair.kind} {one.pair.name}: {one.wrong.reason}")
            if one.is_false_alarm:
                lines.append(f"doubted {one.pair.kind} {one.pair.name}: {one.right.level}: {one.right.reason}")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m evals.suites.silent_errors", description=__doc__)
    parser.add_argument("batch", nargs="?", default="development")
    parser.add_argument("--in-full", action="store_true", help="name what was judged wrongly; never of held_back")
    options = parser.parse_args()
    print(silent_errors_table(options.batch, in_full=options.in_full and not options.batch.startswith("held_back")))


if __name__ == "__main__":
    main()
