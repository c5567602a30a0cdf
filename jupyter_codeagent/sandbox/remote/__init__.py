"""Remote sandboxes: in a container, behind a command such as ssh, or behind a kernel gateway.

`relay.py` runs on the remote side: it starts the same kind of sandbox as a local one, and passes messages on.
`backend.RemoteBackend` is the client; it trusts nothing that comes back. Between them is a `Link`: the streams of a
command (`stdio.py`) or the websocket of a gateway (`gateway.py`).
"""
