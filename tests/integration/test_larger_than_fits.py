"""Data that is larger than fits: parts, samples, files in place and engines, from the magic to the sandbox."""

from __future__ import annotations

from pathlib import Path

import polars as pl
import pytest
from kernel_client import Kernel
from model_server import ModelServer, code
from terminal import ipython

ROWS = 1_000_000


@pytest.fixture
def trips(tmp_path: Path) -> Path:
    """A million rows in a file, and a neighbour that nobody agrees to."""
    path = tmp_path / "own" / "trips.parquet"
    path.parent.mkdir()
    pl.select(fare=pl.int_range(ROWS).cast(pl.Float64), zone=pl.int_range(ROWS) % 10).write_parquet(path)
    (path.parent / "neighbour.txt").write_text("not for the sandbox")
    return path


def script(setup: str, options: str, prompt: str) -> str:
    return f"%load_ext jupyter_codeagent\n{setup}\nget_ipython().run_cell_magic('agent', {options!r}, {prompt!r})\n"


QUERIES = {
    "polars": (
        "import polars as pl; trips = pl.scan_parquet('own/trips.parquet')",
        "import polars as pl\n"
        "print(trips.filter(pl.col('zone') == 3).select(pl.col('fare').sum()).collect().item())",
    ),
    "arrow": (
        "import pyarrow.dataset as ds; trips = ds.dataset('own/trips.parquet')",
        "import pyarrow.dataset as ds\nimport pyarrow.compute as pc\n"
        "print(pc.sum(trips.to_table(columns=['fare'], filter=ds.field('zone') == 3)['fare']).as_py())",
    ),
    "duckdb relation": (
        "import duckdb; trips = duckdb.connect().sql(\"SELECT * FROM 'own/trips.parquet'\")",
        "print(trips.filter('zone = 3').sum('fare').fetchall()[0][0])",
    ),
    "duckdb views": (
        "import duckdb; trips = duckdb.connect(); "
        "trips.execute(\"CREATE VIEW t AS SELECT * FROM read_parquet('own/*.parquet')\")",
        "print(trips.sql('SELECT sum(fare) FROM t WHERE zone = 3').fetchall()[0][0])",
    ),
}
EXPECTED = str(float(sum(range(3, ROWS, 10))))


@pytest.mark.parametrize("kind", QUERIES)
@pytest.mark.rare("another case of what a test beside it proves")
def test_a_file_of_a_million_rows_is_queried_in_the_sandbox_without_being_loaded_after_a_yes(
    tmp_path: Path, model_server: ModelServer, trips: Path, kind: str
) -> None:
    setup, query = QUERIES[kind]
    model_server.script(code(query), "Done.")
    shown = ipython(tmp_path, model_server, script(setup, "--vars trips", "sum of fares in zone 3"), "y\n")
    assert (
        "Let the sandbox read your files?\nThis file is what 'trips' reads; the sandbox does not write there."
        in shown
    )
    assert f"{trips}  (" in shown
    assert EXPECTED in shown
    assert "copied trips (query plan)" in shown


def test_without_a_yes_the_file_is_not_shown_and_nothing_is_sent(
    tmp_path: Path, model_server: ModelServer, trips: Path
) -> None:
    setup, query = QUERIES["polars"]
    model_server.script(code(query), "Done.")
    shown = ipython(tmp_path, model_server, script(setup, "--vars trips", "sum of fares"), "n\n")
    assert "Not done: the answer was no." in shown
    assert EXPECTED not in shown
    assert not model_server.requests


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_yes_to_one_file_shows_no_other_and_is_asked_once(
    tmp_path: Path, model_server: ModelServer, trips: Path
) -> None:
    neighbour = str(trips.parent / "neighbour.txt")
    look = f"import os\nprint('count', trips.collect().height, os.path.exists({neighbour!r}))"
    model_server.script(code(look), "Done.", code(look), "Done.")
    twice = script(QUERIES["polars"][0], "--vars trips", "how many?") + (
        "get_ipython().run_cell_magic('agent', '--vars trips', 'how many again?')\n"
    )
    shown = ipython(tmp_path, model_server, twice, "y\n")
    assert shown.count("Let the sandbox read your files?") == 1
    assert shown.count(f"count {ROWS} False") >= 2


def test_with_nobody_to_ask_no_file_is_shown(kernel: Kernel, model_server: ModelServer, trips: Path) -> None:
    kernel.run(f"import polars as pl; trips = pl.scan_parquet({str(trips)!r})")
    ran = kernel.ask("how many?", "--vars trips --approve auto")
    assert "Not done: there is no side panel and no input to ask" in ran.error
    assert not model_server.requests


@pytest.mark.rare("another case of what a test beside it proves")
def test_variables_of_earlier_runs_are_gone_with_the_old_sandbox_and_the_receipt_says_so(
    tmp_path: Path, model_server: ModelServer, trips: Path
) -> None:
    model_server.script(code("kept = 5\nprint(kept)"), "Five.", code("print('kept' in globals())"), "Gone.")
    setup = f"import pandas as pd; df = pd.DataFrame({{'n': [1]}}); {QUERIES['polars'][0]}"
    runs = (
        script(setup, "--vars df", "keep five") + "get_ipython().run_cell_magic('agent', '--vars trips', 'kept?')\n"
    )
    shown = ipython(tmp_path, model_server, runs, "y\n")
    assert "The sandbox restarted with new settings or file grants; variables from earlier runs were lost" in shown


@pytest.mark.rare("another case of what a test beside it proves")
def test_a_sample_and_columns_reach_the_sandbox_and_the_live_frame_stays_whole(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(
        "import numpy as np\n"
        "flights = pd.DataFrame({'dep_delay': np.arange(50000.0), 'dep hour': 1, 'origin': ['JFK'] * 50000})\n"
        "before = pd.util.hash_pandas_object(flights).sum()"
    )
    model_server.script(code("print(flights.shape, flights['dep_delay'].min(), list(flights.columns))"), "Done.")
    ran = kernel.ask(
        "how late?",
        """--vars "flights[dep_delay,'dep hour']" --sample 1000 --where "dep_delay >= 49000 or `dep hour` == 2" """,
    )
    assert not ran.error, ran.text
    assert "(1000, 2) 49000.0 ['dep_delay', 'dep hour']" in ran.text
    ran = kernel.ask("how late now?", "--vars flights --sample 1000")
    assert "accepted cells run on your whole flights" in ran.text
    sent = "\n".join(message["content"] for message in model_server.requests[0]["messages"])
    assert "1000 of 50000 rows, where dep_delay >= 49000 or `dep hour` == 2; 2 of 3 columns" in sent
    told = kernel.run("print(before == pd.util.hash_pandas_object(flights).sum(), flights.shape)")
    assert "True (50000, 3)" in told.text


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_frame_over_the_limit_is_refused_with_commands_of_which_each_then_works(
    tmp_path: Path, model_server: ModelServer
) -> None:
    setup = (
        "import numpy as np, pandas as pd\n"
        "big = pd.DataFrame({'a': np.arange(400_000), 'unit cost': np.arange(400_000.0)})"
    )
    limited = f"get_ipython().config.CodeAgent.max_transfer_mb = 4\n{script(setup, '--vars big', 'mean of a')}"
    refused = ipython(tmp_path, model_server, limited)
    assert "'big' is about 6 MiB; copies of one run are limited to 4 MiB. Copy a part:" in refused
    ways = ['--vars "big[a]"', "--sample 150000", '--where "a > 200000"']
    for way in ways:
        assert way in refused
    model_server.script(*(code("print('got', big.shape)"), "Done.") * 3)
    runs = "".join(f"get_ipython().run_cell_magic('agent', {f'--rerun {way}'!r}, 'shape of big')\n" for way in ways)
    limit = "get_ipython().config.CodeAgent.max_transfer_mb = 4\n%load_ext jupyter_codeagent\n"
    shown = ipython(tmp_path, model_server, f"{limit}{setup}\n{runs}")
    for shape in ("(400000, 1)", "(150000, 2)", "(199999, 2)"):
        assert f"got {shape}" in shown


@pytest.mark.rare("another case of what a test beside it proves")
def test_dask_computes_a_sample_for_the_sandbox_when_it_is_asked_to(
    kernel: Kernel, model_server: ModelServer
) -> None:
    kernel.run(
        "import dask.dataframe as dd\nfar = dd.from_pandas(pd.DataFrame({'n': range(10000)}), npartitions=4)"
    )
    assert "`--vars far --sample 100000`" in kernel.ask("mean of n", "--vars far").error
    model_server.script(code("print(type(far).__module__, len(far))"), "Done.")
    ran = kernel.ask("mean of n", "--vars far --sample 200")
    assert "pandas 200" in ran.text
    assert "fetched by Dask" in ran.text
