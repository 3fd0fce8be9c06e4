"""TFLite's ``MutableOpResolver``: which registration stands for which operator, by name and version.

Source: tflite/mutable_op_resolver.cc, tflite/core/api/op_resolver.cc @ google-ai-edge/LiteRT f67457790
"""

from __future__ import annotations

from dataclasses import replace

from tflm_sim.errors import PrepareError
from tflm_sim.extensions.lite.graph_info import TfLiteRegistration
from tflm_sim.extensions.lite.releases import DEFAULT_RELEASE
from tflm_sim.model.schema import BUILTIN_OPERATORS, builtin_operator_name
from tflm_sim.model.types import OperatorCode

FLEX_PREFIX = "Flex"
"""How the names of custom operators begin that are TensorFlow operators (kFlexCustomCodePrefix)."""


class MutableOpResolver:
    """Registrations by operator and version (mutable); a later one replaces an earlier one.

    Attributes:
        flex_registration: What stands for every operator of TensorFlow, None for nothing.
        release: The release of the runtime whose registrations they are.
    """

    def __init__(self, release: str = DEFAULT_RELEASE) -> None:
        self.release = release
        self.flex_registration: TfLiteRegistration | None = None
        self._builtins: dict[tuple[str, int], TfLiteRegistration] = {}
        self._customs: dict[tuple[str, int], TfLiteRegistration] = {}

    def add_builtin(
        self, op: str, registration: TfLiteRegistration, *, min_version: int = 1, max_version: int | None = None
    ) -> None:
        """Register a builtin operator, "ADD", for the versions from ``min_version`` to ``max_version``, inclusive."""
        for version in range(min_version, (max_version or min_version) + 1):
            self._builtins[op, version] = replace(registration, op=op, custom_name=None, version=version)

    def add_custom(
        self, name: str, registration: TfLiteRegistration, *, min_version: int = 1, max_version: int | None = None
    ) -> None:
        """Register a custom operator for the versions from ``min_version`` to ``max_version``, inclusive."""
        for version in range(min_version, (max_version or min_version) + 1):
            self._customs[name, version] = replace(registration, op="CUSTOM", custom_name=name, version=version)

    def find_builtin(self, op: str, version: int) -> TfLiteRegistration | None:
        return self._builtins.get((op, version))

    def find_custom(self, name: str, version: int) -> TfLiteRegistration | None:
        if self.flex_registration is not None and name.startswith(FLEX_PREFIX):
            return self.flex_registration
        return self._customs.get((name, version))


def registration_for(code: OperatorCode, resolver: MutableOpResolver) -> TfLiteRegistration:
    """Return what runs an entry of the model's operator table.

    A custom operator that nobody registered gets an unresolved registration: a delegate may still take its nodes.

    Raises:
        PrepareError: A builtin operator that is not registered for its version, or a custom one without a name.
    """
    if code.builtin_code >= len(BUILTIN_OPERATORS):
        raise refused(
            f"Op builtin_code out of range: {code.builtin_code}. Are you using old TFLite binary with newer model?"
        )
    op = builtin_operator_name(code.builtin_code)
    if op != "CUSTOM":
        found = resolver.find_builtin(op, code.version)
        if found is None:
            raise refused(
                f"Didn't find op for builtin opcode '{op}' version '{code.version}'. "
                "An older version of this builtin might be supported. "
                "Are you using an old TFLite binary with a newer model?\n"
            )
        return found
    if code.custom_code is None:
        raise refused(2 * "Operator with CUSTOM builtin_code has no custom_code.\n")  # two functions say it
    unresolved = TfLiteRegistration(custom_name=code.custom_code, is_unresolved=True)
    return resolver.find_custom(code.custom_code, code.version) or unresolved


def is_flex_op(registration: TfLiteRegistration) -> bool:
    """Return whether it is a TensorFlow operator, which only the Flex delegate can run."""
    return (registration.custom_name or "").startswith(FLEX_PREFIX)


def unresolved_op_message(registration: TfLiteRegistration) -> str:
    """Return what the runtime says of a custom operator that nobody registered and no delegate took."""
    if is_flex_op(registration):
        return (
            "Select TensorFlow op(s), included in the given model, is(are) not supported by this interpreter. Make "
            "sure you apply/link the Flex delegate before inference. For the Android, it can be resolved by adding "
            '"org.tensorflow:tensorflow-lite-select-tf-ops" dependency. See instructions: '
            "https://www.tensorflow.org/lite/guide/ops_select"
        )
    return (
        f"Encountered unresolved custom op: {registration.custom_name}.\nSee instructions: "
        "https://www.tensorflow.org/lite/guide/ops_custom "
    )


def refused(message: str) -> PrepareError:
    """Return the error of a runtime that says ``message``."""
    return PrepareError(message.strip(), device_message=message)
