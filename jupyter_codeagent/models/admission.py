"""Admission of model servers: one that is neither the user's own nor configured needs a confirmation first.

All code admits a server before it sends anything, even a request for the list of models. If there is a person to
ask, `ModelFinder.find` asks for the confirmation; otherwise the error is reported.
"""

from __future__ import annotations

from jupyter_codeagent.models import owners
from jupyter_codeagent.models.endpoint import Address, ModelEndpoint, origins, parse_address
from jupyter_codeagent.models.owners import NOBODY, Owners
from jupyter_codeagent.settings.config import ALLOWED_SERVERS
from jupyter_codeagent.settings.settings import ModelSettings
from jupyter_codeagent.types.errors import ForbiddenServerError, ModelUnreachableError, UnconfirmedServerError


def admit(base_url: str, settings: ModelSettings) -> Owners:
    """Check that a server may be asked, and return its owners if it is on this machine. Blocks for a moment.

    Raises
    ------
    ForbiddenServerError
        The administrator does not allow the server.
    UnconfirmedServerError
        The server is not confirmed: nothing may be sent to it.
    UsageError
    """
    address = parse_address(base_url)
    if settings.servers is not None and address.origin not in origins(settings.servers):
        raise ForbiddenServerError(f"The model server {address.label} {settings.why_only_these}")
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
    """Check that a model of another package may be used, because it can send prompts anywhere.

    Raises
    ------
    ForbiddenServerError
        The administrator says which servers may be asked, and this model can ask any.
    UnconfirmedServerError
        The model is not confirmed.
    """
    if settings.servers is not None:
        raise ForbiddenServerError(f"The model {name!r} of another package ({provider}) {settings.why_only_these}")
    identifier = f"{name} ({provider})"
    if name not in settings.configured and identifier not in settings.allowed:
        raise UnconfirmedServerError(
            f"The model {name!r} belongs to another package ({provider}) and was not configured outside of this "
            "notebook: nothing was sent. `%%agent` asks once before it is used; with nobody to ask, set "
            f"CODEAGENT_MODEL={name} before Jupyter is started.",
            address=identifier,
            question="An installed package provides this model and can send prompts anywhere. This notebook names "
            "it; you have not configured it.",
            grant=identifier,
        )


def address_to_confirm(endpoint: ModelEndpoint, settings: ModelSettings) -> str:
    """Return the server that a run would have to ask the user about; empty if none."""
    try:
        if endpoint.kind == "server":
            admit(endpoint.base_url, settings)
        elif endpoint.kind == "registered":
            admit_registered(endpoint.model, endpoint.label, settings)
    except UnconfirmedServerError as error:
        return error.address
    return ""


def owner_changed(endpoint: ModelEndpoint) -> bool:
    """Check whether the local port has other owners than when the server was admitted."""
    return endpoint.kind == "server" and owners_at(endpoint.base_url) != endpoint.owners


def check_owners(endpoint: ModelEndpoint) -> None:
    """Check the owners of a local server before each request, which may come an hour after its admission.

    Raises
    ------
    ModelUnreachableError
        Its port belongs to another user now.
    """
    now, before = owners_at(endpoint.base_url), endpoint.owners
    if now not in (before, NOBODY):
        raise ModelUnreachableError(
            f"The server at {parse_address(endpoint.base_url).label} now belongs to {owners.format_owners(now)}, "
            f"before it was that of {owners.format_owners(before)}: nothing was sent. Ask again."
        )


def owners_at(base_url: str) -> Owners:
    """Return the owners of a local server; None also for one on another machine. Raises UsageError."""
    address = parse_address(base_url)
    return owners.find_owners(address.host, address.port) if address.is_loopback else None


def is_own_server(endpoint: ModelEndpoint) -> bool:
    """Check whether the server is on this machine and now belongs to this user."""
    return endpoint.kind == "server" and owners.belong_to_user(owners_at(endpoint.base_url))


def server_label(address: Address, uids: Owners) -> str:
    """Return a label for lists and receipts: ``127.0.0.1:11434, server of root``, without this user as owner."""
    foreign = address.is_loopback and uids != NOBODY and not owners.belong_to_user(uids)
    return f"{address.label}, server of {owners.format_owners(uids)}" if foreign else address.label


def _grant(address: Address, uids: Owners) -> str:
    """Return the grant for a server and its owner, so that another owner of the port is not confirmed."""
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
        "it can read your prompts, and what they reveal about your data.",
        grant=address.origin,
    )


def _headless_hint(address: Address) -> str:
    return f"With nobody to ask, set {ALLOWED_SERVERS}={address.origin} before Jupyter is started."
