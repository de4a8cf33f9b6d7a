# SPDX-License-Identifier: BSD-2-Clause
"""Programs that can be preempted by another task's (bpf/lib/preempt.bpf.h): all of them guard themselves, as their
objects show; and counts stay right where tasks preempt each other all the time."""
import functools
import json
import re
import struct

import pytest

import tally

OBJECTS = sorted((tally.BUILD / "bpf").glob("*.bpf.o"))

# Why no task can preempt a program there.
NEVER_PREEMPTED = {
    r"\.rodata.*|\.text|license|\.kconfig": "no program",
    r"perf_event": "an interrupt, or preemption is off (__perf_sw_event())",
    r"iter(\.s)?/.*": "only the loader runs it, one at a time; the kernel gives it no stack of the CPU",
    r"k(ret)?probe/.*": "preemption is off on functions of the kernel; templates, which have no name, are on uprobes too",
    r"(tp_btf|raw_tp)/sched_(switch|waking|wakeup|wakeup_new|migrate_task)": "a lock of the scheduler is held",
    r"tp_btf/sched_process_free": "called by RCU, in a softirq or with softirqs off",
    r"tp_btf/(irq_handler|softirq|irq_work|local_timer|reschedule|call_function|call_function_single|"
    r"x86_platform_ipi|thermal_apic|threshold_apic|deferred_error_apic|spurious_apic|error_apic)_(entry|exit)": "an interrupt",
    r"tp_btf/softirq_raise": "interrupts are off",
    r"tp_btf/(hrtimer|timer)_expire_(entry|exit)": "an interrupt, or a softirq",
    r"tp_btf/signal_generate": "siglock is held",
    r"tp_btf/workqueue_queue_work": "a pool's lock is held",
    r"raw_tp/by_loader": "only the loader runs it (BPF_PROG_TEST_RUN)",
    r"raw_tp/kvm_entry": "preemption is off from here into the guest",
}

FUNCTION = 2                            # STT_FUNC
CALLED = 10                             # R_BPF_64_32
CALL, STACK = 0x85, 10                  # an operation; a register


class Object:
    """A BPF ELF file: its programs by section, and the function that each call refers to."""

    def __init__(self, path):
        data = path.read_bytes()
        at, = struct.unpack_from("<Q", data, 0x28)
        size, count, names = struct.unpack_from("<HHH", data, 0x3a)
        heads = [struct.unpack_from("<IIQQQQIIQQ", data, at + i * size) for i in range(count)]
        self.body = [data[head[4]:head[4] + head[5]] for head in heads]
        # "?": libbpf does not load the program unless it is asked to.
        self.section = [self.text(self.body[names], head[0]).removeprefix("?") for head in heads]
        table, = (i for i, head in enumerate(heads) if head[1] == 2)
        strings = self.body[heads[table][6]]
        symbols = [struct.unpack_from("<IBBHQQ", self.body[table], i)
                   for i in range(0, len(self.body[table]), 24)]
        self.names = [self.text(strings, symbol[0]) for symbol in symbols]
        self.programs = [(self.section[s[3]], name, s[3], s[4], s[5])
                         for s, name in zip(symbols, self.names) if s[1] & 15 == FUNCTION]
        self.calls = {}
        for i, head in enumerate(heads):
            if head[1] == 9:
                self.calls[head[7]] = {offset: self.names[info >> 32] for offset, info in
                                       struct.iter_unpack("<QQ", self.body[i])
                                       if info & 0xffffffff == CALLED}

    @staticmethod
    def text(table, at):
        return table[at:table.index(b"\0", at)].decode()

    def instructions(self, section, start, size):
        for at in range(start, start + size, 8):
            code, registers, offset, number = struct.unpack_from("<BBhi", self.body[section], at)
            yield at, code, registers & 15, registers >> 4


def unguarded(obj, section, start, size):
    """The fault of a program, or None: it must disable preemption before it writes to its stack, and enable it
    again."""
    calls = obj.calls.get(section, {})
    seen, written = [], None
    for at, code, to, _ in obj.instructions(section, start, size):
        name = calls.get(at, "") if code == CALL else ""
        if name.startswith("bpf_preempt_"):
            seen.append(name)
        elif not seen and code & 7 in (2, 3) and to == STACK and written is None:
            written = at - start
    if "bpf_preempt_disable" not in seen:
        return "does not keep preemption off"
    if "bpf_preempt_enable" not in seen:
        return "leaves preemption off"
    return f"has written to its stack before, at instruction {written // 8}" if written is not None else None


def hooked(section):
    return not any(re.fullmatch(pattern, section) for pattern in NEVER_PREEMPTED)


def test_there_are_objects():
    assert len(OBJECTS) > 40


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name.removesuffix(".bpf.o"))
def test_programs_that_can_be_preempted_guard_themselves(path):
    obj = Object(path)
    wrong = {name: reason for section, name, number, start, size in obj.programs
             if hooked(section) and (reason := unguarded(obj, number, start, size))}
    assert not wrong, f"{path.name}: see bpf/lib/preempt.bpf.h, UNPREEMPTED(): {wrong}"


def test_what_is_never_preempted_is_still_there():
    sections = {section for path in OBJECTS for section in Object(path).section}
    unused = [pattern for pattern in NEVER_PREEMPTED
              if not any(re.fullmatch(pattern, section) for section in sections)]
    assert not unused


def test_the_check_finds_what_is_wrong():
    """A modified object: the check finds a program without the guard, and one that calls it too late."""
    obj = Object(tally.BUILD / "bpf" / "memleak.bpf.o")
    program = next(p for p in obj.programs if p[1] == "on_return")
    section, start, size = program[2:]
    assert unguarded(obj, section, start, size) is None
    calls = obj.calls[section]
    at = next(at for at, name in sorted(calls.items()) if name == "bpf_preempt_disable" and at >= start)
    assert unguarded(obj, section, start, at - start) == "does not keep preemption off"
    late = dict(calls)
    del late[at]
    again = max(at for at, name in calls.items() if name == "bpf_preempt_enable" and start <= at < start + size)
    late[again - 8 * 2] = "bpf_preempt_disable"
    body = bytearray(obj.body[section])
    body[again - 16] = CALL
    obj.body[section], obj.calls[section] = bytes(body), late
    assert "written" in unguarded(obj, section, start, size)


# --- four threads on one CPU, and one that interrupts them --------------------------------------------

CROWD = tally.BUILD / "triggers" / "crowd"
N = 4000 if tally.GUEST else 20000      # a multiple of 1000, so that the sum is known
THREADS = 4


class Crowd:
    """A report on all that the crowd does, and its own account: the number of calls, and the sum of their arguments."""

    def __init__(self, trigger, tool, name, *args):
        self.load = trigger("crowd", N, THREADS, 0)
        tracer = tool("--json", *args, "-p", self.load.pid, tool=name)
        self.load.go()
        self.calls, self.sum = self.load.done()
        self.result = tracer.stop()
        *self.lines, self.report = [json.loads(line) for line in self.result.text.splitlines()]
        self.lost = {reason: n for reason, n in tally.flaws(self.report).items() if n}

    def rows(self, *columns):
        return sorted(tuple(row[column] for column in columns) for row in self.report["rows"])


@pytest.fixture
def crowd(trigger, tool):
    return functools.partial(Crowd, trigger, tool)


@pytest.fixture
def crowded(crowd):
    return functools.partial(crowd, "probe", "-x", CROWD, "crowded")


@pytest.mark.preempt
def test_sums(crowded):
    found = crowded("--sum", "$arg1:s64")
    assert found.rows("count", "sum") == [(found.calls, found.sum)] and not found.lost


@pytest.mark.preempt
def test_sums_of_threads(crowded):
    found = crowded("--sum", "$arg1:s64", "--by", "tid")
    each = [(N, N // 1000 * 500500)] * THREADS
    inner = found.calls - N * THREADS
    assert found.rows("count", "sum") == sorted([*each, (inner, 500 * inner)]) and not found.lost


@pytest.mark.preempt
@pytest.mark.parametrize("option", ("--min", "--max", "--avg", "--hist"))
def test_values(crowded, option):
    found = crowded(option, "$arg1:s64")
    (got,) = found.report.get("rows") or found.report["groups"]
    assert got["count"] == found.calls and not found.lost
    wanted = {"min": 1, "max": 1000, "sum": found.sum, "avg": found.sum // found.calls}
    assert {key: int(got[key]) for key in wanted if key in got} == \
        {key: value for key, value in wanted.items() if key in got}


@pytest.mark.preempt
@pytest.mark.parametrize("keys", ((), ("--by", "tid")), ids=("all", "threads"))
def test_latencies(crowded, keys):
    """Begins and ends match, for each thread by itself."""
    found = crowded("--latency", *keys)
    counts = sorted(group["count"] for group in found.report["groups"])
    assert sum(counts) == found.calls and not found.lost
    assert not keys or counts == sorted([N] * THREADS + [found.calls - N * THREADS])


@pytest.mark.preempt
def test_lines(crowd):
    """Each event by itself, from a buffer of the CPU."""
    found = crowd("probe", "-x", CROWD, "crowded value=$arg1:s64")
    missing = found.lost.pop("ring_full", 0)
    assert len(found.lines) + missing == found.calls and not found.lost
    assert missing or sum(line["values"]["value"] for line in found.lines) == found.sum


@pytest.mark.preempt
def test_counts_of_threads(crowd):
    found = crowd("stat", "-x", CROWD, "-e", "crowded", "--by", "tid")
    assert sorted(row["count"] for row in found.report["rows"]) == \
        sorted([N] * THREADS + [found.calls - N * THREADS]) and not found.lost


@pytest.mark.preempt
def test_stacks(crowd):
    found = crowd("stackcount", "-x", CROWD, "crowded")
    assert sum(stack["value"] for stack in found.report["stacks"]) == found.calls and not found.lost
    assert all(stack["frames"][-1]["name"] == "crowded" for stack in found.report["stacks"])


@pytest.mark.preempt
def test_memory(crowd):
    """All memory is freed by the thread that allocated it, and each free is of memory seen allocated."""
    found = crowd("memleak")
    calls, size = (int(n.replace(",", "")) for n in re.findall(r"[\d,]*\d", found.report["value"])[:2])
    assert (calls, size) == (found.calls, found.sum), found.report
    assert "unseen" not in found.report["value"], found.report
    assert found.report["rows"] == [] and not found.lost


@pytest.mark.preempt
@pytest.mark.parametrize("name, args", (
    ("syscount", ()), ("syscount", ("-e", "getppid", "--by", "tid")),
    ("stat", ("-e", "syscalls:sys_enter_getppid")),
    ("stat", ("-e", "syscalls:sys_enter_getppid", "--by", "tid")),
    ("probe", ("syscalls:sys_exit_getppid", "--hist", "ret")),
    ("stackcount", ("syscalls:sys_enter_getppid",)),
), ids=lambda part: part if isinstance(part, str) else " ".join(part))
def test_system_calls(crowd, name, args):
    """From 7.0 on the kernel skips a program if another task on the CPU is in it between its first instruction and
    bpf_preempt_disable(), and counts that."""
    found = crowd(name, *args)
    skipped = found.lost.pop("recursion", 0)
    rows = found.report.get("stacks") or found.report.get("groups") or \
        [row for row in found.report["rows"] if row.get("syscall", "getppid") == "getppid"]
    counted = sum(row.get("value", row.get("count", row.get("calls"))) for row in rows)
    assert found.calls - skipped <= counted <= found.calls and not found.lost


ATOMIC = (0xc3, 0xdb)                   # BPF_STX | BPF_ATOMIC, of 4 and of 8 bytes
ADD = 0


@pytest.mark.parametrize("path", OBJECTS, ids=lambda path: path.name.removesuffix(".bpf.o"))
def test_atomic_instructions_are_known_everywhere(path):
    """Kernels before 5.12 only add, and return no value. The compiler makes an atomic or of adding a constant 0."""
    obj = Object(path)
    code = {index for _, _, index, _, _ in obj.programs}
    assert code
    for index in code:
        for operation, _, _, operand in struct.iter_unpack("<BBhi", obj.body[index]):
            assert operation not in ATOMIC or operand == ADD, obj.section[index]
