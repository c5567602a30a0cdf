"""Ways to other processes and to the kernel: signals, memory, /proc, system calls that no data work needs."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Iterator

import pytest
from sandbox_attacks import (
    Attack,
    World,
    attempts,
    got_through,
    rows,
    was_tried,
    without_effect_outside,
    world,
)
from sandbox_box import Box

from jupyter_codeagent.sandbox.guest.syscalls import ALWAYS_DENIED, LAST_REVIEWED, LATE_DENIED, NUMBERS

COLUMN = {"x86_64": 0, "aarch64": 1}[os.uname().machine]


def number(name: str) -> int:
    return NUMBERS[name][COLUMN]


@pytest.fixture(scope="module")
def host() -> Iterator[World]:
    with world() as made:
        yield made


PROCESSES = [
    attempts("signal", "os.kill($VICTIM, 9)"),
    attempts("signal-to-its-group", "os.killpg(os.getpgid($VICTIM), 0)"),
    attempts("signal-nothing", "os.kill($VICTIM, 0)"),
    attempts("signal-the-host", "os.kill($HOST, 0)"),
    attempts("tkill", f"call({number('tkill')}, $VICTIM, 9)"),
    attempts("tgkill", f"call({number('tgkill')}, $VICTIM, $VICTIM, 9)"),
    attempts(
        "queued-signal",
        f"call({number('rt_sigqueueinfo')}, $VICTIM, 9, struct.pack('iiii', 9, 0, -1, 0) + bytes(112))",
    ),
    attempts("pidfd", "os.pidfd_open($VICTIM)"),
    attempts("owner-of-a-descriptor", "__import__('fcntl').fcntl(os.pipe()[0], 8, $VICTIM)"),
    attempts(
        "owner-by-ioctl", "__import__('fcntl').ioctl(socket.socketpair()[0], 0x8901, struct.pack('i', $VICTIM))"
    ),
    attempts("priority", "os.setpriority(os.PRIO_PROCESS, $VICTIM, 19)"),
    attempts("priority-of-the-user", "os.setpriority(os.PRIO_USER, 12345, 19)", outside=False),
    attempts("input-output-priority", f"call({number('ioprio_set')}, 1, $VICTIM, 3 << 13)"),
    attempts("processors", "os.sched_setaffinity($VICTIM, {0})"),
    attempts("limits", "__import__('resource').prlimit($VICTIM, 7, (5, 5))"),
    attempts("limits-to-read", "__import__('resource').prlimit($VICTIM, 7)"),
    attempts("memory-file", "open('/proc/$VICTIM/mem', 'rb').close()"),
    attempts("memory-map", "open('/proc/$VICTIM/maps').read()"),
    attempts("environment", "open('/proc/$VICTIM/environ').read()"),
    attempts("command-line", "open('/proc/$VICTIM/cmdline').read().index('sleep')"),
    attempts("descriptors", "os.listdir('/proc/$VICTIM/fd')"),
    attempts("working-directory", "os.readlink('/proc/$VICTIM/cwd')"),
    attempts("namespaces-of-it", "os.open('/proc/$VICTIM/ns/net', 0)"),
    attempts("memory-of-the-host", "open('/proc/$HOST/mem', 'rb').close()"),
    attempts("memory-of-the-first-process", "open('/proc/1/mem', 'r+b').close()", outside=False),
    attempts("environment-of-the-first-process", "open('/proc/1/environ').read(1)[0]", outside=False),
    attempts("ptrace-attach", f"call({number('ptrace')}, 16, $VICTIM, 0, 0)"),
    attempts("ptrace-seize", f"call({number('ptrace')}, 0x4206, $VICTIM, 0, 0)"),
    attempts("ptrace-me", f"call({number('ptrace')}, 0, 0, 0, 0)", outside=False),
    attempts("read-its-memory", f"call({number('process_vm_readv')}, os.getpid(), 0, 0, 0, 0, 0)", outside=False),
    attempts("write-its-memory", f"call({number('process_vm_writev')}, os.getpid(), 0, 0, 0, 0, 0)", outside=False),
    attempts("compare", f"call({number('kcmp')}, os.getpid(), os.getpid(), 0, 0, 0)"),
    attempts("list-of-processes", "[n for n in os.listdir('/proc') if n == '$VICTIM'][0]"),
    attempts("threads-of-the-host", "os.listdir('/proc/$HOST/task')"),
]

BECOMING = [
    attempts("fork", "os._exit(0) if (p := os.fork()) == 0 else os.waitpid(p, 0)"),
    attempts("forkpty", "os._exit(0) if (p := os.forkpty()[0]) == 0 else os.waitpid(p, 0)"),
    attempts("posix-spawn", "os.waitpid(os.posix_spawn('/bin/true', ['true'], {}), 0)"),
    attempts("popen", "[__import__('subprocess').Popen(['/bin/true']).wait()]"),
    attempts(
        "popen-by-subclasses",
        "[c for c in object.__subclasses__() if c.__name__ == 'Popen'][0](['/bin/true']).wait()",
        outside=False,
    ),
    attempts("system", "libc.system(b'exit 7') == 7 << 8 or 1 / 0"),
    attempts(
        "shell-magic",
        "get_ipython().system('true') or get_ipython().user_ns['_exit_code'] == 0 or 1 / 0",
        outside=False,
    ),
    attempts(
        "multiprocessing",
        "(p := __import__('multiprocessing').get_context('fork').Process(target=int), p.start(), p.join())",
    ),
    attempts(
        "process-pool",
        "__import__('concurrent.futures').futures.ProcessPoolExecutor(1).submit(int).result(9)",
        outside=False,
    ),
    attempts("vfork", f"call({number('vfork')})", outside=False),
    attempts("clone", f"call({number('clone')}, 17, 0, 0, 0, 0) or os._exit(0)"),
    attempts("clone-sharing-memory", f"call({number('clone')}, 0x100 | 17, 0, 0, 0, 0)", outside=False),
    attempts("clone3", "call(435, struct.pack('11Q', 0, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88) or os._exit(0)"),
    attempts(
        "clone3-new-user",
        "call(435, struct.pack('11Q', 0x10000000, 0, 0, 0, 17, 0, 0, 0, 0, 0, 0), 88)",
        outside=False,
    ),
    attempts("exec-nothing", f"call({number('execve')}, b'/nonexistent', 0, 0)", outside=False),
    attempts(
        "exec-a-descriptor",
        f"call({number('execveat')}, os.open('/bin/true', os.O_PATH), b'', 0, 0, 0x1000)",
        outside=False,
    ),
    attempts("memory-file-to-execute", "os.memfd_create('x')"),
    attempts("new-session-daemon", "os.fork() or (os.setsid(), os._exit(0))"),
    *(
        attempts(f"unshare-{name}", f"call({number('unshare')}, {flag:#x})", outside=False)
        for name, flag in (
            ("user", 0x10000000),
            ("mount", 0x00020000),
            ("pid", 0x20000000),
            ("network", 0x40000000),
            ("ipc", 0x08000000),
            ("uts", 0x04000000),
            ("cgroup", 0x02000000),
            ("time", 0x00000080),
            ("files", 0x00000400),
        )
    ),
    attempts("enter-a-namespace", f"call({number('setns')}, os.open('/proc/self/ns/user', 0), 0)", outside=False),
    attempts("become-root", "os.setresuid(0, 0, 0) or os.getuid() or open('/etc/shadow').read()", outside=False),
    attempts("become-another", "os.setuid(12345)", outside=False),
    attempts("groups", "os.setgroups([0, 27])", outside=False),
    attempts("change-root", "os.chroot('/')", outside=False),
    attempts("raise-open-files", "__import__('resource').setrlimit(7, (1 << 20, 1 << 20))", outside=False),
    attempts("raise-file-size", "__import__('resource').setrlimit(1, (-1, -1))", outside=False),
    attempts("raise-core-size", "__import__('resource').setrlimit(4, (-1, -1))", outside=False),
    attempts("raise-locked-memory", "__import__('resource').setrlimit(8, (-1, -1))", outside=False),
    attempts("higher-priority", "os.nice(-20) <= -10 or 1 / 0", outside=False),
    attempts(
        "real-time",
        "os.sched_setscheduler(0, 1, os.sched_param(1)) or os.sched_getscheduler(0) == 1 or 1 / 0",
        outside=False,
    ),
    attempts("live-without-the-host", "libc.prctl(1, 0, 0, 0, 0) == 0 or 1 / 0"),
    attempts("hide-from-the-watchdog", "libc.prctl(4, 0, 0, 0, 0) == 0 or 1 / 0"),
    attempts("move-own-memory-map", "libc.prctl(35, 14, 0, 0, 0) == 0 or 1 / 0", outside=False),
    attempts("another-filter", "libc.prctl(22, 2, 0, 0, 0) == 0 or ctypes.get_errno() == 14 or 1 / 0"),
    attempts("listener-of-a-filter", f"call({number('seccomp')}, 1, 8, 0) or 1", outside=False),
    attempts("another-personality", "[r for r in [libc.personality(0x0040000)] if r != -1][0]", outside=False),
]

SYSTEM = [
    attempts("type-on-the-terminal", "__import__('fcntl').ioctl(0, 0x5412, b'x')", outside=False),
    attempts("console-selection", "__import__('fcntl').ioctl(0, 0x541C, b'x')", outside=False),
    attempts("terminal-device", "os.open('/dev/tty', os.O_RDWR)", outside=False),
    attempts("pseudo-terminal-master", "os.write(os.open('/dev/console', os.O_WRONLY), b'x')", outside=False),
    attempts(
        "shared-memory-object",
        "__import__('multiprocessing.shared_memory').shared_memory.SharedMemory(create=True, size=1 << 30)",
        outside=False,
    ),
    attempts("system-v-memory", "os.dup(libc.shmget(0, 4096, 0o1600))", outside=False),
    attempts("system-v-queue", f"call({number('msgget')}, 0, 0o1600)"),
    attempts("system-v-semaphore", f"call({number('semget')}, 0, 1, 0o1600)"),
    attempts("posix-queue", f"call({number('mq_open')}, b'codeagent-test', 0, 0, 0)", outside=False),
    attempts("keyring", f"call({number('keyctl')}, 0, -3, 1)", outside=False),
    attempts("add-a-key", f"call({number('add_key')}, b'user', b'codeagent-test', b'v', 1, -2)", outside=False),
    attempts("find-a-key", f"call({number('request_key')}, b'user', b'codeagent-test', 0, 0)", outside=False),
    attempts("asynchronous-io", f"call({number('io_setup')}, 1, ctypes.byref(ctypes.c_ulong(0)))"),
    attempts("fault-handler-by-device", "os.open('/dev/userfaultfd', os.O_RDWR)", outside=False),
    attempts("virtual-machine", "os.open('/dev/kvm', os.O_RDWR)", outside=False),
    attempts("fuse", "os.open('/dev/fuse', os.O_RDWR)", outside=False),
    attempts("network-device", "os.open('/dev/net/tun', os.O_RDWR)", outside=False),
    attempts("loop-device", "os.open('/dev/loop-control', os.O_RDWR)", outside=False),
    attempts("input-devices", "os.open('/dev/uinput', os.O_WRONLY)", outside=False),
    attempts("graphics-device", "os.open('/dev/dri/card0', os.O_RDWR)", outside=False),
    attempts("drop-caches", "open('/proc/sys/vm/drop_caches', 'w').write('1')", outside=False),
    attempts("uevent-helper", "open('/sys/kernel/uevent_helper', 'r+').close()", outside=False),
    attempts("debug-file-system", "os.listdir('/sys/kernel/debug')[0]", outside=False),
    attempts("tracing", "os.listdir('/sys/kernel/tracing')[0]", outside=False),
    attempts("kernel-symbols", "[l for l in open('/proc/kallsyms') if int(l.split()[0], 16)][0]", outside=False),
    attempts("module-parameters", "open('/sys/module/kernel/parameters/panic', 'r+').close()", outside=False),
    attempts(
        "list-of-mounts",
        "call(458, struct.pack('IIQQ', 24, 0, -1 & (1 << 64) - 1, 0), ctypes.create_string_buffer(800), 100, 0)",
        outside=False,
    ),
    attempts("landlock-inside", "call(444, 0, 0, 1)", outside=False),
]


@rows([*PROCESSES, *BECOMING, *SYSTEM])
def test_no_other_process_and_no_privilege_can_be_reached(box: Box, host: World, attack: Attack) -> None:
    text = box.text(host.fill(attack.code))
    assert was_tried(text)
    assert got_through(text) == []
    assert host.reached() == []
    assert box.kernel.alive


def test_the_same_programs_get_through_outside() -> None:
    assert without_effect_outside((*PROCESSES, *BECOMING, *SYSTEM)) == []


def test_every_refused_call_is_refused_by_the_filter_and_not_only_for_want_of_privilege(box: Box) -> None:
    names = [name for name in (*ALWAYS_DENIED, *LATE_DENIED) if number(name) >= 0]
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for name, number in {[(name, number(name)) for name in names]}:
    ctypes.set_errno(0)
    print(name, libc.syscall(number, -1, -1, -1, -1, -1, -1), ctypes.get_errno())
"""
    assert box.text(code).splitlines() == [f"{name} -1 {errno.EPERM}" for name in names]


def test_calls_that_nobody_has_reviewed_are_not_there(box: Box) -> None:
    listed = {numbers[COLUMN] for numbers in NUMBERS.values()}
    later = [call for call in range(LAST_REVIEWED + 1, 600) if call not in listed]
    code = f"""
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
for number in {later}:
    ctypes.set_errno(0)
    print(libc.syscall(number, -1, -1, -1, -1, -1, -1), ctypes.get_errno())
"""
    assert set(box.text(code).splitlines()) == {f"-1 {errno.ENOSYS}"}


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="tricks with the ABIs of x86_64")
def test_numbers_of_the_x32_abi_are_not_there(box: Box) -> None:
    code = "import ctypes; c = ctypes.CDLL(None, use_errno=True)\n"
    code += "print({(c.syscall(0x40000000 + n, 0, 0, 0, 0), ctypes.get_errno()) for n in (0, 41, 57, 101, 520)})"
    assert box.text(code) == f"{{(-1, {errno.ENOSYS})}}"


MACHINE_CODE = """
import ctypes, mmap
page = mmap.mmap(-1, 4096, prot=7)
page.write(bytes.fromhex({code!r}))
print('THROUGH', ctypes.CFUNCTYPE(ctypes.c_int)(ctypes.addressof(ctypes.c_char.from_buffer(page)))())
"""
GETPID_BY_INT_80 = "b814000000cd80c3"


@pytest.mark.skipif(os.uname().machine != "x86_64", reason="machine code of x86_64")
def test_a_call_through_the_32_bit_gate_ends_the_sandbox(make_box: object, level: str) -> None:
    own = make_box(level)  # type: ignore[operator]
    result = own.run(MACHINE_CODE.format(code=GETPID_BY_INT_80))
    assert result.status == "killed"
    assert "SIGSYS" in result.reason
    assert result.outputs == ()


LIMITS = """
import resource
for name in ('CORE', 'NOFILE', 'FSIZE'):
    soft, hard = resource.getrlimit(getattr(resource, f'RLIMIT_{name}'))
    print(name, 0 <= soft == hard < 1 << 40)
"""


def test_limits_are_set_and_cannot_be_raised_again(box: Box) -> None:
    assert box.text(LIMITS).split() == ["CORE", "True", "NOFILE", "True", "FSIZE", "True"]


def test_what_code_asks_of_its_own_process_is_answered(box: Box) -> None:
    """The neighbours of what is refused: libraries ask these at import or when they start threads."""
    code = """
import os, resource, signal, threading, faulthandler, ctypes, sched
os.sched_getaffinity(0); os.sched_setaffinity(0, os.sched_getaffinity(0)); os.sched_getscheduler(0)
resource.getrlimit(resource.RLIMIT_NOFILE)
resource.setrlimit(resource.RLIMIT_CPU, resource.getrlimit(resource.RLIMIT_CPU))
signal.signal(signal.SIGUSR1, lambda *_: print('signal')); os.kill(os.getpid(), signal.SIGUSR1)
signal.pthread_kill(threading.get_ident(), signal.SIGUSR1)
libc = ctypes.CDLL(None); print(libc.prctl(15, b'worker', 0, 0, 0), libc.personality(0xffffffff))
os.getpriority(os.PRIO_PROCESS, 0); os.cpu_count(); os.getloadavg() if os.path.exists('/proc/loadavg') else 0
import mmap; mmap.mmap(-1, 4096).close(); print(threading.stack_size(1 << 20) >= 0); threading.stack_size(0)
"""
    assert box.text(code).splitlines() == ["signal", "signal", "0 0", "True"]


def test_files_of_proc_stay_readable_when_memory_was_short(box: Box) -> None:
    """The kernel forgets their inodes then, and Landlock's rules are about inodes."""
    if os.geteuid() != 0 or sys.platform != "linux":
        pytest.skip("only root can make the kernel forget")
    read = "print(*[len(open(f'/proc/{name}').read()) > 0 for name in ('self/status', 'self/cgroup', 'meminfo')])"
    with open("/proc/sys/vm/drop_caches", "w", encoding="ascii") as file:
        file.write("2")
    assert box.text(read) == "True True True"
