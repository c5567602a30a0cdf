"""Write docs/reference/ from the code: parsers of options, traits, docstrings. Run with ``make docs``.

The pages are kept, so that they can be read without a build; `tests/unit/docs` compares them with the code.
"""

from __future__ import annotations

import argparse
import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from traitlets import Bool, Enum, TraitType

import jupyter_codeagent
from jupyter_codeagent.entrypoints import cli, options
from jupyter_codeagent.entrypoints.subcommands import SUBCOMMANDS
from jupyter_codeagent.settings.config import ENVIRONMENT, PREFERENCES, CodeAgent
from jupyter_codeagent.settings.rules import RULES
from jupyter_codeagent.types import errors

FOLDER = Path(__file__).parent / "reference"
MADE = "<!-- Written by docs/make_reference.py (make docs) from the code: change it there. -->"
SECTION = re.compile(r"^(\w+)\n-{3,}\n", re.MULTILINE)
"""Heading of a section in a docstring, as numpydoc has them."""
RULE_OF = {rule.trait: key for key, rule in RULES.items() if rule.trait}
"""Keys of the policy that are named otherwise than the setting."""
DASH = "–\N{NO-BREAK SPACE}"
MAX_SIGNATURE_CHARS = 70
MORE = {
    "model": "../usage.md#which-model-is-used",
    "base_url": "../settings.md#which-servers-get-prompts-and-which-keys",
    "weights": "../models.md",
    "privacy": "../security.md#what-each-privacy-mode-sends",
    "house_rules": "../usage.md#house-rules",
    "next_questions": "../explore.md#next-questions",
    "clients": "../mcp.md",
    "charts": "../explore.md#charts",
    "max_calls": "../tools.md#limits",
    "max_subquestion_tokens": "../tools.md#questions-to-the-model",
    "sandbox": "../security.md#levels",
    "max_transfer_mb": "../copies.md",
}
"""Setting -> where the docs say more about it."""


def pages() -> dict[str, str]:
    """Return each page by its name."""
    made = {
        "magics": magics(),
        "settings": settings(),
        "command-line": command_line(),
        "python": python(),
        "errors": raised_errors(),
    }
    return {f"{name}.md": f"{MADE}\n{text.rstrip()}\n" for name, text in made.items()}


def magics() -> str:
    commands = [(f"`%agent {written}`", text) for written, text in SUBCOMMANDS.items()]
    return "\n".join(
        [
            "# Magics",
            "`%load_ext jupyter_codeagent` registers `%%agent` and `%agent`, and starts a sandbox in the",
            "background; `%unload_ext jupyter_codeagent` stops all that this kernel has started.",
            "",
            "## A question: %%agent",
            "Options stand on the first line, the question below it. `{{expr}}` in a question inserts the text of",
            "a Python expression of your kernel.",
            "",
            *argument_table(options.build_parser()),
            "",
            "## Commands: %agent",
            *table(("write", "what it does"), commands),
            "",
            "Any other words are a question: `%agent why are flights late?`",
            "",
            "### %agent explore",
            *argument_table(options.build_explore_parser()),
            "",
            "### %agent report",
            *argument_table(options.build_report_parser()),
        ]
    )


def settings() -> str:
    traits = CodeAgent.class_traits(config=True)
    own = [name for name in vars(CodeAgent) if name in traits]  # in the order of the code
    rows = [(f"`{name}`", setting_default(traits[name]), setting_text(name, traits[name])) for name in own]
    return "\n".join(
        [
            "# Settings",
            'For this kernel `%config CodeAgent.privacy = "schema"`, for all of yours',
            '`c.CodeAgent.privacy = "schema"` in IPython\'s configuration. [Which setting holds](../settings.md)',
            "says what comes before what. *Also* is where else it can be set: an option stands in the line of a",
            "question; JupyterLab has a settings editor; the policy is the administrator's",
            "[`codeagent_policy.json`](../administrators.md).",
            "",
            *table(("setting", "default", "what"), rows),
            "",
            "Of the policy alone: `candidates`, the most that `--candidates` may be.",
        ]
    )


def setting_default(trait: TraitType[Any, Any]) -> str:
    value = trait.default()
    if isinstance(trait, Bool):
        return "on" if value else "off"
    if isinstance(value, (int, float)):
        return f"{value:,g}" if value < 100_000 else f"{value:,}"
    return f"`{value}`" if value else ""


def setting_text(name: str, trait: TraitType[Any, Any]) -> str:
    text = trait.help
    if isinstance(trait, Enum):
        text += f" {', '.join(f'`{value}`' for value in trait.values or () if value)}."
    flags = {action.dest: action.option_strings for action in options.build_parser()._actions}
    elsewhere = [
        *(f"option `{flag}`" for flag in flags.get(name, ())),
        *(f"environment `{variable}`" for variable in ENVIRONMENT.get(name, ())),
        *(["JupyterLab"] if name in PREFERENCES else []),
        *([f"policy `{RULE_OF.get(name, name)}`"] if RULE_OF.get(name, name) in RULES else []),
    ]
    more = f" [More]({MORE[name]})." if name in MORE else ""
    return f"{text}{more}" + (f"<br>*also: {', '.join(elsewhere)}*" if elsewhere else "")


def command_line() -> str:
    parser = cli.build_parser()
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    summaries = {action.dest: help_text(action) for action in commands._choices_actions}
    lines = [
        "# Command line",
        "Progress is told on stderr. The exit status is 0 if all went well, 1 after an error, 2 for an option that",
        "is not known, 130 if you stopped it. `--debug` before the command shows the whole traceback.",
    ]
    for name, command in commands.choices.items():
        lines += [
            "",
            f"## jupyter codeagent {name}",
            f"{summaries[name][0].upper()}{summaries[name][1:]}.",
            "",
            "```text",
            f"jupyter codeagent {name} {usage(command)}".rstrip(),
            "```",
            "",
            *argument_table(command),
        ]
    return "\n".join(lines)


def python() -> str:
    lines = [
        "# Python",
        "What `jupyter_codeagent` exports; [functions of yours that code may call](../tools.md) shows it at work.",
    ]
    for name in jupyter_codeagent.__all__:
        lines += ["", f"## {name}", *documented(getattr(jupyter_codeagent, name))]
    return "\n".join(lines)


def raised_errors() -> str:
    lines = (errors.__doc__ or "").strip().rpartition("\n\n")[2]
    rows = [
        (f"{DASH * depth}`{kind.__name__}`", one_line(inspect.getdoc(kind) or ""))
        for depth, kind in tree(errors.CodeAgentError)
    ]
    return "\n".join(
        [
            "# Errors",
            "All are in `jupyter_codeagent.types.errors`; one below another, with one dash more, is a kind of it.",
            lines.replace("``", "`"),
            "",
            *table(("error", "what happened"), rows),
        ]
    )


def tree(kind: type[Exception], depth: int = 0) -> Iterator[tuple[int, type[Exception]]]:
    """Yield an error and all that derive from it, in the order of the code."""
    yield depth, kind
    for derived in kind.__subclasses__():
        if derived.__module__ == errors.__name__:
            yield from tree(derived, depth + 1)


def documented(function: Callable[..., Any]) -> list[str]:
    """Return signature and docstring (numpydoc) as Markdown."""
    text, *sections = SECTION.split(inspect.getdoc(function) or "")
    signature = str(inspect.signature(function))
    lines = ["```text", f"{function.__name__}{readable(signature)}", "```", "", text.replace("``", "`").strip()]
    for title, body in zip(sections[::2], sections[1::2], strict=True):
        lines += ["", f"**{title}**", "", *definitions(body)]
    return lines


def readable(signature: str) -> str:
    """Return a signature without the quotes around its annotations, a long one with a line for each parameter."""
    text = re.sub(r"(?P<before>: |-> )'(?P<type>[^']*)'", r"\g<before>\g<type>", signature)
    if len(text) <= MAX_SIGNATURE_CHARS:
        return text
    parameters, _, returned = text[1:].rpartition(") -> ")
    lines = re.split(r", (?=\w+:|/|\*)", parameters)
    return "\n".join(["(", *(f"    {line}," for line in lines), f") -> {returned}"])


def definitions(body: str) -> Iterator[str]:
    """Yield a list of the names of a section, each with the indented text below it."""
    name, text = "", list[str]()
    for line in [*body.strip().splitlines(), "end"]:
        if not line.startswith(" "):
            if name:
                yield f"- `{name}`: {' '.join(text).replace('``', '`')}"
            name, text = line, []
        else:
            text.append(line.strip())


def argument_table(parser: argparse.ArgumentParser) -> list[str]:
    rows = [(f"`{written(action)}`", help_text(action)) for action in arguments(parser)]
    return table(("write", "what"), rows)


def arguments(parser: argparse.ArgumentParser) -> list[argparse.Action]:
    return [action for action in parser._actions if action.dest != "help"]


def written(action: argparse.Action) -> str:
    """Return an argument as it is typed: ``--sample N``, ``-o, --output FILE``, ``NOTEBOOK``."""
    name = str(action.metavar or action.dest.upper())
    if action.choices is not None:
        name = "|".join(map(str, action.choices))
    if not action.option_strings:
        return {"?": f"[{name}]", "*": f"[{name} …]", "+": f"{name} …"}.get(str(action.nargs), name)
    return ", ".join(action.option_strings) + (f" {name}" if action.nargs != 0 else "")


def usage(parser: argparse.ArgumentParser) -> str:
    """Return the arguments of a command in one line; argparse's own differs between versions of Python."""
    words = []
    for action in arguments(parser):
        word = written(action).replace(", --output", "")
        words.append(word if action.required or word.startswith("[") else f"[{word}]")
    return " ".join(words)


def help_text(action: argparse.Action) -> str:
    return (action.help or "") % vars(action)


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    cells = [[one_line(cell).replace("|", r"\|") for cell in row] for row in rows]
    return [f"| {' | '.join(row)} |" for row in [heads, ["---"] * len(heads), *cells]]


def one_line(text: str) -> str:
    return re.sub(r"[ \n]+", " ", text.replace("``", "`").strip())


if __name__ == "__main__":
    for page, content in pages().items():
        (FOLDER / page).write_text(content, encoding="utf-8")
