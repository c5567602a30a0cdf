"""All runs in one SQLite file, for the panel, `%agent history` and replays."""

from jupyter_codeagent.history.search import OUTCOMES, RunFilter
from jupyter_codeagent.history.store import HistoryStore, RunRow

__all__ = ["OUTCOMES", "HistoryStore", "RunFilter", "RunRow"]
