"""Implementation of `%load_ext` and `%unload_ext`."""

from __future__ import annotations

import atexit
from typing import Any

from jupyter_codeagent.entrypoints import neutral_end
from jupyter_codeagent.entrypoints.completion.matcher import AgentCompleter, install, uninstall
from jupyter_codeagent.entrypoints.completion.session_offers import session_offers
from jupyter_codeagent.entrypoints.magic import AgentMagics
from jupyter_codeagent.entrypoints.pending_guard import PendingGuard
from jupyter_codeagent.entrypoints.question_mark import QuestionMarks
from jupyter_codeagent.entrypoints.subcommands import SUBCOMMANDS
from jupyter_codeagent.sandbox.parent_end import sweep_after_parent
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.session.wiring import new_session
from jupyter_codeagent.settings.config import CodeAgent

_loaded: dict[int, tuple[AgentSession, AgentMagics, PendingGuard, QuestionMarks, AgentCompleter]] = {}


def load(shell: Any) -> None:
    """Register the magics and warm a sandbox in the background; block nothing, send nothing."""
    if id(shell) in _loaded:
        return
    config = CodeAgent(parent=shell)
    shell.configurables.append(config)  # so that %config CodeAgent finds it
    session = new_session(shell, config)
    magics = AgentMagics(shell, session)
    shell.register_magics(magics)
    shell.events.register("post_run_cell", magics.remember_failure)
    guard = PendingGuard(shell, session.run_log, session.settings)
    # First of all transformers: others change what looks like a prompt, and the guard compares the unchanged code.
    questions = QuestionMarks(shell)
    shell.input_transformers_cleanup[:0] = [guard, questions]
    completer = AgentCompleter(session_offers(session, SUBCOMMANDS, magics.failures.listed))
    install(shell, completer)
    neutral_end.install(shell)
    atexit.register(session.close, tell_pages=False)
    _loaded[id(shell)] = (session, magics, guard, questions, completer)
    shell.events.register("post_execute", session.variables_view.cell_ran)
    sweep_after_parent()
    session.warm()


def unload(shell: Any) -> None:
    """Stop everything that `load` started."""
    session, magics, guard, questions, completer = _loaded.pop(id(shell))
    uninstall(shell, completer)
    neutral_end.uninstall(shell)
    shell.events.unregister("post_run_cell", magics.remember_failure)
    shell.events.unregister("post_execute", session.variables_view.cell_ran)
    shell.input_transformers_cleanup.remove(guard)
    shell.input_transformers_cleanup.remove(questions)
    shell.configurables.remove(session.config)
    for kind in ("line", "cell"):
        shell.magics_manager.magics[kind].pop("agent", None)
    atexit.unregister(session.close)
    session.close()
