"""Text from the sandbox, the model and the data: each pattern and each function over it takes linear time.

Python's regular expressions hold the interpreter's lock: a pattern that tries everything freezes the kernel, and no
interrupt gets through. Patterns and functions are found by themselves, so that a new bad one fails here.
"""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable, Iterator, Mapping

import pytest
from hostile_texts import (
    PLAIN,
    Family,
    Found,
    families_of,
    found_patterns,
    grows_too_fast,
    modules,
    operations,
    seconds,
)

from jupyter_codeagent.agent.model_step import is_enough
from jupyter_codeagent.agent.prompt.formulas import MAX_PROMPT_CHARS
from jupyter_codeagent.agent.prompt.observation import observe
from jupyter_codeagent.agent.reply.extract import extract_code
from jupyter_codeagent.agent.result_comparison import agree, findings
from jupyter_codeagent.agent.rules.api_changes import MAX_MESSAGE_CHARS
from jupyter_codeagent.agent.rules.p_value_claims import MAX_CLAIM_CHARS
from jupyter_codeagent.agent.rules.registry import correct, correct_result, find_hint, find_issue, repair
from jupyter_codeagent.agent.rules.rule import Program
from jupyter_codeagent.agent.source import parse
from jupyter_codeagent.notebook.effects.analysis import MAX_CODE_CHARS
from jupyter_codeagent.notebook.outputs import clean_output
from jupyter_codeagent.sandbox.data.condition import MAX_CHARS as MAX_CONDITION_CHARS
from jupyter_codeagent.sandbox.guard import MAX_REPLY_TEXT as MAX_EVALUE
from jupyter_codeagent.sandbox.guest_reports import MAX_CHARS as MAX_LABEL
from jupyter_codeagent.sandbox.guest_reports import MAX_COLUMNS as MAX_LABELS
from jupyter_codeagent.sandbox.guest_reports import MAX_VARIABLES
from jupyter_codeagent.types.errors import CodeAgentError
from jupyter_codeagent.types.sandbox import ExecutionError, ExecutionResult, NamespaceEntry, Output
from jupyter_codeagent.variables.privacy.masking import masked
from jupyter_codeagent.variables.privacy.pii_columns import personal_kind
from jupyter_codeagent.variables.privacy.secret import secret_text
from jupyter_codeagent.variables.text import looks_personal, safe

# --- patterns ---------------------------------------------------------------------------------------

MAX_PATTERN_CHARS = 4000
QUICK_S = 0.0003
MAX_SHORT_S = 0.1
LARGEST: Mapping[str, int] = {
    "agent.rules.api_changes.HINTS": MAX_MESSAGE_CHARS,
    "agent.prompt.formulas._TERMS": MAX_PROMPT_CHARS,
    "agent.rules.p_value_claims._LABEL": MAX_CLAIM_CHARS,
    "agent.rules.p_value_claims._NORMAL": MAX_CLAIM_CHARS,
    "agent.rules.p_value_claims._SIGNIFICANT": MAX_CLAIM_CHARS,
    "sandbox.data.condition.TOKEN": MAX_CONDITION_CHARS,
}
"""Pattern -> the longest text that it is given, where that is short."""


EVERY = 4
OTHERS_ARE_LONG = pytest.mark.long("the same proof of another pattern or function; one of four runs in `make test`")


PARTS = [pytest.param(at, id=f"part {at}", marks=OTHERS_ARE_LONG if at % EVERY else ()) for at in range(10 * EVERY)]
"""Patterns and functions are only looked for when a test needs them: collecting them takes each process seconds."""


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_pattern_takes_linear_time(part: int) -> None:
    for found in found_patterns()[part :: len(PARTS)]:
        _check_pattern(found)


def _check_pattern(found: Found) -> None:
    largest = LARGEST.get(found.where.partition("[")[0], 0)
    for family in families_of(found.pattern, 3):
        for run in operations(found.pattern, found.methods):
            if largest:
                assert seconds(run, family.text(largest)) < MAX_SHORT_S, f"{found.where}: {family}"
            else:
                said = grows_too_fast(run, family, MAX_PATTERN_CHARS, QUICK_S)
                assert not said, f"{found.where}: {said}: {family}"


# --- functions --------------------------------------------------------------------------------------

ROOMS = (
    *(
        *("agent.html_tables", "agent.known_imports", "agent.output_text", "agent.prompt"),
        *("agent.reply", "agent.result_comparison", "agent.rules", "agent.source"),
        "entrypoints.completion.position",
    ),
    *("entrypoints.failed_cells", "entrypoints.interpolate", "frontend.display", "frontend.progress"),
    *(
        "notebook.cells",
        "notebook.effects",
        "notebook.outputs",
        "sandbox.guest_reports",
        "sandbox.failures",
        "sandbox.guard",
    ),
    *(
        "tools.annotations",
        "tools.exceptions",
        "tools.schema",
        "variables.describers.text_formats",
        "variables.mentions",
    ),
    *("variables.privacy.given_names", "variables.privacy.masking", "variables.privacy.pii_columns"),
    *(
        "variables.privacy.pii_patterns",
        "variables.privacy.secret",
        "variables.privacy.sharing.rules",
        "variables.text",
    ),
)
"""Where text of others is read; those functions of them are tried that take texts, trees, errors and the like."""
MAX_FUNCTION_CHARS = 600
QUICK_CALL_S = 0.02

CODE = [
    *(
        "x = 1\n",
        "x = df['a'].mean()\n",
        "print(x)\n",
        "df['b'] = df['a'] / df['c']\n",
        "x.a().b()\n",
        "x, y = a, b\n",
    ),
    *(
        "p, q = stats.ttest_ind(a, b)\n",
        "if p < 0.05:\n    v = 'yes'\nelse:\n    v = 'no'\n",
        "import a\n",
        "# 1. a\n",
    ),
    *("for i in df:\n    y = i\n", "def f(a):\n    return a\n", "m = df.merge(g, on='k')\n", "print('{x:.2f}')\n"),
    *(
        "df.groupby('a')['b'].mean()\n",
        "df.str.replace('[0-9]', '')\n",
        "x = pd.cut(df['a'], [1, 2])\n",
        "a; ",
        "(a)\n",
    ),
    *("x = df[df['a'] == 'b']\n", "plt.plot(x)\n", "ask(x=1)\n", "import pandas as pd\n", "x = df.a.fillna(0)\n"),
    *(
        "```\n",
        "```python\nx = 1\n```\n",
        "```python\n(\n```\n",
        "```\n(\n```\nx\n",
        "<code>x = 1</code>\n",
        "<think>\n",
    ),
    *(
        "@a\n",
        "try:\n x\n",
        "a?\n",
        "%%x\n",
        ">>> a\n",
        "{'a':",
        "[a for a in ",
        "f'{",
        "lambda:",
        "a if b else ",
        "x = \\\n",
    ),
    *(
        "not ",
        "-",
        "a.b",
        ".b",
        "()",
        "+1",
        "**a",
        "elif a:\n pass\n",
        '"""',
        "#\n",
        "x y z\n",
        "Aa bb cc dd\n",
        "# a b\n",
    ),
]
BEGINNINGS = ("x = ", "a", "if a:\n pass\n", "```python\n")


NESTED = CODE[-20:]
TEXTS = [
    *(Family("", piece) for piece in (*PLAIN, *CODE)),
    *(Family(begin, piece) for begin in BEGINNINGS for piece in NESTED),
]
"""Of prose and of code, whatever a function makes of it."""


def namespace(text: str) -> list[NamespaceEntry]:
    labels = tuple(f"{text[: MAX_LABEL - 4]}{at}" for at in range(min(len(text) // 20, MAX_LABELS)))
    return [
        NamespaceEntry(
            name=name, type_name="DataFrame", shape=(9, 9), columns=labels, dtypes=("str",) * len(labels)
        )
        for name in ("df", "g", text[:MAX_LABEL])
    ]


def outputs(text: str) -> list[Output]:
    shown = {"text/plain": text, "text/html": f"<table><tr><td>{text}</td></tr></table>"}
    return [
        {"output_type": "stream", "name": "stdout", "text": text},
        {"output_type": "stream", "name": "stderr", "text": text},
        {"output_type": "display_data", "data": shown, "metadata": {}},
    ]


def error(text: str) -> ExecutionError:
    return ExecutionError(ename="KeyError", evalue=text[:MAX_EVALUE], line=1, source=text)


def program(text: str) -> Program:
    """The text as code, prompt and output of a program that ended with an error of that text."""
    result = ExecutionResult(
        status="error", outputs=tuple(outputs(text)), error=error(text), namespace=tuple(namespace(text))
    )
    return Program(code=text, prompt=text, copied=["df"], functions=["ask"], result=result, issue=text[:MAX_EVALUE])


MADE: Mapping[str, Callable[[str], object]] = {
    "Program": program,
    "str": lambda text: text,
    "object": lambda text: text,
    "bool": lambda _: True,
    "int": lambda _: 1,
    "int | None": lambda _: 1,
    "ExecutionError": error,
    "ExecutionResult": lambda text: ExecutionResult(
        status="ok", outputs=tuple(outputs(text)), namespace=tuple(namespace(text))
    ),
    "Sequence[NamespaceEntry]": namespace,
    "Iterable[NamespaceEntry]": namespace,
    "Sequence[Output]": outputs,
    "Output": lambda text: outputs(text)[0],
    "ast.Module": parse,
    "ast.AST": parse,
    "Sequence[str]": lambda text: text.split("\n"),
    "list[str]": lambda text: text.split("\n"),
    "Iterable[str]": lambda text: text.split("\n"),
    "Collection[str]": lambda text: set(text.split()),
    "frozenset[str]": lambda text: frozenset(text.split()),
    "Sequence[CopyChange]": lambda _: (),
    "str | list[str]": lambda text: text,
}


ANY_NUMBER = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)


def functions() -> Iterator[tuple[str, Callable[..., object], dict[str, str]]]:
    """(where, function, kinds of its arguments by name) for those that others call and that can be called here."""
    for name, module in modules().items():
        if not name.startswith(ROOMS):
            continue
        for value in vars(module).values():
            function = inspect.unwrap(value) if callable(value) else value
            if not inspect.isfunction(function) or function.__module__ != module.__name__:
                continue
            parameters = inspect.signature(function).parameters.values()
            asked = [one for one in parameters if one.default is one.empty and one.kind not in ANY_NUMBER]
            kinds = {one.name: str(one.annotation) for one in asked}
            takes_text = all(kind in MADE for kind in kinds.values()) and set(kinds.values()) - {"int", "bool"}
            if takes_text and not function.__name__.startswith("_"):
                yield f"{name}.{function.__name__}", function, kinds


def calls(function: Callable[..., object], kinds: Mapping[str, str]) -> Iterator[Callable[[str], object]]:
    """With the hostile text in every argument, and in one after the other beside harmless ones; a tree is that of
    the code beside it."""
    sample_separately = len(kinds) > 1 and not any(kind.startswith("ast.") for kind in kinds.values())
    for hostile in ("", *(kinds if sample_separately else ())):

        def run(text: str, hostile: str = hostile) -> object:
            made = {name: MADE[kind](text if hostile in ("", name) else HARMLESS) for name, kind in kinds.items()}
            if None in made.values():  # a tree of what does not parse
                return None
            try:
                result = function(**made)
                return list(result) if inspect.isgenerator(result) else result
            except (CodeAgentError, ValueError):
                return None  # said on purpose

        yield run


HARMLESS = "x = df.groupby('a')['b'].mean()\nprint(x)\n"


@pytest.mark.parametrize("part", PARTS)
def test_a_function_takes_linear_time(part: int) -> None:
    for where, function, kinds in [*functions()][part :: len(PARTS)]:
        for family in TEXTS:
            for run in calls(function, kinds):
                said = grows_too_fast(run, family, MAX_FUNCTION_CHARS, QUICK_CALL_S)
                assert not said, f"{where}: {said}: {family}"


def test_there_are_patterns_and_functions_in_every_part() -> None:
    assert len(found_patterns()) > len(PARTS)
    assert len([*functions()]) > len(PARTS)


# --- what arrives at the most -----------------------------------------------------------------------

MAX_REPLY_CHARS = 600_000
"""Of a reply, whatever the server sends."""
MAX_OUTPUT_CHARS = 4 << 20
"""`SandboxPolicy.output_bytes`, for all outputs of one execution."""
MAX_VALUE_CHARS = 1 << 18
"""Of one value of the user's data; longer ones take as much longer."""
PIECE_CHARS, SHORT_REPLY_CHARS = 4, 1024 * 16
LARGEST_NAMESPACE = tuple(
    NamespaceEntry(
        name=f"v{at}",
        type_name="DataFrame",
        columns=tuple(f"{at}{'a' * (MAX_LABEL - 4)}" for at in range(MAX_LABELS)),
        dtypes=("str",) * MAX_LABELS,
    )
    for at in range(MAX_VARIABLES)
)


def read_reply(text: str) -> None:
    extract_code.cache_clear()
    extract_code(text)


def watch_reply(text: str) -> None:
    for end in range(PIECE_CHARS, len(text), PIECE_CHARS):
        is_enough(text[:end])


def correct_code(text: str) -> None:
    prompt = "population variance per month, as a table called late; is it 'normal' or 'not normal'?"
    correct(Program(code=text, copied=["df"], defined=["g"], prompt=prompt))


def explain_error(text: str) -> None:
    for name in ("KeyError", "NameError", "AttributeError"):
        failed = dataclasses.replace(error(text), ename=name)
        result = ExecutionResult(status="error", error=failed, namespace=LARGEST_NAMESPACE)
        find_hint(result)
        repair(Program(code="x = df['a']\nprint(x)\n", result=result))


def show_outputs(text: str) -> None:
    data = {"text/html": text[: 1 << 20], "text/plain": text[: 1 << 20]}
    cleaned = [
        clean_output("stream", {"name": "stdout", "text": text})[0],
        clean_output("display_data", {"data": data})[0],
    ]
    result = ExecutionResult(
        status="ok",
        outputs=tuple(output for output in cleaned if output is not None),
        namespace=LARGEST_NAMESPACE[:3],
    )
    prompt = "How many per month are normal? Say either 'yes' or 'no'."
    asked = Program(code="print(x)", prompt=prompt, result=result, issue="x")
    find_issue(asked)
    correct_result(asked)
    observe(result, "print(x)")
    found = findings(result)
    agree(found, found)


def describe_values(text: str) -> None:
    personal_kind(text, [text[:200]] * 200)
    looks_personal(text)
    secret_text(text)
    safe(text)
    masked(text[:8000], ())


A_MINUTE = pytest.mark.rare("a minute of processor time; that its functions take linear time is proved above")


@pytest.mark.parametrize(
    ("read", "chars"),
    [
        (read_reply, MAX_REPLY_CHARS),
        (watch_reply, SHORT_REPLY_CHARS),
        (correct_code, MAX_CODE_CHARS),
        pytest.param(explain_error, MAX_EVALUE, marks=A_MINUTE),
        pytest.param(show_outputs, MAX_OUTPUT_CHARS, marks=A_MINUTE),
        (describe_values, MAX_VALUE_CHARS),
    ],
    ids=lambda value: getattr(value, "__name__", ""),
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_the_most_that_can_arrive_is_read_in_seconds(read: Callable[[str], None], chars: int) -> None:
    for family in LARGE:
        assert seconds(read, family.text(chars), MAX_READ_S) < MAX_READ_S, family


MAX_READ_S = 8.0
"""Of processor time; the slowest take one or two."""
LARGE = [
    *(
        Family("", piece)
        for piece in ("a", "\n", " \n", "a\n", "0,", "a: ", "[]", "' ", "`", "</", "\x1b[", "a\r", "@", ":/", "é")
    ),
    *(
        Family("", piece)
        for piece in ("<think>", "<code>x = 1</code>\n", "```\n", "```python\nx = 1\n```\n", "```\n(\n```\nx\n")
    ),
    *(
        Family("", piece)
        for piece in ("x = 1\n", "@a\n", "x, y = a, b\n", "x.a().b()\n", '{"code":', ">>> a\n", "#\n", "a.", "-")
    ),
]
