"""The header's text."""

from __future__ import annotations

from pathlib import PurePath

from tflm_sim.answers.simulation import simulate
from tflm_sim.device.configuration import Configuration
from tflm_sim.errors import SimulatedFailure
from tflm_sim.escape import cpp_name, printable
from tflm_sim.extensions.header.facts import resolver_facts
from tflm_sim.model.types import Model
from tflm_sim.provenance import made_by


def header(model: Model, configuration: Configuration, path: str) -> str:
    """Return a C++ header with what a firmware needs for a model: its arena's size and its operators.

    It includes nothing of TFLM, so that it compiles with each version of it, in either of its namespaces. Where it is
    compiled for a processor of another kind than it was computed for, a static_assert says so.

    Args:
        model: The model.
        configuration: The firmware that it is for.
        path: The model's path; its last part names the namespace.

    Raises:
        SimulatedFailure: No size of arena is enough.
    """
    simulation = simulate(model, configuration)
    smallest = simulation.smallest
    if smallest is None:
        raise SimulatedFailure(f"{path}: no size of arena is enough: {simulation.failure}")
    target = configuration.target
    resolver = resolver_facts(model)
    name = printable(PurePath(path).name, 200)
    calls = [f"static_cast<int>(resolver.{method}()) == 0" for method in resolver.methods]
    registered = " &&\n         ".join(calls) or "true"
    own = [
        f'// The firmware registers its own operator "{printable(each, 200)}" besides, by AddCustom().'
        for each in resolver.own
    ]
    unused = "" if calls else "  (void)resolver;\n"
    return f"""// Written by tflm-sim {made_by()} for {name}; it is written again when the model changes.
// {target.name}: {target.runtime}, {target.kernel_library}
#pragma once

#include <cstddef>

namespace {cpp_name(path)} {{

// The smallest arena that works, a multiple of 16. Declare it as
//     alignas(16) unsigned char tensor_arena[kTensorArenaSize];
constexpr std::size_t kTensorArenaSize = {smallest.multiple_of_16};

// The N of MicroMutableOpResolver<N>.
constexpr unsigned kOperatorCount = {resolver.count};

static_assert(sizeof(void *) == {target.abi.pointer_size},
              "kTensorArenaSize was computed for {target.name}; this is another kind of processor");

{"".join(f"{line}{chr(10)}" for line in own)}// Registers what the model needs; false where the resolver is too small.
template <typename Resolver>
bool AddOperators(Resolver &resolver) {{
{unused}  return {registered};
}}

}}  // namespace {cpp_name(path)}
"""
