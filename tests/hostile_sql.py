"""Statements that try to get more out of a database than two shared tables: none may get through.

Shared are `people` with the columns id, city and age, not email, and `trips` with all: city, n, day. Beside them are
`secrets` (word), the view `letters` of email, and a function or macro `told` of the user's. Emails and words hold
`SECRET`. `HIDDEN` reach for the hidden column in words that are a query like any other; `REFUSED` are none.
"""

# ruff: noqa: E501  (a statement a line)

from __future__ import annotations

SECRET = "s3cret"
SHARED = {"people": ["id", "city", "age"], "trips": None}

HIDDEN = """
    SELECT email FROM people
    SELECT EMAIL FROM people
    SELECT people.email FROM people
    SELECT p.email FROM people p
    SELECT p.email FROM people AS p JOIN trips t ON t.city = p.city
    SELECT email AS city FROM people
    SELECT city, email FROM people ORDER BY 2
    SELECT city FROM people ORDER BY email
    SELECT city FROM people ORDER BY lower(email)
    SELECT count(*) FROM people GROUP BY email
    SELECT city FROM people GROUP BY city, email
    SELECT city FROM people GROUP BY city HAVING max(email) > 'a'
    SELECT city FROM people WHERE email LIKE 's%'
    SELECT city FROM people WHERE email IS NOT NULL
    SELECT city FROM people WHERE length(email) > 3
    SELECT max(email) FROM people
    SELECT count(DISTINCT email) FROM people
    SELECT min(email) OVER (PARTITION BY city) FROM people
    SELECT row_number() OVER (ORDER BY email) FROM people
    SELECT CASE WHEN email = 's3cret1' THEN 1 ELSE 0 END FROM people
    SELECT coalesce(email, city) FROM people
    SELECT concat(city, email) FROM people
    SELECT substring(email, 1, 1) FROM people
    SELECT * FROM (SELECT email FROM people) AS x
    SELECT * FROM (SELECT * FROM people) AS x WHERE x.email = 'a'
    SELECT x.email FROM (SELECT * FROM people) AS x
    WITH x AS (SELECT email FROM people) SELECT * FROM x
    WITH x AS (SELECT * FROM people) SELECT email FROM x
    WITH x(e) AS (SELECT email FROM people) SELECT e FROM x
    SELECT city FROM trips WHERE city IN (SELECT email FROM people)
    SELECT city FROM trips WHERE EXISTS (SELECT 1 FROM people WHERE people.email > 'a')
    SELECT (SELECT max(email) FROM people) AS m
    SELECT city FROM trips UNION ALL SELECT email FROM people
    SELECT t.city FROM trips t JOIN people p ON p.email = t.city
    SELECT a.city FROM people a JOIN people b USING (email)
    SELECT a.city FROM people a, people b WHERE a.email = b.email
    SELECT * FROM people WHERE email = 's3cret1'
    SELECT * FROM people
    SELECT people.* FROM people
    SELECT p.* FROM people p
    SELECT * FROM people a JOIN people b ON a.id = b.id
    SELECT * FROM (SELECT * FROM people) AS x
    WITH x AS (SELECT * FROM people) SELECT * FROM x
    SELECT * FROM people NATURAL JOIN trips
    SELECT DISTINCT * FROM people
    SELECT * FROM people UNION SELECT * FROM people
    WITH x AS (SELECT * FROM people), y AS (SELECT * FROM x) SELECT * FROM y
    SELECT * FROM people ORDER BY 1 DESC LIMIT 5
"""
"""In every dialect: an error, or rows without the hidden column."""

HIDDEN_IN_PIVOTS = """
    SELECT * FROM people PIVOT (max(email) FOR city IN ('Oslo', 'Rome'))
    SELECT * FROM people PIVOT (count(*) FOR email IN ('s3cret1', 's3cret2'))
    SELECT * FROM (SELECT email, city, age FROM people) PIVOT (max(age) FOR city IN ('Oslo', 'Rome'))
    SELECT * FROM people UNPIVOT (x FOR kind IN (email, city))
    SELECT * FROM people PIVOT (max(age) FOR city IN ('Oslo', 'Rome'))
    SELECT * FROM people UNPIVOT (x FOR kind IN (id, age))
"""
"""The same for DuckDB and Spark; the last two are answered."""

REFUSED = """
    SELECT * FROM secrets
    SELECT word FROM SECRETS
    SELECT s.word FROM people, secrets s
    SELECT * FROM people, secrets
    SELECT * FROM people JOIN secrets ON true
    SELECT * FROM people LEFT JOIN secrets ON 1 = 1
    SELECT * FROM people CROSS JOIN secrets
    SELECT * FROM people NATURAL JOIN secrets
    SELECT (SELECT max(word) FROM secrets)
    SELECT city FROM people WHERE city IN (SELECT word FROM secrets)
    SELECT city FROM people WHERE EXISTS (SELECT 1 FROM secrets)
    SELECT city FROM people ORDER BY (SELECT max(word) FROM secrets)
    SELECT city FROM people GROUP BY city HAVING count(*) > (SELECT count(*) FROM secrets)
    SELECT city FROM people LIMIT (SELECT count(*) FROM secrets)
    SELECT CASE WHEN (SELECT count(*) FROM secrets) > 0 THEN 1 END
    SELECT city FROM people UNION SELECT word FROM secrets
    SELECT city FROM people EXCEPT SELECT word FROM secrets
    SELECT city FROM people INTERSECT SELECT word FROM secrets
    WITH x AS (SELECT * FROM secrets) SELECT * FROM x
    WITH x AS (SELECT 1), y AS (SELECT * FROM secrets) SELECT * FROM y
    WITH RECURSIVE x AS (SELECT word FROM secrets UNION ALL SELECT word FROM x) SELECT * FROM x
    WITH secrets AS (SELECT * FROM secrets) SELECT * FROM secrets
    WITH secrets AS (SELECT 1) SELECT * FROM (WITH y AS (SELECT 1) SELECT * FROM y) z, (SELECT * FROM people) p, secrets.secrets
    SELECT * FROM (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x, secrets
    SELECT * FROM secrets, (WITH secrets AS (SELECT 1) SELECT * FROM secrets) x
    SELECT * FROM people WHERE city IN (WITH secrets AS (SELECT 1) SELECT 'a' FROM secrets) OR city IN (SELECT word FROM secrets)
    WITH a AS (SELECT * FROM secrets), secrets AS (SELECT 1) SELECT * FROM a
    WITH people AS (SELECT 1) SELECT * FROM people
    SELECT * FROM letters
    SELECT l.* FROM people p JOIN letters l ON l.email IS NOT NULL
    SELECT * FROM unknown
    SELECT * FROM x.people
    SELECT * FROM information_schema.tables
    SELECT * FROM information_schema.columns
    SELECT column_name FROM information_schema.columns WHERE table_name = 'people'
    SELECT * FROM INFORMATION_SCHEMA.VIEWS
    SELECT * FROM "information_schema"."tables"
    WITH x AS (SELECT * FROM information_schema.columns) SELECT * FROM x
    SELECT 1; SELECT 2
    SELECT 1; DELETE FROM trips
    SELECT 1;; SELECT word FROM secrets
    ; SELECT * FROM secrets
    SELECT * FROM trips; DROP TABLE trips --
    DELETE FROM trips
    INSERT INTO trips VALUES ('x', 1, NULL)
    INSERT INTO trips SELECT * FROM trips
    UPDATE trips SET n = 0
    DROP TABLE trips
    DROP VIEW letters
    CREATE TABLE copied AS SELECT * FROM people
    CREATE VIEW copied AS SELECT * FROM people
    CREATE TEMPORARY TABLE copied (a INTEGER)
    ALTER TABLE trips ADD COLUMN x INTEGER
    TRUNCATE TABLE trips
    MERGE INTO trips USING people ON true WHEN MATCHED THEN DELETE
    REPLACE INTO trips VALUES ('x', 1, NULL)
    GRANT ALL ON trips TO public
    REVOKE ALL ON trips FROM public
    BEGIN
    COMMIT
    ROLLBACK
    SAVEPOINT a
    SET x = 1
    SET TRANSACTION READ WRITE
    CALL told('a')
    EXECUTE x
    PREPARE x AS SELECT * FROM secrets
    DECLARE c CURSOR FOR SELECT * FROM secrets
    EXPLAIN SELECT * FROM secrets
    EXPLAIN ANALYZE DELETE FROM trips
    ANALYZE
    VACUUM
    REINDEX
    COMMENT ON TABLE trips IS 'x'
    WITH gone AS (DELETE FROM trips RETURNING n) SELECT * FROM gone
    WITH new AS (INSERT INTO trips VALUES ('x', 1, NULL) RETURNING n) SELECT * FROM new
    WITH changed AS (UPDATE trips SET n = 0 RETURNING n) SELECT * FROM changed
    WITH x AS (SELECT 1) DELETE FROM trips
    WITH x AS (SELECT 1) INSERT INTO trips SELECT 'x', 1, NULL FROM x
    WITH x AS (SELECT 1) UPDATE trips SET n = 0
    SELECT * INTO copied FROM people
    SELECT city INTO copied FROM people
    /* SELECT */ DELETE FROM trips
    -- SELECT
    /**/
    /* */;/* */
    SELECT * FROM secrets -- FROM people
    SELECT * FROM/**/secrets
    SELECT * FROM people /* */ , /* */ secrets
    SELECT * FROM (secrets)
    SELECT * FROM ((secrets))
    SELECT * FROM (people JOIN secrets ON true)
    SELECT * FROM (TABLE secrets) x
    TABLE secrets
    (TABLE secrets)
    SELECT city FROM people WHERE city IN (TABLE secrets)
    SELECT city FROM people WHERE EXISTS (TABLE secrets)
    WITH x AS (TABLE secrets) SELECT * FROM x
    SELECT city FROM people UNION TABLE secrets
    SELECT city FROM people WHERE city IN secrets
    SELECT city FROM people WHERE city NOT IN secrets
    SELECT told(city) FROM people
    SELECT TOLD(city) FROM people
    SELECT told (city) FROM people
    SELECT city FROM people WHERE told(city) = 'x'
    SELECT city FROM people ORDER BY told(city)
    SELECT city FROM people GROUP BY told(city)
    SELECT max(told(city)) FROM people
    SELECT (SELECT told('x'))
    SELECT CASE WHEN told('x') = 'x' THEN 1 END
    SELECT * FROM told('x')
    SELECT x.told('a')
    WITH told(a) AS (SELECT 1) SELECT told('x') FROM told
    WITH x AS (SELECT told('x') AS y) SELECT * FROM x
    SELECT current_user
    SELECT session_user
    SELECT version()
    SELECT database()
    SELECT current_setting('x')
    SELECT current_database()
    SELECT sleep(60)
    SELECT pg_sleep(60)
    SELECT benchmark(1000000000, 1)
    SELECT load_file('/etc/passwd')
    SELECT pg_read_file('/etc/passwd')
    SELECT load_extension('x')
    SELECT readfile('/etc/passwd')
    SELECT writefile('/tmp/codeagent-never', 'x')
    SELECT * FROM read_csv('/etc/passwd')
    SELECT * FROM read_text('/etc/passwd')
    SELECT nextval('numbers')
    SELECT setval('numbers', 1)
    SELECT query_to_xml('SELECT * FROM secrets', true, true, '')
    SELECT lpad(city, 1000000000, 'x') FROM people
    SELECT rpad(city, n * 1000000000, 'x') FROM people
    SELECT lpad('x', (SELECT 2000000000), 'x')
    SELECT :x
    SELECT ?
    SELECT * FROM people FOR UPDATE
    SELECT * FROM people FOR SHARE
    SELECT 1 FROM people p, LATERAL (SELECT * FROM secrets) s
    SELECT 'open
    SELECT "open
    SELECT (((
    SELECT /* open
    SELECT * FROM "secrets"
    SELECT * FROM 'secrets'
    SELECT * FROM "people", "secrets"
    SELECT * FROM people AS "secrets", secrets
    SELECT * FROM people AS secrets JOIN secrets AS people ON true
    SELECT $$x$$, word FROM secrets
    SELECT E'\\'', word FROM secrets
    SELECT 'a\\', word, ' FROM secrets
    SELECT 'it''s', word FROM secrets
    SELECT "a""b", word FROM secrets
    SELECT `word` FROM `secrets`
    SELECT [word] FROM [secrets]
    SELECT\u00a0* FROM\u00a0secrets
    SELECT * FROM \u017fecrets
    SELECT \uff33 FROM secrets
    SELECT * FROM people\u2028, secrets
"""
"""In every dialect."""

OF_DIALECT = {
    "sqlite": """
        SELECT * FROM sqlite_master
        SELECT * FROM sqlite_schema
        SELECT * FROM sqlite_temp_master
        SELECT sql FROM main.sqlite_master
        SELECT * FROM sqlite_sequence
        SELECT * FROM sqlite_stat1
        SELECT * FROM dbstat
        SELECT * FROM main.people
        SELECT email FROM main.people
        SELECT * FROM "main"."people"
        SELECT * FROM [main].[people]
        SELECT * FROM `main`.`people`
        SELECT * FROM MAIN . people
        SELECT * FROM main./**/people
        SELECT * FROM temp.people
        SELECT * FROM other.people
        SELECT rowid FROM secrets
        SELECT * FROM secrets INDEXED BY x
        SELECT * FROM secrets NOT INDEXED
        SELECT * FROM pragma_table_info('people')
        SELECT * FROM pragma_table_xinfo('people')
        SELECT * FROM pragma_database_list
        SELECT * FROM pragma_database_list()
        SELECT * FROM pragma_function_list
        SELECT * FROM pragma_table_list
        SELECT * FROM pragma_index_list('people')
        SELECT * FROM pragma_compile_options
        PRAGMA table_info(people)
        PRAGMA query_only = 0
        PRAGMA writable_schema = 1
        ATTACH 'other.db' AS other
        DETACH main
        SELECT 1 IN secrets
        SELECT 1 IN main.secrets
            SELECT city FROM people WHERE city IN pragma_table_info('people')
        SELECT city FROM people WHERE (SELECT 's' IN secrets)
        SELECT zeroblob(900000000)
        SELECT hex(zeroblob(90000000))
        SELECT randomblob(900000000)
        SELECT printf('%.*c', 900000000, 'x')
        SELECT replace(hex(zeroblob(1000)), '0', hex(zeroblob(100000)))
        SELECT fts3_tokenizer('simple')
        SELECT sqlite_log(1, 'x')
        SELECT sqlite_version()
        SELECT sqlite_source_id()
        SELECT sqlite_compileoption_get(1)
        SELECT last_insert_rowid()
        SELECT changes(), total_changes()
        SELECT edit('x')
        SELECT * FROM fsdir('/')
        SELECT * FROM zipfile('x')
        SELECT * FROM generate_series(1, 2)
        SELECT * FROM sqlite_dbpage
        SELECT upper(city) MATCH 'x' FROM people
        SELECT city FROM people ORDER BY city COLLATE told
        SELECT max(city COLLATE "told") FROM people
        SELECT 'a' = 'b' COLLATE 'told'
        SELECT 'a' = 'b' COLLATE [told]
        SELECT city FROM people WHERE city MATCH 'x'
            EXPLAIN QUERY PLAN SELECT * FROM secrets
        SELECT RAISE(ABORT, 'x')
        SELECT x'61', word FROM secrets
        VALUES ((SELECT max(word) FROM secrets))
        SELECT @x
        SELECT $x
        SELECT ?1
        SELECT * FROM people WHERE rowid IN (SELECT rowid FROM secrets)
    """,
    "duckdb": """
        PIVOT people ON city USING max(email)
        PIVOT secrets ON word USING count(*)
        UNPIVOT people ON email INTO NAME a VALUE b
        SELECT * FROM (PIVOT people ON city USING max(age))
        SELECT * FROM secrets PIVOT (count(*) FOR word IN ('a'))
        SELECT * FROM main.people PIVOT (count(*) FOR email IN ('a'))
        SELECT * FROM people PIVOT (max(age) FOR city IN (SELECT word FROM secrets))
        SELECT * FROM people PIVOT (max(age) FOR city IN (SELECT city FROM people))
        SELECT * FROM people PIVOT (max(age) FOR city IN mood)
        SELECT * FROM people PIVOT (told(city) FOR id IN (1, 2))
        SELECT * FROM people PIVOT (max(age) FOR told(city) IN ('a'))
        SELECT * FROM people PIVOT (max(age) FOR city IN (told('a')))
        SELECT * FROM people PIVOT (max((SELECT max(word) FROM secrets)) FOR id IN (1))
        SELECT * FROM (SELECT * FROM people, secrets) PIVOT (max(word) FOR id IN (1))
        SELECT * FROM people UNPIVOT (x FOR kind IN (COLUMNS(*)))
        SELECT * FROM people UNPIVOT (x FOR kind IN (*))
        SELECT * FROM secrets UNPIVOT (x FOR kind IN (word))
        SELECT pivot(city) FROM people, secrets
        SELECT * FROM duckdb_tables()
        SELECT * FROM duckdb_columns()
        SELECT * FROM duckdb_views()
        SELECT * FROM duckdb_tables
        SELECT * FROM duckdb_settings()
        SELECT * FROM duckdb_secrets()
        SELECT * FROM duckdb_functions()
        SELECT * FROM duckdb_logs
        SELECT * FROM sqlite_master
        SELECT * FROM pg_catalog.pg_class
        SELECT * FROM pg_class
        SELECT * FROM pg_settings
        SELECT * FROM main.people
        SELECT * FROM memory.people
        SELECT * FROM memory.main.people
        SELECT * FROM "memory"."main"."people"
        SELECT email FROM main . people
        SELECT main.people.email FROM main.people
        SELECT * FROM temp.people
        SELECT * FROM people.people
        FROM secrets
        FROM secrets SELECT word
        FROM people, secrets
        FROM main.people SELECT email
        SELECT * FROM people POSITIONAL JOIN secrets
        SELECT * FROM people SEMI JOIN secrets ON true
        SELECT * FROM people ANTI JOIN secrets ON city = word
        SELECT * FROM people ASOF JOIN secrets ON city >= word
        SELECT * FROM '/etc/passwd'
        SELECT * FROM '/etc/passwd.csv'
            SELECT * FROM "x.csv"
        SELECT * FROM x.csv
        SELECT * FROM 'http://127.0.0.1:9/x.csv'
        SELECT * FROM 's3://bucket/x.parquet'
        SELECT * FROM read_csv_auto('x.csv')
        SELECT * FROM read_parquet('x.parquet')
        SELECT * FROM read_json('x.json')
        SELECT * FROM read_blob('/etc/passwd')
        SELECT content FROM READ_TEXT('/etc/passwd')
        SELECT * FROM parquet_metadata('x.parquet')
        SELECT * FROM sniff_csv('x.csv')
        SELECT * FROM glob('/*')
        SELECT * FROM query('SELECT * FROM secrets')
        SELECT * FROM query_table('secrets')
        SELECT * FROM query_table(['people'])
        SELECT * FROM seq_scan('secrets')
        SELECT * FROM pragma_table_info('people')
        SELECT * FROM pragma_show('people')
        SELECT * FROM pragma_storage_info('people')
        SELECT * FROM summary((SELECT * FROM secrets))
        SELECT json_serialize_sql('SELECT 1')
        SELECT * FROM json_execute_serialized_sql('x')
        SELECT json_serialize_plan('SELECT * FROM secrets')
        SELECT getvariable('x')
        SELECT getenv('HOME')
        SELECT current_query()
        SELECT current_schemas(true)
        SELECT write_log('x')
        SELECT currval('numbers')
        SELECT setseed(0.5)
        SELECT sleep_ms(60000)
        SELECT txid_current()
        SELECT 'x'.told()
        SELECT city.told() FROM people
        SELECT 'SELECT 1'.query()
        SELECT list_transform(['x'], lambda x: told(x))
        SELECT [told(x) FOR x IN ['a']]
        SELECT {'a': told('x')}
            SELECT * FROM private_frame
        WITH private_frame AS (SELECT * FROM private_frame) SELECT * FROM private_frame
        SELECT range(1000000000)
        SELECT len(range(0, 1000000000, 1))
        SELECT generate_series(1, n * 100000000) FROM trips
        SELECT len(range((SELECT 1000000000)))
        SELECT unnest(range(1000000000))
        SELECT repeat('x', 2000000000)
        SELECT length(repeat(city, 2000000000)) FROM people
        SELECT 'x'.repeat(2000000000)
        SELECT printf('%2000000000d', 1)
        SELECT printf('%*d', 2000000000, 1)
        SELECT format('{:2000000000}', 1)
        SELECT format('{:{}}', 1, 2000000000)
        SELECT printf(concat('%', 2000000000, 'd'), 1)
        SELECT bar(1, 0, 1, 2000000000)
        SELECT list_resize([1], 2000000000, 0)
        SELECT array_resize([1], 2000000000)
        SELECT bitstring('1', 2000000000)
        SELECT to_base(1, 2, 2000000000)
        SELECT equi_width_bins(0, 1000000000, 1000000000, false)
        SELECT * FROM repeat('x', 2000000000)
        SELECT * FROM repeat_row('x', num_rows = 2000000000)
        COPY people TO 'x.csv'
        COPY (SELECT * FROM secrets) TO 'x.csv'
        EXPORT DATABASE 'x'
        IMPORT DATABASE 'x'
        INSTALL httpfs
        LOAD httpfs
        ATTACH 'x.db'
        USE memory
        PRAGMA version
        CHECKPOINT
        SHOW TABLES
        SHOW ALL TABLES
        SUMMARIZE secrets
        SUMMARIZE people
        SUMMARIZE main.people
        DESCRIBE people
        DESCRIBE secrets
        PIVOT secrets ON word USING count(*)
        UNPIVOT secrets ON word
        FROM (PIVOT secrets ON word USING count(*))
        SELECT * FROM (DESCRIBE secrets)
        SELECT * FROM (SUMMARIZE secrets)
        SELECT * FROM (SHOW TABLES)
        SELECT * FROM people AT (VERSION => 1)
        SELECT $1
        SELECT U&'\\0027', word FROM secrets
        SELECT x'61', word FROM secrets
        CREATE MACRO m() AS (SELECT max(email) FROM people)
        SELECT of_people()
        SELECT * FROM of_table()
            SELECT word FROM secrets USING SAMPLE 10
        SELECT 'a'::told
        SELECT * FROM people AS p(a, b, c), secrets
        SELECT * FROM unnest((SELECT list(word) FROM secrets))
        SELECT * FROM range((SELECT count(*) FROM secrets))
    """,
    "postgresql": """
        SELECT make_interval(days => (SELECT count(*)::int FROM secrets))
        SELECT told(what => city) FROM people
        SELECT pg_sleep(seconds => 60)
        SELECT query_to_xml(query => 'SELECT * FROM secrets', nulls => true, tableforest => true, targetns => '')
        SELECT (now(), now()) OVERLAPS (now(), (SELECT max(word) FROM secrets)::timestamp)
        SELECT (day, day) OVERLAPS (told('x'), day) FROM trips
        SELECT num_nulls(word) FROM secrets
        SELECT num_nonnulls(VARIADIC told('x'))
        SELECT ';', word FROM secrets
        SELECT ';'; SELECT word FROM secrets
        SELECT 'a;b' FROM people; DROP TABLE trips
        SELECT '\\'; DROP TABLE trips; --'
        SELECT .5, word FROM secrets
        SELECT * FROM .secrets
        SELECT * FROM pg_catalog.pg_class
        SELECT * FROM pg_class
        SELECT * FROM pg_user
        SELECT * FROM pg_shadow
        SELECT * FROM pg_stat_activity
        SELECT * FROM pg_settings
        SELECT * FROM pg_stats
        SELECT * FROM pg_attribute
        SELECT * FROM public.people
        SELECT email FROM public.people
        SELECT * FROM "public"."people"
        SELECT * FROM public . people
        SELECT * FROM public./**/people
        SELECT * FROM postgres.public.people
        SELECT public.people.email FROM public.people
        SELECT * FROM "People"
        SELECT * FROM U&"secrets"
        SELECT * FROM ONLY secrets
        SELECT * FROM ONLY (secrets)
        SELECT * FROM ONLY public.people
        SELECT * FROM secrets *
        SELECT * FROM secrets TABLESAMPLE BERNOULLI (100)
        SELECT told(city::text) FROM people
        SELECT public.told('x')
        SELECT * FROM ROWS FROM (told('x')) x
        SELECT pg_terminate_backend(1)
        SELECT pg_cancel_backend(1)
        SELECT pg_catalog.pg_sleep(60)
        SELECT "pg_sleep"(60)
        SELECT pg_sleep_for('1 minute')
        SELECT pg_advisory_lock(1)
        SELECT pg_notify('a', 'b')
        SELECT pg_ls_dir('/')
        SELECT pg_read_binary_file('/etc/passwd')
        SELECT pg_stat_file('/etc/passwd')
        SELECT lo_import('/etc/passwd')
        SELECT lo_export(1, '/tmp/codeagent-never')
        SELECT lo_get(1)
        SELECT dblink('x', 'SELECT 1')
        SELECT * FROM dblink('x', 'SELECT 1') AS t(a int)
        SELECT set_config('statement_timeout', '0', false)
        SELECT table_to_xml('secrets', true, true, '')
        SELECT database_to_xml(true, true, '')
        SELECT cursor_to_xml('c', 1, true, true, '')
        SELECT * FROM ts_stat('SELECT word FROM secrets')
        SELECT pg_relation_size('secrets')
        SELECT pg_get_viewdef('letters')
        SELECT has_table_privilege('secrets', 'select')
        SELECT to_regclass('secrets')
        SELECT 'secrets'::regclass
        SELECT CAST('secrets' AS regclass)
        SELECT 'told'::regproc
        SELECT NULL::secrets
        SELECT NULL::public.secrets
        SELECT json_populate_record(NULL::people, '{}')
        SELECT json_populate_recordset(NULL::secrets, '[]')
        SELECT row_security_active('people')
        SELECT txid_current()
        SELECT pg_current_xact_id()
        SELECT inet_server_addr()
        SELECT repeat('x', 2000000000)
        SELECT array_fill(1, ARRAY[1000000000])
        SELECT current_catalog
        SELECT current_schema
        SELECT current_role
        SELECT user
        SELECT system_user
        SELECT 1 OPERATOR(pg_catalog.+) 1
        COPY people TO STDOUT
        COPY people TO PROGRAM 'cat'
        COPY secrets FROM '/etc/passwd'
        DO $$ BEGIN PERFORM pg_sleep(60); END $$
        LISTEN a
        NOTIFY a
        LOCK TABLE people
        RESET ALL
        SHOW ALL
        DISCARD ALL
        LOAD 'x'
        SELECT * FROM people FOR NO KEY UPDATE
        SELECT * FROM people FOR KEY SHARE
        SELECT U&'\\0027' , word FROM secrets
        SELECT B'1', word FROM secrets
        SELECT $a$x$a$, word FROM secrets
        SELECT $1
        SELECT * FROM JSON_TABLE('[]', '$' COLUMNS (a int))
        SELECT * FROM XMLTABLE('/a' PASSING '<a/>' COLUMNS b int)
        SELECT xmlparse(document '<a/>')
        SELECT * FROM pg_ls_logdir()
        SELECT * FROM information_schema.role_table_grants
        SELECT * FROM pg_logical_slot_get_changes('x', NULL, NULL)
    """,
    "mariadb": """
        SELECT ';', word FROM secrets
        SELECT ';'; SELECT word FROM secrets
        SELECT "a;b" FROM people; DROP TABLE trips
        SELECT "'; DROP TABLE trips; '" FROM people, secrets
        SELECT .5, word FROM secrets
        SELECT * FROM .5secrets
        SELECT * FROM trips, .secrets
        SELECT .secrets.word FROM people
        SELECT to_char(word) FROM secrets
        SELECT add_months((SELECT max(word) FROM secrets), 1)
        SELECT * FROM mysql.user
        SELECT * FROM mysql.global_priv
        SELECT * FROM performance_schema.threads
        SELECT * FROM sys.processlist
        SELECT * FROM information_schema.processlist
        SELECT * FROM test.people
        SELECT email FROM test.people
        SELECT * FROM `test`.`people`
        SELECT * FROM test . people
        SELECT * FROM test./**/people
        SELECT * FROM .people
        SELECT test.people.email FROM test.people
        SELECT * FROM People
        SELECT * FROM PEOPLE
        SELECT * FROM `secrets`
        SELECT * FROM `people`, `secrets`
        SELECT * FROM people STRAIGHT_JOIN secrets
        SELECT * FROM secrets PARTITION (p0)
        SELECT * FROM people FOR SYSTEM_TIME ALL
        SELECT * FROM secrets USE INDEX (x)
        SELECT SLEEP (60)
        SELECT `sleep`(60)
        SELECT GET_LOCK('a', 1)
        SELECT RELEASE_LOCK('a')
        SELECT IS_FREE_LOCK('a')
        SELECT BENCHMARK(1000000000, MD5('a'))
        SELECT LOAD_FILE(0x2f6574632f706173737764)
        SELECT MASTER_POS_WAIT('a', 1)
        SELECT 'a' INTO OUTFILE '/tmp/codeagent-never'
        SELECT 'a' INTO DUMPFILE '/tmp/codeagent-never'
        SELECT * FROM people INTO OUTFILE '/tmp/codeagent-never'
        SELECT city FROM people LIMIT 1 INTO @city
        SELECT @a := 1
        SELECT @a
        SELECT @@datadir
        SELECT @@global.datadir
        SELECT NEXT VALUE FOR numbers
        SELECT LASTVAL(numbers)
        SELECT told(city) FROM test.people
        SELECT test.told('x')
        SELECT USER()
        SELECT CURRENT_USER()
        SELECT SESSION_USER()
        SELECT SCHEMA()
        SELECT CONNECTION_ID()
        SELECT LAST_INSERT_ID()
        SELECT FOUND_ROWS()
        SELECT EXTRACTVALUE('<a/>', '/a')
        SELECT UPDATEXML('<a/>', '/a', 'b')
        SELECT UUID_SHORT()
        SELECT SYS_GUID()
        SELECT DES_ENCRYPT('a')
        SELECT REPEAT('x', 2000000000)
        SELECT SPACE(2000000000), word FROM secrets
        SELECT 1 /*!50000 , word FROM secrets */ FROM secrets
        SELECT 1 /*M! , SLEEP(60) */ FROM secrets
        SELECT /*+ MAX_EXECUTION_TIME(0) */ * FROM people
        SELECT /*+ SET_VAR(sql_mode = '') */ * FROM people
            SELECT SQL_CALC_FOUND_ROWS * FROM secrets
        SELECT * FROM people PROCEDURE ANALYSE()
        SELECT * FROM people LOCK IN SHARE MODE
        SELECT * FROM people FOR UPDATE SKIP LOCKED
        SELECT {fn SLEEP(60)}
        SELECT {d '2020-01-01'}, word FROM secrets
        SELECT N'x', word FROM secrets
        SELECT _utf8'x', word FROM secrets
        SELECT x'61', word FROM secrets
        SELECT 0x61, word FROM secrets
        SELECT b'1', word FROM secrets
        SELECT "a\\", word, " FROM secrets
        SELECT 'a\\'', word FROM secrets
        SHOW TABLES
        SHOW COLUMNS FROM people
        SHOW GRANTS
        SHOW VARIABLES
        DESCRIBE people
        DESC secrets
        EXPLAIN people
        HANDLER people OPEN
        DO SLEEP(60)
        KILL 1
        LOAD DATA INFILE '/etc/passwd' INTO TABLE trips
        USE mysql
        LOCK TABLES people READ
        FLUSH TABLES
        RENAME TABLE trips TO x
        SET GLOBAL general_log = 1
        VALUES (SLEEP(60))
        SELECT * FROM JSON_TABLE('[]', '$' COLUMNS (a INT PATH '$')) x
        SELECT * FROM people LIMIT 1 PROCEDURE ANALYSE(1)
        SELECT city FROM people LIMIT ROWS EXAMINED 1
    """,
}
OF_DIALECT["mysql"] = OF_DIALECT["mariadb"]
OF_DIALECT["polars"] = """
    SELECT lpad(city, 2000000000, 'x') FROM people
    SELECT rpad(city, age * 100000000) FROM people
    SELECT lpad(lpad(city, 1000000000, 'x'), 3, 'y') FROM people
    SELECT regexp_replace(word, 'a', 'b') FROM secrets
    SELECT regexp_replace(city, 'a', (SELECT max(word) FROM secrets)) FROM people
    SELECT date_trunc('month', word) FROM secrets
    SELECT string_agg(word, ',') FROM secrets
    SELECT listagg((SELECT max(word) FROM secrets), ',') FROM people
    SELECT ntile((SELECT count(*) FROM secrets)) OVER (ORDER BY age) FROM people
    SELECT nth_value(word, 1) OVER (ORDER BY word) FROM secrets
    SELECT age FROM people QUALIFY row_number() OVER (ORDER BY (SELECT max(word) FROM secrets)) = 1
    SELECT city FROM people QUALIFY told(city) = 'x'
    SELECT * EXCLUDE (id) FROM secrets
    SELECT * RENAME (word AS city) FROM secrets
    SELECT year((SELECT max(word) FROM secrets))
    SELECT repeat('x', 2000000000)
    SELECT range(2000000000)
    SELECT generate_series(1, 2000000000)
    SELECT COLUMNS('.*') FROM secrets
    SELECT * FROM read_parquet('/tmp/x.parquet')
    SELECT * FROM read_ipc('/tmp/x')
    SELECT * FROM read_json('/tmp/x')
    SELECT * FROM READ_CSV ('/etc/passwd')
    SELECT * FROM read_csv/**/('/etc/passwd')
    SELECT * FROM "read_csv"('/etc/passwd')
    SELECT * FROM `read_csv`('/etc/passwd')
    SELECT * FROM people, read_csv('/etc/passwd')
    SELECT * FROM people JOIN read_csv('/etc/passwd') AS x ON true
    SELECT * FROM (SELECT * FROM read_csv('/etc/passwd'))
    SELECT * FROM people WHERE city IN (SELECT a FROM read_csv('/etc/passwd') AS x(a))
    WITH x AS (SELECT * FROM read_csv('/etc/passwd')) SELECT * FROM x
    SELECT * FROM scan_csv('/etc/passwd')
    SELECT * FROM read_database('x')
    SELECT * FROM '/etc/passwd'
    SELECT * FROM "/etc/passwd"
    SELECT * FROM df
    SELECT * FROM globals
    SELECT * FROM public.people
    SELECT COLUMNS('.*') FROM people
    SELECT columns('email') FROM people
    SELECT E'a\\'', word FROM secrets
    SELECT x'61', word FROM secrets
    SELECT $$a$$, word FROM secrets
    SELECT repeat('x', 2000000000)
    SELECT unnest(generate_series(1, 2000000000))
    SHOW TABLES
    SHOW COLUMNS FROM people
    EXPLAIN SELECT * FROM people
    FROM secrets
    DELETE FROM people WHERE true
    SELECT * FROM people FOR UPDATE
    SELECT current_setting('x')
    SELECT * FROM unnest((SELECT array_agg(word) FROM secrets)) AS x
"""
OF_DIALECT["spark"] = """
    SELECT * FROM secrets PIVOT (count(*) FOR word IN ('a'))
    SELECT * FROM people PIVOT (max(age) FOR city IN ((SELECT max(word) FROM secrets)))
    SELECT * FROM people PIVOT (max(age) FOR city IN (SELECT word FROM secrets))
    SELECT * FROM people PIVOT (max(age) FOR city IN (upper('a')))
    SELECT * FROM people PIVOT (max(age) FOR city IN (ANY))
    SELECT * FROM people PIVOT (told(city) FOR id IN (1, 2))
    SELECT * FROM people PIVOT (max((SELECT max(word) FROM secrets)) FOR id IN (1))
    SELECT * FROM secrets UNPIVOT (x FOR kind IN (word))
    SELECT * FROM people UNPIVOT (x FOR kind IN (*))
    SELECT pivot(city) FROM people, secrets
    SELECT city FROM people QUALIFY told(city) = 'x'
    SELECT city FROM people QUALIFY row_number() OVER (ORDER BY (SELECT max(word) FROM secrets)) = 1
    SELECT sequence(1, n * 1000000000) FROM trips
    SELECT sequence(1, (SELECT 2000000000))
    SELECT explode(sequence(min(day), max(day), INTERVAL 1 SECOND)) FROM trips
    SELECT sequence(DATE'0001-01-01', DATE'9999-12-31', INTERVAL 1 SECOND)
    SELECT sequence(TIMESTAMP'0001-01-01', TIMESTAMP'9999-12-31', INTERVAL 1 MICROSECOND)
    SELECT sequence(DATE'2024-01-01', DATE'+294247-01-01', INTERVAL 1 DAY)
    SELECT sequence(DATE'2024-01-01', DATE'2025-01-01', make_interval(0, 0, 0, 0, 0, 0, 0.000001))
    SELECT sequence(CAST('0001-01-01' AS TIMESTAMP), DATE'9999-12-31', INTERVAL 1 DAY)
    SELECT size(sequence(0, 100000, 1)), sequence(0, 1000000000, 1)
    SELECT format_string(city, 1) FROM people
    SELECT format_string('%1$2000000000d', 1)
    SELECT format_string(concat('%', '2000000000d'), 1)
    SELECT printf('%-2000000000s', city) FROM people
    SELECT printf((SELECT max(word) FROM secrets), 1)
    SELECT try_cast(word AS INT) FROM secrets
    SELECT try_cast(city AS told) FROM people
    SELECT equal_null(city, (SELECT max(word) FROM secrets)) FROM people
    SELECT * FROM default.people
    SELECT * FROM spark_catalog.default.people
    SELECT email FROM spark_catalog.default.people
    SELECT default.people.email FROM default.people
    SELECT * FROM `default`.`people`
    SELECT * FROM default . people
    SELECT * FROM default./**/people
    SELECT * FROM `default.people`
    SELECT * FROM global_temp.letters
    SELECT * FROM system.information_schema.tables
    SELECT * FROM `secrets`
    SELECT * FROM `people`, `secrets`
    SELECT * FROM "secrets"
    SELECT * FROM csv.`/etc/passwd`
    SELECT * FROM text.`/etc/passwd`
    SELECT * FROM parquet.`/tmp/x`
    SELECT * FROM json.`/tmp/x`
    SELECT * FROM binaryFile.`/etc/passwd`
    SELECT * FROM delta.`/tmp/x`
    SELECT * FROM jdbc.`x`
    SELECT * FROM text.`file:///etc/passwd`
    SELECT * FROM `text`.`/etc/passwd`
    SELECT * FROM TEXT . `/etc/passwd`
    SELECT * FROM read_files('/etc/passwd')
    SELECT * FROM read_kafka(bootstrapServers => 'x')
    SELECT * FROM cloud_files('/x', 'json')
    SELECT * FROM identifier('secrets')
    SELECT identifier('email') FROM people
    SELECT * FROM IDENTIFIER('sec' || 'rets')
    SELECT identifier('told')(city) FROM people
    EXECUTE IMMEDIATE 'SELECT * FROM secrets'
    SELECT java_method('java.lang.System', 'getProperty', 'user.home')
    SELECT reflect('java.lang.System', 'getenv', 'HOME')
    SELECT try_reflect('java.lang.System', 'getenv', 'HOME')
    SELECT `reflect`('java.lang.System', 'getenv', 'HOME')
    SELECT REFLECT ('java.lang.System', 'exit', 1)
    SELECT reflect/**/('java.lang.Runtime', 'getRuntime')
    SELECT city FROM people WHERE reflect('java.lang.System', 'getenv', 'HOME') = 'x'
    SELECT aggregate(array(1), 0, (a, x) -> reflect('java.lang.System', 'exit', 1))
    SELECT filter(array('a'), x -> told(x) = 'a')
    SELECT exists(array('a'), x -> x = (SELECT max(word) FROM secrets))
    SELECT input_file_name()
    SELECT input_file_block_start(), input_file_block_length()
    SELECT current_user
    SELECT current_user()
    SELECT session_user()
    SELECT user()
    SELECT current_catalog()
    SELECT current_database()
    SELECT current_schema()
    SELECT current_metastore()
    SELECT version()
    SELECT current_path()
    SELECT system.builtin.abs(1)
    SELECT builtin.reflect('java.lang.System', 'getenv', 'HOME')
    SELECT default.told('x')
    SELECT spark_catalog.default.told('x')
    SELECT session.told('x')
    SELECT system.session.told('x')
    SELECT secret('scope', 'key')
    SELECT try_secret('scope', 'key')
    SELECT ai_query('model', city) FROM people
    SELECT http_request('GET', 'http://127.0.0.1')
    SELECT * FROM sql_keywords()
    SELECT * FROM collations()
    SELECT * FROM python_worker_logs()
    SELECT * FROM variant_explode(parse_json('[]'))
    SELECT assert_true(false, city) FROM people
    SELECT raise_error(city) FROM people
    SELECT xpath_string('<a>b</a>', 'a')
    SELECT aes_decrypt(city, 'k') FROM people
    SELECT repeat('x', 2000000000)
    SELECT space(2000000000)
    SELECT array_repeat('x', 2000000000)
    SELECT sequence(1, 2000000000)
    SELECT explode(sequence(1, 2000000000))
    SELECT stack(2000000000, 1)
    SELECT format_string('%2000000000d', 1)
    SELECT printf('%2000000000d', 1)
    SELECT format_number(1, 2000000000)
    SELECT randstr(2000000000)
    SELECT histogram_numeric(n, 2000000000) FROM trips
    SELECT '${env:HOME}'
    SELECT '${spark.app.id}', city FROM people
    SELECT ${env:HOME}
    SELECT city AS `${env:HOME}` FROM people
    SELECT "${system:user.home}"
    SELECT '${hiveconf:x}'
    SELECT * FROM ${spark.x}
    SELECT '$/**/{env:HOME}', ${x}
    SELECT {trips}
    SELECT * FROM {secrets}
    SELECT * FROM `{secrets}`
    SELECT {people.__class__}
    SELECT {0}
    SELECT city FROM people WHERE city = :city
    SELECT city FROM people WHERE city = ?
    SELECT TRANSFORM(city) USING 'cat' FROM people
    SELECT TRANSFORM(*) USING 'cat' AS (a) FROM people
    SELECT transform(city) USING 'cat' AS a FROM people
    FROM people SELECT TRANSFORM(city) USING 'cat'
    FROM people MAP city USING 'cat' AS a
    FROM people REDUCE city USING 'cat'
    MAP city USING 'cat' FROM people
    REDUCE city USING 'cat' FROM people
    SELECT * FROM (FROM people MAP city USING 'cat' AS a)
    SELECT * FROM (MAP city USING 'cat' AS a FROM people) x
    WITH x AS (FROM people MAP city USING 'cat' AS a) SELECT * FROM x
    SELECT city FROM people WHERE city IN (FROM people SELECT TRANSFORM(city) USING 'cat')
    FROM people INSERT INTO trips SELECT city, 1, NULL
    FROM people INSERT OVERWRITE DIRECTORY '/tmp/codeagent-never' SELECT *
    INSERT OVERWRITE DIRECTORY '/tmp/codeagent-never' USING csv SELECT * FROM people
    INSERT OVERWRITE LOCAL DIRECTORY '/tmp/codeagent-never' SELECT * FROM people
    INSERT OVERWRITE trips SELECT city, 1, NULL FROM people
    WITH x AS (SELECT 1) FROM people INSERT INTO trips SELECT city, 1, NULL
    CREATE TABLE copied USING csv LOCATION '/tmp/codeagent-never' AS SELECT * FROM people
    CREATE OR REPLACE TEMPORARY VIEW people AS SELECT * FROM secrets
    CREATE FUNCTION f AS 'x.Y' USING JAR '/tmp/x.jar'
    CREATE TEMPORARY FUNCTION abs(x INT) RETURNS INT RETURN 1
    CACHE TABLE people
    CACHE LAZY TABLE copied AS SELECT * FROM secrets
    UNCACHE TABLE people
    CLEAR CACHE
    REFRESH TABLE people
    REFRESH '/tmp'
    ADD JAR '/tmp/x.jar'
    ADD FILE '/etc/passwd'
    ADD ARCHIVE '/tmp/x.zip'
    LIST JARS
    LOAD DATA INPATH '/etc/passwd' INTO TABLE trips
    MSCK REPAIR TABLE trips
    OPTIMIZE trips
    SET
    SET spark.sql.ansi.enabled = false
    SET -v
    SET VAR x = 1
    SET TIME ZONE 'UTC'
    SET CATALOG x
    RESET
    USE default
    USE CATALOG x
    DECLARE VARIABLE x STRING
    DROP TEMPORARY VARIABLE x
    SHOW TABLES
    SHOW FUNCTIONS
    SHOW CREATE TABLE people
    DESCRIBE people
    DESCRIBE EXTENDED secrets
    DESC QUERY SELECT * FROM secrets
    EXPLAIN COST SELECT * FROM secrets
    ANALYZE TABLE people COMPUTE STATISTICS
    BEGIN SELECT * FROM secrets; END
    CALL system.x()
    DFS -ls /
    !ls
    SELECT /*+ BROADCAST(people) */ * FROM people
    SELECT /*+ REPARTITION(100000) */ * FROM people
    SELECT /*+ COALESCE(1) */ city FROM people, secrets
    SELECT * FROM people LATERAL VIEW told(city) t AS x
    SELECT * FROM people LATERAL VIEW OUTER explode(told(city)) t AS x
    SELECT * FROM people LATERAL VIEW explode(array((SELECT max(word) FROM secrets))) t AS x
    SELECT * FROM people, LATERAL (SELECT * FROM secrets)
    SELECT * FROM people, LATERAL told(city)
    SELECT * FROM told(TABLE(people))
    SELECT * FROM explode(TABLE(secrets))
    SELECT * FROM range(TABLE secrets)
    SELECT * FROM people VERSION AS OF 1
    SELECT * FROM people TIMESTAMP AS OF '2024-01-01'
    SELECT * FROM people FOR VERSION AS OF 1
    SELECT * FROM `people@v1`
    SELECT * FROM STREAM people
    SELECT * FROM STREAM(people)
    SELECT * FROM people |> WHERE age > 1
    FROM people |> SELECT city
    TABLE people |> JOIN secrets
    SELECT city FROM people DISTRIBUTE BY city
    SELECT city FROM people CLUSTER BY city
    SELECT city FROM people SORT BY (SELECT max(word) FROM secrets)
    SELECT * FROM people WHERE _metadata.file_path LIKE '%' AND city IN (TABLE secrets)
    SELECT r'\\', word, ' FROM secrets
    SELECT R"x", word FROM secrets
    SELECT x'61', word FROM secrets
    SELECT N'x', word FROM secrets
    SELECT 'a\\'', word FROM secrets
    SELECT 'a\\\\', word FROM secrets
    SELECT "a", word FROM secrets
    SELECT 'a' 'b', word FROM secrets
    SELECT 1 /* /* */ , word FROM secrets */ FROM secrets
    SELECT * FROM people SEMI JOIN secrets ON true
    SELECT * FROM people LEFT ANTI JOIN secrets ON true
    SELECT * FROM people JOIN secrets USING (city)
    SELECT * FROM people TABLESAMPLE (100 PERCENT), secrets
    SELECT * FROM VALUES (1), (2) AS t(a), secrets
    VALUES ((SELECT max(word) FROM secrets))
    SELECT city COLLATE told FROM people WHERE city IN (SELECT word FROM secrets)
    SELECT CAST(city AS told) FROM people
    SELECT city::told FROM people
    SELECT people:email FROM people
    SELECT * FROM people NATURAL LEFT JOIN secrets
"""


def statements(listed: str) -> list[str]:
    return [line.strip(" ") for line in listed.split("\n") if line.strip(" ")]


def hostile(dialect: str) -> list[str]:
    """All that are refused in the dialect."""
    return list(dict.fromkeys([*statements(REFUSED), *statements(OF_DIALECT[dialect])]))
