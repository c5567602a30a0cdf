"""The table and the plot of a measurement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from evals.results import TaskResult

HEADINGS = (
    "system",
    "tasks",
    "right",
    "right %",
    "turns right",
    "ran at once %",
    "no code",
    "calls",
    "prompt",
    "of it cached",
    "of later calls %",
    "completion",
    "seconds",
    "retyped",
)


@dataclass(frozen=True, kw_only=True)
class Summary:
    """Means are of one task: all turns, all calls together."""

    suite: str
    system: str
    tasks: int
    right: int
    turns: int
    turns_right: int
    ran_at_once: float
    """Share of turns."""
    parse_failures: int
    calls: float
    prompt_tokens: float
    cached_tokens: float
    later_cached: float | None
    """Share of the prompts of a run's later calls that the server had already; None where there were none."""
    completion_tokens: float
    seconds: float
    retyped: int
    """Turns whose program wrote data down instead of using the frame."""


def summarized(results: Sequence[TaskResult]) -> list[Summary]:
    """One for each suite and system, in the order of appearance."""
    keys = dict.fromkeys((result.suite, result.system) for result in results)
    return [
        _summary(suite, system, [found for found in results if (found.suite, found.system) == (suite, system)])
        for suite, system in keys
    ]


def _summary(suite: str, system: str, results: Sequence[TaskResult]) -> Summary:
    turns = [turn for result in results for turn in result.turns]
    spent, count = [result.spent for result in results], len(results)
    later_prompt = sum(one.later_prompt_tokens for one in spent)
    later_cached = sum(one.later_cached_tokens for one in spent)
    return Summary(
        suite=suite,
        system=system,
        tasks=count,
        right=sum(result.right for result in results),
        turns=len(turns),
        turns_right=sum(turn.right for turn in turns),
        ran_at_once=sum(turn.ran_at_once for turn in turns) / len(turns),
        parse_failures=sum(turn.parse_failures for turn in turns),
        calls=sum(one.calls for one in spent) / count,
        prompt_tokens=sum(one.prompt_tokens for one in spent) / count,
        cached_tokens=sum(one.cached_tokens for one in spent) / count,
        later_cached=later_cached / later_prompt if later_prompt else None,
        completion_tokens=sum(one.completion_tokens for one in spent) / count,
        seconds=sum(one.seconds for one in spent) / count,
        retyped=sum(turn.retyped for turn in turns),
    )


def table(results: Sequence[TaskResult]) -> str:
    """Markdown: systems under each other for each suite, then right answers by level or topic."""
    parts = []
    summaries = summarized(results)
    for suite in dict.fromkeys(one.suite for one in summaries):
        rows = [_row(one) for one in summaries if one.suite == suite]
        parts.append(f"## {suite}\n\n{markdown(HEADINGS, rows)}")
        parts.append(_by_part([result for result in results if result.suite == suite]))
    return "\n\n".join(parts)


def _row(one: Summary) -> tuple[str, ...]:
    return (
        one.system,
        str(one.tasks),
        str(one.right),
        f"{100 * one.right / one.tasks:.0f}",
        f"{one.turns_right} of {one.turns}",
        f"{100 * one.ran_at_once:.0f}",
        str(one.parse_failures),
        *(_mean(mean) for mean in (one.calls, one.prompt_tokens, one.cached_tokens)),
        "" if one.later_cached is None else f"{100 * one.later_cached:.0f}",
        *(_mean(mean) for mean in (one.completion_tokens, one.seconds)),
        str(one.retyped),
    )


def _mean(value: float) -> str:
    return f"{value:.1f}" if value < 100 else f"{value:,.0f}"


def _by_part(results: Sequence[TaskResult]) -> str:
    """Right of asked by level where there are levels, else by topic."""
    parts = sorted({result.level or result.topic for result in results})
    systems = list(dict.fromkeys(result.system for result in results))
    rows = []
    for system in systems:
        own = [result for result in results if result.system == system]
        of_part = [[found for found in own if (found.level or found.topic) == part] for part in parts]
        rows.append((system, *(f"{sum(found.right for found in some)} of {len(some)}" for some in of_part)))
    return markdown(("right", *parts), rows)


def markdown(headings: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table whose columns line up as plain text too."""
    widths = [max(len(row[at]) for row in (headings, *rows)) for at in range(len(headings))]
    lines = [
        " | ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)) for row in (headings, *rows)
    ]
    rule = " | ".join("-" * width for width in widths)
    return "\n".join(f"| {line} |" for line in (lines[0], rule, *lines[1:]))


def plot(results: Sequence[TaskResult], file: Path) -> None:
    """Right answers over tokens a task: up and to the left is better."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
    from matplotlib.ticker import LogLocator, NullFormatter, StrMethodFormatter

    summaries = summarized(results)
    suites = list(dict.fromkeys(one.suite for one in summaries))
    figure, all_axes = plt.subplots(1, len(suites), figsize=(5 * len(suites), 4), squeeze=False)
    for axes, suite in zip(all_axes[0], suites, strict=True):
        for one in (one for one in summaries if one.suite == suite):
            tokens, share = one.prompt_tokens + one.completion_tokens, 100 * one.right / one.tasks
            axes.scatter(tokens, share)
            axes.annotate(f"{one.system} ({one.right} of {one.tasks})", (tokens, share), textcoords="offset points",
                          xytext=(0, 6), ha="center", fontsize=8)  # fmt: skip
        axes.set(title=suite, xscale="log", xlabel="tokens a task", ylabel="right answers, %", ylim=(-4, 100))
        least, most = axes.get_xlim()
        axes.set_xlim(least / 2, most * 2)
        axes.xaxis.set_major_locator(LogLocator(subs=(1, 2, 5)))
        axes.xaxis.set_major_formatter(StrMethodFormatter("{x:,.0f}"))
        axes.xaxis.set_minor_formatter(NullFormatter())
    figure.tight_layout()
    file.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(file, dpi=120)
    plt.close(figure)
