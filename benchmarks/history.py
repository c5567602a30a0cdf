"""The history with 10,000 runs: what the server needs to list, search and count them."""

from __future__ import annotations

import random
import statistics
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from jupyter_codeagent.history import HistoryStore, RunFilter
from jupyter_codeagent.types.messages import Message, Usage
from jupyter_codeagent.types.run import AgentRequest, AgentRun, CellState, RunStatus, Step
from jupyter_codeagent.types.sandbox import ExecutionResult, StreamOutput

RUNS = 10_000
ROUNDS = 9
NOTEBOOKS = 60
MODELS = ("qwen2.5-coder:7b", "qwen2.5-coder:1.5b", "llama3.1:8b", "gpt-4o-mini")
STATUSES: tuple[RunStatus, ...] = ("ok",) * 8 + ("failed", "stopped")
STATES: tuple[CellState, ...] = ("accepted", "accepted", "edited", "discarded", "pending")
WORDS = (
    *(
        "carrier",
        "delay",
        "flights",
        "airport",
        "average",
        "weekday",
        "month",
        "price",
        "volume",
        "region",
        "store",
    ),
    *("median", "growth", "share", "plot", "table", "join", "group", "count", "missing", "outlier", "forecast"),
    *("seasonal", "revenue", "customer", "churn", "cohort", "weather", "temperature"),
)


def run() -> dict[str, Any]:
    """Milliseconds of the store alone; the panel asks for an overview and a page of 50 lines at once."""
    with tempfile.TemporaryDirectory() as directory:
        store = HistoryStore(Path(directory) / "history.sqlite")
        seed(store)
        wanted = {
            "everything": RunFilter(),
            "frequent_word": RunFilter(text="carrier"),
            "rare_word": RunFilter(text="#4711"),
            "absent_word": RunFilter(text="xyzzy"),
            "notebook": RunFilter(notebooks=("work/project-1/analysis-1.ipynb",)),
        }
        figures = {
            "runs": RUNS,
            "page_ms": {name: _milliseconds(partial(store.search, one)) for name, one in wanted.items()},
            "overview_ms": {name: _milliseconds(partial(store.overview, one)) for name, one in wanted.items()},
            "size_mb": store.path.stat().st_size / 1e6,
        }
        store.close()
    return figures


def seed(store: HistoryStore, count: int = RUNS, now: float = 1_790_000_000.0) -> None:
    """Fill an empty history: prompts of a line, programs of 20 to 60 lines, one or two steps, over 18 months."""
    pick = random.Random(5)
    for number in range(count):
        store.save(example(number, pick, now - (count - number) * 4700), session=f"kernel-{number % 200}")


def example(number: int, pick: random.Random, started_at: float) -> AgentRun:
    words = pick.sample(WORDS, 5)
    prompt = (
        f"For each {words[0]}, what is the {words[1]} of the {words[2]}, and which {words[3]} stands out? #{number}"
    )
    code = "\n".join(
        f"{pick.choice(WORDS)}_{line} = df[{pick.choice(WORDS)!r}].groupby({pick.choice(WORDS)!r}).mean()"
        for line in range(pick.randint(20, 60))
    )
    status = pick.choice(STATUSES)
    printed: StreamOutput = {"output_type": "stream", "name": "stdout", "text": "value  0.5\n" * 20}
    messages = (
        Message(role="system", content="You write Python. " * 60),
        Message(role="user", content=f"df: DataFrame 336776x19\n{prompt}"),
    )
    steps = tuple(
        Step(
            index=index,
            messages=messages,
            reply=f"```python\n{code}\n```",
            code=code if index == 1 else code + "\nprint(df)",
            result=ExecutionResult(status="ok", outputs=(printed,), duration_s=0.8),
            usage=Usage(prompt_tokens=900, completion_tokens=400, calls=1),
            duration_s=4.2,
        )
        for index in range(1, 1 + pick.choice((1, 1, 1, 2)))
    )
    return AgentRun(
        id=f"{number:08x}{pick.getrandbits(32):08x}",
        request=AgentRequest(
            prompt=prompt,
            model=pick.choice(MODELS),
            server="127.0.0.1:11434",
            cell_id=f"cell-{number % 700}",
            notebook=f"work/project-{number % 7}/analysis-{number % NOTEBOOKS}.ipynb",
        ),
        status=status,
        started_at=started_at,
        ended_at=started_at + 5.3,
        steps=steps,
        context="df: DataFrame 336776x19",
        sandbox="bubblewrap, no network",
        code=code if status == "ok" else "",
        outputs=(printed,),
        answer=f"The {words[3]} {words[4]} stands out with 17.3." if status == "ok" else "",
        error="" if status == "ok" else f"{status.capitalize()}: the code raised KeyError('{words[0]}').",
        usage=Usage(prompt_tokens=900 * len(steps), completion_tokens=400 * len(steps), calls=len(steps)),
        cell_state=pick.choice(STATES) if status == "ok" else "pending",
    )


def _milliseconds(act: Callable[[], Any]) -> float:
    """Median of some rounds, the first not counted."""
    act()
    times = []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        act()
        times.append((time.perf_counter() - started) * 1000)
    return statistics.median(times)
