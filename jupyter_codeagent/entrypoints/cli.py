"""`jupyter codeagent run | ask | explore | report | mcp | pod | doctor | models | history`; status 0 on success."""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from jupyter_codeagent.entrypoints.data_files import READERS, notebook_of, variable_names
from jupyter_codeagent.types.errors import CodeAgentError, UsageError
from jupyter_codeagent.types.visible_code import visible_code


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the console script; return the exit status."""
    options = build_parser().parse_args(arguments)
    try:
        status = int(options.command(options))
        sys.stdout.flush()
    except BrokenPipeError:  # as of `… history | head`; what is still in the buffer would fail again at the end
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except CodeAgentError as error:
        if getattr(options, "debug", False):
            raise
        print(error.line, file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("Stopped.", file=sys.stderr)
        return 130
    return status


def build_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="jupyter codeagent", description=__doc__)
    parser.add_argument("--debug", action="store_true", help="show the whole traceback of an error")
    commands = parser.add_subparsers(required=True, metavar="COMMAND")

    run = commands.add_parser("run", help="execute a notebook with its %%%%agent cells")
    run.add_argument("notebook", type=Path, help="notebook to execute; it is not changed")
    run.add_argument("-o", "--output", type=Path, required=True, help="file for the executed notebook")
    _add_servers(run)
    run.set_defaults(command=run_command)

    ask = commands.add_parser("ask", help="ask a question about data files")
    ask.add_argument("question", help="in plain words, as one argument")
    ask.add_argument("files", nargs="+", type=Path, help=f"data files: {', '.join(READERS)}")
    ask.add_argument("-o", "--output", type=Path, required=True, help="file for the new notebook")
    _add_servers(ask)
    ask.set_defaults(command=ask_command)

    explore = commands.add_parser("explore", help="find what is worth knowing about data files, without a model")
    explore.add_argument("files", nargs="+", type=Path, help=f"data files: {', '.join(READERS)}")
    explore.add_argument("-o", "--output", type=Path, required=True, help="file for the new notebook")
    explore.add_argument("--goal", default="", help="your question in words: findings on what it names come first")
    explore.add_argument("--minutes", default="2", help="time limit in minutes (2)")
    explore.set_defaults(command=explore_command)

    report = commands.add_parser("report", help="make one page of the accepted results of a notebook")
    report.add_argument("notebook", type=Path, help="the saved notebook")
    report.add_argument("-o", "--output", type=Path, required=True, help="FILE.html, FILE.md or FILE.qmd")
    report.add_argument("--title", default="", help="title of the page (the notebook's first heading)")
    report.add_argument("--overwrite", action="store_true", help="replace a file that is not an earlier report")
    report.set_defaults(command=report_command)

    mcp = commands.add_parser("mcp", help="let MCP clients run programs on copies of a kernel's variables")
    mcp.add_argument(
        "notebook", nargs="?", default="", help="notebook whose kernel is used (the only one that is running)"
    )
    mcp.add_argument(
        "--kernel", default="", metavar="ID", help="kernel to use: the beginning of its id, or its connection file"
    )
    mcp.add_argument(
        "--server", default="", metavar="URL", help="Jupyter server of the kernel; its token is in JUPYTER_TOKEN"
    )
    mcp.add_argument(
        "--http",
        type=int,
        metavar="PORT",
        help="serve on 127.0.0.1 (0: any port) instead of the standard streams; the token is"
        " taken from CODEAGENT_MCP_TOKEN, or else created and written to a file that only you can read",
    )
    mcp.set_defaults(command=mcp_command)

    _add_pod(commands.add_parser("pod", help="start a sandbox in a Kubernetes Pod, for CodeAgent.sandbox_command"))

    doctor = commands.add_parser("doctor", help="check model, sandbox and front end")
    doctor.add_argument(
        "--details", action="store_true", help="also show what was measured in the sandbox, layer by layer"
    )
    doctor.set_defaults(command=doctor_command)

    models = commands.add_parser(
        "models", help="list the models that were found and those that could run here, or fetch one"
    )
    models.add_argument(
        "action",
        nargs="?",
        choices=["list", "fetch", "stop", "serve"],
        default="list",
        help="stop: stop embedded models; serve: run one server for all users of this machine (docs/hub.md)",
    )
    models.add_argument("name", nargs="?", default="", help="a model of the catalogue, for list, fetch and serve")
    models.add_argument("--port", type=int, default=0, help="port on 127.0.0.1, for serve")
    models.add_argument(
        "--keys", type=Path, metavar="FILE", help="file with a line USER KEY for each user, for serve"
    )
    models.set_defaults(command=models_command)

    history = commands.add_parser("history", help="list, search, show and export runs")
    history.add_argument("text", nargs="?", default="", help="text to search for in prompts and code")
    history.add_argument("-n", type=int, default=20, help="how many runs (20)")
    history.add_argument("--show", metavar="RUN", help="print one run as JSON")
    history.add_argument("--export", metavar="RUN", help="write one run as a notebook or script")
    history.add_argument("-o", "--output", type=Path, help="file for --export, .ipynb or .py")
    history.set_defaults(command=history_command)
    return parser


def _add_pod(pod: argparse.ArgumentParser) -> None:
    pod.add_argument("manifest", type=Path, help="manifest of the Pod, made from docs/kubernetes/sandbox.yaml")
    pod.add_argument("--kubectl", default="kubectl", metavar="PROGRAM", help="program to use instead of kubectl")
    pod.add_argument(
        "options", nargs=argparse.REMAINDER, help="options for kubectl: --context=NAME --namespace=NAME …"
    )
    pod.set_defaults(command=pod_command)


def _add_servers(command: argparse.ArgumentParser) -> None:
    command.add_argument(
        "--allow-server",
        metavar="URL",
        action="append",
        default=[],
        help="a model server that the notebook may use without asking you; can be given several times",
    )


def run_command(options: argparse.Namespace) -> int:
    """Execute in.ipynb into out.ipynb."""
    import nbformat

    try:
        notebook = nbformat.read(options.notebook, as_version=4)
    except (OSError, ValueError) as error:
        raise UsageError(f"{options.notebook} cannot be read as a notebook: {error}") from error
    directory, name = options.notebook.resolve().parent, options.notebook.name
    return _execute(notebook, options.output, directory, name, options.allow_server)


def ask_command(options: argparse.Namespace) -> int:
    """Execute a notebook that loads the files and asks the question; print what it shows."""
    from jupyter_codeagent.entrypoints.headless import displayed_text

    notebook = notebook_of(options.files, f"%%agent\n{options.question}")
    status = _execute(notebook, options.output, Path.cwd(), options.output.name, options.allow_server)
    print(visible_code(displayed_text(notebook.cells[1:])))
    return status


def pod_command(options: argparse.Namespace) -> int:
    """Carry the messages of a sandbox to a Pod and back; the standard streams are the client's."""
    from jupyter_codeagent.sandbox.remote.kubectl import run_pod

    return run_pod(options.manifest, program=options.kubectl, options=options.options)


def explore_command(options: argparse.Namespace) -> int:
    """Execute a notebook that loads the files and explores them."""
    names = variable_names(options.files)
    goal = ["--goal", options.goal] if options.goal else []
    line = shlex.join(["%agent", "explore", *names, *goal, "--minutes", options.minutes])
    notebook = notebook_of(options.files, line)
    return _execute(notebook, options.output, Path.cwd(), options.output.name, [])


def report_command(options: argparse.Namespace) -> int:
    """Write a report of a notebook; without a kernel, so that nothing is run again."""
    import time
    from dataclasses import replace

    from jupyter_codeagent.history import HistoryStore
    from jupyter_codeagent.report.build import build_report
    from jupyter_codeagent.report.notebook_file import read_saved, with_decisions
    from jupyter_codeagent.report.output_file import check_output, write_report
    from jupyter_codeagent.report.page import report_text
    from jupyter_codeagent.report.report import summary
    from jupyter_codeagent.settings.enforcement import check_switched_on

    settings = _settings()
    check_switched_on(settings, "reports", "jupyter codeagent report")
    check_output(options.output, overwrite=options.overwrite)
    history = HistoryStore()
    try:
        saved = with_decisions(read_saved(options.notebook, history))
    finally:
        history.close()
    report = build_report(saved, title=options.title, output=options.output, now=time.time())
    report = replace(report, not_rerun="made by the command line, which has no kernel")
    write_report(options.output, report_text(report, options.output.suffix))
    _progress(f"{summary(report)}\nwrote {options.output}")
    return 0


def mcp_command(options: argparse.Namespace) -> int:
    """Serve MCP clients until they, or Ctrl+C, end it."""
    from jupyter_codeagent.tools.mcp import NOT_INSTALLED

    try:
        from jupyter_codeagent.entrypoints.mcp_server.command import serve
    except ImportError as problem:
        raise UsageError(f"{NOT_INSTALLED} ({problem})") from problem
    from jupyter_codeagent.entrypoints.kernel_clients.running_kernels import WantedKernel

    wanted = WantedKernel(notebook=options.notebook, kernel=options.kernel, server=options.server)
    serve(wanted, options.http, _progress)
    return 0


def _execute(notebook: Any, output: Path, directory: Path, name: str, servers: Sequence[str]) -> int:
    import nbformat

    from jupyter_codeagent.entrypoints.headless import run_notebook

    problem = run_notebook(notebook, directory=directory, name=name, report=_progress, servers=_origins_of(servers))
    nbformat.validate(notebook)
    output.parent.mkdir(parents=True, exist_ok=True)
    partial = output.with_name(f".{output.name}.partial")
    nbformat.write(notebook, partial)
    os.replace(partial, output)
    if problem:
        _progress(f"{problem}\nThe notebook as far as it came: {output}")
        return 1
    _progress(f"wrote {output}")
    return 0


def _origins_of(servers: Sequence[str]) -> list[str]:
    """Return the origins of these addresses; raise UsageError for one that is not an address."""
    from jupyter_codeagent.models.endpoint import origin

    return [origin(server) for server in servers]


def doctor_command(options: argparse.Namespace) -> int:
    """Print each check as soon as it is done; return 1 if a run would fail."""
    from jupyter_codeagent.entrypoints import doctor

    def show(check: doctor.Check) -> None:
        if options.details or not check.is_detail:
            print(visible_code(doctor.check_lines(check, details=options.details)), flush=True)

    checks = asyncio.run(doctor.run_checks(_settings(), show))
    print(doctor.next_text(checks))
    return 1 if any(check.state == "NOT OK" for check in checks) else 0


def models_command(options: argparse.Namespace) -> int:
    """List models, fetch the weights of one, serve one to all users, or stop the servers of those that run here."""
    actions = {"list": _list_models, "fetch": _fetch_model, "serve": _serve_model, "stop": _stop_models}
    actions[options.action](options)
    return 0


def _list_models(options: argparse.Namespace) -> None:
    from jupyter_codeagent.entrypoints import doctor
    from jupyter_codeagent.models.discovery import list_models
    from jupyter_codeagent.models.embedded.catalogue_text import format_models

    settings = _settings().model
    if not options.name:
        print(f"{doctor.models_text(asyncio.run(list_models(settings, os.environ)))}\n")
    print(format_models(settings, options.name))


def _fetch_model(options: argparse.Namespace) -> None:
    from jupyter_codeagent.models.embedded.catalogue import DEFAULT_MODEL, published_weights
    from jupyter_codeagent.models.embedded.catalogue_text import download_warnings
    from jupyter_codeagent.models.embedded.weights import fetch_weights_with_bar
    from jupyter_codeagent.types.embedded import EMBEDDED_PREFIX

    weights = published_weights(options.name.removeprefix(EMBEDDED_PREFIX) or DEFAULT_MODEL)
    for note in download_warnings(weights, _settings().model):
        _progress(note)
    print(fetch_weights_with_bar(weights.model))
    _progress(f"use it: %agent use {EMBEDDED_PREFIX}{weights.model}")


def _serve_model(options: argparse.Namespace) -> None:
    from dataclasses import replace

    from jupyter_codeagent.models.embedded.multi_user_server import serve_shared
    from jupyter_codeagent.types.embedded import EMBEDDED_PREFIX

    if not options.port or options.keys is None:
        raise UsageError("serve needs --port PORT and --keys FILE, with a line USER KEY for each user.")
    settings, name = _settings().model, options.name.removeprefix(EMBEDDED_PREFIX)
    if name:
        settings = replace(settings, model=f"{EMBEDDED_PREFIX}{name}")
    serve_shared(settings, port=options.port, keys_file=options.keys, report=_progress)


def _stop_models(_: argparse.Namespace) -> None:
    from jupyter_codeagent.models.embedded.launcher import stop_embedded

    print("stopped" if stop_embedded() else "the embedded model was not running")


def history_command(options: argparse.Namespace) -> int:
    """List or search runs; `--show` and `--export` take the beginning of a run's id."""
    from jupyter_codeagent.history import HistoryStore, RunFilter
    from jupyter_codeagent.notebook.export import export_notebook, export_script
    from jupyter_codeagent.types.run_json import run_to_json

    store = HistoryStore()
    try:
        if options.show:
            print(json.dumps(run_to_json(store.load(options.show)), indent=1))
        elif options.export:
            if options.output is None or options.output.suffix not in (".ipynb", ".py"):
                raise UsageError("--export needs -o FILE.ipynb or -o FILE.py")
            run = store.load(options.export)
            script = options.output.suffix == ".py"
            options.output.write_text(
                export_script(run) if script else json.dumps(export_notebook(run), indent=1), encoding="utf-8"
            )
            _progress(f"wrote {options.output}")
        else:
            total, rows = store.search(RunFilter(text=options.text), limit=options.n)
            for row in rows:
                print(row.line)
            _progress(f"{len(rows)} of {total} runs")
    finally:
        store.close()
    return 0


def _settings() -> Any:
    """Return the settings of a command: IPython's configuration files as the kernel reads them, then the policy."""
    import warnings

    from IPython.terminal.ipapp import load_default_config

    from jupyter_codeagent.frontend.approvals.grants import Grants
    from jupyter_codeagent.session.settings_in_force import SettingsInForce
    from jupyter_codeagent.settings.config import CodeAgent

    with warnings.catch_warnings():  # IPython has nothing to read then; `doctor` names the home that is read-only
        warnings.filterwarnings("ignore", "IPython (dir|parent) .* is not a writable location", UserWarning)
        config = load_default_config()
    return SettingsInForce(CodeAgent(config=config), Grants())()


def _progress(text: str) -> None:
    print(visible_code(text), file=sys.stderr, flush=True)


if __name__ == "__main__":
    raise SystemExit(main())
