"""What a byte of the arena is used for: the names, colours and letters that every picture shares."""

from __future__ import annotations

from dataclasses import dataclass

from tflm_sim.arena.stages import GROUPS


@dataclass(frozen=True, slots=True)
class Category:
    """One kind of bytes.

    Attributes:
        key: Stable name in documents.
        title: For people.
        section: "head", "temp" or "tail".
        light, dark: Fill colour (#rrggbb) on a light and on a dark ground.
        ansi: Nearest colour to ``light`` that terminals have (of 256) and no other category.
        letter: What stands for it where there is no colour.
    """

    key: str
    title: str
    section: str
    light: str
    dark: str
    ansi: int
    letter: str

    @property
    def ink(self) -> str:
        """The text colour that can be read on ``light``."""
        red, green, blue = (int(self.light[i : i + 2], 16) for i in (1, 3, 5))
        return "#10151c" if 0.3 * red + 0.59 * green + 0.11 * blue > 150 else "#ffffff"


_ROWS = (
    Category("input", "inputs", "head", "#2a9d8f", "#3dbfae", 36, "i"),
    Category("output", "outputs", "head", "#d1495b", "#ee6c7d", 167, "o"),
    Category("activation", "activations", "head", "#3f7fd1", "#5b9bf0", 68, "a"),
    Category("scratch", "scratch buffers", "head", "#8e5bc4", "#ad83e0", 98, "s"),
    Category("planned_variable", "variables, offline", "head", "#5c6bc0", "#7f8de0", 61, "v"),
    Category("requests", "scratch requests", "head", "#b39ddb", "#8d7bb8", 146, "r"),
    Category("plan", "reserved for the plan", "head", "#a9c7ef", "#31527f", 153, "#"),
    Category("temp", "temporary, in Prepare", "temp", "#f0a13c", "#f5b45f", 215, "t"),
    Category("planning", "temporary, planning", "temp", "#d9822b", "#d98a3d", 172, "p"),
    Category("planner", "planner's tables", "temp", "#c1571a", "#e8793a", 130, "P"),
    Category("eval tensors", "eval tensors", "tail", "#6b8e4e", "#8fb56d", 71, "="),
    Category("nodes and registrations", "nodes and registrations", "tail", "#93b371", "#6f9150", 107, "="),
    Category("kernel data", "kernel data", "tail", "#4f7942", "#5f8f50", 65, "="),
    Category("builtin data", "builtin data", "tail", "#b5c99a", "#a3bd83", 150, "="),
    Category("variable tensors", "variable tensors", "tail", "#1f6f6b", "#3a938e", 23, "="),
    Category("input and output tensors", "input and output tensors", "tail", "#7d8f69", "#93a67e", 101, "="),
    Category("scratch buffer handles", "scratch buffer handles", "tail", "#a5a58d", "#b7b79f", 144, "="),
    Category("subgraph structs", "subgraph structs", "tail", "#8a8a72", "#9c9c84", 244, "="),
    Category("resource variable table", "resource variable table", "tail", "#6d7f8b", "#8497a3", 66, "="),
    Category("allocator objects", "allocator objects", "tail", "#5f6b73", "#76838c", 242, "="),
)

CATEGORIES = {row.key: row for row in _ROWS}
"""By key; a tail category's key is the name of its group in the size report."""

assert CATEGORIES.keys() >= GROUPS, "every group of the tail has a category"
