"""What the pages say to write is what the program understands: each block of code and each command in a line.

Blocks of Python are run, those of a page in their order, unless the page says why not behind the language
(```` ```python not run: it needs a server ````); then they are compiled. What a program displays is ``text``, and
stands below it.
"""

from __future__ import annotations

import ast
import re
import subprocess
import tomllib
from collections.abc import Iterator
from itertools import zip_longest
from pathlib import Path
from typing import Any

import pytest
import yaml
from doc_commands import (
    WrongExampleError,
    check_agent,
    check_configuration,
    check_json,
    check_magic,
    check_setting,
    check_shell,
)
from doc_pages import Block, DocPage, doc_pages
from traitlets.config import Config

from jupyter_codeagent.settings.config import CodeAgent
from jupyter_codeagent.tools.registry import REGISTRY

LANGUAGES = {"python", "ipython", "bash", "json", "toml", "yaml", "markdown", "dockerfile", "text"}
NOT_RUN = "not run: "
SETTING = re.compile(r"\bCodeAgent\.(\w+)")
ONE_OPTION = re.compile(r"^%%agent --[\w-]+$")
OF_A_SHELL = ("jupyter codeagent ", "make ", "pip install ", "python -m ")
BLOCKS = [block for page in doc_pages() for block in page.blocks]
WITH_PYTHON = [page for page in doc_pages() if any(block.language == "python" for block in page.blocks)]


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


@pytest.mark.parametrize("block", BLOCKS, ids=str)
def test_every_block_names_its_language_and_is_fenced(block: Block) -> None:
    assert block.language in LANGUAGES
    assert not block.note or (block.note.startswith(NOT_RUN) and block.language in ("python", "ipython"))


@pytest.fixture
def _no_tools_are_left() -> Iterator[None]:
    before = dict(REGISTRY._tools)
    yield
    REGISTRY._tools.clear()
    REGISTRY._tools.update(before)


@pytest.mark.filterwarnings("ignore:FigureCanvasAgg is non-interactive")
@pytest.mark.usefixtures("_no_tools_are_left")
@pytest.mark.parametrize("page", WITH_PYTHON, ids=lambda page: str(page.name))
def test_python_of_the_pages_runs_and_prints_what_they_say(
    page: DocPage, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    config = Config()
    names: dict[str, Any] = {"__name__": "example", "c": config, "get_config": lambda: config}
    for block, below in zip_longest(page.blocks, page.blocks[1:]):
        if block.language in ("python", "ipython") and not block.text.startswith("%%"):
            flags = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            code = compile(without_magics(block.text), str(block), "exec", flags=flags, dont_inherit=True)
            if not block.note:
                exec(code, names)
            if printed := capsys.readouterr().out:
                assert below is not None
                assert (below.language, below.text) == ("text", printed)
    check_configuration(config)
    for name, end in {"connection": "close", "db": "close", "engine": "dispose"}.items():
        if name in names:
            getattr(names[name], end)()


def without_magics(text: str) -> str:
    return re.sub(r"^\s*%.*$", "pass", text, flags=re.MULTILINE)


@pytest.mark.parametrize("block", of("python", "ipython"), ids=str)
def test_magics_and_their_options_are_understood(block: Block) -> None:
    for line in block.text.splitlines():
        if line.lstrip().startswith("%"):
            check_magic(line)


@pytest.mark.parametrize("block", of("bash"), ids=str)
def test_lines_of_a_shell_are_understood(block: Block) -> None:
    subprocess.run(["bash", "-n"], input=block.text, text=True, check=True, timeout=60)
    check_shell(block.text)


@pytest.mark.parametrize("block", of("json", "toml", "yaml"), ids=str)
def test_files_of_settings_are_valid(block: Block) -> None:
    match block.language:
        case "json":
            check_json(block.text)
        case "toml":
            tomllib.loads(block.text)
        case "yaml":
            assert list(yaml.safe_load_all(block.text))


@pytest.mark.parametrize("page", doc_pages(), ids=lambda page: str(page.name))
def test_commands_within_a_line_are_understood(page: DocPage) -> None:
    for word in page.words:
        command = re.sub(r" \[.*?\]", "", word).removesuffix(" …")  # without what may be left out
        if command.startswith("%agent "):
            check_agent(command.removeprefix("%agent "))
        elif command.startswith("%%agent") and not is_option(command):
            check_magic(command)
        elif command.startswith(OF_A_SHELL) and "|" not in command:
            check_shell(command)
        check_setting(command)


def is_option(command: str) -> bool:
    """Whether an option of `%%agent` with a value is only named."""
    try:
        check_magic(command)
    except WrongExampleError as error:
        return bool(ONE_OPTION.match(command)) and "expected one argument" in str(error)
    return False


@pytest.mark.parametrize("page", doc_pages(), ids=lambda page: str(page.name))
def test_settings_that_a_page_names_exist(page: DocPage) -> None:
    assert set(SETTING.findall(page.text)) - set(CodeAgent.class_trait_names(config=True)) == set()


@pytest.mark.parametrize(
    "wrong",
    [
        "%%agent --var flights",
        "%%agent --privacy all",
        "%agent explor",
        "%agent explore flights --gaol delay",
        "%config CodeAgent.privcy = 'schema'",
    ],
)
def test_a_magic_that_would_not_be_understood_is_found(wrong: str) -> None:
    with pytest.raises(WrongExampleError):
        check_magic(wrong)


@pytest.mark.parametrize(
    "wrong",
    [
        "jupyter codeagent ask 'how many?' data.csv",
        "jupyter codeagent runs",
        "cd labextension && npm run lints",
        "make demos",
        'pip install "jupyter-codeagent[all]"',
        "python -m evals owns",
        "python -m benchmarks mcps",
        "pytest tests/units",
    ],
)
def test_a_line_of_a_shell_that_would_not_be_understood_is_found(wrong: str) -> None:
    with pytest.raises(WrongExampleError):
        check_shell(wrong)
