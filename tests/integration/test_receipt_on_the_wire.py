"""The receipt says what was on the wire, neither more nor less: canaries, and all bytes that the server received.

Each kind of thing that may be sent has a canary that nothing else holds. In every situation the kinds that the
receipt names are those whose canaries arrived.
"""

from __future__ import annotations

import json
import re
import signal
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import pytest
from kernel_client import Kernel, Ran, running_kernel
from model_server import ModelServer, Reply, code, serving

from jupyter_codeagent.frontend.receipt_words import EARLIER, EARLIER_IN_SHORT, IN_DETAIL, IN_LINE
from jupyter_codeagent.types.messages import ContentKind

pytestmark = pytest.mark.xdist_group("receipt on the wire")

CANARIES: dict[ContentKind, str] = {
    "names": "namecanary",
    "statistics": "statcanary",
    "rows": "rowcanary",
    "functions": "Functioncanary",
    "house_rules": "rulecanary",
    "earlier_code": "earliercanary",
    "earlier_results": "resultcanary",
    "output": "outputcanary",
    "error": "errorcanary",
    "error_kind": "ValueError at line 1: (not told)",
    "doubt": "The result is empty",
    "calls": "callcanary",
    "reason": "reasoncanary",
    "texts": "textcanary",
}
"""The model's code writes those of results and errors in two parts, so that they are not in the code itself."""
SETUP = """
import pandas as pd
frame = pd.DataFrame({
    "namecanary": ["statcanary", "other"] * 20,
    "note": [f"rowcanary{i % 2} {i}" for i in range(40)],
    "n": range(40),
})
"""
FUNCTION = """
from jupyter_codeagent import agent_tool
@agent_tool(policy="auto")
def weather(place: str) -> int:
    "Functioncanary tells the weather."
    return 7
"""
SHOWS = code("print('output' + 'canary')")
FAILS = code("raise ValueError('error' + 'canary')")
EMPTY = code("print([])")
SLOW = code("print('output' + 'canary', flush=True)\nimport time\ntime.sleep(60)")


@dataclass
class Asked:
    """A kernel with a fresh conversation, its model's server, and what was asked of both."""

    kernel: Kernel
    server: ModelServer
    seen: str = ""
    """What the present question has shown so far."""

    def script(self, *replies: Reply | str) -> None:
        self.server.script(*replies)
        self.server.received.clear()
        self.server.hung_up = 0

    def ask(self, prompt: str, options: str = "", *, answers: Sequence[str] = (), cell_id: str = "") -> Ran:
        """As a front end with stdin: each question for approval gets one of the answers."""
        self.kernel.client.session.metadata = {"cellId": cell_id} if cell_id else {}
        left, ran, self.seen = list(answers), Ran(), ""

        def keep(message: dict[str, Any]) -> None:
            content = message["content"]
            ran.text += content.get("text", "") + content.get("data", {}).get("text/plain", "") + "\n"
            if message["msg_type"] == "error":
                ran.data.append(content)
            self.seen = ran.text

        reply = self.kernel.client.execute_interactive(
            f"%%agent {options}\n{prompt}",
            timeout=60,
            output_hook=keep,
            stdin_hook=lambda _: self.kernel.client.input(left.pop(0)),
            allow_stdin=True,
            stop_on_error=False,
        )
        if reply["content"]["status"] == "error":
            ran.error = f"{reply['content']['ename']}: {reply['content']['evalue']}"
        return ran

    def stop_when(self, reached: Callable[[], bool]) -> threading.Thread:
        def wait() -> None:
            deadline = time.monotonic() + 60
            while not reached() and time.monotonic() < deadline:
                time.sleep(0.05)
            self.kernel.signal(signal.SIGINT)

        thread = threading.Thread(target=wait)
        thread.start()
        return thread

    @property
    def on_the_wire(self) -> set[ContentKind]:
        text = bytes(self.server.received).decode()
        return {kind for kind, canary in CANARIES.items() if canary in text}

    def assert_true(self, ran: Ran, expected: set[ContentKind]) -> str:
        """Wire, line and details agree; returns the whole receipt."""
        whole = self.kernel.run("%agent show").text
        details = re.search(r"^--- Sent to [^\n]*\n(.*?)(?=\n---|\nStep|\Z)", whole, re.MULTILINE | re.DOTALL)
        assert details is not None, whole
        assert self.on_the_wire == expected
        assert {kind for kind, words in IN_DETAIL.items() if words in details.group(1)} == expected
        assert kinds_in_line(ran.text) == expected, ran.text
        assert kinds_in_line(whole) == expected, whole
        return whole


def kinds_in_line(text: str) -> set[ContentKind]:
    """What the line says was sent; statistics are of something that has a name."""
    line = next(line for line in text.splitlines() if re.match(r"[✓✗■] ", line))
    sent = next((part for part in line.split(" · ") if part.endswith(" → this machine")), "")
    assert sent or " · nothing sent" in line, line
    words = sent.removesuffix(" → this machine").replace(EARLIER_IN_SHORT, EARLIER).split(", ")
    kinds = {kind for kind, word in IN_LINE.items() if word in words}
    return kinds | ({"names"} if "statistics" in kinds else set())


@pytest.fixture(scope="module")
def _running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Asked]:
    with serving() as server:
        environment = {"CODEAGENT_BASE_URL": server.url}
        with running_kernel(tmp_path_factory.mktemp("kernel"), environment) as kernel:
            kernel.run("del df")
            yield Asked(kernel, server)


@pytest.fixture
def asked(_running: Asked) -> Asked:
    _running.server.forget()
    ran = _running.kernel.run(f"{SETUP}\n%agent reset")
    assert ran.error == ""
    return _running


TOLD: set[ContentKind] = {"names", "statistics"}


def test_a_first_question_sends_names_and_statistics(asked: Asked) -> None:
    asked.script(SHOWS)
    asked.assert_true(asked.ask("show it", "--max-steps 1"), TOLD)


@pytest.mark.long("another case of what a test beside it proves")
def test_a_question_without_variables_sends_itself_alone(asked: Asked) -> None:
    asked.kernel.run("del frame, pd")
    asked.script(SHOWS)
    ran = asked.ask("show it", "--max-steps 1")
    asked.assert_true(ran, set())
    assert "the question → this machine" in ran.text


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_follow_up_of_one_call_sends_rows_of_the_earlier_result(asked: Asked) -> None:
    asked.script(code("print('result' + 'canary')"))
    asked.ask("what about earliercanary", "--max-steps 1")
    asked.script(SHOWS)
    asked.assert_true(asked.ask("and now?", "--max-steps 1"), {*TOLD, "earlier_code", "earlier_results"})
    asked.script(SHOWS)
    schema = asked.ask("and now, without data?", "--max-steps 1 --privacy schema")
    asked.assert_true(schema, {"names"})


def test_a_repair_sends_the_error_and_the_result_of_the_repaired_code_stays_here(asked: Asked) -> None:
    asked.script(FAILS, SHOWS)
    whole = asked.assert_true(asked.ask("show it", "--max-steps 2"), {*TOLD, "error"})
    assert "1 failed attempt repaired in the sandbox" in whole


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_doubt_sends_what_looked_wrong(asked: Asked) -> None:
    asked.script(EMPTY, SHOWS)
    ran = asked.ask("show it", "--max-steps 2")
    whole = asked.kernel.run("%agent show").text
    assert asked.on_the_wire == {*TOLD, "doubt"}
    assert kinds_in_line(ran.text) == {*TOLD, "doubt", "output"}  # what it showed was ``[]``
    assert "1 result that looked wrong, so the model was asked again" in whole


@pytest.mark.long("another case of what a test beside it proves")
def test_code_that_was_rejected_without_a_reason_sent_nothing_more_and_never_ran(asked: Asked) -> None:
    asked.script(SHOWS)
    ran = asked.ask("show it", "--approve ask", answers=["n"])
    whole = asked.assert_true(ran, TOLD)
    assert "■ Rejected by you" in ran.text
    assert "Step 1: never ran, you rejected it" in whole
    assert ran.error.startswith("DeniedError")  # cells behind it are not run
    assert ran.data == [], "nothing in red"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_reason_for_a_no_is_sent_and_the_rejected_code_never_ran(asked: Asked) -> None:
    asked.script(SLOW, SHOWS)
    ran = asked.ask("show it", "--approve ask --max-steps 2", answers=["reasoncanary", "y"])
    whole = asked.assert_true(ran, {*TOLD, "reason"})
    assert "1 program that you rejected never ran" in whole
    assert "never ran, you rejected it: reasoncanary" in whole
    assert "failed" not in whole


@pytest.mark.long("another case of what a test beside it proves")
def test_a_stop_while_the_model_writes_counts_what_had_come(asked: Asked) -> None:
    asked.script(Reply(text="word " * 2000, piece_s=0.02))
    thread = asked.stop_when(lambda: "word word word word" in asked.seen)
    ran = asked.ask("show it")
    thread.join()
    whole = asked.assert_true(ran, TOLD)
    assert "■ Stopped by you" in ran.text
    counted = re.search(r"about (\d+) tokens in, (\d+) out", whole)
    assert counted is not None, whole
    assert int(counted[1]) > 100
    assert int(counted[2]) >= 3
    assert ran.error.startswith("StoppedError")
    assert ran.data == [], "nothing in red"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_stop_while_the_code_runs_keeps_what_it_showed_here_and_has_counted_the_reply(asked: Asked) -> None:
    asked.script(SLOW)
    thread = asked.stop_when(lambda: "running in the sandbox" in asked.seen)
    ran = asked.ask("show it", "--approve auto")
    thread.join()
    whole = asked.assert_true(ran, TOLD)
    assert " 0 out" not in whole
    assert "tokens in" in whole


@pytest.mark.parametrize(
    ("second", "said"),
    [
        (Reply(status=500, message="busy"), "failed (500)"),
        (Reply(text=" ".join(["word"] * 50), drop_after=5), "cut off"),
    ],
)
@pytest.mark.long("another case of what a test beside it proves")
def test_a_model_error_after_a_failed_attempt_leaves_what_was_sent_until_then(
    asked: Asked, second: Reply, said: str
) -> None:
    asked.script(FAILS, second)
    ran = asked.ask("show it")
    asked.assert_true(ran, {*TOLD, "error"})
    assert said in ran.error
    assert "✗ Failed" in ran.text
    assert ran.text.count(said) == 0, "said once, in red"


@pytest.mark.long("another case of what a test beside it proves")
def test_where_there_is_no_connection_nothing_was_sent(asked: Asked) -> None:
    ran = asked.ask("show it", "--model scripted --base-url http://127.0.0.1:9/v1")
    assert "No connection" in ran.error
    assert kinds_in_line(asked.kernel.run("%agent show").text) == set()
    assert " · nothing sent" in asked.kernel.run("%agent show").text


@pytest.mark.long("another case of what a test beside it proves")
def test_several_candidates_send_the_same(asked: Asked) -> None:
    asked.script(SHOWS, SHOWS, SHOWS)
    asked.assert_true(asked.ask("show it", "--candidates 3"), TOLD)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_replay_asks_no_model(asked: Asked) -> None:
    asked.script(SHOWS)
    asked.ask("show it", cell_id="same")
    asked.script("Never asked for.")
    ran = asked.ask("show it", cell_id="same")
    asked.assert_true(ran, set())
    assert "replayed, model not called · frame already copied · nothing sent" in ran.text


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_tokenizer_that_counts_is_on_the_receipt_even_where_the_model_is_not_asked(asked: Asked) -> None:
    asked.server.tokenizer = lambda body: {"tokens": [1] * (len(body["content"]) // 4)}
    # Of its first model the kernel knows already that nobody counts its tokens.
    asked.server.models = [{"id": "other"}]
    asked.script(Reply(text=SHOWS))
    ran = asked.ask("show it", "--model other --approve ask", answers=["n"])
    whole = asked.assert_true(ran, TOLD)
    assert "to count tokens: names and types of variables, statistics and values of variables" in whole


@pytest.mark.long("another situation of what a test beside it proves")
def test_under_schema_a_repair_sends_names_and_the_kind_of_the_error(asked: Asked) -> None:
    asked.script(FAILS, SHOWS)
    ran = asked.ask("show it", "--max-steps 2 --privacy schema")
    asked.assert_true(ran, {"names", "error_kind"})


def test_house_rules_are_sent_with_the_question(asked: Asked) -> None:
    asked.kernel.run("import pathlib\npathlib.Path('CODEAGENT.md').write_text('rulecanary: bars')")
    try:
        asked.script(SHOWS)
        asked.assert_true(asked.ask("show it", "--max-steps 1 --privacy schema"), {"names", "house_rules"})
    finally:
        asked.kernel.run("pathlib.Path('CODEAGENT.md').unlink()")


@pytest.mark.long("another case of what a test beside it proves")
def test_under_samples_rows_are_sent(asked: Asked) -> None:
    asked.script(SHOWS)
    asked.assert_true(asked.ask("show it", "--max-steps 1 --privacy samples"), {*TOLD, "rows"})


@pytest.mark.long("another situation of what a test beside it proves")
def test_functions_are_told_and_their_calls_where_the_code_failed_after_them(asked: Asked) -> None:
    asked.kernel.run(FUNCTION)
    try:
        asked.script(code("weather('callcanary')\nraise ValueError('error' + 'canary')"), SHOWS)
        # The call stands in the program of the model as well, which is told as it wrote it.
        ran = asked.ask("show it", "--max-steps 2")
        asked.assert_true(ran, {*TOLD, "functions", "error", "calls"})
    finally:
        asked.kernel.run("%agent tool remove weather\ndel weather")


@pytest.mark.long("another case of what a test beside it proves")
def test_texts_that_ask_model_is_given_are_on_the_receipt(asked: Asked) -> None:
    asked.kernel.run("%agent tool add ask_model auto")
    try:
        asked.script(code("print(ask_model('Kind?', ['text' + 'canary', 'another']))"), "good")
        ran = asked.ask("which kind? use ask_model", "--max-steps 1")
        whole = asked.kernel.run("%agent show").text
        assert asked.on_the_wire == {*TOLD, "texts"}
        assert kinds_in_line(ran.text) == {*TOLD, "functions", "texts"}
        assert "by ask_model: the texts that ask_model was given" in whole
    finally:
        asked.kernel.run("%agent tool remove ask_model")


@pytest.mark.long("another case of what a test beside it proves")
def test_fix_sends_the_failed_cell_as_the_question(asked: Asked) -> None:
    asked.kernel.run("frame['nothing like it']")
    asked.script(SHOWS)
    ran = asked.kernel.run("%agent fix")
    assert ran.error == ""
    asked.assert_true(ran, TOLD)
    assert b"nothing like it" in asked.server.received


@pytest.mark.long("another case of what a test beside it proves")
def test_what_there_was_no_room_for_is_not_said_to_be_sent(asked: Asked) -> None:
    asked.script(code("print('result' + 'canary')"))
    asked.ask(f"what about earliercanary {'and so on ' * 40}", "--max-steps 1")
    asked.server.models = [{"id": "small", "max_model_len": 1000}]
    asked.script(SHOWS)
    ran = asked.ask("and now?", "--max-steps 1 --model small")
    asked.assert_true(ran, {*TOLD, "earlier_results"})
    assert "left out for the model's context" in ran.text


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_record_has_the_kinds_and_the_places_of_what_was_sent(asked: Asked) -> None:
    asked.script(FAILS, SHOWS)
    ran = asked.ask("show it", "--json")
    record = json.loads(next(line for line in ran.text.splitlines() if line.startswith("{")))
    assert [(call["purpose"], call["sent"]) for call in record["model_calls"] if call["purpose"] != "count"] == [
        ("program", True),
        ("program", True),
    ]
    assert record["usage"]["calls"] == 2
    message = record["steps"][0]["messages"][-1]
    marked = {span["kind"]: message["content"][span["start"] : span["end"]] for span in message["spans"]}
    assert CANARIES["statistics"] in marked["statistics"]
    assert CANARIES["names"] in marked["names"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_dry_run_asks_no_model(asked: Asked) -> None:
    asked.script("Never asked for.")
    ran = asked.ask("show it", "--dry-run")
    assert "Dry run: nothing was sent or run." in ran.text
    assert asked.server.requests == []
