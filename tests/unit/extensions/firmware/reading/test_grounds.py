"""What is said to be measured was found in the file."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from tflm_sim.errors import FirmwareError, UsageError
from tflm_sim.extensions.firmware.reading import target as module
from tflm_sim.targets.abi import AAPCS, ILP32
from tflm_sim.targets.presets import preset


def file(*, hint: object = None, abi: object = None, enum_size: int | None = None, enums: bool | None = None) -> Any:
    return SimpleNamespace(
        processor=SimpleNamespace(abi=abi, grounds="it says so", hint=hint),
        debug=None if enum_size is None else SimpleNamespace(enum_size=enum_size),
        set_up=SimpleNamespace(tensor_enums=enums),
        image=SimpleNamespace(path="app.elf", format="elf"),
    )


@pytest.mark.parametrize(
    ("how", "abis"),
    [
        ({"hint": AAPCS}, (AAPCS, ILP32)),  # the likely one first, and then the other
        ({"hint": ILP32}, (ILP32, AAPCS)),
        ({"hint": ILP32, "enum_size": 1}, (AAPCS,)),
        ({"hint": AAPCS, "enum_size": 4, "enums": True}, (ILP32,)),
        ({"hint": AAPCS, "enums": False}, (ILP32,)),
        ({"hint": ILP32, "enums": True}, (AAPCS,)),
        ({"abi": ILP32}, (ILP32,)),
    ],
)
def test_which_enums_are_short_is_proved_or_both_are_left(how: dict[str, Any], abis: tuple[object, ...]) -> None:
    found, ground = module._abis(file(**how), None)
    assert found == abis
    assert ground.how == ("assumed" if len(abis) == 2 else "measured")


def test_a_target_settles_what_the_file_leaves_open_and_contradicts_nothing() -> None:
    found, ground = module._abis(file(), preset("cortex-m4"))
    assert (found, ground.how) == ((AAPCS,), "named")
    with pytest.raises(FirmwareError, match="name the machine with `target=`"):
        module._abis(file(), None)
    with pytest.raises(UsageError, match="remove `target=`"):
        module._abis(file(abi=ILP32), preset("cortex-m4"))
