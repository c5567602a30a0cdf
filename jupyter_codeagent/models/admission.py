"""Which servers may be asked at all: one that is not the user's own, nor configured by them, needs a yes first.

Whoever talks to a server has it admitted before, so that nothing, not even the question which models it has,
reaches one without its yes. Where there is somebody to ask, the question is put (`session.find_model`); everywhere
else the error is the answer.
"""

from __future__ import annotations

from jupyter_codeagent.models import owners
from jupyter_codeagent.models.endpoint import Address, ModelEndpoint, origins, parse_address
from jupyter_codeagent.models.owners import NOBODY, Owners
from jupyter_codeagent.settings.config import ALLOWED_SERVERS
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ModelUnreachableError, UnconfirmedServerError


def admit(base_url: str, settings: ModelSettings) -> Owners:
    """Whose server it is, where it is on this machine. Blocks for a moment at the most.

    Raises
    ------
    UnconfirmedServerError
        It needs a yes and has none: nothing may be sent to it.
    UsageError
    """
    address = parse_address(base_url)
    allowed = address.origin in origins(settings.allowed)
    if address.is_loopback:
        uids = owners.find_owners(address.host, address.port)
        if owners.are_trusted(uids) or allowed or _grant(address, uids) in settings.allowed:
            return uids
        raise _foreign_server_error(address, uids)
    if allowed or address.origin in origins(settings.configured):
        return None
    raise _remote_server_error(address)


def admit_registered(name: str, provider: str, settings: ModelSettings) -> None:
    """A model of another package, which sends prompts wherever it likes. Raises UnconfirmedServerError."""
    identifier = f"{name} ({provider})"
    if name not in settings.configured and identifier not in settings.allowed:
        raise UnconfirmedServerError(
            f"The model {name!r} is that of another package ({provider}) and was not configured outside of this "
            "notebook: nothing was sent. `%%agent` asks once before it is used; with nobody to ask, set "
            f"CODEAGENT_MODEL={name} before Jupyter is started.",
            address=identifier,
            question="A package that is installed here provides this model and sends prompts where it likes. This "
            "notebook names it; you have not configured it.",
            grant=identifier,
        )


def address_to_confirm(endpoint: ModelEndpoint, settings: ModelSettings) -> str:
    """What a run would have to ask for before it sends anything to this model; empty if nothing."""
    try:
        if endpoint.kind == "server":
            admit(endpoint.base_url, settings)
        elif endpoint.kind == "registered":
            admit_registered(endpoint.model, endpoint.label, settings)
    except UnconfirmedServerError as error:
        return error.address
    return ""


def owner_changed(endpoint: ModelEndpoint) -> bool:
    """Whether its port of this machine is not that of the server that was admitted any more."""
    return endpoint.kind == "server" and owners_at(endpoint.base_url) != endpoint.owners


def check_owners(endpoint: ModelEndpoint) -> None:
    """Before each request, which may come an hour after the server was admitted.

    Raises
    ------
    ModelUnreachableError
        Its port belongs to somebody else now.
    """
    now, before = owners_at(endpoint.base_url), endpoint.owners
    if now not in (before, NOBODY):
        raise ModelUnreachableError(
            f"The server at {parse_address(endpoint.base_url).label} now belongs to {owners.format_owners(now)}, "
            f"before it was that of {owners.format_owners(before)}: nothing was sent. Ask again."
        )


def owners_at(base_url: str) -> Owners:
    """Whose server this is; None also for one on another machine. Raises UsageError."""
    address = parse_address(base_url)
    return owners.find_owners(address.host, address.port) if address.is_loopback else None


def is_own_server(endpoint: ModelEndpoint) -> bool:
    """Whether it is on this machine and belongs to this user now."""
    return endpoint.kind == "server" and owners.belong_to_user(owners_at(endpoint.base_url))


def label(address: Address, uids: Owners) -> str:
    """For lists and receipts: ``127.0.0.1:11434, server of root``, without the owner where it is this user."""
    foreign = address.is_loopback and uids != NOBODY and not owners.belong_to_user(uids)
    return f"{address.label}, server of {owners.format_owners(uids)}" if foreign else address.label


def _grant(address: Address, uids: Owners) -> str:
    """For this owner: whoever takes the port over has no yes."""
    return f"{address.origin} of {owners.format_owners(uids)}"


def _foreign_server_error(address: Address, uids: Owners) -> UnconfirmedServerError:
    who = owners.format_owners(uids)
    return UnconfirmedServerError(
        f"A server of {who} answers on {address.label}: not used, nothing was sent to it. To use it, name it "
        f"(`%%agent --base-url {address.url}`): you are asked once. {_headless_hint(address)}",
        address=_grant(address, uids),
        question=f"It is on this machine, but not yours: {who} can read your prompts, and what they tell of your "
        "data.",
        grant=_grant(address, uids),
    )


def _remote_server_error(address: Address) -> UnconfirmedServerError:
    return UnconfirmedServerError(
        f"{address.label} is not on this machine and was not configured outside of this notebook: nothing was sent "
        f"to it. `%%agent` asks once before it is used. {_headless_hint(address)}",
        address=address.origin,
        question="It is not on this machine, and you have not configured it: this notebook names it. Whoever runs "
        "it can read your prompts, and what they tell of your data.",
        grant=address.origin,
    )


def _headless_hint(address: Address) -> str:
    return f"With nobody to ask, set {ALLOWED_SERVERS}={address.origin} before Jupyter is started."
