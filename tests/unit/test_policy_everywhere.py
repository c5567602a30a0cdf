"""The administrator's policy: every way to ask against every rule. Nothing gets round one, and the user is told."""

from __future__ import annotations

import argparse
import re
import typing
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any

import pytest
from policies import ruled
from policy_desk import CANARY, HOUSE_RULE, OTHER, OURS, Desk, Evidence
from policy_ways import CLIENT_TOOLS, WAYS

import jupyter_codeagent
from jupyter_codeagent.entrypoints.cli import build_parser
from jupyter_codeagent.entrypoints.subcommands import SUBCOMMANDS
from jupyter_codeagent.frontend import messages
from jupyter_codeagent.session.run_request import SETTINGS_BY_OPTION
from jupyter_codeagent.settings.config import SOURCES, CodeAgent
from jupyter_codeagent.settings.policy import read_policy
from jupyter_codeagent.settings.rules import RULES, AtMost
from jupyter_codeagent.types.options import ExploreOptions, ReportOptions, RunOptions

SOURCE = Path(jupyter_codeagent.__file__).parent
CONTACT = "ada@example.org"

STRICT: dict[str, Any] = {
    "base_url": OURS,
    "model": "small",
    "weights": "",
    "discover": False,
    "privacy": "schema",
    "approve": "ask",
    "apply": "never",
    "explore": False,
    "reports": False,
    "tools": "deny",
    "mcp_servers": False,
    "clients": False,
    "house_rules": False,
    "next_questions": False,
    "charts": "matplotlib",
    "levels": ["bubblewrap"],
    "subprocess": False,
    "sandbox_image": "",
    "sandbox_engine": "",
    "sandbox_command": "",
    "sandbox_gateway": "",
    "sandbox_gateway_kernel": "ours",
    "max_steps": 1,
    "candidates": 1,
    "max_tokens": 50,
    "context_tokens": 60,
    "timeout_s": 5,
    "memory_mb": 300,
    "max_transfer_mb": 5,
    "max_return_mb": 5,
    "max_calls": 2,
    "max_calls_per_cell": 2,
    "max_subquestion_tokens": 100,
    "approval_timeout_s": 5,
    "connect_timeout_s": 1,
    "read_timeout_s": 5,
}
"""Rule -> a value that the defaults, or else what is asked for, do not meet."""
LAX: dict[str, Any] = {
    "base_url": f"{OTHER}/v1",
    "model": "big",
    "weights": "/home/me/mine.gguf",
    "discover": True,
    "privacy": "samples",
    "approve": "auto",
    "apply": "ask",
    "explore": True,
    "reports": True,
    "tools": "auto",
    "mcp_servers": True,
    "clients": True,
    "house_rules": True,
    "next_questions": True,
    "charts": "plotly",
    "levels": "landlock",
    "subprocess": True,
    "sandbox_image": "mine",
    "sandbox_engine": "podman",
    "sandbox_command": ["ssh", "mine"],
    "sandbox_gateway": "http://mine.example",
    "sandbox_gateway_kernel": "mine",
    "max_steps": 9,
    "candidates": 3,
    **{
        key: 5000
        for key, rule in RULES.items()
        if isinstance(rule.bound, AtMost) and key not in ("max_steps", "candidates")
    },
}
"""What is asked for."""
SWITCHED_OFF = {
    "explore": {"%agent explore", "jupyter codeagent explore"},
    "reports": {"%agent report", "jupyter codeagent report"},
    "tools": {"@agent_tool", "%agent tool add", "%agent mcp add", "a database"},
    "mcp_servers": {"%agent mcp add"},
    "clients": {"an MCP client", "a chat of Jupyter AI"},
    "apply": {"%agent apply", "an accepted cell", "Run in my kernel"},
    "candidates": {"--candidates"},
}
"""Rule -> the ways that it closes: they say so whatever was chosen."""


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desk]:
    with pytest.MonkeyPatch.context() as patch:
        one = Desk(patch, tmp_path_factory.mktemp("desk"))
        yield one
        one.stop()
        one.forget_environment()


def batches(name: str) -> list[tuple[str, ...]]:
    """The rules that are tried together this way: a way that one of them closes would not show what others do."""
    closing = [
        key for key in RULES if name in SWITCHED_OFF.get(key, ()) or (key == "levels" and key in WAYS[name].can)
    ]
    return [tuple(key for key in RULES if key not in closing), *((key,) for key in closing)]


def went(desk: Desk, name: str, keys: Iterable[str]) -> Evidence:
    """What came of asking this way for more than these rules allow."""
    way = WAYS[name]
    desk.clear()
    desk.rule({})
    asks = {RULES[key].trait or key: LAX[key] for key in keys if key in way.can}
    way.go(desk, asks, lambda: desk.rule({**{key: STRICT[key] for key in keys}, "contact": CONTACT}))
    desk.stop()
    return desk.evidence


@pytest.mark.parametrize("name", WAYS)
def test_no_way_to_ask_gets_round_any_rule_and_where_one_bites_the_user_is_told(desk: Desk, name: str) -> None:
    wrong = {}
    for keys in batches(name):
        evidence = went(desk, name, keys)
        for key in keys:
            if found := [*passed(evidence, key), *untold(evidence, name, key)]:
                wrong[key] = found
    assert wrong == {}


@pytest.mark.parametrize("name", WAYS)
def test_no_way_to_ask_does_anything_under_a_policy_that_cannot_be_understood(desk: Desk, name: str) -> None:
    desk.clear()
    desk.rule({})
    WAYS[name].go(desk, {}, lambda: desk.rule('{"privacy": "shcema"}'))
    desk.stop()
    found = desk.evidence
    done = (found.executed, found.requests, found.listed, found.explored, found.ran, found.started, found.written)
    assert not any(done)
    assert found.answers == []
    assert 'codeagent_policy.json has privacy = "shcema"; it must be' in found.told


def passed(evidence: Evidence, key: str) -> list[Any]:
    """What got round a rule: settings that it does not allow, and deeds."""
    if not evidence.settings and "not allowed by your administrator" not in evidence.told:
        return ["the way led nowhere"]
    values = [RULES[key].value(settings) for settings in evidence.settings]
    lax = [value for value in values if RULES[key].bound.cut(value, STRICT[key]) != value]
    return lax + (DEEDS[key](evidence) if key in DEEDS else [])


def untold(evidence: Evidence, name: str, key: str) -> list[Any]:
    """What is wrong with the line that tells of a rule; a line that speaks of a server names its rule."""
    way = WAYS[name]
    if not ((key in way.can and way.tells) or name in SWITCHED_OFF.get(key, ())):
        return []
    lines = [line.strip() for line in evidence.told.splitlines() if f"(rule {key} = " in line]
    whole = r".* is not allowed by your administrator \(rule .* in /.*/codeagent_policy\.json\).*\. Ask "
    return [
        line for line in lines or ["nothing was told"] if not re.match(f"{whole}{CONTACT} if you need it", line)
    ]


def unseen(evidence: Evidence) -> list[Any]:
    """Programs that nobody was asked about, and questions that offer a yes that lasts."""
    asked = [proposal for proposal in evidence.asked if proposal.kind == "run"]
    ran = [code for code, _ in evidence.executed if not any(code in proposal.code for proposal in asked)]
    return ran + [proposal for proposal in asked if proposal.lasting]


def other_servers(evidence: Evidence) -> list[str]:
    asked = [endpoint.base_url for endpoint, _, _ in evidence.requests] + evidence.listed
    return [address for address in asked if not address.startswith(OURS)]


def times(evidence: Evidence) -> list[float]:
    return [limit for _, limit in evidence.executed] + [request.seconds for request in evidence.explored]


DEEDS: dict[str, Callable[[Evidence], list[Any]]] = {
    "base_url": other_servers,
    "model": lambda done: [model for model, _, _ in done.requests if model.model != STRICT["model"]],
    "privacy": lambda done: [one for one in done.sent() if CANARY in one],
    "house_rules": lambda done: [one for one in done.sent() if HOUSE_RULE in one],
    "approve": unseen,
    "apply": lambda done: [*done.ran, *(proposal for proposal in done.asked if proposal.kind == "apply")],
    "explore": lambda done: done.explored,
    "reports": lambda done: done.written,
    "tools": lambda done: [*done.offered, *done.started, *done.purposes("text")],
    "clients": lambda done: done.answers,
    "mcp_servers": lambda done: done.started,
    "timeout_s": lambda done: [limit for limit in times(done) if limit > STRICT["timeout_s"]],
    "max_tokens": lambda done: [one for _, _, one in done.requests if one.max_tokens > STRICT["max_tokens"]],
    "subprocess": lambda done: [policy for policy in done.sandboxes if policy.subprocess],
    "memory_mb": lambda done: [policy for policy in done.sandboxes if policy.memory_bytes > 300 << 20],
    "levels": lambda done: [policy for policy in done.sandboxes if policy.levels != ("bubblewrap",)],
}
"""Rule -> what reached a model, a sandbox, a file or the kernel although it is not allowed."""


# --- that no rule, no setting and no way is missing ------------------------------------------------------


def test_every_setting_has_a_rule_and_every_rule_a_row() -> None:
    assert STRICT.keys() == LAX.keys() == RULES.keys()
    ruled_settings = {rule.trait or key for key, rule in RULES.items()}
    only_stricter = {"strict"}  # it removes levels, which the rule `levels` does, too
    assert set(CodeAgent.class_trait_names(config=True)) == (ruled_settings - {"candidates"}) | only_stricter


def test_the_guide_counts_the_ways_and_the_rules() -> None:
    guide = (Path(__file__).parents[2] / "docs" / "administrators.md").read_text(encoding="utf-8")
    assert f"{len(WAYS)} ways, {len(RULES)} rules, 0 ways round" in guide


def test_every_row_asks_for_more_than_its_rule_allows() -> None:
    settings = CodeAgent().settings()
    for key, rule in RULES.items():
        default = rule.value(settings)
        asked = LAX[key]
        if key == "levels":
            asked = (asked,)
        if key == "sandbox_command":
            asked = " ".join(asked)
        assert rule.bound.fits(STRICT[key]), key
        assert rule.bound.cut(asked, STRICT[key]) != asked, key
        assert ruled({key: STRICT[key]}).rules, default


NO_SETTINGS = "it acts on records, cells and lists of what is shared, and resolves no settings"
SUBCOMMAND_WAYS = {
    "help": "what shows a state",
    "status": "what shows a state",
    "models": "what shows a state",
    "use": "%agent use",
    "share": NO_SETTINGS,
    "hide": NO_SETTINGS,
    "context": "%agent context",
    "history": "what shows a state",
    "show": NO_SETTINGS,
    "steps": NO_SETTINGS,
    "explore": "%agent explore",
    "report": "%agent report",
    "fix": "%agent fix",
    "refine": "%agent refine",
    "accept": NO_SETTINGS,
    "discard": NO_SETTINGS,
    "apply": "%agent apply",
    "tool": "%agent tool add",
    "mcp": "%agent mcp add",
    "pull": "%agent pull",
    "undo": NO_SETTINGS,
    "stop": "what shows a state",
    "reset": "what shows a state",
    "doctor": "what shows a state",
}
COMMAND_WAYS = {
    "run": "jupyter codeagent run",
    "ask": "jupyter codeagent ask",
    "explore": "jupyter codeagent explore",
    "report": "jupyter codeagent report",
    "mcp": "an MCP client",  # the command only carries calls to the kernel
    "doctor": "jupyter codeagent doctor",
    "models": "jupyter codeagent doctor",
    "history": NO_SETTINGS,
    "pod": "it is a `sandbox_command`",
}
MESSAGE_WAYS = {
    "hello": "JupyterLab's settings",
    "preferences": "JupyterLab's settings",
    "choose": "the panel",
    "use_model": "the panel",
    "find_models": "the panel",
    "pull": "%agent pull",
    "applied": "Run in my kernel",
    "decision": "a lasting yes",
    "asked": "a chat of Jupyter AI",
    "ask_ended": "a chat of Jupyter AI",
    "cell_state": "an accepted cell",
    **dict.fromkeys(
        ("pong", "stop", "missed", "inserted", "marked", "share", "share_columns", "find_columns", "sharing"),
        NO_SETTINGS,
    ),
    **dict.fromkeys(("find_effects", "take_back"), NO_SETTINGS),
}
SOURCE_WAYS = {
    "session": "%config and a line",
    "file": "a configuration file",
    "environment": "the environment",
    "user": "JupyterLab's settings",
    "default": "options of a cell",
}
VARIABLE_WAYS = {
    "CODEAGENT_MODEL": "the environment",
    "CODEAGENT_BASE_URL": "the environment",
    "OPENAI_BASE_URL": "the environment",
    "CODEAGENT_ALLOW_SERVERS": "the environment",
    "CODEAGENT_SHARING": NO_SETTINGS,
    "CODEAGENT_HEADLESS": "it says that nobody can be asked, which makes every answer a no",
    "CODEAGENT_EMBEDDED_TRANSPORT": "it is how the embedded server is reached",
    "CODEAGENT_STATE_DIR": "it is where the embedded server notes that it runs",
    **dict.fromkeys(
        ("CODEAGENT_API_KEY", "OPENAI_API_KEY", "CODEAGENT_GATEWAY_TOKEN", "CODEAGENT_MCP_TOKEN"), "it is a secret"
    ),
}
OPTION_WAYS = {
    **dict.fromkeys(SETTINGS_BY_OPTION, "options of a cell"),
    "candidates": "--candidates",
    "dry_run": "--dry-run",
    "json": "--json",
    "rerun": "a lasting yes",
    "follows": "--from",
    "refines": "%agent refine",
    "refinement": "%agent refine",
    **dict.fromkeys(("variables", "columns", "sample", "where", "new", "returns", "debug"), NO_SETTINGS),
}
API_WAYS = {"agent_tool": "@agent_tool", "sql_tool": "@agent_tool"}


def commands() -> set[str]:
    [found] = [one for one in build_parser()._actions if isinstance(one, argparse._SubParsersAction)]
    return set(found.choices)


def page_messages() -> set[str]:
    types = (typing.get_type_hints(message)["type"] for message in typing.get_args(messages.FromPage))
    return {name for kind in types for name in typing.get_args(kind)}


def variables() -> set[str]:
    texts = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return set(re.findall(r"""["'`]((?:CODEAGENT|OPENAI)_[A-Z_]+)["'`]""", texts))


@pytest.mark.parametrize(
    ("listed", "found"),
    [
        (SUBCOMMAND_WAYS, {text.partition(" ")[0] for text in SUBCOMMANDS}),
        (COMMAND_WAYS, commands()),
        (
            MESSAGE_WAYS,
            {typing.get_args(typing.get_type_hints(one)["type"])[0] for one in typing.get_args(messages.FromPage)},
        ),
        (SOURCE_WAYS, set(SOURCES)),
        (VARIABLE_WAYS, variables()),
        (OPTION_WAYS, set(RunOptions.__dataclass_fields__)),
        (API_WAYS, set(jupyter_codeagent.__all__)),
    ],
    ids=["subcommands", "commands", "messages", "sources", "variables", "options", "functions"],
)
def test_every_way_to_ask_that_the_code_has_is_a_row_or_says_why_not(
    listed: dict[str, str], found: set[str]
) -> None:
    assert set(listed) == found
    assert [name for name, way in listed.items() if way not in WAYS and not way.startswith("it ")] == []


def test_every_call_of_an_mcp_client_is_tried() -> None:
    server = pytest.importorskip("jupyter_codeagent.entrypoints.mcp_server.server")
    assert {tool.name for tool in server.TOOLS} == set(CLIENT_TOOLS)


def test_options_of_explorations_and_reports_are_no_settings() -> None:
    assert set(ExploreOptions.__dataclass_fields__) == {"tables", "goal", "minutes", "sample", "where"}
    assert set(ReportOptions.__dataclass_fields__) == {"output", "title", "notebook", "rerun", "overwrite"}


def test_nothing_reads_settings_past_the_policy() -> None:
    may = {"settings/config.py", "settings/view.py", "session/settings_in_force.py"}
    past = re.compile(r"config\.settings\(\)|CodeAgent\([^)]*\)\.settings\(\)")
    found = {
        str(path.relative_to(SOURCE))
        for path in SOURCE.rglob("*.py")
        if past.search(path.read_text(encoding="utf-8"))
    }
    assert found <= may


def test_without_a_file_nothing_is_ruled_and_nothing_told(desk: Desk) -> None:
    desk.clear()
    desk.rule({})
    for name in ("%config and a line", "%agent explore", "%agent apply", "%agent mcp add"):
        WAYS[name].go(desk, {}, lambda: None)
    desk.stop()
    assert read_policy().rules == {}
    assert "administrator" not in desk.evidence.told
    assert (len(desk.evidence.ran), desk.evidence.started, bool(desk.evidence.explored)) == (1, ["theirs"], True)
