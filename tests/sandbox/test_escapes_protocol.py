"""Abuse of the kernel protocol: what a sandbox may send, and what it does to the host that reads it."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from sandbox_box import Box, printed

MakeBox = Callable[..., Box]
MiB = 1 << 20

PRELUDE = """
import json, os, socket, struct, time
kernel = get_ipython().kernel
session, iopub, parent = kernel.session, kernel.iopub_socket, kernel.get_parent()
def send(kind, content, **options): session.send(iopub, kind, content, **{'parent': parent, **options})
def send_parts(header, parent_header, metadata, content, signature=None):
    given = (header, parent_header, metadata, content)
    parts = [part if isinstance(part, bytes) else json.dumps(part).encode() for part in given]
    iopub.send_multipart([b'topic', b'<IDS|MSG>', signature or session.sign(parts), *parts])
def header(kind): return {**session.msg(kind)['header'], 'date': '2026-01-01T00:00:00Z'}
def parent_header(): return {**parent['header'], 'date': '2026-01-01T00:00:00Z'} if 'header' in parent else parent
"""

HARMLESS = {
    "wrong-signature": "send_parts(header('stream'), {}, {}, {'name': 'stdout', 'text': 'LIE'}, b'0' * 64)",
    "no-signature": "iopub.send_multipart([b'<IDS|MSG>', b'', b'{}', b'{}', b'{}', b'{}'])",
    "no-delimiter": "iopub.send_multipart([b'x'] * 6)",
    "only-a-delimiter": "iopub.send_multipart([b'<IDS|MSG>'])",
    "empty-frames": "iopub.send_multipart([b''] * 50)",
    "thousand-identities": "iopub.send_multipart([b'i'] * 1000 + [b'<IDS|MSG>'])",
    "not-utf-8": "send_parts(header('stream'), parent_header(), {}, b'\\xff\\xfe{')",
    "header-is-a-list": "send_parts([1], parent_header(), {}, {})",
    "header-without-a-type": "send_parts({}, parent_header(), {}, {})",
    "type-is-a-number": "send_parts({**header('stream'), 'msg_type': 5}, parent_header(), {}, {})",
    "parent-is-text": "send_parts(header('stream'), '\"x\"', {}, {'name': 'stdout', 'text': 'LIE'})",
    "parent-id-is-an-object": "send_parts(header('stream'), {'msg_id': {}}, {}, {'name': 'stdout', 'text': 'LIE'})",
    "content-is-a-list": "send_parts(header('stream'), parent_header(), {}, [1])",
    "content-is-null": "send_parts(header('display_data'), parent_header(), {}, None)",
    "dates-that-are-none": "send_parts({**header('stream'), 'date': '9999-99-99T99:99:99Z'}, "
    "parent_header(), {}, {})",
    "stream-to-nowhere": "send('stream', {'name': 'stdin', 'text': 'LIE'})",
    "stream-of-an-object": "send('stream', {'name': 'stdout', 'text': {'a': 1}})",
    "display-of-a-list": "send('display_data', {'data': [1], 'metadata': None})",
    "display-of-numbers": "send('display_data', {'data': {'text/plain': 5, 'image/png': {}}, 'metadata': []})",
    "display-without-data": "send('display_data', {})",
    "error-of-nothing": "send('status', {'execution_state': ['idle']})",
    "status-of-a-number": "send('status', {'execution_state': 7})",
    "status-without-a-state": "send('status', {})",
    "clear-with-an-object": "send('clear_output', {'wait': {'a': []}})",
    "deep-content": "send_parts(header('display_data'), parent_header(), {}, b'[' * 200000 + b']' * 200000)",
    "deep-header": "send_parts(b'[' * 200000, {}, {}, {})",
    "deep-metadata": "send_parts(header('display_data'), parent_header(), b'{\"a\":' * 100000, {'data': {}})",
    "endless-number": "send_parts(header('display_data'), parent_header(), {}, b'{\"data\": ' + b'9' * 100000 + "
    "b'}')",
    "not-a-number": 'send_parts(header(\'display_data\'), parent_header(), {}, b\'{"data": NaN, "metadata": '
    "Infinity}')",
    "same-key-twice": 'send_parts(header(\'stream\'), parent_header(), {}, b\'{"name": "stdout", "name": 5, '
    '"text": "LIE"}\')',
    "many-buffers": "session.send(iopub, 'display_data', {'data': {}}, parent=parent, buffers=[b'x'] * 5000)",
    "comm-open": "send('comm_open', {'comm_id': 'x', 'target_name': 'jupyter.widget', 'data': {}})",
    "comm-message": "send('comm_msg', {'comm_id': 'codeagent', 'data': {'type': 'insert'}})",
    "comm-of-the-panel": "send('comm_open', {'comm_id': 'x', 'target_name': 'jupyter-codeagent', "
    "'data': {'protocol': 1, 'session': 'LIE'}})",
    "cells-of-the-agent": "send('display_data', {'data': {'application/vnd.jupyter-codeagent.cells+json': "
    "{'run_id': 'LIE', 'cells': []}, 'text/plain': ''}, 'metadata': {}})",
    "display-update": "send('update_display_data', {'data': {'text/plain': 'LIE'}, 'transient': {'display_id': "
    "'x'}})",
    "debug-event": "send('debug_event', {'type': 'event', 'event': 'stopped'})",
    "input-request": "send('input_request', {'prompt': 'LIE', 'password': True})",
    "shutdown-reply": "send('shutdown_reply', {'restart': True})",
    "execute-reply-on-iopub": "send('execute_reply', {'status': 'ok', "
    "'payload': [{'source': 'set_next_input', 'text': "
    "'LIE'}]})",
    "value-that-nobody-asked-for": "send('codeagent_value', "
    "{'index': 0, 'count': 1, 'kind': 'json', 'meta': '{}'})",
    "foreign-parent": "send('stream', {'name': 'stdout', 'text': 'LIE'}, parent={'msg_id': 'another'})",
    "no-parent": "session.send(iopub, 'stream', {'name': 'stdout', 'text': 'LIE'})",
    "page-payload": "get_ipython().payload_manager.write_payload({'source': 'page', 'data': {'text/html': 'LIE'}})",
    "next-input-payload": "get_ipython().set_next_input('LIE')",
    "exit-payload": "get_ipython().payload_manager.write_payload({'source': 'ask_exit', 'keepkernel': False})",
    "edit-payload": "get_ipython().payload_manager.write_payload({'source': 'edit_magic', 'filename': "
    "'/etc/passwd'})",
}


@pytest.mark.parametrize("abuse", HARMLESS.values(), ids=HARMLESS)
def test_messages_that_lie_are_not_believed_and_the_next_cell_runs(box: Box, abuse: str) -> None:
    result = box.run(f"{PRELUDE}{abuse}\nprint('after')")
    assert result.status == "ok", result.reason
    assert printed(result) == "after"
    assert "LIE" not in json.dumps(result.outputs)
    assert box.text("print(6 * 7)") == "42"


STRANGE_TEXT = {
    "lone-surrogate": r"send_parts(header('stream'), parent_header(), {}, b'{\"name\": \"stdout\", \"text\": "
    r"\"a\\ud800b\"}')",
    "surrogate-in-a-display": r"send_parts(header('display_data'), parent_header(), {}, "
    r"b'{\"data\": {\"text/plain\": "
    r"\"a\\udfffb\"}}')",
    "surrogate-in-an-error": r"send_parts(header('error'), parent_header(), {}, "
    r"b'{\"ename\": \"a\\ud800\", \"evalue\": "
    r"\"\\ud800\", \"traceback\": [\"\\ud800\"]}')",
    "escape-in-a-type": r"send('evil\x1b]0;title\x07', {})",
    "surrogate-in-a-type": r"send_parts({**header('x'), 'msg_type': 'a'}, parent_header(), {}, {}); "
    r"send_parts(json.dumps({**header('x'), 'msg_type': 'e'}).replace('\"e\"', "
    r"'\"\\\\ud800\"').encode(), parent_header(), {}, {})",
    "markup-in-a-type": "send('<b onclick=x>', {})",
    "nul-and-bell": r"print('a\0b\x07c')",
    "operating-system-command": r"print('\x1b]52;c;AAAA\x07')",
    "name-of-a-variable": r"globals()['x\ud800\x1b]0;t\x07'] = 1",
    "name-of-a-type": r"odd = type('T\x1b[31m\u202e', (), {})()",
}


@pytest.mark.parametrize("abuse", STRANGE_TEXT.values(), ids=STRANGE_TEXT)
def test_whatever_text_comes_out_can_be_stored_and_shown(box: Box, abuse: str) -> None:
    result = box.run(PRELUDE + abuse)
    names = [(entry.name, entry.type_name) for entry in result.namespace]
    text = json.dumps([result.outputs, result.notes, result.reason, names], ensure_ascii=False)
    text.encode()  # no lone surrogates: SQLite, files and the page could not hold them
    assert not {char for char in "\x1b\x07\0" if char in "".join((*result.notes, *map(str, names)))}
    assert "<b onclick" not in " ".join(result.notes)
    box.run("for name in [n for n in globals() if n.startswith('x') or n == 'odd']: del globals()[name]")


FLOODS = {
    "display-updates": "send('update_display_data', {'data': {}, 'metadata': {}, 'transient': {}})",
    "statuses": "send('status', {'execution_state': 'busy'})",
    "clearings": "send('clear_output', {'wait': False})",
    "comms": "send('comm_msg', {'comm_id': 'x', 'data': {}})",
    "errors": "send('error', {'ename': 'E', 'evalue': '', 'traceback': []})",
    "input-echoes": "send('execute_input', {'code': '', 'execution_count': 1})",
}


@pytest.mark.parametrize("flood", FLOODS.values(), ids=FLOODS)
@pytest.mark.long_except("comms", why="each takes seconds to be full")
def test_a_flood_of_messages_of_any_type_is_stopped_before_its_time_is_up(make_box: MakeBox, flood: str) -> None:
    own = make_box("landlock")  # what is read on the host does not depend on the level
    started = time.monotonic()
    result = own.run(f"{PRELUDE}while True: {flood}", timeout_s=25)
    assert result.status in ("interrupted", "killed"), result.status
    assert time.monotonic() - started < 20


HUGE = {
    "status": "for _ in range(4): send('status', {'execution_state': 'busy', 'x': blob})",
    "reply-type": "for _ in range(4): send('execute_input', {'code': blob})",
    "parent": "for _ in range(4): send('stream', {'name': 'stdout', 'text': ''}, parent={'msg_id': 'x', "
    "'x': blob})",
    "metadata": "for _ in range(4): send('stream', {'name': 'stdout', 'text': ''}, metadata={'x': blob})",
    "display": "for _ in range(4): send('display_data', {'data': {'application/json': blob}, 'metadata': {}})",
    "value": "for _ in range(4): send('codeagent_value', {'index': 0, 'count': 1, 'kind': 'json', 'meta': "
    "'', 'x': blob})",
}


@pytest.mark.parametrize("abuse", HUGE.values(), ids=HUGE)
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_large_message_costs_the_host_no_multiple_of_its_size(make_box: MakeBox, abuse: str) -> None:
    """20 MB of ``[], [], …`` are 500 MB of Python lists: sizes are looked at before anything is parsed."""
    own = make_box("landlock")
    own.run("print(1)")
    before = peak_bytes(reset=True)
    own.run(f"{PRELUDE}blob = [[]] * 5_000_000\n{abuse}\ntime.sleep(1)", timeout_s=40)
    assert peak_bytes() - before < 300 * MiB


ENDLESS = """
part = b'\\x03' + struct.pack('>Q', 4 << 20) + bytes(4 << 20)
channels = []
for name in os.listdir('/proc/self/fd'):
    try: target = os.readlink('/proc/self/fd/' + name)
    except OSError: continue
    if target.startswith('socket:'):
        one = socket.socket(fileno=os.dup(int(name)))
        try:
            if one.getsockname().endswith('{channel}') and one.getpeername() is not None: channels.append(one)
        except (OSError, AttributeError): pass
sent = 0
for one in channels:
    one.setblocking(True); one.settimeout(3)
    try:
        while sent < 1 << 30: one.sendall(part); sent += len(part)
    except OSError as problem: pass
print(len(channels), sent)
"""


@pytest.mark.parametrize("channel", ["k-ipc-1", "k-ipc-2"])
def test_a_message_without_end_does_not_fill_the_hosts_memory(make_box: MakeBox, channel: str) -> None:
    """Part after part with the flag that more will follow: limits on parts and on whole messages do not see it."""
    own = make_box("landlock")
    own.run("print(1)")
    find, _, send = ENDLESS.replace("{channel}", channel).partition("sent = 0\n")
    assert int(own.text(f"{PRELUDE}{find}print(len(channels))")) > 0
    before = peak_bytes(reset=True)
    own.run(f"{PRELUDE}sent = 0\n{send}", timeout_s=15)
    assert peak_bytes() - before < 400 * MiB


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_loop_of_the_host_stays_responsive_while_the_sandbox_floods(make_box: MakeBox) -> None:
    own = make_box("landlock")
    slowest = 0.0

    async def watch() -> None:
        nonlocal slowest
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            slowest = max(slowest, time.monotonic() - before)

    async def both() -> None:
        watching = asyncio.create_task(watch())
        code = f"{PRELUDE}blob = 'x' * 20_000_000\nfor _ in range(20): send('comm_msg', {{'data': blob}})"
        await own.kernel.execute(code, timeout_s=20)
        watching.cancel()

    own.call(both())
    assert slowest < 3


def peak_bytes(*, reset: bool = False) -> int:
    """The highest resident memory of this process since the last reset."""
    if reset:
        Path("/proc/self/clear_refs").write_text("5", encoding="ascii")
    status = Path("/proc/self/status").read_text(encoding="utf-8").splitlines()
    return next(int(line.split()[1]) << 10 for line in status if line.startswith("VmHWM:"))
