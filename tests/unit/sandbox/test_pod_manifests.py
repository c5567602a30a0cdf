"""The manifests of docs/kubernetes: valid for Kubernetes, and nothing in them that a sandbox must not have."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

from jupyter_codeagent.sandbox.remote import kubectl

REPOSITORY = Path(__file__).parents[3]
MANIFESTS = REPOSITORY / "docs" / "kubernetes"
SCHEMA = json.loads((REPOSITORY / "tests" / "kubernetes_schema.json").read_text("utf-8"))


def documents(name: str) -> list[dict[str, Any]]:
    text = (MANIFESTS / name).read_text("utf-8")
    return list(yaml.safe_load_all(text.replace(kubectl.NAME, "codeagent-1").replace(kubectl.END, "now")))


def validate(document: dict[str, Any]) -> None:
    kind = SCHEMA["kinds"][f"{document['apiVersion']} {document['kind']}"]
    jsonschema.Draft202012Validator({"$ref": f"#/$defs/{kind}", "$defs": SCHEMA["$defs"]}).validate(document)


@pytest.mark.parametrize("name", ["sandbox.yaml", "cluster.yaml"])
def test_the_manifests_are_valid_by_the_schemas_of_kubernetes(name: str) -> None:
    for document in documents(name):
        validate(document)


def test_a_manifest_with_a_misspelt_field_is_not_valid() -> None:
    (pod,) = documents("sandbox.yaml")
    pod["spec"]["runtimeClass"] = "kata"
    with pytest.raises(jsonschema.ValidationError, match="runtimeClass"):
        validate(pod)


def test_the_pod_has_no_token_no_root_no_privilege_and_limits_for_all_it_uses() -> None:
    (pod,) = documents("sandbox.yaml")
    spec = pod["spec"]
    (container,) = spec["containers"]
    assert spec["restartPolicy"] == "Never"
    assert spec["activeDeadlineSeconds"] == kubectl.LONGEST_S
    assert (spec["automountServiceAccountToken"], spec["enableServiceLinks"]) == (False, False)
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert spec["securityContext"]["seccompProfile"] == {"type": "RuntimeDefault"}
    assert container["securityContext"] == {
        "allowPrivilegeEscalation": False,
        "readOnlyRootFilesystem": True,
        "capabilities": {"drop": ["ALL"]},
    }
    assert set(container["resources"]["limits"]) == {"cpu", "memory", "ephemeral-storage"}
    assert container["name"] == kubectl.CONTAINER
    assert not {"hostNetwork", "hostPID", "hostIPC", "serviceAccountName"} & set(spec)
    assert [set(volume) for volume in spec["volumes"]] == [{"name", "emptyDir"}]


def test_no_traffic_is_allowed_in_the_namespace_of_the_sandboxes() -> None:
    (policy,) = [document for document in documents("cluster.yaml") if document["kind"] == "NetworkPolicy"]
    assert policy["spec"] == {"podSelector": {}, "policyTypes": ["Ingress", "Egress"]}


def test_a_user_may_do_what_kubectl_is_asked_and_nothing_else() -> None:
    (role,) = [document for document in documents("cluster.yaml") if document["kind"] == "Role"]
    allowed = {(rule["resources"][0], verb) for rule in role["rules"] for verb in rule["verbs"]}
    assert allowed == {
        *(("pods", verb) for verb in ("create", "get", "list", "delete")),
        *(("pods/exec", verb) for verb in ("get", "create")),
        ("events", "list"),
    }


def test_agent_sandbox_is_given_the_same_pod() -> None:
    (sandbox,), (pod,) = documents("agent-sandbox.yaml"), documents("sandbox.yaml")
    template = sandbox["spec"].pop("podTemplate")
    assert sandbox["spec"] == {"shutdownTime": "now", "shutdownPolicy": "Delete"}
    assert template["spec"] == pod["spec"]
    # Without the label by which ended Pods are swept: the controller would make them again.
    assert template["metadata"] == {"labels": {kubectl.LABEL: "codeagent-1"}}
