"""All tools together: which server's function has a name."""

from __future__ import annotations

from typing import Any

from jupyter_codeagent.tools.servers import merged
from jupyter_codeagent.tools.tool import tool_of


class Server:
    def __init__(self, *names: str) -> None:
        self.tools = {name: tool_of(lambda: None, name=name) for name in names}


def test_a_server_that_is_added_later_takes_no_name_over() -> None:
    servers: dict[str, Any] = {"zzz": Server("query"), "aaa": Server("query", "other")}
    found = merged({}, servers)
    assert list(found) == ["aaa_query", "other", "query"]
    assert found["query"].function is servers["zzz"].tools["query"].function
