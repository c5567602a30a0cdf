"""Distributions agree with those of SciPy, down to small p-values."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from jupyter_codeagent.sandbox.guest.exploration import statistics


@pytest.mark.parametrize("freedom", [1, 2, 5, 30, 200])
@pytest.mark.parametrize("times", [0.5, 1, 2, 5, 20])
def test_chi_square(freedom: int, times: float) -> None:
    value = freedom * times
    assert statistics.chi_square_p(value, freedom) == pytest.approx(stats.chi2.sf(value, freedom), rel=1e-6)


@pytest.mark.parametrize(("above", "below"), [(1, 5), (1, 5000), (4, 40), (11, 100000), (2.5, 7.5)])
@pytest.mark.parametrize("value", [0.3, 1, 3, 10, 60])
def test_f_and_t(above: float, below: float, value: float) -> None:
    assert statistics.f_p(value, above, below) == pytest.approx(stats.f.sf(value, above, below), rel=1e-6)
    assert statistics.t_p(value, below) == pytest.approx(2 * stats.t.sf(value, below), rel=1e-6)


def test_ranks_and_correlations() -> None:
    random = np.random.default_rng(2)
    x, y = random.integers(0, 9, 300).astype(float), random.normal(size=300)
    assert statistics.average_ranks(x) == pytest.approx(stats.rankdata(x))
    ours = statistics.standardize(statistics.average_ranks(x)) @ statistics.standardize(statistics.average_ranks(y))
    expected = stats.spearmanr(x, y)
    assert ours / 300 == pytest.approx(expected.statistic)
    assert statistics.correlation_p(ours / 300, 300) == pytest.approx(expected.pvalue)
    with_holes = statistics.average_ranks(np.array([3.0, np.nan, 1.0, 3.0]))
    assert with_holes == pytest.approx(np.array([2.5, np.nan, 1.0, 2.5]), nan_ok=True)


def test_small_numbers_do_not_fail() -> None:
    assert statistics.chi_square_p(1e6, 3) == 0
    assert statistics.correlation_p(1.0, 1000) < 1e-300
    assert statistics.correlation_p(0.9, 3) == 1
