"""What a reader types by our pages: given to the parsers that would get it, and not carried out."""

from __future__ import annotations

import argparse
import ast
import contextlib
import io
import json
import re
import shlex
import tomllib
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from jsonschema import Draft7Validator
from traitlets.config import Config

from jupyter_codeagent.entrypoints.cli import build_parser
from jupyter_codeagent.entrypoints.options import parse_explore, parse_options, parse_report
from jupyter_codeagent.entrypoints.subcommands import SUBCOMMANDS
from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.settings.policy import POLICY_FILE, read_policy
from jupyter_codeagent.settings.rules import RULES
from jupyter_codeagent.types.errors import UsageError

ROOT = Path(__file__).parents[1]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
COMMANDS = frozenset(written.split()[0] for written in SUBCOMMANDS)
SETTING = re.compile(r"^(?:%config |c\.)CodeAgent\.(?P<name>\w+)(?: = (?P<value>.+))?$")
EXTRAS = re.compile(r"(?:\.|jupyter-codeagent)\[(?P<extras>[\w,]+)\]")
PLUGIN = "jupyter-codeagent:plugin"


class WrongExampleError(AssertionError):
    """A page says to type what would not be understood."""


def check_magic(line: str) -> None:
    """Check a line that begins with ``%``; those of others than ours are let through."""
    magic, _, rest = line.strip().partition(" ")
    if magic == "%%agent":
        _said(line, parse_options, rest)
    elif magic == "%agent":
        check_agent(rest.strip())
    elif magic == "%config":
        check_setting(line)
    elif magic in ("%load_ext", "%unload_ext") and rest.strip() not in ("", "jupyter_codeagent"):
        raise WrongExampleError(line)


def check_agent(rest: str) -> None:
    """Check what follows `%agent`: a command of it, or a question, which has a question mark."""
    word, _, more = rest.partition(" ")
    if word == "explore" and more:
        _said(rest, parse_explore, more.removesuffix(" …"))
    elif word == "report":
        _said(rest, parse_report, more)
    elif word and word not in COMMANDS and not rest.endswith(("?", "…")):
        raise WrongExampleError(f"%agent {rest}: no command, and no question")


def check_setting(line: str) -> None:
    """Check ``%config CodeAgent.name = value`` and ``c.CodeAgent.name = value``, with or without a value."""
    found = SETTING.match(line.partition("  #")[0].strip())
    if found is None:
        return
    if found["name"] not in CodeAgent.class_trait_names(config=True):
        raise WrongExampleError(f"{line}: there is no such setting")
    if found["value"]:
        CodeAgent(**{found["name"]: ast.literal_eval(found["value"])})


def check_configuration(config: Config) -> None:
    """Check what a page writes into IPython's configuration."""
    for name, value in config.get("CodeAgent", {}).items():
        check_setting(f"c.CodeAgent.{name} = {value!r}")


def check_shell(text: str) -> None:
    """Check each line of a shell: ours by our own parsers."""
    for line in text.replace("\\\n", " ").splitlines():
        words = shlex.split(line, comments=True)
        for command in split(words, ("&&", "|", ";")):
            _check_command(command)


def check_json(text: str) -> None:
    """Check that it is JSON, and valid: a policy, JupyterLab's settings, the configuration of an MCP client."""
    value = json.loads(text)
    if not isinstance(value, dict):
        return
    if RULES.keys() & value.keys():
        with TemporaryDirectory() as directory:
            (Path(directory) / POLICY_FILE).write_text(text, encoding="utf-8")
            read_policy([directory])
    if PLUGIN in value:
        schema = json.loads((ROOT / "labextension" / "schema" / "plugin.json").read_text(encoding="utf-8"))
        if unknown := value[PLUGIN].keys() - schema["properties"].keys():
            raise WrongExampleError(f"JupyterLab has no settings {', '.join(sorted(unknown))}")
        Draft7Validator(schema).validate(value[PLUGIN])
    for server in value.get("mcpServers", {}).values():
        _check_command([server["command"], *server["args"]])


def split(words: Iterable[str], marks: Sequence[str]) -> list[list[str]]:
    parts: list[list[str]] = [[]]
    for word in words:
        if word in marks:
            parts.append([])
        else:
            parts[-1].append(word)
    return [part for part in parts if part]


def _check_command(words: Sequence[str]) -> None:
    """Check one command by its program; of programs that are not ours nothing is known."""
    program, *arguments = words
    program = program.removeprefix(".venv/bin/")
    if program == "jupyter" and arguments[:1] == ["codeagent"]:
        _check_codeagent(arguments[1:])
    elif program == "jupyter-codeagent":
        _check_codeagent(arguments)
    elif program == "make":
        _check_targets([word for word in arguments if "=" not in word])
    elif program == "pip" and arguments[:1] == ["install"]:
        _check_extras(" ".join(arguments))
    elif program == "python" and arguments[:1] == ["-m"]:
        _check_module(arguments[1], arguments[2:])
    elif program == "pytest":
        _check_places(word for word in arguments if word.startswith("tests"))
    elif program == "cd":
        _check_places(arguments)
    elif program == "npm" and arguments[:1] in (["run"], ["test"]):
        scripts = json.loads((ROOT / "labextension" / "package.json").read_text(encoding="utf-8"))["scripts"]
        if arguments[-1] not in scripts:
            raise WrongExampleError(f"npm has no script {arguments[-1]}")


def _check_codeagent(arguments: Sequence[str]) -> None:
    parser = build_parser()
    [commands] = [action for action in parser._actions if isinstance(action, argparse._SubParsersAction)]
    if arguments and not (len(arguments) == 1 and arguments[0] in commands.choices):
        _said(f"jupyter codeagent {shlex.join(arguments)}", parser.parse_args, list(arguments))


def _check_targets(targets: Iterable[str]) -> None:
    [known] = re.findall(r"^\.PHONY: (.+)$", (ROOT / "Makefile").read_text(encoding="utf-8"), re.MULTILINE)
    if unknown := [target for target in targets if target not in known.split() and target != "…"]:
        raise WrongExampleError(f"make has no target {unknown[0]}")


def _check_extras(text: str) -> None:
    for found in EXTRAS.finditer(text):
        if unknown := set(found["extras"].split(",")) - PROJECT["optional-dependencies"].keys():
            raise WrongExampleError(f"{text}: there is no extra {unknown.pop()}")


def _check_module(module: str, arguments: list[str]) -> None:
    if find_spec(module) is None:
        raise WrongExampleError(f"python -m {module}: there is no such module")
    if module == "evals" and arguments:
        from evals.__main__ import _parsed

        _said(f"python -m evals {shlex.join(arguments)}", _parsed, arguments)
    if module == "benchmarks":
        from benchmarks.__main__ import ALL

        if unknown := set(arguments) - ALL.keys():
            raise WrongExampleError(f"there is no benchmark {unknown.pop()}")


def _check_places(places: Iterable[str]) -> None:
    if missing := [place for place in places if not (ROOT / place.partition("::")[0]).exists()]:
        raise WrongExampleError(f"{missing[0]} does not exist")


def _said(line: str, parse: Callable[[Any], object], given: object) -> None:
    """Have a parser take it, and raise with its words if it does not."""
    told = io.StringIO()
    try:
        with contextlib.redirect_stderr(told):
            parse(given)
    except (UsageError, SystemExit) as error:
        raise WrongExampleError(f"{line}: {told.getvalue() or error}") from error
