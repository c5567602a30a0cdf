"""The option line of `%%agent`: text in, a frozen value out. The body of the cell is never parsed."""

from __future__ import annotations

import argparse
import difflib
import shlex
from dataclasses import dataclass
from typing import NoReturn, get_args

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.values import ApprovalPolicy, Privacy


@dataclass(frozen=True, kw_only=True)
class RunOptions:
    """What the user wrote behind `%%agent`; None where nothing was written."""

    variables: tuple[str, ...] | None = None
    model: str | None = None
    base_url: str | None = None
    privacy: Privacy | None = None
    approve: ApprovalPolicy | None = None
    max_steps: int | None = None
    timeout_s: float | None = None
    candidates: int = 1
    new: bool = False
    returns: tuple[str, ...] = ()
    dry_run: bool = False
    json: bool = False
    rerun: bool = False
    debug: bool = False


class OptionParser(argparse.ArgumentParser):
    """argparse that raises a one-line error with the nearest option instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0] if message else ""
        near = difflib.get_close_matches(unknown, self._option_string_actions, n=1)
        hint = f" Did you mean {near[0]}?" if near and message.startswith("unrecognized") else ""
        raise UsageError(f"%%agent: {message}.{hint} `%agent help` lists the options.")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    bad = [name for name in names if not name.isidentifier()]
    if bad or not names:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of variable names such as df,sales")
    return names


def _positive(text: str) -> int:
    if not text.isdigit() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _seconds(text: str) -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of seconds above 0")
    return seconds


def build_parser() -> OptionParser:
    """The options of product.md, section 1; also the source of the help text."""
    parser = OptionParser(prog="%%agent", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("--vars", dest="variables", type=_names, metavar="a,b", help="variables to copy into the sandbox")
    add("--model", metavar="NAME", help="model name")
    add("--base-url", metavar="URL", help="address of an OpenAI-compatible server")
    add("--privacy", choices=get_args(Privacy), help="what of the data may enter the prompt (stats)")
    add("--approve", choices=get_args(ApprovalPolicy), help="when to wait for you (review)")
    add("--max-steps", type=_positive, metavar="N", help="model calls at the most (4)")
    add("--timeout", dest="timeout_s", type=_seconds, metavar="S", help="seconds for one execution (120)")
    add(
        "--candidates",
        type=_positive,
        default=1,
        metavar="K",
        help="sample K programs, keep what they agree on (1)",
    )
    add("--new", action="store_true", help="forget the conversation and the sandbox's variables first")
    add(
        "--return",
        dest="returns",
        type=_names,
        default=(),
        metavar="a,b",
        help="bring result variables back, as data",
    )
    add("--dry-run", action="store_true", help="show what would be sent and copied; send and run nothing")
    add("--json", action="store_true", help="print the run's record as JSON and nothing else")
    add("--rerun", action="store_true", help="ask the model again even if prompt and data are unchanged")
    add("--debug", action="store_true", help="show the whole traceback of an error")
    return parser


def parse_options(line: str) -> RunOptions:
    """Parse the line behind `%%agent`.

    Raises
    ------
    UsageError
        One line: the bad option or value, and the nearest good one.
    """
    try:
        words = shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%agent: the option line cannot be read ({error}): {line!r}") from error
    return RunOptions(**vars(build_parser().parse_args(words)))
