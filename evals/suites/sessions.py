"""Conversations of ten turns, with tables that the user changes and branches: `evals/sessions/README.md`.

``python -m evals.suites.sessions [--folder second] [--only ID] [--label NAME] [--alone]``. Results:
build/evals/LABEL.jsonl, a line for each turn.
"""

from __future__ import annotations

import argparse
import asyncio
from contextlib import closing

from tqdm import tqdm

from evals.results import FOLDER
from evals.sessions.asking import ask_alone, ask_sessions
from evals.sessions.results import AskedTurn, SessionResults, counts
from evals.sessions.session import FOLDER as SESSIONS
from evals.sessions.session import read_sessions
from evals.systems.ours import Ours
from jupyter_codeagent.models.embedded.launcher import start_embedded
from jupyter_codeagent.settings.settings import ModelSettings


def main() -> None:
    """Ask the sessions of the embedded model and print how many turns are right."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--folder", default="", help="a folder of other sessions, inside evals/sessions: second")
    parser.add_argument("--only", default="", metavar="ID", help="one session instead of all")
    parser.add_argument(
        "--label", default="", help="name of the results, else sessions and the folder; goes on where it stopped"
    )
    parser.add_argument(
        "--alone",
        action="store_true",
        help="ask the late turns as first questions, with what they use as variables of the user's",
    )
    parser.add_argument("--model", default="", help="embedded:NAME instead of the embedded model of the settings")
    options = parser.parse_args()
    found = read_sessions(SESSIONS / options.folder)
    sessions = [session for session in found if options.only in ("", session.id)]
    if not found:
        raise SystemExit(f"--folder {options.folder}: there are no sessions.")
    if not sessions:
        known = ", ".join(session.id for session in found)
        raise SystemExit(f"--only {options.only}: there is no such session; there are {known}.")
    results = SessionResults(options.label or "-".join(filter(None, ("sessions", options.folder))))
    server = asyncio.run(start_embedded(ModelSettings(model=options.model)))
    ask = ask_alone if options.alone else ask_sessions
    with closing(Ours((FOLDER / "kernel").resolve(), server)) as ours, tqdm(unit="turn") as bar:

        def tell(asked: AskedTurn) -> None:
            bar.set_postfix(last=f"{asked.session} {asked.turn} {'right' if asked.result.right else 'wrong'}")
            bar.update()

        ask(sessions, ours, results, tell)
    print("\n".join(counts(results.read())))


if __name__ == "__main__":
    main()
