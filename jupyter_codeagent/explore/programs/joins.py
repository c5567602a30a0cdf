"""Programs for tables that join, by one column or by several together."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.draft import Draft, literal


def join(draft: Draft) -> None:
    """Write how many rows of the left table have a match in the right one."""
    right = draft.finding.text("right")
    many = len(draft.finding.columns) // 2
    left_keys, right_keys = range(many), range(many, 2 * many)
    partners, keys = draft.name("partners"), draft.name("keys")
    if draft.finding.columns[:many] == draft.finding.columns[many:]:
        on = f"on={_one_or_list(draft, left_keys)}"
    else:
        on = f"left_on={_one_or_list(draft, left_keys)}, right_on={_one_or_list(draft, right_keys)}"
    if draft.is_polars:
        matched = draft.name("matched")
        picked = ", ".join(_as_left(draft, right, place, place - many) for place in right_keys)
        draft.write(
            f"{keys} = {right}.select({picked}).drop_nulls()",
            f'{matched} = {draft.table}.join({keys}, {on}, how="semi").height',
            "pl.DataFrame({",
            f'    "rows of {draft.table}": [{draft.table}.height],',
            f'    "with a match": [{matched}],',
            f'    "with a match %": [round(100 * {matched} / {draft.table}.height, 1)],',
            f'    "rows that repeat a key": [{keys}.height - {keys}.n_unique()],',
            "})",
        )
        return
    draft.write(
        f"{keys} = {draft.plain(right)}[{draft.cols(right_keys)}].dropna()",
        f"{partners} = {draft.plain(draft.table)}[{draft.cols(left_keys)}].merge(",
        f'    {keys}.drop_duplicates(), {on}, how="left", indicator=True',
        ')["_merge"].eq("both")',
    )
    draft.write(
        "pd.DataFrame({",
        f'    "rows of {draft.table}": [len({partners})],',
        f'    "with a match": [{partners}.sum()],',
        f'    "with a match %": [round(100 * {partners}.mean(), 1)],',
        f'    "rows that repeat a key": [{keys}.duplicated().sum()],',
        "})",
    )


def _one_or_list(draft: Draft, places: range) -> str:
    return draft.col(places[0]) if len(places) == 1 else draft.cols(places)


def _as_left(draft: Draft, right: str, place: int, left_place: int) -> str:
    """Return a key for `select`, of the type that it has on the left where polars would not join the two."""
    name, key = draft.finding.columns[left_place], draft.finding.columns[place]
    overview = draft.exploration.overview(right)
    ours, theirs = draft.column(left_place).type, overview.column(key).type if overview else ""
    if ours == theirs or "" in (ours, theirs):
        return literal(key)
    return f"pl.col({literal(key)}).cast({draft.table}.schema[{literal(name)}], strict=False)"
