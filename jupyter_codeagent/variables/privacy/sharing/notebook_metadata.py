"""Read the lists of hidden variables from the metadata of a kernel's notebook, where no page sends them.

Anyone may have written the file, so its lists may hide variables and nothing else.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.variables.privacy.sharing.rules import METADATA_KEY, Sharing, read_sharing, sharing_view

LISTS_VARIABLE = "CODEAGENT_SHARING"
"""Set by `jupyter codeagent run`: the lists as JSON."""
MAX_ENVIRONMENT_CHARS = 100_000
"""Linux takes no variable above 128 KiB."""


def lists_of_metadata(metadata: Mapping[str, Any]) -> Sharing:
    """Return the lists in a notebook's metadata; other content is ignored."""
    return read_sharing(metadata.get(METADATA_KEY), only_hidden=True)


def lists_environment(metadata: Mapping[str, Any]) -> dict[str, str]:
    """Return the environment of a kernel that is to hide what this notebook hides."""
    lists = lists_of_metadata(metadata)
    text = json.dumps(sharing_view(lists.shared, lists.hidden_columns))
    if len(text) > MAX_ENVIRONMENT_CHARS:  # hide too much rather than too little
        text = json.dumps(sharing_view({**lists.shared, **dict.fromkeys(lists.hidden_columns, "hidden")}, {}))
    if len(text) > MAX_ENVIRONMENT_CHARS:
        raise UsageError(
            f"The notebook's metadata hides {len(lists.shared) + len(lists.hidden_columns)} variables, more than "
            f"can be handed to its kernel ({MAX_ENVIRONMENT_CHARS:,} characters): hide fewer by name."
        )
    return {LISTS_VARIABLE: text}


def notebook_lists(notebook: str | None, environ: Mapping[str, str] = os.environ) -> Sharing:
    """Return the lists in the environment, else in the notebook's file as last saved; empty without either.

    Raises
    ------
    UsageError
        The file exists and cannot be read: what it hides is unknown, so nothing may be sent.
    """
    if text := environ.get(LISTS_VARIABLE):
        return read_sharing(json.loads(text), only_hidden=True)
    path = Path(notebook or "")
    if path.suffix != ".ipynb" or not path.is_file():
        return Sharing()
    try:
        content = json.loads(path.read_bytes())
        metadata = content.get("metadata", {})
        return lists_of_metadata(metadata) if isinstance(metadata, dict) else Sharing()
    except (OSError, ValueError, AttributeError) as problem:
        raise UsageError(
            f"{path} cannot be read, so it is not known which variables its metadata hides: {problem}. Save the "
            f"notebook again; nothing was sent."
        ) from problem
