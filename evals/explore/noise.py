"""Tables in which nothing depends on anything: `noise_cases()`, or more of them with `noise_cases(count, seed)`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeAlias

import numpy as np
import numpy.typing as npt
import pandas as pd

from evals.explore.case import Case
from evals.explore.draws import Rng, blank, codes, days, levels, moments, numbered, some, steps_of

SEED = 3301
WALK = "level"  # a random walk, in the first table only

Column: TypeAlias = pd.Series | pd.DatetimeIndex | npt.NDArray[np.generic] | list[str]
Make: TypeAlias = Callable[[Rng, int], Column]

NUMBERS: dict[str, Make] = {
    "amount": lambda rng, n: np.round(rng.lognormal(3.8, 0.9, n), 2),
    "weight": lambda rng, n: np.round(rng.normal(74, 12, n), 1),
    "visits": lambda rng, n: rng.poisson(2.4, n),
    "errors": lambda rng, n: rng.negative_binomial(1, 0.3, n),
    "waiting": lambda rng, n: np.round(rng.exponential(19, n), 1),
    "share": lambda rng, n: np.round(rng.beta(2, 5, n), 3),
    "score": lambda rng, n: rng.integers(0, 101, n),
    "age": lambda rng, n: np.round(rng.normal(44, 14, n)).clip(18, 90).astype(int),
    "rating": lambda rng, n: steps_of(rng.normal(size=n), (4, 8, 18, 40, 30)),
    "dose": lambda rng, n: rng.choice([5, 10, 20, 40], n, p=[0.4, 0.3, 0.2, 0.1]),
    "temperature": lambda rng, n: np.round(rng.normal(21, 2.5, n), 1),
    "length": lambda rng, n: np.round(rng.gamma(2.5, 12, n), 1),
    "answer_time": lambda rng, n: blank(np.round(rng.lognormal(1.1, 0.5, n), 2), some(rng, n, 0.05)),
    "price": lambda rng, n: np.round(rng.lognormal(2.9, 0.4, n), 2),
}
WORDS: dict[str, Make] = {
    "region": lambda rng, n: levels(rng, n, {"north": 34, "south": 31, "east": 21, "west": 14}),
    "channel": lambda rng, n: levels(rng, n, {"web": 62, "phone": 25, "shop": 13}),
    "sex": lambda rng, n: levels(rng, n, {"f": 52, "m": 48}),
    "plan": lambda rng, n: levels(rng, n, {"basic": 71, "plus": 22, "pro": 7}),
    "colour": lambda rng, n: levels(rng, n, {"white": 30, "black": 28, "blue": 19, "red": 14, "green": 9}),
    "active": lambda rng, n: levels(rng, n, {"yes": 86, "no": 14}),
    "team": lambda rng, n: levels(rng, n, {f"team {at}": at + 2 for at in range(1, 9)}),
    "comment_left": lambda rng, n: blank(levels(rng, n, {"no": 60, "yes": 40}), some(rng, n, 0.08)),
    "batch": lambda rng, n: codes(rng, n, "B{:02d}", 25),
}


def noise_table(rng: Rng, walk: bool = False) -> pd.DataFrame:
    """Return a table of independent columns; its rows are in order of time where it has a time."""
    n = int(rng.integers(500, 4001))
    columns: dict[str, Column] = {"id": numbered(rng, n, "R{:06d}", 40_001)}
    with_time = walk or rng.random() < 0.7
    if with_time:
        columns["recorded"] = (moments if rng.random() < 0.4 else days)(rng, n, "2022-03-01", 360)
    for pool, least, most in ((NUMBERS, 4, 8), (WORDS, 2, 6)):
        chosen = rng.choice(list(pool), int(rng.integers(least, most + 1)), replace=False)
        columns |= {str(name): pool[str(name)](rng, n) for name in chosen}
    if walk:
        columns[WALK] = np.round(100 + np.cumsum(rng.normal(size=n)), 2)
    if rng.random() < 0.4:
        columns["source"] = ["export"] * n
    return pd.DataFrame(columns)


def noise_cases(count: int = 10, seed: int = SEED) -> list[Case]:
    """Return cases of one table of noise each, the first with a random walk over time."""
    rng = np.random.default_rng(seed)
    return [Case(f"noise_{at}", {f"noise_{at}": noise_table(rng, walk=at == 0)}) for at in range(count)]
