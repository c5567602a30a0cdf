"""Files of the user that the sandbox may read: each is asked for once, and granted until the grant is revoked."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.sandbox.data.local_files import checked_file
from jupyter_codeagent.types.approvals import Grant
from jupyter_codeagent.types.errors import VariableError
from jupyter_codeagent.types.sandbox import REMOTE_LEVELS, SandboxPolicy
from jupyter_codeagent.types.variables import LocalFile

MIB = 1 << 20
Ask = Callable[[str, str, Sequence[Grant]], object]
"""Function of (paths, one per line; their purpose; the grants) that raises DeniedError without approval."""


def granted_files(grants: Grants) -> tuple[LocalFile, ...]:
    """Return the granted files that exist now, sorted by path: the same files are the same policy.

    The real path counts: a newer file in its place is covered, a link to another file is not.
    """
    found = (_as_it_is(path) for path in sorted(_granted_paths(grants)))
    return tuple(file for file in found if file is not None)


def require(name: str, files: Sequence[LocalFile], policy: SandboxPolicy, grants: Grants, ask: Ask) -> None:
    """Require a grant for each of these files; ask for those without one.

    Raises
    ------
    VariableError
        The sandbox runs on another machine, where the file does not exist.
    DeniedError
    """
    if remote := [level for level in policy.levels if level in REMOTE_LEVELS]:
        raise VariableError(
            f"{name!r} reads files of this machine; a sandbox of level {remote[0]} cannot see them. Load "
            "what you need into a frame, or use a sandbox on this machine."
        )
    known = _granted_paths(grants)
    unknown = [file for file in files if file.path not in known]
    if unknown:
        lasting = [Grant(kind="mount", subject=file.path) for file in unknown]
        ask(listed(unknown), purpose(name, unknown), lasting)


def _granted_paths(grants: Grants) -> frozenset[str]:
    return frozenset(grant.subject for grant in grants.all if grant.kind == "mount")


def _as_it_is(path: str) -> LocalFile | None:
    """Return the file; None if it is gone or is no regular file under this very path, which was granted."""
    try:
        return checked_file("", path) if os.path.realpath(path) == path else None
    except VariableError:
        return None


def purpose(name: str, files: Sequence[LocalFile]) -> str:
    """Return the scope and the purpose of an approval in one sentence."""
    what = "This file is" if len(files) == 1 else f"These {len(files)} files are"
    return f"{what} what {name!r} reads; the sandbox does not write there."


def listed(files: Sequence[LocalFile]) -> str:
    """Return a line for each path, with its size; none is left out, for each is granted."""
    return "\n".join(f"{file.path}  ({file.size_bytes / MIB:,.1f} MiB)" for file in files)
