"""Seatbelt on macOS: the profile for `sandbox-exec`, a pure function of paths, and the lookup of these paths.

Apple's own programs, Chrome and Codex use Seatbelt. `sandbox-exec` and the language of profiles (SBPL) are
deprecated and undocumented, but still available. The last rule that matches decides; our first rule denies
everything.

The operations are those that others have found necessary: Chromium's `sandbox/policy/mac/common.sb`, Codex's
`seatbelt_base_policy.sbpl` and the `dyld-support.sb` of macOS itself. `mach-lookup` is not among them: CPython does
not need it. **Nothing here has run on a Mac yet**; the self-test measures each start from inside and refuses what
fails.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

from jupyter_codeagent.types.errors import SandboxUnavailableError

SANDBOX_EXEC = "/usr/bin/sandbox-exec"
MAX_SOCKET_PATH = 103
"""Bytes of an AF_UNIX address (sys/un.h: `sun_path[104]`), without the terminating zero."""
MAX_LINKS = 40

DYLD_SUPPORT = "dyld-support.sb"
"""Apple's rules for the loader on this version of macOS; sandbox-exec finds the file under `PROFILES`."""
PROFILES = "/System/Library/Sandbox/Profiles"

SYSTEM_CODE = (
    "/System/Library",
    "/System/Cryptexes",
    "/System/Volumes/Preboot/Cryptexes",
    "/usr/lib",
    "/private/var/db/dyld",
    "/Library/Apple",
)
"""Libraries, frameworks, fonts and the loader's caches: read, and mapped as code. The same on every Mac."""
SYSTEM_DATA = (
    "/usr/share",
    "/private/var/db/timezone",
    "/Library/Fonts",
    "/private/etc/localtime",
    "/private/etc/ssl",
)
"""Time zones, ICU, fonts. No `/private/etc/passwd`, no preferences, no `~/Library`."""
SYSTEM_NAMES = ("/System", "/usr", "/opt", "/Library", "/private/etc", "/bin", "/sbin", "/dev")
"""Programs look for their configuration here. They may see names and sizes only: unlike a missing file, a refused
one makes `Path.exists` raise."""
SYSTEM_LINKS = ("/", "/etc", "/tmp", "/var", "/private", "/private/tmp", "/private/var", "/private/var/db")  # noqa: S108
TOOLS = ("/bin", "/usr/bin")
"""For subprocesses, where they are allowed."""
RANDOM_DEVICES = ("/dev/random", "/dev/urandom", "/dev/zero")
OPEN_DEVICES = ("/dev/null", "/dev/dtracehelper")

SYSCTLS = (
    "hw.activecpu",
    "hw.availcpu",
    "hw.byteorder",
    "hw.machine",
    "hw.memsize",
    "hw.model",
    "hw.ncpu",
    "hw.nperflevels",
    "hw.packages",
    "hw.vectorunit",
    "kern.argmax",
    "kern.hostname",  # os.uname() fails without it
    "kern.maxfilesperproc",
    "kern.osproductversion",
    "kern.osrelease",
    "kern.ostype",
    "kern.osvariant_status",
    "kern.osversion",
    "kern.secure_kernel",
    "kern.usrstack64",
    "kern.version",
    "sysctl.proc_cputype",
    "vm.loadavg",
)
SYSCTL_PREFIXES = (
    "hw.busfrequency",
    "hw.cache",
    "hw.cpu",
    "hw.l1",
    "hw.l2",
    "hw.l3",
    "hw.logicalcpu",
    "hw.optional.",
    "hw.pagesize",
    "hw.perflevel",
    "hw.physicalcpu",
    "hw.tbfrequency",
    "machdep.cpu.",
    "net.routetable.",  # for getifaddrs(): libzmq aborts where it fails
)
"""Descriptions of the machine, by the lists of Chromium and Codex. Not its serial number or uuid; not `kern.proc.*`
or `kern.procargs2`, which describe other processes and their environments."""


@dataclass(frozen=True, kw_only=True)
class SeatbeltPaths:
    """Paths for a profile: absolute, and with links resolved where the system matches them."""

    programs: Sequence[str]
    """Files that may be executed: the interpreter."""
    code: Sequence[str]
    """Directories to read, and to map as code: the interpreter's prefixes, and libraries outside of them."""
    data: Sequence[str]
    """Directories to read."""
    scratch: str
    """Directory to read and write, but never to map as code."""
    sockets: str
    """Directory to read, and the only place where a socket can be bound."""
    files: Sequence[str] = ()
    """Files to read, each approved by the user."""
    traversed: Sequence[str] = ()
    """Directories and links on the way to all of these: their names and sizes are readable, not their contents."""


def seatbelt_profile(paths: SeatbeltPaths, *, subprocess: bool, imports: Sequence[str] = ()) -> str:
    """Return the profile as SBPL text.

    Raises
    ------
    SandboxUnavailableError
        If a path cannot be written so that it matches itself and nothing else.
    """
    code = (*SYSTEM_CODE, *paths.code)
    readable = (*code, *SYSTEM_DATA, *paths.data, paths.scratch, paths.sockets)
    target = "same-sandbox" if subprocess else "self"
    rules = [
        "(version 1)",
        "(deny default)",
        *(f"(import {quoted(name)})" for name in imports),
        _allow("file-read*", _paths("subpath", readable), _paths("literal", ("/", *paths.programs))),
        *([_allow("file-read*", _paths("literal", paths.files))] if paths.files else []),
        _allow("file-map-executable", _paths("subpath", code), _paths("literal", paths.programs)),
        _allow(
            "file-read-metadata",
            _paths("subpath", SYSTEM_NAMES),
            _paths("literal", (*SYSTEM_LINKS, *paths.traversed)),
        ),
        _allow("file-read*", _paths("literal", RANDOM_DEVICES), _paths("subpath", ["/dev/fd"])),
        _allow("file-read* file-write-data file-ioctl", _paths("literal", OPEN_DEVICES)),
        _allow("file-write*", _paths("subpath", [paths.scratch])),
        *_socket_rules(paths.sockets),
        _allow("process-exec", _paths("literal", paths.programs)),
        f"(allow signal (target {target}))",
        f"(allow process-info* (target {target}))",
        _allow("sysctl-read", _names("sysctl-name", SYSCTLS), _names("sysctl-name-prefix", SYSCTL_PREFIXES)),
    ]
    if subprocess:
        rules += _subprocess_rules()
    return "\n".join(rules) + "\n"


def _socket_rules(directory: str) -> list[str]:
    """Return rules to bind and accept, but never to connect: network-outbound is denied for everything."""
    (below,) = _paths("subpath", [directory])
    return [
        "(allow system-socket (socket-domain AF_UNIX))",
        f"(allow network-bind network-inbound (local unix-socket {below}))",
        f"(allow file-write-create (require-all {below} (vnode-type SOCKET)))",
    ]


def _subprocess_rules() -> list[str]:
    """Return rules to start processes. They are in the same sandbox: it is inherited and cannot be left."""
    return [
        "(allow process-fork)",
        _allow("process-exec file-read* file-map-executable", _paths("subpath", TOOLS)),
        '(allow ipc-posix-sem (ipc-posix-name-prefix "/mp-"))',  # multiprocessing's locks
    ]


def _allow(operations: str, *filters: list[str]) -> str:
    return "\n  ".join([f"(allow {operations}", *(line for lines in filters for line in lines)]) + ")"


def _paths(kind: Literal["literal", "subpath"], paths: Iterable[str]) -> list[str]:
    return [f"({kind} {quoted(_checked(path, kind))})" for path in dict.fromkeys(paths)]


def _names(kind: str, names: Iterable[str]) -> list[str]:
    return [f"({kind} {quoted(name)})" for name in names]


def _checked(path: str, kind: str) -> str:
    """Return the path if it is absolute and normalized. The root is allowed, but not as a tree with everything."""
    plain = path.startswith("/") and not path.startswith("//") and os.path.normpath(path) == path
    if not plain or (path == "/" and kind == "subpath"):
        raise SandboxUnavailableError(
            f"{path!r} cannot be confined: it must be an absolute path in its shortest form, and not the whole disk"
        )
    return path


def quoted(text: str) -> str:
    r"""Quote a string for SBPL: ``"`` and ``\`` are escaped, all else stands for itself.

    Raises
    ------
    SandboxUnavailableError
        For control characters and invalid Unicode: how the parser of profiles treats them is not documented.
    """
    if any(character < " " or character == "\x7f" or "\ud800" <= character <= "\udfff" for character in text):
        raise SandboxUnavailableError(
            f"{text!r} holds a character that a Seatbelt profile cannot name: rename the directory"
        )
    escaped = text.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def seatbelt_argv(profile: str, command: Sequence[str]) -> list[str]:
    """Return the command under a profile. `sandbox-exec` turns into the command: no parent process remains."""
    return [SANDBOX_EXEC, "-p", profile, *command]


def environment() -> dict[str, str]:
    """Return variables in addition to `sandbox_environment` that keep libraries from asking for what is refused."""
    return {
        "OPENSSL_CONF": "/dev/null",  # a configuration that cannot be read is an error, a missing one is not
        "__CF_USER_TEXT_ENCODING": f"0x{os.getuid():X}:0:0",  # else CoreFoundation asks who the user is
    }


# --- lookup of paths --------------------------------------------------------------------------------


def require_sandbox_exec() -> None:
    """Raise `SandboxUnavailableError` where there is no Seatbelt."""
    if not (sys.platform == "darwin" and os.access(SANDBOX_EXEC, os.X_OK)):
        raise SandboxUnavailableError(
            f"{SANDBOX_EXEC} is not installed: it is part of macOS, this is {sys.platform}"
        )


def system_imports(profiles: str = PROFILES) -> tuple[str, ...]:
    """Return the profiles of the system to import; macOS has none before version 13."""
    return (DYLD_SUPPORT,) if os.path.isfile(f"{profiles}/{DYLD_SUPPORT}") else ()


def resolve_paths(
    *,
    executable: str,
    base_prefix: str,
    code: Iterable[str],
    data: Iterable[str],
    scratch: str,
    sockets: str,
    files: Sequence[str] = (),
) -> SeatbeltPaths:
    """Resolve the paths of a profile: the system matches names after it has followed every link.

    Raises
    ------
    SandboxUnavailableError
        If the address of a socket would be too long.
    """
    programs = interpreter_programs(executable, base_prefix)
    given = [*programs, executable, *code, *data, scratch, sockets, *files]
    real_sockets = os.path.realpath(sockets)
    check_socket_length(real_sockets)
    return SeatbeltPaths(
        programs=programs,
        code=_real(code),
        data=_real(data),
        scratch=os.path.realpath(scratch),
        sockets=real_sockets,
        files=_real(files),
        traversed=traversed_paths(given),
    )


def interpreter_programs(executable: str, base_prefix: str) -> tuple[str, ...]:
    """Return the interpreter; in a framework build it is a stub that executes the one in `Python.app`."""
    application = f"{base_prefix}/Resources/Python.app/Contents/MacOS/Python"
    return _real(path for path in (executable, application) if os.path.exists(path))


def _real(paths: Iterable[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(os.path.realpath(path) for path in paths))


LONGEST_SOCKET_NAME = "/k-ipc-12345"


def check_socket_length(directory: str) -> None:
    """Raise SandboxUnavailableError if addresses of sockets in the directory would be too long."""
    length = len(os.fsencode(directory + LONGEST_SOCKET_NAME))
    if length > MAX_SOCKET_PATH:
        raise SandboxUnavailableError(
            f"sockets in {directory} would have addresses of {length} bytes, macOS allows {MAX_SOCKET_PATH}:"
            " set TMPDIR to a shorter directory, such as /tmp"
        )


def traversed_paths(paths: Iterable[str]) -> tuple[str, ...]:
    """Return every directory and link that is traversed to look up the paths, each with its own links resolved.

    Raises
    ------
    SandboxUnavailableError
        If links form a cycle.
    """
    passed: dict[str, None] = {}
    for path in paths:
        waiting, current, links = _components(path), "/", 0
        while waiting:
            name = waiting.pop(0)
            if name == "..":
                current = os.path.dirname(current)
                continue
            current = os.path.join(current, name)
            passed[current] = None
            if os.path.islink(current):
                links += 1
                if links > MAX_LINKS:
                    raise SandboxUnavailableError(f"{path} leads through more than {MAX_LINKS} links")
                target = os.readlink(current)
                current = "/" if target.startswith("/") else os.path.dirname(current)
                waiting = [*_components(target), *waiting]
    return tuple(passed)


def _components(path: str) -> list[str]:
    return [name for name in path.split("/") if name not in ("", ".")]
