"""What a run may use up, and what happens at the limit: state is kept where the code obeys, else all is killed."""

from __future__ import annotations

import asyncio
import glob
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.sandbox import warm_pool
from jupyter_codeagent.sandbox.kernel import AFTER_CELL_TIMEOUT_S, SandboxKernel
from jupyter_codeagent.sandbox.local.watch import processes
from jupyter_codeagent.sandbox.warm_pool import WarmPool
from jupyter_codeagent.types.errors import SandboxDiedError, SandboxUnavailableError
from jupyter_codeagent.types.sandbox import ExecutionResult, SandboxLevel, SandboxPolicy

MakeBox = Callable[..., Any]

IGNORES_INTERRUPT = """
import signal
signal.signal(signal.SIGINT, signal.SIG_IGN)
while True: pass
"""


def printed(result: ExecutionResult) -> str:
    return "".join(output["text"] for output in result.outputs if output["output_type"] == "stream").strip()


# --- results -----------------------------------------------------------------------------------------


def test_state_persists_from_one_execution_to_the_next(box: Any) -> None:
    box.run("kept = 41")
    assert box.text("print(kept + 1)") == "42"


def test_an_error_tells_the_line_of_the_executed_cell(box: Any) -> None:
    result = box.run("\n\na = 1\nb = a / 0\nc = 3")
    assert result.status == "error"
    assert (result.error.ename, result.error.line, result.error.source) == ("ZeroDivisionError", 4, "b = a / 0")
    assert result.outputs[-1]["output_type"] == "error"


def test_a_result_that_cannot_be_displayed_is_an_error(box: Any) -> None:
    result = box.run("class Odd:\n    def _repr_html_(self):\n        raise ValueError('no such mark')\nOdd()")
    assert result.status == "error"
    assert (result.error.ename, result.error.evalue) == ("ValueError", "no such mark")
    assert box.run("import altair as alt, pandas as pd\nalt.Chart(pd.DataFrame({'a': [1]})).encode(x='a')").error
    assert box.run("1 + 1").status == "ok"


def test_an_error_in_an_earlier_cells_function_tells_the_line_that_called_it(box: Any) -> None:
    box.run("def broken():\n    x = 1\n    raise KeyError('n')")
    error = box.run("y = 2\nbroken()").error
    assert (error.ename, error.line, error.source) == ("KeyError", 2, "broken()")


def test_an_error_inside_a_library_tells_the_line_of_the_cell(box: Any) -> None:
    error = box.run("import json\nx = 1\njson.loads('{')").error
    assert (error.line, error.source) == (3, "json.loads('{')")


def test_a_syntax_error_tells_its_line(box: Any) -> None:
    error = box.run("a = 1\nb = = 2").error
    assert (error.ename, error.line, error.source) == ("SyntaxError", 2, "b = = 2")


def test_consecutive_chunks_of_one_stream_are_one_output(box: Any) -> None:
    code = (
        "import sys\nfor i in range(5): print(i, flush=True)\nprint('e', file=sys.stderr, flush=True)\nprint('o')"
    )
    texts = [(output["name"], output["text"]) for output in box.run(code).outputs]
    assert texts == [("stdout", "0\n1\n2\n3\n4\n"), ("stderr", "e\n"), ("stdout", "o\n")]


def test_clear_output_removes_what_was_shown(box: Any) -> None:
    assert box.text("from IPython.display import clear_output\nprint('old')\nclear_output()\nprint('new')") == "new"


def test_the_namespace_tells_names_types_shapes_and_columns(box: Any) -> None:
    result = box.run(
        "import pandas as pd\nframe = pd.DataFrame({'a': [1, 2], 'b c': ['x', 'y']})\nitems = [1, 2, 3]"
    )
    entries = {entry.name: entry for entry in result.namespace}
    assert entries["frame"].type_name == "DataFrame"
    assert entries["frame"].shape == (2, 2)
    assert entries["frame"].columns == ("a", "b c")
    assert entries["frame"].dtypes[0] == "int64"
    assert entries["items"].shape == (3,)
    assert not {"pd", "In", "Out", "get_ipython"} & set(entries)


def test_a_figure_is_shown_as_png_at_the_end_of_the_cell(box: Any) -> None:
    result = box.run("import matplotlib.pyplot as plt\nplt.plot([1, 2]);")
    assert any("image/png" in output.get("data", {}) for output in result.outputs)


# --- time -------------------------------------------------------------------------------------------


def test_code_over_the_time_limit_is_interrupted_and_keeps_its_state(box: Any) -> None:
    box.run("before = 1")
    result = box.run("during = 2\nwhile True: pass", timeout_s=0.3)
    assert result.status == "timeout"
    assert "0.3 s" in result.reason
    assert result.duration_s < 20
    assert box.text("print(before, during)") == "1 2"


def test_code_that_ignores_the_interrupt_is_killed(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, grace_s=0.5)
    result = own.run(IGNORES_INTERRUPT, timeout_s=0.3)
    assert result.status == "killed"
    assert "did not stop" in result.reason
    assert not own.kernel.alive
    assert own.run("1").status == "killed"
    with pytest.raises(SandboxDiedError, match="did not stop"):
        own.call(own.kernel.fetch("x", max_bytes=10))


def test_code_over_its_processor_time_is_interrupted_and_keeps_its_state(
    make_box: MakeBox, level: SandboxLevel
) -> None:
    own = make_box(level, processors=0.05)
    own.run("before = 1")
    result = own.run("while True: pass", timeout_s=10)
    assert result.status == "interrupted"
    assert result.reason == "Stopped: it used more than 0.5 s of CPU time, the limit."
    assert own.text("print(before)") == "1"


def test_threads_left_behind_do_not_burn_processor_time_for_ever(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, processors=0.1)
    burn = "def burn():\n    while True: pass"
    assert own.run(f"import threading\n{burn}\nthreading.Thread(target=burn, daemon=True).start()").status == "ok"

    async def dead() -> None:
        async with asyncio.timeout(30):
            await own.process.ended.wait()

    own.call(dead())
    result = own.run("1")
    assert result.status == "killed"
    allowed_s = AFTER_CELL_TIMEOUT_S * 0.1  # the last request before was the report
    assert f"between two requests it used more than {allowed_s:g} s of CPU time" in result.reason


@pytest.mark.alone
def test_cancelling_the_task_interrupts_the_code_and_keeps_its_state(box: Any) -> None:
    async def cancelled() -> float:
        task = asyncio.create_task(box.kernel.execute("reached = 1\nwhile True: pass", timeout_s=30))
        await asyncio.sleep(0.3)  # the code has to be under way
        started = time.monotonic()
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        return time.monotonic() - started

    assert box.call(cancelled()) < 1.0
    assert box.text("print(reached)") == "1"


def test_a_stop_at_any_moment_before_the_code_begins_keeps_the_state(
    make_box: MakeBox, level: SandboxLevel
) -> None:
    own = make_box(level, grace_s=20)  # one that is lost is lost, however slow the machine

    async def stopped(after_s: float) -> None:
        task = asyncio.create_task(own.kernel.execute("import time\ntime.sleep(60)", timeout_s=60))
        await asyncio.sleep(after_s)
        task.cancel()
        await asyncio.wait([task])
        assert task.cancelled(), f"it ended before the stop: {task.result()}"

    own.run("kept = 1")
    for milliseconds in range(6):
        own.call(stopped(milliseconds / 1000))
    assert own.text("print(kept)") == "1"


# --- memory, processes, disk ----------------------------------------------------------------------------


def test_honest_code_over_the_memory_limit_gets_a_memory_error_and_lives(
    make_box: MakeBox, level: SandboxLevel
) -> None:
    own = make_box(level, memory_bytes=400 << 20)
    result = own.run("x = bytearray(2 << 30)")
    assert result.error.ename == "MemoryError"
    assert own.text("print('alive')") == "alive"


def test_shared_memory_over_the_limit_is_killed_with_the_limit_named(
    make_box: MakeBox, level: SandboxLevel
) -> None:
    own = make_box(level, memory_bytes=300 << 20)
    code = """
import mmap
kept = []
for _ in range(64):
    m = mmap.mmap(-1, 32 << 20); kept.append(m)
    for at in range(0, 32 << 20, 4096): m[at] = 1
"""
    result = own.run(code)
    assert result.status == "killed"
    assert "limit is 300 MiB" in result.reason
    assert 300 << 20 < result.peak_memory_bytes < 450 << 20


def test_code_within_the_memory_limit_runs_and_its_peak_is_told(box: Any) -> None:
    result = box.run("x = bytearray(200 << 20); import time; time.sleep(0.2); del x")
    assert result.status == "ok"
    assert result.peak_memory_bytes > 200 << 20


def test_a_fork_bomb_makes_no_process_where_none_are_allowed(box: Any) -> None:
    before = processes.measure(processes.process_tree(box.process.provisioner.outer_pid)).processes
    result = box.run("import os\nwhile True: os.fork()")
    assert result.status == "error"
    assert result.error.ename in ("PermissionError", "BlockingIOError")
    after = processes.measure(processes.process_tree(box.process.provisioner.outer_pid)).processes
    assert after == before


def test_threads_without_end_are_stopped_at_their_limit(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, threads=80)
    code = (
        "import threading, time\nfor _ in range(300): threading.Thread(target=time.sleep, args=(60,), daemon=True)"
        ".start()\ntime.sleep(5)"
    )
    result = own.run(code)
    if result.status == "killed":
        assert "limit is 80" in result.reason
    else:  # RLIMIT_NPROC was reached before the watchdog looked
        assert result.error.ename == "RuntimeError"


def test_a_fork_bomb_ends_at_the_process_limit_even_where_processes_are_allowed(
    make_box: MakeBox, level_with_processes: SandboxLevel
) -> None:
    ample = 64 << 30  # of memory: where the watchdog looks late there are many, and both limits are passed
    own = make_box(level_with_processes, subprocess=True, processes=12, memory_bytes=ample)
    pid = own.process.provisioner.outer_pid
    code = (
        "import os, time\nfor _ in range(200):\n    if os.fork() == 0: time.sleep(60); os._exit(0)\ntime.sleep(5)"
    )
    result = own.run(code)
    assert result.status == "killed"
    assert "limit is 12" in result.reason
    own.call(own.kernel.stop())
    assert processes.process_tree(pid) == []


def test_code_cannot_fill_the_disk(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, disk_bytes=32 << 20)
    code = """
import os
for number in range(40):
    with open(f'fill{number}', 'wb') as f:
        for _ in range(4): f.write(b'x' * (1 << 20)); f.flush()
import time; time.sleep(3)
"""
    result = own.run(code)
    if level == "bubblewrap":  # a tmpfs of that size
        assert (result.status, result.error.ename) == ("error", "OSError")
        assert "No space left" in result.error.evalue
    else:
        assert result.status == "killed"
        assert "to disk, the limit is 32 MiB" in result.reason
        assert not own.kernel.alive


def test_one_file_cannot_be_larger_than_the_disk_limit(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, disk_bytes=16 << 20)
    # A hole takes no room, so the watch over all files together says nothing.
    code = "big = open('big', 'wb', buffering=0)\nbig.truncate(16 << 20)\nbig.seek(0, 2)\nbig.write(b'x')"
    result = own.run(code)
    assert (result.status, result.error.ename) == ("error", "OSError")
    assert own.text("import os; print(os.path.getsize('big') == 16 << 20)") == "True"


def test_code_can_write_what_fits(box: Any) -> None:
    assert (
        box.text("open('fits', 'wb').write(bytes(8 << 20)); import os; print(os.path.getsize('fits'))") == "8388608"
    )
    box.run("os.remove('fits')")


def test_code_cannot_make_files_without_end(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, files=500)
    result = own.run("import time\nfor n in range(3000): open(f'f{n}', 'w').close()\ntime.sleep(5)")
    assert result.status == "killed"
    assert "500 files" in result.reason


# --- output -----------------------------------------------------------------------------------------


def test_a_flood_of_output_is_stopped_and_the_sandbox_lives(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, output_bytes=200_000)
    result = own.run("kept = 1\nwhile True: print('x' * 1000)")
    assert result.status == "interrupted"
    assert "195 KiB" in result.reason
    assert len(printed(result)) <= 200_000
    assert own.text("print(kept)") == "1"


def test_many_small_outputs_are_stopped_as_well(box: Any) -> None:
    result = box.run("from IPython.display import display\nfor i in range(20_000): display(i)")
    assert result.status == "interrupted"
    assert "500 outputs" in result.reason
    assert len(result.outputs) <= 502


def test_raw_writes_to_the_standard_descriptors_are_bounded_too(box: Any) -> None:
    result = box.run("import os\nfor _ in range(3000): os.write(1, b'y' * 65536)", timeout_s=10)
    assert result.status in ("interrupted", "ok")
    assert sum(len(output.get("text", "")) for output in result.outputs) <= 4 << 20
    assert box.text("print('alive')") == "alive"


@pytest.mark.long("another situation of what a test beside it proves")
def test_one_huge_message_is_refused_and_the_sandbox_lives(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level, message_bytes=2 << 20)
    code = "kept = 5\nfrom IPython.display import display\ndisplay({'text/plain': 'x' * (64 << 20)}, raw=True)"
    result = own.run(code)
    assert result.status == "ok"
    assert "1 message over 2 MiB dropped" in result.notes
    assert own.text("print(kept)") == "5"


# --- hostile kernels -----------------------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_code_that_ends_its_process_is_told_as_such(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level)
    result = own.run("print('last', flush=True)\nimport os, time; time.sleep(0.3); os._exit(3)")
    assert result.status == "killed"
    assert result.reason == "The sandbox is gone: its process ended (exit status 3)."
    assert printed(result) == "last"


def test_code_that_kills_its_own_kernel_is_told_as_such(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level)
    result = own.run("import os; os.kill(os.getpid(), 9)")
    assert result.status == "killed"
    assert result.reason == "The sandbox is gone: its process ended (exit status 137, SIGKILL)."


def test_code_that_shuts_its_kernel_down_is_told_as_such(make_box: MakeBox) -> None:
    own = make_box("landlock")
    result = own.run("import time; get_ipython().kernel.do_shutdown(False); time.sleep(0.2)")
    own.call(asyncio.wait_for(own.process.ended.wait(), 20))
    if result.status == "ok":  # the loop that was told to stop ends after the cell
        result = own.run("1")
    assert result.status == "killed"
    assert "its process ended" in result.reason


def test_code_that_crashes_the_interpreter_is_told_as_such(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level)
    result = own.run("import ctypes; ctypes.string_at(0)")
    assert result.status == "killed"
    assert "exit status 139, SIGSEGV" in result.reason


@pytest.mark.parametrize("code", ["exit()", "quit()", "raise SystemExit(3)"])
@pytest.mark.long("another situation of what a test beside it proves")
def test_code_that_leaves_python_politely_keeps_its_state(box: Any, code: str) -> None:
    box.run("before_exit = 1")
    result = box.run(f"print('reached')\n{code}\nprint('not reached')")
    assert (result.status, result.error.ename, result.error.line) == ("error", "SystemExit", 2)
    assert printed(result).startswith("reached")
    assert "not reached" not in printed(result)
    with pytest.raises(TimeoutError):  # by itself ipykernel ends a little later
        box.call(asyncio.wait_for(box.process.ended.wait(), 0.3))
    assert box.text("print(before_exit)") == "1"


FORGED = """
k = get_ipython().kernel; s = k.session; p = k.get_parent()
s.send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': 'FOREIGN'}, parent={'msg_id': 'other', 'msg_type': 'x'})
for kind, content in (
    ('stream', {'name': 5, 'text': {'a': 1}}), ('display_data', {'data': [1, 2], 'metadata': None}),
    ('error', {'ename': None, 'evalue': [], 'traceback': 'abc'}),
    ('comm_open', {'comm_id': 'x', 'target_name': 'y'}),
    ('update_display_data', {'data': {'text/plain': 'u'}}), ('input_request', {'prompt': 'p'}),
    ('codeagent_value', {'index': 0, 'count': 1, 'kind': 'json', 'meta': '{}'})):
    s.send(k.iopub_socket, kind, content, parent=p)
for frames in ([b'x'], [b'<IDS|MSG>'], [b't', b'<IDS|MSG>', b'bad', b'{', b'{}', b'{}', b'{}'],
               [b't', b'<IDS|MSG>'] + [b'\\xff' * 10] * 5):
    k.iopub_socket.send_multipart(frames)
get_ipython().payload_manager.write_payload({'source': 'set_next_input', 'text': 'evil'})
print('end')
"""


def test_forged_and_malformed_messages_are_dropped_and_noted(box: Any) -> None:
    result = box.run(FORGED)
    assert result.status == "error", "one of them says so"
    assert "FOREIGN" not in printed(result)
    assert printed(result).endswith("end")
    noted = " ".join(result.notes)
    for kind in ("comm_open", "update_display_data", "input_request", "codeagent_value", "payload"):
        assert kind in noted
    assert box.text("print('next')") == "next"


def test_a_forged_idle_does_not_end_an_execution(box: Any) -> None:
    code = "import time\nk = get_ipython().kernel\n"
    code += "k.session.send(k.iopub_socket, 'status', {'execution_state': 'idle'}, parent=k.get_parent())\n"
    result = box.run(f"{code}time.sleep(0.4); finished = 1")
    assert result.duration_s > 0.4
    assert "finished" in {entry.name for entry in result.namespace}


def test_input_cannot_be_asked_for(box: Any) -> None:
    assert box.run("input('?')").error.ename == "StdinNotImplementedError"


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_flood_between_two_executions_ends_the_sandbox(make_box: MakeBox) -> None:
    own = make_box("landlock")
    own.run("""
import threading, time
k = get_ipython().kernel
def flood():
    time.sleep(0.2)
    for _ in range(300_000):
        k.session.send(k.iopub_socket, 'stream', {'name': 'stdout', 'text': 'x'}, parent={'msg_id': 'n'})
        if _ % 500 == 0: time.sleep(0.005)
threading.Thread(target=flood, daemon=True).start()""")

    async def dead() -> None:
        async with asyncio.timeout(20):
            await own.process.ended.wait()

    own.call(dead())
    assert not own.kernel.alive


# --- start and end ---------------------------------------------------------------------------------------


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_promise_that_does_not_hold_refuses_the_sandbox(
    make_box: MakeBox, level: SandboxLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_box(level)  # the can: it starts when all promises hold

    from jupyter_codeagent.sandbox.levels import broken_promises

    def with_leak(at: SandboxLevel, policy: SandboxPolicy, measured: dict[str, bool]) -> tuple[str, ...]:
        return broken_promises(at, policy, {**measured, "TCP": True})

    monkeypatch.setattr("jupyter_codeagent.sandbox.selftest.broken_promises", with_leak)
    with pytest.raises(SandboxUnavailableError, match=r"did not hold when measured: TCP.*apt install bubblewrap"):
        make_box(level)


def test_the_next_level_is_tried_where_one_is_missing(make_box: MakeBox, monkeypatch: pytest.MonkeyPatch) -> None:
    from jupyter_codeagent.sandbox.local.walls import bubblewrap

    monkeypatch.setattr(bubblewrap, "find_bubblewrap", lambda: None)
    policy = SandboxPolicy()
    with pytest.raises(SandboxUnavailableError, match="bwrap is not installed"):
        asyncio.run(SandboxKernel.start(policy=SandboxPolicy(levels=("bubblewrap",)), data_dir=Path("/")))

    async def second() -> str:
        kernel = await SandboxKernel.start(
            policy=policy, data_dir=Path("/var/empty" if os.path.isdir("/var/empty") else "/usr")
        )
        try:
            return kernel.status.level
        finally:
            await kernel.stop()

    assert asyncio.run(second()) in ("namespaces", "landlock")


def test_no_isolation_is_never_one_of_several_levels() -> None:
    policy = SandboxPolicy(levels=("landlock", "none"))
    with pytest.raises(SandboxUnavailableError, match="give it alone"):
        asyncio.run(SandboxKernel.start(policy=policy, data_dir=Path("/usr")))


def test_without_isolation_the_status_says_so(make_box: MakeBox) -> None:
    own = make_box("none")
    assert own.kernel.status.label == "NOT ISOLATED"
    assert {"read files outside", "TCP"} <= set(own.kernel.status.open)


def test_a_sandbox_leaves_nothing_in_the_hosts_temporary_places(
    make_box: MakeBox, level: SandboxLevel, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:  # short: sockets have their place in it
        monkeypatch.setattr("tempfile.tempdir", temporary)
        own = make_box(level)
        own.run(LITTER)
        assert len(os.listdir(temporary)) == 1
        own.call(own.kernel.stop())
        assert os.listdir(temporary) == []
    assert not glob.glob("/dev/shm/codeagent-litter*") + glob.glob("/tmp/codeagent-litter*")
    keys = [line.split()[0] for line in Path("/proc/sysvipc/shm").read_text(encoding="ascii").splitlines()]
    assert keys[0] == "key"
    assert str(0xC0DE01) not in keys


@pytest.mark.long("another situation of what a test beside it proves")
def test_what_a_killed_host_left_is_removed_by_the_next_one(
    make_box: MakeBox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        environment = {**os.environ, "TMPDIR": temporary}
        command = [sys.executable, "-c", HOST, "landlock", str(tmp_path)]
        host = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment)
        try:
            assert host.stdout is not None
            left = Path(host.stdout.readline().split()[2])
            monkeypatch.setattr("tempfile.tempdir", temporary)
            make_box("landlock")
            assert left.is_dir()  # its host lives
        finally:
            host.kill()
            host.communicate()
        assert left.is_dir()
        make_box("landlock")
        assert not left.exists()
        assert len(os.listdir(temporary)) == 2  # those of the two that live


def test_stopping_leaves_no_process_and_no_directory(make_box: MakeBox, level: SandboxLevel) -> None:
    own = make_box(level)
    root, pid = own.process.directory.root, own.process.provisioner.outer_pid
    assert root.is_dir()
    assert processes.process_tree(pid)
    own.call(own.kernel.stop())
    own.call(own.kernel.stop())
    assert not root.exists()
    assert processes.process_tree(pid) == []
    assert own.run("1").status == "killed"


LITTER = """
import ctypes, tempfile
for place in ('/dev/shm', '/tmp', '/var/tmp', tempfile.gettempdir()):
    try: open(place + '/codeagent-litter', 'w').write('x')
    except OSError: pass
try:
    from multiprocessing import shared_memory
    shared_memory.SharedMemory('codeagent-litter-2', create=True, size=4096)
except OSError: pass
print(ctypes.CDLL(None).shmget(0xc0de01, 4096, 0o1600))
"""

HOST = """
import asyncio, sys
from pathlib import Path
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy
async def main():
    kernel = await SandboxKernel.start(policy=SandboxPolicy(levels=(sys.argv[1],)), data_dir=Path(sys.argv[2]))
    provisioner = kernel.backend.process.provisioner
    print(provisioner.outer_pid, provisioner.inner_pid, kernel.backend.process.directory.root, flush=True)
    await asyncio.sleep(60)
asyncio.run(main())
"""


def test_the_sandbox_dies_with_a_host_that_is_killed(level: SandboxLevel, tmp_path: Path) -> None:
    host = subprocess.Popen([sys.executable, "-c", HOST, level, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    try:
        assert host.stdout is not None
        words = host.stdout.readline().split()
        if not words:
            pytest.skip(f"{level} does not work here")
        outer, inner, root = int(words[0]), int(words[1]), Path(words[2])
        assert processes.process_tree(inner)
        host.kill()
        until = time.monotonic() + 5
        while _running(outer) or _running(inner):
            assert time.monotonic() < until
            time.sleep(0.01)
    finally:
        host.kill()
        host.communicate()
    subprocess.run(["rm", "-rf", str(root)], check=True)


def _running(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rsplit(")", 1)[1].split()[0]
    except OSError:
        return False
    return state != "Z"


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_pool_gives_a_ready_sandbox_and_warms_the_next_a_while_behind_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(warm_pool, "WARM_DELAY_S", 0.2)

    async def use() -> tuple[float, str, bool]:
        pool = WarmPool(SandboxPolicy(), tmp_path)
        pool.warm()
        first = await pool.take()
        at_once = pool._warming
        await asyncio.sleep(0.5)
        warming = pool._warming
        assert at_once is None
        assert warming is not None
        await asyncio.wait([warming])
        started = time.monotonic()
        second = await pool.take()
        waited = time.monotonic() - started
        result = await second.execute("print('ready')", timeout_s=10)
        await pool.close()
        alive = first.alive
        await first.stop()
        await second.stop()
        return waited, printed(result), alive

    waited, text, alive = asyncio.run(use())
    assert waited < 0.05
    assert text == "ready"
    assert alive


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_sandbox_that_is_wanted_before_the_next_is_due_is_started_at_once(tmp_path: Path) -> None:
    async def use() -> tuple[bool, bool]:
        pool = WarmPool(SandboxPolicy(), tmp_path)
        taken = [await pool.take(), await pool.take()]
        await pool.close()
        alive = [kernel.alive for kernel in taken]
        for kernel in taken:
            await kernel.stop()
        return alive[0], alive[1]

    assert asyncio.run(use()) == (True, True)


@pytest.mark.long("another situation of what a test beside it proves")
def test_a_spare_that_died_is_replaced(tmp_path: Path) -> None:
    async def use() -> bool:
        pool = WarmPool(SandboxPolicy(), tmp_path)
        pool.warm()
        assert pool._warming is not None
        (await pool._warming)._requests.kill("for the test")
        kernel = await pool.take()
        await pool.close()
        alive = kernel.alive
        await kernel.stop()
        return alive

    assert asyncio.run(use())


@pytest.mark.parametrize("after_s", [0.0, 0.05, 0.3])
def test_a_closed_pool_leaves_nothing_and_gives_nothing(
    after_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def use() -> None:
        pool = WarmPool(SandboxPolicy(), tmp_path)
        pool.warm()
        await asyncio.sleep(after_s)  # at another place of its start
        await pool.close()
        with pytest.raises(RuntimeError, match="closed"):
            await pool.take()

    with tempfile.TemporaryDirectory(dir="/tmp") as temporary:
        monkeypatch.setattr("tempfile.tempdir", temporary)
        asyncio.run(use())
        assert os.listdir(temporary) == []
    assert [pid for pid in processes.process_tree(os.getpid()) if _is_sandbox(pid, temporary)] == []


def _is_sandbox(pid: int, temporary: str) -> bool:
    try:
        return temporary in Path(f"/proc/{pid}/cmdline").read_text(encoding="utf-8")
    except OSError:
        return False


def test_the_names_of_the_probes_and_of_the_promises_agree() -> None:
    from jupyter_codeagent.sandbox.guest.probes import probes_of
    from jupyter_codeagent.sandbox.levels import promised_probes

    assert promised_probes("bubblewrap", SandboxPolicy()) == set(probes_of("linux"))
    assert promised_probes("seatbelt", SandboxPolicy()) == set(probes_of("darwin")) - {"see the host name"}
