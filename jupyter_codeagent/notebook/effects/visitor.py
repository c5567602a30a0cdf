"""The syntax tree visitor that collects the effects of code on outer names.

It prefers to report too much: a name that is bound in one branch only may still be read from outside, and a value
reached through another name (``d = df``, ``for row in rows``) may be changed through it.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from jupyter_codeagent.notebook.effects.scopes import (
    PARAMETER,
    NameBindings,
    bound,
    declared,
    is_function,
    parameters,
)
from jupyter_codeagent.notebook.effects.tables import (
    ALIASING,
    ALIASING_METHODS,
    ARGUMENT_MUTATORS,
    DYNAMIC_FUNCTIONS,
    DYNAMIC_MODULES,
    FILE_FUNCTIONS,
    FILE_METHODS,
    IN_PLACE,
    IN_PLACE_IF_UNUSED,
    OPENERS,
    PATH_KEYWORDS,
    PATH_METHODS,
    PLAIN_ATTRIBUTES,
    PROCESS_FUNCTIONS,
    SHALLOW,
)

MAX_PATH_CHARS = 80
QUERY_NAME = re.compile(r"@([^\W\d]\w*)")


@dataclass(frozen=True, kw_only=True)
class InPlace:
    """One way in which the existing value of a name is changed."""

    method: str = ""
    """The method that changes it: ``append``; ``+=`` where that changes only what is an array; else empty."""
    inside: bool = False
    """Whether it is a part of the value that changes: ``row["x"] = 1`` for a row of a list."""


class EffectsVisitor(ast.NodeVisitor):
    """Visits nodes in the order of evaluation. Functions are visited at their definition, with names read later."""

    def __init__(self) -> None:
        self.reads: dict[str, None] = {}
        self.binds: dict[str, None] = {}
        self.deletes: dict[str, None] = {}
        self.changes: dict[str, set[InPlace]] = {}
        self.writes: dict[str, None] = {}
        self.unclear: dict[str, None] = {}
        self._known = NameBindings(set(), {}, set(), set())
        self._scopes: list[frozenset[str]] = []
        """Local names of the enclosing functions, lambdas and comprehensions, the innermost last."""
        self._globals: list[frozenset[str]] = []
        self._changing: dict[str, tuple[list[str], dict[str, set[InPlace]]]] = {}
        """Function -> its parameters, and how it changes them."""
        self._imported: dict[str, tuple[str, str]] = {}
        """Name -> module, and its attribute, or "" for the module itself."""
        self._dropped: ast.expr | None = None

    def read(self, tree: ast.Module) -> None:
        """Collect the effects of a module."""
        self._all(tree.body)

    # --- names --------------------------------------------------------------------------------------------

    def _is_local(self, name: str) -> bool:
        for scope, outside in zip(reversed(self._scopes), reversed(self._globals), strict=True):
            if name in outside:
                return False
            if name in scope:
                return True
        return False

    def visit_Name(self, node: ast.Name) -> None:
        if isinstance(node.ctx, ast.Load):
            if not self._is_local(node.id) and node.id not in self._known.own:
                self.reads[node.id] = None
            if node.id == "get_ipython":
                self.unclear["it uses get_ipython()"] = None
            elif node.id in DYNAMIC_FUNCTIONS and node.id != "vars" and node.id not in self._known.own:
                self.unclear[DYNAMIC_FUNCTIONS[node.id]] = None  # an alias is enough
        elif isinstance(node.ctx, ast.Del):
            self._forget(node.id)
        else:
            self._bind(node.id, frozenset())

    def _bind(self, name: str, roots: frozenset[str], *, direct: bool = False, shallow: bool = False) -> None:
        known = self._known
        known.aliases.pop(name, None)
        known.direct.discard(name)
        known.shallow.discard(name)
        if roots - {name}:
            known.aliases[name] = roots
            if direct:
                known.direct.add(name)
            if shallow:
                known.shallow.add(name)
        if self._is_local(name):
            return
        self.binds[name] = None
        if not self._scopes:  # a function may never be called
            if name in roots:
                known.own.discard(name)
            else:
                known.own.add(name)

    def _forget(self, name: str) -> None:
        if self._is_local(name):
            return
        if name not in self._known.own:
            self.deletes[name] = None
        self._known.own.discard(name)
        self._known.aliases.pop(name, None)

    def _roots(self, node: ast.AST | None) -> frozenset[str]:
        """Return the outer names whose value, or a part of it, the expression may be."""
        match node:
            case ast.Name(id=name):
                outside = not self._is_local(name) and name not in self._known.own
                return self._known.aliases.get(name, frozenset()) | ({name} if outside else frozenset())
            case ast.Attribute(value=value, attr=attribute):
                return self._roots(value) if attribute not in PLAIN_ATTRIBUTES else frozenset()
            case ast.Subscript(value=value) | ast.Starred(value=value):
                return self._roots(value)
            case ast.NamedExpr(value=value) | ast.Await(value=value):
                return self._roots(value)
            case ast.IfExp(body=body, orelse=orelse):
                return self._roots(body) | self._roots(orelse)
            case ast.BoolOp(values=parts) | ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
                return frozenset().union(*map(self._roots, parts))
        return self._roots_of_new(node)

    def _roots_of_new(self, node: ast.AST | None) -> frozenset[str]:
        """Return the outer names whose parts are in what a call or a comprehension returns."""
        parts: list[ast.expr] = []
        match node:
            case ast.Call(func=ast.Attribute(value=value, attr=attribute), args=arguments):
                parts = [value] if attribute in ALIASING_METHODS else []
                parts += arguments if attribute in ALIASING else []
            case ast.Call(func=ast.Name(id=name), args=arguments) if name in ALIASING | SHALLOW:
                parts = arguments
            case ast.ListComp(elt=part) | ast.SetComp(elt=part) | ast.DictComp(value=part) if _is_chain(part):
                parts = [generator.iter for generator in node.generators]
            case ast.GeneratorExp(elt=part) if _is_chain(part):
                parts = [generator.iter for generator in node.generators]
        return frozenset().union(*map(self._roots, parts))

    def _change(self, target: ast.AST | None, *, method: str = "", inside: bool = False) -> None:
        """Note that the value of an expression is changed, or with `inside` a part of it."""
        known = self._known
        if self._is_new(target) and not inside:
            return
        for name in self._roots(target):
            whole = isinstance(target, ast.Name) and (target.id == name or target.id in known.direct)
            self.changes.setdefault(name, set()).add(InPlace(method=method, inside=inside or not whole))

    def _is_new(self, node: ast.AST | None) -> bool:
        """Check for a new container, which may change while its parts are still those of another value."""
        match node:
            case ast.Name(id=name):
                return name in self._known.shallow
            case ast.Call(func=ast.Name(id=name)):
                return name in SHALLOW
        return isinstance(node, ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp)

    # --- statements -----------------------------------------------------------------------------------------

    def _all(self, nodes: Iterable[ast.AST]) -> None:
        for node in nodes:
            self.visit(node)

    def visit_Expr(self, node: ast.Expr) -> None:
        self._dropped = node.value
        self.visit(node.value)

    def visit_Assign(self, node: ast.Assign) -> None:
        self.visit(node.value)
        for target in node.targets:
            self._assign(target, node.value)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> None:
        self.visit(node.annotation)
        if node.value is not None:
            self.visit(node.value)
            self._assign(node.target, node.value)

    def visit_NamedExpr(self, node: ast.NamedExpr) -> None:
        self.visit(node.value)
        self._assign(node.target, node.value)

    def _assign(self, target: ast.expr, value: ast.expr | None, *, part: bool = False) -> None:
        if isinstance(target, ast.Name):
            shallow = not part and self._is_new(value)
            direct = not part and not shallow and isinstance(value, ast.Name)
            self._bind(target.id, self._roots(value), direct=direct, shallow=shallow)
        elif isinstance(target, ast.Tuple | ast.List):
            for index, element in enumerate(target.elts):
                same = isinstance(value, ast.Tuple | ast.List) and len(value.elts) == len(target.elts)
                self._assign(element, value.elts[index] if same else value, part=not same)  # type: ignore[union-attr]
        elif isinstance(target, ast.Starred):
            self._assign(target.value, value, part=True)
        else:
            self.visit(target)

    def visit_AugAssign(self, node: ast.AugAssign) -> None:
        if isinstance(node.target, ast.Name):
            name = node.target.id
            self.visit(ast.copy_location(ast.Name(id=name, ctx=ast.Load()), node.target))
            self.visit(node.value)
            roots, shallow = self._known.aliases.get(name, frozenset()), name in self._known.shallow
            way = InPlace() if name in self._known.direct else InPlace(method="+=", inside=True)
            for root in roots if not shallow else ():
                self.changes.setdefault(root, set()).add(way)
            was_own = name in self._known.own
            self._bind(name, roots, direct=not shallow, shallow=shallow)
            if not was_own and not self._scopes:
                self._known.own.add(name)
        else:
            self.visit(node.value)
            self.visit(node.target)

    def visit_Attribute(self, node: ast.Attribute) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._change(node.value)
        elif node.attr in ("__dict__", "__globals__", "user_ns", "modules"):
            self.unclear[f"it reaches into {node.attr}"] = None
        self.visit(node.value)

    def visit_Subscript(self, node: ast.Subscript) -> None:
        if not isinstance(node.ctx, ast.Load):
            self._change(node.value)
        self.visit(node.value)
        self.visit(node.slice)

    def visit_Import(self, node: ast.Import) -> None:
        for alias in node.names:
            name = alias.asname or alias.name.partition(".")[0]
            self._bind(name, frozenset())
            self._imports(name, alias.name if alias.asname else name, "")

    def _imports(self, name: str, module: str, part: str) -> None:
        self._imported[name] = module, part
        if (reason := DYNAMIC_MODULES.get(module.partition(".")[0])) is not None:
            self.unclear[reason] = None

    def visit_ImportFrom(self, node: ast.ImportFrom) -> None:
        for alias in node.names:
            if alias.name == "*":
                self.unclear[f"it imports everything from {node.module or '.'} (*)"] = None
            else:
                self._bind(alias.asname or alias.name, frozenset())
                self._imports(alias.asname or alias.name, node.module or "", alias.name)

    def _branches(self, *branches: Sequence[ast.AST], may_skip: bool = False) -> None:
        before = self._known
        ends = [before.copy()] if may_skip else []
        for branch in branches:
            self._known = before.copy()
            self._all(branch)
            ends.append(self._known)
        self._known = ends[0]
        for end in ends[1:]:
            self._known = self._known.merge(end)

    def visit_If(self, node: ast.If) -> None:
        self.visit(node.test)
        self._branches(node.body, node.orelse)

    def visit_While(self, node: ast.While) -> None:
        self.visit(node.test)
        self._branches(node.body, may_skip=True)
        self._branches(node.orelse, may_skip=True)

    def visit_For(self, node: ast.For | ast.AsyncFor) -> None:
        self.visit(node.iter)
        before = self._known.copy()
        self._assign(node.target, node.iter, part=True)
        self._branches(node.body, may_skip=True)
        self._known = self._known.merge(before)
        self._branches(node.orelse, may_skip=True)

    visit_AsyncFor = visit_For

    def visit_With(self, node: ast.With | ast.AsyncWith) -> None:
        for item in node.items:
            self.visit(item.context_expr)
            if item.optional_vars is not None:
                self._assign(item.optional_vars, item.context_expr)
        self._all(node.body)

    visit_AsyncWith = visit_With

    def visit_Try(self, node: ast.Try | ast.TryStar) -> None:
        before = self._known.copy()
        self._all([*node.body, *node.orelse])
        end = self._known
        for handler in node.handlers:
            self._known = before.copy()
            if handler.type is not None:
                self.visit(handler.type)
            if handler.name:  # unbound again after the handler
                self._bind(handler.name, frozenset())
            self._all(handler.body)
            if handler.name:
                self._known.own.discard(handler.name)
            end = end.merge(self._known)
        self._known = end
        self._all(node.finalbody)

    visit_TryStar = visit_Try

    def visit_Match(self, node: ast.Match) -> None:
        self.visit(node.subject)
        roots = self._roots(node.subject)
        before, ends = self._known, [self._known.copy()]
        for case in node.cases:
            self._known = before.copy()
            for part in ast.walk(case.pattern):
                name = part.rest if isinstance(part, ast.MatchMapping) else getattr(part, "name", None)
                if isinstance(name, str):
                    self._bind(name, roots)
                elif isinstance(part, ast.expr):
                    self.visit(part)
            if case.guard is not None:
                self.visit(case.guard)
            self._all(case.body)
            ends.append(self._known)
        self._known = ends[0]
        for end in ends[1:]:
            self._known = self._known.merge(end)

    # --- scopes ---------------------------------------------------------------------------------------------

    def visit_FunctionDef(self, node: ast.FunctionDef | ast.AsyncFunctionDef) -> None:
        self._all(node.decorator_list)
        arguments = node.args
        self._all(d for d in (*arguments.defaults, *arguments.kw_defaults) if d is not None)
        annotations = [one.annotation for one in parameters(arguments)]
        self._all(a for a in (*annotations, node.returns) if a is not None)
        self._bind(node.name, frozenset())
        names = [one.arg for one in parameters(arguments)]
        self._function(node.body, names)
        changed = {name: self.changes.pop(PARAMETER + name) for name in names if PARAMETER + name in self.changes}
        self._changing[node.name] = ([one.arg for one in (*arguments.posonlyargs, *arguments.args)], changed)

    visit_AsyncFunctionDef = visit_FunctionDef

    def visit_Lambda(self, node: ast.Lambda) -> None:
        self._all(d for d in (*node.args.defaults, *node.args.kw_defaults) if d is not None)
        self._function([node.body], [one.arg for one in parameters(node.args)])

    def _function(self, body: Sequence[ast.AST], parameters: Sequence[str]) -> None:
        outside = declared(body)
        outer, self._known = self._known, self._known.copy()
        self._scopes.append((frozenset(parameters) | bound(body)) - outside)
        self._globals.append(outside)
        for name in self._scopes[-1]:
            self._known.aliases.pop(name, None)
        for name in parameters:
            self._known.aliases[name] = frozenset({PARAMETER + name})
            self._known.direct.add(name)
        self._all(body)
        self._scopes.pop()
        self._globals.pop()
        self._known = outer

    def visit_ClassDef(self, node: ast.ClassDef) -> None:
        self._all([*node.decorator_list, *node.bases, *(keyword.value for keyword in node.keywords)])
        self._function([one for one in node.body if not is_function(one)], [])
        self._all_methods(node.body)
        self._bind(node.name, frozenset())

    def _all_methods(self, body: Sequence[ast.stmt]) -> None:
        """Visit the methods of a class; the class's names are not visible in them."""
        for one in body:
            if isinstance(one, ast.FunctionDef | ast.AsyncFunctionDef):
                self._all(one.decorator_list)
                self._function(one.body, [a.arg for a in parameters(one.args)])
                for argument in parameters(one.args):
                    self.changes.pop(PARAMETER + argument.arg, None)

    def _comprehension(self, node: ast.ListComp | ast.SetComp | ast.GeneratorExp | ast.DictComp) -> None:
        self.visit(node.generators[0].iter)
        targets = bound([generator.target for generator in node.generators])
        outer_aliases = dict(self._known.aliases)
        self._scopes.append(targets)
        self._globals.append(frozenset())
        for index, generator in enumerate(node.generators):
            if index:
                self.visit(generator.iter)
            self._assign(generator.target, generator.iter, part=True)
            self._all(generator.ifs)
        self._all([node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt])
        self._scopes.pop()
        self._globals.pop()
        for name in targets:
            self._known.aliases.pop(name, None)
            if name in outer_aliases:
                self._known.aliases[name] = outer_aliases[name]

    visit_ListComp = visit_SetComp = visit_GeneratorExp = visit_DictComp = _comprehension

    # --- calls ----------------------------------------------------------------------------------------------

    def visit_Call(self, node: ast.Call) -> None:
        dropped = self._dropped is node
        match node.func:
            case ast.Name(id=name) if not self._is_local(name) and name not in self._known.own:
                self._called(name, node)
            case ast.Name(id=name):
                self._called_own(name, node)
            case ast.Attribute(value=value, attr=attribute):
                self._called_method(value, attribute, node, dropped=dropped)
        for keyword in node.keywords:
            if keyword.arg == "out":  # np.clip(a, 0, 1, out=a)
                self._change(keyword.value)
        self.generic_visit(node)

    def _change_by(self, function: str, parameter: str, argument: ast.expr, *, inside: bool = False) -> None:
        """Note what a function of the code does to the value that it is given for a parameter."""
        for way in self._changing[function][1].get(parameter, ()):
            self._change(argument, method=way.method, inside=inside or way.inside)

    def _handed_to(self, function: ast.expr, value: ast.expr, *, inside: bool = False) -> None:
        """Note what ``value.pipe(function)`` does, or with `inside` ``map(function, value)``."""
        if isinstance(function, ast.Name) and (parameters := self._changing.get(function.id, ([], {}))[0]):
            self._change_by(function.id, parameters[0], value, inside=inside)

    def _called(self, name: str, node: ast.Call) -> None:
        if name in DYNAMIC_FUNCTIONS and not (name == "vars" and node.args):
            self.unclear[DYNAMIC_FUNCTIONS[name]] = None
        if name in ARGUMENT_MUTATORS and node.args:
            self._change(node.args[0])
        if name == "map" and len(node.args) == 2:
            self._handed_to(node.args[0], node.args[1], inside=True)
        if name == "open":
            path, mode, *_ = (*node.args, None, None)
            self._opened(node, path, mode)

    def _called_own(self, name: str, node: ast.Call) -> None:
        parameters, changed = self._changing.get(name, ([], {}))
        for parameter, argument in zip(parameters, node.args, strict=False):
            self._change_by(name, parameter, argument)
        for keyword in node.keywords:
            if keyword.arg in changed:
                self._change_by(name, keyword.arg, keyword.value)
        module, function = self._imported.get(name, ("", name))
        if function in ARGUMENT_MUTATORS and node.args:  # from random import shuffle
            self._change(node.args[0])
        if module and function:
            self._of_module(module, function, node)

    def _called_method(self, value: ast.expr, attribute: str, node: ast.Call, *, dropped: bool) -> None:
        owner = value.id if isinstance(value, ast.Name) else ""
        module, part = self._imported.get(owner, ("", ""))
        if module and not part:
            owner = module
        torch_style = attribute.endswith("_") and not attribute.startswith("_")
        if attribute in IN_PLACE or torch_style or (dropped and attribute in IN_PLACE_IF_UNUSED):
            self._change(value, method=attribute)
        if attribute in ARGUMENT_MUTATORS and node.args:
            self._change(node.args[0])
        if attribute in ("query", "eval"):
            self._query(node)
        if attribute == "pipe" and node.args:
            self._handed_to(node.args[0], value)
        for keyword in node.keywords:
            if keyword.arg == "inplace" and not _is_false(keyword.value):
                self._change(value)
        if owner == "subprocess" or (owner, attribute) in PROCESS_FUNCTIONS:
            self.unclear[f"it starts other programs ({owner}.{attribute})"] = None
        self._files_of(value, attribute, node, owner)

    def _of_module(self, module: str, function: str, node: ast.Call) -> None:
        """Handle a call of a function that was imported by its name."""
        if module == "subprocess" or (module, function) in PROCESS_FUNCTIONS:
            self.unclear[f"it starts other programs ({module}.{function})"] = None
        if function in FILE_FUNCTIONS.get(module, ()):
            self._wrote(node.args[0] if node.args else None, node)
        elif function == "open" and module in OPENERS:
            path, mode, *_ = (*node.args, None, None)
            self._opened(node, path, mode)

    def _files_of(self, value: ast.expr, attribute: str, node: ast.Call, owner: str) -> None:
        if attribute == "open":
            path, mode, *_ = (*node.args, None, None) if owner in OPENERS else (value, *node.args, None)
            self._opened(node, path, mode)
        elif attribute in FILE_FUNCTIONS.get(owner, ()):
            self._wrote(node.args[0] if node.args else None, node)
        elif attribute in FILE_METHODS and owner not in FILE_FUNCTIONS:
            if target := _path_argument(node):
                self._wrote(target, node)
        elif attribute in PATH_METHODS:
            self._wrote(value, node)

    def _query(self, node: ast.Call) -> None:
        """Read the names in a query: ``df.query('n > @least')`` reads `least`."""
        for argument in node.args[:1]:
            if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                for name in QUERY_NAME.findall(argument.value):
                    self.visit_Name(ast.Name(id=name, ctx=ast.Load()))

    def _opened(self, node: ast.Call, path: ast.expr | None, mode: ast.expr | None) -> None:
        mode = next((keyword.value for keyword in node.keywords if keyword.arg == "mode"), mode)
        if mode is None:
            return
        if not (isinstance(mode, ast.Constant) and isinstance(mode.value, str)):
            self.unclear["it opens a file in a way that is not in the text"] = None
        elif set(mode.value) & set("wax+"):
            self._wrote(path, node)

    def _wrote(self, path: ast.expr | None, node: ast.Call) -> None:
        text = ast.unparse(path if path is not None else node)
        self.writes[text if len(text) <= MAX_PATH_CHARS else text[: MAX_PATH_CHARS - 1] + "…"] = None


def _is_chain(node: ast.expr) -> bool:
    """Check for a name, or a part of its value: what is computed from it is a value of its own."""
    while isinstance(node, ast.Attribute | ast.Subscript):
        node = node.value
    return isinstance(node, ast.Name)


def _is_false(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value is False


def _path_argument(node: ast.Call) -> ast.expr | None:
    """Return the path that a method like `to_csv` writes to; None if it returns the text."""
    by_name = next((keyword.value for keyword in node.keywords if keyword.arg in PATH_KEYWORDS), None)
    return node.args[0] if node.args else by_name
