"""Statements for servers, as they are read before they run unasked; what these make of them: `test_sql_servers`."""

from __future__ import annotations

import pytest

from jupyter_codeagent.tools.databases.functions import KNOWN, WORDS, names_of
from jupyter_codeagent.tools.databases.statements import DIALECTS, MAX_CHARS, MAX_DEPTH, checked

BOTH = pytest.mark.parametrize("dialect", ["postgresql", "mysql", "mariadb"])


@BOTH
def test_what_is_sent_are_the_words_as_written_without_comments(dialect: str) -> None:
    sql = "SELECT  count(*)/* one */AS n,\n 'a -- b /* c */' -- two\nFROM Trips ;"
    assert checked(sql, dialect).text == "SELECT  count(*) AS n,\n 'a -- b /* c */' FROM Trips ;"


def test_a_comment_that_a_server_would_run_is_not_sent() -> None:
    assert checked("SELECT\u00a01 /*!50000 , SLEEP(9) */ /*M! , SLEEP(9) */", "mariadb").text == "SELECT 1"


def test_tables_and_words_are_told_as_the_server_compares_them() -> None:
    sql = 'WITH w AS (SELECT 1) SELECT t."N", Lower(City) FROM Public.Trips t, "Big" , w'
    found = checked(sql, "postgresql")
    assert found.tables == {("public", "trips"), ("Big",), ("w",)}
    assert {"t", "N", "lower", "city"} <= found.words
    assert checked("SELECT * FROM `Db`.`Trips`", "mysql").tables == {("Db", "Trips")}


@BOTH
@pytest.mark.parametrize(
    "sql",
    [
        *(
            "",
            ";",
            "SELECT 1; SELECT 2",
            "DELETE FROM t",
            "SET x = 1",
            "CALL f()",
            "SHOW TABLES",
            "EXPLAIN SELECT 1",
        ),
        *("SELECT f(1)", "SELECT s.lower(1)", "SELECT * FROM s.unnest(1)", 'SELECT "f" (1)', "SELECT 1 FROM f(2)"),
        *("WITH f(a) AS (SELECT 1) SELECT f(2)", "SELECT * FROM t AS f(a), f(1)", "SELECT 1 INTO x"),
        *("SELECT :x", "SELECT ?", "SELECT * FROM t FOR UPDATE", "SELECT $$a$$", "SELECT {fn now()}"),
        *(
            "SELECT \u212aount(1)",
            "SELECT a\x00b",
            "SELECT '\x00'",
            "SELECT 'open",
            "SELECT (((",
            "x",
        ),
        *(f"SELECT {'(' * 3000}1{')' * 3000}", f"SELECT '{'x' * MAX_CHARS}'"),
    ],
)
def test_what_is_no_single_query_of_known_parts_is_refused(dialect: str, sql: str) -> None:
    with pytest.raises(PermissionError):
        checked(sql, dialect)


@pytest.mark.parametrize("dialect", DIALECTS)
@pytest.mark.parametrize(("joined", "terms"), [(" + ", "1"), (" AND ", "a = 1"), (" || ", "'a'")])
def test_long_chains_of_operators_are_refused_before_a_database_reads_them(
    dialect: str, joined: str, terms: str
) -> None:
    """Polars ended its process at `1+1+…` with 5,500 terms, and ran on for minutes at 800 conditions."""
    assert checked(f"SELECT {joined.join([terms] * (MAX_DEPTH - 20))} AS x FROM t", dialect).text
    with pytest.raises(PermissionError, match=f"{MAX_DEPTH} are read"):
        checked(f"SELECT {joined.join([terms] * (MAX_DEPTH + 20))} AS x FROM t", dialect)


def test_strings_with_a_prefix_are_refused_where_servers_read_them_in_their_own_ways() -> None:
    for sql in ("SELECT E'a'", "SELECT U&'a'", "SELECT N'a'", "SELECT x'61'", "SELECT B'1'"):
        with pytest.raises(PermissionError, match="is not allowed"):
            checked(sql, "postgresql")
    with pytest.raises(PermissionError):
        checked("SELECT @a, @@b", "mysql")


def test_no_function_that_does_more_than_compute_is_known() -> None:
    harmful = names_of("""
        sleep pg_sleep pg_sleep_for pg_terminate_backend pg_cancel_backend pg_notify pg_advisory_lock get_lock
        release_lock is_free_lock benchmark load_file master_pos_wait nextval setval currval lastval set_config
        current_setting pg_read_file pg_ls_dir lo_import lo_export dblink dblink_exec query_to_xml cursor_to_xml
        table_to_xml database_to_xml ts_stat ts_rewrite crosstab pg_reload_conf setseed txid_current repeat
        pg_stat_reset pg_export_snapshot sys_exec extractvalue updatexml version database user
    """)
    for known in (*KNOWN.values(), WORDS):
        assert not known & harmful
