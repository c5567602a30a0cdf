"""`sql_tool` over real PostgreSQL and MariaDB servers: what reads is answered, nothing else happens."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from database_servers import OWNER, READER, engine_of, mariadb, missing_servers, postgresql

from jupyter_codeagent.errors import UsageError
from jupyter_codeagent.tools.ending import ended_by_signals
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.sql import sql_tool

# A query that is stopped is left to the driver, which says at its end that it was left.
pytestmark = [
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning", "ignore::ResourceWarning"),
    pytest.mark.xdist_group("database servers"),
]
SLEEP = {"postgresql": "SELECT pg_sleep(60)", "mariadb": "SELECT SLEEP(60)"}

REFUSED = r"(?i)read.only|only quer|semicolon|denied|syntax|not exist|doesn't exist|data-modifying|undeclared"


@pytest.fixture(scope="module")
def folders() -> Iterator[dict[str, Path]]:
    if missing := missing_servers():
        pytest.skip(f"not installed: {missing} (CI installs them; they would start services on a machine of yours)")
    with postgresql() as one, mariadb() as other:
        yield {"postgresql": one, "mariadb": other}


@pytest.fixture(params=["postgresql+psycopg", "postgresql+psycopg2", "mariadb+pymysql"])
def engine(request: pytest.FixtureRequest, folders: dict[str, Path]) -> Iterator[Any]:
    """Of a user who may write to the tables there, too."""
    dialect = request.param.partition("+")[0]
    made = engine_of(request.param, folders[dialect], OWNER if dialect == "postgresql" else READER)
    yield made
    made.dispose()
    for name in REGISTRY.tools():
        REGISTRY.remove(name)


def rows(engine: Any) -> int:
    with engine.connect() as opened:
        return int(opened.exec_driver_sql("SELECT count(*) FROM trips").scalar_one())


def test_a_query_gives_a_frame_and_the_model_knows_the_tables(engine: Any) -> None:
    query = sql_tool(engine)
    frame = query("SELECT city, sum(n) AS n FROM trips WHERE city LIKE 'O%' AND n % 8 > 0 GROUP BY city")
    assert [[str(city), int(n)] for city, n in frame.itertuples(index=False)] == [["Oslo", 5]]
    assert "trips(city, n)" in str(query.__doc__)
    assert len(query("EXPLAIN SELECT * FROM trips")) > 0


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM trips",
        "WITH gone AS (DELETE FROM trips RETURNING n) SELECT * FROM gone",
        "SELECT 1; COMMIT; DELETE FROM trips",
        "SELECT 1; SET TRANSACTION READ WRITE; DELETE FROM trips",
        "SELECT * INTO copied FROM trips",
        "SELECT nextval('numbers')",
        "SELECT set_config('transaction_read_only', 'off', false) FROM trips; DELETE FROM trips",
        "EXPLAIN ANALYZE DELETE FROM trips",
        "SELECT * FROM trips INTO OUTFILE '/tmp/codeagent-never'",
    ],
)
def test_what_does_not_only_read_is_refused_and_changes_nothing(engine: Any, sql: str) -> None:
    query = sql_tool(engine)
    with pytest.raises(Exception, match=REFUSED):
        query(sql)
    assert rows(engine) == 3
    assert not Path("/tmp/codeagent-never").exists()


@pytest.mark.parametrize("is_stopped", [True, False])
def test_a_query_that_waits_ends_by_its_limit_and_by_a_stop(engine: Any, is_stopped: bool) -> None:
    limit_s = 30 if is_stopped and engine.driver != "psycopg2" else 2  # psycopg2 waits in C: the server ends it
    query = sql_tool(engine, timeout_s=limit_s)
    stop = threading.Timer(1, os.kill, [os.getpid(), signal.SIGINT])
    if is_stopped:
        stop.start()
    started = time.monotonic()
    ended = pytest.raises(KeyboardInterrupt if is_stopped else TimeoutError)
    with ended, ended_by_signals("query", REGISTRY.tools()["query"].timeout_s):
        query(SLEEP[engine.dialect.name])
    assert time.monotonic() - started < 15
    assert len(query("SELECT * FROM trips")) == 3, "the engine is as good as before"


def test_an_engine_that_commits_each_statement_writes_nothing_either(folders: dict[str, Path]) -> None:
    for driver in ("postgresql+psycopg", "postgresql+psycopg2"):
        made = engine_of(driver, folders["postgresql"], OWNER).execution_options(isolation_level="AUTOCOMMIT")
        query = sql_tool(made)
        assert len(query("SELECT * FROM trips")) == 3
        with pytest.raises(Exception, match="read-only"):
            query("EXPLAIN ANALYZE DELETE FROM trips")
        assert rows(made) == 3
        with made.connect() as opened:
            own: Any = opened.connection.driver_connection
            assert own.autocommit, "the user's connections are as before"
        made.dispose()


def test_no_limit_of_ours_stays_with_the_users_connections(engine: Any) -> None:
    is_postgresql = engine.dialect.name == "postgresql"
    sql_tool(engine, timeout_s=1)("SELECT 1")
    with engine.connect() as opened:
        limit = opened.exec_driver_sql("SHOW statement_timeout" if is_postgresql else "SELECT @@max_statement_time")
        assert float(limit.scalar_one()) == 0
        opened.exec_driver_sql("INSERT INTO trips VALUES ('Bern', 1)")
        opened.rollback()


def test_who_may_read_files_of_the_server_is_asked_for_each_query(folders: dict[str, Path]) -> None:
    for driver, folder, owner in (
        ("postgresql+psycopg", folders["postgresql"], OWNER),
        ("mariadb+pymysql", folders["mariadb"], "root"),
    ):
        mighty = engine_of(driver, folder, owner)
        with pytest.raises(UsageError, match=f"{owner} may read files of the server"):
            sql_tool(mighty, policy="auto")
        mighty.dispose()
        reader = engine_of(driver, folder, READER)
        assert len(sql_tool(reader, policy="auto")("SELECT * FROM trips")) == 3
        reader.dispose()
