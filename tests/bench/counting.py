# SPDX-License-Identifier: BSD-2-Clause
"""stat and list compared with empty programs, perf stat, perf list and bpftrace."""
import loads
import measure
import tables
from subjects import BUILD, Bpftrace, Empty, Perf, Subject, Tally, Wrapper, available

CALLS = "syscalls:sys_enter_*"
CHARGED = "task-clock,cs,page-faults"


RAW, BY_PERF = ("raw",), ("perf-event",)


def tally(name, events, *options, empties=RAW):
    argv = [f"{BUILD}/stat", "-e", events, *options]
    return Tally(name, " ".join(["tally stat -e", events, *options]), argv, empties,
                 whole=argv + ["-d", "0.01"])


def perf(name, events):
    argv = ["perf", "stat", "-a", "-e", events]
    return Perf(name, f"perf stat -a -e {events}", argv, whole=argv + ["sleep", "0.01"])


def bpftrace(name, tracepoint, action):
    """The shortest program that answers the question, reports that it is attached, and can be ended."""
    program = f"tracepoint:{tracepoint} {{ {action}; }}"
    argv = ["bpftrace", "-B", "line", "-e"]
    return Bpftrace(name, f"bpftrace {action}",
                    argv + ['BEGIN { printf("Hit Ctrl-C\\n"); } ' + program], BY_PERF,
                    whole=argv + [program + " interval:ms:10 { exit(); }"])


# --- the cost of one event ----------------------------------------------------------------------

def on_switches():
    yield lambda: Empty("raw", "empty program, raw tracepoint", "empty_raw_switch")
    yield lambda: Empty("perf-event", "empty program, perf tracepoint", "empty_perf_switch")
    switch, more = "sched:sched_switch", ("--by", "comm")
    yield lambda: tally("count", switch).beside_peer("bpftrace")
    yield lambda: bpftrace("bpftrace", switch, "@ = count()")
    yield lambda: tally("comm", switch, *more).beside_peer("bpftrace-comm")
    yield lambda: bpftrace("bpftrace-comm", switch, "@[comm] = count()")
    yield lambda: perf("perf", switch)
    yield lambda: tally("counters", CHARGED).without_programs().beside_peer("perf-counters")
    yield lambda: tally("charged", CHARGED, *more)
    yield lambda: perf("perf-counters", CHARGED)


def on_calls():
    call = "raw_syscalls:sys_enter"
    yield lambda: Empty("raw", "empty program, raw tracepoint", "empty_raw_enter")
    yield lambda: Empty("perf-event", "empty program, perf tracepoint", "empty_perf_enter")
    yield lambda: tally("count", CALLS).beside_peer("bpftrace")
    yield lambda: bpftrace("bpftrace", call, "@[args->id] = count()")
    yield lambda: tally("comm", CALLS, "--by", "comm").beside_peer("bpftrace-comm")
    yield lambda: bpftrace("bpftrace-comm", call, "@[args->id, comm] = count()")


def around_dd():
    """Subjects that run next to dd, and subjects that start it."""
    stat, perf_stat = [f"{BUILD}/stat", "-e", CALLS], ["perf", "stat", "-e", CALLS]
    yield lambda: Empty("raw", "empty program, raw tracepoint", "empty_raw_enter")
    yield lambda: Wrapper("stat", f"tally stat -e {CALLS} --", stat + ["--"], "perf")
    yield lambda: Wrapper("perf", f"perf stat -e {CALLS} --", perf_stat + ["--"])
    yield lambda: Wrapper("stat-a", f"tally stat -a -e {CALLS} --", stat + ["-a", "--"], "perf-a")
    # perf takes a quarter of a minute to close its descriptors, one for each event and CPU.
    yield lambda: Wrapper("perf-a", f"perf stat -a -e {CALLS} --",
                          perf_stat + ["-a", "--"]).rarely(3)


# --- how long it takes to start -----------------------------------------------------------------

def starting():
    for name, events in (("cs", "cs"), ("switch", "sched:sched_switch"), ("sched", "sched:*"),
                         ("calls", "syscalls:*")):
        yield lambda n=name, e=events: tally(n, e).beside_peer(f"perf-{n}")
    # Twice as many would take perf half a minute.
        yield lambda n=name, e=events: perf(f"perf-{n}", e).rarely(1 if n == "calls" else 1000)
    yield lambda: tally("comm", "sched:sched_switch", "--by", "comm").beside_peer("bpftrace")
    yield lambda: bpftrace("bpftrace", "sched:sched_switch", "@[comm] = count()")


class Lister(Subject):
    """Prints its list and ends."""

    def __init__(self, name, label, argv, peer=None):
        super().__init__(name, label, argv, whole=argv)
        self.peer, self.ours = peer, peer is not None

    def check(self):
        measure.whole_runs([self], 1, lambda text: None)


def listing():
    yield lambda: Lister("list", "tally list", [f"{BUILD}/list"], "perf")
    yield lambda: Lister("perf", "perf list", ["perf", "list"])
    tracepoints = ["bpftrace", "-l", "tracepoint:*"]
    yield lambda: Lister("bpftrace", " ".join(tracepoints), tracepoints)
    yield lambda: Lister("functions", "tally list --functions", [f"{BUILD}/list", "--functions"],
                         "bpftrace-functions")
    functions = ["bpftrace", "-l", "kprobe:*"]
    yield lambda: Lister("bpftrace-functions", " ".join(functions), functions)


# --- the course ---------------------------------------------------------------------------------

class Bench:
    """Keeps the raw numbers and the notes."""

    def __init__(self, show, look, progress):
        self.show, self.look, self.progress = show, look, progress
        self.raw, self.notes = {}, []

    def subjects(self, candidates):
        things, notes = available(candidates)
        self.notes += [note for note in notes if note not in self.notes]
        return things

    def table(self, name, text, raw):
        self.raw[name] = raw
        self.show(text)
        self.look()

    def slowdown(self, name, things, load, rounds):
        slow = measure.slowdowns(things, [load], rounds, self.progress)
        self.table(name, tables.slowdowns(slow, things, load), slow)

    def costs(self, name, event, things, load, rounds):
        programs = [s for s in things if s.has_programs]
        costs, memory = measure.program_costs(programs, [load], rounds, self.progress)
        self.table(name, tables.costs(event, costs, programs, [load]), costs)
        self.table(name + " memory", tables.memory(memory, programs), memory)

    def durations(self, name, what, things, measurement, rounds):
        seconds = measurement(things, rounds, self.progress)
        self.table(name, tables.durations(what, seconds, things), seconds)


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    bench = Bench(show, look, progress)
    dd = loads.dd(500_000 if quick else 2_000_000)
    pipe = loads.pipes(50_000 if quick else 150_000)[0]
    few, many = (3, 7) if quick else (7, 15)

    bench.slowdown("dd", bench.subjects(around_dd()), dd, many)
    bench.costs("calls", "system call", bench.subjects(on_calls()), dd, few)
    switches = bench.subjects(on_switches())
    bench.costs("switches", "context switch", switches, pipe, few)
    bench.slowdown("pipe", switches, pipe, many)
    things = bench.subjects(starting())
    bench.durations("starts", "Start to counting", things, measure.starts, many)
    bench.durations("runs", "Counting for 10 ms, from start to end", things,
                    measure.whole_runs, few)
    bench.durations("lists", "Listing, from start to end", bench.subjects(listing()),
                    measure.whole_runs, many)
    return bench.raw, bench.notes
