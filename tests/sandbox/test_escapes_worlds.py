"""The same walls for an unprivileged user, and where a container forbids namespaces."""

from __future__ import annotations

import errno
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from importlib.metadata import Distribution, PackageNotFoundError, distribution
from pathlib import Path
from typing import Any

import pytest
from sandbox_attacks import PRELUDE, TOKEN, attempts

from jupyter_codeagent.sandbox.guest import seccomp
from jupyter_codeagent.sandbox.guest.seccomp import EPERM, JUMP_SET, LOAD, RETURN, Program

REPOSITORY = Path(__file__).parents[2]
NOBODY = 65534

PROGRAM = """
import asyncio, json, os, sys
from pathlib import Path
from jupyter_codeagent.types.errors import SandboxUnavailableError
from jupyter_codeagent.sandbox.guest import seccomp
from jupyter_codeagent.sandbox.kernel import SandboxKernel
from jupyter_codeagent.types.sandbox import SandboxPolicy

asked = json.load(sys.stdin)
if asked["filter"]:
    seccomp.install(bytes.fromhex(asked["filter"]))

def text_of(result):
    return "".join(o["text"] for o in result.outputs if o["output_type"] == "stream") or result.status

async def main():
    report = {"uid": os.getuid(), "refused": "", "printed": [], "left": False}
    data = Path(asked["directory"], "data")
    data.mkdir(mode=0o700, exist_ok=True)
    try:
        kernel = await SandboxKernel.start(policy=SandboxPolicy(levels=tuple(asked["levels"])), data_dir=data)
    except SandboxUnavailableError as problem:
        report["refused"] = str(problem)
    else:
        report["level"], report["hint"] = kernel.status.level, kernel.status.hint
        report["open"], report["label"] = kernel.status.open, kernel.status.label
        for code in asked["codes"]:
            report["printed"].append(text_of(await kernel.execute(code, timeout_s=30)))
        await kernel.stop()
    report["left"] = sorted(p.name for p in Path(asked["directory"]).iterdir() if p.name.startswith("codeagent-"))
    print(json.dumps(report))

asyncio.run(main())
"""

ATTACKS = [
    attempts("secret", "open('$SECRET').read()"),
    attempts("create", "open('$OUTSIDE/made', 'w').close()"),
    attempts("passwords", "open('/etc/passwd').read()"),
    attempts("tcp", "socket.create_connection(('127.0.0.1', 9))"),
    attempts("fork", "os.fork()"),
    attempts("signal", "os.kill($HOST, 0)"),
    attempts("memory", "open('/proc/$HOST/mem', 'rb')"),
    attempts("unshare", "os.dup(libc.unshare(0x10000000))"),
    attempts("device", "os.write(os.open('/dev/fill', 66), b'x')"),
]
LEAVES_BEHIND = """
import os
for i in range(1200): os.mkdir('d'); os.chdir('d')
os.chdir(os.path.expanduser('~')); os.mkdir('closed', 0); os.mkdir('c'); os.mkdir('c/d'); print('left')
"""
HONEST = "import numpy as np, pandas as pd; print(pd.DataFrame({'a': np.arange(4)}).a.sum() * 7)"


def start(
    directory: Path,
    levels: tuple[str, ...],
    *,
    user: int | None = None,
    program: bytes = b"",
    interpreter: str = sys.executable,
) -> dict[str, Any]:
    """Start a sandbox in a process of its own, run the attacks in it, and tell what came of it."""
    (directory / "out").mkdir()
    secret = directory / "secret"
    secret.write_text(TOKEN, encoding="ascii")
    codes = [
        (PRELUDE + attack.code)
        .replace("$SECRET", str(secret))
        .replace("$OUTSIDE", str(directory / "out"))
        .replace("$HOST", str(os.getpid()))
        for attack in ATTACKS
    ]
    asked = {
        "directory": str(directory),
        "levels": levels,
        "filter": program.hex(),
        "codes": [*codes, HONEST, LEAVES_BEHIND],
    }
    if user is not None:
        for path in (directory, directory / "out", secret):
            os.chown(path, user, user)
    environment = {
        "PATH": "/usr/bin:/bin",
        "HOME": str(directory),
        "TMPDIR": str(directory),
        "PYTHONPATH": str(REPOSITORY),
    }
    done = subprocess.run(
        [interpreter, "-B", "-c", PROGRAM],
        input=json.dumps(asked),
        stdout=subprocess.PIPE,
        text=True,
        timeout=100,
        check=True,
        cwd="/",
        env=environment,
        user=user,
        group=user,
        extra_groups=None if user is None else [],
    )
    report: dict[str, Any] = json.loads(done.stdout)
    assert report["left"] == []
    assert list((directory / "out").iterdir()) == []
    return report


def assert_held(report: dict[str, Any]) -> None:
    *attacks, honest, _ = report["printed"]
    assert [text for text in attacks if not text.startswith("refused")] == []
    assert honest == "42\n"


@pytest.fixture
def place() -> Iterator[Path]:
    """A directory that an unprivileged user can get to, with a short name."""
    with tempfile.TemporaryDirectory(prefix="w-", dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        yield Path(directory)


SYSTEM_PYTHON = Path("/usr/bin/python3")
NEEDED = ("ipykernel", "matplotlib", "nh3", "pandas")


@pytest.fixture(scope="module")
def interpreter_of_others() -> Iterator[str]:
    """One that an unprivileged user may run: this one, or the system's where this lies in the home of root."""
    if _readable_for_others(Path(sys.executable)):
        yield sys.executable
        return
    asked = (SYSTEM_PYTHON, "-c", "import sys; print(*sys.version_info[:2], sep='.')")
    version = subprocess.run(asked, stdout=subprocess.PIPE, text=True, check=True).stdout.strip()
    if version != f"{sys.version_info.major}.{sys.version_info.minor}":
        pytest.skip(f"other users cannot read {sys.executable}, and {SYSTEM_PYTHON} is {version}")
    with tempfile.TemporaryDirectory(prefix="python-", dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", directory], check=True)
        packages = Path(directory, "lib", f"python{version}", "site-packages")
        for name in _with_requirements(NEEDED):
            _link_files(distribution(name), packages)
        yield f"{directory}/bin/python"


def _with_requirements(names: Iterable[str]) -> set[str]:
    found: set[str] = set()
    waiting = list(names)
    while waiting:
        name = re.split(r"[^\w.-]", waiting.pop())[0]
        if name in found:
            continue
        try:
            required = distribution(name).requires or []
        except PackageNotFoundError:
            continue  # for another system or version
        found.add(name)
        waiting += [line for line in required if "extra ==" not in line]
    return found


def _link_files(found: Distribution, packages: Path) -> None:
    for file in found.files or ():
        source = Path(str(found.locate_file(file)))
        if ".." not in file.parts and source.is_file():
            target = packages / file
            target.parent.mkdir(parents=True, exist_ok=True)
            if not target.exists():
                shutil.copy(source, target)


def test_every_level_holds_for_an_unprivileged_user(place: Path, level: str, interpreter_of_others: str) -> None:
    if os.geteuid() != 0:
        pytest.skip("the other tests run unprivileged already")
    if not _readable_for_others(REPOSITORY):
        pytest.skip("another user cannot read this checkout")
    report = start(place, (level,), user=NOBODY, interpreter=interpreter_of_others)
    assert report["uid"] == NOBODY
    if report["refused"]:
        assert any(word in report["refused"] for word in ("namespace", "unshare", "uid_map", "not installed"))
        pytest.skip(report["refused"])
    assert report["level"] == level
    assert_held(report)


def _readable_for_others(path: Path) -> bool:
    real = path.resolve()
    return all(parent.stat().st_mode & 0o005 == 0o005 for parent in (real, *real.parents))


CONTAINER_DENIES = ("unshare", "setns", "mount", "umount2", "pivot_root", "fsopen", "open_tree", "move_mount")


def container_filter() -> bytes:
    """What Docker's default profile does to a process without CAP_SYS_ADMIN, as far as namespaces go."""
    program = Program(platform.machine())
    program.emit(LOAD, 0)
    for name in CONTAINER_DENIES:
        program.answer(name, EPERM)
    program.answer("clone3", seccomp.ERRNO | errno.ENOSYS)

    def clone() -> None:
        program.argument(0)
        program.emit(JUMP_SET, seccomp.CLONE_NEW_ANY, 0, 1)
        program.emit(RETURN, EPERM)
        program.emit(RETURN, seccomp.ALLOW)

    program.block("clone", clone)
    program.emit(RETURN, seccomp.ALLOW)
    return b"".join(program.instructions)


@pytest.mark.long("another situation of what a test beside it proves")
def test_where_a_container_forbids_namespaces_landlock_is_chosen_and_named(place: Path) -> None:
    report = start(place, ("bubblewrap", "namespaces", "landlock"), program=container_filter())
    assert report["refused"] == ""
    assert report["level"] == "landlock"
    assert "landlock" in report["label"]
    assert "namespaces" in report["hint"]
    assert "see the host name" in report["open"]
    assert_held(report)


@pytest.mark.parametrize("wanted", ["bubblewrap", "namespaces"])
@pytest.mark.long("another situation of what a test beside it proves")
def test_a_level_that_a_container_forbids_is_refused_with_the_reason(place: Path, wanted: str) -> None:
    report = start(place, (wanted,), program=container_filter())
    assert f"{wanted}: " in report["refused"]
    assert any(word in report["refused"] for word in ("ermission", "unshare", "not permitted"))
    assert report["printed"] == []


def test_who_asks_for_namespaces_gets_no_weaker_level_instead(place: Path) -> None:
    report = start(place, ("bubblewrap", "namespaces"), program=container_filter())
    assert "No sandbox works here, so nothing was run" in report["refused"]
    assert "bubblewrap: " in report["refused"]
    assert "namespaces: " in report["refused"]


@pytest.mark.long("another situation of what a test beside it proves")
def test_the_same_process_without_the_filter_gets_namespaces(place: Path) -> None:
    report = start(place, ("bubblewrap", "namespaces"))
    if report["refused"]:
        pytest.skip(report["refused"])
    assert report["level"] in ("bubblewrap", "namespaces")
