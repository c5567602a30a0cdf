"""Programs for tables that join."""

from __future__ import annotations

from jupyter_codeagent.explore.programs.draft import Draft


def join(draft: Draft) -> None:
    """Write how many rows of the left table have a match in the right one."""
    right = draft.finding.text("right")
    left_key, right_key = draft.col(0), draft.col(1)
    partners, keys = draft.name("partners"), draft.name("keys")
    same_name = draft.finding.columns[0] == draft.finding.columns[1]
    on = f"on={left_key}" if same_name else f"left_on={left_key}, right_on={right_key}"
    if draft.is_polars:
        matched = draft.name("matched")
        draft.write(
            f"{keys} = {right}.select({right_key}).drop_nulls()",
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
        f"{keys} = {draft.plain(right)}[[{right_key}]].dropna()",
        f"{partners} = {draft.plain(draft.table)}[[{left_key}]].merge(",
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
