"""A yes for all calls of a function lasts as long as it is that function."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.tools.grants import Grants
from jupyter_codeagent.tools.servers import merged
from jupyter_codeagent.tools.tool import Tool, tool_of


def declared(text: str) -> Tool:
    """As a cell declares it, once more each time."""
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    return tool_of(namespace["send"])


SEND = "def send(to, text='hi'):\n    return to"


def test_a_cell_that_is_run_again_keeps_its_yes_and_a_changed_one_loses_it() -> None:
    grants = Grants()
    grants.add(declared(SEND))
    assert grants.has(declared(SEND))
    for changed in ("return text", "return to + ' '", "pass"):
        assert not grants.has(declared(SEND.replace("return to", changed)))
    assert not grants.has(declared(SEND.replace("'hi'", "'ho'")))


def test_a_query_function_of_another_connection_is_another_function() -> None:
    def query_of(connection: object) -> Tool:
        def query(sql: str) -> object:
            return connection

        return tool_of(query)

    grants, tool = Grants(), query_of("sales")
    grants.add(tool)
    assert grants.has(tool)
    assert not grants.has(query_of("people"))


def test_what_is_removed_or_forgotten_is_asked_for_again() -> None:
    grants, tool = Grants(), declared(SEND)
    grants.add(tool)
    grants.remove("send")
    assert not grants.has(tool)
    grants.add(tool)
    grants.clear()
    assert not grants.has(tool)


class Server:
    def __init__(self, *names: str) -> None:
        self.tools = {name: tool_of(lambda: None, name=name) for name in names}


def test_a_server_that_is_added_later_takes_no_name_over() -> None:
    servers: dict[str, Any] = {"zzz": Server("query"), "aaa": Server("query", "other")}
    found = merged({}, servers)
    assert list(found) == ["aaa_query", "other", "query"]
    assert found["query"].function is servers["zzz"].tools["query"].function
