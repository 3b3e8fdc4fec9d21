"""The package's own source, made fit to travel: whole files, or the definitions that one needs.

A file that travels keeps every line but its imports: those from tapeformer become imports from the
same folder. Of the decoders only what one construction needs travels, in one file.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

from tapeformer.faults import Fault, TapeformerError

OWN_IMPORT = re.compile(r"^from tapeformer(?:\.\w+)*\.(\w+) import", re.MULTILINE)

Definition = tuple[str, str]
"""A module and a name in it."""


def travelling(module: str, package: str = ".") -> str:
    """Return the source of a module with imports from its own folder.

    `package` is "." where the folder is a package, as for transformers, and "" where its files are
    imported by name.
    """
    return OWN_IMPORT.sub(rf"from {package}\1 import", _text(module))


def definitions(roots: Iterable[Definition], title: str) -> str:
    """Return one file with some definitions and all that they use, in the order of use."""
    used: dict[str, set[str]] = {}
    order: list[str] = []
    for module, name in roots:
        _collect(module, name, used, order)
    _check_names(used)
    imports = {line for module in order for line in _outside(module, used[module])}
    parts = [f'"""{title}"""', "from __future__ import annotations", "\n".join(sorted(imports))]
    parts += [_chosen(module, used[module]) for module in order]
    return "\n\n".join(parts) + "\n"


def _collect(module: str, name: str, used: dict[str, set[str]], order: list[str]) -> None:
    """Add a definition and, first, those that it uses."""
    if name in used.get(module, ()):
        return
    used.setdefault(module, set()).add(name)
    own, imported = _names(module)
    for other in _loaded(own[name]):
        if other in own:
            _collect(module, other, used, order)
        elif other in imported:
            _collect(*imported[other], used, order)
    if module not in order:
        order.append(module)


@cache
def _names(module: str) -> tuple[dict[str, list[ast.stmt]], dict[str, Definition]]:
    """Return what a module defines, with the text after a constant, and what is tapeformer's."""
    own: dict[str, list[ast.stmt]] = {}
    imported: dict[str, Definition] = {}
    body = _tree(module).body
    for place, node in enumerate(body):
        for name in _defined(node):
            after = body[place + 1 : place + 2]
            own[name] = [node, *(part for part in after if _is_text(part, node))]
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("tapeformer."):
            found = {alias.asname or alias.name: alias.name for alias in node.names}
            imported |= {name: (str(node.module), original) for name, original in found.items()}
    return own, imported


def _defined(node: ast.stmt) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        yield node.name
    elif isinstance(node, ast.Assign):
        yield from (target.id for target in node.targets if isinstance(target, ast.Name))
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id


def _is_text(node: ast.stmt, before: ast.stmt) -> bool:
    """Say whether a statement is the description of the constant before it."""
    constant = isinstance(before, ast.Assign | ast.AnnAssign)
    return constant and isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)


def _loaded(nodes: Iterable[ast.stmt]) -> list[str]:
    found = (part.id for node in nodes for part in ast.walk(node) if isinstance(part, ast.Name))
    return list(dict.fromkeys(found))


def _outside(module: str, names: set[str]) -> Iterator[str]:
    """Yield the imports of other packages that some definitions of a module use."""
    own, _ = _names(module)
    wanted = {name for defined in names for name in _loaded(own[defined])}
    for node in _tree(module).body:
        if isinstance(node, ast.ImportFrom) and not str(node.module).startswith(
            ("tapeformer", "__future__")
        ):
            for alias in node.names:
                if (alias.asname or alias.name) in wanted:
                    yield f"from {node.module} import {ast.unparse(alias)}"
        elif isinstance(node, ast.Import):
            yield from (f"import {a.name}" for a in node.names if (a.asname or a.name) in wanted)


def _chosen(module: str, names: set[str]) -> str:
    """Return the text of some definitions of a module, in its order."""
    own, _ = _names(module)
    lines = _text(module).splitlines()
    nodes = sorted((own[name] for name in names), key=lambda part: part[0].lineno)
    texts = ["\n".join(lines[_first(part[0]) - 1 : part[-1].end_lineno]) for part in nodes]
    return "\n\n".join([f"# {module.replace('.', '/')}.py", *dict.fromkeys(texts)])


def _first(node: ast.stmt) -> int:
    """Return the line of a definition's first decorator, or its own."""
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        return min([node.lineno, *(part.lineno for part in node.decorator_list)])
    return node.lineno


def _check_names(used: dict[str, set[str]]) -> None:
    """Refuse two definitions of one name: in one file the second would hide the first."""
    every = [name for names in used.values() for name in names]
    twice = sorted({name for name in every if every.count(name) > 1})
    if twice:
        raise TapeformerError(
            Fault("two definitions of one name cannot travel", got=", ".join(twice))
        )


@cache
def _tree(module: str) -> ast.Module:
    return ast.parse(_text(module))


def _text(module: str) -> str:
    """Return the source of a module, with the standard library's dataclass instead of ours."""
    spec = find_spec(module)
    assert spec is not None
    text = Path(str(spec.origin)).read_text(encoding="utf-8")
    return text.replace("from tapeformer.dataclass import", "from dataclasses import")
