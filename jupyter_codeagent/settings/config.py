"""Configuration: traitlets and the environment become frozen settings.

Sources in order, the last wins: defaults, the user's settings in JupyterLab, the environment, IPython's
configuration files, `%config CodeAgent.…` and the panel in the session, magic options, and the administrator's
policy (`policy`), which can only make settings stricter. A notebook file sets none of them.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, Literal, cast

from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode
from traitlets.config import Config, Configurable

from jupyter_codeagent.settings.settings import ModelSettings, Settings
from jupyter_codeagent.types.approvals import APPLY_ORDER, APPROVE_ORDER, ApprovalPolicy
from jupyter_codeagent.types.charts import CHART_LIBRARIES
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.sandbox import REMOTE_LEVELS, SandboxLevel, SandboxPolicy
from jupyter_codeagent.types.variables import PRIVACY_ORDER, TOOL_ORDER

MIB = 1 << 20
LINUX_LEVELS: tuple[SandboxLevel, ...] = ("bubblewrap", "namespaces", "landlock")
STRICTEST = {"privacy": PRIVACY_ORDER[0], "approve": APPROVE_ORDER[0]}
AUTO_LEVELS: tuple[SandboxLevel, ...] = ("seatbelt",) if sys.platform == "darwin" else LINUX_LEVELS
"""Levels that `auto` tries, the best first."""
ALL_LEVELS: tuple[SandboxLevel, ...] = (*LINUX_LEVELS, "seatbelt", *REMOTE_LEVELS, "none")
REFUSED_IF_STRICT: tuple[SandboxLevel, ...] = ("landlock",)
"""Levels that `strict` refuses: without namespaces, names of files, host and user are visible."""

Source = Literal["session", "file", "environment", "user", "default"]
"""Source of a value; `user` stands for the settings in JupyterLab."""
SOURCES: tuple[Source, ...] = ("session", "file", "environment", "user", "default")
"""Sources, the strongest first."""
PREFERENCES = ("model", "base_url", "privacy", "approve", "max_steps", "timeout_s", "context_tokens")
"""Settings that a person may change in JupyterLab and in the panel. Never the sandbox, and no key."""
ENVIRONMENT = {"model": ("CODEAGENT_MODEL",), "base_url": ("CODEAGENT_BASE_URL", "OPENAI_BASE_URL")}
ALLOWED_SERVERS = "CODEAGENT_ALLOW_SERVERS"
"""Addresses that need no confirmation, separated by blanks: for notebooks that run without a person to ask."""


ENVIRON_AT_IMPORT = dict(os.environ)


@cache
def initial_environ() -> Mapping[str, str]:
    """Return the environment in which this process was started, without changes by notebook cells."""
    try:
        entries = Path("/proc/self/environ").read_bytes().split(b"\0")
    except OSError:  # not Linux: the environment at import time, before the first `%%agent`
        return ENVIRON_AT_IMPORT
    pairs = (os.fsdecode(entry).partition("=") for entry in entries if entry)
    return {name: value for name, _, value in pairs}


class CodeAgent(Configurable):
    """Options for all runs of `%%agent`; `%config CodeAgent` lists them."""

    model = Unicode(
        "",
        help="Model name, or `embedded:NAME` for one that runs here without a server (`%agent models`); if empty, "
        "the first that the server has, or the embedded model.",
    ).tag(config=True)
    base_url = Unicode(
        "",
        help="Address of an OpenAI-compatible server, such as `http://127.0.0.1:8000/v1`; if empty, one found"
        " on this machine.",
    ).tag(config=True)
    discover = Bool(
        True, help="Look for servers on this machine: the usual ports of Ollama, LM Studio, vLLM and llama.cpp."
    ).tag(config=True)
    weights = Unicode("", help="Path of your own GGUF file for the embedded model.").tag(config=True)
    privacy = Enum(
        PRIVACY_ORDER,
        "stats",
        help="What the prompt may contain of your data: names and types, statistics too, or some rows too.",
    ).tag(config=True)
    approve = Enum(
        APPROVE_ORDER,
        "review",
        help="When to wait for your approval: before code runs in the sandbox, with the result, or never.",
    ).tag(config=True)
    apply = Enum(
        APPLY_ORDER,
        "ask",
        help="Whether the code of a result may run in your own kernel: after your approval, or never.",
    ).tag(config=True)
    tools = Enum(
        TOOL_ORDER,
        "auto",
        help="Whether code may call your functions: as each function says (auto), each time after your approval, "
        "or never.",
    ).tag(config=True)
    mcp_servers = Bool(True, help="Let %agent mcp add start MCP servers.").tag(config=True)
    explore = Bool(True, help="Let %agent explore examine tables.").tag(config=True)
    reports = Bool(True, help="Let %agent report write pages of accepted results.").tag(config=True)
    max_steps = Int(4, min=1, help="Limit for model calls in one run.").tag(config=True)
    timeout_s = Float(120.0, min=0.1, help="Time limit for one execution in the sandbox, in seconds.").tag(
        config=True
    )
    context_tokens = Int(600, min=50, help="Tokens that the prompt may use to describe your variables.").tag(
        config=True
    )
    house_rules = Bool(True, help="Send the house rules in `CODEAGENT.md` to the model.").tag(config=True)
    next_questions = Bool(
        True, help="Offer next questions below a result, each tried in a spare sandbox first; no model is used."
    ).tag(config=True)
    clients = Bool(
        False,
        help="Let other programs use the agent of this kernel: MCP clients (jupyter codeagent mcp) and chats of"
        " Jupyter AI. What they receive may go to models of their own.",
    ).tag(config=True)
    charts = Enum(
        CHART_LIBRARIES,
        CHART_LIBRARIES[0],
        help="Library that explorations draw with, and that the model is told to draw with.",
    ).tag(config=True)
    max_transfer_mb = Int(2048, min=1, help="Limit for all copies into the sandbox in one run, in MiB.").tag(
        config=True
    )
    max_return_mb = Int(256, min=1, help="Limit for one variable brought back from the sandbox, in MiB.").tag(
        config=True
    )
    max_calls = Int(1000, min=1, help="Limit for calls to your functions by the code of one run.").tag(config=True)
    max_subquestion_tokens = Int(
        20_000, min=1, help="Limit for the tokens of all questions that the code of one run asks with `ask_model`."
    ).tag(config=True)
    max_calls_per_cell = Int(100, min=1, help="Limit for calls to your functions each time code runs.").tag(
        config=True
    )
    memory_mb = Int(2048, min=256, help="Memory of the sandbox in addition to the copies, in MiB.").tag(config=True)
    sandbox = Enum(
        ("auto", *ALL_LEVELS),
        "auto",
        help="Level of isolation: `auto` takes the best that works here. `none` runs the model's code WITHOUT"
        " isolation, and is valid only if set in the session itself, never from a file.",
    ).tag(config=True)
    strict = Bool(False, help="Refuse the level `landlock`, which has no namespaces.").tag(config=True)
    sandbox_image = Unicode("", help="Image for the level `container`; `auto` tries it last.").tag(config=True)
    sandbox_engine = Enum(
        ("", "docker", "podman"), "", help="Engine that runs the container; if empty, the installed one."
    ).tag(config=True)
    sandbox_command = List(
        Unicode(),
        help="Command for the level `command`, word by word; it starts a relay elsewhere, which gets copies of your"
        " data, such as `['ssh', 'host', 'python', '-m', 'jupyter_codeagent.sandbox.remote.relay']`.",
    ).tag(config=True)
    sandbox_gateway = Unicode(
        "", help="Address of a Jupyter kernel gateway for the level `gateway`; it gets copies of your data."
    ).tag(config=True)
    sandbox_gateway_kernel = Unicode(
        "codeagent-sandbox-relay", help="Name of the relay's kernelspec at the gateway."
    ).tag(config=True)
    subprocess = Bool(False, help="Let code in the sandbox start processes (inside it, under its limits).").tag(
        config=True
    )
    approval_timeout_s = Float(
        3600.0, min=1, help="Seconds after which an approval request that nobody answers counts as rejected."
    ).tag(config=True)
    connect_timeout_s = Float(5.0, min=0.1, help="Seconds to connect to the model server.").tag(config=True)
    read_timeout_s = Float(
        120.0, min=0.1, help="Seconds between two pieces of the model's reply; the whole reply has ten times that."
    ).tag(config=True)
    max_tokens = Int(
        1024, min=16, help="Tokens of one reply; a server that sends more than 16 characters for each is cut off."
    ).tag(config=True)

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self._unisolated_by_file = self.sandbox == "none"
        self._by_file = frozenset(self.config.get("CodeAgent", {}))
        self._file_values = {name: str(getattr(self, name)) for name in ENVIRONMENT if name in self._by_file}
        self._in_session = set(kwargs) & set(self.trait_names(config=True))
        self._preferences: Mapping[str, Any] = {}
        self.observe(self._on_session_change, sorted(self.trait_names(config=True)))

    def _on_session_change(self, change: Any) -> None:
        self._in_session.add(change.name)
        if change.name == "sandbox":
            self._unisolated_by_file = False

    def update_config(self, config: Config) -> None:
        """Record `%config CodeAgent.x = …` as set in the session, even if the value stays the same."""
        super().update_config(config)
        self._in_session.update(config.get("CodeAgent", {}))

    def set_in_session(self, **values: Any) -> None:
        """Set values for this session; all or none.

        Raises
        ------
        UsageError
            One of them is not valid.
        """
        check_settings(values)
        for name, value in values.items():
            setattr(self, name, value)
        self._in_session.update(values)

    def adopt_preferences(self, values: Mapping[str, Any]) -> list[str]:
        """Use the valid ones of the user's settings in JupyterLab, and return why the others were refused.

        A protective setting with an invalid value gets the strictest one: a typo must not loosen it.
        """
        adopted, refusals = {}, []
        for name, value in values.items():
            try:
                check_settings({name: value})
                adopted[name] = value
            except UsageError as error:
                refusals.append(str(error))
                if name in STRICTEST:
                    adopted[name] = STRICTEST[name]
        self._preferences = adopted
        return refusals

    def source(self, name: str) -> Source:
        """Return the source of the value in force, caps aside."""
        return next(source for source in SOURCES if self._has(source, name))

    def chosen(self) -> frozenset[str]:
        """Return the settings that have another source than the default."""
        return frozenset(name for name in self.trait_names(config=True) if self.source(name) != "default")

    def with_environment(self, settings: Settings, ruled: Collection[str]) -> Settings:
        """Return the settings with what discovery would read from the environment, if one of it is `ruled`."""
        if not ENVIRONMENT.keys() & set(ruled):
            return settings
        found = {
            name: next(filter(None, map(self._environ, variables)), "") for name, variables in ENVIRONMENT.items()
        }
        model = settings.model
        named = replace(model, model=model.model or found["model"], base_url=model.base_url or found["base_url"])
        return replace(settings, model=named)

    def server_addresses(self) -> tuple[str, ...]:
        """Return the addresses of model servers from all sources, the one in force first."""
        named = (self.settings().model.base_url, *map(self._environ, ENVIRONMENT["base_url"]))
        given = (*named, self.base_url, str(self._preferences.get("base_url", "")))
        kept = dict.fromkeys(address.strip().rstrip("/") for address in given)
        return tuple(address for address in kept if address)

    def configured(self) -> tuple[str, ...]:
        """Return servers and models that were set outside of notebooks, the strongest source first.

        `%config`, options and changes of the environment by a cell do not count: another person's notebook can
        contain them.
        """
        environ = initial_environ()
        named = [
            *(self._file_values.get(name, "") for name in ENVIRONMENT),
            *(environ.get(variable, "") for variables in ENVIRONMENT.values() for variable in variables),
            *(str(self._preferences.get(name, "")) for name in ENVIRONMENT),
        ]
        return tuple(dict.fromkeys(name for name in map(str.strip, named) if name))

    def _has(self, source: Source, name: str) -> bool:
        match source:
            case "session":
                return name in self._in_session
            case "file":
                return name in self._by_file
            case "environment":
                return any(map(self._environ, ENVIRONMENT.get(name, ())))
            case "user":
                # A model belongs to a server: if a stronger source sets the server, this model is not on it.
                server_source = self.source("base_url") if name == "model" else "user"
                return name in self._preferences and server_source in ("user", "default")
            case "default":
                return True

    def _environ(self, variable: str) -> str:
        return os.environ.get(variable, "")

    def _value(self, name: str) -> Any:
        """Return the value in force; values of the environment are read by the discovery of models instead."""
        source = self.source(name)
        if source in ("session", "file"):
            return getattr(self, name)
        return self._preferences[name] if source == "user" else self.traits()[name].default()

    def settings(self) -> Settings:
        """Return the configured values, before magic options and caps.

        Raises
        ------
        UsageError
            Isolation was switched off by a configuration file.
        """
        if self._unisolated_by_file:
            raise UsageError(
                "A configuration file sets CodeAgent.sandbox = 'none', so nothing was run: isolation can be"
                " switched off in the session only (`%config CodeAgent.sandbox = 'none'`). Remove the line."
            )
        return Settings(
            model=ModelSettings(
                model=self._value("model"),
                base_url=self._value("base_url"),
                configured=self.configured(),
                allowed=tuple(initial_environ().get(ALLOWED_SERVERS, "").split()),
                discover=self.discover,
                weights=self.weights,
                connect_timeout_s=self.connect_timeout_s,
                read_timeout_s=self.read_timeout_s,
                max_tokens=self.max_tokens,
            ),
            sandbox=SandboxPolicy(
                memory_bytes=self.memory_mb * MIB,
                wall_s=self._value("timeout_s"),
                subprocess=self.subprocess,
                levels=self._levels(),
                image=self.sandbox_image,
                engine=self.sandbox_engine,
                command=tuple(self.sandbox_command),
                gateway=self.sandbox_gateway,
                gateway_kernel=self.sandbox_gateway_kernel,
            ),
            privacy=self._value("privacy"),
            approve=cast("ApprovalPolicy", self._value("approve")),
            apply=self.apply,
            tools=self.tools,
            mcp_servers=self.mcp_servers,
            explore=self.explore,
            reports=self.reports,
            max_steps=self._value("max_steps"),
            context_tokens=self._value("context_tokens"),
            max_transfer_bytes=self.max_transfer_mb * MIB,
            max_return_bytes=self.max_return_mb * MIB,
            max_calls=self.max_calls,
            max_calls_per_cell=self.max_calls_per_cell,
            max_subquestion_tokens=self.max_subquestion_tokens,
            approval_timeout_s=self.approval_timeout_s,
            house_rules=self.house_rules,
            next_questions=self.next_questions,
            clients=self.clients,
            charts=self.charts,
        )

    def _levels(self) -> tuple[SandboxLevel, ...]:
        if self.sandbox == "auto":
            container: tuple[SandboxLevel, ...] = ("container",) if self.sandbox_image else ()
            wanted = (*AUTO_LEVELS, *container)
        else:
            wanted = (cast("SandboxLevel", self.sandbox),)
        kept = tuple(level for level in wanted if not (self.strict and level in REFUSED_IF_STRICT))
        if not kept:
            raise UsageError(
                f"CodeAgent.strict refuses the sandbox level {self.sandbox}. Choose another level, or set "
                "`strict = False`."
            )
        return kept


def check_settings(values: Mapping[str, Any]) -> None:
    """Check the names and values of preferences.

    Raises
    ------
    UsageError
        A name is not a preference, or its value is not valid.
    """
    for name, value in values.items():
        if name not in PREFERENCES:
            raise UsageError(f"{name!r} is not a setting of the agent that can be changed here.")
        try:
            CodeAgent(**{name: value})
        except TraitError as error:
            raise UsageError(f"The setting {name} cannot be {json.dumps(value)[:60]}: {error}") from error
