"""`doctor` tells a newcomer what is fine and which command helps, in about ten lines."""

from __future__ import annotations

import asyncio
import json
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_codeagent.entrypoints import doctor
from jupyter_codeagent.entrypoints.cli import main
from jupyter_codeagent.entrypoints.doctor import Check
from jupyter_codeagent.entrypoints.environment import Unmet
from jupyter_codeagent.models import discovery, servers
from jupyter_codeagent.sandbox.levels import Measurement, format_status
from jupyter_codeagent.settings.policy import Policy
from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.types.errors import (
    CodeAgentError,
    ModelRefusedError,
    ModelUnreachableError,
    NoModelError,
    WeightsError,
)
from jupyter_codeagent.types.sandbox import SandboxLevel

PROXY = "export NO_PROXY=models.example.org   (…)"
FETCH = "pip install 'jupyter-codeagent[local]' && jupyter codeagent models fetch"


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing of whoever runs the tests: no model server, no configuration, directories of its own."""
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", {})
    for name in ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL", "CODEAGENT_MODEL", "HTTPS_PROXY", "https_proxy"):
        monkeypatch.delenv(name, raising=False)
    for name in ("JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR", "CODEAGENT_STATE_DIR", "XDG_CACHE_HOME", "IPYTHONDIR"):
        monkeypatch.setenv(name, str(tmp_path / name.lower()))


def test_packages_that_do_not_fit_are_named_with_the_command_that_mends_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    old = (Unmet(requirement="ipykernel<8,>=7.0", found="6.30.1"), Unmet(requirement="nh3>=0.3", found=""))
    monkeypatch.setattr(doctor, "unmet_requirements", lambda: old)
    check = doctor.check_packages()
    assert check.state == "NOT OK"
    assert "needed: ipykernel<8,>=7.0 (found: 6.30.1), nh3>=0.3 (found: none)" in check.text
    assert check.help[0].startswith("pip install 'ipykernel<8,>=7.0' 'nh3>=0.3' ")


def test_without_a_library_of_tables_or_of_charts_a_note_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    assert doctor.check_packages().state == "ok"
    monkeypatch.setattr(doctor, "version_of", {"pandas": "3.1.1"}.get)
    check = doctor.check_packages()
    assert (check.state, check.help) == ("note", ("pip install matplotlib",))
    monkeypatch.setattr(doctor, "version_of", lambda _: "")
    check = doctor.check_packages()
    assert (check.state, check.help) == ("note", ("pip install pandas",))


def test_directories_that_cannot_be_written_are_named_with_the_variable_that_moves_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert doctor.check_directories({}).state == "ok"
    assert not (tmp_path / "jupyter_data_dir").exists(), "looking makes nothing"
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "file" / "runtime"))
    check = doctor.check_directories({"CODEAGENT_STATE_DIR": str(tmp_path / "file" / "state")})
    assert check.state == "NOT OK"
    assert check.text == f"not writable: {tmp_path}/file/runtime, {tmp_path}/file/state"
    assert check.help[0].startswith("export JUPYTER_RUNTIME_DIR=$(mktemp -d) ")
    assert " XDG_STATE_HOME=$(mktemp -d)" in check.help[0]
    assert "IPYTHONDIR" not in check.help[0], "that one can be written"


def test_in_a_home_that_is_read_only_one_variable_moves_all_of_jupyter(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").touch()
    monkeypatch.delenv("JUPYTER_RUNTIME_DIR")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "home" / "jupyter"))
    check = doctor.check_directories({})
    assert check.text == f"not writable: {tmp_path}/home/jupyter"
    assert "JUPYTER_RUNTIME_DIR" not in check.help[0]


def test_in_a_home_that_is_read_only_places_that_are_needed_later_are_moved_at_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "home").touch()
    for name in ("JUPYTER_DATA_DIR", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / "home" / name))
    monkeypatch.setattr(doctor, "embedded_installed", lambda: False)
    check = doctor.check_directories({"IPYTHONDIR": str(tmp_path / "home" / "ipython")})
    assert check.text == f"not writable: {tmp_path}/home/JUPYTER_DATA_DIR"
    for name in ("JUPYTER_DATA_DIR", "XDG_CACHE_HOME", "IPYTHONDIR"):
        assert f"{name}=$(mktemp -d)" in check.help[0]


def test_a_history_that_cannot_be_opened_says_which_variable_moves_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "file"))
    check = doctor.check_history()
    assert check.state == "NOT OK"
    assert "set JUPYTER_DATA_DIR" in check.text


def test_a_missing_front_end_is_a_note_because_runs_work_without_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, config = tmp_path / "data", tmp_path / "config"
    monkeypatch.setattr(doctor, "jupyter_path", lambda: [str(data)])
    monkeypatch.setattr(doctor, "jupyter_config_path", lambda: [str(config)])
    check = doctor.check_frontend()
    assert (check.state, check.help[0].split("   ")[0]) == ("note", "pip install jupyter-codeagent")

    panel = data / "labextensions" / "jupyter-codeagent"
    panel.mkdir(parents=True)
    (panel / "package.json").write_text(json.dumps({"version": "0.1.0"}), encoding="utf-8")
    check = doctor.check_frontend()
    assert (check.state, check.help) == ("note", ("jupyter server extension enable jupyter_codeagent",))

    (config / "jupyter_server_config.d").mkdir(parents=True)
    (config / "jupyter_server_config.d" / "jupyter_codeagent.json").write_text("{}", encoding="utf-8")
    assert doctor.check_frontend().state == "ok"


def test_without_a_sandbox_the_commands_that_allow_one_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(doctor, "find_bubblewrap", lambda: None)
    monkeypatch.setattr(doctor, "read_kernel_file", lambda _: "")
    settings = Settings()
    check = asyncio.run(doctor.check_sandbox(replace(settings, sandbox=replace(settings.sandbox, levels=()))))
    assert check.state == "NOT OK"
    assert check.text.startswith("No sandbox works here")
    assert check.help[0].startswith("sudo apt install bubblewrap")
    assert "bubblewrap (" not in check.text, "the command stands below"


@pytest.mark.parametrize(
    ("level", "has_bubblewrap", "files", "says"),
    [
        ("bubblewrap", True, {}, ""),
        ("namespaces", False, {}, "Install bubblewrap"),
        ("namespaces", True, {}, ""),
        ("landlock", True, {"/proc/sys/user/max_user_namespaces": "0"}, "safe as it is"),
        ("landlock", True, {"/proc/self/status": "Name:\tpython\nSeccomp:\t2\n"}, ""),
    ],
)
def test_a_sandbox_that_works_is_told_what_makes_it_stronger_if_that_is_known_and_weakens_nothing_else(
    level: SandboxLevel, has_bubblewrap: bool, files: dict[str, str], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(doctor, "find_bubblewrap", lambda: "/usr/bin/bwrap" if has_bubblewrap else None)
    monkeypatch.setattr(doctor, "read_kernel_file", lambda path: files.get(path, ""))
    status = format_status(Measurement(level=level, inner=level, probes={}), Settings().sandbox)
    told = doctor.stronger(status)
    assert bool(told) == bool(says)
    assert not told or told[0].startswith(says)


def test_where_an_administrator_rules_nothing_only_the_details_say_so() -> None:
    assert doctor.check_policy(Policy()).is_detail
    assert not doctor.check_policy(Policy(files={"privacy": "/etc/jupyter/codeagent_policy.json"})).is_detail


@pytest.mark.parametrize(
    ("error", "has_embedded", "offline", "proxied", "command"),
    [
        (NoModelError("none"), False, False, "", FETCH),
        (
            NoModelError("none"),
            False,
            True,
            "",
            f"there is no network; on a machine with one: {FETCH} && pip download",
        ),
        (NoModelError("it lists none"), True, False, "", ""),
        (WeightsError("missing; run: jupyter codeagent models fetch"), True, False, "", ""),
        (WeightsError("missing; run: …"), True, True, "", "there is no network: fetch on a machine with one"),
        (ModelUnreachableError("no connection"), True, False, PROXY, PROXY),
        (ModelUnreachableError("no connection"), True, True, "", ""),
        (ModelRefusedError("401"), True, False, PROXY, ""),
    ],
)
def test_an_error_of_the_model_comes_with_a_command_where_its_text_has_none(
    error: CodeAgentError, has_embedded: bool, offline: bool, proxied: str, command: str
) -> None:
    advice = doctor.model_advice(error, has_embedded=has_embedded, offline=offline, proxied=proxied)
    assert bool(advice) == bool(command)
    assert not advice or advice[0].startswith(command)


def test_a_newcomer_without_a_model_gets_two_commands_and_a_short_reason(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (doctor, discovery):
        monkeypatch.setattr(module, "embedded_installed", lambda: False)
    check = asyncio.run(doctor.check_model(Settings()))
    assert check.text == "No model is configured and no server was found on this machine."
    assert [line.split()[0] for line in check.help] == ["pip", "export"]
    monkeypatch.setattr(doctor, "is_offline", lambda: True)
    check = asyncio.run(doctor.check_model(Settings()))
    assert [line.split()[0] for line in check.help] == ["there", "then", "export"]
    monkeypatch.setenv("HTTPS_PROXY", "http://proxy:3128")
    check = asyncio.run(doctor.check_model(Settings()))
    assert check.help[0].startswith("pip "), "a proxy needs no route"


@pytest.mark.parametrize(
    ("server", "spared"),
    [("https://example.invalid/v1", "localhost,example.invalid"), ("http://127.0.0.1:9/v1", "")],
)
def test_a_proxy_is_named_for_a_server_elsewhere_and_not_for_one_on_this_machine(
    server: str, spared: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CODEAGENT_BASE_URL", server)
    monkeypatch.setenv("https_proxy", "http://me:secret@127.0.0.1:9")
    monkeypatch.setenv("NO_PROXY", "localhost")
    monkeypatch.delenv("no_proxy", raising=False)
    check = asyncio.run(doctor.check_model(Settings(model=ModelSettings(configured=(server,)))))
    assert check.state == "NOT OK"
    assert "(Connection refused)" in check.text
    assert [line.partition("   (")[0] for line in check.help] == ([f"export NO_PROXY={spared}"] if spared else [])
    assert all("http://***@127.0.0.1:9" in line for line in check.help)
    proxy = "HTTPS_PROXY=http://***@127.0.0.1:9, NO_PROXY=localhost"
    assert check.details == (f"proxy: {proxy}; servers on this machine are reached without it",)


def test_each_finding_is_one_line_with_what_helps_below_it_and_details_only_if_wanted() -> None:
    check = Check(name="sandbox", state="ok", text="landlock", help=("apt install x",), details=("layer: y",))
    assert doctor.check_lines(check, details=False) == "ok      sandbox: landlock\n        → apt install x"
    assert doctor.check_lines(check, details=True).endswith("→ apt install x\n          layer: y")


def test_the_last_line_says_what_to_do_next() -> None:
    fine, note = Check(name="history", state="ok", text=""), Check(name="front end", state="note", text="")
    assert "jupyter lab" in doctor.next_text([fine, note])
    broken = [Check(name=name, state="NOT OK", text="") for name in ("sandbox", "model")]
    assert doctor.next_text([fine, *broken]).startswith("Next:   fix sandbox, model as shown above")


@pytest.mark.parametrize(("state", "status"), [("ok", 0), ("note", 0), ("NOT OK", 1)])
def test_the_status_is_1_only_if_a_question_would_fail(
    state: doctor.State, status: int, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    async def no_wait(_: Settings) -> Check:
        return Check(name="sandbox", state=state, text="as it is")

    monkeypatch.setattr(doctor, "check_sandbox", no_wait)
    monkeypatch.setattr(doctor, "check_model", no_wait)
    assert main(["doctor"]) == status
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) <= 10
    assert lines[-1].startswith("Next: ")
