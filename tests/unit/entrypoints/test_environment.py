"""What `doctor` says of packages, directories, proxies and namespaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_codeagent.entrypoints.environment import (
    UNCONFINED,
    is_writable,
    isolation_commands,
    proxies_text,
    unmet_requirements,
    versions_text,
)

NEEDED = (
    "ipykernel<8,>=7.0",
    "jupyterlab<5,>=4.4",
    "xllamacpp>=1; extra == 'local'",
    "pywin32; sys_platform == 'win32'",
)


@pytest.mark.parametrize(
    ("installed", "unmet"),
    [
        ({"ipykernel": "7.0.1", "jupyterlab": "4.4.0"}, []),
        ({"ipykernel": "7.0.1", "jupyterlab": "4.6.0rc1"}, []),
        ({"ipykernel": "6.30.1", "jupyterlab": "4.4.0"}, [("ipykernel<8,>=7.0", "6.30.1")]),
        ({"ipykernel": "7.0.1", "jupyterlab": "4.3.9"}, [("jupyterlab<5,>=4.4", "4.3.9")]),
        ({"ipykernel": "8.0"}, [("ipykernel<8,>=7.0", "8.0"), ("jupyterlab<5,>=4.4", "")]),
    ],
)
def test_a_package_that_is_missing_too_old_or_too_new_is_named_with_what_is_needed(
    installed: dict[str, str], unmet: list[tuple[str, str]]
) -> None:
    found = unmet_requirements(NEEDED, lambda name: installed.get(name, ""))
    assert [(one.requirement, one.found) for one in found] == unmet


def test_the_environment_of_these_tests_meets_all_requirements() -> None:
    assert unmet_requirements() == ()


def test_versions_are_named_as_people_write_them_and_only_of_what_is_there() -> None:
    text = versions_text(lambda name: {"ipykernel": "7.1.0", "pandas": "3.0.1"}.get(name, ""))
    assert text.startswith("Python 3.")
    assert text.endswith(", ipykernel 7.1.0, pandas 3.0.1")


@pytest.mark.parametrize(
    ("environ", "text"),
    [
        ({}, ""),
        ({"NO_PROXY": "localhost"}, ""),
        ({"https_proxy": "http://proxy:3128"}, "HTTPS_PROXY=http://proxy:3128"),
        (
            {"HTTPS_PROXY": "http://me:secret@proxy:3128", "NO_PROXY": "localhost,.example.org"},
            "HTTPS_PROXY=http://***@proxy:3128, NO_PROXY=localhost,.example.org",
        ),
        ({"ALL_PROXY": "socks5h://u:p@ss@proxy:1080"}, "ALL_PROXY=socks5h://***@proxy:1080"),
        ({"HTTP_PROXY": "user:secret@proxy:3128"}, "HTTP_PROXY=***@proxy:3128"),
    ],
)
def test_proxies_are_told_without_their_passwords(environ: dict[str, str], text: str) -> None:
    assert proxies_text(environ) == text


def test_a_directory_that_does_not_exist_is_writable_if_it_could_be_made_and_is_not_made(tmp_path: Path) -> None:
    assert is_writable(tmp_path / "a" / "b")
    assert list(tmp_path.iterdir()) == []
    file = tmp_path / "file"
    file.touch()
    assert not is_writable(file / "below")


@pytest.mark.parametrize(
    ("has_bubblewrap", "files", "commands"),
    [
        (True, {}, []),
        (False, {}, ["sudo apt install bubblewrap"]),
        (True, {"/proc/sys/user/max_user_namespaces": "0\n"}, ["sudo sysctl user.max_user_namespaces=15000"]),
        (True, {"/proc/sys/user/max_user_namespaces": "63000\n"}, []),
        (
            False,
            {"/proc/sys/kernel/apparmor_restrict_unprivileged_userns": "1\n"},
            ["sudo apt install bubblewrap", "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0"],
        ),
        (False, {"/proc/sys/user/max_user_namespaces": "0\n"}, ["sudo sysctl user.max_user_namespaces=15000"]),
        (False, {"/proc/self/status": "Name:\tpython\nSeccomp:\t2\n"}, [UNCONFINED]),
        (True, {"/proc/self/status": "Name:\tpython\nSeccomp:\t0\n"}, []),
        (
            True,
            {"/proc/sys/kernel/unprivileged_userns_clone": "0"},
            ["sudo sysctl kernel.unprivileged_userns_clone=1"],
        ),
    ],
)
def test_where_namespaces_are_forbidden_the_command_that_allows_them_is_named(
    has_bubblewrap: bool, files: dict[str, str], commands: list[str]
) -> None:
    found = isolation_commands(has_bubblewrap=has_bubblewrap, read=lambda path: files.get(path, ""))
    assert [one.partition("   (")[0] for one in found] == commands
