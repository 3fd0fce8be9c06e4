"""Every pass as a row: its name, what it may cost, what runs it, and whether it has to be asked for.

A new pass is a function ``(draft, choose) -> list[Edit]`` in a module of its own and a row here, which
:class:`~tflm_sim.extensions.shrink.pass_search.Search` tries in the order of the table.
"""

from __future__ import annotations

from tflm_sim.extensions.shrink import kernel_choice
from tflm_sim.extensions.shrink.cheaper_operators import dense_layers, drop_shapes, drop_zero_biases, slice_pieces
from tflm_sim.extensions.shrink.descent import descend
from tflm_sim.extensions.shrink.draft_facts import draft_multiplications
from tflm_sim.extensions.shrink.fuse import join_depthwise, pad_to_same, plain_slices
from tflm_sim.extensions.shrink.io_quantization import remove_io_quantization
from tflm_sim.extensions.shrink.order import reorder
from tflm_sim.extensions.shrink.pass_search import ORDER, PLAN, SPLITS, PassRow, Search
from tflm_sim.extensions.shrink.passes import Chooser
from tflm_sim.extensions.shrink.plan_search import plan
from tflm_sim.extensions.shrink.prune import drop_copies, drop_dead, fold_constants, merge_constants
from tflm_sim.extensions.shrink.shrunk import Edit, Kept
from tflm_sim.extensions.shrink.states import states_to_variables
from tflm_sim.extensions.shrink.target_sizer import grows
from tflm_sim.model.draft import Draft

_INT8_IO = "int8 io"


def _may_alter(search: Search) -> bool:
    """Return whether a layer may be computed in shares, or with other windows."""
    return not search.whole_layers


def _tidy(draft: Draft, choose: Chooser) -> list[Edit]:
    """Remove what nothing refers to: dead operators, duplicate constants, unused tensors and buffers."""
    tensors = len(draft.tensors)
    edits = drop_dead(draft, choose) + merge_constants(draft, choose)
    unused = tensors - len(draft.model().subgraphs[0].tensors)
    return edits or ([Edit("the main subgraph", f"has {unused} tensors that nothing names")] if unused else [])


def _integer_io(search: Search) -> None:
    """Remove what converts inputs and outputs: all of it unless a target grows, because later passes gain by it."""
    draft = Draft(search.model)
    edits = remove_io_quantization(draft, Chooser())
    candidate = draft.model()
    arenas = search.sizer.arenas(candidate) if edits else None
    if arenas is None or grows(arenas, search.arenas):
        search.attempt(_INT8_IO, remove_io_quantization)
        return
    search.adopt(Kept(_INT8_IO, arenas, draft_multiplications(draft), tuple(edits), candidate))


def _choose_kernels(search: Search) -> None:
    facts, libraries = search.profile(Draft(search.model)), search.sizer.libraries
    search.attempt("kernel choice", lambda draft, choose: kernel_choice.drop_scratch(draft, facts, libraries, choose))


def _drop_operands(search: Search) -> None:
    """Remove operands that the kernels do not need, such as a bias of zeros."""
    targets = search.sizer.configurations
    search.attempt(
        "operands", lambda draft, choose: drop_shapes(draft, choose) + drop_zero_biases(draft, choose, targets)
    )


def _dense_layers(search: Search) -> None:
    targets = search.sizer.configurations
    search.attempt("dense layers", lambda draft, choose: dense_layers(draft, choose, targets))


def _order(search: Search) -> None:
    facts = search.profile(Draft(search.model))
    search.attempt(ORDER, lambda draft, choose: reorder(draft, facts, choose, search.stopping))


PASSES: tuple[PassRow, ...] = (
    PassRow(_INT8_IO, "another interface", run=_integer_io, needs=lambda s: s.int8_io),
    PassRow("prune", "nothing", _tidy),
    PassRow("constant folding", "flash", fold_constants),
    PassRow("PAD is SAME", "MACs for taps of 0", pad_to_same, needs=_may_alter),
    PassRow("resource variables", "nothing", states_to_variables),
    PassRow("copies", "nothing", drop_copies),
    PassRow("depthwise branches", "a few MACs", join_depthwise, needs=_may_alter),
    PassRow("copies", "nothing", drop_copies),
    PassRow("plain slices", "nothing", plain_slices),
    PassRow("slices of pieces", "nothing", slice_pieces),
    PassRow("operands", "nothing", run=_drop_operands),
    PassRow("prune", "nothing", _tidy),
    PassRow("kernel choice", "time: these kernels are slower", run=_choose_kernels, needs=lambda s: s.kernel_order),
    PassRow(ORDER, "nothing", run=_order),
    PassRow(SPLITS, "operators, per-operator memory, MACs for tiles", run=descend, needs=_may_alter),
    PassRow("prune", "nothing", _tidy),
    PassRow("dense layers", "nothing", run=_dense_layers),
    PassRow(PLAN, "flash; a plan holds for the same outputs only", run=plan, needs=lambda s: s.offline_plan),
)
"""Every pass in the order in which they run. Those that occur twice find more to do after the ones between."""
