"""What programs do to rows is counted exactly, and they give what they give without being observed."""

from __future__ import annotations

import ast
import json
import warnings
from collections.abc import Iterator
from typing import Any

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

from jupyter_codeagent.sandbox.guest.observation.hooks import HookInserter
from jupyter_codeagent.sandbox.guest.observation.observer import MAX_OPERATIONS, Observer
from jupyter_codeagent.sandbox.guest_reports import AfterCellReport, read_after_cell_report

SETUP = """
import numpy as np, pandas as pd, polars as pl
orders = pd.DataFrame({
    "id": [1, 2, 3, 4, 5, 6],
    "customer": ["ann", "bob", None, "ann", "cid", "A-nn"],
    "amount": [10.0, None, 30.0, 40.0, 50.0, 60.0],
    "price": ["1.5", "10", "9", "2", "x", "3"],
    "day": ["03/04/2024", "05/06/2024", "01/02/2024", "07/08/2024", "02/03/2024", "04/05/2024"],
})
customers = pd.DataFrame({"customer": ["ann", "ann", "bob", "dora"], "city": ["Oslo", "Rome", "Rome", "Bonn"]})
houses = pd.DataFrame({
    "area": [120.0, 95.0, 1400.0, 80.0], "area_unit": ["m2", "m2", "sqft", "m2"], "rooms": [5, 4, 6, 3],
    "sold_pct": [10.0, 20.0, 30.0, 25.0],
})
trees = pd.DataFrame({
    "height": [3.5, 4.0, 4.5, 5.0, 5.5, 6.0] * 9 + [999.0] * 3, "rings": [*range(8, 62), 77, 77, 77],
    "bloom": [-9, -3, 0, 4, 8, 12] * 9 + [9, 10, 11],
})
loans = pd.DataFrame({"lent": pd.to_datetime(["2024-05-01"] * 6), "back": pd.to_datetime(["2024-06-01"] * 6)})
loans.loc[3:4, "back"] = pd.Timestamp("9999-12-31")
plain = pd.DataFrame({"k": ["a", "b", "a"], "v": [1, 2, 3]})
sales = pd.DataFrame({"shop": ["a", "b", "c"] * 40, "euro": [10.0, 12.0, 9.0, 11.0] * 30, "kg": [1.0, 2.0] * 60})
sales.loc[7, "euro"] = 1200.0
readings = pd.DataFrame({
    "meter": ["a", "b", "a", "b"], "at": pd.to_datetime(["2024-05-02", "2024-05-02", "2024-05-01", "2024-05-03"]),
    "kwh": [7, 2, 5, 4], "street": ["Elm", "Oak", "Elm", "Oak"],
})
lines = pl.DataFrame({"k": ["a", "b", None, "a"], "v": [1, None, 3, 4]})
other = pl.DataFrame({"k": ["a", "c"], "w": [5, 6]})
"""
COUNTED: dict[str, list[str]] = {
    "orders[orders['amount'] > 35]": ["filter orders['amount'] > 35: 3 of 6 rows"],
    "orders.query('amount > 35').amount.mean()": ["query('amount > 35'): 3 of 6 rows", "mean of amount: 3 rows"],
    "orders.loc[orders.amount.notna(), 'amount']": [
        "filter (orders.amount.notna(), 'amount'): 5 of 6 rows",
    ],
    "orders.dropna(subset=['customer'])": ["dropna(subset=['customer']): 5 of 6 rows; customer is missing in 1"],
    "orders['amount'].mean()": ["mean of amount: 6 rows; 1 missing value of amount skipped"],
    "orders.amount.std(skipna=False)": ["std of amount: 6 rows"],
    "orders.groupby('customer')['amount'].sum()": [
        "sum of amount by customer: 6 rows → 4; 1 row without customer left out; 1 missing value of amount skipped"
    ],
    "orders.groupby('customer', dropna=False).size()": ["size by customer: 6 rows → 5"],
    "orders.groupby(['customer', 'id']).agg(total=('amount', 'sum'))": [
        "agg of amount by customer, id: 6 rows → 5; 1 row without customer left out; "
        "1 missing value of amount skipped"
    ],
    "orders['customer'].value_counts()": ["value_counts of customer: 6 rows → 4; 1 row without customer left out"],
    "orders.merge(customers, on='customer')": [
        "merge(customers, on='customer'): 6 and 4 rows → 5 rows; 3 rows of the left table without a match; "
        "3 rows without a match left out; 1 row of the right table without a match; 1 key would match but for the "
        "spelling; keys repeat on both sides: 2 extra rows"
    ],
    "pd.merge(orders, customers.drop_duplicates('customer'), how='left', on='customer')": [
        "drop_duplicates('customer'): 1 duplicate left out of 4 rows",
        "merge(orders, customers.drop_duplicates('customer'), how='left', on='custom…): 6 and 3 rows → 6 rows; "
        "3 rows of the left table without a match; 1 row of the right table without a match; "
        "1 key would match but for the spelling; no rows multiplied",
    ],
    "plain.merge(plain, left_on='k', right_on='k', how='outer')": [
        "merge(plain, left_on='k', right_on='k', how='outer'): 3 and 3 rows → 5 rows; "
        "keys repeat on both sides: 2 extra rows"
    ],
    "plain.set_index('k').join(customers.set_index('customer'))": [
        "join(customers.set_index('customer')): 3 and 4 rows → 3 rows; "
        "3 rows of the left table without a match; 4 rows of the right table without a match; no rows multiplied"
    ],
    "pd.concat([plain, orders])": [
        "concat([plain, orders]): 9 rows; not in all tables: k, v, id, customer, amount, price, day"
    ],
    "pd.to_numeric(orders['price'], errors='coerce').sum()": [
        "to_numeric(orders['price'], errors='coerce'): 1 text value of price without digits became missing; "
        "price str → float64",
        "sum of price: 6 rows; 1 missing value of price skipped",
    ],
    "orders['price'].max()": ["max of price: 6 rows"],
    "orders.assign(price=orders.price.replace('x', '7')).sort_values('price').head(2)": [
        "assign(price=orders.price.replace('x', '7')): column price overwritten",
        "sort_values('price'): price holds numbers as text",
        "head(2): 2 of 6 rows",
    ],
    "orders[orders.customer == 'ANN']": [
        "compare orders.customer == 'ANN': 3 rows have a different spelling",
        "filter orders.customer == 'ANN': 0 of 6 rows",
    ],
    "orders[orders.customer.isin(['ANN'])]": [
        "isin(['ANN']): 3 rows have a different spelling",
        "filter orders.customer.isin(['ANN']): 0 of 6 rows",
    ],
    "orders[orders['id'] == '3']": [
        "compare orders['id'] == '3': numbers compared with text in id",
        "filter orders['id'] == '3': 0 of 6 rows",
    ],
    "plain.nlargest(1, 'v')": ["nlargest(1, 'v'): 1 of 3 rows"],
    "pd.Series([3, 1, 3, 2]).sort_values(ascending=False).head(1)": [
        "head(1): 1 of 4 rows; 1 more row with the same value as the last one"
    ],
    "orders.head(2)['amount'].sum()": [
        "head(2): 2 of 6 rows",
        "sum of amount: 2 rows; 1 missing value of amount skipped; only 2 of 6 rows: head(2)",
    ],
    "orders['amount'].fillna(0).mean()": [
        "fillna(0): 1 missing value of amount filled",
        "mean of amount: 6 rows",
    ],
    "frame = orders.copy()\nframe['amount'] = frame['amount'].astype(str)\nframe['late'] = 1": [
        "astype(str): amount float64 → str",
        "assign 'amount': column amount overwritten; amount float64 → str",
        "assign 'late': new column late",
    ],
    "pd.to_datetime(orders['day'])": [
        "to_datetime(orders['day']): 6 dates could be day first or month first; day str → datetime64[us]"
    ],
    "pd.to_datetime(orders['day'], dayfirst=True)": [
        "to_datetime(orders['day'], dayfirst=True): day str → datetime64[us]"
    ],
    "plain.groupby('k').v.mean().mean()": [
        "mean of v by k: 3 rows → 2",
        "mean of v: 2 rows; a mean of 2 group means, though the groups differ in size",
    ],
    "m = customers.merge(orders, on='customer')\nm.city.count()": [
        "merge(orders, on='customer'): 4 and 6 rows → 5 rows; 1 row of the left table without a match; "
        "1 row without a match left out; 3 rows of the right table without a match; keys repeat on both sides: "
        "2 extra rows",
        "count of city: 5 rows; a join repeated city in 2 rows",
    ],
    "orders.pivot_table(index='customer', values='amount', aggfunc='sum')": [
        "pivot_table of amount by customer: 6 rows → 4; 1 row without customer left out; "
        "1 missing value of amount skipped"
    ],
    "orders.pivot_table(index=orders['day'].str[:2], columns='customer', values='amount')": [
        "pivot_table of amount by customer: 6 rows → 4; 1 row without customer left out; "
        "1 missing value of amount skipped"
    ],
    "for part in range(5):\n    plain.head(1)": ["head(1): 5 times, the first: 1 of 3 rows"],
    "lines.filter(pl.col('k') == 'A')": [
        "filter(pl.col('k') == 'A'): 0 of 4 rows; 2 rows have a different spelling"
    ],
    "lines.group_by('k').agg(pl.col('v').mean()).sort('k')": ["agg by k: 4 rows → 3; 1 missing value of v skipped"],
    "lines.join(other, on='k', how='left')": [
        "join(other, on='k', how='left'): 4 and 2 rows → 4 rows; 1 row without k left out; "
        "2 rows of the left table without a match; "
        "1 row of the right table without a match; no rows multiplied"
    ],
    "(orders['amount'] > 35).mean()": ["share of amount > 35: 6 rows; 1 missing value of amount counted as no"],
    "(orders['id'] > 3).sum()": ["count of id > 3: 6 rows"],
    "orders.amount.ge(35).groupby(orders['id'] > 3).mean()": [
        "share of amount >= 35 by id: 6 rows → 2; 1 missing value of amount counted as no"
    ],
    "x = orders.copy()\nx['late'] = (x.customer != 'ann').astype(int)\nx[x.id > 2].groupby('id').late.sum()": [
        "compare x.customer != 'ann': 1 row has a different spelling",
        "astype(int): customer bool → int64",
        "assign 'late': new column late",
        "filter x.id > 2: 4 of 6 rows",
        "count of customer != 'ann' by id: 4 rows → 4; 1 missing value of customer counted as yes",
    ],
    "((orders.amount > 20) & (orders.customer == 'ann')).mean()": [
        "compare orders.customer == 'ann': 1 row has a different spelling",
        "share of amount > 20 and customer == 'ann': 6 rows; 1 missing value of amount counted as no",
    ],
    "keyed = pd.DataFrame({'id': ['a', 'a', None, None, None]})\nkeyed.drop_duplicates('id')": [
        "drop_duplicates('id'): 1 duplicate left out of 5 rows; "
        "2 of 3 rows without id left out as if they were duplicates"
    ],
    "lines.vstack(lines).unique(subset='k', maintain_order=True)": [
        "unique(subset='k', maintain_order=True): 4 duplicates left out of 8 rows; "
        "1 of 2 rows without k left out as if they were duplicates"
    ],
    "lines['v'].sum()": ["sum of v: 4 rows; 1 missing value of v skipped"],
    "lines.drop_nulls()": ["drop_nulls(): 2 of 4 rows; k is missing in 1; v is missing in 1"],
    "lines.with_columns(pl.col('k').cast(pl.Int64, strict=False))": [
        "with_columns(pl.col('k').cast(pl.Int64, strict=False)): k String → Int64; 3 values of k became missing"
    ],
    "rates = pd.DataFrame({'k': ['a'], 'rate': [2.0]})\n"
    "priced = plain.merge(rates, on='k', how='left')\n"
    "(priced.v * priced.rate).sum()": [
        "merge(rates, on='k', how='left'): 3 and 1 row → 3 rows; 1 row of the left table without a match; "
        "no rows multiplied",
        "v * rate: 1 value of v without rate became missing",
        "sum: 3 rows; 1 missing value skipped",
    ],
    "[x for x in plain.head(2)['v']]": [],
    "max(plain['v'])": [],
}
PLAIN = (
    "print(orders.groupby('customer').amount.mean())",
    "orders['missing column']",
    "orders.merge(\n    customers,\n    on='nothing',\n)",
    "x = orders.copy()\nx['amount'][0] = 5\nx",
    "x = orders.copy()\nx['amount'].fillna(0, inplace=True)\nx.amount.sum()",
    "x = orders.copy(); x.loc[x.amount > 20, 'amount'] = 0; x",
    "def f(frame):\n    return frame.query('amount > 20').head(1)\n\nf(orders)",
    "class A:\n    b = orders.head(1)\n\nA.b",
    "import warnings\nwarnings.warn('careful')\norders.head(1)",
    "pd.to_datetime(pd.Series(['2024-01-02', '1/2/24']), errors='coerce')",
    "a, b = 1, 2\n(a + b) * 3 == 9",
    "'%s' % orders.shape[0] + 'x'",
    "[i for i in range(3) if orders.amount[i] > 5]",
    "orders.amount.apply(lambda v: v > 20)",
    "f'{orders.amount.mean():.2f} {len(orders[orders.amount > 20])}'",
    "x = {'a': [1, 2]}; x['a'][0] += 1; x['b'] = 3; x",
    "try:\n    orders.nothing.mean()\nexcept AttributeError as problem:\n    print(problem)",
    "1 / (orders.amount.sum() - 190)",
    "orders.head(2); None",
    "print(*orders.columns[:2], sep='-')",
    "lines.lazy().filter(pl.col('v') > 1).collect()",
    "a = np.arange(6).reshape(2, 3)\na[a > 2].sum(), a[:, 1].mean()",
    "orders.iloc[1:3, 0], orders.iat[0, 0], orders.loc[0, 'id']",
    "del x_undefined",
    "import math\nmath.sqrt(2) + orders['id'].mean()",
    "(lambda frame: frame.head(1))(orders)",
    "with open('/nonexistent') as file: file.read()",
    "x = orders\nx is orders and x['amount'] is not None",
    "orders.describe(include='all').loc['count']",
)


@pytest.fixture(scope="module")
def shell() -> InteractiveShell:
    """A kernel's shell with the frames of `SETUP`."""
    made = InteractiveShell(history_load_length=0)
    made.run_cell(SETUP)
    return made


@pytest.fixture
def observer(shell: InteractiveShell) -> Iterator[Observer]:
    made = Observer(shell)
    yield made
    made.close()


def observed(shell: InteractiveShell, observer: Observer, code: str) -> AfterCellReport:
    with capture_output():
        assert shell.run_cell(code).success
    return read_after_cell_report(json.dumps(observer.report()))


@pytest.mark.parametrize("code", COUNTED)
def test_what_a_program_does_to_rows_is_counted_exactly(
    shell: InteractiveShell, observer: Observer, code: str
) -> None:
    report = observed(shell, observer, code)
    assert not report.not_observed
    assert [one.text for one in report.operations] == COUNTED[code]


@pytest.mark.parametrize("code", [*COUNTED, *PLAIN])
def test_a_program_gives_the_same_with_and_without_being_observed(shell: InteractiveShell, code: str) -> None:
    without = everything(shell, code)
    observer = Observer(shell)
    try:
        assert everything(shell, code) == without
        assert not observer.report()["not_observed"]
    finally:
        observer.close()


def everything(shell: InteractiveShell, code: str) -> tuple[Any, ...]:
    """Return all that a user sees of a program: outputs, result, error with its lines, warnings with theirs."""
    shell.run_cell(SETUP)
    shell.execution_count = 1
    with warnings.catch_warnings(record=True) as warned, capture_output() as captured:
        warnings.simplefilter("always")
        outcome = shell.run_cell(code)
    shown = (captured.stdout, captured.stderr, [output.data for output in captured.outputs])
    error = outcome.error_in_exec
    lines, traceback = [], error.__traceback__ if error is not None else None
    while traceback is not None:
        lines.append((traceback.tb_frame.f_code.co_name, traceback.tb_lineno))
        traceback = traceback.tb_next
    told = [(str(one.message), one.category, one.lineno) for one in warned]
    return (*shown, repr(outcome.result), type(error), str(error), lines, told)


FLAWS: dict[str, tuple[str, str]] = {
    "trips = pd.DataFrame({'km': range(30)})\ntrips[:7]['km'].mean()": ("part_of_rows", "[:7]"),
    "pd.Series(['1.5 h', '30 min', '2 h', '45 min'], name='t').str.extract(r'([\\d.]+)')": ("cut_off", "t: h, min"),
    "pd.Series(['1.00-', '2.00', '3.00-'], name='t').str.replace('-', '')": ("cut_off", "t: -"),
    "pd.to_datetime(pd.Series([45292, 45293], name='day'), unit='D', origin='1900-01-01')": ("excel_days", "day"),
    "pd.to_numeric(pd.Series(['1', 'n/a', 'none'], name='sold'), errors='coerce')": ("placeholders", "sold"),
    "pd.to_numeric(pd.Series(['1', '2,000'], name='sold'), errors='coerce')": ("became_missing", "sold"),
    "pd.Series(['A 1', 'b2'], name='p').map(pd.Series([1, 2], index=['a1', 'B2']))": ("near_keys", "p"),
    "pd.Series(['151,99 €', '1.234,50 €', '9,00 €'], name='paid').max()": ("numbers_as_text", "paid"),
    "pd.DataFrame({'k': ['a', 'b'], 'w': ['12 kg', '7.5kg']}).groupby('k').w.sum()": ("numbers_as_text", "w"),
    "pd.Series(['1\u202f234,5\u00a0€', '20 €'], name='w').sort_values()": ("numbers_as_text", "w"),
    "pd.DataFrame({'k': ['a', 'A'], 'g': [1, 1], 'v': [1, 2]}).groupby(['g', 'k']).v.sum()": ("case_variants", "k"),
    "pd.DataFrame({'k': ['a', 'A'], 'g': [1, 1]}).groupby(['g', 'k'], as_index=False).size()": (
        "case_variants",
        "k",
    ),
    "pd.DataFrame({'k': ['a', 'A'], 'g': [1, 1], 'v': [1, 2]}).pivot_table('v', index='g', columns='k')": (
        "case_variants",
        "k",
    ),
    "pd.to_datetime(pd.Series(['03/04/2024', '25/04/2024'], name='d'), format='mixed')": ("other_date_order", "d"),
    "pd.to_datetime(pd.Series(['03/04/2024', '25/04/2024'], name='d'), errors='coerce')": ("other_date_order", "d"),
    "pd.DataFrame({'mail': ['a@x', 'A@x', 'b@x']}).drop_duplicates('mail')": ("case_variants", "mail"),
    "orders.dropna()": ("dropped_for", "customer"),
    "top = orders.nlargest(2, 'amount')\ntop.amount.sum()": ("part_of_top", "nlargest(2, 'amount')"),
    "orders['rate'] = orders.amount / orders.id\norders.rate.mean()": ("mean_of_ratios", "rate"),
    "orders.amount.mean()": ("several_rows", "customer"),
    "lines.join(other.vstack(pl.DataFrame({'k': [None], 'w': [9]}, schema=other.schema)), on='k')": (
        "unjoined_nulls",
        "k",
    ),
    "lines.join(lines, on='k').with_columns(x=pl.col('v') * 2).group_by('k').agg(pl.col('x').sum())": (
        "repeated",
        "x",
    ),
    "pl.DataFrame({'k': ['a', 'a', 'b'], 'v': ['9', '10', '8']}).group_by('k').agg(pl.col('v').max())": (
        "numbers_as_text",
        "v",
    ),
    "plain.groupby('k', as_index=False)['v'].mean()['v'].mean()": ("mean_of_means", ""),
    "uneven = pd.DataFrame({'k': list('aaab'), 't': list('xxyx'), 'v': [1, 2, 3, 4]})\n"
    "uneven.pivot_table(index='k', columns='t', values='v').mean(axis=1)": ("mean_of_means", ""),
    "houses.area.mean()": ("mixed_units", "area_unit: m2, sqft"),
    "trees.height.mean()": ("missing_codes", "height is 999"),
    "trees.height.max()": ("missing_codes", "height is 999"),
    "trees.assign(k='oak').groupby('k').agg(h=('height', 'mean'))": ("missing_codes", "height is 999"),
    "pl.from_pandas(trees).select(pl.col('height').mean())": ("missing_codes", "height is 999"),
    "(loans.back - loans.lent).dt.days.mean()": ("later_years", "back"),
    "lines.filter(pl.col('v') != 3)": ("nulls_filtered", "v"),
    "mails = pd.DataFrame({'k': list('aab'), 'mail': ['x@y', 'X@y ', 'z@y']})\nmails.groupby('k').mail.nunique()": (
        "case_variants",
        "mail",
    ),
    "pl.DataFrame({'t': ['1', '2,5']}).with_columns(n=pl.col('t').cast(pl.Float64, strict=False))": (
        "became_missing",
        "t",
    ),
    "pd.Series([4, 5, 6], index=pd.Index(['1', '10', '2'], name='m')).cumsum()": ("numbers_as_text", "m"),
    "pd.Series(['03', '12', '07'], name='m').sum()": ("numbers_as_text", "m"),
    "months = pd.Series(['03', '12', '07'], name='m')\nmonths[months > '6']": ("numbers_as_text", "m"),
    "twice = pd.DataFrame({'no': np.arange(15000) // 2, **{c: np.arange(15000) // 2 for c in 'abcdefghij'}})\n"
    "twice.a.sum()": ("duplicate_rows", ""),
    "sales.groupby('shop').euro.sum()": ("single_row", "euro of its shop"),
    "sales.groupby('shop').agg(mean=('euro', 'mean'))": ("single_row", "euro of its shop"),
    "sales.head(9).euro.sum()": ("single_row", "euro"),
    "sales.pivot_table(index='shop', values='euro', aggfunc='sum')": ("single_row", "euro of its shop"),
    "pl.from_pandas(sales).group_by('shop').agg(pl.col('euro').sum())": ("single_row", "euro of its shop"),
    "few = pd.DataFrame({'no': [*range(3000), 7, 8], 'v': 1.5})\nfew.groupby('no').v.sum()": ("duplicate_rows", ""),
    "twice = pd.DataFrame({'no': [1, 2, 2, 3, 3], 'v': [5.0, *[np.nan] * 4]})\ntwice.v.sum()": (
        "duplicate_rows",
        "",
    ),
    "readings.kwh.diff()": ("unordered", "at"),
    "readings.assign(at=readings['at'].dt.strftime('%Y-%m-%d')).kwh.cumsum()": ("unordered", "at"),
    "readings.set_index('at').kwh.rolling(2).mean()": ("unordered", "at"),
    "readings.groupby('meter').kwh.shift()": ("unordered", "at"),
    "readings.groupby('meter').kwh.last()": ("unordered", "at"),
    "readings.groupby('meter').agg(now=('kwh', 'last'), most=('kwh', 'max'))": ("unordered", "at"),
    "readings.groupby('meter').agg({'kwh': 'first'})": ("unordered", "at"),
    "readings.groupby('meter').tail(1)": ("unordered", "at"),
    "readings.sort_values(['meter', 'at']).kwh.diff()": ("over_borders", "meter"),
    "pl.from_pandas(readings).with_columns(pl.col('kwh').diff())": ("unordered", "at"),
    "pl.from_pandas(readings).with_columns(pl.col('kwh').shift().over('meter'))": ("unordered", "at"),
    "pl.from_pandas(readings).sort('meter', 'at').with_columns(pl.col('kwh').cum_sum())": ("over_borders", "meter"),
}
"""Programs with what makes a result doubtful: the kind of the fact, and its label."""
SOUND = {
    "sales.groupby('shop').kg.sum()": "single_row",
    "sales.groupby('shop').euro.median()": "single_row",
    "sales[sales.shop != 'b'].groupby('shop').euro.sum()": "single_row",
    "sales.euro.sum()": "single_row",
    "pl.from_pandas(sales).group_by('shop').agg(pl.col('kg').sum())": "single_row",
    "parts = pd.Series(['1 h', '3 min', '2 h'], name='t').str.extract(r'(\\d+) (\\w+)')": "cut_off",
    "pd.Series(['1.5 h', '3 h', '2 h'], name='t').str.extract(r'([\\d.]+)')": "cut_off",
    "both = plain.assign(d=range(3)).merge(plain.assign(e=range(3))[['k', 'e']], on='k')\n"
    "both[both.d == both.e].v.sum()": "repeated",
    "pd.to_datetime(pd.Series(['25/04/2024', '03/04/2024']))": "other_date_order",
    "pd.to_datetime(pd.Series(['04/25/2024', '03/04/2024']))": "other_date_order",
    "pd.Series(['3A', '12B', '2A']).sort_values()": "numbers_as_text",
    "pd.Series(['1st', '2nd', '3rd']).max()": "numbers_as_text",
    "pd.Series(['12 Elm', '3 Oak', '7 Ash', '9 Yew']).sort_values()": "numbers_as_text",
    "(orders.dropna(subset=['amount']).amount > 35).mean()": "counted_no",
    "(orders.amount.astype('Float64') > 35).mean()": "counted_no",
    "x = orders.assign(late=orders.amount > 35).dropna(subset=['amount'])\nx.late.mean()": "counted_no",
    "tags = pd.DataFrame({'k': ['a', 'a', 'b'], 'tag': ['x', 'y', 'x']})\n"
    "plain.merge(tags, on='k').groupby('tag').v.sum()": "repeated",
    "pd.DataFrame([['a', 'A']], columns=['k', 'k']).drop_duplicates(subset=['k'])": "case_variants",
    "plain.groupby(['k', 'v'])['v'].mean().groupby('k').mean()": "several_rows",
    "orders.loc[orders.id > 3, 'amount'] = orders.loc[orders.id > 3, 'amount']": "became_missing",
    "houses.rooms.mean()": "mixed_units",
    "sold = houses.rename(columns={'area_unit': 'unit'})\nsold.sold_pct.mean()": "mixed_units",
    "trees[trees.height < 900].height.mean()": "missing_codes",
    "trees.rings.mean(), trees.bloom.min()": "missing_codes",
    "near = loans[loans.back < '2100']\n(near.back - near.lent).dt.days.mean()": "later_years",
    "paid = plain.merge(plain[['k']].drop_duplicates().assign(rate=2.0), on='k', how='left')\n"
    "paid.v * paid.rate": "became_missing",
    "lines.filter(pl.col('v') == 3)": "nulls_filtered",
    "mails = pd.DataFrame({'k': list('aab'), 'mail': ['x@y', 'x@y', 'z@y']})\n"
    "mails.groupby('k').mail.nunique()": "case_variants",
    "pl.DataFrame({'t': ['1', '2']}).with_columns(n=pl.col('t').cast(pl.Int8, strict=False))": "became_missing",
    "months = pd.Series(['03', '12', '07'], name='m')\nmonths.sort_values(), months.max(), months[months > '06']": (
        "numbers_as_text"
    ),
    "pl.DataFrame({'m': ['03', '12']}).filter(pl.col('m') > '06').sort('m')": "numbers_as_text",
    "pd.Series([4, 5, 6], index=['01', '02', '10']).cumsum()": "numbers_as_text",
    "readings.sort_values('at').kwh.diff()": "unordered",
    "readings.sort_values('kwh', ascending=False).kwh.cumsum()": "unordered",
    "readings.iloc[[2, 0, 3]].kwh.diff()": "unordered",
    "readings.iloc[[3, 0, 2]].kwh.diff()": "unordered",
    "readings[readings.meter == 'b'].groupby('meter').kwh.last()": "unordered",
    "readings.groupby('meter').street.first()": "unordered",
    "readings.groupby('meter').agg({'kwh': 'max'})": "unordered",
    "readings.drop(columns='at').kwh.diff()": "unordered",
    "readings.head(2).kwh.diff()": "unordered",
    "s = readings.sort_values(['meter', 'at'])\ns.groupby('meter').kwh.diff()": "over_borders",
    "s = readings.sort_values(['meter', 'at'])\ns.meter != s.meter.shift()": "over_borders",
    "pl.from_pandas(readings).sort('at').with_columns(pl.col('kwh').diff())": "unordered",
    "pl.from_pandas(readings).with_columns(pl.col('kwh').sort_by('at').diff())": "unordered",
    "pl.from_pandas(readings).sort('meter', 'at').with_columns(pl.col('kwh').diff().over('meter'))": "over_borders",
}
"""Programs that are right, and the kind of fact that they must not have."""


@pytest.mark.parametrize("code", FLAWS)
def test_what_makes_a_result_doubtful_is_found(shell: InteractiveShell, observer: Observer, code: str) -> None:
    report = observed(shell, observer, code)
    assert not report.not_observed
    assert FLAWS[code] in [(fact.kind, fact.label) for one in report.operations for fact in one.facts]


@pytest.mark.filterwarnings("ignore:Parsing dates")
@pytest.mark.parametrize("code", SOUND)
def test_what_is_right_has_no_such_fact(shell: InteractiveShell, observer: Observer, code: str) -> None:
    report = observed(shell, observer, code)
    assert not report.not_observed
    assert SOUND[code] not in [fact.kind for one in report.operations for fact in one.facts]


@pytest.mark.parametrize(
    ("column", "count", "of"), [("paid", 3, 3), ("refund", 2, 4), ("twice", 2, 4), ("alone", 3, 3)]
)
def test_how_often_a_join_repeats_is_counted_for_the_side_of_the_column(
    shell: InteractiveShell, observer: Observer, column: str, count: int, of: int
) -> None:
    shell.run_cell(
        "import pandas as pd\n"
        "paid = pd.DataFrame({'order': [1, 1, 2], 'paid': [10.0, 20.0, 30.0]})\n"
        "back = pd.DataFrame({'order': [1, 1, 2, 2], 'refund': [1.0, 2.0, 3.0, 4.0]})"
    )
    joined = "both = paid.merge(back, on='order')"
    computed = "both['twice'] = both['refund'] * 2\nboth['alone'] = both['paid'] * 2"
    report = observed(shell, observer, f"{joined}\n{computed}\nboth['{column}'].sum()")
    found = [fact for one in report.operations for fact in one.facts if fact.kind == "repeated"]

    assert [(fact.label, fact.count, fact.of) for fact in found] == [(column, count, of)]


def test_an_error_inside_the_observer_is_reported_and_the_program_goes_on(
    shell: InteractiveShell, observer: Observer, monkeypatch: pytest.MonkeyPatch
) -> None:
    from jupyter_codeagent.sandbox.guest.observation import pandas_calls

    def fail(*_: object) -> None:
        raise RuntimeError("a bug of ours")

    monkeypatch.setitem(pandas_calls.HANDLERS, "head", fail)
    report = observed(shell, observer, "found = len(orders.head(2)) + len(orders[orders.id > 4])")
    assert shell.user_ns["found"] == 4
    assert report.not_observed == "RuntimeError: a bug of ours"
    assert [one.text for one in report.operations] == ["filter orders.id > 4: 2 of 6 rows"]


def test_a_long_loop_is_counted_but_not_looked_at_each_time(shell: InteractiveShell, observer: Observer) -> None:
    report = observed(shell, observer, "for at in range(2000):\n    plain[plain.v > at]\nplain.head(1)")
    assert report.operations[0].times == 2000
    assert [one.rows for one in report.operations] == [(3, 3), (3, 2), (3, 1), (3, 1)]


def test_operations_beyond_the_limit_are_left_out(shell: InteractiveShell, observer: Observer) -> None:
    report = observed(shell, observer, "\n".join("plain.head(1)" for _ in range(MAX_OPERATIONS + 20)))
    assert len(report.operations) == MAX_OPERATIONS


def test_examples_show_the_first_rows_that_were_left_out(shell: InteractiveShell, observer: Observer) -> None:
    [one] = observed(shell, observer, "plain[plain.v > 1]").operations
    assert one.examples is not None
    assert (one.examples.title, one.examples.columns, one.examples.rows) == (
        "rows left out",
        ("k", "v"),
        (("a", "1"),),
    )


def test_requests_of_the_host_are_not_observed(shell: InteractiveShell, observer: Observer) -> None:
    observed(shell, observer, "plain.head(1)")
    with capture_output():
        shell.run_cell("plain.head(2)", silent=True)
    assert observer.report() == {"operations": [], "not_observed": ""}


def test_what_was_not_counted_is_not_said(
    shell: InteractiveShell, observer: Observer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("jupyter_codeagent.sandbox.guest.observation.observer.BUDGET_S", 0.0)
    report = observed(shell, observer, "plain.merge(plain, on='k')\norders.amount.mean()")
    assert [one.text for one in report.operations] == [
        "merge(plain, on='k'): 3 and 3 rows → 5 rows; too large to count",
        "mean of amount: 6 rows",
    ]


def test_in_loops_and_functions_only_calls_that_are_counted_have_hooks() -> None:
    inserter = HookInserter({"head"})
    code = "for i in rows:\n    if i > 5:\n        out.append(i * 2 + d['a'])\n        part[part.k == i].head(1)"
    inserter.visit(ast.parse(f"{code}\ndef f(row):\n    return row.a + row.b"))
    assert [site.name for site in inserter.sites] == ["==", "[]", "head"]
