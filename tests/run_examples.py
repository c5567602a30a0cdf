"""A finished run with something in every field, for the tests of record, cells and history."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from jupyter_codeagent.types.approvals import Decision
from jupyter_codeagent.types.messages import Message, ModelCall, Span, Usage
from jupyter_codeagent.types.operations import Operation, OperationExamples, OperationFact
from jupyter_codeagent.types.run import AgentRequest, AgentRun, Assumption, Step, Verdict
from jupyter_codeagent.types.sandbox import (
    CopyChange,
    ExecutionError,
    ExecutionResult,
    NamespaceEntry,
    Output,
    ToolCall,
)
from jupyter_codeagent.types.variables import CopiedVariable, Manifest, SkippedVariable, ToolStub

CODE = "late = flights.groupby('carrier').arr_delay.mean()\nlate"
OUTPUTS: tuple[Output, ...] = (
    {"output_type": "stream", "name": "stdout", "text": "16 carriers\n"},
    {
        "output_type": "display_data",
        "data": {"image/png": "iVBORw0KGgo=", "text/plain": "<Figure>"},
        "metadata": {},
    },
    {
        "output_type": "execute_result",
        "data": {"text/html": "<table><tr><td>21.9</td></tr></table>", "text/plain": "F9  21.9"},
        "metadata": {},
        "execution_count": None,
    },
)


def example_run(**changes: Any) -> AgentRun:
    """`request__prompt="…"` changes a field of the request."""
    request = {name.removeprefix("request__"): changes.pop(name) for name in list(changes) if "__" in name}
    return replace(_RUN, request=replace(_RUN.request, **request), **changes)


_FAILED = Step(
    index=1,
    messages=(
        Message(role="system", content="You write Python."),
        Message(role="user", content="{'a': \"b\"} 100%", spans=(Span(kind="statistics", start=0, end=10),)),
    ),
    prefill="```python\n",
    prefill_spans=(Span(kind="names", start=3, end=9),),
    reply="```python\nflights.delay\n```",
    code="flights.delay",
    decision=Decision(action="approve", code="flights.delay", decided_by="policy", decided_at=1.5),
    result=ExecutionResult(
        status="error",
        error=ExecutionError(ename="AttributeError", evalue="no 'delay'", line=1, source="flights.delay"),
        duration_s=0.2,
        namespace=(
            NamespaceEntry(name="flights", type_name="DataFrame", shape=(3, 2), columns=("carrier", "arr_delay")),
        ),
        notes=("1 output dropped",),
        calls=(
            ToolCall(
                tool="weather",
                call="weather('JFK')",
                status="failed",
                line=1,
                result="ValueError: down",
                decided_by="panel",
                duration_s=0.1,
            ),
        ),
    ),
    usage=Usage(prompt_tokens=100, completion_tokens=7, calls=1),
    duration_s=1.0,
)
_WORKED = Step(
    index=2,
    messages=(*_FAILED.messages, Message(role="assistant", content=_FAILED.reply)),
    reply=f"```python\n{CODE}\n```",
    code=CODE,
    result=ExecutionResult(status="ok", outputs=OUTPUTS, peak_memory_bytes=5 << 20),
    usage=Usage(prompt_tokens=150, completion_tokens=20, cached_tokens=90, calls=1),
)
OPERATIONS = (
    Operation(
        kind="group",
        name="mean",
        detail="arr_delay",
        line=1,
        rows=(336_776, 16),
        facts=(
            OperationFact(kind="groups", count=16, label="carrier"),
            OperationFact(kind="missing_keys", count=4, of=336_776, label="carrier"),
            OperationFact(kind="skipped", count=9_430, of=336_776, label="arr_delay"),
        ),
        examples=OperationExamples(title="rows left out", columns=("carrier",), rows=(("nan",),)),
        text="mean of arr_delay by carrier: 336,776 rows → 16; 4 rows without carrier left out; "
        "9,430 missing values of arr_delay skipped",
    ),
)
_RUN = AgentRun(
    id="0123456789ab",
    request=AgentRequest(
        prompt="Which carrier is late? {braces} “quotes” 100 % 🐧",
        model="qwen-coder",
        server="embedded",
        cell_id="agent",
        notebook="work/eda.ipynb",
    ),
    status="ok",
    started_at=1_700_000_000.0,
    ended_at=1_700_000_003.5,
    steps=(_FAILED, _WORKED),
    manifest=Manifest(
        copied=(
            CopiedVariable(
                name="flights", type_name="DataFrame", size_bytes=9, files=(("1.piece", 0, 9),), head=(0, 9)
            ),
        ),
        skipped=(SkippedVariable(name="lock", reason="cannot be copied"),),
        modules=("import pandas as pd",),
        unchanged=("flights",),
        tools=(ToolStub(name="weather", signature="(origin: str)", doc="Weather.", policy="ask"),),
    ),
    context="flights: DataFrame 3x2",
    context_spans=(Span(kind="names", start=0, end=22),),
    house_rules="Amounts are in thousands of euros.",
    data_sha256="ab" * 32,
    sandbox="bubblewrap, no network",
    code=CODE,
    outputs=OUTPUTS,
    changes=(
        CopyChange(name="flights", kind="changed", added=("'speed'",), values=("'arr_delay'",), notes=("index",)),
        CopyChange(name="tmp", kind="deleted", removed=("'gone'",), earlier=True),
    ),
    made=(
        NamespaceEntry(name="late", type_name="Series", shape=(16,), dtypes=("float64",), returns_as="data"),
        NamespaceEntry(name="figure", type_name="Figure", returns_as="image"),
        NamespaceEntry(name="model", type_name="LinearRegression"),
    ),
    operations=OPERATIONS,
    not_observed="RuntimeError: a bug",
    assumptions=(
        Assumption(
            text="9,430 missing values of arr_delay skipped",
            refinement="count missing values of arr_delay as 0",
            line=1,
        ),
    ),
    verdict=Verdict(level="look", reason="4 rows without carrier left out (line 1)"),
    answer="Frontier (F9) is 21.9 minutes late.",
    model_calls=(
        ModelCall(purpose="count", kinds=("names",), sent=True),
        ModelCall(
            purpose="program",
            kinds=("names", "statistics"),
            sent=True,
            usage=Usage(prompt_tokens=100, completion_tokens=7, calls=1),
        ),
        ModelCall(
            purpose="program",
            kinds=("names", "statistics", "error"),
            sent=True,
            usage=Usage(prompt_tokens=150, completion_tokens=20, cached_tokens=90, calls=1),
        ),
    ),
    usage=Usage(prompt_tokens=250, completion_tokens=27, cached_tokens=90, calls=2),
    notes=("repaired 1 error",),
    next_questions=("How does arr_delay differ by origin in flights?",),
)
