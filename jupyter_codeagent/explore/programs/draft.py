"""A program while it is written: free names, text of the data as literals only, columns as what they mean."""

from __future__ import annotations

import builtins
import re
from collections.abc import Collection, Iterable, Mapping
from keyword import iskeyword

from jupyter_codeagent.explore.names import slug
from jupyter_codeagent.explore.words import Words, digits_of, words
from jupyter_codeagent.sandbox.guard import one_line
from jupyter_codeagent.sandbox.guest.exploration.index_columns import UNNAMED
from jupyter_codeagent.types.charts import ChartLibrary
from jupyter_codeagent.types.exploration import OF_TWO_TABLES, ColumnOverview, Exploration, Finding, TableOverview

MOST_ROWS = {"pandas": 12, "polars": 10}
"""Longest table that is shown whole: polars cuts longer ones."""
MOST_SHOWN_COLUMNS = 7
MAX_COMMENT_CHARS = 300
MAX_LABEL_CHARS = 40
_IMPORTS = {
    "alt": "import altair as alt",
    "plt": "import matplotlib.pyplot as plt",
    "np": "import numpy as np",
    "pd": "import pandas as pd",
    "go": "import plotly.graph_objects as go",
    "pl": "import polars as pl",
    "datetime": "from datetime import datetime",
    "ConciseDateFormatter": "from matplotlib.dates import ConciseDateFormatter",
}
"""In the order of isort, but for the standard library, which comes first."""
_TEXT_TYPES = ("str", "object", "string", "String", "Utf8", "large_string")
ORDERED = "category ordered"
"""How the report calls categories of pandas that are texts and have an order."""
_NUMBER_WORD = re.compile(r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?|True|False")


class Draft:
    """The program of one finding."""

    def __init__(
        self,
        finding: Finding,
        exploration: Exploration,
        taken: Collection[str] = (),
        leave_out: Mapping[str, Collection[str]] | None = None,
        title: str = "",
        *,
        charts: ChartLibrary = "matplotlib",
    ) -> None:
        """Begin the program; without a `title` it has that of the finding."""
        self.charts = charts
        self.finding = finding
        self.exploration = exploration
        self.overview = exploration.overview(finding.table) or TableOverview(
            table=finding.table, library="pandas", rows=0
        )
        self.table = finding.table
        self.is_polars = self.overview.library == "polars"
        self.words = Words(line=title, title=title) if title else words(finding)
        self.digits = digits_of(finding)
        self.most = MOST_ROWS[self.overview.library]
        self.knows_levels = True
        """Whether the finding has the categories that are shown; else any text may be among them."""
        self._taken = {*taken, *(one.table for one in exploration.tables), finding.table}
        self._left_out = {*(leave_out or {}).get(finding.table, ())}
        self._blocks: list[str] = []
        if self.overview.labelled and finding.kind not in OF_TWO_TABLES | {"spelling"}:
            self.table = self.name("plain")
            self.write(f"{self.table} = {self.plain(finding.table)}")

    # names and literals

    def plain(self, table: str) -> str:
        """Return a table without an index that says something: its levels are columns if they were looked at.

        Others may be personal, and pandas groups by no column whose name the index has as well.
        """
        overview = self.exploration.overview(table)
        if overview is None or not overview.labelled:
            return table
        return with_index(overview) if overview.index else f"{table}.reset_index(drop=True)"

    def name(self, wanted: str) -> str:
        """Return a name for a new variable that hides none of the user's."""
        name = free_name(wanted, self._taken)
        self._taken.add(name)
        return name

    def by(self, place: int) -> str:
        """Return the name of a table by a column: ``by_carrier``."""
        return self.name(f"by_{slug(self.finding.columns[place], 'group')}")

    def col(self, place: int) -> str:
        """Return a column's name as a literal."""
        return literal(self.finding.columns[place])

    def cols(self, places: Iterable[int] | None = None) -> str:
        """Return columns' names as a list of literals."""
        chosen = range(len(self.finding.columns)) if places is None else places
        return f"[{', '.join(self.col(place) for place in chosen)}]"

    def label(self, wanted: str) -> str:
        """Return a name for a computed column that none of the table's columns has."""
        known = {*self.finding.columns, *(one.name for one in self.overview.columns)}
        while wanted in known:
            wanted += "_"
        return wanted

    def column(self, place: int) -> ColumnOverview:
        """Return what is known of a column."""
        return self.overview.column(self.finding.columns[place])

    def is_category(self, *places: int) -> bool:
        """Check whether one of the columns is a category of pandas."""
        return not self.is_polars and any(self.column(place).type.startswith("category") for place in places)

    def observed(self, *places: int) -> str:
        """Return the argument of `groupby` that leaves out categories without rows."""
        return ", observed=True" if self.is_category(*places) else ""

    def has_order(self, place: int) -> bool:
        """Check whether the categories of a column have an order of their own, in which libraries sort them."""
        stored = self.column(place).type.lower()
        return stored.startswith(("int", "uint", "float", "enum")) or stored == ORDERED

    def level(self, place: int, fact: str) -> str:
        """Return a category as a literal of the column's type."""
        text, stored = self.finding.text(fact), self.column(place).type.lower()
        if stored.startswith("bool") and text.lower() in {"true", "false"}:
            return str(text.lower() == "true")
        if _NUMBER_WORD.fullmatch(text) and stored.startswith(("int", "uint", "float", "double", "decimal")):
            number = float(text) if "float" in stored or "e" in text.lower() or "." in text else int(text)
            return literal(int(number) if "int" in stored and number == int(number) else number)
        return literal(text)

    def level_as_text(self, place: int, fact: str) -> str:
        """Return a category as both libraries write it once the column is cast to text: 7 of floats is ``7.0``."""
        text, stored = self.finding.text(fact), self.column(place).type.lower()
        if self.is_polars and stored.startswith("bool"):
            return text.lower()
        is_float = stored.startswith(("float", "double")) and _NUMBER_WORD.fullmatch(text)
        return str(float(text)) if is_float else text

    # conversions

    def rows(
        self,
        numbers: Iterable[int] = (),
        times: Iterable[int] = (),
        levels: Mapping[int, tuple[str, ...]] | None = None,
    ) -> str:
        """Return the table, or a new one in which the columns are what they mean: numbers, dates, text."""
        made: dict[int, str] = {}
        for place in numbers:
            if expression := self._as_number(place):
                made[place] = expression
        for place in times:
            if expression := self._as_time(place):
                made[place] = expression
        for place, facts in (levels or {}).items():
            if expression := self._as_level(place, facts):
                made[place] = expression
        if not made:
            return self.table
        name = self.name("rows")
        if self.is_polars:
            self.write(f"{name} = {self.table}.with_columns({', '.join(made.values())})")
        elif all(_is_keyword_name(self.finding.columns[place]) for place in made):
            named = ", ".join(f"{self.finding.columns[place]}={expression}" for place, expression in made.items())
            self.write(f"{name} = {self.table}.assign({named})")
        else:
            named = ", ".join(f"{self.col(place)}: {expression}" for place, expression in made.items())
            self.write(f"{name} = {self.table}.assign(**{{{named}}})")
        return name

    def _series(self, place: int) -> str:
        return f"pl.col({self.col(place)})" if self.is_polars else f"{self.table}[{self.col(place)}]"

    def _as_number(self, place: int) -> str:
        """Return the expression that makes numbers of a column; empty if it has them."""
        column, series = self.column(place), self._series(place)
        stored = column.type.lower()
        if read := self._number_in_text(place):
            return read
        if column.type == "object":  # Decimal, or integers of any size
            return f"{series}.astype(float)"
        if column.infinite and self.is_polars:
            return f"pl.when({series}.is_finite()).then({series})"
        if column.infinite:
            return f"{series}.astype(float).replace([np.inf, -np.inf], np.nan)"
        if self.is_polars:
            if stored.startswith(("bool", "decimal")):
                return f"{series}.cast(pl.Float64)"
            return f"{series}.fill_nan(None)" if stored.startswith("float") and column.missing else ""
        plain = re.fullmatch(r"u?int\d+|float\d+", column.type) or not column.type
        return "" if plain else f"{series}.astype(float)"

    def _number_in_text(self, place: int) -> str:
        """Return the expression that reads the numbers of a column of text; empty if it is none."""
        known = self._type_in_text(self.finding.columns[place]) if self.is_text(place) else None
        if known is None or known.text("meant") != "number":
            return ""
        mark, series, known_type = known.text("decimal") or ".", self._series(place), self.column(place).type
        if self.is_polars:
            point = '.str.replace(",", ".", literal=True)' if mark == "," else ""
            return f'{series}.str.replace_all(r"[^0-9{mark}eE+-]", ""){point}.cast(pl.Float64, strict=False)'
        point = '.str.replace(",", ".")' if mark == "," else ""
        digits = f'{series}.str.replace(r"[^0-9{mark}eE+-]", "", regex=True){point}'
        plain = ".astype(float)" if known_type.endswith("[pyarrow]") else ""  # there NaN is not missing
        return f'pd.to_numeric({digits}, errors="coerce"){plain}'

    def _as_time(self, place: int) -> str:
        """Return the expression that makes dates without time zone of a column; empty if it has them."""
        column, series = self.column(place), self._series(place)
        if self.is_text(place):
            wanted = self.date_format(self.finding.columns[place])
            if self.is_polars:
                arguments = f"{literal(wanted)}, strict=False" if wanted else "strict=False"
                return f"{series}.str.to_datetime({arguments})"
            how = f"format={literal(wanted)}, " if wanted else ""
            return f'pd.to_datetime({series}, {how}errors="coerce")'
        if re.match(r"u?int|float", column.type.lower()):  # years
            if self.is_polars:
                return f"pl.datetime({series}, 1, 1).alias({self.col(place)})"
            return f'pd.to_datetime({series}.astype("Int64").astype("string"), format="%Y")'
        if self.is_polars:
            zoned = "time_zone=" in column.type and "time_zone=None" not in column.type
            return f"{series}.dt.replace_time_zone(None)" if zoned else ""
        if column.type.startswith("datetime64") and "," in column.type:
            return f"{series}.dt.tz_localize(None)"
        if column.type.startswith("period"):
            return f"{series}.dt.start_time"
        return "" if column.type.startswith("datetime64") or not column.type else f"pd.to_datetime({series})"

    def _as_level(self, place: int, facts: tuple[str, ...]) -> str:
        """Return the expression that makes text of categories that may be numbers; empty if they need not."""
        column, series = self.column(place), self._series(place)
        if not self.is_polars and column.type.startswith("category["):
            return f'{series}.map(str, na_action="ignore")'
        if self.is_polars or column.type != "object":
            return ""
        if not any(_NUMBER_WORD.fullmatch(self.finding.text(fact)) for fact in facts):
            return ""
        return f'{series}.map(str, na_action="ignore")'

    def is_text(self, place: int) -> bool:
        """Check whether a column is stored as text."""
        return self.column(place).type.startswith(_TEXT_TYPES)

    def date_format(self, column: str) -> str:
        """Return how a column of text writes its dates; empty if that is not known."""
        known = self._type_in_text(column)
        return known.text("format") if known is not None and known.text("meant") == "date" else ""

    def _type_in_text(self, column: str) -> Finding | None:
        """Return the finding that says what the text of a column means."""
        findings = (one for one in self.exploration.findings if one.kind == "text_type")
        return next((one for one in findings if (one.table, one.columns) == (self.finding.table, (column,))), None)

    def shown_columns(self, computed: str = "") -> str:
        """Return the columns that rows are shown with: the finding's, the key, others; none that is left out.

        `computed` is a further one, which the program has made.
        """
        keys = self.overview.keys[0] if self.overview.keys else ()
        others = (one.name for one in self.overview.columns)
        names = dict.fromkeys((*self.finding.columns, *keys, *others))
        most = max(MOST_SHOWN_COLUMNS, len(self.finding.columns))
        shown = [name for name in names if name not in self._left_out][:most]
        return f"[{', '.join(map(literal, [*shown, *filter(None, [computed])]))}]"

    # text of the program

    def write(self, *lines: str) -> None:
        """Add lines that belong together; empty ones are left out."""
        self._blocks.append("\n".join(line for line in lines if line.strip()))

    def text(self) -> str:
        """Return the program: its title as a comment, imports of what it names, and the blocks."""
        body = "\n\n".join(self._blocks)
        # A string of the user's may hold such a word: a spare import does no harm.
        used = [line for name, line in _IMPORTS.items() if re.search(rf"(?<![\w.\"'])\b{name}\b(?=[.(])", body)]
        used.sort(key=lambda line: ("datetime" not in line or "matplotlib" in line, line.startswith("from")))
        comment = f"# {one_line(self.words.title, MAX_COMMENT_CHARS)}"
        head = "\n".join([comment, *used])
        return f"{head}\n\n{body}\n" if used else f"{head}\n{body}\n"


def free_name(wanted: str, taken: Collection[str]) -> str:
    """Return the name, with a number behind it if it is taken."""
    name, number = wanted, 1
    while name in taken or iskeyword(name) or hasattr(builtins, name):
        number += 1
        name = f"{wanted}_{number}"
    return name


def with_index(overview: TableOverview) -> str:
    """Return a pandas table with the levels of its index as columns."""
    named = f"names={literal(UNNAMED)}" if overview.index == (UNNAMED,) else ""
    return f"{overview.table}.reset_index({named})"


def literal(value: str | int | float | bool) -> str:
    """Return a value as Python writes it, text in double quotes where that needs no escapes."""
    if isinstance(value, str):
        plain = repr(value)
        if plain.startswith("'") and '"' not in value:
            return f'"{plain[1:-1]}"'
        return plain
    return repr(value)


def _is_keyword_name(name: str) -> bool:
    return re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", name) is not None and not iskeyword(name) and name != "self"
