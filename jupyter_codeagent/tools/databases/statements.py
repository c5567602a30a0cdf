"""A statement for a server, parsed by sqlglot: one query whose parts are all known to read.

The statement is sent in its own words, without comments, which a server may execute (``/*! … */``). Words that the
server could read differently from sqlglot are refused.

"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from jupyter_codeagent.tools.databases.functions import KNOWN, WORDS, names_of

MAX_CHARS = 20_000
DIALECTS = {"postgresql": "postgres", "mysql": "mysql", "mariadb": "mysql"}
"""Name of a dialect in SQLAlchemy -> in sqlglot."""
PARTS = names_of("""
    Select Subquery Union Except Intersect Values Table TableAlias TableSample From Join Lateral Where Group
    GroupingSets Rollup Cube Having Order Ordered Limit Offset Fetch LimitOptions With CTE Distinct Window
    WindowSpec Filter WithinGroup IgnoreNulls RespectNulls Alias Aliases Column Identifier Star Dot Literal Boolean
    Null Paren Tuple Var DataType DataTypeParam Interval Introducer Between In Is Not Neg EQ NEQ LT LTE GT GTE
    NullSafeEQ NullSafeNEQ Add Sub Mul Div IntDiv Mod DPipe BitwiseAnd BitwiseOr BitwiseXor BitwiseNot
    BitwiseLeftShift BitwiseRightShift Like ILike SimilarTo RegexpLike RegexpILike Escape Collate AtTimeZone Any All
    Bracket Slice Distance JSONExtract JSONExtractScalar JSONBExtract JSONBExtractScalar JSONPath JSONPathRoot
    JSONPathKey JSONPathSubscript JSONKeyValue JSONBContains ArrayContainsAll ArrayContainedBy ArrayOverlaps
""")
"""Node types of sqlglot that are allowed beside calls of functions, whose names are checked."""
ODD = re.compile(r"[^\x20-\x7e]|[$`'\"\\{}]")
"""Characters outside of quotes that are refused: other blanks and letters, quotes of another kind, escapes."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One checked query; its tables and words are still to be looked up in the database."""

    text: str
    """The statement without comments."""
    tables: frozenset[tuple[str, ...]]
    """Tables, each as its identifiers, as the server compares them; names of a WITH are among them."""
    words: frozenset[str]
    """All identifiers, likewise."""


def is_available() -> bool:
    """Check whether sqlglot is installed."""
    return find_spec("sqlglot") is not None


def checked(sql: str, dialect: str) -> Statement:
    """Return the statement, if it is a single query that only reads.

    Raises
    ------
    PermissionError
        It is more than one query, or has a part that is not known to read.
    """
    import sqlglot
    from sqlglot.errors import SqlglotError

    if len(sql) > MAX_CHARS:
        raise PermissionError(f"the statement has {len(sql):,} characters; {MAX_CHARS:,} are read")
    read = DIALECTS[dialect]
    try:
        text = _without_comments(sql, sqlglot.tokenize(sql, read=read), dialect)
        words = [token for token in sqlglot.tokenize(text, read=read) if token.token_type.name != "SEMICOLON"]
        trees = [tree for tree in sqlglot.parse(text, read=read) if tree is not None]
        nodes = [node for tree in trees for node in tree.walk()]
    except (SqlglotError, RecursionError) as problem:
        first = str(problem).split("\n")[0][:120]
        raise PermissionError(
            f"the statement cannot be read, so it is not run without approval: {first}"
        ) from problem
    _check_parts(trees, nodes)
    _check_functions(nodes, words, dialect)
    return Statement(
        text=text,
        tables=frozenset(_identifiers(node, dialect) for node in nodes if _is_named_table(node)),
        words=frozenset(_compared(word.text, _is_quoted(word), dialect) for word in words if _is_word(word)),
    )


def _without_comments(sql: str, words: Sequence[Any], dialect: str) -> str:
    """Return the statement as written, with the blanks between words, and one in place of a comment."""
    pieces: list[str] = []
    end = 0
    for word in words:
        between, written = sql[end : word.start], sql[word.start : word.end + 1]
        _check_word(word.token_type.name, written, dialect)
        pieces += [" " if between.strip(" \t\r\n") else between, written]
        end = word.end + 1
    return "".join(pieces).strip()


def _check_word(kind: str, written: str, dialect: str) -> None:
    """Raise PermissionError unless every server reads this as one word, too; prefixed strings are refused."""
    quotes = "'" if dialect == "postgresql" else "'\""
    is_text = kind == "STRING" and written[:1] in quotes
    is_name = kind == "IDENTIFIER" and written[:1] in '"`' and "\\" not in written
    if "\0" in written or not (is_text or is_name or ODD.search(written) is None):
        raise PermissionError(f"{written[:20]!r} is not allowed in a statement that is run without approval")


def _check_parts(trees: Sequence[Any], nodes: Sequence[Any]) -> None:
    from sqlglot import exp

    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values):
        kinds = ", ".join(type(tree).__name__.upper() for tree in trees) or "an empty statement"
        raise PermissionError(f"one query is allowed here, not {kinds[:60]}")
    for node in nodes:
        kind = type(node).__name__
        if kind not in PARTS and not isinstance(node, exp.Func):
            raise PermissionError(f"{kind} is not allowed in a query that is run without approval")
        if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.USERDEFINED:
            raise PermissionError(f"the type {node.sql()[:40]} may have code of its own, which needs approval")
        qualified = node.expression if isinstance(node, exp.Dot) else node.args.get("db") and node.this
        if isinstance(qualified, exp.Func):
            raise PermissionError(
                "functions are called by their names alone in a query that is run without approval"
            )


def _check_functions(nodes: Sequence[Any], words: Sequence[Any], dialect: str) -> None:
    """Check functions by the words before a parenthesis, and once more by the tree."""
    from sqlglot import exp

    called = Counter(
        word.text.lower()
        for word, following in pairwise(words)
        if following.token_type.name == "L_PAREN" and _is_word(word)
    )
    aliases = (node for node in nodes if isinstance(node, exp.TableAlias) and node.args.get("columns"))
    called.subtract(alias.name.lower() for alias in aliases)  # ``AS x(a, b)``
    names = {name for name, times in called.items() if times > 0}
    names |= {node.name.lower() for node in nodes if isinstance(node, exp.Anonymous)}
    if refused := sorted(names - KNOWN[dialect] - WORDS):
        raise PermissionError(f"{refused[0][:60]}() is not allowed in a query that is run without approval")


def _is_word(word: Any) -> bool:
    return _is_quoted(word) or (word.token_type.name != "STRING" and word.text.isidentifier())


def _is_quoted(word: Any) -> bool:
    return bool(word.token_type.name == "IDENTIFIER")


def _is_named_table(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier)


def _identifiers(table: Any, dialect: str) -> tuple[str, ...]:
    return tuple(_compared(part.name, bool(part.args.get("quoted")), dialect) for part in table.parts)


def _compared(name: str, quoted: bool, dialect: str) -> str:
    return name.lower() if dialect == "postgresql" and not quoted else name
