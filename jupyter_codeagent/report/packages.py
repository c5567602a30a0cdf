"""The packages that code imports, with the versions that are installed here."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from importlib import metadata

from jupyter_codeagent.report.report import Package
from jupyter_codeagent.types.syntax_trees import module_tree


def imported_packages(codes: Iterable[str]) -> tuple[Package, ...]:
    """Return the packages that these programs import, by name; modules of Python itself are left out.

    Takes a third of a second: it reads which installed package has which modules.
    """
    modules = {name for code in codes for name in _modules(code)} - sys.stdlib_module_names
    if not modules:
        return ()
    owners = metadata.packages_distributions()
    names = {(owners.get(module) or [module])[0] for module in modules}
    return tuple(Package(name=name, version=_version(name)) for name in sorted(names, key=str.lower))


def _modules(code: str) -> Iterator[str]:
    try:
        tree = module_tree(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # a cell with lines for IPython; what it imports is not known
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            yield node.module.partition(".")[0]


def _version(name: str) -> str:
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return ""
