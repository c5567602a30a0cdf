"""The history API in a real Jupyter Server, found through its installed configuration."""

from __future__ import annotations

import importlib.util
import json
import os
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any

import nbformat
import pytest
from run_examples import CODE, example_run

from jupyter_codeagent.frontend.server.libraries import NOT_INSTALLED, plotly_script
from jupyter_codeagent.history import HistoryStore

pytestmark = pytest.mark.xdist_group("server extension")

ROOT = Path(__file__).parents[2]
TOKEN = "a-token-of-this-test"


@dataclass(frozen=True, kw_only=True)
class Reply:
    status: int
    headers: Mapping[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        return json.loads(self.body)


@dataclass(frozen=True, kw_only=True)
class Server:
    url: str
    history: HistoryStore

    def ask(self, path: str, *, method: str = "GET", data: Any = None, **headers: str) -> Reply:
        """With the token, unless headers are given."""
        request = urllib.request.Request(
            f"{self.url}jupyter-codeagent/{path}",
            method=method,
            data=None if data is None else data if isinstance(data, bytes) else json.dumps(data).encode(),
            headers=headers or {"Authorization": f"token {TOKEN}"},
        )
        try:
            with urllib.request.urlopen(request, timeout=30) as reply:
                return Reply(status=reply.status, headers=dict(reply.headers), body=reply.read())
        except urllib.error.HTTPError as error:
            with error:
                return Reply(status=error.code, headers=dict(error.headers), body=error.read())


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    home = tmp_path_factory.mktemp("server")
    places = {name: str(home / name) for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")}
    extensions = home / "JUPYTER_CONFIG_DIR" / "jupyter_server_config.d"
    extensions.mkdir(parents=True)
    installed = ROOT / "jupyter-config" / "server-config" / "jupyter_codeagent.json"
    (extensions / installed.name).write_bytes(installed.read_bytes())
    with (home / "log").open("wb") as log:
        process = subprocess.Popen(
            [
                *(sys.executable, "-m", "jupyter_server", "--no-browser", "--allow-root", "--ServerApp.port=0"),
                f"--IdentityProvider.token={TOKEN}",
                "--ServerApp.base_url=/user/ada/",
                f"--ServerApp.root_dir={home}",
            ],
            env={**os.environ, **places, "PYTHONPATH": str(ROOT), "HOME": str(home)},
            cwd=home,
            stdout=log,
            stderr=log,
        )
    history = HistoryStore(home / "JUPYTER_DATA_DIR" / "codeagent" / "history.sqlite")
    try:
        yield Server(url=wait_for_url(process, home), history=history)
    finally:
        process.terminate()
        process.wait(30)
        history.close()


def wait_for_url(process: subprocess.Popen[bytes], home: Path) -> str:
    """The address from the file that the server writes when it listens."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        for file in (home / "JUPYTER_RUNTIME_DIR").glob(f"jpserver-{process.pid}.json"):
            text = file.read_text()
            if text.endswith("}"):
                return str(json.loads(text)["url"])
        time.sleep(0.05)
    raise AssertionError((home / "log").read_text())


@pytest.fixture(autouse=True)
def runs(request: pytest.FixtureRequest) -> Iterator[None]:
    """Three runs in the history of each test that asks a server."""
    history: HistoryStore = request.getfixturevalue("server").history
    for number, name in enumerate(("first", "second", "third")):
        run = example_run(id=name, started_at=100.0 + number, request__notebook=f"{name}.ipynb")
        history.save(run, session="k")
    yield
    history.forget()


ROUTES = [
    ("GET", "status"),
    ("GET", "runs"),
    ("GET", "overview"),
    ("GET", "runs/first"),
    ("GET", "runs/first/cells"),
    ("GET", "runs/first/export"),
    ("GET", "libraries/plotly"),
    ("POST", "runs/first/state"),
    ("POST", "runs/first/applied"),
    ("POST", "notebook"),
    ("DELETE", "runs/first"),
    ("DELETE", "runs?all=yes"),
]
BODY = {
    **{"state": "accepted", "code": "x = 1"},
    **{"notebook": "first.ipynb", "saved_at": 0, "cell_ids": ["agent"], "run_ids": ["first"]},
}


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_nothing_is_answered_without_a_token(server: Server, method: str, path: str) -> None:
    data = BODY if method == "POST" else None
    for header in ({"Accept": "*/*"}, {"Authorization": "token wrong"}):
        reply = server.ask(path, method=method, data=data, **header)
        assert reply.status == 403
        assert b"first" not in reply.body

    assert server.history.load("first").cell_state == "pending"


@pytest.mark.parametrize(("method", "path"), ROUTES)
def test_everything_is_answered_with_a_token(server: Server, method: str, path: str) -> None:
    reply = server.ask(path, method=method, data=BODY if method == "POST" else None)

    assert reply.status == (204 if (method, path) == ("DELETE", "runs/first") else 200)


@pytest.mark.parametrize(("method", "path"), ROUTES[-4:])
def test_a_page_of_another_site_cannot_use_the_cookie_to_change_anything(
    server: Server, method: str, path: str
) -> None:
    jar = CookieJar()
    opener = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
    opener.open(f"{server.url}login?token={TOKEN}", timeout=30).close()
    cookies = "; ".join(f"{cookie.name}={cookie.value}" for cookie in jar)
    (xsrf,) = (cookie.value for cookie in jar if cookie.name == "_xsrf")
    data = BODY if method == "POST" else None

    without = server.ask(path, method=method, data=data, Cookie=cookies)
    with_xsrf = server.ask(path, method=method, data=data, Cookie=cookies, **{"X-XSRFToken": str(xsrf)})

    assert without.status == 403
    assert with_xsrf.status in (200, 204)


def test_runs_are_listed_newest_first_with_their_total(server: Server) -> None:
    answer = server.ask("runs?limit=2").json

    assert answer["total"] == 3
    assert [run["id"] for run in answer["runs"]] == ["third", "second"]
    assert answer["runs"][0]["prompt"] == example_run().request.prompt


@pytest.mark.parametrize(
    ("query", "found"),
    [
        ("search=FRONTIER%20arr_delay", 3),
        ("search=penguin", 0),
        ("notebook=first.ipynb", 1),
        ("status=ok", 3),
        ("status=failed", 0),
        ("offset=2", 3),
        ("model=qwen-coder&outcome=pending", 3),
        ("model=other", 0),
        ("outcome=failed", 0),
        ("since=102", 1),
    ],
)
def test_runs_are_searched(server: Server, query: str, found: int) -> None:
    assert server.ask(f"runs?{query}").json["total"] == found


def test_one_run_is_answered_whole_with_what_was_sent(server: Server) -> None:
    run = server.ask("runs/first").json

    assert (run["code"], run["steps"][0]["messages"][0]["content"]) == (CODE, "You write Python.")


def test_cells_come_as_they_are_inserted(server: Server) -> None:
    answered = server.ask("runs/first/cells").json
    code, answer = answered["cells"]
    assert sorted(answered["receipt"]) == ["text/html", "text/plain"]
    assert "<details>" in answered["receipt"]["text/html"]

    assert (code["cell_type"], code["source"], answer["cell_type"]) == ("code", CODE, "markdown")
    assert code["metadata"]["codeagent"]["state"] == "pending"


@pytest.mark.parametrize(
    ("decided", "state"), [("accepted", "accepted"), ("edited", "pending"), ("discarded", "pending")]
)
def test_cells_inserted_again_are_pending_unless_they_were_accepted(
    server: Server, decided: str, state: str
) -> None:
    server.ask("runs/first/state", method="POST", data={"state": decided})

    assert server.ask("runs/first/cells").json["cells"][0]["metadata"]["codeagent"]["state"] == state


def test_a_decision_is_kept_in_the_history(server: Server) -> None:
    reply = server.ask("runs/first/state", method="POST", data={"state": "accepted"})

    assert reply.json == {"id": "first", "cell_state": "accepted"}
    assert server.history.load("first").cell_state == "accepted"
    assert server.history.decisions("first")[-1].by == "panel"


def test_a_run_is_exported_as_a_valid_notebook(server: Server) -> None:
    reply = server.ask("runs/first/export?format=ipynb")

    nbformat.validate(nbformat.reads(reply.body.decode(), as_version=4))
    assert reply.headers["Content-Type"] == "application/x-ipynb+json"
    assert reply.headers["Content-Disposition"] == 'attachment; filename="codeagent-first.ipynb"'


def test_a_run_is_exported_as_a_script(server: Server) -> None:
    reply = server.ask("runs/first/export?format=py")

    assert CODE in reply.body.decode()
    assert reply.headers["Content-Disposition"] == 'attachment; filename="codeagent-first.py"'


def test_a_deleted_run_is_gone(server: Server) -> None:
    assert server.ask("runs/first", method="DELETE").status == 204
    assert server.ask("runs/first").status == 404
    assert server.ask("runs").json["total"] == 2


def test_runs_of_a_notebook_or_all_are_deleted_and_counted(server: Server) -> None:
    assert server.ask("runs?notebook=second.ipynb", method="DELETE").json == {"deleted": 1}
    assert [run["id"] for run in server.ask("runs").json["runs"]] == ["third", "first"]
    assert server.ask("runs?all=yes", method="DELETE").json == {"deleted": 2}
    assert server.ask("runs").json["total"] == 0


def test_the_overview_has_the_times_and_counts_of_what_matches(server: Server) -> None:
    answer = server.ask("overview?notebook=first.ipynb&search=frontier").json

    assert answer["times"] == [100]
    assert sorted(item["name"] for item in answer["notebooks"]) == ["first.ipynb", "second.ipynb", "third.ipynb"]
    assert answer["models"] == [{"name": "qwen-coder", "count": 1}]
    assert answer["outcomes"] == [{"name": "pending", "count": 1}]


def test_a_notebook_has_the_path_that_pages_open_it_by(server: Server) -> None:
    """The kernel knows it by where it lies on the disk."""
    root = server.history.path.parents[2]
    for name, notebook in (("inside", root / "work" / "eda 1.ipynb"), ("outside", root.parent / "eda.ipynb")):
        server.history.save(example_run(id=name, request__notebook=str(notebook)), session="k")

    rows = {run["id"]: run["notebook"] for run in server.ask("runs").json["runs"]}
    assert (rows["inside"], rows["outside"]) == ("work/eda 1.ipynb", str(root.parent / "eda.ipynb"))
    assert server.ask("runs/inside").json["request"]["notebook"] == "work/eda 1.ipynb"
    assert [run["id"] for run in server.ask("runs?notebook=work/eda%201.ipynb").json["runs"]] == ["inside"]
    assert "work/eda 1.ipynb" in [item["name"] for item in server.ask("overview").json["notebooks"]]
    assert server.ask("runs?notebook=work/eda%201.ipynb", method="DELETE").json == {"deleted": 1}


def test_a_run_is_answered_with_the_decisions_over_its_cells(server: Server) -> None:
    server.ask("runs/first/state", method="POST", data={"state": "edited"})
    server.ask("runs/first/state", method="POST", data={"state": "accepted"})

    decisions = server.ask("runs/first").json["decisions"]
    assert [(made["what"], made["by"]) for made in decisions] == [("edited", "panel"), ("accepted", "panel")]
    assert decisions[0]["at"] > 1_700_000_000


def test_code_that_the_page_has_run_where_no_agent_listens_is_on_record(server: Server) -> None:
    server.ask("runs/first/applied", method="POST", data={"code": "edited()"})

    [made] = server.ask("runs/first").json["decisions"]
    assert (made["what"], made["by"], made["code"]) == ("applied", "panel", "edited()")
    assert server.history.load("first").cell_state == "pending"


def of_notebook(server: Server, notebook: str, cell_ids: list[str], *run_ids: str, saved_at: float = 1e10) -> Any:
    body = {"notebook": notebook, "saved_at": saved_at, "cell_ids": cell_ids, "run_ids": list(run_ids)}
    return server.ask("notebook", method="POST", data=body).json


def test_a_notebook_is_told_which_of_its_results_it_has_lost_and_what_was_decided_over_the_others(
    server: Server,
) -> None:
    for run_id in ("lost", "there"):
        run = example_run(id=run_id, placed="cells", request__notebook="eda.ipynb", request__cell_id="question")
        server.history.save(run, session="k")
    server.history.set_cell_state("there", "accepted", "panel")

    answer = of_notebook(server, "eda.ipynb", ["question"], "there", "of somebody else")
    assert answer["states"] == {"there": "accepted"}
    assert answer["known"] == ["there"]
    assert [(line["id"], line["cell_id"]) for line in answer["missing"]] == [("lost", "question")]
    assert of_notebook(server, "eda.ipynb", ["question"], "there", "lost")["missing"] == []


def test_a_result_whose_question_is_gone_as_well_is_told_if_it_was_asked_after_the_file_was_saved(
    server: Server,
) -> None:
    run = example_run(id="asked in the panel", placed="cells", started_at=200.0, request__notebook="eda.ipynb")
    server.history.save(run, session="k")

    def lost(saved_at: float) -> list[str]:
        return [line["id"] for line in of_notebook(server, "eda.ipynb", [], saved_at=saved_at)["missing"]]

    assert lost(199.0) == ["asked in the panel"]
    assert lost(201.0) == [], "a new notebook that has the name of an old one"


@pytest.mark.parametrize(("is_there", "found"), [(True, []), (False, ["elsewhere"])], ids=["copied", "renamed"])
def test_results_of_a_notebook_that_was_renamed_are_told_but_not_to_a_copy_of_it(
    server: Server, is_there: bool, found: list[str]
) -> None:
    original = server.history.path.parents[2] / "original.ipynb"
    run = example_run(id="elsewhere", placed="cells", request__notebook=str(original), request__cell_id="question")
    server.history.save(run, session="k")
    server.history.set_cell_state("first", "accepted", "panel")
    if is_there:
        original.touch()
    try:
        answer = of_notebook(server, "new.ipynb", ["question"])
        here = of_notebook(server, "new.ipynb", ["question"], "elsewhere")
    finally:
        original.unlink(missing_ok=True)
    assert [line["id"] for line in answer["missing"]] == found
    assert list(here["states"]) == found, "what is decided in the original is not decided in its copy"
    assert here["known"] == ["elsewhere"]


def test_the_status_tells_version_and_policy(server: Server) -> None:
    answer = server.ask("status").json

    assert set(answer) == {"version", "policy", "apply_refusal"}
    assert isinstance(answer["policy"], dict)


@pytest.mark.parametrize(
    ("method", "path", "data", "status", "message"),
    [
        ("GET", "runs/nothing", None, 404, "no run 'nothing'"),
        ("DELETE", "runs/nothing", None, 404, "no run 'nothing'"),
        ("GET", "runs/nothing/cells", None, 404, "no run 'nothing'"),
        ("POST", "runs/nothing/state", {"state": "accepted"}, 404, "no run 'nothing'"),
        ("POST", "runs/nothing/applied", {"code": "x"}, 404, "no run 'nothing'"),
        ("POST", "runs/first/applied", {"code": 1}, 400, "Send the code"),
        ("POST", "runs/first/state", {"state": "lovely"}, 400, "'lovely' is not one of pending, accepted"),
        ("POST", "runs/first/state", ["accepted"], 400, "is not one of pending, accepted"),
        ("POST", "runs/first/state", b"{", 400, "Invalid JSON"),
        ("POST", "notebook", {**BODY, "notebook": None}, 400, "Send the path of the notebook"),
        ("POST", "notebook", {**BODY, "saved_at": "today"}, 400, "Send the path of the notebook"),
        ("POST", "notebook", {**BODY, "cell_ids": "agent"}, 400, "Send the ids"),
        ("POST", "notebook", {**BODY, "run_ids": [1]}, 400, "Send the ids"),
        ("GET", "runs/first/export?format=exe", None, 400, "'exe' is not one of ipynb, py"),
        ("GET", "runs?limit=many", None, 400, "limit='many' is not a number"),
        ("GET", "runs?offset=-1", None, 400, "offset='-1' is not a number"),
        ("GET", f"runs?limit={'9' * 5000}", None, 400, "is not a number"),
        ("GET", "runs?status=nice", None, 400, "'nice' is not one of running"),
        ("GET", "overview?outcome=nice", None, 400, "'nice' is not one of pending"),
        ("GET", "runs?since=yesterday", None, 400, "since='yesterday' is not a number"),
        ("DELETE", "runs", None, 400, "Say which runs to delete"),
        ("DELETE", "runs?all=no", None, 400, "Say which runs to delete"),
        ("DELETE", "runs?all=yes&notebook=first.ipynb", None, 400, "Say which runs to delete"),
    ],
)
def test_a_bad_request_is_answered_with_one_line_of_json(
    server: Server, method: str, path: str, data: Any, status: int, message: str
) -> None:
    reply = server.ask(path, method=method, data=data)

    assert reply.status == status
    assert message in reply.json["message"]
    assert "\n" not in reply.json["message"]


def test_a_number_that_json_does_not_know_does_not_break_the_answer(server: Server) -> None:
    output = {"output_type": "display_data", "data": {"application/json": {"x": float("nan")}}, "metadata": {}}
    server.history.save(example_run(id="nan", outputs=(output,)), session="k")
    body = server.ask("runs/nan").body

    assert b"NaN" not in body
    assert json.loads(body)["outputs"][0]["data"] == {"application/json": {"x": None}}


def test_a_damaged_record_is_a_server_error_that_names_the_run_and_spares_the_others(server: Server) -> None:
    with sqlite3.connect(server.history.path) as connection:
        connection.execute("UPDATE records SET record = '{' WHERE n = (SELECT n FROM runs WHERE id = 'second')")
    connection.close()
    reply = server.ask("runs/second")

    assert (reply.status, server.ask("runs/first").status) == (500, 200)
    assert reply.json["message"].startswith("The record of run second in ")


def test_the_installed_plotly_is_handed_out_as_text_that_no_page_can_load_as_a_script(server: Server) -> None:
    reply = server.ask("libraries/plotly")
    spec = importlib.util.find_spec("plotly")
    assert spec is not None
    assert spec.origin is not None

    assert reply.body == Path(spec.origin).with_name("package_data").joinpath("plotly.min.js").read_bytes()
    assert reply.headers["Content-Type"] == "text/plain; charset=utf-8"
    assert reply.headers["X-Content-Type-Options"] == "nosniff"


@pytest.mark.parametrize(
    "path", ["libraries/", "libraries/vega", "libraries/plotly/..", "libraries/../../etc/passwd"]
)
@pytest.mark.long("another situation of what a test beside it proves")
def test_no_other_library_can_be_asked_for(server: Server, path: str) -> None:
    assert server.ask(path).status == 404


@pytest.mark.long("another situation of what a test beside it proves")
def test_without_plotly_the_server_says_what_to_install(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    package = tmp_path / "plotly" / "package_data"
    monkeypatch.setattr(sys, "path", [str(tmp_path)])
    monkeypatch.delitem(sys.modules, "plotly", raising=False)
    assert plotly_script() is None

    package.mkdir(parents=True)
    (tmp_path / "plotly" / "__init__.py").write_text("raise RuntimeError('imported')")
    importlib.invalidate_caches()
    assert plotly_script() is None

    (package / "plotly.min.js").write_text("script")
    assert plotly_script() == "script"
    assert "pip install plotly" in NOT_INSTALLED
