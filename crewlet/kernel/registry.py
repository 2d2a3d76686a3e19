"""Registries hold code: filled while the apps start, frozen after, a double name refused."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator, ValuesView
from contextlib import contextmanager
from typing import Generic, TypeVar

T = TypeVar("T")
_ALL: list[Registry] = []  # type: ignore[type-arg]  # registries of every type meet here


class RegistryError(RuntimeError):
    """A name was registered twice, or after the start-up was over."""


class Registry(Generic[T]):
    """Maps names to pieces of code, in the order of registration."""

    def __init__(self, title: str) -> None:
        self.title = title
        self._entries: dict[str, T] = {}
        self._frozen = False
        _ALL.append(self)

    def register(self, name: str, value: T) -> T:
        """Adds an entry and returns it; raises `RegistryError` on a double name or when frozen."""
        if self._frozen:
            raise RegistryError(f"{self.title}: '{name}' came after start-up was over.")
        if name in self._entries:
            raise RegistryError(f"{self.title}: '{name}' is registered twice.")
        self._entries[name] = value
        return value

    def __getitem__(self, name: str) -> T:
        return self._entries[name]

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def get(self, name: str) -> T | None:
        """Returns the entry, or None."""
        return self._entries.get(name)

    def items(self) -> ItemsView[str, T]:
        """Returns the entries with their names."""
        return self._entries.items()

    def values(self) -> ValuesView[T]:
        """Returns the entries in the order of registration."""
        return self._entries.values()

    def freeze(self) -> None:
        """Ends registration for good."""
        self._frozen = True


def freeze_all() -> None:
    """Freezes every registry; the last app's `ready` calls it."""
    for registry in _ALL:
        registry.freeze()


@contextmanager
def thawed(*registries: Registry) -> Iterator[None]:  # type: ignore[type-arg]
    """Lets a test register stand-ins, and puts everything back after it."""
    before = [(registry, dict(registry._entries), registry._frozen) for registry in registries]
    for registry in registries:
        registry._frozen = False
    try:
        yield
    finally:
        for registry, entries, frozen in before:
            registry._entries = entries
            registry._frozen = frozen
