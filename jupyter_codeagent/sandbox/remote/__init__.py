"""Sandboxes elsewhere: in a container, behind a command such as ssh, or behind a kernel gateway.

`relay.py` is the far side: it starts the very sandbox that would run here, on its own machine, and passes messages
on. `backend.RemoteBackend` is the near side; it trusts nothing that comes back. Between them is a `Link`: the
streams of a command (`stdio.py`) or the websocket of a gateway (`gateway.py`).
"""
