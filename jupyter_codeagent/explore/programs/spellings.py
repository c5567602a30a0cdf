"""Programs for values and keys that are written in several ways: each way, and how many rows have it."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.draft import Draft, literal

MOST_EXAMPLES = 10
SEPARATORS = r"[\s_./-]+"


def spelling(draft: Draft) -> None:
    """Write the spellings of each value that has several."""
    texts, ways, other = draft.name("texts"), draft.name("spellings"), draft.name("other")
    draft.write(f"{texts} = {_texts(draft, draft.finding.table, 0)}")
    if draft.is_polars:
        draft.write(
            f'{ways} = pl.DataFrame({{"value": {texts}.str.strip_chars().str.to_lowercase(), "written": {texts}}})',
            f'{ways} = {ways}.group_by(pl.all()).len("rows").filter(pl.col("value").is_duplicated())',
            f'{ways} = {ways}.sort("value", "rows", "written", descending=[False, True, False])',
            f'{other} = {ways}.filter(~pl.col("value").is_first_distinct())["rows"].sum()',
        )
    else:
        draft.write(
            f'{ways} = pd.DataFrame({{"value": {texts}.str.strip().str.lower(), "written": {texts}.map(repr)}})',
            f'{ways} = {ways}.value_counts().rename("rows").reset_index()',
            f'{ways} = {ways}[{ways}.duplicated("value", keep=False)]',
            f'{ways} = {ways}.sort_values(["value", "rows"], ascending=[True, False])',
            f'{other} = {ways}.loc[{ways}.duplicated("value"), "rows"].sum()',
        )
    draft.write(
        f'print(f"{{{other}:,}} of {{len({draft.finding.table}):,}} rows have another spelling than most")',
        f"{ways}.head({MOST_EXAMPLES})",
    )


def key_spelling(draft: Draft) -> None:
    """Write which keys are found in the other table once both are written alike."""
    left, right = draft.finding.table, draft.finding.text("right")
    rows, keys, near = draft.name("rows"), draft.name("keys"), draft.name("near")
    key, count = (_label(wanted, left, right) for wanted in ("key", "rows"))
    ours, theirs = literal(left), literal(right)
    frame = "pl" if draft.is_polars else "pd"
    draft.write(
        f"{rows} = {frame}.DataFrame({{{ours}: {_texts(draft, left, 0)}}})",
        f"{keys} = {frame}.DataFrame({{{theirs}: {_texts(draft, right, 1)}}})",
    )
    if draft.is_polars:
        plain = f'.str.to_lowercase().str.replace_all(r"{SEPARATORS}", "")'
        draft.write(
            f'{rows} = {rows}.join({keys}, left_on={ours}, right_on={theirs}, how="anti")',
            f"{rows} = {rows}.with_columns({key}=pl.col({ours}){plain})",
            f"{keys} = {keys}.with_columns({key}=pl.col({theirs}){plain})",
            f'{near} = {rows}.join({keys}.unique("{key}", keep="first"), on="{key}")',
        )
        shown = f'{near}.group_by(pl.all()).len("{count}").sort("{count}", {ours}, descending=[True, False])'
    else:
        plain = f'.str.lower().str.replace(r"{SEPARATORS}", "", regex=True)'
        draft.write(
            f"{rows} = {rows}[~{rows}[{ours}].isin({keys}[{theirs}])]",
            f"{rows} = {rows}.assign({key}={rows}[{ours}]{plain})",
            f"{keys} = {keys}.assign({key}={keys}[{theirs}]{plain})",
            f'{near} = {rows}.merge({keys}.drop_duplicates("{key}"), on="{key}")',
        )
        shown = f'{near}.value_counts().rename("{count}").reset_index()'
    draft.write(
        f'print(f"{{len({near}):,}} of {{len({left}):,}} rows match once both are written alike")',
        f"{shown}.head({MOST_EXAMPLES})",
    )


def _texts(draft: Draft, table: str, place: int) -> str:
    """Return a column as text, without missing values."""
    column = draft.finding.columns[place]
    overview = draft.exploration.overview(table)
    stored = overview.column(column).type if overview is not None else ""
    series = f"{draft.plain(table)}[{literal(column)}]"
    if draft.is_polars:
        return f"{series}.drop_nulls()" + ("" if stored.startswith("String") else ".cast(pl.String)")
    return f"{series}.dropna()" + ("" if stored.startswith("str") else ".astype(str)")


def _label(wanted: str, *taken: str) -> str:
    while wanted in taken:
        wanted += "_"
    return wanted
