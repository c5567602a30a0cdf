"""The magics `%%agent` and `%agent`: parse, hand over to the session, print."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Literal, cast, get_args

from IPython.core.magic import Magics, cell_magic, line_magic, magics_class, no_var_expand

from jupyter_codeagent.entrypoints import doctor
from jupyter_codeagent.entrypoints.failed_cells import Failure, Failures
from jupyter_codeagent.entrypoints.interpolate import fill, find_expressions
from jupyter_codeagent.entrypoints.options import build_parser, parse_options
from jupyter_codeagent.entrypoints.pending_guard import RECORDED, recorded_note
from jupyter_codeagent.frontend.approvals.grants import grant_text
from jupyter_codeagent.frontend.cell_origin import CellOrigin, find_cell_origin
from jupyter_codeagent.frontend.display import (
    CellDisplay,
    JsonDisplay,
    NotebookDisplay,
    TerminalDisplay,
    status_text,
    whole_receipt_text,
)
from jupyter_codeagent.frontend.insertion import show_outputs
from jupyter_codeagent.history import RunFilter
from jupyter_codeagent.models.admission import address_to_confirm
from jupyter_codeagent.models.discovery import list_models
from jupyter_codeagent.models.embedded.catalogue_text import format_models
from jupyter_codeagent.models.tokens import find_tokenizer
from jupyter_codeagent.session.prepare import cost_lines
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.tools.ask_model import NAME as ASK_MODEL
from jupyter_codeagent.tools.mcp import target_of
from jupyter_codeagent.tools.tool import stub_line
from jupyter_codeagent.tools.undo import undone_text
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.types.options import RunOptions
from jupyter_codeagent.types.run import AgentRun
from jupyter_codeagent.types.sizes import format_bytes
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.privacy.column_filter import check_columns
from jupyter_codeagent.variables.privacy.sharing.rules import Shared, parse_targets

SUBCOMMANDS: dict[str, str] = {
    "help": "this text",
    "status": "model, sandbox level in force, shared variables, what you have allowed, tokens so far",
    "models [NAME]": "the models that were found, those that could run here, or one of these in detail",
    "use NAME": "take this model from now on",
    "share a,b[c]": "always copy these variables; show these columns again",
    "hide a,b[c,'d e']": "never tell the model of these variables or columns, never copy them",
    "context [question]": "what the model would be told of your variables, with its token cost",
    "history [N|text]": "the last N runs, or those that contain the text",
    "show RUN": "one run with all its steps",
    "fix [CELL]": "repair the last failed cell, or the one with this id or number",
    "refine RUN text": "another version of the run's result, in its place: `refine 3f2a log scale, top 10`",
    "accept RUN": "mark the run's cells as accepted",
    "discard RUN": "remove the run's pending cells",
    "apply RUN": "run the run's code in YOUR kernel, after a yes",
    "tool [add|remove NAME]": "the functions that code may call; `add NAME [auto|ask|deny]` lets it call one, "
    "`undo [RUN]` takes back what the calls of a run did",
    "mcp [add NAME [auto] COMMAND…|URL]": "the MCP servers whose tools code may call; `remove NAME` ends one",
    "pull NAME": "copy a variable of the sandbox into your kernel, as data",
    "undo": "remove the cells of the last run",
    "stop": "stop the run under way",
    "reset": "forget the conversation and the sandbox's variables, take back what you have allowed",
    "doctor": "check model, sandbox and front end",
}


class DebugError(Exception):
    """Carries an error whose whole traceback was asked for with ``--debug``."""


@magics_class
class AgentMagics(Magics):
    """Registered by `%load_ext jupyter_codeagent`."""

    shell: Any

    def __init__(self, shell: Any, session: AgentSession) -> None:
        super().__init__(shell)
        self.session = session
        self.failures = Failures()

    @no_var_expand
    @cell_magic("agent")  # type: ignore[arg-type]
    def agent_cell(self, line: str, cell: str) -> None:
        """Ask the agent; `%agent help` tells the options."""
        options = parse_options(line)
        if not cell.strip():
            print(help_text())
            return
        try:
            self._ask(self._interpolate(cell.strip()), options)
        except CodeAgentError as error:
            if options.debug:
                raise DebugError(str(error)) from error
            raise

    @no_var_expand
    @line_magic("agent")  # type: ignore[arg-type]
    def agent_line(self, line: str) -> None:
        """Subcommands; any other first word is taken as a one-line prompt."""
        word, _, rest = line.strip().partition(" ")
        command = self._commands().get(word)
        if command is not None:
            command(rest.strip())
        elif word:
            self._ask(self._interpolate(line.strip()), RunOptions())
        else:
            print(help_text())

    def remember_failure(self, result: Any) -> None:
        """`post_run_cell` hook: what `%agent fix` can repair."""
        if not result.info.store_history:
            return  # a front end asks for something: no cell of the user's
        error = result.error_in_exec or result.error_before_exec
        source = getattr(result.info, "raw_cell", "") or ""
        cell = find_cell_origin(self.shell).cell_id
        if error is None:
            self.failures.forget(cell, source)
        elif not source.lstrip().startswith(("%%agent", "%agent")):
            text = f"{type(error).__name__}: {error}"
            self.failures.remember(cell, Failure(source=source, error=text, count=result.execution_count))

    # --- asking -------------------------------------------------------------------------------------

    def _ask(self, prompt: str, options: RunOptions, cell_id: str | None = None) -> None:
        """`cell_id`: of the question, if it is another than the cell that is running."""
        place = find_cell_origin(self.shell)
        if cell_id is not None:
            place = replace(place, cell_id=cell_id)
        if options.dry_run:
            print(self._dry_run(prompt, options, place))
            return
        self.session.run(prompt, options, place, self._display(options, place))

    def _interpolate(self, prompt: str) -> str:
        """Replace each ``{{expr}}`` by the text of its value in the live kernel."""
        values = {}
        for expression in find_expressions(prompt):
            try:
                values[expression] = str(self.session.live.evaluate(expression))
            except Exception as error:
                raise UsageError(
                    f"{{{{{expression}}}}} in the prompt failed, nothing was sent: {type(error).__name__}: {error}"
                ) from error
        return fill(prompt, values)

    def _display(self, options: RunOptions, place: CellOrigin) -> CellDisplay:
        if options.json:
            return JsonDisplay()
        return NotebookDisplay(self.session.has_panel) if place.has_kernel else TerminalDisplay()

    def _dry_run(self, prompt: str, options: RunOptions, place: CellOrigin) -> str:
        prepared = self.session.prepare(prompt, options, place)
        request, manifest = prepared.run.request, prepared.run.manifest
        sent = [f"--- {message.role}\n{message.content}" for message in prepared.messages]
        tokenizer = find_tokenizer(prepared.endpoint, sends=False)
        tokens = str(self.session.live_context.counter.count("\n".join(sent), tokenizer))
        copied = [
            f"  {c.name}: {c.type_name}, {format_bytes(c.size_bytes)}{f' ({c.note})' if c.note else ''}"
            for c in manifest.copied
        ]
        asks = address_to_confirm(prepared.endpoint, prepared.settings.model)
        reads = [file.path for c in manifest.copied for file in c.reads]
        copied += [f"  would ask whether the sandbox may read {path}" for path in reads]
        skipped = [f"  {s.name}: not copied, {s.reason}" for s in manifest.skipped]
        return "\n".join(
            [
                f"Dry run: nothing was sent or run. To {request.model} would go {tokens}, at "
                f"{request.server} ({'REMOTE' if request.remote else 'on this machine'}):",
                *([f"  would ask first whether prompts may go to {asks}"] if asks else []),
                *sent,
                "--- cost",
                *cost_lines(prepared.told),
                "--- copies for the sandbox",
                *(copied or ["  none"]),
                *skipped,
            ]
        )

    # --- subcommands --------------------------------------------------------------------------------

    def _commands(self) -> dict[str, Callable[[str], None]]:
        return {
            "help": lambda _: print(help_text()),
            "status": lambda _: print(self._status()),
            "models": lambda name: print(self._models(name)),
            "use": self._use,
            "share": lambda names: self._set_shared(names, "shared"),
            "hide": lambda names: self._set_shared(names, "hidden"),
            "context": lambda prompt: print(self._context(prompt)),
            "history": lambda text: print(self._history(text)),
            "show": lambda run: print(self._show(run)),
            "fix": self._fix,
            "refine": self._refine,
            "accept": lambda run: self._mark(run, "accepted"),
            "discard": lambda run: self._mark(run, "discarded"),
            "apply": self._apply,
            "tool": self._tool,
            "mcp": self._mcp,
            "pull": self._pull,
            "undo": lambda _: self._mark("", "discarded"),
            "stop": lambda _: print("Stopping." if self.session.stop() else "Nothing is running."),
            "reset": lambda _: self._reset(),
            "doctor": lambda _: self._doctor(),
            RECORDED: self._recorded,
        }

    def _status(self) -> str:
        session = self.session
        settings = session.settings()
        usage = session.book.usage
        shared = self._shared_text()
        return "\n".join(
            [
                f"model: {doctor.endpoint_text(session.find_model(settings))}",
                *status_text(session.sandbox_status),
                f"approve: {settings.approve} · privacy: {settings.privacy} · steps: {settings.max_steps}",
                f"variables: {shared or 'chosen for each prompt'}",
                *(
                    f"allowed until you reset or the kernel ends: {grant_text(grant)}"
                    for grant in session.grants.all
                ),
                f"panel: {'linked' if session.link is not None and session.link.is_open else 'not linked'}",
                f"tokens so far: {usage.prompt_tokens} in ({usage.cached_tokens} cached), "
                f"{usage.completion_tokens} out",
            ]
        )

    def _use(self, name: str) -> None:
        if not name:
            raise UsageError("%agent use NAME: give the model's name; `%agent models` lists them.")
        self.session.config.model = name
        print(f"model: {doctor.endpoint_text(self.session.find_model(self.session.settings()))}")

    def _set_shared(self, names: str, how: Shared) -> None:
        targets = parse_targets(names)
        for name, labels in targets:
            if name not in self.shell.user_ns:
                raise UsageError(f"There is no variable {name!r} in this notebook.")
            check_columns(name, self.shell.user_ns[name], labels - self.session.hiding.hidden_of(name))
        for name, labels in targets:
            if labels:
                self.session.hiding.share_columns(name, labels, how)
            else:
                self.session.hiding.share(name, how)
        self.session.shown.switched()
        print(self._shared_text())

    def _shared_text(self) -> str:
        hiding = self.session.hiding
        variables = [f"{name}: {how}" for name, how in hiding.shared.items() if how != "auto"]
        columns = [
            f"{name}[{', '.join(map(repr, sorted(labels)))}]: hidden"
            for name, labels in hiding.hidden_columns.items()
        ]
        return ", ".join([*variables, *columns])

    def _context(self, prompt: str) -> str:
        told = self.session.live_context.of_prompt(prompt, self.session.settings())
        return "\n".join([told.context.text or "There are no variables to tell of.", "", *cost_lines(told)])

    def _history(self, text: str) -> str:
        count = int(text) if text.isdigit() else 10
        total, rows = self.session.book.history.search(RunFilter(text="" if text.isdigit() else text), limit=count)
        lines = [f"{row.id}  {row.status:<9} {row.cell_state:<9} {row.model}  {row.prompt[:80]!r}" for row in rows]
        return "\n".join([*lines, f"{len(rows)} of {total} runs"])

    def _show(self, run_id: str) -> str:
        run = self.session.book.find(run_id)
        return "\n".join([run.request.prompt, whole_receipt_text(run), *([run.answer] if run.answer else [])])

    def _fix(self, cell: str) -> None:
        failure = self.failures.find(cell)
        error = self.session.masked_error(failure.error)
        self._ask(
            f"This code failed with {error}\n```python\n{failure.source}\n```\nWrite it corrected.", RunOptions()
        )

    def _refine(self, words: str) -> None:
        run_id, _, refinement = words.partition(" ")
        if not refinement.strip():
            raise UsageError("%agent refine RUN text: say what is to be different, such as `top 10, log scale`.")
        known, options = self.session.refining(run_id, refinement.strip())
        prompt = f"{known.request.prompt}\n{self._interpolate(options.refinement)}"
        self._ask(prompt, options, known.request.cell_id)

    def _mark(self, run_id: str, state: Literal["accepted", "discarded"]) -> None:
        run = self.session.book.find(run_id)
        count = self.session.results.mark(run, state, find_cell_origin(self.shell))
        print(f"run {run.id}: {state}, {count} cells")

    def _apply(self, run_id: str) -> None:
        run: AgentRun = self.session.book.find(run_id)
        self.session.results.apply(run, find_cell_origin(self.shell))

    def _tool(self, words: str) -> None:
        match words.split():
            case []:
                pass
            case ["add", name, *policies] if len(policies) <= 1:
                policy = cast("ToolPolicy", policies[0] if policies else "ask")
                if name == ASK_MODEL and name not in self.shell.user_ns:
                    self.session.add_subquestions(policy)
                else:
                    self.session.add_tool(name, self._function(name), policy)
            case ["remove", name]:
                self.session.remove_tool(name)
            case ["undo", *ids] if len(ids) <= 1:
                print(undone_text(self.session.undo_calls(ids[0] if ids else "")))
                return
            case _:
                raise UsageError(
                    "%agent tool, %agent tool add NAME [auto|ask|deny], %agent tool remove NAME, or "
                    "%agent tool undo [RUN]."
                )
        lines = [f"{tool.stub.policy:<5} {stub_line(tool.stub)}" for tool in self.session.all_tools().values()]
        print(
            "\n".join(lines) or "Code may call none of your functions; `@agent_tool` or `%agent tool add` lets it."
        )

    def _mcp(self, words: str) -> None:
        servers = self.session.servers
        command, _, rest = words.partition(" ")
        name, _, target = rest.strip().partition(" ")
        if command == "add":
            word, _, further = target.strip().partition(" ")
            policy: ToolPolicy = "ask"
            if word in get_args(ToolPolicy):
                policy, target = cast("ToolPolicy", word), further
            self.session.add_server(name, target_of(target), policy)
        elif command == "remove":
            self.session.remove_server(name)
        elif command:
            raise UsageError("%agent mcp, %agent mcp add NAME [auto] COMMAND…|URL, or %agent mcp remove NAME.")
        for server in servers.servers.values():
            print(f"{server.name}: {f'{len(server.tools)} functions' if server.is_there else 'gone'}")
            for tool in server.tools.values():
                print(f"  {tool.stub.policy:<5} {stub_line(tool.stub)}")
            for why in server.left_out:
                print(f"  left out: {why}")

    def _function(self, name: str) -> object:
        if name not in self.shell.user_ns:
            raise UsageError(f"There is no function {name!r} in this notebook.")
        return self.shell.user_ns[name]

    def _pull(self, name: str) -> None:
        if not name.isidentifier():
            raise UsageError("%agent pull NAME: give the name of one variable of the sandbox.")
        [returned] = self.session.results.bring_back([name], find_cell_origin(self.shell))
        print("\n".join([f"{name}: {returned.what} copied into your kernel", *returned.notes]))

    def _recorded(self, run_id: str) -> None:
        run = self.session.book.find(run_id)
        show_outputs(run.outputs)
        print(recorded_note(run), file=sys.stderr)

    def _reset(self) -> None:
        self.session.reset()
        print(
            "The conversation and the sandbox's variables are forgotten; what you had allowed is asked for again."
        )

    def _doctor(self) -> None:
        checks = self.session.background.run(doctor.run_checks(self.session.settings()))
        print(doctor.checks_text(checks))

    def _models(self, name: str) -> str:
        settings = self.session.settings().model
        if name:
            return format_models(settings, name)
        found = self.session.background.run(list_models(settings, os.environ))
        return f"{doctor.models_text(found)}\n\n{format_models(settings)}"


def help_text() -> str:
    """Options and subcommands on one screen."""
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
            "  %agent any other words are taken as a one-line prompt",
        ]
    )
