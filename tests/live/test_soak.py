# SPDX-License-Identifier: BSD-2-Clause
"""Long runs, with TALLY_SOAK=1 only: TALLY_SOAK_SECONDS each, half an hour and 200,000 processes (TALLY_SOAK_PROCESSES)
by default. A short one always runs."""

import os
import re
import time
from pathlib import Path

import pytest

import tally
from accounts import Work, check, tool_by_the_books, work  # noqa: F401
from tally import TEMPEST, once, scaled, total
from test_listen import free_port, scrape
from test_openmetrics import figures

pytestmark = pytest.mark.exclusive

SECONDS = float(os.environ.get("TALLY_SOAK_SECONDS", 1800))
PROCESSES = int(os.environ.get("TALLY_SOAK_PROCESSES", 0 if "TALLY_SOAK_SECONDS" in os.environ else 200_000))
long_run = pytest.mark.skipif(not os.environ.get("TALLY_SOAK"), reason="runs with TALLY_SOAK=1")


def resident_kib(pid):
    return int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())[1])


@pytest.mark.soak
@long_run
def test_forks_for_a_long_time(tool, trigger):
    """Nothing fills up, grows or is lost: millions of processes, a report a second, and at the end each wait has been
    counted."""
    tracer = tool("--json", "--comm", TEMPEST, 1)
    end = time.monotonic() + SECONDS
    waits, holes, memory = [], 0, []
    while not waits or time.monotonic() < end:
        load = trigger("storm", scaled(20000), 4, 0, comm=TEMPEST)
        w = work(load)
        load.close()
        _, _, n, delay, *_ = w.said[0]
        waits += [tally.Books(0, delay, n), total(w.grown)]
        holes += w.holes
        memory.append(resident_kib(tracer.pid))
    reports = tracer.stop().reports
    whole = {
        "groups": [g for r in reports for g in r["groups"]],
        "unaccounted": sum(r["unaccounted"] for r in reports),
        "lost": {why: sum(r["lost"][why] for r in reports) for why in reports[0]["lost"]},
    }
    # Between two readings of the accounting the trigger starts and ends, with some waits of its own each time.
    grown = total(waits)
    extra = tally.count(whole["groups"]) - grown.count
    assert -holes <= extra <= 20 * len(memory) + whole["unaccounted"]
    assert not whole["lost"]["map_full"] and not whole["lost"]["no_memory"]
    if extra <= 0:
        check(whole, Work({}, [], holes), grown)
    assert memory[-1] <= memory[len(memory) // 10] * 1.1 + 1024, memory


# --- short processes under all kinds of tools -------------------------------------------------------

CALLS = 5
COMM = "mayflies"
# So few keys that all maps fill up, and are emptied, many times in a third of the short run.
FEW = ("--max-keys", 1000)
MORE = ("--max-keys", 8000)


def tools(whole):
    """{tool: its options}. The scope is the load or, for tools that take stacks, the whole machine, with room for all
    of a busy one."""
    scope = ("-a",) if whole else ("--comm", COMM, *MORE)
    return {
        "runqlat": ("--json", "--by", "pid", "--comm", COMM, *FEW, "-I", 500),
        "profile": ("--json", *scope, "-F", 499, "-I", 500),
        "offcputime": ("--json", "--by", "pid,comm", *scope, "-I", 500),
        "kmem": ("--json", "--leak", "-g", "--by", "pid", "--comm", COMM, *MORE, "-I", 500),
        "stackcount": ("syscalls:sys_enter_getppid", "--json", "--by", "pid", "--comm", COMM, *FEW, "-I", 500),
    }


# More than the number of series between two scrapes: none is hidden.
SERIES = 2000


def descriptors(pid):
    return len(os.listdir(f"/proc/{pid}/fd"))


class Watch:
    """Memory and descriptors of the tools, in three parts of equal length: the first part lets caches fill."""

    def __init__(self, tracers):
        self.tracers, self.taken = tracers, {name: [] for name in tracers}

    def look(self):
        for name, tracer in self.tracers.items():
            self.taken[name].append((resident_kib(tracer.pid), descriptors(tracer.pid)))

    def most(self, name, part, which):
        taken = self.taken[name]
        return max(sample[which] for sample in taken[part * len(taken) // 3:(part + 1) * len(taken) // 3])

    def told(self):
        """A line for each tool: ten samples, in MB and descriptors."""
        for name, taken in self.taken.items():
            looks = taken[::max(1, len(taken) // 10)]
            yield f"{name}: " + " ".join(f"{kib // 1024}/{fds}" for kib, fds in looks)

    def check(self):
        """Where memory is freed and allocated again, an allocator with many sizes varies by a tenth, and a file mapped
        for the first time (a library that somebody runs just then) has its names read: 4 MB. Descriptors: at most 256
        of such files that are yet to be read, beside the tool's own."""
        for name in self.taken:
            assert self.most(name, 2, 0) <= self.most(name, 1, 0) * 1.1 + 4096, (name, "KiB", list(self.told()))
            assert self.most(name, 2, 1) <= max(self.most(name, 1, 1) + 16, 256 + 64), (
                name,
                "descriptors",
                list(self.told()),
            )


class Scraper:
    """The last value of each series ever seen."""

    def __init__(self, port):
        self.port, self.calls, self.samples = port, {}, []

    def look(self):
        self.samples = scrape(self.port)
        self.calls.update(figures(self.samples, "tally_syscount_calls_total", "pid"))

    def of(self, name):
        return sum(figures(self.samples, name, "tool").values())

    def lost(self):
        return {why: n for why, n in figures(self.samples, "tally_lost_total", "reason").items() if n}


def batch(trigger, n):
    """The pids of so many processes, if they are known."""
    load = trigger(COMM, n, CALLS, 0)
    load.go()
    first, last = load.done()
    load.close()
    return range(first, last + 1) if first < last else ()


def losses(reports):
    return {why for report in reports for why, n in report["lost"].items() if n}


def short_processes(tool, trigger, whole, seconds, processes=0):
    port = free_port()
    scraper = Scraper(port)
    each = tools(whole)
    tracers = {name: tool(*args, tool=name) for name, args in each.items()}
    tracers["syscount"] = tool("-P", "-e", "getppid", "--comm", COMM, "--listen", port, "--top", SERIES, *FEW,
                               tool="syscount")
    watch = Watch(tracers)
    n, at_once, last = 0, scaled(200), ()
    end = time.monotonic() + seconds
    late = end - seconds / 2
    while time.monotonic() < end or n < processes:
        last = batch(trigger, at_once)
        n += at_once
        scraper.look()
        watch.look()
    time.sleep(0.6)         # the interval with the last ones; and the scraped report is half a second old at most
    scraper.look()
    results = {name: tracer.stop() for name, tracer in tracers.items()}
    print(f"{n} processes;", *watch.told(), sep="\n")
    check_all(results, scraper, n, at_once, last, time.time_ns() - int((time.monotonic() - late) * 1e9))
    watch.check()


def check_all(results, scraper, n, at_once, last, since_ns):
    # Pids are reused then: a series may be of several processes.
    again = n >= int(Path("/proc/sys/kernel/pid_max").read_text()) // 2
    reports = {name: result.reports for name, result in results.items() if name != "syscount"}
    for name in reports:
        assert not losses(reports[name]) & {"map_full", "stacks_full", "no_memory"}, (name, losses(reports[name]))
    # Each call of each process, once.
    assert not scraper.lost() and scraper.of("tally_events_total") == n * CALLS
    if not again:
        assert sum(scraper.calls.values()) == n * CALLS and max(scraper.calls.values()) == CALLS
    assert sum(r["events"] for r in reports["stackcount"]) == n * CALLS
    # The last processes are there like the first: a process waits before its first instruction.
    waited = [g["key"]["pid"] for r in reports["runqlat"] for g in r["groups"]]
    assert len(waited) >= n * 0.9 and (again or len(set(waited)) <= n + n // at_once), (len(waited), n)
    assert not last or len(set(waited) & set(last)) >= at_once * 0.9
    for name in ("offcputime", "profile"):
        assert any(stack["key"]["comm"] == COMM for r in reports[name] if since_ns <= r["start_ns"]
                   for stack in r["stacks"]), name
    assert len(reports["kmem"]) > 1


@once
def test_short_processes(tool, trigger):
    short_processes(tool, trigger, False, 20)


@pytest.mark.soak
@long_run
def test_short_processes_for_a_long_time(tool, trigger):
    short_processes(tool, trigger, True, SECONDS, PROCESSES)
