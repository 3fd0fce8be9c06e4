"""``MicroResourceVariables`` as Prepare sees it: ids by (container, shared name), and which already have a buffer.

Source: tensorflow/lite/micro/micro_resource_variable.cc @ 90b983c.
"""

from __future__ import annotations

from typing import NamedTuple


class StoredVariable(NamedTuple):
    """The bytes of a resource variable: arena offset, size in bytes, and the byte that a reset fills them with."""

    offset: int
    size: int
    default_value: int


class ResourceVariables:
    """The table of resource variables of one interpreter (mutable).

    Attributes:
        capacity: How many variables ``MicroResourceVariables::Create`` made room for.
        has_rows: Whether the arena had room for them; else they are at a null pointer.
        stored: Each variable's buffer by id; None until a kernel allocates it.
    """

    def __init__(self, capacity: int, *, has_rows: bool = True) -> None:
        self.capacity = capacity
        self.has_rows = has_rows
        self.stored: list[StoredVariable | None] = []
        self._names: list[tuple[str | None, str | None]] = []

    def create_id_if_none_found(self, container: str | None, shared_name: str | None) -> int | None:
        """Return the id of the variable, which is created where it is new; None when the capacity is reached.

        A container that the file leaves out matches every container.

        Raises:
            ValueError: A null pointer is used: a name is compared with one that the file leaves out, or there are no
                rows.
        """
        for resource_id, (known_container, known_name) in enumerate(self._names):
            if _same(container, known_container, absent_matches=True) and _same(shared_name, known_name):
                return resource_id
        if len(self.stored) >= self.capacity:
            return None
        if not self.has_rows:
            raise ValueError("the rows of the table did not fit")
        self._names.append((container, shared_name))
        self.stored.append(None)
        return len(self.stored) - 1


def _same(name: str | None, known: str | None, *, absent_matches: bool = False) -> bool:
    """Compare as ``strcmp`` does: up to the first NUL."""
    if name is None and absent_matches:
        return True
    if name is None or known is None:
        raise ValueError("a resource variable without a name is compared with another one")
    return name.partition("\0")[0] == known.partition("\0")[0]
