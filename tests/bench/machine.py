# SPDX-License-Identifier: BSD-2-Clause
"""The machine, the time and the versions of a run, and how quiet the machine was."""
import os
import resource
import subprocess
import time

import kernel


def first_line(*argv):
    try:
        out = subprocess.run(argv, capture_output=True, text=True).stdout.strip()
    except OSError:
        return "not installed"
    return out.splitlines()[0] if out else "unknown"


def read(path):
    try:
        with open(path) as f:
            return f.read().strip()
    except OSError:
        return None


def cpu_model():
    for line in (read("/proc/cpuinfo") or "").splitlines():
        if line.startswith("model name"):
            return line.split(":")[1].strip()
    return "unknown model"


def facts():
    return {
        "date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()),
        "kernel": f"{os.uname().release} {os.uname().machine}",
        "cpus": os.cpu_count(),
        "cpu": cpu_model(),
        "governor": read("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor") or "unknown",
        "versions": {
            "libbpf-tools": first_line("dpkg-query", "-W", "-f", "${Version}", "libbpf-tools"),
            "bpftrace": first_line("bpftrace", "--version").removeprefix("bpftrace "),
            "perf": first_line("perf", "--version").removeprefix("perf version "),
        },
    }


class Quiet:
    """Other load on the machine during the run. CPU times in seconds since boot."""

    def __init__(self):
        self.before, self.began = self._cpu(), time.monotonic()
        self.loadavg = [os.getloadavg()[0]]
        self.foreign = set()

    @staticmethod
    def _cpu():
        ticks = [int(n) for n in read("/proc/stat").splitlines()[0].split()[1:9]]
        user, nice, system, _idle, _wait, irq, softirq, steal = (t / os.sysconf("SC_CLK_TCK")
                                                                 for t in ticks)
        own = sum(u.ru_utime + u.ru_stime for u in map(resource.getrusage, (
            resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)))
        return user + nice + system + irq + softirq - own, steal

    def look(self):
        """Called between two measurements, when nothing of ours is attached."""
        self.loadavg.append(os.getloadavg()[0])
        self.foreign |= {f"program {prog} of pid {pid} on {hook}"
                         for pid, prog, hook in kernel.hooks() if hook}

    def facts(self):
        self.look()
        after = self._cpu()
        scale = 100 / ((time.monotonic() - self.began) * os.cpu_count())
        return {
            "loadavg": self.loadavg,
            "seconds": time.monotonic() - self.began,
            "others_percent": max(0.0, after[0] - self.before[0]) * scale,
            "steal_percent": (after[1] - self.before[1]) * scale,
            "foreign_programs": sorted(self.foreign),
        }
