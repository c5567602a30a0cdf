"""A yes for all calls of a function lasts as long as it is that function."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.frontend.approvals.grants import Grants
from jupyter_codeagent.tools.grants import grant_of
from jupyter_codeagent.tools.tool import Tool, tool_of


def declared(text: str) -> Tool:
    """As a cell declares it, once more each time."""
    namespace: dict[str, Any] = {}
    exec(text, namespace)
    return tool_of(namespace["send"])


def granted(tool: Tool) -> Grants:
    grants = Grants()
    grants.add([grant_of(tool)])
    return grants


SEND = "def send(to, text='hi'):\n    return to"


def test_a_cell_that_is_run_again_keeps_its_yes_and_a_changed_one_loses_it() -> None:
    assert granted(declared(SEND)).cover([grant_of(declared(SEND))])
    for changed in ("return text", "return to + ' '", "pass"):
        assert not granted(declared(SEND)).cover([grant_of(declared(SEND.replace("return to", changed)))])
    assert not granted(declared(SEND)).cover([grant_of(declared(SEND.replace("'hi'", "'ho'")))])


def test_a_query_function_of_another_connection_is_another_function() -> None:
    def query_of(connection: object) -> Tool:
        def query(sql: str) -> object:
            return connection

        return tool_of(query)

    tool = query_of("sales")
    assert granted(tool).cover([grant_of(tool)])
    assert not granted(tool).cover([grant_of(query_of("people"))])


def test_a_yes_to_a_function_that_was_replaced_is_listed_no_longer() -> None:
    grants = granted(declared(SEND))
    assert not grants.cover([grant_of(declared(SEND.replace("return to", "pass")))])
    assert grants.all == ()
