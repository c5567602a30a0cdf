"""The grammar after a reply without a program: every program passes, what no program can be does not."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass, field

import pytest

from jupyter_codeagent.agent.reply import extract, fences
from jupyter_codeagent.agent.reply.grammar import grammar_after
from jupyter_codeagent.types.messages import Message
from jupyter_codeagent.types.run import Step

NO_PROGRAM = Step(index=1, messages=(Message(role="user", content="?"),), reply="I cannot do that.")
CONTINUED = grammar_after(NO_PROGRAM, prefilled=True)
WHOLE = grammar_after(NO_PROGRAM, prefilled=False)

_TOKEN = re.compile(
    r"""\s+|(?P<literal>"(?:[^"\\]|\\.)*")|(?P<letters>\[\^?(?:[^\]\\]|\\.)*\])|(?P<name>\w+)|(?P<sign>[()|*+?])"""
)
Rule = tuple[str, object]


@dataclass
class Gbnf:
    """As much of llama.cpp's grammar language as is needed, by sets of positions; one rule on each line."""

    rules: dict[str, Rule] = field(default_factory=dict)
    known: dict[tuple[int, int], frozenset[int]] = field(default_factory=dict)

    @classmethod
    def of(cls, text: str) -> Gbnf:
        grammar = cls()
        for line in text.strip().split("\n"):
            name, _, body = line.partition(" ::= ")
            tokens = [match for match in _TOKEN.finditer(body) if match.lastgroup]
            assert sum(len(match.group()) for match in _TOKEN.finditer(body)) == len(body), line
            grammar.rules[name], rest = grammar.choice(tokens)
            assert not rest, line
        return grammar

    def choice(self, tokens: list[re.Match[str]]) -> tuple[Rule, list[re.Match[str]]]:
        ways = []
        while True:
            parts: list[Rule] = []
            while tokens and tokens[0].group() not in ("|", ")"):
                part, tokens = self.part(tokens)
                while tokens and tokens[0].group() in ("*", "+", "?"):
                    part, tokens = (tokens[0].group(), part), tokens[1:]
                parts.append(part)
            ways.append(("sequence", parts))
            if not tokens or tokens[0].group() == ")":
                return ("choice", ways), tokens
            tokens = tokens[1:]

    def part(self, tokens: list[re.Match[str]]) -> tuple[Rule, list[re.Match[str]]]:
        first, rest = tokens[0], tokens[1:]
        if first.group() == "(":
            inner, rest = self.choice(rest)
            assert rest[0].group() == ")"
            return inner, rest[1:]
        if first.lastgroup == "literal":
            return ("literal", first.group()[1:-1].encode().decode("unicode_escape")), rest
        if first.lastgroup == "letters":
            return ("letters", re.compile(first.group().replace("[^()[", r"[^()\["))), rest
        return ("name", first.group()), rest

    def accepts(self, text: str) -> bool:
        self.known.clear()
        return len(text) in self.ends(self.rules["root"], text, 0)

    def ends(self, rule: Rule, text: str, at: int) -> frozenset[int]:
        """Positions behind what the rule matches from here."""
        key = (id(rule), at)
        if key not in self.known:
            self.known[key] = frozenset(self._ends(rule, text, at))
        return self.known[key]

    def _ends(self, rule: Rule, text: str, at: int) -> set[int]:
        match rule:
            case ("literal", str(word)):
                return {at + len(word)} if text.startswith(word, at) else set()
            case ("letters", re.Pattern() as letters):
                return {at + 1} if at < len(text) and letters.match(text, at) else set()
            case ("name", str(name)):
                return set(self.ends(self.rules[name], text, at))
            case ("choice", list(ways)):
                return {end for way in ways for end in self.ends(way, text, at)}
            case ("sequence", list(parts)):
                here = {at}
                for part in parts:
                    here = {end for start in here for end in self.ends(part, text, start)}
                return here
            case ("?", tuple(inner)):
                return {at, *self.ends(inner, text, at)}
            case (sign, tuple(inner)):
                reached: set[int] = set()
                fresh = {at}
                while fresh:
                    fresh = {end for start in fresh for end in self.ends(inner, text, start)} - reached
                    reached |= fresh
                return reached | ({at} if sign == "*" else set())
        raise AssertionError(rule)


PROGRAMS = [
    "print(df['a'].mean())",
    "x = 1  # it's a comment (with an open bracket\nprint(x)",
    "print(f\"{df['a'].mean():.2f} of {len(df)} rows\")",
    'text = """three "quoted" lines\nisn\'t it\n"""\nprint(text)',
    "a = '''x'''; b = ''; c = \"\"",
    "total = (df\n    .groupby('a')  # by 'a\n    .sum()\n)\ntotal",
    "def f(n):\n    return {\n        'a': [n, (1, 2)],\n    }\n\n\nf(3)",
    "path = 'a\\'b\\\\'\nprint(r'\\d+', path)",
    "x = 1 + \\\n    2\nprint(x)",
    "print('ü ≥ 3 `quoted`')  # `code`",
    "df.loc[df['a'] > 3, 'b'] = -1\ndf.query('`a b` > 3')",
]


@pytest.mark.parametrize("program", PROGRAMS)
def test_programs_pass_with_and_without_a_beginning_of_ours(program: str) -> None:
    assert Gbnf.of(CONTINUED).accepts(f"{program}\n```")
    assert Gbnf.of(WHOLE).accepts(f"```python\n{program}\n```")


@pytest.mark.parametrize("module", [fences, extract])
def test_whole_modules_of_this_package_pass(module: object) -> None:
    grammar = Gbnf.of(CONTINUED)
    for line_block in re.split(r"\n\n\n", inspect.getsource(module)):  # type: ignore[arg-type]
        assert grammar.accepts(f"{line_block}\n```"), line_block


@pytest.mark.parametrize(
    "text",
    [
        "It's not possible.\n```",
        "print(df['a'].mean()\n```",
        "print('a)\n```",
        "x = [1, 2)\n```",
        "print(1)\n",
        "print(1)",
        "```",
        "",
        "print(1)\n``` and more",
    ],
)
def test_what_no_program_can_be_does_not_pass(text: str) -> None:
    assert not Gbnf.of(CONTINUED).accepts(text)
    assert not Gbnf.of(WHOLE).accepts(f"```python\n{text}")


@pytest.mark.parametrize("text", ["I cannot do that.", "Sure:\n\n```python\nprint(1)\n```", "```\nprint(1)\n```"])
def test_without_a_beginning_of_ours_there_is_nothing_but_a_python_block(text: str) -> None:
    assert not Gbnf.of(WHOLE).accepts(text)


@pytest.mark.parametrize(
    ("step", "wanted"),
    [
        (None, False),
        (NO_PROGRAM, True),
        (Step(index=1, messages=(), reply="```python\nprint(1\n```"), True),
        (Step(index=1, messages=(), reply="```python\nprint(1)\n```", code="print(1)"), False),
        (Step(index=1, messages=(), reply="```python\nprint('\b')\n```", note="characters that hide"), False),
    ],
)
def test_it_is_asked_for_after_a_reply_without_a_program_only(step: Step | None, wanted: bool) -> None:
    assert bool(grammar_after(step, prefilled=True)) is wanted
