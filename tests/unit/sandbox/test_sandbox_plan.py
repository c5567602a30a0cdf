"""What is decided before anything is started: command line, roots, limits, promises."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.sandbox.guest import probes
from jupyter_codeagent.sandbox.guest.failure import failed_line
from jupyter_codeagent.sandbox.guest.namespace import describe_namespace
from jupyter_codeagent.sandbox.guest.probes import probes_of
from jupyter_codeagent.sandbox.levels import EVERY_LEVEL, broken_promises
from jupyter_codeagent.sandbox.local.walls import bubblewrap, roots
from jupyter_codeagent.sandbox.local.walls.environment import sandbox_environment
from jupyter_codeagent.sandbox.local.walls.kernel_files import cgroup_limits
from jupyter_codeagent.sandbox.local.walls.layout import PrivateDirectory, remove_abandoned
from jupyter_codeagent.sandbox.local.walls.process import resource_limits
from jupyter_codeagent.sandbox.local.watch.processes import Usage, format_exit_status, measure, process_tree
from jupyter_codeagent.sandbox.local.watch.watchdog import find_excess
from jupyter_codeagent.types.sandbox import SandboxPolicy
from jupyter_codeagent.types.sizes import format_bytes


def argv(version: tuple[int, ...] = (0, 8, 0)) -> list[str]:
    return bubblewrap.bubblewrap_argv(
        "/usr/bin/bwrap",
        version=version,
        connection_dir="/x/c",
        data_dir="/x/data",
        read_only=["/venv"],
        files={"/home/u/fontlist.json": "/tmp/matplotlib/fontlist.json"},
        environment={"HOME": "/scratch"},
        scratch_bytes=1000,
    )


def binds(command: list[str], flag: str) -> dict[str, str]:
    return {command[at + 2]: command[at + 1] for at, word in enumerate(command) if word == flag}


def test_only_the_connection_directory_is_bound_writable() -> None:
    assert binds(argv(), "--bind") == {"/conn": "/x/c"}


def test_of_the_host_only_system_interpreter_and_data_are_in_view() -> None:
    sources = set(binds(argv(), "--ro-bind").values())
    assert {"/usr", "/venv", "/x/data", "/home/u/fontlist.json"} <= sources
    assert all(
        source.startswith(("/usr", "/lib", "/bin", "/sbin", "/etc/", "/venv", "/x/data", "/home/u/font"))
        for source in sources
    )
    assert not {"/", "/etc", "/etc/passwd", "/home", "/run", "/sys", os.getcwd(), str(Path.home())} & sources


def test_the_environment_is_cleared_and_the_writable_places_have_sizes() -> None:
    command = argv()
    assert command.index("--clearenv") < command.index("--setenv")
    assert [command[at - 1] for at, word in enumerate(command) if word == "--tmpfs"] == [
        str(bubblewrap.TEMPORARY_BYTES),
        str(bubblewrap.SHARED_MEMORY_BYTES),
        "1000",
    ]


def test_the_temporary_directory_is_mounted_before_what_may_lie_below_it() -> None:
    command = argv()
    assert command.index("--tmpfs") < command.index("--ro-bind")


def test_an_older_bubblewrap_gets_no_flag_that_it_does_not_know() -> None:
    assert "--disable-userns" in argv((0, 8, 0))
    assert "--disable-userns" not in argv((0, 7, 0))


def test_home_and_working_directory_are_never_roots(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    home = tmp_path / "home"
    library = home / "venv"
    library.mkdir(parents=True)
    monkeypatch.setenv("HOME", str(home))
    assert roots._minimal([str(home), str(tmp_path), "/", "/usr/lib", str(library), f"{library}/lib"]) == (
        str(library),
    )


def test_the_roots_of_this_interpreter_hold_it_and_not_the_checkout() -> None:
    found = (*roots.python_roots(), *roots.SYSTEM)
    assert any(roots.is_within(os.__file__, root) for root in found)
    assert not any(
        roots.is_within(str(Path(roots.__file__).parent), root)
        for root in roots.python_roots()
        if "venv" not in root
    )


def test_a_library_outside_the_prefixes_makes_its_directory_a_root() -> None:
    libraries = ["/opt/other/lib/libx.so.1", "/usr/lib/liby.so", "/venv/z.so"]
    assert roots._outside(libraries, ["/venv"]) == ["/opt/other/lib"]
    assert all(os.path.isabs(path) for path in roots._mapped_in_clean_interpreter(os.sys.executable))  # type: ignore[attr-defined]


def test_the_environment_has_nothing_of_the_hosts_but_locale(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.setenv("TZ", "Asia/Tokyo")
    environment = sandbox_environment(bubblewrap.SANDBOX_PATHS)
    assert "sk-secret" not in environment.values()
    assert environment["TZ"] == "Asia/Tokyo"
    assert environment["HOME"] == "/scratch"


def test_socket_paths_fit_even_where_the_temporary_directory_is_deep(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    deep = tmp_path / ("d" * 90)
    deep.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(deep))
    directory = PrivateDirectory.create()
    try:
        assert len(str(directory.root)) < 90
        assert directory.root.stat().st_mode & 0o777 == 0o700
    finally:
        directory.remove()
    assert not directory.root.exists()
    assert list(deep.iterdir()) == []


def test_only_directories_whose_host_is_gone_are_removed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("tempfile.tempdir", "/tmp")
    living, gone = PrivateDirectory.create(), PrivateDirectory.create()
    try:
        os.close(gone.lock_fd)  # as the end of the process does
        (gone.scratch / "link").symlink_to(tmp_path)
        (tmp_path / "kept").touch()
        stranger = tmp_path / "codeagent-of-somebody"
        stranger.mkdir()
        for found in (living.root, gone.root):
            (tmp_path / found.name).symlink_to(found)
        remove_abandoned(tmp_path)
        assert gone.root.exists()  # a link is not followed
        remove_abandoned(Path("/tmp"))
        assert living.root.exists()
        assert not gone.root.exists()
        assert stranger.exists()
        assert (tmp_path / "kept").exists()
    finally:
        living.remove()


def test_processes_are_counted_by_limit_only_where_the_count_is_the_sandboxes_own() -> None:
    policy = SandboxPolicy()
    assert "NPROC" in resource_limits("bubblewrap", policy)
    assert "NPROC" in resource_limits("namespaces", policy)
    assert "NPROC" not in resource_limits("landlock", policy)


def test_a_promise_is_broken_when_it_is_open_or_was_not_measured() -> None:
    policy = SandboxPolicy()
    closed = dict.fromkeys((*EVERY_LEVEL, "start a subprocess"), False)
    assert broken_promises("landlock", policy, closed) == ()
    assert broken_promises("landlock", policy, {**closed, "TCP": True}) == ("TCP",)
    assert broken_promises("bubblewrap", policy, closed) == ("see file names", "see the host name")
    assert broken_promises("landlock", policy, {}) == tuple(sorted(closed))
    assert broken_promises("landlock", SandboxPolicy(subprocess=True), {**closed, "start a subprocess": True}) == ()
    assert broken_promises("none", policy, {}) == ()


@pytest.mark.parametrize(
    ("usage", "words"),
    [
        (Usage(memory_bytes=200 << 20, threads=1, processes=1), "200 MiB of memory, the limit is 100 MiB"),
        (Usage(memory_bytes=1, threads=9, processes=1), "9 threads, the limit is 8"),
        (Usage(memory_bytes=1, threads=1, processes=5), "5 processes, the limit is 4"),
        (Usage(memory_bytes=1, threads=1, processes=1), ""),
    ],
)
def test_the_limit_that_is_passed_is_named(usage: Usage, words: str) -> None:
    assert find_excess(usage, SandboxPolicy(memory_bytes=100 << 20, threads=8, processes=4)).endswith(words)


@pytest.mark.parametrize(
    ("status", "words"),
    [
        (3, "exit status 3"),
        (0, "exit status 0"),
        (-9, "exit status 137, SIGKILL"),
        (139, "exit status 139, SIGSEGV"),
        (255, "exit status 255"),
        (None, "no exit status"),
    ],
)
def test_a_signal_is_named_however_it_is_told(status: int | None, words: str) -> None:
    assert format_exit_status(status) == words


def test_this_process_is_measured_and_a_gone_one_is_nothing() -> None:
    assert os.getpid() in process_tree(os.getpid())
    own = measure([os.getpid()])
    assert 1 << 20 < own.memory_bytes < own.resident_bytes
    assert own.processor_s == pytest.approx(sum(os.times()[:4]), abs=0.1)
    assert process_tree(2**22 + 1) == []
    assert measure([2**22 + 1]) == Usage(memory_bytes=0, threads=0, processes=0)


@pytest.mark.parametrize(("size", "words"), [(2 << 30, "2 GiB"), (900 << 10, "900 KiB"), (5, "5 bytes")])
def test_sizes_are_told_in_words(size: int, words: str) -> None:
    assert format_bytes(size) == words


def test_the_namespace_shows_data_and_own_functions_and_nothing_imported() -> None:
    def own() -> None: ...

    own.__module__ = "__main__"
    shown = describe_namespace({"a": [1], "_b": 1, "os": os, "path": os.getcwd, "own": own, "In": []}, {"In"})
    assert [(entry["name"], entry.get("shape")) for entry in shown] == [("a", [1]), ("own", None)]


def test_frames_come_first_and_are_never_cut_off_by_scalars() -> None:
    import pandas as pd

    variables: dict[str, object] = {f"n{number}": number for number in range(80)}
    variables["frame"] = pd.DataFrame({number: [1] for number in range(300)})
    shown = describe_namespace(variables)
    assert len(shown) == 50
    assert shown[0]["name"] == "frame"
    assert len(shown[0]["columns"]) == len(shown[0]["dtypes"]) == 200


def test_an_object_whose_accessors_fail_still_has_its_name() -> None:
    class Broken:
        @property
        def shape(self) -> tuple[int, ...]:
            raise RuntimeError("no")

    Broken.__module__ = "numpy.broken"
    assert describe_namespace({"x": Broken()}) == [
        {"name": "x", "type_name": "Broken (RuntimeError)", "returns_as": ""}
    ]


def test_a_failure_that_never_was_in_a_cell_has_no_line() -> None:
    with pytest.raises(ValueError, match="here") as caught:
        raise ValueError("here")
    traceback = caught.value.__traceback__
    assert traceback is not None
    assert failed_line(caught.value, traceback, "/tmp/ipykernel_1/") is None
    assert failed_line(caught.value, traceback, __file__) == traceback.tb_lineno


def test_only_the_limits_of_the_own_control_group_are_in_view() -> None:
    assert cgroup_limits("0::/user.slice/a\n") == [
        f"/sys/fs/cgroup/user.slice/a/{name}" for name in ("cpu.max", "memory.max", "memory.high")
    ]
    assert cgroup_limits("4:cpu,cpuacct:/a\n3:memory:/\n1:name=systemd:/a\n") == [
        "/sys/fs/cgroup/cpu/a/cpu.cfs_quota_us",
        "/sys/fs/cgroup/cpu/a/cpu.cfs_period_us",
        "/sys/fs/cgroup/memory/memory.limit_in_bytes",
    ]


def test_a_probe_that_cannot_be_made_is_no_closed_door(monkeypatch: pytest.MonkeyPatch) -> None:
    def unmade(_target: dict[str, Any]) -> bool:
        raise AttributeError("no such symbol")

    monkeypatch.setattr(probes, "PROBES", {"memory of other processes": unmade})
    with pytest.raises(AttributeError):
        probes.run_probes({})


def test_the_probes_of_macos_try_what_is_there_and_call_nothing_of_linux() -> None:
    probes = probes_of("darwin")
    assert not {"abstract sockets", "new user namespace", "io_uring"} & set(probes)
    assert probes["signal other processes"]({"pid": os.getpid()})
    assert probes["native code from scratch"]({})
    assert probes["environment"]({"environment": []})
