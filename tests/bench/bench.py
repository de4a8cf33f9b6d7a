# SPDX-License-Identifier: BSD-2-Clause
"""
make bench: what runqlat costs, beside empty programs and its peers (docs/performance.md).

A measurement, not a test: the exit status is 0 whatever the speed.
"""
import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import kernel
import loads
import machine
import measure
import processes
import subjects
import tables

TRACEFS = (("tracefs", "/sys/kernel/tracing"), ("debugfs", "/sys/kernel/debug"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the raw numbers there")
    parser.add_argument("--quick", action="store_true", help="less than a minute, more noise")
    return parser.parse_args()


def build():
    """The empty programs and what holds them."""
    os.makedirs(subjects.WORK, exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    arch = {"x86_64": "x86", "aarch64": "arm64"}.get(os.uname().machine, os.uname().machine)
    for command in (
            [os.environ.get("CLANG", "clang"), "-g", "-O2", "-target", "bpf", "-mcpu=v2",
             f"-D__TARGET_ARCH_{arch}", "-Ivmlinux", "-c", f"{here}/empty.bpf.c",
             "-o", f"{subjects.WORK}/empty.bpf.o"],
            [os.environ.get("CC", "cc"), "-O2", "-Wall", f"{here}/hold.c", "-lbpf",
             "-o", subjects.HOLD]):
        subprocess.run(command, check=True)


def see_tracefs():
    """perf and bpftrace need tracefs: where it is not mounted, start again in a mount namespace."""
    if os.path.exists("/sys/kernel/tracing/events") and os.path.exists("/sys/kernel/debug/tracing"):
        return
    if "TALLY_BENCH_MOUNTS" not in os.environ:
        os.environ["TALLY_BENCH_MOUNTS"] = "own"
        os.execvp("unshare", ["unshare", "-m", sys.executable] + sys.argv)
    for kind, path in TRACEFS:
        subprocess.run(["mount", "-t", kind, "nodev", path], stderr=subprocess.DEVNULL)


def progress(text):
    print(f"bench: {text}", file=sys.stderr, flush=True)


def show(text):
    print(text + "\n", flush=True)


def measure_all(quick):
    """Prints the tables as they come; returns the raw numbers."""
    facts, quiet = machine.facts(), machine.Quiet()
    show(tables.header(facts))
    things, notes = subjects.available()
    programs = [s for s in things if s.name != "perf"]
    pipe, pipe_anywhere = loads.pipes(50_000 if quick else 150_000)
    messaging = loads.messaging(100 if quick else 300)
    all_loads = [pipe, pipe_anywhere, messaging]
    quiet.look()

    costs, memory = measure.program_costs(programs, all_loads, 2 if quick else 7, progress)
    show(tables.costs(costs, programs, [load.name for load in all_loads]))
    quiet.look()
    if kernel.stats_are_on():
        notes.append("kernel.bpf_stats_enabled is 1: the slowdowns below include the statistics")
    slow = measure.slowdowns(things, [pipe], 3 if quick else 11, progress)
    show(tables.slowdowns(slow, things, pipe))
    quiet.look()
    starts = measure.starts(things, 10 if quick else 15, progress)
    show(tables.starts(starts, things))
    show(tables.memory(memory, programs))
    facts["meanwhile"] = quiet.facts()
    show("\n".join(notes + [tables.quiet(facts["meanwhile"])]))
    return {"machine": facts, "notes": notes, "costs": costs, "slowdowns": slow,
            "starts": starts, "memory": memory}


def main():
    options = parse()
    if os.geteuid():
        sys.exit("bench: needs root, for BPF and tracefs")
    see_tracefs()
    processes.end_on_signals()
    try:
        build()
        raw = measure_all(options.quick)
    except KeyboardInterrupt:
        sys.exit(130)
    except (processes.Failed, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"bench: {failure}")
    finally:
        processes.kill_children()
    if options.json:
        with open(options.json, "w") as f:
            json.dump(raw, f, indent=1)


if __name__ == "__main__":
    main()
