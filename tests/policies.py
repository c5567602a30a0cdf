"""An administrator's policy for tests: as a value, or as a file that is the only one."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from jupyter_codeagent.settings import policy as policy_module
from jupyter_codeagent.settings.policy import POLICY_FILE, Policy

FILE = f"/etc/jupyter/{POLICY_FILE}"


def ruled(rules: dict[str, Any]) -> Policy:
    """A policy with these rules, as it is read from a file."""
    return Policy(rules=rules, files=dict.fromkeys(rules, FILE))


def write_policy(directory: Path, content: Any) -> Path:
    """A policy file with this content."""
    directory.mkdir(parents=True, exist_ok=True)
    path = directory / POLICY_FILE
    path.write_text(content if isinstance(content, str) else json.dumps(content), encoding="utf-8")
    return path


def put_in_force(monkeypatch: pytest.MonkeyPatch, directory: Path, content: Any) -> Path:
    """Write the file, and have this process read it and no other."""
    monkeypatch.setattr(policy_module, "DIRECTORIES", (str(directory),))
    return write_policy(directory, content)


def in_kernel(directory: Path) -> str:
    """Code by which a kernel of a test reads the policy of this directory."""
    return f"from jupyter_codeagent.settings import policy as _p\n_p.DIRECTORIES = ({str(directory)!r},)"
