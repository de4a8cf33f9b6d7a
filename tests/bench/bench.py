# SPDX-License-Identifier: BSD-2-Clause
"""
make bench: what the tools cost, beside empty programs and their peers (docs/performance.md).

A measurement, not a test: the exit status is 0 whatever the speed.
"""
import argparse
import json
import os
import subprocess
import sys

sys.dont_write_bytecode = True

import block
import blocking
import counting
import filing
import kernel
import machine
import networking
import opening
import plot
import probing
import processes
import runqlat
import sampling
import serving
import subjects
import switching
import syscalls
import tables
import tracing
import triaging

PARTS = {"runqlat": runqlat, "stat": counting, "probe": probing, "files": filing,
         "block": block, "offcputime": blocking, "switches": switching, "syscalls": syscalls,
         "profile": sampling, "trace": tracing, "opensnoop": opening, "network": networking,
         "triage": triaging, "serving": serving}
TRACEFS = (("tracefs", "/sys/kernel/tracing"), ("debugfs", "/sys/kernel/debug"))


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", metavar="FILE", help="write the raw numbers there")
    parser.add_argument("--plot", metavar="FILE", help="draw the cost by keys and sites there")
    parser.add_argument("--quick", action="store_true", help="a few minutes, more noise")
    serving.add_options(parser)
    parser.add_argument("tool", nargs="*", help=f"of {', '.join(PARTS)}; default: all")
    options = parser.parse_args()
    for tool in options.tool:
        if tool not in PARTS:
            parser.error(f"nothing is measured of '{tool}'; of {', '.join(PARTS)} it is")
    if options.plot and options.tool and "probe" not in options.tool:
        parser.error("--plot draws what is measured of 'probe'")
    return options


def build():
    """The empty programs and what holds them."""
    os.makedirs(subjects.WORK, exist_ok=True)
    here = os.path.dirname(os.path.abspath(__file__))
    for command in (
            [os.environ.get("CLANG", "clang"), "-g", "-O2", "-target", "bpf", "-mcpu=v2",
             subjects.TARGET, "-Ivmlinux", "-c", f"{here}/empty.bpf.c",
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


def measure_parts(parts, options):
    """Prints the tables as they come; returns the raw numbers."""
    facts, quiet = machine.facts(), machine.Quiet()
    raw = {"machine": facts, "notes": []}
    show(tables.header(facts))
    if kernel.stats_are_on():
        raw["notes"].append("kernel.bpf_stats_enabled is 1: the slowdowns include the statistics")
    for part in dict.fromkeys(parts):
        show(f"--- {part} ---")
        more = {"options": options} if part == "serving" else {}
        raw[part], notes = PARTS[part].measure_all(options.quick, show, quiet.look, progress, **more)
        raw["notes"] += notes
    facts["meanwhile"] = quiet.facts()
    show("\n".join(raw["notes"] + [tables.quiet(facts["meanwhile"])]))
    return raw


def main():
    options = parse()
    if os.geteuid():
        sys.exit("bench: needs root, for BPF and tracefs")
    see_tracefs()
    processes.end_on_signals()
    try:
        build()
        raw = measure_parts(options.tool or PARTS, options)
    except KeyboardInterrupt:
        sys.exit(130)
    except (processes.Failed, OSError, subprocess.CalledProcessError) as failure:
        sys.exit(f"bench: {failure}")
    finally:
        processes.kill_children()
    if options.json:
        with open(options.json, "w") as f:
            json.dump(raw, f, indent=1)
    if options.plot:
        plot.draw(raw["probe"], options.plot)


if __name__ == "__main__":
    main()
