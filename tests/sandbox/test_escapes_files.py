"""Ways to the user's files and their metadata; each row is one program."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from sandbox_attacks import (
    PRELUDE,
    Attack,
    World,
    attack,
    attempts,
    got_through,
    outside,
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


READS = [
    attempts("os-open", "os.read(os.open('$SECRET', os.O_RDONLY), 99)"),
    attempts("openat-from-root", "os.read(os.open('$SECRET'[1:], 0, dir_fd=os.open('/', os.O_DIRECTORY)), 99)"),
    attempts("openat-dot-dot", "os.read(os.open('../' * 30 + '$SECRET'[1:], 0, dir_fd=os.open('.', 0)), 99)"),
    attempts("openat2", "os.read(call(437, -100, b'$SECRET', struct.pack('QQQ', 0, 0, 0), 24), 99)"),
    attempts("libc-open", "os.read(libc.open(b'$SECRET', 0), 99)"),
    attack(
        "libc-fopen",
        "libc.fopen.restype = libc.fgets.restype = ctypes.c_void_p",
        "def read():",
        "    file = libc.fopen(b'$SECRET', b'r')",
        "    if not file: raise OSError(ctypes.get_errno(), 'fopen')",
        "    text = ctypes.create_string_buffer(99)",
        "    libc.fgets(text, 99, ctypes.c_void_p(file))",
        "    return text.value",
        "attempt('fopen', read)",
    ),
    attempts("proc-self-root", "open('/proc/self/root$SECRET').read()"),
    attempts("proc-self-cwd", "open('/proc/self/cwd/' + '../' * 30 + '$SECRET'[1:]).read()"),
    attempts("proc-thread-root", "open(f'/proc/self/task/{os.getpid()}/root$SECRET').read()"),
    attempts("proc-host-root", "open('/proc/$HOST/root$SECRET').read()"),
    attempts("proc-init-root", "open('/proc/1/root$SECRET').read()", outside=False),
    attempts("symlink-of-the-host", "open('$LINK').read()"),
    attempts("symlink-made-inside", "(os.symlink('$SECRET', 'a-link'), open('a-link').read())"),
    attempts(
        "symlinked-directory", "(os.symlink(os.path.dirname('$SECRET'), 'a-dir'), open('a-dir/secret').read())"
    ),
    attempts("hard-link", "(os.link('$SECRET', 'a-name'), open('a-name').read())"),
    attempts("path-only-descriptor", "open(f\"/proc/self/fd/{os.open('$SECRET', os.O_PATH)}\").read()"),
    attempts("mmap", "__import__('mmap').mmap(os.open('$SECRET', 0), 0, access=1)[:]"),
    attempts("sendfile", "os.sendfile(os.open('got', 66, 384), os.open('$SECRET', 0), 0, 99)"),
    attempts("copy-file-range", "os.copy_file_range(os.open('$SECRET', 0), os.open('got', 66, 384), 99)"),
    attempts("shutil-copy", "__import__('shutil').copy('$SECRET', 'got')"),
    attempts("urllib-file-url", "__import__('urllib.request').request.urlopen('file://$SECRET').read()"),
    attempts("linecache", "__import__('linecache').getlines('$SECRET')[0]"),
    attempts("runpy-traceback", "compile(open('$SECRET').read(), 'x', 'eval')", outside=False),
    attempts("mkdtemp-walk-up", "[n for n in os.listdir(os.path.dirname('$SECRET')) if n == 'secret'][0]"),
    attempts("scandir", "[e.name for e in os.scandir(os.path.dirname('$SECRET')) if e.name == 'secret'][0]"),
    attempts("numpy-fromfile", "bytes(__import__('numpy').fromfile('$SECRET', 'u1'))"),
    attempts("numpy-memmap", "bytes(__import__('numpy').memmap('$SECRET', mode='r'))"),
    attempts("pandas-read-csv", "__import__('pandas').read_csv('$SECRET').columns[0]"),
    attempts("polars-scan", "__import__('polars').scan_csv('$SECRET').collect().columns[0]"),
    attempts("arrow-memory-map", "__import__('pyarrow').memory_map('$SECRET').read()"),
    attempts(
        "sqlite-open", "open('$SECRET').read() and __import__('sqlite3').connect('file:$SECRET?mode=ro', uri=True)"
    ),
    attempts("ipython-magic", "get_ipython().run_line_magic('load', '$SECRET') or open('$SECRET')", outside=False),
    attempts("shell-escape", "get_ipython().getoutput('cat $SECRET')[0]", outside=False),
    attempts("data-directory-dot-dot", "open('$DATA/../' + os.path.basename('$SECRET')).read()", outside=False),
    attempts("shadow-file", "open('/etc/shadow').read()", outside=False),
    attempts("passwd-file", "open('/etc/passwd').read()"),
    attempts("home-of-root", "os.listdir('/root')", outside=False),
    attempts("raw-memory", "open('/dev/mem', 'rb').read(1)", outside=False),
    attempts("kernel-memory", "open('/proc/kcore', 'rb').read(1)", outside=False),
    attempts("disk-device", "[open(f'/dev/{n}', 'rb').read(1) for n in ('vda', 'sda', 'nvme0n1')]", outside=False),
    attempts("kernel-log", "open('/dev/kmsg', 'rb', 0).read(1)", outside=False),
    attempts("watch-directory", "os.dup(libc.inotify_add_watch(libc.inotify_init(), b'/tmp', 0xfff))"),
    attempts("inotify", "[fd for fd in [libc.inotify_init1(0)] if fd >= 0][0]"),
    attempts("directory-notification", "__import__('fcntl').fcntl(os.open('.', 0), 1026, 4)"),
    attempts(
        "other-kernels-connection-files",
        "[open(p).read()[:5] for p in __import__('glob').glob('/root/.local/share/jupyter/runtime/*')][0]",
        outside=False,
    ),
    attempts("other-sandboxes", "[d for d in os.listdir('/tmp') if d.startswith('e-')][0]"),
    attempts(
        "cgroups-of-the-host",
        "[n for p in __import__('glob').glob('/sys/fs/cgroup/**/cgroup.procs', recursive=True)"
        " for n in open(p).read().split() if n == '$VICTIM'][0]",
        outside=False,
    ),
]

WRITES = [
    attempts("append", "open('$SECRET', 'a').write('x')"),
    attempts("read-write", "open('$SECRET', 'r+').write('x')"),
    attempts("create", "open('$OUTSIDE/a', 'x').close()"),
    attempts("openat-create", "os.open('b', os.O_CREAT | os.O_WRONLY, 0o600, dir_fd=os.open('$OUTSIDE', 0))"),
    attempts("through-proc-self-root", "open('/proc/self/root$OUTSIDE/c', 'w').close()"),
    attempts("truncate", "os.truncate('$SECRET', 0)"),
    attempts("ftruncate", "os.ftruncate(os.open('$SECRET', os.O_WRONLY), 0)"),
    attempts("make-directory", "os.mkdir('$OUTSIDE/d')"),
    attempts("symlink-out", "os.symlink('/', '$OUTSIDE/e')"),
    attempts("link-out", "(open('mine', 'w').close(), os.link('mine', '$OUTSIDE/f'))"),
    attempts("rename-out", "(open('mine', 'w').close(), os.rename('mine', '$OUTSIDE/g'))"),
    attempts("rename-in", "os.rename('$SECRET', 'stolen')"),
    attempts("exchange", "(open('mine', 'w').close(), os.dup(libc.renameat2(-100, b'mine', -100, b'$SECRET', 2)))"),
    attempts("remove", "os.unlink('$SECRET')"),
    attempts("fifo", "os.mkfifo('$OUTSIDE/h')"),
    attempts("fifo-in-scratch", "os.mkfifo('h')"),
    attempts("device-node", "os.mknod('$OUTSIDE/i', 0o20600, os.makedev(1, 8))", outside=False),
    attempts("swapped-directory", "(os.symlink('$OUTSIDE', 'sub'), open('sub/j', 'w').close())"),
    attempts("pathlib", "__import__('pathlib').Path('$OUTSIDE/k').write_text('x')"),
    attempts("sqlite", "__import__('sqlite3').connect('$OUTSIDE/l').execute('create table t (a)')"),
    attempts("pandas-to-csv", "__import__('pandas').DataFrame({'a': [1]}).to_csv('$OUTSIDE/m')"),
    attempts("arrow-write", "__import__('pyarrow').OSFile('$OUTSIDE/n', 'wb').close()"),
    attempts("temporary-file-there", "__import__('tempfile').mkstemp(dir='$OUTSIDE')"),
    attempts("shared-mapping", "__import__('mmap').mmap(os.open('$SECRET', os.O_RDWR), 0)[:1]"),
    attempts("fallocate", "os.posix_fallocate(os.open('$SECRET', os.O_RDWR), 0, 9999)"),
    attempts("set-group-file", "os.open('$OUTSIDE/o', os.O_CREAT | os.O_WRONLY, 0o2770)"),
    attempts("unnamed-temporary", "os.open('$OUTSIDE', os.O_TMPFILE | os.O_RDWR)"),
    attempts("startup-file", f"open('{sys.prefix}/escape.pth', 'w').close()", outside=False),
    attempts("library", "open(os.__file__, 'a').close()", outside=False),
    attempts("package-itself", "open(sys.modules['codeagent_inside'].__file__, 'a').close()", outside=False),
    attempts("connection-directory", "open(os.environ['JUPYTER_RUNTIME_DIR'] + '/x', 'w').close()", outside=False),
    attempts("connection-file", "os.unlink(os.environ['JUPYTER_RUNTIME_DIR'] + '/k.json')", outside=False),
    attempts("oom-score", "open('/proc/self/oom_score_adj', 'w').write('-1000')", outside=False),
    attempts("own-memory-file", "open('/proc/self/mem', 'r+b').close()"),
    attempts("core-pattern", "open('/proc/sys/kernel/core_pattern', 'r+').close()", outside=False),
    attempts("sysrq", "open('/proc/sysrq-trigger', 'a').close()", outside=False),
    attempts("thread-name-file", "open('/proc/self/comm', 'r+').close()"),
    attempts("uid-map", "open('/proc/self/uid_map', 'r+').close()"),
    attempts("cgroup", "open('/sys/fs/cgroup/cgroup.procs', 'r+').close()", outside=False),
]

METADATA = [
    attack("chmod", "os.chmod('$SECRET', 0o777); print('tried')"),
    attack("chmod-by-descriptor", "os.fchmod(os.open('$SECRET', os.O_RDONLY), 0o777)"),
    attack("chmod-by-the-newest-call", "call(452, -100, b'$SECRET', 0o777, 0)", outside=False),
    attack("chmod-through-a-link", "os.chmod('$LINK', 0o777)"),
    attack("utime", "os.utime('$SECRET', (0, 0))"),
    attack("utime-by-descriptor", "os.utime(os.open('$SECRET', os.O_PATH), (0, 0))", outside=False),
    attack("utime-syscall", "libc.utimensat(-100, b'$SECRET', None, 0)"),
    attack("attribute", "os.setxattr('$SECRET', 'user.x', b'1')"),
    attack(
        "attribute-by-the-newest-call",
        "call(463, -100, b'$SECRET', 0, b'user.x', struct.pack('QII', 0, 0, 0), 16)",
        outside=False,
    ),
    attack("link-count", "os.link('$SECRET', '$OUTSIDE/../z')"),
]

FLAGS = """
import fcntl
def change(path):
    with open(path) as file:
        flags, = struct.unpack('l', fcntl.ioctl(file, 0x80086601, bytes(8)))
        fcntl.ioctl(file, 0x40086602, struct.pack('l', flags))
"""


@rows([*READS, *WRITES])
@pytest.mark.skipif(sys.platform != "linux", reason="calls of Linux")
def test_no_file_of_the_user_can_be_read_or_written(box: Box, host: World, attack: Attack) -> None:
    text = box.text(host.fill(attack.code, data=data_inside(box)))
    assert was_tried(text)
    assert got_through(text) == []
    assert host.reached() == []


@rows(METADATA)
def test_no_metadata_of_the_users_files_can_be_changed(box: Box, host: World, attack: Attack) -> None:
    box.run(host.fill(attack.code))
    assert host.reached() == []
    assert box.kernel.alive


def test_the_same_programs_get_through_outside() -> None:
    assert without_effect_outside((*READS, *WRITES)) == []


def test_the_same_programs_change_metadata_outside() -> None:
    attacks = [row for row in METADATA if row.outside]
    with contextlib.ExitStack() as stack:
        worlds = [stack.enter_context(world()) for _ in attacks]
        outside(*(made.fill(row.code) for made, row in zip(worlds, attacks, strict=True)))
        assert [row.name for made, row in zip(worlds, attacks, strict=True) if not made.reached()] == []


def test_flags_of_files_that_can_be_read_cannot_be_changed(box: Box) -> None:
    """Neither copies, nor the interpreter's own files: a descriptor that is open for reading is enough for it."""
    (box.data_dir / "copy").write_text("x", encoding="ascii")
    for path in (f"{data_inside(box)}/copy", "/usr/bin/env"):
        assert box.text(f"{host_free(FLAGS)}attempt('flags', lambda: change({path!r}))").startswith("refused")


def test_a_copy_cannot_be_leased_so_that_the_next_writer_would_have_to_wait(box: Box) -> None:
    (box.data_dir / "copy").write_text("x", encoding="ascii")
    lease = "__import__('fcntl').fcntl(os.open({!r}, os.O_RDONLY), 1024, 0)"
    free = host_free(f"attempt('lease', lambda: {lease.format(str(box.data_dir / 'copy'))})")
    assert got_through(*outside(free))
    inside = host_free(f"attempt('lease', lambda: {lease.format(data_inside(box) + '/copy')})")
    assert box.text(inside).startswith("refused")


def test_attributes_of_the_users_files_cannot_be_read(box: Box, tmp_path: Path) -> None:
    downloaded = tmp_path / "downloaded"
    downloaded.write_text("x", encoding="ascii")
    try:
        os.setxattr(downloaded, "user.xdg.origin.url", b"https://example.org/secret-address")
    except OSError:
        pytest.skip("this file system has no attributes")
    code = f"import os; print(os.getxattr({str(downloaded)!r}, 'user.xdg.origin.url'))"
    assert "secret-address" in outside(code)[0]
    assert box.run(code).status == "error"


LEGITIMATE = {
    "copy-with-metadata": "import shutil; open('a', 'w').write('5'); "
    "shutil.copy2('a', 'b'); print(open('b').read())",
    "copy-tree": "import os, shutil; os.makedirs('t/u', exist_ok=True); shutil.copytree('t', 'v', "
    "dirs_exist_ok=True); print(5)",
    "rename-and-links": "import os; open('c', 'w').write('5'); os.replace('c', 'd'); os.symlink('d', 'e') if not "
    "os.path.lexists('e') else 0; print(open('e').read())",
    "temporary-directory": "import tempfile\n"
    "with tempfile.TemporaryDirectory() as d: open(d + '/f', 'w').write('x'); "
    "print(5)",
    "mapped-array": "import numpy as np; m = np.memmap('m', mode='w+', shape=5); m[:] = 1; m.flush(); "
    "print(int(m.sum()))",
    "sqlite": "import sqlite3; c = sqlite3.connect('s'); c.execute('pragma journal_mode=wal'); "
    "print(*c.execute('select 5').fetchone())",
    "parquet": "import pandas as pd; pd.DataFrame({'a': [5]}).to_parquet('p'); print(pd.read_parquet('p').a[0])",
    "polars-lazy": "import polars as pl; pl.DataFrame({'a': [5]}).write_csv('q'); "
    "print(pl.scan_csv('q').collect().item())",
    "pickle": "import pickle; pickle.dump(5, open('r', 'wb')); print(pickle.load(open('r', 'rb')))",
    "compressed": "import gzip; gzip.open('z', 'wt').write('5'); print(5)",
    "file-locks": "import fcntl; f = open('l', 'w'); fcntl.flock(f, fcntl.LOCK_EX); fcntl.lockf(f, "
    "fcntl.LOCK_EX); print(5)",
    "terminal-questions": "import os, sys; os.isatty(0); sys.stdin; print(5)",
}


@pytest.mark.parametrize("code", LEGITIMATE.values(), ids=LEGITIMATE)
def test_honest_work_with_files_goes_on(box: Box, code: str) -> None:
    assert box.text(code).splitlines()[-1] == "5"


def data_inside(box: Box) -> str:
    """The directory of copies in the sandbox; unknown for a remote one."""
    return str(box.process.provisioner.paths.data) if box.is_here else "/nonexistent"


def host_free(code: str) -> str:
    """With the prelude, for programs that attack nothing of the `World`."""
    return PRELUDE + code
