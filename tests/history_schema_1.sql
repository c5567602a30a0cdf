-- A history as schema version 1 wrote it: one run, edited, then run in the live kernel.
PRAGMA auto_vacuum = INCREMENTAL;
BEGIN TRANSACTION;
CREATE TABLE decisions (
            n INTEGER PRIMARY KEY AUTOINCREMENT,
            run_id TEXT NOT NULL,
            at REAL NOT NULL,
            what TEXT NOT NULL,
            by TEXT NOT NULL
        );
INSERT INTO "decisions" VALUES(1,'0123456789ab',1.79532038810151457785e+09,'edited','panel');
INSERT INTO "decisions" VALUES(2,'0123456789ab',1.79532038810156226163e+09,'applied','stdin');
CREATE TABLE records (n INTEGER PRIMARY KEY, record TEXT NOT NULL);
INSERT INTO "records" VALUES(1,'{"id": "0123456789ab", "request": {"prompt": "Which carrier is late? {braces} \u201cquotes\u201d 100 % \ud83d\udc27", "model": "qwen-coder", "server": "embedded", "remote": false, "approve": "review", "privacy": "stats", "max_steps": 4, "timeout_s": 120.0, "candidates": 1, "cell_id": "agent", "notebook": "work/eda.ipynb"}, "status": "ok", "started_at": 1700000000.0, "ended_at": 1700000003.5, "steps": [{"index": 1, "messages": [{"role": "system", "content": "You write Python."}, {"role": "user", "content": "{''a'': \"b\"} 100%"}], "prefill": "```python\n", "reply": "```python\nflights.delay\n```", "code": "flights.delay", "decision": {"action": "approve", "code": "flights.delay", "decided_by": "policy", "reason": "", "scope": "once", "decided_at": 1.5, "edited": false}, "result": {"status": "error", "outputs": [], "error": {"ename": "AttributeError", "evalue": "no ''delay''", "line": 1, "source": "flights.delay"}, "reason": "", "duration_s": 0.2, "peak_memory_bytes": 0, "namespace": [{"name": "flights", "type_name": "DataFrame", "shape": [3, 2], "columns": ["carrier", "arr_delay"], "dtypes": [], "returns_as": ""}], "changes": [], "notes": ["1 output dropped"]}, "usage": {"prompt_tokens": 100, "completion_tokens": 7, "cached_tokens": 0, "calls": 1}, "duration_s": 1.0, "note": ""}, {"index": 2, "messages": [{"role": "system", "content": "You write Python."}, {"role": "user", "content": "{''a'': \"b\"} 100%"}, {"role": "assistant", "content": "```python\nflights.delay\n```"}], "prefill": "", "reply": "```python\nlate = flights.groupby(''carrier'').arr_delay.mean()\nlate\n```", "code": "late = flights.groupby(''carrier'').arr_delay.mean()\nlate", "decision": null, "result": {"status": "ok", "outputs": [{"output_type": "stream", "name": "stdout", "text": "16 carriers\n"}, {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}, "metadata": {}}, {"output_type": "execute_result", "data": {"text/html": "<table><tr><td>21.9</td></tr></table>", "text/plain": "F9  21.9"}, "metadata": {}, "execution_count": null}], "error": null, "reason": "", "duration_s": 0.0, "peak_memory_bytes": 5242880, "namespace": [], "changes": [], "notes": []}, "usage": {"prompt_tokens": 150, "completion_tokens": 20, "cached_tokens": 90, "calls": 1}, "duration_s": 0.0, "note": ""}], "manifest": {"copied": [{"name": "flights", "type_name": "DataFrame", "size_bytes": 9, "files": [["1.piece", 0, 9]], "buffers": [], "head": [0, 9], "version": 1, "note": "", "reads": []}], "skipped": [{"name": "lock", "reason": "cannot be copied"}], "modules": ["import pandas as pd"]}, "context": "flights: DataFrame 3x2", "data_sha256": "abababababababababababababababababababababababababababababababab", "described_sha256": "", "sandbox": "bubblewrap, no network", "code": "late = flights.groupby(''carrier'').arr_delay.mean()\nlate", "outputs": [{"output_type": "stream", "name": "stdout", "text": "16 carriers\n"}, {"output_type": "display_data", "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"}, "metadata": {}}, {"output_type": "execute_result", "data": {"text/html": "<table><tr><td>21.9</td></tr></table>", "text/plain": "F9  21.9"}, "metadata": {}, "execution_count": null}], "changes": [{"name": "flights", "kind": "changed", "added": ["''speed''"], "removed": [], "values": ["''arr_delay''"], "notes": ["index"], "earlier": false}, {"name": "tmp", "kind": "deleted", "added": [], "removed": ["''gone''"], "values": [], "notes": [], "earlier": true}], "made": [{"name": "late", "type_name": "Series", "shape": [16], "columns": [], "dtypes": ["float64"], "returns_as": "data"}, {"name": "figure", "type_name": "Figure", "shape": [], "columns": [], "dtypes": [], "returns_as": "image"}, {"name": "model", "type_name": "LinearRegression", "shape": [], "columns": [], "dtypes": [], "returns_as": ""}], "answer": "Frontier (F9) is 21.9 minutes late.", "error": "", "usage": {"prompt_tokens": 250, "completion_tokens": 27, "cached_tokens": 90, "calls": 2}, "notes": ["repaired 1 error"], "replayed_from": "", "cell_state": "pending"}');
CREATE TABLE runs (
            n INTEGER PRIMARY KEY,
            id TEXT NOT NULL UNIQUE,
            session TEXT NOT NULL,
            writer TEXT NOT NULL,
            prompt TEXT NOT NULL,
            notebook TEXT,
            cell_id TEXT,
            model TEXT NOT NULL,
            status TEXT NOT NULL,
            started_at REAL NOT NULL,
            ended_at REAL,
            saved_at REAL NOT NULL,
            steps INTEGER NOT NULL,
            prompt_tokens INTEGER NOT NULL,
            completion_tokens INTEGER NOT NULL,
            cell_state TEXT NOT NULL,
            error TEXT NOT NULL
        );
INSERT INTO "runs" VALUES(1,'0123456789ab','k','e789456b980c4933bf6471f15c34edca','Which carrier is late? {braces} “quotes” 100 % 🐧','work/eda.ipynb','agent','qwen-coder','ok',1700000000.0,1700000003.5,1.79532038810124349595e+09,2,250,27,'pending','');
CREATE TABLE texts (n INTEGER PRIMARY KEY, text TEXT NOT NULL);
INSERT INTO "texts" VALUES(1,'which carrier is late? {braces} “quotes” 100 % 🐧
frontier (f9) is 21.9 minutes late.
late = flights.groupby(''carrier'').arr_delay.mean()
late
flights.delay');
CREATE INDEX runs_started_at ON runs (started_at, n);
CREATE INDEX runs_cell ON runs (cell_id, notebook);
CREATE INDEX decisions_run ON decisions (run_id, n);
DELETE FROM "sqlite_sequence";
INSERT INTO "sqlite_sequence" VALUES('decisions',2);
COMMIT;
PRAGMA user_version = 1;
