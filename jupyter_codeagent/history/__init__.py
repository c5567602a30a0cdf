"""Every run, whole, in one SQLite file: what the panel lists, `%agent history` prints and a replay reads."""

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
