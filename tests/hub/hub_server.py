"""A real JupyterHub on loopback: its proxy, users of this machine with servers of their own, and their kernels."""

from __future__ import annotations

import json
import os
import pwd
import secrets
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import websocket

BUILD = Path(__file__).parents[2] / "build" / "hub"
ENVIRONMENT = BUILD / "env"
PROXY = BUILD / "proxy" / "node_modules" / ".bin" / "configurable-http-proxy"
START_S = 120
REQUEST_S = 60
CELL_S = 120
SETUP = "%load_ext jupyter_codeagent\nimport pandas as pd"


@dataclass(frozen=True, kw_only=True)
class Account:
    """A user of this machine."""

    name: str
    uid: int
    gid: int
    home: Path

    @property
    def key(self) -> str:
        """The key of the model server that this user has."""
        return f"key-of-the-user-{self.name}"

    def python(self, source: str, *arguments: str, timeout_s: float = 60) -> str:
        """What a program prints that runs as this user, with nothing of ours in its environment."""
        done = subprocess.run(
            [str(ENVIRONMENT / "bin" / "python"), "-c", source, *arguments],
            user=self.uid,
            group=self.gid,
            extra_groups=[],
            cwd=self.home,
            env={"HOME": str(self.home), "PATH": os.environ["PATH"]},
            capture_output=True,
            text=True,
            timeout=timeout_s,
            check=False,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    def processes(self) -> dict[int, str]:
        """Pid to command line of all that runs as this user."""
        found = {}
        for entry in Path("/proc").iterdir():
            with suppress(OSError):
                if entry.name.isdigit() and entry.stat().st_uid == self.uid:
                    found[int(entry.name)] = (entry / "cmdline").read_text().replace("\0", " ").strip()
        return {pid: command for pid, command in found.items() if command}  # zombies have none


@contextmanager
def accounts(*names: str) -> Iterator[tuple[Account, ...]]:
    """Make users with homes that others may look into; remove them with all that is theirs."""
    try:
        for name in names:
            subprocess.run(["useradd", "--create-home", "--shell", "/bin/bash", name], check=True)
        found = [pwd.getpwnam(name) for name in names]
        made = tuple(
            Account(name=one.pw_name, uid=one.pw_uid, gid=one.pw_gid, home=Path(one.pw_dir)) for one in found
        )
        for account in made:
            account.home.chmod(0o755)  # as many machines have it: what is private must be so by itself
        yield made
    finally:
        for name in names:
            subprocess.run(["pkill", "-KILL", "-u", name], check=False)
            time.sleep(0.2)
            subprocess.run(["userdel", "--remove", name], capture_output=True, check=False)


@dataclass(frozen=True, kw_only=True)
class Hub:
    """A running hub."""

    url: str
    token: str = field(repr=False)
    """Of a service that may do what an administrator may."""
    log: Path
    process: subprocess.Popen[bytes]

    def request(
        self, path: str, body: Any = None, method: str | None = None, *, token: str = "", ok: tuple[int, ...] = ()
    ) -> Any:
        """JSON from the hub's or a server's REST API; the token goes in a header."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"{self.url}{path}", data=data, method=method)
        request.add_header("Content-Type", "application/json")
        request.add_header("Authorization", f"token {token or self.token}")
        try:
            with urllib.request.urlopen(request, timeout=REQUEST_S) as response:
                text = response.read()
        except urllib.error.HTTPError as error:
            if error.code in ok:
                return error.code
            raise AssertionError(f"{method or 'GET'} {path}: {error.code} {error.read()[:500]!r}") from error
        return json.loads(text) if text else None

    def start_server(self, account: Account, name: str = "") -> UserServer:
        """Start a server of this user, through the hub."""
        self.request(f"/hub/api/users/{account.name}", {}, "POST", ok=(409,))
        token = self.request(f"/hub/api/users/{account.name}/tokens", {}, "POST")["token"]
        self.request(f"/hub/api/users/{account.name}/servers/{name}", {}, "POST", ok=(400,))
        prefix = "/".join(filter(None, ("/user", account.name, name)))
        deadline = time.monotonic() + START_S
        while time.monotonic() < deadline:
            servers = self.request(f"/hub/api/users/{account.name}")["servers"]
            if servers.get(name, {}).get("ready"):
                return UserServer(hub=self, account=account, name=name, prefix=prefix, token=token)
            time.sleep(0.2)
        raise AssertionError(f"the server of {account.name} does not start: {self.log.read_text()[-4000:]}")


@dataclass(frozen=True, kw_only=True)
class UserServer:
    """A user's server behind the proxy."""

    hub: Hub
    account: Account
    name: str
    prefix: str
    """``/user/a``, or ``/user/a/second`` of a named server."""
    token: str = field(repr=False)
    """Of the user."""

    def request(self, path: str, body: Any = None, method: str | None = None, *, token: str = "") -> Any:
        return self.hub.request(f"{self.prefix}{path}", body, method, token=token or self.token)

    @contextmanager
    def kernel(self, notebook: str = "") -> Iterator[HubKernel]:
        """A new kernel with the extension loaded, of a notebook or of none."""
        if notebook:
            body = {"path": notebook, "name": notebook, "type": "notebook", "kernel": {"name": "python3"}}
            kernel_id = self.request("/api/sessions", body)["kernel"]["id"]
        else:
            kernel_id = self.request("/api/kernels", {"name": "python3"})["id"]
        address = f"ws{self.hub.url.removeprefix('http')}{self.prefix}/api/kernels/{kernel_id}/channels"
        connection = websocket.create_connection(
            address, header=[f"Authorization: token {self.token}"], timeout=CELL_S
        )
        kernel = HubKernel(server=self, id=kernel_id, connection=connection)
        try:
            ran = kernel.run(SETUP)
            assert "Error" not in ran, ran
            yield kernel
        finally:
            connection.close()
            with suppress(AssertionError):  # the server may have been stopped by the test
                self.request(f"/api/kernels/{kernel_id}", method="DELETE")

    def stop(self) -> None:
        """Stop the server, as the hub does with an idle one."""
        path = f"/hub/api/users/{self.account.name}/servers/{self.name}"
        self.hub.request(path, method="DELETE")
        deadline = time.monotonic() + START_S
        while self.name in self.hub.request(f"/hub/api/users/{self.account.name}")["servers"]:
            assert time.monotonic() < deadline, "the server does not stop"
            time.sleep(0.2)


@dataclass(frozen=True, kw_only=True)
class HubKernel:
    """A kernel, driven through the proxy by its websocket."""

    server: UserServer
    id: str
    connection: websocket.WebSocket

    def send(self, code: str) -> str:
        header = {
            **{"msg_id": uuid.uuid4().hex, "msg_type": "execute_request", "session": uuid.uuid4().hex},
            **{"username": "", "version": "5.3", "date": ""},
        }
        content = {"code": code, "silent": False, "store_history": True, "allow_stdin": False}
        message = {"channel": "shell", "header": header, "parent_header": {}, "metadata": {}, "content": content}
        self.connection.send(json.dumps(message))
        return str(header["msg_id"])

    def wait(self, msg_id: str) -> str:
        """All text that the cell showed, once it has ended."""
        shown, replied, idle = "", False, False
        while not (replied and idle):
            message = json.loads(self.connection.recv())
            if message["parent_header"].get("msg_id") != msg_id:
                continue
            content, kind = message["content"], message["msg_type"]
            if kind == "execute_reply":
                replied = True
                shown += (
                    f"{content.get('ename', '')} {content.get('evalue', '')}" if content["status"] != "ok" else ""
                )
            elif kind == "status":
                idle = content["execution_state"] == "idle"
            else:
                shown += content.get("text", "") + content.get("data", {}).get("text/plain", "")
        return shown

    def run(self, code: str) -> str:
        return self.wait(self.send(code))

    @property
    def pid(self) -> int:
        return int(self.run("import os; print(os.getpid())"))


CONFIGURATION = """
import json
given = json.loads({given!r})
c.JupyterHub.authenticator_class = "dummy"
c.Authenticator.allowed_users = set(given["users"])
c.JupyterHub.allow_named_servers = True
c.JupyterHub.bind_url = given["url"]
c.JupyterHub.hub_bind_url = given["hub_url"]
c.ConfigurableHTTPProxy.command = given["proxy"]
c.ConfigurableHTTPProxy.api_url = given["proxy_url"]
c.ConfigurableHTTPProxy.auth_token = given["proxy_token"]
c.ConfigurableHTTPProxy.pid_file = given["work"] + "/proxy.pid"
c.JupyterHub.db_url = "sqlite:///" + given["work"] + "/hub.sqlite"
c.JupyterHub.cookie_secret_file = given["work"] + "/cookie_secret"
c.JupyterHub.services = [{{"name": "test", "api_token": given["token"]}}]
c.JupyterHub.load_roles = [
    {{
        "name": "test",
        "services": ["test"],
        "scopes": ["admin:users", "admin:servers", "tokens", "access:servers", "read:metrics"],
    }}
]
c.Spawner.default_url = "/lab"
c.Spawner.cmd = [given["environment"] + "/bin/jupyterhub-singleuser"]
c.Spawner.args = ["--KernelManager.transport=ipc", "--LabApp.expose_app_in_browser=True"]
keys = given["keys"]
c.Spawner.environment = {{**given["variables"], "CODEAGENT_API_KEY": lambda spawner: keys[spawner.user.name]}}
"""
"""As docs/hub.md has it: a key for each user, and kernels on Unix sockets, since everybody can read from ports."""


@contextmanager
def running_hub(
    work: Path, users: tuple[Account, ...], variables: Mapping[str, str], *, configuration: str = ""
) -> Iterator[Hub]:
    """Start a hub that starts servers with these variables; end it with all its servers."""
    url, hub_url, proxy_url = (f"http://127.0.0.1:{port}" for port in free_ports(3))
    token = secrets.token_hex(16)
    given = {
        **{"users": [user.name for user in users], "url": url, "hub_url": hub_url, "proxy_url": proxy_url},
        **{"proxy": [str(PROXY)], "proxy_token": secrets.token_hex(16), "work": str(work), "token": token},
        **{"environment": str(ENVIRONMENT), "variables": dict(variables)},
        "keys": {user.name: user.key for user in users},
    }
    file, log = work / "jupyterhub_config.py", work / "hub.log"
    file.write_text(CONFIGURATION.format(given=json.dumps(given)) + configuration, encoding="utf-8")
    file.chmod(0o600)
    path = f"{ENVIRONMENT / 'bin'}{os.pathsep}{os.environ['PATH']}"
    kept = {name: value for name, value in os.environ.items() if name in ("LANG", "TZ")}
    command = [str(ENVIRONMENT / "bin" / "jupyterhub"), "-f", str(file), "--debug"]
    with log.open("wb") as written:
        process = subprocess.Popen(
            command, cwd=work, env={**kept, "PATH": path, "HOME": str(work)}, stdout=written, stderr=written
        )
        hub = Hub(url=url, token=token, log=log, process=process)
        try:
            wait_for_hub(hub)
            yield hub
        finally:
            process.terminate()
            try:
                process.wait(60)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
            end_proxy(proxy_url)


def end_proxy(api_url: str) -> None:
    """End the proxy: where `node` is a script that starts the real one, the hub ends only the script."""
    port = api_url.rpartition(":")[2]
    for entry in Path("/proc").iterdir():
        with suppress(OSError):
            command = (entry / "cmdline").read_text().split("\0") if entry.name.isdigit() else []
            if str(PROXY) in command and port in command:
                os.kill(int(entry.name), signal.SIGKILL)


def wait_for_hub(hub: Hub) -> None:
    deadline = time.monotonic() + START_S
    while time.monotonic() < deadline and hub.process.poll() is None:
        with suppress(OSError, AssertionError):
            hub.request("/hub/api/")
            return
        time.sleep(0.2)
    raise AssertionError(f"the hub does not start: {hub.log.read_text()[-4000:]}")


def free_ports(count: int) -> list[int]:
    """Ports that nobody listens on at the moment."""
    opened = [socket.socket() for _ in range(count)]
    try:
        for one in opened:
            one.bind(("127.0.0.1", 0))
        return [int(one.getsockname()[1]) for one in opened]
    finally:
        for one in opened:
            one.close()
