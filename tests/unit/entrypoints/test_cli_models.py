"""`jupyter codeagent models`: what is listed, and how one of the catalogue is fetched."""

from __future__ import annotations

from pathlib import Path

import pytest

from jupyter_codeagent.entrypoints.cli import main
from jupyter_codeagent.models import servers
from jupyter_codeagent.models.embedded import weights


@pytest.fixture(autouse=True)
def alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """No server, no weights, no configuration of whoever runs the tests."""
    monkeypatch.setattr(servers, "LOOPBACK_PORTS", {})
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setenv("CODEAGENT_STATE_DIR", str(tmp_path / "state"))
    monkeypatch.setenv("IPYTHONDIR", str(tmp_path / "ipython"))
    for name in ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL", "CODEAGENT_MODEL"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def fetched(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Names of the models that were fetched; nothing is."""
    names: list[str] = []

    def fetch(model: str) -> Path:
        names.append(model)
        return Path(f"/weights/{model}.gguf")

    monkeypatch.setattr(weights, "fetch_weights_with_bar", fetch)
    return names


def test_servers_and_the_catalogue_are_listed_together(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models"]) == main(["models", "list"]) == 0

    found, offered = capsys.readouterr().out.split("\n\n")[:2]
    assert found.startswith("qwen2.5-coder-1.5b-instruct  embedded")
    assert "qwen3-coder-30b-a3b-instruct" in offered


def test_one_of_the_catalogue_is_told_in_full(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["models", "list", "granite-4.1-8b"]) == 0

    out = capsys.readouterr().out
    assert out.startswith("granite-4.1-8b\n")
    assert "ed902ac9eb6adce5a90c6a08c8ea201b50e23fdc5976d1cd0362006afac5309e" in out


@pytest.mark.parametrize(
    ("name", "model"),
    [
        ("", "qwen2.5-coder-1.5b-instruct"),
        ("granite-4.1-8b", "granite-4.1-8b"),
        ("embedded:granite-4.1-8b", "granite-4.1-8b"),
    ],
)
def test_one_command_fetches_a_model_and_says_how_to_use_it(
    fetched: list[str], capsys: pytest.CaptureFixture[str], name: str, model: str
) -> None:
    assert main(["models", "fetch", *filter(None, [name])]) == 0

    captured = capsys.readouterr()
    assert fetched == [model]
    assert captured.out == f"/weights/{model}.gguf\n"
    assert captured.err.endswith(f"use it: %agent use embedded:{model}\n")


def test_a_licence_with_conditions_is_told_before_anything_is_fetched(
    fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "fetch", "qwen2.5-coder-3b-instruct"]) == 0

    assert capsys.readouterr().err.startswith("licence: Qwen-Research, for research only, no commercial use\n")


def test_an_unknown_model_is_one_line_and_nothing_is_fetched(
    fetched: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["models", "fetch", "qwen2.5-coder-7b"]) == 1

    assert "Did you mean qwen2.5-coder-7b-instruct?" in capsys.readouterr().err
    assert fetched == []
