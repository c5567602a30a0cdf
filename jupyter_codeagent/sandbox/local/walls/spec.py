"""An in-memory kernelspec: nothing is installed, nothing appears in the launcher."""

from __future__ import annotations

import sys

from jupyter_client.kernelspec import KernelSpec, KernelSpecManager

PROVISIONER = "codeagent-sandbox"


def sandbox_spec() -> KernelSpec:
    """Return the spec that names our provisioner; `SandboxProvisioner.pre_launch` replaces its argv."""
    return KernelSpec(
        argv=[sys.executable, "{connection_file}"],
        display_name="jupyter-codeagent sandbox",
        language="python",
        interrupt_mode="signal",
        metadata={"kernel_provisioner": {"provisioner_name": PROVISIONER, "config": {}}},
    )


class SandboxSpecManager(KernelSpecManager):
    """A manager with exactly one kernelspec, under any name."""

    def get_kernel_spec(self, kernel_name: str) -> KernelSpec:
        return sandbox_spec()
