"""All runs in one SQLite file, for the panel, `%agent history` and replays."""

from jupyter_codeagent.history.search import OUTCOMES, Outcome, Overview, RunFilter
from jupyter_codeagent.history.store import CellDecision, HistoryStore, RunRow, default_history_path

__all__ = [
    "OUTCOMES",
    "CellDecision",
    "HistoryStore",
    "Outcome",
    "Overview",
    "RunFilter",
    "RunRow",
    "default_history_path",
]
