"""Which key goes to which server: one was set for one scheme, host and port, and goes nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.models.endpoint import origin, origins, sendable_key
from jupyter_codeagent.settings.config import initial_environ
from jupyter_codeagent.settings.settings import ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
"""What `OPENAI_API_KEY` is for where `OPENAI_BASE_URL` does not say otherwise, as everywhere."""


def key_for(base_url: str, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """The key of this server; empty where none was set for it.

    `CODEAGENT_API_KEY` alone, without `CODEAGENT_BASE_URL`, is for the server that was configured otherwise.

    Raises
    ------
    UsageError
        This is no address.
    ModelRefusedError
        The key holds what no header can.
    """
    where, own_server = origin(base_url), _server_of_key("CODEAGENT", environ)
    keys = (
        ("CODEAGENT_API_KEY", own_server),
        ("OPENAI_API_KEY", _server_of_key("OPENAI", environ) or OPENAI_URL),
        ("CODEAGENT_API_KEY", "" if own_server else next(iter(origins(settings.configured)), "")),
    )
    found = (environ.get(name, "") for name, server in keys if origins([server]) == [where])
    return sendable_key(next((key for key in found if key.strip()), ""))


def _server_of_key(whose: str, environ: Mapping[str, str]) -> str:
    """The address that was set with the key: a cell that changes the one does not lead the other elsewhere."""
    key, url = f"{whose}_API_KEY", f"{whose}_BASE_URL"
    started = initial_environ()
    together = started if environ.get(key) == started.get(key) else environ
    return together.get(url, "")
