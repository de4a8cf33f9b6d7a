# SPDX-License-Identifier: BSD-2-Clause
"""The BPF programs, maps and memory of a process, from /proc and bpftool."""
import contextlib
import glob
import json
import os
import subprocess

BPFTOOL = next((p for p in ("/usr/sbin/bpftool", "/usr/bin/bpftool") if os.path.exists(p)),
               "bpftool")


def fd_infos(pid):
    """The fdinfo of each descriptor of a process, as dictionaries of strings."""
    for path in glob.glob(f"/proc/{pid}/fdinfo/*"):
        try:
            with open(path) as f:
                yield dict(line.split(":", 1) for line in f.read().splitlines() if ":" in line)
        except OSError:
            pass


def count_links(pid):
    """The number of bpf_link descriptors of a process."""
    links = 0
    for path in glob.glob(f"/proc/{pid}/fd/*"):
        try:
            links += os.readlink(path) == "anon_inode:bpf_link"
        except OSError:
            pass
    return links


def bpftool(*what):
    """The output of bpftool, as a list."""
    out = subprocess.run([BPFTOOL, "-j", *what], capture_output=True, text=True)
    try:
        return json.loads(out.stdout or "[]")
    except ValueError:
        return []


def hooks():
    """(pid, program id, tracepoint) of each program that a process has attached to a tracepoint."""
    return [(e["pid"], e["prog_id"], e.get("tracepoint")) for e in bpftool("perf", "show")]


def hooks_of(pid):
    return {prog: hook for owner, prog, hook in hooks() if owner == pid and hook}


def program_runs():
    """
    {program id: (run_time_ns, run_cnt)} of all programs. A process need not keep a descriptor of
    an attached program, so fdinfo would miss some.
    """
    return {p["id"]: (p.get("run_time_ns", 0), p.get("run_cnt", 0))
            for p in bpftool("prog", "show")}


def map_bytes(pid):
    """The memory of a process's maps, by the kernel's own count."""
    return sum({i["map_id"]: int(i["memlock"]) for i in fd_infos(pid) if "map_id" in i}.values())


def peak_rss(pid):
    with open(f"/proc/{pid}/status") as f:
        for line in f:
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024
    return 0


def stats_are_on():
    with open("/proc/sys/kernel/bpf_stats_enabled") as f:
        return f.read().strip() != "0"


def cpu_ns(pid):
    """CPU time of a process's live threads, by the scheduler's own count."""
    sum_ns = 0
    for path in glob.glob(f"/proc/{pid}/task/*/schedstat"):
        with contextlib.suppress(OSError), open(path) as f:
            sum_ns += int(f.read().split()[0])
    return sum_ns
