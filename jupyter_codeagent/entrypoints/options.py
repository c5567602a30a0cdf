"""The option line of `%%agent`, parsed into a frozen value; the body of the cell is never parsed."""

from __future__ import annotations

import argparse
import difflib
import re
import shlex
from typing import NoReturn, get_args

from jupyter_codeagent.types.approvals import ApprovalPolicy
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import ExploreOptions, ReportOptions, RunOptions
from jupyter_codeagent.types.variables import Privacy

COLUMN = re.compile(r"""(?:'[^']*+'|"[^"]*+"|[^,'"])++""")
"""One column of ``df[…]``: bare, or in quotes if its name has a comma or a bracket."""
SELECTION = re.compile(
    r"""\s*+(?P<name>[^\W\d]\w*+)\s*+(?:\[(?P<columns>(?:'[^']*+'|"[^"]*+"|[^'"\[\]])*+)\]\s*+)?(?:,\s*+|$)"""
)


MIN_CONTEXT_TOKENS = 50
"""Minimum, as in the configuration."""


class OptionParser(argparse.ArgumentParser):
    """An argparse parser that raises a one-line error with the nearest option instead of ending the process."""

    def error(self, message: str) -> NoReturn:
        unknown = message.removeprefix("unrecognized arguments: ").split()[0] if message else ""
        near = difflib.get_close_matches(unknown, self._option_string_actions, n=1)
        hint = f" Did you mean {near[0]}?" if near and message.startswith("unrecognized") else ""
        raise UsageError(f"{self.prog}: {message}.{hint} `%agent help` lists the options.")


def _names(text: str) -> tuple[str, ...]:
    names = tuple(name.strip() for name in text.split(",") if name.strip())
    bad = [name for name in names if not name.isidentifier()]
    if bad or not names:
        raise argparse.ArgumentTypeError(f"{text!r} is not a list of variable names such as df,sales")
    return names


def _name(text: str) -> str:
    if not text.isidentifier():
        raise argparse.ArgumentTypeError(f"{text!r} is not the name of a variable such as df")
    return text


def _selections(text: str) -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Parse ``flights[origin,'dep delay'],planes`` into (name, columns); no columns for a whole variable."""
    found, rest = [], text.strip()
    while rest:
        item = SELECTION.match(rest)
        if item is None:
            raise argparse.ArgumentTypeError(
                f"{text!r} is not a list of variables such as df,sales or sales[price,'unit cost']"
            )
        columns = tuple(filter(None, map(_label, COLUMN.findall(item["columns"] or ""))))
        if item["columns"] is not None and not columns:
            raise argparse.ArgumentTypeError(f"{item['name']}[…] in {text!r} names no column")
        found.append((item["name"], columns))
        rest = rest[item.end() :]
    if not found or len({name for name, _ in found}) < len(found):
        raise argparse.ArgumentTypeError(f"{text!r} must name at least one variable, and none twice")
    return tuple(found)


def _label(column: str) -> str:
    column = column.strip()
    is_quoted = len(column) > 1 and column[0] == column[-1] and column[0] in "'\""
    return column[1:-1] if is_quoted else column


def _positive(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number above 0")
    return int(text)


def _budget(text: str) -> int:
    if not text.isdecimal() or int(text) < MIN_CONTEXT_TOKENS:
        raise argparse.ArgumentTypeError(f"{text!r} is not a whole number from {MIN_CONTEXT_TOKENS}")
    return int(text)


def _seconds(text: str, unit: str = "seconds") -> float:
    try:
        seconds = float(text)
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < float("inf"):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of {unit} above 0")
    return seconds


def _minutes(text: str) -> float:
    return _seconds(text, "minutes")


def build_parser() -> OptionParser:
    """Build the parser of the `%%agent` options; the help text is made from it, too."""
    parser = OptionParser(prog="%%agent", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add(
        "--vars",
        dest="selections",
        type=_selections,
        metavar="a,b[x,y]",
        help="variables, or some of their columns, to copy into the sandbox",
    )
    add("--sample", type=_positive, metavar="N", help="copy N random rows of each frame that has more")
    add("--where", metavar="COND", help='copy only rows that match, such as "dep_delay > 60"')
    add("--model", metavar="NAME", help="model name")
    add("--base-url", metavar="URL", help="address of an OpenAI-compatible server")
    add("--privacy", choices=get_args(Privacy), help="what the prompt may contain of your data (stats)")
    add("--approve", choices=get_args(ApprovalPolicy), help="when to wait for your approval (review)")
    add("--max-steps", type=_positive, metavar="N", help="maximum number of model calls (4)")
    add(
        "--timeout",
        dest="timeout_s",
        type=_seconds,
        metavar="S",
        help="time limit for one execution, in seconds (120)",
    )
    add("--context-tokens", type=_budget, metavar="N", help="token budget for describing variables (600)")
    add(
        "--candidates",
        type=_positive,
        default=1,
        metavar="K",
        help="sample K programs, run them, and keep the one whose result most of them agree on (1); "
        "costs K times the completion tokens and one prompt",
    )
    add(
        "--from",
        dest="follows",
        default="",
        metavar="RUN",
        help="continue from this result instead of the newest, with the sandbox as it was then",
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


def build_explore_parser() -> OptionParser:
    """Build the parser of what follows `%agent explore`."""
    parser = OptionParser(prog="%agent explore", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add("tables", nargs="+", type=_name, metavar="TABLE", help="your DataFrames")
    add(
        "--goal",
        default="",
        metavar="WORDS",
        help="your question in words: findings on columns that it names come first",
    )
    add("--minutes", type=_minutes, default=ExploreOptions.minutes, metavar="M", help="time limit in minutes (2)")
    add("--sample", type=_positive, metavar="N", help="copy N random rows of each frame that has more")
    add("--where", metavar="COND", help='copy only rows that match, such as "month > 6"')
    return parser


def parse_explore(line: str) -> ExploreOptions:
    """Parse what follows `%agent explore`.

    Raises
    ------
    UsageError
        The message is one line: the bad option or value, and the nearest good one.
    """
    written = vars(build_explore_parser().parse_args(_words(line)))
    return ExploreOptions(**{**written, "tables": tuple(dict.fromkeys(written["tables"]))})


def build_report_parser() -> OptionParser:
    """Build the parser of what follows `%agent report`."""
    parser = OptionParser(prog="%agent report", add_help=False, allow_abbrev=False)
    add = parser.add_argument
    add(
        "-o",
        "--output",
        default="",
        metavar="FILE",
        help=".html, .md or .qmd file to write (an HTML page beside the notebook)",
    )
    add("--title", default="", metavar="TEXT", help="title of the report (the notebook's first heading)")
    add("--notebook", default="", metavar="FILE", help="the notebook, if it was renamed since its kernel started")
    add("--no-rerun", dest="rerun", action="store_false", help="do not run the code again")
    add("--overwrite", action="store_true", help="replace a file that is not an earlier report")
    return parser


def parse_report(line: str) -> ReportOptions:
    """Parse what follows `%agent report`.

    Raises
    ------
    UsageError
        The message is one line: the bad option or value, and the nearest good one.
    """
    return ReportOptions(**vars(build_report_parser().parse_args(_words(line))))


def parse_options(line: str) -> RunOptions:
    """Parse the line after `%%agent`.

    Raises
    ------
    UsageError
        The message is one line: the bad option or value, and the nearest good one.
    """
    written = vars(build_parser().parse_args(_words(line)))
    if written["new"] and written["follows"]:
        raise UsageError("%%agent: --new starts a conversation and --from continues one: give only one of them.")
    selections = written.pop("selections")
    if selections is not None:
        written["variables"] = tuple(name for name, _ in selections)
        written["columns"] = tuple((name, columns) for name, columns in selections if columns)
    return RunOptions(**written)


def _words(line: str) -> list[str]:
    try:
        return shlex.split(line)
    except ValueError as error:
        raise UsageError(f"%%agent: the option line cannot be read ({error}): {line!r}") from error
