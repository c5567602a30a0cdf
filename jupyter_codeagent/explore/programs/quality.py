"""Programs for what is wrong with values and rows: the rows that show it, or the values that stand out."""

from __future__ import annotations

from collections.abc import Iterable

from jupyter_codeagent.explore.programs.charts import axis_name, draw, height_for, rounded_table
from jupyter_codeagent.explore.programs.colours import BLUE, VERMILION
from jupyter_codeagent.explore.programs.draft import MAX_LABEL_CHARS, Draft, literal
from jupyter_codeagent.explore.programs.forms import Bars, Histogram, Mark, Part
from jupyter_codeagent.explore.programs.pairs import spans_decades
from jupyter_codeagent.types.exploration import Finding

MOST_EXAMPLES = 10


def duplicates(draft: Draft) -> None:
    """Write how many rows repeat an earlier one, and the first of them beside each other."""
    keys = draft.cols() if draft.finding.columns else ""
    repeated, rows, count, shown = draft.name("repeated"), draft.table, draft.name("count"), draft.shown_columns()
    if keys:
        rows = draft.name("known")
        dropped = f"drop_nulls({keys})" if draft.is_polars else f"dropna(subset={keys})"
        draft.write(f"{rows} = {draft.table}.{dropped}")
    if draft.is_polars:
        whole = f"pl.struct({keys or 'pl.all()'})"
        draft.write(
            f"{repeated} = {rows}.filter({whole}.is_duplicated()).sort({keys or 'pl.all()'})",
            f"{count} = {rows}.height - {rows}.n_unique({f'subset={keys}' if keys else ''})",
        )
        first = f"{repeated}.select({shown})"
    else:
        draft.write(
            f"{repeated} = {rows}[{rows}.duplicated({f'{keys}, ' if keys else ''}keep=False)]",
            f"{count} = {rows}.duplicated({keys}).sum()",
        )
        first = f"{repeated}.sort_values({keys or shown})[{shown}]"
    draft.write(f'print(f"{{{count}:,}} of {{len({draft.table}):,}} rows")', f"{first}.head({MOST_EXAMPLES})")


def impossible(draft: Draft) -> None:
    """Write how many rows have the value, and the first of them."""
    column, wrong = draft.col(0), draft.name("wrong")
    rows = draft.rows(numbers=[0])
    value = draft.finding.facts.get("value")
    if draft.finding.text("why") == "negative":
        condition = "< 0"
    elif isinstance(value, str):
        condition = f"== {draft.level(0, 'value')}"
    else:
        condition = f"== {_short(draft.finding.number('value'))}"
    series = f"pl.col({column})" if draft.is_polars else f"{rows}[{column}]"
    draft.write(
        f"{wrong} = {_where(draft, rows, f'{series} {condition}')}",
        f'print(f"{{len({wrong}):,}} of {{len({rows}):,}} rows")',
    )
    shown = f".select({draft.shown_columns()})" if draft.is_polars else f"[{draft.shown_columns()}]"
    draft.write(f"{wrong}{shown}.head({MOST_EXAMPLES})")


def text_type(draft: Draft) -> None:
    """Write what the text reads as, and what cannot be read."""
    column, finding = draft.col(0), draft.finding
    text, read, other = draft.name("text"), draft.name("read"), draft.name("other")
    mark = finding.text("decimal") or "."
    dates, wanted = finding.text("meant") == "date", literal(finding.text("format"))
    if draft.is_polars:
        draft.write(f"{text} = {draft.table}[{column}].drop_nulls().str.strip_chars()")
        if dates:
            draft.write(
                f"{read} = {text}.str.to_datetime({wanted + ', ' if finding.text('format') else ''}strict=False)"
            )
        else:
            plain = f'{text}.str.replace_all(r"[^0-9{mark}eE+-]", "")'
            plain += '.str.replace(",", ".", literal=True)' if mark == "," else ""
            draft.write(f"{read} = {plain}.cast(pl.Float64, strict=False)")
        missing, values = f"{read}.is_null()", f"{text}.filter({read}.is_null())"
        counts = f"{other}.value_counts(sort=True).head({MOST_EXAMPLES})"
        examples = f'pl.DataFrame({{"text": {text}, "read": {read}}}).head({MOST_EXAMPLES})'
    else:
        kind = draft.column(0).type
        text_of = f"{draft.table}[{column}].dropna()" + ("" if kind.startswith("str") else ".astype(str)")
        draft.write(f"{text} = {text_of}.str.strip()")
        if dates:
            form = f"format={wanted}, " if finding.text("format") else ""
            draft.write(f'{read} = pd.to_datetime({text}, {form}errors="coerce")')
        else:
            plain = f'{text}.str.replace(r"[^0-9{mark}eE+-]", "", regex=True)'
            plain += '.str.replace(",", ".")' if mark == "," else ""
            draft.write(f'{read} = pd.to_numeric({plain}, errors="coerce")')
        missing, values = f"{read}.isna()", f"{text}[{read}.isna()]"
        counts = f"{other}.value_counts().head({MOST_EXAMPLES})"
        examples = f'pd.DataFrame({{"text": {text}, "read": {read}}}).head({MOST_EXAMPLES})'
    draft.write(f'print(f"{{100 * (1 - {missing}.mean()):.1f}} % can be read")')
    if finding.texts("other"):
        draft.write(f"{other} = {values}", counts)
    else:
        draft.write(examples)


def missing(draft: Draft) -> None:
    """Write the share of missing values of all columns that have some."""
    percents, n = draft.name("missing_percent"), draft.name("missing")
    table = draft.table
    if draft.is_polars:
        draft.write(
            f'{n} = {table}.null_count().unpivot(variable_name="column", value_name="missing")',
            f'{n} = {n}.filter(pl.col("missing") > 0).sort("missing", descending=True).head({draft.most})',
            f'{percents} = {n}.with_columns((100 * pl.col("missing") / len({table})).round(1).alias("missing %"))',
        )
    else:
        draft.write(
            f"{n} = {table}.isna().sum().sort_values(ascending=False).head({draft.most})",
            f'{percents} = pd.DataFrame({{"missing": {n}, "missing %": (100 * {n} / len({table})).round(1)}})',
            f'{percents} = {percents}[{percents}["missing"] > 0]',
        )
    cut = _cut([one.name for one in draft.overview.columns])
    lacking = sum(one.missing > 0 for one in draft.overview.columns)
    names = f'{percents}["column"]{cut}' if draft.is_polars else f"{percents}.index{cut}"
    draw(
        draft,
        Bars(labels=names, values=f'{percents}["missing %"]', rows=lacking, first_on_top=True),
        x="% of rows without a value",
        y="column",
        n=f"len({table})",
        height=height_for(min(lacking or 6, draft.most)),
    )
    draft.write(percents)


def _cut(names: Iterable[str]) -> str:
    """Return the call that makes long names short enough for an axis; empty if there are none."""
    if all(len(name) <= MAX_LABEL_CHARS for name in names):
        return ""
    return f".str.slice(0, {MAX_LABEL_CHARS})"


def missing_together(draft: Draft) -> None:
    """Write which of the columns are missing in the same rows."""
    patterns, columns = draft.name("patterns"), draft.cols()
    lacking = draft.name("lacking")
    if draft.is_polars:
        draft.write(
            f"{lacking} = {draft.table}.select({columns}).select(pl.all().is_null())",
            f'{patterns} = {lacking}.group_by(pl.all()).len(name="rows_").sort("rows_", descending=True)'.replace(
                "rows_", draft.label("rows")
            ),
        )
        shares = draft.name("shares")
        draft.write(
            f'{shares} = {lacking}.select(pl.all().mean() * 100).unpivot(variable_name="column", value_name="%")',
            f'{shares} = {shares}.sort("%", descending=True)',
        )
        share, names = f'{shares}["%"]', f'{shares}["column"]{_cut(draft.finding.columns)}'
    else:
        draft.write(
            f"{lacking} = {draft.table}[{columns}].isna()",
            f"{patterns} = {lacking}.value_counts().rename({literal(draft.label('rows'))}).reset_index()",
        )
        share = draft.name("shares")
        draft.write(f"{share} = 100 * {lacking}.mean().sort_values(ascending=False)")
        names = f"{share}.index{_cut(draft.finding.columns)}"
    draw(
        draft,
        Bars(labels=names, values=share, rows=len(draft.finding.columns), first_on_top=True),
        x="% of rows without a value",
        y="column",
        n=f"len({lacking})",
        height=height_for(len(draft.finding.columns)),
    )
    draft.write(f"{patterns}.head({MOST_EXAMPLES})")


def outliers(draft: Draft) -> None:
    """Write the distribution with the values that lie far out."""
    values, far = _write_values(draft), draft.name("is_far")
    finding = draft.finding
    sides = [
        f"({values} {sign} {literal(finding.number(fact))})"
        for fact, sign in (("low", "<"), ("high", ">"))
        if finding.has(fact)
    ] or [f"({values} > {literal(finding.number('highest'))})"]
    draft.write(f"{far} = {' | '.join(sides)}  # three distances of the quartiles away, or more")
    _draw_far(draft, values, far, axis_name(draft, 0), log=spans_decades(finding))
    frame = "pl" if draft.is_polars else "pd"
    draft.write(
        f"{frame}.DataFrame({{",
        f'    "far out": [{far}.sum()],',
        f'    "lowest": [round({values}.min(), {draft.digits})],',
        f'    "median": [round({values}.median(), {draft.digits})],',
        f'    "highest": [round({values}.max(), {draft.digits})],',
        "})",
    )


def _draw_far(draft: Draft, values: str, far: str, x: str, *, log: bool) -> None:
    """Draw how values are distributed, those that lie far out in another colour."""
    parts = (
        Part(values=_where(draft, values, f"~{far}"), colour=BLUE, label="usual"),
        Part(values=_where(draft, values, far), colour=VERMILION, label="far out"),
    )
    draw(
        draft,
        Histogram(values=values, parts=parts, log=log, log_rows=True),
        x=x,
        y="rows",
        n=f"len({values})",
    )


def ratio(draft: Draft) -> None:
    """Write how the ratio of two numbers is distributed, and the rows in which it is far from all others."""
    rows, large, small, digits = draft.rows(numbers=[0, 1]), draft.col(0), draft.col(1), draft.digits
    positive, ratios, far = draft.name("positive"), draft.name("ratio"), draft.name("is_far")
    label = draft.label("ratio")
    series = "pl.col({})" if draft.is_polars else f"{rows}[{{}}]"
    condition = f"({series.format(large)} > 0) & ({series.format(small)} > 0)"
    draft.write(
        f"{positive} = {_where(draft, rows, condition)}",
        f"{ratios} = {positive}[{large}] / {positive}[{small}]",
        f"{far} = {ratios} > {_short(draft.finding.number('limit'))}",
    )
    _draw_far(draft, ratios, far, f"{axis_name(draft, 0)} / {axis_name(draft, 1)}", log=True)
    median = f"round({ratios}.median(), {digits})"
    draft.write(f'print(f"{{{far}.sum():,}} of {{len({ratios}):,}} rows; the median is {{{median}:,}}")')
    shown, name, wrong = draft.shown_columns(label), literal(label), draft.name("wrong")
    if draft.is_polars:
        draft.write(
            f"{wrong} = {positive}.with_columns({ratios}.round({digits}).alias({name})).filter({far})",
            f"{wrong}.select({shown}).sort({name}, descending=True).head({MOST_EXAMPLES})",
        )
    else:
        draft.write(
            f"{wrong} = {positive}.assign({label}={ratios}.round({digits}))[{far}]",
            f"{wrong}[{shown}].sort_values({name}, ascending=False).head({MOST_EXAMPLES})",
        )


def _where(draft: Draft, values: str, condition: str) -> str:
    """Return the expression for the rows or values that meet a condition."""
    return f"{values}.filter({condition})" if draft.is_polars else f"{values}[{condition}]"


def _short(number: float) -> str:
    """Return a number as a literal, a whole one without a point."""
    return literal(int(number) if number == int(number) else number)


def _write_values(draft: Draft) -> str:
    """Write the numbers of a column, without those that were found to be impossible."""
    rows, values = draft.rows(numbers=[0]), draft.name("values")
    without = ""
    for one in draft.exploration.findings:
        if one.kind == "impossible" and one.table == draft.table and one.columns == draft.finding.columns:
            without = _possible(one)
    series = f"{rows}[{draft.col(0)}]"
    if draft.is_polars:
        draft.write(
            f"{values} = {series}.drop_nulls()",
            f"{values} = {values}.filter({values} {without})" if without else "",
        )
    else:
        draft.write(f"{values} = {series}.dropna()", f"{values} = {values}[{values} {without}]" if without else "")
    return values


def _possible(finding: Finding) -> str:
    if finding.text("why") == "negative":
        return ">= 0"
    return "" if finding.text("value") else f"!= {literal(finding.number('value'))}"


def skew(draft: Draft) -> None:
    """Write the distribution with mean and median."""
    values = _write_values(draft)
    marks = (
        Mark(value=f"{values}.median()", label="median"),
        Mark(value=f"{values}.mean()", label="mean", dashed=True),
    )
    parts = (Part(values=values, colour=BLUE),)
    draw(
        draft,
        Histogram(values=values, parts=parts, marks=marks, log=spans_decades(draft.finding)),
        x=axis_name(draft, 0),
        y="rows",
        n=f"len({values})",
    )
    frame = "pl" if draft.is_polars else "pd"
    table = f'{frame}.DataFrame({{"mean": [{values}.mean()], "median": [{values}.median()]}})'
    draft.write(rounded_table(draft, table, ('"mean"', '"median"')))
