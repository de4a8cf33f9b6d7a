# SPDX-License-Identifier: BSD-2-Clause
"""The measurements: each takes all subjects in turn, several times, and returns raw numbers."""
import subprocess
import time

import figures
import kernel
from processes import Failed, Process, wait_for_text
from subjects import HOLD


def difference(before, after, hooks):
    """{hook: [ns, runs]} between two readings of a process's programs."""
    runs = {}
    for program, hook in hooks.items():
        sums = runs.setdefault(hook, [0, 0])
        for i in range(2):
            sums[i] += after[program][i] - before.get(program, (0, 0))[i]
    return runs


def program_costs(subjects, loads, rounds, progress):
    """[{subject: {load: {hook: [ns, runs]}}} per round], with the statistics on; and memory."""
    results, memory = [], {}
    stats = Process([HOLD, "stats"], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    with stats:
        wait_for_text(stats, stats.popen.stdout.fileno(), "ready")
        for n in range(rounds):
            progress(f"cost of the programs, round {n + 1} of {rounds}")
            results.append({s.name: costs_of(s, loads, memory) for s in subjects})
            for subject in subjects:
                for load in loads:
                    figures.empty_for(subject, results[-1], load)
    return results, memory


def costs_of(subject, loads, memory):
    costs = {}
    with subject.running() as process:
        hooks = kernel.hooks_of(process.pid)
        for load in loads:
            before = kernel.program_runs()
            load.run()
            costs[load.name] = difference(before, kernel.program_runs(), hooks)
        memory.setdefault(subject.name, []).append(
            {"rss": kernel.peak_rss(process.pid), "maps": kernel.map_bytes(process.pid)})
    return costs


def slowdowns(subjects, loads, rounds, progress):
    """
    [{subject: {load: {"beside", "before", "after": times}}} per round], with the statistics off:
    the load beside the subject, and alone just before and just after.
    """
    results = []
    for n in range(rounds):
        progress(f"slowdown of '{loads[0].name}', round {n + 1} of {rounds}")
        after, result = times(loads), {}
        for subject in (s for s in subjects if n < s.at_most):
            before = after
            beside = subject.beside(loads)
            after = times(loads)
            result[subject.name] = {k: {"beside": beside[k], "before": before[k],
                                        "after": after[k]} for k in beside}
        results.append(result)
    return results


def times(loads):
    return {load.name: load.run() for load in loads}


def starts(subjects, rounds, progress):
    """{subject: [seconds from before fork to attached]}"""
    results = {s.name: [] for s in subjects}
    progress(f"{rounds} starts of each")
    for n in range(rounds):
        for subject in (s for s in subjects if n < s.at_most):
            with subject.running() as process:
                results[subject.name].append(process.start_seconds)
            time.sleep(0.02)
    return results


def whole_runs(subjects, rounds, progress):
    """{subject: [seconds from before fork to the end]}, of subjects with a command that ends."""
    results = {s.name: [] for s in subjects}
    progress(f"{rounds} whole runs of each")
    for n in range(rounds):
        for subject in (s for s in subjects if n < s.at_most):
            began = time.monotonic()
            ended = subprocess.run(subject.whole, stdin=subprocess.DEVNULL, timeout=60,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
            results[subject.name].append(time.monotonic() - began)
            if ended.returncode:
                raise Failed(f"{' '.join(subject.whole)} ended with {ended.returncode}")
    return results
