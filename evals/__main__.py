"""``python -m evals own|fresh|analysts|kpi|tools|dabench|report|rules|peers``: docs/evals.md.

Results: build/evals/LABEL.jsonl, .md, .png.
"""

from __future__ import annotations

import argparse
import asyncio
import os
import re
import sys
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

from tqdm import tqdm

from evals import ablations
from evals.databases import NAME, asked_of_databases
from evals.measure import measure
from evals.report import plot, table
from evals.results import FOLDER, ResultFile, TaskResult
from evals.rule_counts import rules_table
from evals.suites import analysts, kpi, tool_tasks
from evals.suites.dabench import dabench_tasks
from evals.suites.own import fresh, own_tasks
from evals.systems.answer import System
from evals.systems.ours import Ours
from evals.systems.peer import INSTALLED, WORKERS, Peer, install
from evals.task import Task
from jupyter_codeagent.models.embedded.launcher import TRANSPORT_VARIABLE, RunningServer, start_embedded
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.embedded import is_embedded

SUITES = ("own", "fresh", "analysts", "kpi", "tools", "dabench")


def main() -> None:
    options = _parsed(sys.argv[1:])
    results = ResultFile(options.label)
    if options.what == "rules":
        print(rules_table([found for label in options.labels or ["latest"] for found in ResultFile(label).read()]))
        return
    if options.what == "peers":
        for name in INSTALLED:
            print(f"installing {name} …", file=sys.stderr)
            install(name)
        return
    if options.what != "report":
        tasks = chosen(_tasks(options), options.only, options.every, options.first)
        server = _server(options)
        for name in options.systems:
            with closing(_system(name, server, options)) as system:
                _measure(options.what, tasks, system, results)
    found = results.read()
    if not found:
        raise SystemExit(f"There are no results in {results.path} yet.")
    text = table(found)
    print(text)
    (FOLDER / f"{options.label}.md").write_text(text + "\n", encoding="utf-8")
    plot(found, FOLDER / f"{options.label}.png")


def _measure(suite: str, tasks: Sequence[Task], system: System, results: ResultFile) -> None:
    done = sum((found.suite, found.system) == (suite, system.name) for found in results.read())
    right = 0
    with tqdm(total=len(tasks), initial=min(done, len(tasks)), desc=f"{suite}: {system.name}", unit="task") as bar:

        def tell(result: TaskResult) -> None:
            nonlocal right
            right += result.right
            bar.set_postfix(right=right, last=f"{result.task} {'right' if result.right else 'wrong'}")
            bar.update()

        measure(suite, tasks, system, results, tell)


def _parsed(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m evals", description=__doc__)
    parser.add_argument("what", choices=[*SUITES, "report", "rules", "peers"])
    parser.add_argument("labels", nargs="*", help="of the results whose rules are counted; rules only")
    parser.add_argument("--systems", default="ours", help="any of ours," + ",".join(WORKERS))
    parser.add_argument("--folder", type=Path, help="of the public benchmark; dabench only")
    parser.add_argument("--third", choices=analysts.THIRDS, default="dev", help="of the sets; analysts only")
    parser.add_argument("--wording", choices=analysts.WORDINGS, default="careful", help="analysts only")
    parser.add_argument("--database", action="store_true", help="ask DuckDB; first questions of own, fresh, kpi")
    parser.add_argument("--candidates", type=int, default=1, help="of ours")
    parser.add_argument(
        "--without", default="", help="techniques and rules to take out of ours, to see what they are worth"
    )
    parser.add_argument(
        "--replies", type=Path, help="keep replies to ours in this file and give them again (evals/kept_replies.py)"
    )
    parser.add_argument("--base-url", default="", help="of another server than the embedded one, with --model")
    parser.add_argument("--model", default="", help="its name there (key: CODEAGENT_API_KEY), or embedded:NAME")
    parser.add_argument("--only", default="", help="a regular expression for ids of tasks")
    parser.add_argument("--every", type=int, default=1, help="each K-th task only")
    parser.add_argument("--first", type=int, default=0, help="of these, with which to begin: --every 2 --first 1")
    parser.add_argument(
        "--label", default="latest", help="name of the results; the same name goes on where it stopped"
    )
    options = parser.parse_args(arguments)
    options.systems = options.systems.split(",")
    options.without = [technique for technique in options.without.split(",") if technique]
    if unknown := [name for name in options.without if name not in ablations.names()]:
        parser.error(f"--without {','.join(unknown)}: known are {', '.join(ablations.names())}")
    if options.labels and options.what != "rules":
        parser.error(f"{' '.join(options.labels)}: labels follow `rules` only")
    if options.what == "dabench" and options.folder is None:
        parser.error("dabench needs --folder: the benchmark's data may not be shipped with this project")
    if bool(options.base_url) != bool(options.model and not is_embedded(options.model)):
        parser.error("--base-url and --model belong together; without a server the model is embedded:NAME")
    return options


def _tasks(options: argparse.Namespace) -> Sequence[Task]:
    if options.what == "dabench":
        return dabench_tasks(options.folder)
    if options.what == "analysts":
        return analysts.analyst_tasks(options.third, options.wording)
    suites = {"own": own_tasks(), "fresh": fresh.TASKS, "kpi": kpi.TASKS, "tools": tool_tasks.TASKS}
    return asked_of_databases(suites[options.what]) if options.database else suites[options.what]


def chosen(tasks: Sequence[Task], only: str, every: int, first: int = 0) -> list[Task]:
    return [task for task in tasks if re.search(only, task.id)][first::every]


def _server(options: argparse.Namespace) -> RunningServer:
    """The user's, else the embedded one."""
    if not options.base_url:
        os.environ[TRANSPORT_VARIABLE] = "tcp"  # other systems know no sockets; kernels find the same server
        return asyncio.run(start_embedded(ModelSettings(model=options.model)))
    key = os.environ.get("CODEAGENT_API_KEY", "none")
    return RunningServer(base_url=options.base_url, api_key=key, model=options.model, pid=0)


def _system(name: str, server: RunningServer, options: argparse.Namespace) -> System:
    if name == "ours":
        directory = FOLDER / "kernel"
        replies = options.replies and options.replies.resolve()
        return Ours(
            directory.resolve(),
            server,
            candidates=options.candidates,
            without=options.without,
            replies=replies,
            database=NAME if options.database else "",
        )
    if name in WORKERS:
        return Peer(name, server)
    raise SystemExit(f"--systems {name}: known are ours, {', '.join(WORKERS)}")


if __name__ == "__main__":
    main()
