"""Real database servers for tests: own directories, a socket instead of a port, ended with what they started."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import sqlalchemy
from sqlalchemy.pool import NullPool

START_S = 60
POSTGRESQL = "/usr/lib/postgresql/*/bin"
OWNER = "codeagent_owner"
READER = "codeagent_reader"
STATEMENTS = (
    "CREATE TABLE trips (city VARCHAR(20), n INTEGER)",
    "INSERT INTO trips VALUES ('Oslo', 1), ('Rome', 2), ('Oslo', 4)",
    "CREATE TABLE people (id INTEGER, city VARCHAR(20), age INTEGER, email VARCHAR(20))",
    "INSERT INTO people VALUES (1, 'Oslo', 30, 's3cret1'), (2, 'Rome', 40, 's3cret2')",
    "CREATE TABLE secrets (word VARCHAR(20))",
    "INSERT INTO secrets VALUES ('s3cret')",
    "CREATE VIEW letters AS SELECT email FROM people",
)
POSTGRESQL_TRAPS = (
    "CREATE TABLE noted (what TEXT)",
    "CREATE FUNCTION note(what TEXT) RETURNS TEXT LANGUAGE sql SECURITY DEFINER AS 'SELECT what'",
    "CREATE FUNCTION initcap(what INTEGER) RETURNS INTEGER LANGUAGE sql VOLATILE AS 'SELECT what'",
    "CREATE FUNCTION noted_row(of trips) RETURNS TEXT LANGUAGE sql VOLATILE AS 'SELECT of.city::text'",
    "CREATE DOMAIN checked AS TEXT CHECK (note(value) IS NOT NULL)",
    "CREATE VIEW big AS SELECT city, n::float / 2 AS half FROM trips WHERE n > 1",
    "CREATE VIEW by_function AS SELECT note(city) AS noted FROM trips",
    "CREATE VIEW by_view AS SELECT * FROM by_function",
    "CREATE VIEW by_sleep AS SELECT pg_sleep(0)::text AS slept",
    "CREATE VIEW by_lock AS SELECT pg_advisory_lock(71)::text AS locked",
    "CREATE FOREIGN DATA WRAPPER elsewhere; CREATE SERVER there FOREIGN DATA WRAPPER elsewhere",
    "CREATE FOREIGN TABLE far (n INTEGER) SERVER there",
)
MARIADB_TRAPS = (
    "CREATE FUNCTION test.note(what TEXT) RETURNS TEXT DETERMINISTIC RETURN what",
    "CREATE VIEW big AS SELECT city, n / 2 AS half FROM trips WHERE n > 1 AND city <> 'it''s'",
    "CREATE VIEW by_function AS SELECT note(city) AS noted FROM trips",
    "CREATE VIEW by_view AS SELECT * FROM by_function",
    "CREATE VIEW by_sleep AS SELECT SLEEP(0) AS slept",
    "CREATE VIEW by_lock AS SELECT GET_LOCK('x', 1) AS locked",
    "CREATE TABLE in_a_file (n INTEGER NOT NULL) ENGINE=CSV",
    "CREATE SEQUENCE numbers",
)
"""What a query must not reach by way of a table's, view's or function's name."""
URLS = {
    "postgresql+psycopg": "postgresql+psycopg://{user}@/postgres?host={folder}",
    "postgresql+psycopg2": "postgresql+psycopg2://{user}@/postgres?host={folder}",
    "mariadb+pymysql": "mariadb+pymysql://{user}@localhost/test?unix_socket={folder}/socket",
}
"""By driver."""


def missing_servers() -> str:
    """Debian packages; empty where all are there."""
    wanted = {
        "postgresql": list(Path("/").glob(POSTGRESQL[1:])),
        "mariadb-server": shutil.which("mariadb-install-db"),
    }
    return ", ".join(package for package, found in wanted.items() if not found)


@contextmanager
def postgresql() -> Iterator[Path]:
    """The folder of its socket. Superuser `OWNER`, and `READER` who may only read tables."""
    programs = sorted(Path("/").glob(POSTGRESQL[1:]))[-1]
    with _folder("postgres") as (folder, user):
        data = folder / "data"
        _call([str(programs / "initdb"), "-D", str(data), "-A", "trust", "-U", OWNER], user, folder)
        command = [str(programs / "postgres"), "-D", str(data), "-k", str(folder), "-c", "listen_addresses="]
        with _running(command, user, folder, "postgresql+psycopg", OWNER) as opened:
            for statement in (*STATEMENTS, f"CREATE ROLE {READER} LOGIN"):
                opened.exec_driver_sql(statement)
            opened.exec_driver_sql(f"CREATE SEQUENCE numbers; GRANT ALL ON numbers TO {READER}")
            for statement in POSTGRESQL_TRAPS:
                opened.exec_driver_sql(statement)
            opened.exec_driver_sql(f"GRANT SELECT ON ALL TABLES IN SCHEMA public TO {READER}")
            opened.commit()
            opened.close()
            yield folder


@contextmanager
def mariadb() -> Iterator[Path]:
    """The folder of its socket. `root` with all rights, and `READER` who may do all with the tables of `test`."""
    with _folder("mysql") as (folder, user):
        data = folder / "data"
        install = [
            "mariadb-install-db",
            "--no-defaults",
            f"--datadir={data}",
            "--auth-root-authentication-method=normal",
        ]
        _call(install, user, folder)
        command = [
            "mariadbd",
            "--no-defaults",
            f"--datadir={data}",
            f"--socket={folder}/socket",
            "--skip-networking",
        ]
        with _running(command, user, folder, "mariadb+pymysql", "root") as opened:
            rights = (f"CREATE USER {READER}@localhost", f"GRANT ALL ON test.* TO {READER}@localhost")
            for statement in (*STATEMENTS, *rights, *MARIADB_TRAPS):
                opened.exec_driver_sql(statement)
            opened.commit()
            opened.close()
            yield folder


def engine_of(driver: str, folder: Path, user: str, **options: Any) -> sqlalchemy.Engine:
    return sqlalchemy.create_engine(URLS[driver].format(user=user, folder=folder), **options)


@contextmanager
def _folder(owner: str) -> Iterator[tuple[Path, str | None]]:
    """A directory of its own, and who runs the server: not root, as which these servers do not start."""
    folder = Path(tempfile.mkdtemp(prefix="codeagent-db-"))
    user = owner if os.getuid() == 0 else None
    try:
        if user is not None:
            found = pwd.getpwnam(user)
            os.chown(folder, found.pw_uid, found.pw_gid)
        yield folder, user
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _call(command: Sequence[str], user: str | None, folder: Path) -> None:
    done = subprocess.run(
        command,
        user=user,
        cwd=folder,
        env=_environment(folder),
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stdout}\n{done.stderr}"


@contextmanager
def _running(command: Sequence[str], user: str | None, folder: Path, driver: str, who: str) -> Iterator[Any]:
    log = (folder / "log").open("wb")
    with subprocess.Popen(
        command, user=user, cwd=folder, env=_environment(folder), stdout=log, stderr=log
    ) as server:
        try:
            yield _connected(server, engine_of(driver, folder, who, poolclass=NullPool), folder)
        finally:
            server.terminate()
            try:
                server.wait(20)  # a smart shutdown waits for connections that pools still hold
            except subprocess.TimeoutExpired:
                server.kill()
            log.close()


def _connected(server: subprocess.Popen[bytes], engine: sqlalchemy.Engine, folder: Path) -> sqlalchemy.Connection:
    deadline = time.monotonic() + START_S
    while True:
        try:
            return engine.connect()
        except sqlalchemy.exc.OperationalError:
            text = (folder / "log").read_text()[-2000:]
            assert server.poll() is None, text
            assert time.monotonic() < deadline, text
            time.sleep(0.2)


def _environment(folder: Path) -> dict[str, str]:
    path = os.environ["PATH"] + ":/usr/sbin"
    # A MariaDB that starts clears its temporary tables away, also those of another in the same directory.
    return {"PATH": path, "LC_ALL": "C.UTF-8", "TZ": "UTC", "TMPDIR": str(folder)}
