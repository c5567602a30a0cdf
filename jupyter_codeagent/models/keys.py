"""API keys of servers: each was set for one scheme, host and port, and is sent nowhere else."""

from __future__ import annotations

from collections.abc import Mapping

from jupyter_codeagent.models.endpoint import origin, origins, sendable_key
from jupyter_codeagent.settings.config import initial_environ
from jupyter_codeagent.settings.settings import ModelSettings

OPENAI_URL = "https://api.openai.com/v1"
"""Server of `OPENAI_API_KEY` without `OPENAI_BASE_URL`, as in other programs."""


def key_for(base_url: str, settings: ModelSettings, environ: Mapping[str, str]) -> str:
    """Return the key of this server; empty if none was set for it.

    `CODEAGENT_API_KEY` without `CODEAGENT_BASE_URL` is for the server that was configured by other means.

    Raises
    ------
    UsageError
        The address is not valid.
    ModelRefusedError
        The key contains characters that no header can have.
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
    """Return the address that was set with the key, so that a cell cannot redirect the key by a new address."""
    key, url = f"{whose}_API_KEY", f"{whose}_BASE_URL"
    started = initial_environ()
    together = started if environ.get(key) == started.get(key) else environ
    return together.get(url, "")
