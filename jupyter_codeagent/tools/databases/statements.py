"""The SQL check: what code writes is one query, read by sqlglot, whose parts and functions are all known to read.

The same for every database: SQLite, DuckDB, PostgreSQL, MySQL, MariaDB, Spark and Polars. Behind it each has a wall
of its own, an authorizer, a parser, a read-only transaction. The statement is sent in its own words, without
comments, which a server may execute (``/*! … */``). Words that the database could read differently are refused.

"""

from __future__ import annotations

import re
import sqlite3
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from jupyter_codeagent.tools.databases.functions import CATALOGS, KNOWN, WORDS, names_of
from jupyter_codeagent.tools.databases.sizes import check_sizes
from jupyter_codeagent.types.errors import UsageError

MAX_CHARS = 20_000
MAX_DEPTH = 200
"""Levels of an expression: Polars ends its process at some thousands (``1+1+…``), and takes minutes at 800 ANDs."""
DIALECTS = {
    "postgresql": "postgres",
    "mysql": "mysql",
    "mariadb": "mysql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
    "spark": "spark",
    "polars": "postgres",
}
"""Name of a dialect in SQLAlchemy -> in sqlglot."""
TITLES = {
    "duckdb": "DuckDB",
    "sqlite": "SQLite",
    "postgresql": "PostgreSQL",
    "mysql": "MySQL",
    "mariadb": "MariaDB",
    "spark": "Spark",
    "polars": "Polars",
}
OF_MYSQL = {
    "Filter": "FILTER: write SUM(CASE WHEN … THEN 1 ELSE 0 END)",
    "GroupingSets": "GROUPING SETS: write UNION ALL",
    "Rollup": "ROLLUP (…): write GROUP BY a WITH ROLLUP",
    "Cube": "CUBE: write UNION ALL",
    "ILike": "ILIKE: LIKE ignores case",
    "NullSafeNEQ": "IS DISTINCT FROM: write NOT a <=> b",
    "Median": "MEDIAN of a group: write SELECT DISTINCT a, MEDIAN(x) OVER (PARTITION BY a)",
    "WithinGroup": "PERCENTILE of a group: write SELECT DISTINCT a, PERCENTILE_CONT(0.5) WITHIN GROUP (ORDER BY x) "
    "OVER (PARTITION BY a)",
}
LACKING = {
    "sqlite": {
        "Fetch": "FETCH: write LIMIT 3",
        "IgnoreNulls": "IGNORE NULLS",
        "GroupingSets": "GROUPING SETS: write UNION ALL",
        "Rollup": "ROLLUP: write UNION ALL",
        "Cube": "CUBE: write UNION ALL",
        "Lateral": "LATERAL",
        "Interval": "INTERVAL: write date(day, '+7 days')",
        "Extract": "EXTRACT: write strftime('%Y', day)",
        "ILike": "ILIKE: LIKE ignores case",
        "SimilarTo": "SIMILAR TO",
        "Any": "ANY",
        "All": "ALL",
        "AtTimeZone": "AT TIME ZONE",
        "Left": "LEFT(): write substr(x, 1, 2)",
        "Right": "RIGHT(): write substr(x, -2)",
        **({"WithinGroup": "WITHIN GROUP"} if sqlite3.sqlite_version_info < (3, 47) else {}),
    },
    "mysql": OF_MYSQL,
    "mariadb": OF_MYSQL,
}
"""Parts that a database does not know: its own error would name the word behind them, or it reads a name there."""
IN_WINDOWS = names_of("Median WithinGroup")
"""Those that MariaDB knows in windows."""
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
MORE_PARTS = {
    "sqlite": names_of("Glob"),
    "postgresql": names_of("Overlaps Kwarg"),
    "duckdb": names_of("""
        Glob Qualify Comprehension Lambda PropertyEQ PositionalColumn Summarize Describe Pivot PivotAlias
    """),
    "spark": names_of("Lambda PropertyEQ Qualify Pivot PivotAlias"),
    "polars": names_of("Qualify"),
}
"""Those of one dialect."""
FIRST_WORDS = names_of("select with values from")
FIRST_OF_DUCKDB = names_of("summarize describe")
"""Statements of DuckDB that are allowed where all its tables may be read."""
PIVOTS = names_of("pivot unpivot")
"""Statements of DuckDB that look into the rows for the columns that they make."""
FIRST_OF_PROGRAMS = names_of("from")
"""In Spark such a statement may pass rows to a program: ``FROM trips MAP city USING 'cat'``."""
WITHOUT_PARENTHESES = names_of("CurrentDate CurrentTime CurrentTimestamp Localtime Localtimestamp")
"""Functions that are called without parentheses and compute."""
REFUSED_WORDS = names_of("""
    table current_user current_role current_catalog current_schema session_user system_user user
""")
"""Unquoted words that read a table without FROM (``IN (TABLE people)``), or the session; `user` not in MySQL and
SQLite, where it is a name like any other."""
COLLATIONS_OF_SQLITE = names_of("binary nocase rtrim")
"""Its own: others are functions of the user's, of which its authorizer does not hear."""
NAMES_OF_USERS = frozenset({"mysql", "mariadb", "sqlite"})
CLOSING = frozenset({"R_PAREN", "R_BRACKET", "R_BRACE"})
ODD = re.compile(r"[^\x20-\x7e]|[$`'\"\\{}]")
"""Characters outside of quotes that are refused: other blanks and letters, quotes of another kind, escapes."""
ODD_OUTSIDE_DUCKDB = re.compile(r"[^\x20-\x7e]|[$`'\"\\]")
"""The same for DuckDB, whose structs have braces: ``{'a': 1}``."""


@dataclass(frozen=True, kw_only=True)
class Statement:
    """One checked query; its tables and words are still to be looked up in the database."""

    text: str
    """The statement without comments."""
    tables: frozenset[tuple[str, ...]]
    """Tables, each as its identifiers, as the database compares them; names of a WITH are among them."""
    outer: frozenset[tuple[str, ...]]
    """Those of `tables` that no WITH around them defines."""
    named: frozenset[str]
    """Names that a WITH defines."""
    words: frozenset[str]
    """All identifiers, likewise."""


def is_available() -> bool:
    """Check whether sqlglot is installed."""
    return find_spec("sqlglot") is not None


def require_sqlglot(what: str) -> None:
    """Raise UsageError unless sqlglot is installed; `what` is the option that needs it."""
    if not is_available():
        raise UsageError(
            f"{what}: each query is read before it is run, for which sqlglot is missing: `pip install sqlglot` "
            "(the extra jupyter-codeagent[sql])."
        )


def checked(sql: str, dialect: str, *, own: frozenset[str] = frozenset(), with_catalogs: bool = True) -> Statement:
    """Return the statement, if it is a single query that only reads.

    Parameters
    ----------
    own
        Functions that are allowed beside those of the list: the caller checks what they do.
    with_catalogs
        Whether the functions that list tables and columns may be called.

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
        _check_first_word(words, dialect, with_catalogs=with_catalogs)
        trees = [tree for tree in sqlglot.parse(text, read=read) if tree is not None]
        nodes = [node for tree in trees for node in tree.walk()]
    except (SqlglotError, RecursionError) as problem:
        first = str(problem).split("\n")[0][:120]
        raise PermissionError(f"the statement cannot be read, so it is not run: {first}") from problem
    _check_depth(nodes)
    _check_dots(words)
    _check_parts(trees, nodes, dialect)
    _check_functions(nodes, words, KNOWN[dialect] | WORDS | own | (CATALOGS if with_catalogs else frozenset()))
    check_sizes(nodes, dialect)
    tables = [node for node in nodes if _is_named_table(node)]
    return Statement(
        text=text,
        tables=frozenset(_identifiers(table, dialect) for table in tables),
        outer=frozenset(_identifiers(table, dialect) for table in tables if not _is_defined(table, dialect)),
        named=frozenset(
            name for node in nodes if type(node).__name__ == "With" for name in _names_of_with(node, dialect)
        ),
        words=frozenset(_compared(word.text, _is_quoted(word), dialect) for word in words if _is_word(word)),
    )


def names_of_with(sql: str, dialect: str) -> frozenset[str]:
    """Return the names that a query's own parts have; `sql` is the user's."""
    import sqlglot
    from sqlglot import exp

    tree = sqlglot.parse_one(sql, read=DIALECTS[dialect])
    return frozenset(_compared(one.alias, False, dialect) for one in tree.find_all(exp.CTE))


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
    """Raise PermissionError unless every database reads this as one word, too; prefixed strings are refused."""
    quotes = "'\"" if dialect in ("mysql", "mariadb") else "'"
    odd = ODD_OUTSIDE_DUCKDB if dialect == "duckdb" else ODD
    is_text = kind == "STRING" and written[:1] in quotes
    is_name = kind == "IDENTIFIER" and written[:1] in '"`' and "\\" not in written
    if kind == "PIPE_GT":
        raise PermissionError("|> is not allowed here: write SELECT … FROM …")
    if dialect == "spark" and "${" in written:
        raise PermissionError("'${' is not allowed here: Spark puts settings in its place, also in text")
    if "\0" in written or not (is_text or is_name or odd.search(written) is None):
        raise PermissionError(f"{written[:20]!r} is not allowed here: write the query in plain SQL")
    is_refused = kind not in ("STRING", "IDENTIFIER") and written.lower() in REFUSED_WORDS
    if is_refused and not (written.lower() == "user" and dialect in NAMES_OF_USERS):
        raise PermissionError(f"{written.upper()} is not allowed here: query the tables")


def _check_first_word(words: Sequence[Any], dialect: str, *, with_catalogs: bool) -> None:
    """Raise PermissionError for what does not begin like a query, before sqlglot logs that it does not know it."""
    first = next((word.text.lower() for word in words if word.token_type.name != "L_PAREN"), "")
    allowed = FIRST_WORDS | (FIRST_OF_DUCKDB if dialect == "duckdb" and with_catalogs else frozenset())
    allowed -= FIRST_OF_PROGRAMS if dialect == "spark" else frozenset()
    if first in PIVOTS:
        written = "PIVOT (SUM(x) FOR kind IN ('a', 'b'))" if first == "pivot" else "UNPIVOT (x FOR kind IN (a, b))"
        raise PermissionError(f"{first.upper()} stands behind a table here: … FROM trips {written}")
    if first not in allowed:
        raise PermissionError(f"one query is allowed here, not {first[:20].upper() or 'an empty statement'}")


def _check_depth(nodes: Sequence[Any]) -> None:
    """Raise PermissionError for deep nesting; sqlglot reads long chains of operators without recursion."""
    depth: dict[int, int] = {}
    for node in nodes:  # parents come first
        depth[id(node)] = depth.get(id(node.parent), 0) + 1
    if (deepest := max(depth.values(), default=0)) > MAX_DEPTH:
        raise PermissionError(
            f"the statement is nested {deepest:,} levels deep; {MAX_DEPTH} are read: write x IN (1, 2, …) for many "
            "conditions"
        )


def _check_dots(words: Sequence[Any]) -> None:
    """Raise PermissionError for a dot without a name before it: ``.people`` is a table of MySQL's database."""
    from sqlglot.parser import Parser

    for before, word, after in zip([None, *words], words, [*words[1:], None], strict=False):
        if word.token_type.name != "DOT" or _is_fraction(word, after):
            continue
        is_name = before is not None and (_is_quoted(before) or before.token_type in Parser.ID_VAR_TOKENS)
        if not is_name and (before is None or before.token_type.name not in CLOSING):
            raise PermissionError("a name is needed before a dot")


def _is_fraction(dot: Any, after: Any) -> bool:
    """Check for ``.5``; nowhere is a name of digits alone."""
    return after is not None and after.start == dot.end + 1 and after.text.isdecimal() and not _is_quoted(after)


def _check_parts(trees: Sequence[Any], nodes: Sequence[Any], dialect: str) -> None:
    from sqlglot import exp

    if len(trees) != 1 or not isinstance(trees[0], exp.Query | exp.Values | exp.Summarize | exp.Describe):
        kinds = ", ".join(type(tree).__name__.upper() for tree in trees) or "an empty statement"
        raise PermissionError(f"one query is allowed here, not {kinds[:60]}")
    parts = PARTS | MORE_PARTS.get(dialect, frozenset())
    for node in nodes:
        _check_part(node, parts, dialect)


def _check_part(node: Any, parts: frozenset[str], dialect: str) -> None:
    from sqlglot import exp

    kind = type(node).__name__
    if lacking := _lacking(node, dialect):
        raise PermissionError(f"{TITLES[dialect]} has no {lacking}")
    if kind not in parts and not isinstance(node, exp.Func):
        raise PermissionError(f"{kind} is not allowed here")
    if isinstance(node, exp.DataType) and node.this == exp.DataType.Type.USERDEFINED:
        raise PermissionError(f"the type {node.sql()[:40]} may have code of its own, which is not allowed here")
    if dialect == "sqlite" and isinstance(node, exp.Collate):
        collation = node.expression.name.lower()
        if collation not in COLLATIONS_OF_SQLITE:
            raise PermissionError(f"the collation {collation[:40]} is not allowed here: it is none of SQLite's")
    if isinstance(node, exp.In) and node.args.get("field") is not None:
        raise PermissionError("IN without parentheses is not allowed here: write IN (SELECT …)")
    if isinstance(node, exp.Pivot) and not _is_written_out(node):
        raise PermissionError("PIVOT is allowed here with its columns as written: … FOR kind IN ('a', 'b'))")
    qualified = node.expression if isinstance(node, exp.Dot) else node.args.get("db") and node.this
    if isinstance(qualified, exp.Func):
        raise PermissionError("functions are called by their names alone here")


def _lacking(node: Any, dialect: str) -> str:
    """Return what of this part the database does not have, and what to write; '' if it has it."""
    from sqlglot import exp

    kind = type(node).__name__
    if dialect not in LACKING:
        return ""
    if isinstance(node, exp.Distinct) and node.args.get("on"):
        return "DISTINCT ON: write ROW_NUMBER() OVER (PARTITION BY …)"
    if isinstance(node, exp.Join) and node.side == "FULL" and dialect != "sqlite":
        return "FULL JOIN, it would read FULL as a name: write LEFT JOIN … UNION … RIGHT JOIN"
    is_with_rollup = kind == "Rollup" and not node.expressions
    if is_with_rollup or (kind in IN_WINDOWS and dialect == "mariadb" and node.find_ancestor(exp.Window)):
        return ""
    return LACKING[dialect].get(kind, "")


def _is_written_out(pivot: Any) -> bool:
    """Check that a pivot says which columns it makes: it does not look for them in rows, of which table ever."""
    from sqlglot import exp

    fields = pivot.args.get("fields") or ()
    return bool(fields) and all(
        isinstance(field, exp.In) and field.expressions and field.find(exp.Query, exp.Func, exp.Star) is None
        for field in fields
    )


def _check_functions(nodes: Sequence[Any], words: Sequence[Any], allowed: frozenset[str]) -> None:
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
    names |= {type(node).__name__ for node in nodes if _tells_of_session(node)}
    if refused := sorted(names - allowed):
        raise PermissionError(f"{refused[0][:60]}() is not allowed here: it is not on the list of functions")


def _tells_of_session(node: Any) -> bool:
    """Check for functions such as CURRENT_USER, which are called without parentheses."""
    kind = type(node).__name__
    return kind.startswith(("Current", "Session")) and kind not in WITHOUT_PARENTHESES


def _is_word(word: Any) -> bool:
    return _is_quoted(word) or (word.token_type.name != "STRING" and word.text.isidentifier())


def _is_quoted(word: Any) -> bool:
    return bool(word.token_type.name == "IDENTIFIER")


def _is_named_table(node: Any) -> bool:
    from sqlglot import exp

    return isinstance(node, exp.Table) and isinstance(node.this, exp.Identifier | exp.Dot)


def _is_defined(table: Any, dialect: str) -> bool:
    """Check whether a WITH of a query around the table defines its name before it is used there."""
    name = _identifiers(table, dialect)
    if len(name) != 1:
        return False
    inner, around = table, table.parent
    while around is not None:
        if type(around).__name__ == "With":
            # In a definition: those before it, and with RECURSIVE the definition itself.
            position = next(at for at, one in enumerate(around.expressions) if one is inner)
            visible = around.expressions[: position + bool(around.args.get("recursive"))]
            if name[0] in {_alias(one, dialect) for one in visible}:
                return True
        elif (defined := _with_of(around)) is not inner and defined is not None:
            defines = name[0] in _names_of_with(defined, dialect)
            if defines:
                return True
        inner, around = around, around.parent
    return False


def _with_of(query: Any) -> Any:
    return query.args.get("with_") or query.args.get("with")  # before sqlglot 28


def _names_of_with(defined: Any, dialect: str) -> list[str]:
    return [_alias(one, dialect) for one in defined.expressions]


def _alias(definition: Any, dialect: str) -> str:
    name = definition.args["alias"].this
    return _compared(name.name, bool(name.args.get("quoted")), dialect)


def _identifiers(table: Any, dialect: str) -> tuple[str, ...]:
    return tuple(_compared(part.name, bool(part.args.get("quoted")), dialect) for part in table.parts)


def _compared(name: str, quoted: bool, dialect: str) -> str:
    if dialect in ("sqlite", "duckdb", "spark", "polars"):
        return name.lower()
    return name.lower() if dialect == "postgresql" and not quoted else name
