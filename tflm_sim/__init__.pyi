"""The public names for editors and type checkers; ``__init__.py`` imports them on first use."""

from tflm_sim.answers.head_problem import compare_planners as compare_planners
from tflm_sim.answers.head_problem import head_problem as head_problem
from tflm_sim.answers.invoke_problem import InvokeProblem as InvokeProblem
from tflm_sim.answers.ledger import TailLedger as TailLedger
from tflm_sim.answers.offline_plan import with_offline_plan as with_offline_plan
from tflm_sim.answers.peak import Peak as Peak
from tflm_sim.answers.simulation import Simulation as Simulation
from tflm_sim.answers.simulation import simulate as simulate
from tflm_sim.answers.sizing import Sizer as Sizer
from tflm_sim.answers.sizing import Sizing as Sizing
from tflm_sim.answers.smallest_arena import SmallestArena as SmallestArena
from tflm_sim.answers.smallest_arena import SplitArenaSizes as SplitArenaSizes
from tflm_sim.answers.smallest_arena import smallest_arena as smallest_arena
from tflm_sim.arena.events import OpEvent as OpEvent
from tflm_sim.arena.events import Persist as Persist
from tflm_sim.arena.events import Resize as Resize
from tflm_sim.arena.events import Temp as Temp
from tflm_sim.arena.events import TempFree as TempFree
from tflm_sim.arena.events import TempReset as TempReset
from tflm_sim.arena.needs import Constraint as Constraint
from tflm_sim.arena.stages import Stage as Stage
from tflm_sim.checks.check import check as check
from tflm_sim.checks.doubts import Doubt as Doubt
from tflm_sim.checks.kernel_probe import Allocation as Allocation
from tflm_sim.checks.kernel_probe import KernelProbe as KernelProbe
from tflm_sim.checks.kernel_probe import TensorSpec as TensorSpec
from tflm_sim.checks.lifetime_answers import BufferLife as BufferLife
from tflm_sim.checks.lifetime_answers import Lifetimes as Lifetimes
from tflm_sim.checks.lifetime_answers import Sharing as Sharing
from tflm_sim.checks.lifetime_answers import lifetimes as lifetimes
from tflm_sim.checks.sanitizer import Sanitizer as Sanitizer
from tflm_sim.checks.sanitizer import sanitize as sanitize
from tflm_sim.checks.verdict import Verdict as Verdict
from tflm_sim.device.configuration import Configuration as Configuration
from tflm_sim.device.recording import RecordedAllocation as RecordedAllocation
from tflm_sim.device.run import PlannedBuffer as PlannedBuffer
from tflm_sim.errors import ModelError as ModelError
from tflm_sim.errors import SimulatedFailure as SimulatedFailure
from tflm_sim.errors import TflmSimError as TflmSimError
from tflm_sim.errors import UnsupportedOpError as UnsupportedOpError
from tflm_sim.errors import UsageError as UsageError
from tflm_sim.extensions.banks.aim import BankAim as BankAim
from tflm_sim.extensions.board.device_replay import replay_script as replay_script
from tflm_sim.extensions.board.replay import ReplayOutcome as ReplayOutcome
from tflm_sim.extensions.board.replay import ReplayScript as ReplayScript
from tflm_sim.extensions.board.replay import ReplayStep as ReplayStep
from tflm_sim.extensions.board.replay import run_script as run_script
from tflm_sim.extensions.board.session import Session as BoardSession
from tflm_sim.extensions.board.transport import SerialPort as SerialPort
from tflm_sim.extensions.board.transport import open_port as open_port
from tflm_sim.extensions.firmware.emulation.execute import execute as execute
from tflm_sim.extensions.firmware.emulation.execution import ExecutedAllocation as ExecutedAllocation
from tflm_sim.extensions.firmware.emulation.execution import ExecutedArena as ExecutedArena
from tflm_sim.extensions.firmware.emulation.execution import ExecutedEvent as ExecutedEvent
from tflm_sim.extensions.firmware.emulation.execution import ExecutedInvoke as ExecutedInvoke
from tflm_sim.extensions.firmware.emulation.execution import ExecutedOperator as ExecutedOperator
from tflm_sim.extensions.firmware.emulation.execution import ExecutedStore as ExecutedStore
from tflm_sim.extensions.firmware.emulation.execution import Execution as Execution
from tflm_sim.extensions.firmware.programs import MeasuredProgram as MeasuredProgram
from tflm_sim.extensions.firmware.programs import measure_program as measure
from tflm_sim.extensions.lite.answer import Answer as LiteAnswer
from tflm_sim.extensions.lite.answer import LiteSettings as LiteSettings
from tflm_sim.extensions.lite.answer import allocated as lite_allocated
from tflm_sim.extensions.lite.answer import double_batch as double_batch
from tflm_sim.extensions.lite.planned_picture import lite_pictures as lite_pictures
from tflm_sim.extensions.lite.summary import Summary as LiteSummary
from tflm_sim.extensions.lite.summary import summaries as lite_summaries
from tflm_sim.extensions.shrink.shrink import shrink as shrink
from tflm_sim.extensions.shrink.shrunk import Shrunk as Shrunk
from tflm_sim.extensions.shrink.stream import NotStreamed as NotStreamed
from tflm_sim.extensions.shrink.stream import stream as stream
from tflm_sim.extensions.shrink.stream_text import streamed_lines as streamed_lines
from tflm_sim.extensions.shrink.streamed import Streamed as Streamed
from tflm_sim.extensions.shrink.text import shrunk_lines as shrunk_lines
from tflm_sim.extensions.shrink.verify import VerificationFailed as VerificationFailed
from tflm_sim.extensions.shrink.verify import Verified as Verified
from tflm_sim.extensions.shrink.verify import verify as verify
from tflm_sim.extensions.sweep.objective import ArenaObjective as ArenaObjective
from tflm_sim.extensions.sweep.objective import arena_objective as arena_objective
from tflm_sim.extensions.sweep.sweep import sweep as sweep
from tflm_sim.invocation.findings import BufferId as BufferId
from tflm_sim.invocation.findings import Finding as Finding
from tflm_sim.invocation.findings import FindingCode as FindingCode
from tflm_sim.invocation.invoke import Invocation as Invocation
from tflm_sim.invocation.invoke import invoke as invoke
from tflm_sim.model.build import ModelBuilder as ModelBuilder
from tflm_sim.model.load import encode as encode
from tflm_sim.model.load import load as load
from tflm_sim.model.load import parse as parse
from tflm_sim.model.types import Model as Model
from tflm_sim.model.types import TensorType as TensorType
from tflm_sim.ops.op_model import Node as Node
from tflm_sim.ops.op_model import OpModel as OpModel
from tflm_sim.ops.requests import FreeTempBuffer as FreeTempBuffer
from tflm_sim.ops.requests import FreeTempTensor as FreeTempTensor
from tflm_sim.ops.requests import Persistent as Persistent
from tflm_sim.ops.requests import Scratch as Scratch
from tflm_sim.ops.requests import ScratchBuffer as ScratchBuffer
from tflm_sim.ops.requests import Steps as Steps
from tflm_sim.ops.requests import TempBuffer as TempBuffer
from tflm_sim.ops.requests import TempTensor as TempTensor
from tflm_sim.planners.buffers import Buffer as Buffer
from tflm_sim.planners.buffers import Plan as Plan
from tflm_sim.planners.compare import Comparison as Comparison
from tflm_sim.planners.compare import Outcome as Outcome
from tflm_sim.planners.problem import Problem as Problem
from tflm_sim.planners.validate import PlanFault as PlanFault
from tflm_sim.report.drawings import draw_arena as draw_arena
from tflm_sim.report.drawings import draw_live_bytes as draw_live_bytes
from tflm_sim.report.drawings import draw_planners as draw_planners
from tflm_sim.report.drawings import draw_tail as draw_tail
from tflm_sim.report.drawings import draw_two_sets as draw_two_sets
from tflm_sim.report.picture import Picture as Picture
from tflm_sim.report.take_picture import take_picture as take_picture
from tflm_sim.report.trace_rows import trace_line as trace_line
from tflm_sim.samples import sample_path as sample_path
from tflm_sim.targets.presets import preset as preset
from tflm_sim.targets.target import Target as Target

__version__: str

__all__ = [
    "Allocation",
    "ArenaObjective",
    "BankAim",
    "BoardSession",
    "Buffer",
    "BufferId",
    "BufferLife",
    "Comparison",
    "Configuration",
    "Constraint",
    "Doubt",
    "ExecutedAllocation",
    "ExecutedArena",
    "ExecutedEvent",
    "ExecutedInvoke",
    "ExecutedOperator",
    "ExecutedStore",
    "Execution",
    "Finding",
    "FindingCode",
    "FreeTempBuffer",
    "FreeTempTensor",
    "Invocation",
    "InvokeProblem",
    "KernelProbe",
    "Lifetimes",
    "LiteAnswer",
    "LiteSettings",
    "LiteSummary",
    "MeasuredProgram",
    "Model",
    "ModelBuilder",
    "ModelError",
    "Node",
    "NotStreamed",
    "OpEvent",
    "OpModel",
    "Outcome",
    "Peak",
    "Persist",
    "Persistent",
    "Picture",
    "Plan",
    "PlanFault",
    "PlannedBuffer",
    "Problem",
    "RecordedAllocation",
    "ReplayOutcome",
    "ReplayScript",
    "ReplayStep",
    "Resize",
    "Sanitizer",
    "Scratch",
    "ScratchBuffer",
    "SerialPort",
    "Sharing",
    "Shrunk",
    "SimulatedFailure",
    "Simulation",
    "Sizer",
    "Sizing",
    "SmallestArena",
    "SplitArenaSizes",
    "Stage",
    "Steps",
    "Streamed",
    "TailLedger",
    "Target",
    "Temp",
    "TempBuffer",
    "TempFree",
    "TempReset",
    "TempTensor",
    "TensorSpec",
    "TensorType",
    "TflmSimError",
    "UnsupportedOpError",
    "UsageError",
    "Verdict",
    "VerificationFailed",
    "Verified",
    "__version__",
    "arena_objective",
    "check",
    "compare_planners",
    "double_batch",
    "draw_arena",
    "draw_live_bytes",
    "draw_planners",
    "draw_tail",
    "draw_two_sets",
    "encode",
    "execute",
    "head_problem",
    "invoke",
    "lifetimes",
    "lite_allocated",
    "lite_pictures",
    "lite_summaries",
    "load",
    "measure",
    "open_port",
    "parse",
    "preset",
    "replay_script",
    "run_script",
    "sample_path",
    "sanitize",
    "shrink",
    "shrunk_lines",
    "simulate",
    "smallest_arena",
    "stream",
    "streamed_lines",
    "sweep",
    "take_picture",
    "trace_line",
    "verify",
    "with_offline_plan",
]
