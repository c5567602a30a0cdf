"""`%agent tool` and `%agent mcp`: which functions code may call."""

from __future__ import annotations

from typing import Any, cast, get_args

from jupyter_codeagent.frontend.display import show_text
from jupyter_codeagent.session.session import AgentSession
from jupyter_codeagent.tools.ask_model import NAME as ASK_MODEL
from jupyter_codeagent.tools.mcp import target_of
from jupyter_codeagent.tools.tool import stub_line
from jupyter_codeagent.tools.undo import undone_text
from jupyter_codeagent.types.errors import UsageError
from jupyter_codeagent.types.variables import ToolPolicy


class ToolSubcommands:
    """The subcommands on tools; each prints the state afterwards."""

    def __init__(self, shell: Any, session: AgentSession) -> None:
        self._shell = shell
        self._session = session

    def tool(self, words: str) -> None:
        """Add or remove a function, undo its calls, or list all functions.

        Raises
        ------
        UsageError
        """
        tools = self._session.tools
        match words.split():
            case []:
                pass
            case ["add", name, *policies] if len(policies) <= 1:
                policy = cast("ToolPolicy", policies[0] if policies else "ask")
                if name == ASK_MODEL and name not in self._shell.user_ns:
                    tools.add_ask_model(policy)
                else:
                    tools.add(name, self._function(name), policy)
            case ["remove", name]:
                tools.remove(name)
            case ["undo", *ids] if len(ids) <= 1:
                show_text(undone_text(self._session.done_calls.undo(ids[0] if ids else "")))
                return
            case _:
                raise UsageError(
                    "Write %agent tool, %agent tool add NAME [auto|ask|deny], %agent tool remove NAME, or "
                    "%agent tool undo [RUN]."
                )
        lines = [f"{tool.stub.policy:<5} {stub_line(tool.stub)}" for tool in tools.all().values()]
        show_text("\n".join(lines) or "No tools registered. Add one with `@agent_tool` or `%agent tool add NAME`.")

    def mcp(self, words: str) -> None:
        """Add or remove an MCP server, or list all of them.

        Raises
        ------
        CodeAgentError
        """
        tools = self._session.tools
        command, _, rest = words.partition(" ")
        name, _, target = rest.strip().partition(" ")
        if command == "add":
            word, _, further = target.strip().partition(" ")
            policy: ToolPolicy = "ask"
            if word in get_args(ToolPolicy):
                policy, target = cast("ToolPolicy", word), further
            tools.add_server(name, target_of(target), policy)
        elif command == "remove":
            tools.remove_server(name)
        elif command:
            raise UsageError(
                "Write %agent mcp, %agent mcp add NAME [auto|ask|deny] COMMAND…|URL, or %agent mcp remove NAME."
            )
        for server in tools.servers.servers.values():
            show_text(f"{server.name}: {f'{len(server.tools)} functions' if server.is_there else 'gone'}")
            for tool in server.tools.values():
                show_text(f"  {tool.stub.policy:<5} {stub_line(tool.stub)}")
            for why in server.left_out:
                show_text(f"  left out: {why}")

    def _function(self, name: str) -> object:
        if name not in self._shell.user_ns:
            raise UsageError(f"There is no function {name!r} in this notebook.")
        return self._shell.user_ns[name]
