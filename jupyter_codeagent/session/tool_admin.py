"""The functions that code may call: the user's own, those of MCP servers, and `ask_model`. Main thread."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

from jupyter_codeagent.agent.known_imports import ALIASES
from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.frontend.background_loop import BackgroundLoop
from jupyter_codeagent.settings.enforcement import check_switched_on
from jupyter_codeagent.settings.settings import Settings
from jupyter_codeagent.tools.ask_model import NAME as ASK_MODEL
from jupyter_codeagent.tools.ask_model import ModelQuestions
from jupyter_codeagent.tools.live_databases import LiveDatabases
from jupyter_codeagent.tools.mcp import is_of_server
from jupyter_codeagent.tools.registry import REGISTRY
from jupyter_codeagent.tools.servers import McpServers, merged
from jupyter_codeagent.tools.tool import Tool, tool_of
from jupyter_codeagent.types.variables import ToolPolicy
from jupyter_codeagent.variables.user_namespace import UserNamespace


class ToolAdmin:
    """Adds and removes functions; one that is added under a free name can also be called in the live kernel."""

    def __init__(
        self,
        *,
        live: UserNamespace,
        background: BackgroundLoop,
        grants: Grants,
        questions: ModelQuestions,
        settings: Callable[[], Settings],
    ) -> None:
        self._live = live
        self._background = background
        self._grants = grants
        self._questions = questions
        self._settings = settings
        self.registry = REGISTRY
        self.servers = McpServers(background.run)
        self.databases = LiveDatabases()

    def all(self) -> dict[str, Tool]:
        """Return the functions of this kernel and of its MCP servers, by name.

        Those of servers only under names without another meaning in the notebook or by convention.
        """
        users = (name for name, value in self._live.everything().items() if not is_of_server(value))
        return merged(self.registry.tools(), self.servers.servers, taken={*users, *ALIASES})

    def refresh_servers(self) -> tuple[str, ...]:
        """Ask each MCP server for its functions; return a note for each that does not answer."""
        return self._background.run(self.servers.refresh()) if self.servers.servers else ()

    def add(self, name: str, function: object, policy: ToolPolicy) -> None:
        """Let code call a function; a declared one keeps its undo, its time limit and its restrictions.

        Raises
        ------
        UsageError, DeniedError
        """
        check_switched_on(self._settings(), "tools", f"%agent tool add {name}")
        tool = tool_of(function, name=name, policy=policy)
        declared = next((one for one in self.registry.tools().values() if one.function is function), None)
        if declared is not None:
            if policy == "auto" and declared.check_auto is not None:
                declared.check_auto()
            tool = replace(declared, stub=tool.stub)
        self.registry.add(tool)

    def add_ask_model(self, policy: ToolPolicy) -> None:
        """Let code ask the model; the user can call the function too, if its name is free.

        Raises
        ------
        DeniedError
        """
        check_switched_on(self._settings(), "tools", f"%agent tool add {ASK_MODEL}")
        tool = self._questions.tool(policy)
        self.registry.add(tool)
        self._live.bind_free({tool.name: tool.function})

    def add_server(self, name: str, target: Sequence[str], policy: ToolPolicy) -> None:
        """Start an MCP server. The user can call its functions, too, since accepted cells call them.

        Raises
        ------
        CodeAgentError
        """
        for key in ("tools", "mcp_servers"):
            check_switched_on(self._settings(), key, f"%agent mcp add {name}")
        before = self.servers.functions(name)
        self._background.run(self.servers.add(name, target, policy))
        self._live.unbind(before.values())
        added = {id(function) for function in self.servers.functions(name).values()}
        named = {tool_name: tool.function for tool_name, tool in self.all().items()}
        self._live.bind_free({name: function for name, function in named.items() if id(function) in added})

    def remove(self, name: str) -> None:
        """Remove a function that code may call.

        Raises
        ------
        UsageError
            There is none of this name.
        """
        tool = self.registry.tools().get(name)
        self.registry.remove(name)
        self._grants.take_back("call", name)
        if tool is not None and name == ASK_MODEL:
            self._live.unbind([tool.function])

    def remove_server(self, name: str) -> None:
        """End an MCP server.

        Raises
        ------
        UsageError
            There is none of this name.
        """
        functions = self.servers.functions(name)
        gone = {id(function) for function in functions.values()}
        names = [tool_name for tool_name, tool in self.all().items() if id(tool.function) in gone]
        self._background.run(self.servers.remove(name))
        for tool_name in names:
            self._grants.take_back("call", tool_name)
        self._live.unbind(functions.values())

    def close(self) -> None:
        """End all MCP servers."""
        self._background.run(self.servers.close())
