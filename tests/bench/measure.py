# SPDX-License-Identifier: BSD-2-Clause
"""The measurements: each takes all subjects in turn, several times, and returns raw numbers."""
import subprocess
import time

import kernel
from figures import SWITCH
from processes import Failed, Process, wait_for_text
from subjects import EMPTY_HOOKS, HOLD


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
    return results, memory


def costs_of(subject, loads, memory):
    costs = {}
    with subject.running() as process:
        hooks = kernel.hooks_of(process.pid)
        check_hooks(subject, set(hooks.values()))
        for load in loads:
            before = kernel.program_runs(process.pid)
            load.run()
            costs[load.name] = difference(before, kernel.program_runs(process.pid), hooks)
        memory.setdefault(subject.name, []).append(
            {"rss": kernel.peak_rss(process.pid), "maps": kernel.map_bytes(process.pid)})
    return costs


def check_hooks(subject, hooks):
    if SWITCH not in hooks:
        raise Failed(f"bpftool perf does not show {subject.label} on {SWITCH}")
    if hooks - EMPTY_HOOKS:
        raise Failed(f"{subject.label}: empty.bpf.c has nothing on {hooks - EMPTY_HOOKS}")


def slowdowns(subjects, loads, rounds, progress):
    """
    [{subject: {load: {"beside", "before", "after": times}}} per round], with the statistics off:
    the load beside the subject, and alone just before and just after.
    """
    results = []
    for n in range(rounds):
        progress(f"slowdown of a load, round {n + 1} of {rounds}")
        after, result = times(loads), {}
        for subject in subjects:
            before = after
            with subject.running():
                beside = times(loads)
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
    for _ in range(rounds):
        for subject in subjects:
            with subject.running() as process:
                results[subject.name].append(process.start_seconds)
            time.sleep(0.02)
    return results
