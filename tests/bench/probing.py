# SPDX-License-Identifier: BSD-2-Clause
"""
probe, stackcount and profile compared with empty programs and bpftrace: ns of BPF programs per
event by number of keys and of sites, start time, and memory.

Some programs are not on tracepoints, so programs are found by the maps they use.
"""
import os
import signal
import subprocess
import time

import kernel
import tables
from figures import Spread
from loads import CPU, Load
from processes import Process, wait_for_text
from subjects import BUILD, HOLD, TARGET, WORK, Bpftrace, Empty, Tally, available

LOAD = os.path.abspath(f"{WORK}/work")
LOAD_DEBUG = os.path.abspath(f"{WORK}/work-debug")
EMPTIES = f"{WORK}/probing.bpf.o"
TOOK = r"took ([0-9.]+)"

KEYS = (1, 10, 100, 1_000, 10_000, 100_000)
SITES = ((1, "site_0000"), (10, "site_000*"), (100, "site_00*"), (1_000, "site_*"))
MOST_SITES = 100        # for bpftrace
HZ = "999"      # 99 would take minutes
READ = "syscalls:sys_enter_read"


# --- subjects and loads --------------------------------------------------------------------------

def build():
    """Builds the loads, and the empty programs for the same hooks."""
    here = os.path.dirname(os.path.abspath(__file__))
    compiler = [os.environ.get("CC", "cc"), "-O2", "-fno-omit-frame-pointer", "-pthread",
                f"{here}/work.c"]
    clang = [os.environ.get("CLANG", "clang"), "-g", "-O2", "-target", "bpf", "-mcpu=v2", TARGET,
             f'-DWORK="{LOAD}"', "-Ivmlinux", "-c", f"{here}/probing.bpf.c", "-o", EMPTIES]
    for command in (compiler + ["-o", LOAD], compiler + ["-g", "-o", LOAD_DEBUG], clang):
        subprocess.run(command, check=True)


def libc():
    """The C library that the loads use."""
    out = subprocess.run(["ldd", LOAD], capture_output=True, text=True, check=True).stdout
    return next(line.split()[2] for line in out.splitlines() if "libc.so" in line)


def work(name, *argv, pinned=True):
    pin = ["taskset", "-c", CPU] if pinned else []
    return Load(name, pin + [LOAD, *map(str, argv)], int(argv[1]), clock="said", says=TOOK)


def dd(blocks):
    argv = ["taskset", "-c", CPU, "dd", "if=/dev/zero", "of=/dev/null", "bs=1", f"count={blocks}"]
    return Load("dd bs=1", argv, blocks, clock="said", says=r"copied, ([0-9.]+) s")


def tally(name, empty, tool, *options):
    label = " ".join(["tally", tool, *options]).replace(LOAD, "work")
    return Tally(name, label, [f"{BUILD}/{tool}", *options], (empty,))


def bpftrace(name, empty, *programs, label=None, **environment):
    """programs: pairs of a probe and its action."""
    text = " ".join(f"{probe} {action}" for probe, action in programs)
    peer = Peer(name, "bpftrace " + (label or shown(programs[0][1])),
                ["bpftrace", "-B", "line", "-e", 'BEGIN { printf("Hit Ctrl-C\\n"); } ' + text],
                (empty,))
    peer.environment = environment
    return peer


def shown(action):
    """The label of an action: its filter and what it keeps; a printf() without its arguments."""
    condition, _, body = action.rpartition("{ ")
    return (condition + body.partition(";")[0].partition("(\"")[0]).strip(" }")


class Programs(Empty):
    """Empty programs of probing.bpf.c."""

    def __init__(self, name, label, *programs):
        super().__init__(name, label)
        self.argv = [HOLD, EMPTIES, *programs]


class Peer(Bpftrace):
    """Killed once measured: it takes seconds to symbolize stacks that nobody reads."""

    environment = {}

    def process(self):
        process = super().process()
        process.stop = signal.SIGKILL
        process.kwargs["env"] = {**os.environ, **self.environment}
        return process


class BpftraceEmpty(Peer):
    """An empty bpftrace program, for hooks that have no section name by which libbpf attaches."""
    empty = True


def on_reads():
    yield lambda: Programs("empty", "empty program, perf tracepoint", "empty_read")
    one = "tracepoint:" + READ
    for name, options, action in (
            ("count", [], "{ @ = count(); }"),
            ("comm", ["--by", "comm"], "{ @[comm] = count(); }"),
            ("pid", ["--by", "pid"], "{ @[pid] = count(); }"),
            ("hist", ["--hist", "count"], "{ @ = hist(args->count); }"),
            ("sum", ["--sum", "count"], "{ @ = sum(args->count); }"),
            ("filter", ["--filter", 'count == 1 && comm ~ "dd*"'],
             '/args->count == 1 && strncmp(comm, "dd", 2) == 0/ { @ = count(); }')):
        yield from pair(name, ["probe", READ, *options], [(one, action)])
    for name, option, action in (("both", [], "{ @[ustack, kstack] = count(); }"),
                                 ("kernel", ["-K"], "{ @[kstack] = count(); }"),
                                 ("user", ["-U"], "{ @[ustack] = count(); }")):
        yield from pair(name, ["stackcount", READ, *option], [(one, action)])


def pair(name, ours, theirs, empty="empty", **more):
    """Each of the two is made when it is measured."""
    yield lambda: tally(name, empty, *ours).beside_peer(f"{name}-bpftrace")
    yield lambda: bpftrace(f"{name}-bpftrace", empty, *theirs, **more)


def on_few_matches():
    """Shows one read in a thousand."""
    yield lambda: Programs("empty", "empty program, perf tracepoint", "empty_read")
    yield from pair("stream", ["probe", READ + " count", "--stream", "--filter", "count == 7"],
                    [("tracepoint:" + READ,
                      '/args->count == 7/ { printf("%s %d %d\\n", comm, pid, args->count); }')])


def on_mallocs():
    yield lambda: Programs("empty", "empty program, uprobe", "empty_malloc")
    yield from pair("hist", ["probe", "-x", "libc", "malloc", "--hist", "arg1"],
                    [(f"uprobe:{libc()}:malloc", "{ @ = hist(arg0); }")])


def on_malloc_calls():
    """The return of each call is measured as part of the call."""
    at = f":{libc()}:malloc"
    yield lambda: Programs("empty", "empty programs, uprobe and uretprobe",
                           "empty_malloc", "empty_malloc_return")
    yield from pair("latency", ["probe", "-x", "libc", "malloc", "--latency"],
                    [("uprobe" + at, "{ @s[tid] = nsecs; }"),
                     ("uretprobe" + at,
                      "/@s[tid]/ { @ = hist(nsecs - @s[tid]); delete(@s[tid]); }")],
                    label="@ = hist(nsecs - @s[tid])")


def on_samples():
    probe = f"profile:hz:{HZ}"
    yield lambda: empty_profile(probe)
    yield from pair("profile", ["profile", "-F", HZ],
                    [(probe, "{ @[ustack, kstack] = count(); }")])
    yield from pair("profile-kernel", ["profile", "-F", HZ, "-K"],
                    [(probe, "{ @[kstack] = count(); }")])


def empty_profile(probe):
    argv = ["bpftrace", "-B", "line", "-e", 'BEGIN { printf("Hit Ctrl-C\\n"); } ' + probe + " { }"]
    return BpftraceEmpty("empty", "empty program, perf event", argv)


# --- measurements -------------------------------------------------------------------------------

def programs_of(pid):
    """Programs are found by their maps: a process need not keep descriptors of its programs."""
    kept, maps = set(), set()
    for info in kernel.fd_infos(pid):
        kept |= {int(info[k]) for k in ("prog_id",) if k in info}
        maps |= {int(info[k]) for k in ("map_id",) if k in info}
    return {p["id"] for p in kernel.bpftool("prog", "show")
            if p["id"] in kept or maps & set(p.get("map_ids", []))}


def measured_run(process, load):
    """
    ns of all programs during one run of a load. One event may run several programs, so the number
    of events is that of the program that ran most. The number of hits, for programs that each have
    a site of their own, is the sum of all runs.
    """
    programs = programs_of(process.pid)
    before = kernel.program_runs()
    took = load.run()[load.clock]
    after = kernel.program_runs()
    ran = [[after[p][i] - before.get(p, (0, 0))[i] for i in range(2)]
           for p in programs if p in after]
    return {"ns": sum(ns for ns, _ in ran), "events": max([n for _, n in ran], default=0),
            "hits": sum(n for _, n in ran), "load_seconds": took,
            "rss": kernel.peak_rss(process.pid), "maps": kernel.map_bytes(process.pid),
            "start": process.start_seconds}


class Stats:
    """Enables the kernel's BPF statistics while entered; they end with the process that asked."""

    def __enter__(self):
        self.process = Process([HOLD, "stats"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.process.__enter__()
        wait_for_text(self.process, self.process.popen.stdout.fileno(), "ready")

    def __exit__(self, *exc):
        self.process.__exit__(*exc)


def run_costs(subjects, load, rounds, progress, warm=None):
    """[{subject: run} per round], in turn. warm: a load that runs first and is not measured."""
    results = []
    with Stats():
        for n in range(rounds):
            progress(f"{load.name}, round {n + 1} of {rounds}")
            results.append({s.name: run_of(s, load, warm) for s in subjects})
    return results


def run_of(subject, load, warm):
    with subject.running() as process:
        if warm:
            warm.run()
        return measured_run(process, load)


def per_event(run, per="events"):
    return run["ns"] / max(1, run[per])


def above_empty(rounds, subject, per="events"):
    """ns per event above the empty program, one figure per round."""
    return [per_event(r[subject.name], per) - per_event(r[subject.empties[0]], per)
            for r in rounds]


# --- tables -------------------------------------------------------------------------------------

def cost_row(rounds, subject, subjects):
    if subject.empty:
        base = Spread([per_event(r[subject.name]) for r in rounds]).median
        return subject.label, [f"[{base:.0f}]" + tables.times()]
    numbers = above_empty(rounds, subject)
    peer = tables.peer_of(subject, subjects, None)
    x = peer and Spread(numbers).median / max(1, Spread(above_empty(rounds, peer)).median)
    return subject.label, [tables.spread(numbers, 0) + tables.times(x)]


def cost_table(event, rounds, subjects, load):
    title = (f"Cost of the programs: ns per {event} above empty programs on the same hooks; median "
             f"(lowest..highest)\nof {len(rounds)} rounds{tables.ratio_to(subjects, None)}. "
             f"[In brackets: what the empty ones read.]")
    return tables.grid(title, [load.name], [cost_row(rounds, s, subjects) for s in subjects])


def medians(runs, kind, scale=1):
    return Spread([run[kind] for run in runs]).median / scale


def by_count_table(title, columns, counts, cells):
    """cells(n) returns one cell for each column."""
    return tables.grid(title, columns, [(f"{n:,}", cells(n)) for n in counts])


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

    def unchecked(self, candidates):
        """Skips the check that a subject works: to start each once more takes too long."""
        return self.subjects([lambda make=make: make().rarely(1) for make in candidates])

    def keep(self, name, raw, text):
        self.raw[name] = raw
        self.show(text)
        self.look()

    def costs(self, name, event, candidates, load, rounds):
        things = self.subjects(candidates)
        if not any(s.empty for s in things):
            self.notes.append(f"not run: {name}: nothing to hold an empty program there")
            return
        raw = run_costs(things, load, rounds, self.progress)
        self.keep(name, raw, cost_table(event, raw, things, load))

    def starts(self, rounds):
        things = self.subjects(starting())
        runs = {s.name: [] for s in things}
        self.progress(f"{rounds} starts of each")
        for _ in range(rounds):
            for s in things:
                with s.running() as process:
                    runs[s.name].append({"rss": kernel.peak_rss(process.pid),
                                         "start": process.start_seconds,
                                         "maps": kernel.map_bytes(process.pid)})
        seconds = {name: [r["start"] for r in of] for name, of in runs.items()}
        self.keep("starts", runs, tables.durations("Start to attached", seconds, things) + "\n\n" +
                  tables.memory(runs, things).replace("after the loads", "once attached"))

    def keys(self, rounds, events):
        """Map elements exist before the measurement."""
        results, things = {}, self.subjects(by_argument())
        for n in KEYS:
            load = work(f"{n:,} keys", "reads", max(events, 3 * n), n)
            results[n] = run_costs(things, load, rounds, self.progress,
                                   warm=work("all keys", "reads", n, n))
        self.keep("keys", results, by_count_table(
            "Cost by the number of keys: ns per read, by its count argument, above an empty "
            f"program; median\n(lowest..highest) of {rounds} rounds, ratio to bpftrace; MB of "
            "maps. The keys are there before.",
            ["tally" + tables.times(), "maps", "bpftrace", "maps"], KEYS,
            lambda n: key_cells(results[n], things)))

    def sites(self, rounds, calls):
        """bpftrace takes a third of a second per site to close."""
        results, things = {}, {}
        for n, pattern in SITES:
            things[n] = self.unchecked(at_sites(pattern, n <= MOST_SITES))
            load = work(f"{n:,} sites", "sites", calls, n)
            results[n] = run_costs(things[n], load, rounds if n <= 10 else 1, self.progress)
        self.keep("sites", results, by_count_table(
            "Cost by the number of sites, functions of a program: ns per call, counted by "
            "function, above an\nempty program; start to attached; the process's peak memory. "
            f"Medians of {rounds} rounds; above ten sites, one.",
            ["tally ns", "start, ms", "MB", "bpftrace ns", "start, ms", "MB"],
            [n for n, _ in SITES], lambda n: site_cells(results[n], things[n])))

    def endings(self):
        """Run once: each ending takes a minute."""
        took = {}
        things = self.unchecked(many_tracepoints())
        for s in things:
            self.progress(f"start and end of {s.label}")
            with s.running() as process:
                process.stop = signal.SIGINT
                start, began = process.start_seconds, time.monotonic()
            took[s.name] = {"start": start, "end": time.monotonic() - began}
        self.keep("endings", took, tables.grid(
            "Many tracepoints: seconds from start to attached, and to end; one run",
            ["attached", "end"],
            [(s.label, [f"{took[s.name][k]:.1f}" for k in ("start", "end")]) for s in things]))


def by_argument():
    yield lambda: Programs("empty", "empty program, perf tracepoint", "empty_read")
    yield from pair("keys", ["probe", READ, "--by", "count", "--max-keys", "200000"],
                    [("tracepoint:" + READ, "{ @[args->count] = count(); }")],
                    BPFTRACE_MAP_KEYS_MAX="200000")


def key_cells(rounds, subjects):
    cells, base = [], None
    for s in reversed([s for s in subjects if not s.empty]):
        numbers = above_empty(rounds, s)
        ratio = Spread(numbers).median / max(1, base) if base is not None else None
        if s.ours:
            cells = [tables.spread(numbers, 0) + tables.times(ratio), maps_of(rounds, s)] + cells
        else:
            base = Spread(numbers).median
            cells = [tables.spread(numbers, 0), maps_of(rounds, s)]
    return cells + ["", ""] * (base is None)


def maps_of(rounds, subject):
    return f"{medians([r[subject.name] for r in rounds], 'maps', 1e6):.1f}"


def at_sites(pattern, with_peer):
    """The empty program is on the first site only: it costs the same at each site."""
    yield lambda: Programs("empty", "empty program, uprobe", "empty_site")
    both = list(pair("sites", ["probe", "-x", LOAD, pattern, "--by", "func"],
                     [(f"uprobe:{LOAD}:{pattern}", "{ @[func] = count(); }")],
                     BPFTRACE_MAX_PROBES="2000"))
    yield from both if with_peer else both[:1]


def site_cells(rounds, subjects):
    cells = []
    for s in (s for s in subjects if not s.empty):
        runs = [r[s.name] for r in rounds]
        cells += [tables.spread(above_empty(rounds, s, "hits"), 0),
                  f"{medians(runs, 'start', 1e-3):.0f}", f"{medians(runs, 'rss', 1e6):.1f}"]
    return cells + [""] * (6 - len(cells))


def starting():
    read = "tracepoint:" + READ
    yield from pair("comm", ["probe", READ, "--by", "comm"], [(read, "{ @[comm] = count(); }")])
    yield from pair("plain", ["probe", "-x", LOAD, "site_0000"],
                    [(f"uprobe:{LOAD}:site_0000", "{ @ = count(); }")], label="work:site_0000")
    yield from pair("named", ["probe", "-x", LOAD_DEBUG, "site_0000", "--sum", "value"],
                    [(f"uprobe:{LOAD_DEBUG}:site_0000", "{ @ = sum(arg0); }")])
    yield from pair("libc", ["probe", "-x", "libc", "malloc"],
                    [(f"uprobe:{libc()}:malloc", "{ @ = count(); }")], label="libc:malloc")
    yield from pair("stacks", ["stackcount", READ], [(read, "{ @[ustack, kstack] = count(); }")])
    # The peer walks frame pointers, too.
    yield from pair(
        "stacks-fp", ["stackcount", READ, "--call-graph", "fp"], [(read, "{ @[ustack, kstack] = count(); }")]
    )
    yield from pair("profile", ["profile"],
                    [("profile:hz:99", "{ @[ustack, kstack] = count(); }")])


def many_tracepoints():
    calls = "syscalls:sys_enter_*"
    yield from pair("calls", ["probe", calls], [("tracepoint:" + calls, "{ @ = count(); }")],
                    label=calls, BPFTRACE_MAX_PROBES="2000")


def measure_all(quick, show, look, progress):
    """Shows each table once it is measured; returns the raw numbers."""
    build()
    bench = Bench(show, look, progress)
    events = 300_000
    few, many = (3, 5) if quick else (7, 15)

    bench.costs("reads", "read", on_reads(), dd(events), few)
    bench.costs("few matches", "read", on_few_matches(), work("1 of 1,000", "reads", events, 1000),
                few)
    mallocs = work("malloc", "mallocs", events, 100)
    bench.costs("mallocs", "malloc", on_mallocs(), mallocs, few)
    bench.costs("malloc calls", "call of malloc", on_malloc_calls(), mallocs, few)
    spin = work("two threads, 20 frames", "spin", 2, 20, pinned=False)
    bench.costs("samples", "sample", on_samples(), spin, few)
    bench.starts(many)
    bench.keys(few, events)
    bench.sites(few, 100_000)
    if not quick:
        bench.endings()
    return bench.raw, bench.notes
