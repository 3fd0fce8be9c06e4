"""Send reports over a bad wire and count what the host believes: never a wrong one, always every whole line.

    python tools boards link_test --lines 1000000 --seed 1
    python tools boards link_test --text

The wire flips bits, drops, doubles, delays and cuts lines, loses line ends, lets other tasks write into a line, and
hands the bytes over in pieces of any size; in one report of thirty the device restarts and counts from 0 again.

With --text the logs are those of unmodified firmware, which have no checksums: what RecordingMicroAllocator,
tflm_benchmark and PrintMemoryPlan print for the samples. Every line is lost, cut and changed in each of its digits, and
the log is compared with the simulation. Exit 1 when a rule is broken.
"""

from __future__ import annotations

import random
import sys
import zlib
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace

from frame import Table
from frame import parser as tool_parser

from tflm_sim.answers.head_problem import head_problem
from tflm_sim.answers.simulation import Simulation, simulate
from tflm_sim.checks.device_report import compare_report
from tflm_sim.device.configuration import Configuration, configure
from tflm_sim.extensions.board.connection import Connection
from tflm_sim.extensions.board.framing import Frame, encode_frame, split_line, text_of
from tflm_sim.extensions.board.link_events import TornReport
from tflm_sim.logs.arena_report import ArenaReport
from tflm_sim.logs.lines import LineAssembler
from tflm_sim.logs.log_events import AllocationReport, PlanReport
from tflm_sim.logs.parser import parse_log
from tflm_sim.model.load import load
from tflm_sim.model.types import Model
from tflm_sim.planners import greedy
from tflm_sim.planners.print_plan import memory_plan_lines
from tflm_sim.recorded import CATEGORIES
from tflm_sim.samples import sample_path

TEXT_CASES = (("sine", "cortex-m4"), ("keyword_spotter", "esp32-s3"), ("keyword_spotter", "x86_64"))
LOG_LINES = (
    b"I (459) main_task: Calling app_main()\r\n",
    b"Failed to resize buffer. Requested: 102608, available 59764, missing: 42844\r\n",
    b"[RecordingMicroAllocator] Arena allocation total 23412 bytes\r\n",
    b"$GPGGA,092750.000,5321.6802,N,00630.3372,W,1,8,1.03,61.7,M,55.2,M,,*76\r\n",
    b'\x1b[0;32mW (12) x: {"a":1}*\x1b[0m\r\n',
)
TASK_TEXTS = (b"I (12) wifi: up", b"\n", b"$TSIM,", b"*deadbeef", b'{"r":1}')
RESET_CHANCE = 1 / 30
CHANCES = {"flip": 6, "drop": 3, "double": 4, "delay": 2, "cut": 3, "join": 3, "splice": 4}  # in 100 lines


@dataclass
class Wire:
    """A wire that damages what it carries (mutable).

    Attributes:
        random: Where chance comes from.
        whole: Every frame that arrived byte for byte, with how often.
        damages: How often each damage was done.
    """

    random: random.Random
    whole: Counter[bytes] = field(default_factory=Counter)
    damages: Counter[str] = field(default_factory=Counter)
    _late: list[tuple[int, bytes]] = field(default_factory=list)

    def carry(self, frame: bytes) -> tuple[bytes, bool]:
        """Return the bytes that arrive for a frame, and whether the frame is whole among them."""
        damage = self._choose()
        self.damages[damage] += 1
        data = _DAMAGES[damage](self, frame)
        body = frame.strip()
        arrived = data.count(body)
        late = [data for lines, data in self._late if lines == 0]
        self._late = [(lines - 1, data) for lines, data in self._late if lines > 0]
        self.whole.update(other.strip() for other in late)
        if arrived:
            self.whole[body] += arrived
        return data + b"".join(late), arrived > 0

    def _choose(self) -> str:
        roll = self.random.random() * 100
        for damage, chance in CHANCES.items():
            roll -= chance
            if roll < 0:
                return damage
        return "none"

    def flip(self, frame: bytes) -> bytes:
        data = bytearray(frame)
        for _ in range(self.random.randint(1, 3)):
            position = self.random.randrange(1, len(data) - 2)
            data[position] ^= 1 << self.random.randrange(8)
        return bytes(data)

    def drop(self, frame: bytes) -> bytes:
        return b""

    def double(self, frame: bytes) -> bytes:
        return frame * 2

    def delay(self, frame: bytes) -> bytes:
        self._late.append((self.random.randint(0, 2), frame))
        return frame

    def cut(self, frame: bytes) -> bytes:
        start, end = sorted(self.random.sample(range(1, len(frame) - 2), 2))
        return frame[:start] + frame[end:]

    def join(self, frame: bytes) -> bytes:
        return frame.strip()

    def splice(self, frame: bytes) -> bytes:
        position = self.random.randrange(2, len(frame) - 3)
        return frame[:position] + self.random.choice(TASK_TEXTS) + frame[position:]

    def none(self, frame: bytes) -> bytes:
        return frame


_DAMAGES = {name: getattr(Wire, name) for name in (*CHANCES, "none")}


def report_frames(number: int, sequence: int, chance: random.Random) -> list[bytes]:
    """Return the frames of one report as the stub sends them."""
    rows: list[tuple[str, dict[str, int | str]]] = [
        ("begin", {"v": 1, "r": number, "arena": chance.choice((65536, 131072)), "skew": 0}),
        ("info", {"r": number, "k": "target", "s": f'board {chance.randrange(100)} $*"ä'}),
        ("used", {"r": number, "total": chance.randrange(1 << 20), "head": 1, "tail": 2}),
    ]
    rows += [("cat", {"r": number, "k": k, "u": chance.randrange(9999), "q": 1, "c": 1}) for k in range(7)]
    rows += [
        ("buf", {"r": number, "i": i, "s": 16, "o": chance.randrange(9999), "f": i, "l": i + 1})
        for i in range(chance.randrange(8))
    ]
    frames: list[bytes] = []
    digest = 0
    for kind, fields in rows:
        frame = encode_frame((sequence + len(frames)) % 65536, kind, fields)
        digest = zlib.crc32(int(frame.strip()[-8:], 16).to_bytes(4, "big"), digest)
        frames.append(frame)
    end: dict[str, int | str] = {"r": number, "n": len(frames), "x": f"{digest:08x}"}
    return [*frames, encode_frame((sequence + len(frames)) % 65536, "end", end)]


@dataclass
class Tally:
    """What was sent and what must be believed (mutable)."""

    lines: int = 0
    reports: dict[int, int] = field(default_factory=dict)  # digest of each report that was sent: its number
    resets: int = 0
    intact: set[int] = field(default_factory=set)  # digests of those that arrived whole


def traffic(lines: int, wire: Wire, tally: Tally) -> Iterator[bytes]:
    """Yield what arrives, in pieces."""
    number = sequence = 0
    pending = b""
    while tally.lines < lines:
        number = number % 65535 + 1
        frames = report_frames(number, sequence, wire.random)
        sequence = (sequence + len(frames)) % 65536
        digest = int(frames[-1].split(b'"x":"')[1][:8], 16)
        tally.reports[digest] = number
        intact = True
        if wire.random.random() < RESET_CHANCE:
            frames = frames[: wire.random.randrange(1, len(frames))]
            number = sequence = 0
            intact = False
            tally.resets += 1
        for frame in frames:
            data, arrived = wire.carry(frame)
            intact = intact and arrived
            pending += data
            while wire.random.random() < 0.3:
                pending += wire.random.choice(LOG_LINES)
                tally.lines += 1
            cut = wire.random.randint(0, len(pending))
            yield pending[:cut]
            pending = pending[cut:]
        tally.lines += len(frames)
        if intact:
            tally.intact.add(digest)
    yield pending + b"\n"


def run(lines: int, seed: int) -> list[str]:
    """Carry ``lines`` lines and return the broken rules, [] when there are none."""
    wire, tally = Wire(random.Random(seed)), Tally()
    connection, assembler = Connection(), LineAssembler()
    accepted: Counter[bytes] = Counter()
    believed: set[int] = set()
    torn = wrong = 0
    for chunk in traffic(lines, wire, tally):
        for raw in assembler.feed(chunk):
            for frame in split_line(raw)[0]:
                if isinstance(frame, Frame):
                    accepted[_bytes_of(frame)] += 1
        for event in connection.receive(chunk):
            if isinstance(event, ArenaReport):
                believed.add(event.digest)
                wrong += tally.reports.get(event.digest) != event.number
            torn += isinstance(event, TornReport)
    print(f"{tally.lines:,} lines, {len(tally.reports):,} reports, {len(tally.intact):,} of them arrived whole")
    print(f"{tally.resets:,} restarts in the middle of a report")
    print(f"damage: {', '.join(f'{name} {count:,}' for name, count in sorted(wire.damages.items()))}")
    print(f"believed: {len(believed):,} reports, {sum(accepted.values()):,} frames; torn and named: {torn:,}")
    rules = {
        f"{wrong} wrong reports were believed": wrong == 0,
        f"{len(tally.intact - believed)} whole reports were not believed": tally.intact <= believed,
        "a frame was accepted that did not arrive whole": not accepted - wire.whole,
        f"{sum((wire.whole - accepted).values())} whole frames were not accepted": not wire.whole - accepted,
    }
    return [text for text, holds in rules.items() if not holds]


# Text of unmodified firmware.


def text_logs(model: Model, where: str) -> dict[str, tuple[Configuration, str]]:
    """Return what a firmware prints for a model, by printer, with the set-up to compare it with."""
    base = configure(where)
    recording = simulate(model, base, interpreter="recording")
    benchmark = simulate(model, base, interpreter="recording", resource_variables=100)
    return {
        "RecordingMicroAllocator": (base, recording_text(recording)),
        "tflm_benchmark": (base, benchmark_text(benchmark)),
        "PrintMemoryPlan": (base, plan_text(simulate(model, base))),
    }


def recording_text(simulation: Simulation) -> str:
    """Return the lines of PrintAllocations()."""
    mark = "[RecordingMicroAllocator]"
    arena = (simulation.arena_used_bytes, simulation.head_bytes, simulation.tail_bytes)
    figures = zip(("total", "head", "tail"), arena, strict=True)
    lines = [f"{mark} Arena allocation {name} {size} bytes" for name, size in figures]
    for row, use in zip(CATEGORIES, simulation.recorded.values(), strict=False):
        if use.used or use.requested:
            lines.append(
                f"{mark} '{row.recording_title}' used {use.used} bytes with alignment overhead "
                f"(requested {use.requested} bytes for {use.count} {row.recording_unit})"
            )
    return "\n".join(lines) + "\n"


def benchmark_text(simulation: Simulation) -> str:
    """Return the two tables of tflm_benchmark."""
    total = simulation.arena_used_bytes
    rows = (("Total", total), ("NonPersistent", simulation.head_bytes), ("Persistent", simulation.tail_bytes))
    lines = ["[[ Table ]]: Arena", "        Arena   Bytes   % Arena"]
    lines += [f"{name:>13} | {size:5} | {100 * size / total:8.2f}" for name, size in rows]
    lines += ["[[ Table ]]: Allocations", "    Allocation   Id    Used   Requested   Count   % Memory"]
    for number, (row, use) in enumerate(zip(CATEGORIES, simulation.recorded.values(), strict=False)):
        share = 100 * use.used / total
        lines.append(
            f"{row.benchmark_title:>28} | {number:2} | {use.used} | {use.requested} | {use.count} | {share:.2f}"
        )
    return "\n".join(lines) + "\n"


def plan_text(simulation: Simulation) -> str:
    """Return the lines of PrintMemoryPlan()."""
    problem = head_problem(simulation)
    offsets = greedy.plan(problem.buffers).offsets
    return "\n".join(memory_plan_lines(greedy.greedy_requirements(problem.buffers), offsets)) + "\n"


def damaged(text: str, chance: random.Random) -> Iterator[str]:
    """Yield the log with one line lost, cut, changed in a bit or in one digit: every line, every digit."""
    lines = text.splitlines(keepends=True)
    for number, line in enumerate(lines):
        before, after = "".join(lines[:number]), "".join(lines[number + 1 :])
        yield before + after
        yield before + line[: chance.randrange(1, len(line) - 1)] + after
        position = chance.randrange(len(line) - 1)
        yield (
            before
            + line[:position]
            + chr(ord(line[position]) ^ 1 << chance.randrange(5))
            + line[position + 1 :]
            + after
        )
        for position in [place for place, letter in enumerate(line) if letter.isdigit()]:
            other = chance.choice([digit for digit in "0123456789" if digit != line[position]])
            yield before + line[:position] + other + line[position + 1 :] + after
            yield before + line[:position] + line[position + 1 :] + after


def run_text(seed: int) -> list[str]:
    """Damage the logs of the samples and return the broken rules."""
    chance = random.Random(seed)
    broken: list[str] = []
    counts: dict[str, Counter[str]] = {}
    for name, where in TEXT_CASES:
        model = load(sample_path(name))
        for printer, (configuration, text) in text_logs(model, where).items():
            whole = _verdict(text, model, configuration)
            if whole != "equal":
                broken.append(f"the whole log of {printer} for {name} on {where} is {whole}")
            tally = counts.setdefault(printer, Counter())
            for wrong in damaged(text, chance):
                tally[_verdict(wrong, model, configuration, truth=text)] += 1
    columns = {"printer": "<24", "damaged": ">8,", "by itself": ">10,", "by the model": ">13,", "harmless": ">9,"}
    table = Table(columns | {"unnamed": ">8,"})
    for printer, tally in counts.items():
        unnamed = tally["equal"] + tally["different"]
        table.row(printer, tally.total(), tally["damaged"], tally["refused"], tally["harmless"], unnamed)
        if unnamed:
            broken.append(f"{unnamed} damaged logs of {printer} have no named problem")
    return broken


def _verdict(text: str, model: Model, configuration: Configuration, truth: str = "") -> str:
    """Say what a user is told about a log: damage it names itself, damage beside the model, equal, different.

    "harmless" is damage after which the log says the same, or has no report any more.
    """
    reports = [event for event in parse_log(text.encode()) if isinstance(event, AllocationReport | PlanReport)]
    if truth and _figures(reports) == _figures(parse_log(truth.encode())):
        return "harmless"
    if truth and (not reports or any(event.problems for event in reports)):
        return "damaged" if reports else "harmless"
    told = [compare_report(event, model, configuration, checks_remainders=False) for event in reports]
    if any(comparison.refused for comparison in told):
        return "refused"
    return "equal" if told and all(comparison.is_equal for comparison in told) else "different"


def _figures(events: Sequence[object]) -> list[object]:
    reports = [event for event in events if isinstance(event, AllocationReport | PlanReport)]
    return [replace(event, first_line=0, last_line=0) for event in reports]


def _bytes_of(frame: Frame) -> bytes:
    """Return the bytes of a frame that was read."""
    fields = {key: text_of(value) if isinstance(value, str) else value for key, value in frame.fields}
    return encode_frame(frame.sequence, frame.type, fields).strip()


def main() -> int:
    """Run the test from the command line."""
    parser = tool_parser(__doc__)
    parser.add_argument("--lines", type=int, default=1_000_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--text", action="store_true", help="logs of unmodified firmware instead of frames")
    args = parser.parse_args()
    broken = run_text(args.seed) if args.text else run(args.lines, args.seed)
    print("\n".join(f"BROKEN: {rule}" for rule in broken) or "every rule holds")
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
