"""All errors that this package raises on purpose.

CodeAgentError
├── RunFailedError              no working code within the steps
├── UsageError                  a bad option, name or value in a magic or a command
├── ModelError                  the model could not be asked, or did not answer usably
│   ├── NoModelError            none is configured and none was found
│   ├── UnconfirmedServerError  this server needs a confirmation first
│   ├── ForbiddenServerError    the administrator does not allow this server
│   ├── ModelUnreachableError   no connection, or it was cut
│   ├── ModelRefusedError       401, 403: the key or the permission
│   ├── ModelNotFoundError      404: the server has no such model
│   ├── ModelOverloadedError    429, 5xx: try again later
│   ├── ModelTimeoutError       nothing came within the limit
│   ├── ContextTooLongError     the messages do not fit the model's context
│   ├── BadReplyError           HTML, an empty reply, a reply without code
│   └── WeightsError            the embedded model's weights: missing, truncated, altered, disk full
├── VariableError               a variable that is unknown, too large or cannot be copied
├── SandboxError
│   ├── SandboxUnavailableError no isolating backend, or one that failed its self-test
│   └── SandboxDiedError        killed for memory, time, output or disk, or by its own code
├── RejectedDataError           something that came out of the sandbox failed its validation
├── DeniedError                 a person or a policy denied it
├── StoppedError                the user stopped the run
├── InsertError                 the front end could not place the cells
└── HistoryError                the history could not be written or read
    └── UnknownRunError         no such run in the history

The text of an error is one line: what happened, with which value, against which limit, and what to do.
The magics and the command line print that line; the traceback only with ``--debug``.
"""

from __future__ import annotations

from jupyter_codeagent.types.visible_code import visible_code


class CodeAgentError(Exception):
    """Base of all errors raised on purpose; `str()` is one line for the user."""

    neutral_text: str | None = None
    """Text that a cell ended by the user shows instead of a red error; empty if its output is clear already."""

    @property
    def line(self) -> str:
        """The line for a cell or a terminal, with what a terminal would obey spelled out."""
        return visible_code(f"{type(self).__name__}: {self}")

    def _render_traceback_(self) -> list[str]:
        """Return the line alone (IPython's hook); ``--debug`` shows the traceback."""
        return [self.line]


class RunFailedError(CodeAgentError):
    """The run ended without working code; its record is in the history."""


class UsageError(CodeAgentError):
    """A bad option, name or value; nothing was sent or run."""


class ModelError(CodeAgentError):
    """The model could not be asked or did not answer usably."""


class NoModelError(ModelError):
    """No model is configured and none was found."""


class UnconfirmedServerError(ModelError):
    """The server needs a confirmation before anything is sent to it; nothing was sent."""

    def __init__(self, message: str, *, address: str, question: str, grant: str) -> None:
        super().__init__(message)
        self.address = address
        """The server to confirm, for people."""
        self.question = question
        """Why a confirmation is needed."""
        self.grant = grant
        """Entry for `ModelSettings.allowed` after the confirmation."""


class ForbiddenServerError(ModelError):
    """The administrator does not allow the server; nothing was sent to it."""


class ModelUnreachableError(ModelError):
    """No connection to the server, or the stream was cut."""


class ModelRefusedError(ModelError):
    """The server refused the key or the permission (401, 403)."""


class ModelNotFoundError(ModelError):
    """The server has no such model (404)."""


class ModelOverloadedError(ModelError):
    """Rate limit or server failure (429, 5xx)."""


class ModelTimeoutError(ModelError):
    """The server sent nothing within the limit."""


class ContextTooLongError(ModelError):
    """The messages do not fit the model's context."""


class BadReplyError(ModelError):
    """The reply did not follow the protocol, was empty, or contained no code."""

    def __init__(self, message: str, *, objection: str = "") -> None:
        super().__init__(message)
        self.objection = objection
        """The server's own message about the part of the request that it does not support; may be empty."""


class WeightsError(ModelError):
    """The embedded model's weights are missing, truncated or altered, or the disk is full."""


class VariableError(CodeAgentError):
    """A variable is unknown, too large or cannot be copied."""


class SandboxError(CodeAgentError):
    """The sandbox failed."""


class SandboxUnavailableError(SandboxError):
    """No isolating backend works here, or one failed its self-test. Nothing was run."""


class SandboxDiedError(SandboxError):
    """The sandbox and its variables are gone."""


class RejectedDataError(CodeAgentError):
    """Data from the sandbox failed its validation and was not used."""


class DeniedError(CodeAgentError):
    """A person or a policy denied it."""


class StoppedError(CodeAgentError):
    """The user stopped the run."""


class InsertError(CodeAgentError):
    """The front end could not place the cells; they wait as a proposal."""

    def __init__(self, message: str, *, refused: bool = False) -> None:
        super().__init__(message)
        self.refused = refused
        """Whether a connected page refused the cells, as in a read-only notebook."""


class HistoryError(CodeAgentError):
    """The history could not be written or read."""


class UnknownRunError(HistoryError):
    """The history has no run with this id."""
