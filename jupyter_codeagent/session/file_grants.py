"""Files of the user's that the sandbox may read: asked for once each, and granted until that is taken back."""

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
"""(paths, one line each; what they are for; what a yes grants) -> raises DeniedError unless a person says yes."""


def granted_files(grants: Grants) -> tuple[LocalFile, ...]:
    """Those that are there now, in the order of their paths: the same files are the same policy.

    By real path: a newer file that takes its place is covered, a link to elsewhere is not.
    """
    found = (_as_it_is(path) for path in sorted(_granted_paths(grants)))
    return tuple(file for file in found if file is not None)


def require(name: str, files: Sequence[LocalFile], policy: SandboxPolicy, grants: Grants, ask: Ask) -> None:
    """Have every one of these files granted.

    Raises
    ------
    VariableError
        At levels that run elsewhere: the file is not there.
    DeniedError
    """
    if elsewhere := [level for level in policy.levels if level in REMOTE_LEVELS]:
        raise VariableError(
            f"{name!r} reads files of this machine; a sandbox of level {elsewhere[0]} cannot see them. Load "
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
    """None once it is gone, or something else: what was granted is a regular file under this very path."""
    try:
        return checked_file("", path) if os.path.realpath(path) == path else None
    except VariableError:
        return None


def purpose(name: str, files: Sequence[LocalFile]) -> str:
    """How far a yes goes, and what for, in one sentence."""
    what = "This file is" if len(files) == 1 else f"These {len(files)} files are"
    return f"{what} what {name!r} reads; the sandbox does not write there."


def listed(files: Sequence[LocalFile]) -> str:
    """One path to a line, with its size; all of them, for each is granted."""
    return "\n".join(f"{file.path}  ({file.size_bytes / MIB:,.1f} MiB)" for file in files)
