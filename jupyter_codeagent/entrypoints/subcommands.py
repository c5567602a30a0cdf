"""The subcommands of `%agent`, except those on tools."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal

from jupyter_codeagent.entrypoints import doctor
from jupyter_codeagent.entrypoints.asking import Asking
from jupyter_codeagent.entrypoints.failed_cells import Failures
from jupyter_codeagent.entrypoints.options import build_parser, parse_explore, parse_report
from jupyter_codeagent.entrypoints.pending_guard import RECORDED, recorded_note
from jupyter_codeagent.entrypoints.tool_subcommands import ToolSubcommands
from jupyter_codeagent.frontend.approvals.grants import grant_text
from jupyter_codeagent.frontend.cell_origin import find_cell_origin
from jupyter_codeagent.frontend.display import show_text, status_text, whole_receipt_text
from jupyter_codeagent.frontend.insertion import show_outputs
from jupyter_codeagent.frontend.receipt import assumption_lines, operation_lines
from jupyter_codeagent.frontend.receipt_words import VERDICTS
from jupyter_codeagent.history import RunFilter
from jupyter_codeagent.models.discovery import list_models
from jupyter_codeagent.models.embedded.catalogue_text import format_models
from jupyter_codeagent.session.house_rules import house_rules_cost, read_house_rules
from jupyter_codeagent.session.prompt_context import cost_lines
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.settings.policy import read_policy
from jupyter_codeagent.settings.view import check_change
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.variables.privacy.column_filter import check_columns
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, parse_targets

SUBCOMMANDS: dict[str, str] = {
    "help": "list all options and commands",
    "status": "model, sandbox level, shared variables, what you have allowed, tokens used so far",
    "models [NAME]": "models that were found, models that can run here, or details of one",
    "use NAME": "use this model from now on",
    "share a,b[c]": "always copy these variables; stop hiding these columns",
    "hide a,b[c,'d e']": "hide these variables or columns from the model and the sandbox",
    "context [question]": "what the prompt would contain of your variables and house rules, with its token cost",
    "history [N|text]": "the last N runs, or those that contain the text",
    "show RUN": "one run with all its steps",
    "steps [RUN]": "what the code of a run did to the rows, step by step, and what it assumed",
    "explore TABLE …": "find what is worth knowing about these tables, as cells, without a model; "
    '`--goal "what goes with the delay?"`, `--minutes 2`, `--sample N`, `--where COND`',
    "report [-o FILE]": "make one page of the accepted results, after running them again on copies; "
    '`report.html`, `.md` or `.qmd`, `--title "Delays"`, `--no-rerun`, `--overwrite`, `--notebook FILE`',
    "fix [CELL]": "repair the last failed cell, or the one with this id or number",
    "refine RUN text": "replace the run's result with another version: `refine 3f2a log scale, top 10`",
    "accept RUN": "mark the run's cells as accepted",
    "discard RUN": "remove the run's pending cells",
    "apply RUN": "run its code in YOUR kernel, after you confirm",
    "tool [add|remove NAME]": "functions that code may call; `add NAME [auto|ask|deny]` adds one, "
    "`undo [RUN]` undoes what the calls of a run did",
    "mcp [add NAME [auto|ask|deny] COMMAND…|URL]": "MCP servers whose tools code may call; `remove NAME` stops one",
    "pull NAME": "copy a sandbox variable into your kernel, as data",
    "undo": "remove the cells of the last run",
    "stop": "stop the current run",
    "reset": "forget the conversation and the sandbox's variables, revoke what you have allowed",
    "doctor": "check model, sandbox and front end",
}


class Subcommands:
    """The subcommands; each acts and prints, or raises a CodeAgentError."""

    def __init__(self, shell: Any, session: AgentSession, asking: Asking, failures: Failures) -> None:
        self._shell = shell
        self._session = session
        self._asking = asking
        self._failures = failures
        self._tools = ToolSubcommands(shell, session)

    def all(self) -> dict[str, Callable[[str], None]]:
        """Return each subcommand by its word; each takes the rest of the line."""
        return {
            "help": lambda _: show_text(help_text()),
            "status": lambda _: show_text(self._status()),
            "models": lambda name: show_text(self._models(name)),
            "use": self._use,
            "share": lambda names: self._set_shared(names, "shared"),
            "hide": lambda names: self._set_shared(names, "hidden"),
            "context": lambda prompt: show_text(self._context(prompt)),
            "history": lambda text: show_text(self._history(text)),
            "show": lambda run: show_text(self._show(run)),
            "steps": lambda run: show_text(self._steps(run)),
            "explore": self._explore,
            "report": lambda line: self._asking.report(parse_report(line)),
            "fix": self._fix,
            "refine": self._refine,
            "accept": lambda run: self._mark(run, "accepted"),
            "discard": lambda run: self._mark(run, "discarded"),
            "apply": self._apply,
            "tool": self._tools.tool,
            "mcp": self._tools.mcp,
            "pull": self._pull,
            "undo": lambda _: self._mark("", "discarded"),
            "stop": lambda _: print("Stopping." if self._session.stop() else "Nothing is running."),
            "reset": lambda _: self._reset(),
            "doctor": lambda _: self._doctor(),
            RECORDED: self._recorded,
        }

    def _status(self) -> str:
        session = self._session
        settings = session.settings()
        usage = session.run_log.usage
        shared = self._shared_text()
        return "\n".join(
            [
                f"model: {doctor.endpoint_text(session.model_finder.find(settings))}",
                *status_text(session.workspace.status),
                f"approve: {settings.approve} · privacy: {settings.privacy} · steps: {settings.max_steps}",
                f"variables: {shared or 'chosen for each prompt'}",
                *(
                    f"allowed until you reset or the kernel ends: {grant_text(grant)}"
                    for grant in session.grants.all
                ),
                f"panel: {'linked' if session.link is not None and session.link.is_open else 'not linked'}",
                *self._clients_lines(settings.clients),
                *(f"administrator: {text}" for text in settings.policy.texts()),
                f"tokens so far: {usage.prompt_tokens} in ({usage.cached_tokens} cached), "
                f"{usage.completion_tokens} out",
            ]
        )

    def _clients_lines(self, let_in: bool) -> list[str]:
        """Return the line on MCP clients and chats; none where they are not let in."""
        link = self._session.client_link
        names = ", ".join(link.names) if link is not None else ""
        return [f"clients: {names or 'allowed, none connected'}"] if let_in else []

    def _use(self, name: str) -> None:
        if not name:
            raise UsageError("%agent use NAME: give the model's name; `%agent models` lists them.")
        check_change("model", name, read_policy())
        self._session.config.model = name
        show_text(f"model: {doctor.endpoint_text(self._session.model_finder.find(self._session.settings()))}")

    def _set_shared(self, names: str, how: Shared) -> None:
        targets = parse_targets(names)
        for name, labels in targets:
            if name not in self._shell.user_ns:
                raise UsageError(f"There is no variable {name!r} in this notebook.")
            check_columns(name, self._shell.user_ns[name], labels - self._session.sharing.hidden_of(name))
        for name, labels in targets:
            if labels:
                self._session.sharing.share_columns(name, labels, how)
            else:
                self._session.sharing.share(name, how)
        self._session.variables_view.switched()
        show_text("\n".join([self._shared_text(), *(self._also_in(targets) if how == "hidden" else ())]))

    def _also_in(self, targets: Sequence[tuple[str, frozenset[str]]]) -> Iterator[str]:
        """Yield a line for each other variable that has a column named like one that was hidden."""
        labels = frozenset(label for _, of_one in targets for label in of_one)
        for name, same in self._session.sharing.visible().with_columns(labels).items():
            columns = ",".join(map(repr, same))
            yield f"{name} has {columns}, too: `%agent hide {name}[{columns}]` hides it there."

    def _shared_text(self) -> str:
        hiding = self._session.sharing
        variables = [f"{name}: {how}" for name, how in hiding.shared.items() if how != "auto"]
        columns = [
            f"{name}[{', '.join(map(repr, sorted(labels)))}]: hidden"
            for name, labels in hiding.hidden_columns.items()
        ]
        return ", ".join([*variables, *columns])

    def _context(self, prompt: str) -> str:
        settings = self._session.settings()
        rules = read_house_rules(settings, find_cell_origin(self._shell).notebook)
        context = self._session.live_context.of_prompt(prompt, settings)
        return "\n".join(
            [
                *([f"House rules:\n{rules.text}\n"] if rules.text else []),
                context.context.text or "There are no variables to describe.",
                "",
                *house_rules_cost(rules),
                *cost_lines(context),
                *settings.cuts,
            ]
        )

    def _history(self, text: str) -> str:
        count = int(text) if text.isdecimal() else 10
        total, rows = self._session.run_log.history.search(
            RunFilter(text="" if text.isdecimal() else text), limit=count
        )
        return "\n".join([*(row.line for row in rows), f"{len(rows)} of {total} runs"])

    def _show(self, run_id: str) -> str:
        run = self._session.run_log.find(run_id)
        answer = [run.answer] if run.answer else []
        further = [f"Next: {' · '.join(run.next_questions)}"] if run.next_questions else []
        return "\n".join([run.request.prompt, whole_receipt_text(run), *answer, *further])

    def _steps(self, run_id: str) -> str:
        run = self._session.run_log.find(run_id)
        if run.verdict is None:
            return f"Nothing was counted in run {run.id}: it has no result, or was made by an older version."
        assumed = [f"assumed: {line}" for line in assumption_lines(run)]
        return "\n".join(
            [f"{VERDICTS[run.verdict.level].lower()}: {run.verdict.reason}", *operation_lines(run), *assumed]
        )

    def _explore(self, line: str) -> None:
        if not line:
            raise UsageError("%agent explore TABLE: give the name of a frame, such as `%agent explore df`.")
        self._asking.explore(parse_explore(line))

    def _fix(self, cell: str) -> None:
        failure = self._failures.find(cell)
        error = self._session.masking.error(failure.error, self._session.settings())
        self._asking.ask(
            f"This code failed with {error}\n```python\n{failure.source}\n```\nWrite it corrected.", RunOptions()
        )

    def _refine(self, words: str) -> None:
        run_id, _, refinement = words.partition(" ")
        if not refinement.strip():
            raise UsageError("%agent refine RUN text: say what to change, such as `top 10, log scale`.")
        known, options = self._session.refinements.run_and_options(run_id, refinement.strip())
        prompt = f"{known.request.prompt}\n{self._asking.interpolate(options.refinement)}"
        self._asking.ask(prompt, options, known.request.cell_id)

    def _mark(self, run_id: str, state: Literal["accepted", "discarded"]) -> None:
        run = self._session.run_log.find(run_id)
        count = self._session.decisions.mark(run, state, find_cell_origin(self._shell))
        show_text(f"run {run.id}: {state}, {count} cells")

    def _apply(self, run_id: str) -> None:
        run: AgentRun = self._session.run_log.find(run_id)
        self._session.decisions.apply(run, find_cell_origin(self._shell))

    def _pull(self, name: str) -> None:
        if not name.isidentifier():
            raise UsageError("%agent pull NAME: give the name of one variable of the sandbox.")
        [returned] = self._session.results.bring_back([name], find_cell_origin(self._shell))
        show_text("\n".join([f"{name}: {returned.what} copied into your kernel", *returned.notes]))

    def _recorded(self, run_id: str) -> None:
        run = self._session.run_log.find(run_id)
        show_outputs(run.outputs)
        print(recorded_note(run, self._session.settings), file=sys.stderr)

    def _reset(self) -> None:
        self._session.reset()
        show_text(
            "The conversation and the sandbox's variables are gone. What you had allowed needs your approval again."
        )

    def _doctor(self) -> None:
        checks = self._session.background.run(doctor.run_checks(self._session.settings()))
        show_text(doctor.checks_text(checks))

    def _models(self, name: str) -> str:
        settings = self._session.settings().model
        if name:
            return format_models(settings, name)
        found = self._session.background.run(list_models(settings, os.environ))
        return f"{doctor.models_text(found)}\n\n{format_models(settings)}"


def help_text() -> str:
    """Return options and subcommands on one screen."""
    options = build_parser().format_help().partition("\n\n")[2]  # without the usage, which is the next line here
    width = max(map(len, SUBCOMMANDS)) + 2
    commands = [f"  %agent {name:<{width}}{text}" for name, text in SUBCOMMANDS.items()]
    return "\n".join(
        [
            "%%agent [options]",
            "your question in plain words; {{expr}} inserts the text of a Python expression",
            "",
            options.strip(),
            "",
            *commands,
            "  %agent any other words: a one-line prompt",
        ]
    )
