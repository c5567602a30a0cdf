"""Ways to the network and to other programs' sockets; each row is one program."""

from __future__ import annotations

import socket
from collections.abc import Iterator

import pytest
from sandbox_attacks import (
    Attack,
    World,
    attack,
    attempts,
    got_through,
    rows,
    was_tried,
    without_effect_outside,
    world,
)
from sandbox_box import Box


@pytest.fixture(scope="module")
def host() -> Iterator[World]:
    with world() as made:
        yield made


OTHER_FAMILIES = {
    "packet": 17,
    "bluetooth": 31,
    "can": 29,
    "tipc": 30,
    "alg": 38,
    "vsock": 40,
    "kcm": 41,
    "qipcrtr": 42,
    "smc": 43,
    "xdp": 44,
    "mctp": 45,
    "key": 15,
    "rds": 21,
}

# Every socket the process has already, duplicated: what zmq, ipykernel and asyncio hold open.
EVERY_SOCKET = """
def every_socket(action):
    done = []
    for name in os.listdir('/proc/self/fd'):
        try: target = os.readlink('/proc/self/fd/' + name)
        except OSError: continue
        if target.startswith('socket:'):
            with socket.socket(fileno=os.dup(int(name))) as one:
                one.setblocking(False)
                try: done.append(action(one))
                except (OSError, TypeError): pass
    if not done: raise PermissionError('none of them could')
    return done
"""

CONNECTS = [
    attempts("tcp", "socket.create_connection(('127.0.0.1', $TCP), 2)"),
    attempts("tcp-nonblocking", "socket.socket().connect_ex(('127.0.0.1', $TCP)) and 1 / 0", outside=False),
    attempts("tcp-over-ipv6", "socket.socket(socket.AF_INET6).connect(('::ffff:127.0.0.1', $TCP))", outside=False),
    attempts("udp", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.1', $UDP))"),
    attempts("udp-to-a-name-server", "socket.socket(type=socket.SOCK_DGRAM).sendto(b'x', ('127.0.0.53', 53))"),
    attempts("tcp-fast-open", "socket.socket().sendto(b'x', 0x20000000, ('127.0.0.1', $TCP))", outside=False),
    attempts("socket-by-number", "call({'x86_64': 41, 'aarch64': 198}[os.uname().machine], 2, 1, 0)"),
    attempts("raw", "socket.socket(socket.AF_INET, socket.SOCK_RAW, 1)", outside=False),
    attempts("ping", "socket.socket(socket.AF_INET, socket.SOCK_DGRAM, 1)", outside=False),
    attempts("mptcp", "socket.socket(socket.AF_INET, socket.SOCK_STREAM, 262)", outside=False),
    attempts("route-netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 0)"),
    attempts("uevent-netlink", "socket.socket(socket.AF_NETLINK, socket.SOCK_DGRAM, 15)"),
    *(
        attempts(f"family-{name}", f"socket.socket({number}, {kind})", outside=False)
        for name, number in OTHER_FAMILIES.items()
        for kind in (5 if name == "alg" else 3,)
    ),
    attempts("path-socket", "socket.socket(socket.AF_UNIX).connect('$STREAM')"),
    attempts("path-datagram", "socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM).sendto(b'x', '$DATAGRAM')"),
    attempts(
        "datagram-from-a-pair",
        "socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)[0].sendto(b'x', '$DATAGRAM')",
    ),
    attempts("sequenced-pair", "socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)"),
    attempts("from-a-stream-pair", "socket.socketpair()[0].connect('$STREAM')", outside=False),
    attempts("sendto-from-a-stream-pair", "socket.socketpair()[0].sendto(b'x', '$DATAGRAM')", outside=False),
    attempts("pair-of-another-family", "socket.socketpair(socket.AF_INET)", outside=False),
    attempts("abstract-socket", "socket.socket(socket.AF_UNIX).connect('\\0$ABSTRACT')"),
    attempts("autobound-socket", "socket.socket(socket.AF_UNIX).bind('')"),
    attempts("listen-on-a-path", "(s := socket.socket(socket.AF_UNIX), s.bind('listener'), s.listen())"),
    attempts("listen-on-all-addresses", "socket.create_server(('0.0.0.0', 0))"),
    attempts("listen-on-ipv6", "socket.create_server(('::1', 0), family=socket.AF_INET6)", outside=False),
    attack(
        "connect-sockets-that-exist",
        EVERY_SOCKET,
        "attempt('connect', lambda: every_socket(lambda one: one.connect('$STREAM')))",
        outside=False,
    ),
    attack(
        "send-from-sockets-that-exist",
        EVERY_SOCKET,
        "attempt('path', lambda: every_socket(lambda one: one.sendto(b'', '$DATAGRAM')))",
        "attempt('udp', lambda: every_socket(lambda one: one.sendto(b'', ('127.0.0.1', $UDP))))",
        outside=False,
    ),
    attack(
        "bind-sockets-that-exist",
        EVERY_SOCKET,
        "attempt('bind', lambda: every_socket(lambda one: one.bind('')))",
        outside=False,
    ),
    attempts("resolve-a-name", "socket.getaddrinfo('example.com', 80)", outside=False),
    attempts("resolve-an-address", "socket.gethostbyaddr('127.0.0.1')"),
    attempts("interfaces", "[n for _, n in socket.if_nameindex()]"),
    attempts("neighbours", "[l for l in open('/proc/net/tcp').readlines() if '%04X' % $TCP in l][0]"),
    attempts("sockets-of-the-host", "[l for l in open('/proc/net/unix').readlines() if '$STREAM' in l][0]"),
    attempts(
        "urllib", "__import__('urllib.request').request.urlopen('http://127.0.0.1:$TCP/', timeout=1)", outside=False
    ),
    attempts(
        "http-client", "__import__('http.client').client.HTTPConnection('127.0.0.1', $TCP, timeout=2).connect()"
    ),
    attempts("ftp", "__import__('ftplib').FTP().connect('127.0.0.1', $TCP, 1)", outside=False),
    attempts("pandas-from-a-url", "__import__('pandas').read_csv('http://127.0.0.1:$TCP/x.csv')", outside=False),
    attempts(
        "multiprocessing-client",
        "__import__('multiprocessing.connection').connection.Client('$STREAM')",
        outside=False,
    ),
    attack(
        "asyncio-connection",
        "import asyncio, threading",
        "def work(): attempt('asyncio', lambda: asyncio.run(asyncio.open_connection('127.0.0.1', $TCP)))",
        "one = threading.Thread(target=work); one.start(); one.join()",
    ),
    attack(
        "asyncio-server",
        "import asyncio, threading",
        "def work(): attempt('asyncio', lambda: asyncio.run(asyncio.start_server(print, '127.0.0.1', "
        "0)).sockets[0])",
        "one = threading.Thread(target=work); one.start(); one.join()",
    ),
    attack(
        "known-daemons",
        "import glob",
        "patterns = ('/run/docker.sock', '/var/run/docker.sock', '/run/containerd/*.sock', '/run/dbus/*socket*',",
        "    '/run/systemd/private', '/run/systemd/journal/*', '/run/user/*/bus', "
        "'/tmp/ssh-*/agent.*', '/tmp/.X11-unix/*',",
        "    '/run/user/*/podman/*', '/run/snapd.socket', '/var/run/nscd/socket', '/tmp/.s.PGSQL.*')",
        "for path in [path for pattern in patterns for path in glob.glob(pattern)] or ['/run/docker.sock']:",
        "    attempt(path, lambda: socket.socket(socket.AF_UNIX).connect(path))",
        outside=False,
    ),
    attempts("send-a-descriptor-out", "socket.send_fds(socket.socket(socket.AF_UNIX), [b'x'], [0])", outside=False),
    attempts(
        "fake-connection-file",
        "[open(p).read() for p in __import__('glob').glob('/tmp/codeagent-*/c/*.json') "
        "if os.environ['JUPYTER_RUNTIME_DIR'] not in p][0]",
        outside=False,
    ),
    attempts("io-uring-socket", "call(425, 4, ctypes.create_string_buffer(256))", outside=False),
    attempts("io-uring-register", "call(427, 0, 0, 0, 0)", outside=False),
]


@rows(CONNECTS)
def test_nothing_on_the_network_or_behind_a_socket_can_be_reached(box: Box, host: World, attack: Attack) -> None:
    text = box.text(host.fill(attack.code))
    assert was_tried(text)
    assert got_through(text) == []
    assert host.reached() == []
    assert box.kernel.alive


def test_the_same_programs_get_through_outside() -> None:
    assert without_effect_outside(CONNECTS) == []


def test_nobody_on_the_host_can_connect_to_a_sandbox_but_the_one_who_started_it(box: Box) -> None:
    """Its sockets are files in a directory of mode 0700, and no port of the machine is one of them."""
    directory = box.process.directory
    assert directory.root.stat().st_mode & 0o077 == 0
    sockets = [path for path in directory.connection.iterdir() if path.is_socket()]
    assert len(sockets) == 5
    with socket.socket(socket.AF_UNIX) as client:
        client.connect(str(sockets[0]))  # we may
    assert all(path.stat().st_mode & 0o077 == 0 for path in directory.connection.iterdir())


LEGITIMATE = {
    "event-loop": "import asyncio, threading\nt = threading.Thread(target=lambda: "
    "print(asyncio.run(asyncio.sleep(0, 5))))\nt.start(); t.join()",
    "stream-pair": "import socket; a, b = socket.socketpair(); a.send(b'5'); print(b.recv(9).decode())",
    "pipe": "import os; r, w = os.pipe(); os.write(w, b'5'); print(os.read(r, 9).decode())",
    "selectors": "import selectors, os; r, w = os.pipe(); s = selectors.DefaultSelector(); s.register(r, 1); "
    "os.write(w, b'x'); print(4 + len(s.select(5)))",
    "queues": "import queue, threading; q = queue.Queue(); threading.Thread(target=q.put, "
    "args=(5,)).start(); print(q.get(timeout=5))",
    "thread-pool": "from concurrent.futures import ThreadPoolExecutor as P; print(sum(P(4).map(int, '23')))",
    "inner-zmq": "import zmq; c = zmq.Context.instance(); a, b = c.socket(zmq.PAIR), c.socket(zmq.PAIR); "
    "a.bind('inproc://x'); b.connect('inproc://x'); a.send(b'5'); print(b.recv().decode()); "
    "a.close(); b.close()",
}


@pytest.mark.parametrize("code", LEGITIMATE.values(), ids=LEGITIMATE)
def test_honest_communication_within_the_process_goes_on(box: Box, code: str) -> None:
    assert box.text(code).splitlines()[-1] == "5"
