"""Generate `tests/architecture/public_api.txt`, whose diff shows what a change does to users.

`python tools/make_api_snapshot.py` writes it; with `--check` it only compares. It lists what each
`__all__` names, the fixtures, and the types in the signatures of these.
"""

import sys
from collections.abc import Iterator
from contextlib import suppress
from difflib import unified_diff
from pathlib import Path

import griffe

import adclient

ROOT = Path(__file__).parent.parent
PAGE = ROOT / "tests" / "architecture" / "public_api.txt"
# How a value is made, shown, compared and pickled; and what a gate and its client ask for.
UNLISTED = {
    *("__collect__", "__engine__", "__gate__", "__of_reads__", "__reserve__"),
    *("__attrs_post_init__", "__del__", "__dir__", "__eq__", "__firstlineno__", "__getattr__"),
    *("__getstate__", "__hash__", "__init_subclass__", "__module__", "__qualname__"),
    *("__reduce__", "__reduce_ex__", "__repr__", "__setstate__", "__slots__", "__str__"),
}


class Snapshot:
    """The lines of a package, each after its name."""

    def __init__(self, package: griffe.Module) -> None:
        self.lines: set[tuple[str, str]] = set()
        self._package = package
        public = {
            f"{module.path}.{name}": defined(module[str(name)])
            for module in public_modules(package)
            # The package lists its names in a way that only Python understands.
            for name in (adclient.__all__ if module is package else module.exports or ())
            if name != "__version__"
        } | {
            f"fixture {name}": function
            for name, function in package["pytest_plugin"].functions.items()
            if any("fixture" in str(decorator.value) for decorator in function.decorators)
        }
        # The first name of each definition, which may have several.
        self._names = {found.path: name for name, found in reversed(public.items())}
        self._public = frozenset(self._names)
        for name, found in public.items():
            if (first := self._names[found.path]) == name:
                self._add(name, found)
            else:
                self.lines.add((name, f"{name} = {first}"))

    def _add(self, name: str, found: griffe.Object) -> None:
        if isinstance(found, griffe.Class):
            decorators = "".join(
                f" @{decorator.value}"
                for decorator in found.decorators
                if not str(decorator.value).startswith("public_in")
            )
            bases = ", ".join(dict.fromkeys(self._bases(found)))
            self.lines.add((name, f"{name}: class({bases}){decorators}"))
            for member, value in self._members(found).items():
                if member == "__init__":
                    if found.path in self._names:  # else nobody can construct it
                        self._add(name, value)
                elif is_public(member):
                    self._add(f"{name}.{member}", value)
        elif isinstance(found, griffe.Function):
            labels = "".join(f" [{label}]" for label in sorted(found.labels))
            for function in found.overloads or [found]:
                self.lines.add((name, function.signature(name=name) + labels))
                self._add_types(function.returns)
                for parameter in function.parameters:
                    self._add_types(parameter.annotation)
        elif isinstance(found, griffe.Attribute):
            self._add_attribute(name, found)

    def _add_attribute(self, name: str, found: griffe.Attribute) -> None:
        # What a constructor assigns is not a default.
        value = None if found.labels == {"instance-attribute"} else found.value
        annotation = "" if found.annotation is None else f": {found.annotation}"
        self.lines.add((name, f"{name}{annotation}" + ("" if value is None else f" = {value}")))
        self._add_types(found.annotation)
        if "module-attribute" in found.labels:  # such as the members of a union
            self._add_types(value)
        if isinstance(found.annotation, griffe.ExprName):
            of_type = self._find(found.annotation.canonical_path)
            if isinstance(of_type, griffe.Class) and of_type.path not in self._names:
                self._add(name, of_type)  # such as `client.alpha`, whose class has no public name

    def _add_types(self, expression: griffe.Expr | str | None) -> None:
        """Add what an annotation names: aliases, and classes of modules that are not private."""
        names = expression.iterate() if isinstance(expression, griffe.Expr) else ()
        for name in names:
            found = self._find(name.canonical_path) if isinstance(name, griffe.Expr) else None
            if found is None or found.path in self._names:
                continue
            if isinstance(found, griffe.Attribute) or "._" not in found.path:
                self._names[found.path] = found.path
                self._add(found.path, found)

    def _find(self, path: str) -> griffe.Object | None:
        """What a path of this package names; None if that is defined elsewhere."""
        package, _, name = path.partition(".")
        with suppress(griffe.AliasResolutionError, KeyError):  # the `args` of a `ParamSpec`
            return defined(self._package[name]) if package == self._package.name and name else None
        return None

    def _members(self, cls: griffe.Class) -> dict[str, griffe.Object]:
        """Its own members, and those of its private bases."""
        members: dict[str, griffe.Object] = {}
        for base in reversed(self._private_bases(cls).values()):
            members |= self._members(base)
        return members | {name: defined(member) for name, member in cls.members.items()}

    def _bases(self, cls: griffe.Class) -> Iterator[str]:
        """Its bases, and in place of private ones the bases of these."""
        private = self._private_bases(cls)
        for base in cls.bases:
            path = base.canonical_path if isinstance(base, griffe.Expr) else base
            if path in private:
                yield from self._bases(private[path])
            else:
                yield str(base)

    def _private_bases(self, cls: griffe.Class) -> dict[str, griffe.Class]:
        return {
            base.path: base
            for base in cls.resolved_bases
            if isinstance(base, griffe.Class)
            and base.package is self._package
            and base.path not in self._public
        }


def public_modules(module: griffe.Module) -> Iterator[griffe.Module]:
    """A module and those inside of it, without the private ones."""
    yield module
    for name, inner in sorted(module.modules.items()):
        if not name.startswith("_"):
            yield from public_modules(inner)


def defined(found: griffe.Object | griffe.Alias) -> griffe.Object:
    """What a name stands for, wherever it is imported from."""
    return found.final_target if isinstance(found, griffe.Alias) else found


def is_public(member: str) -> bool:
    """Whether a member of a class is part of the public API."""
    is_special = member.startswith("__") and member.endswith("__")
    return member not in UNLISTED if is_special else not member.startswith("_")


def page() -> str:
    """The whole file."""
    package = griffe.load("adclient", search_paths=[ROOT])
    assert isinstance(package, griffe.Module)
    return "".join(f"{line}\n" for _, line in sorted(Snapshot(package).lines))


def main(arguments: list[str]) -> int:
    """Write the file, or with --check compare it."""
    if arguments != ["--check"]:
        PAGE.write_text(page(), "utf-8")
        return 0
    old, new = PAGE.read_text("utf-8").splitlines(), page().splitlines()
    changes = list(unified_diff(old, new, PAGE.name, "the package", lineterm="", n=0))
    print("\n".join(changes) or "the snapshot of the public API is up to date")
    return 1 if changes else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
