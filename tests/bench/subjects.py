# SPDX-License-Identifier: BSD-2-Clause
"""What is measured: tally's runqlat, empty programs, and the peers; how each is started."""
import contextlib
import os
import signal
import subprocess

import kernel
from processes import Failed, Process, wait_for_text, wait_until

BUILD = os.environ.get("BUILD", "build")
WORK = f"{BUILD}/bench"
HOLD = f"{WORK}/hold"
RUNQLAT_BT = next((p for p in ("/usr/sbin/runqlat.bt", "/usr/bin/runqlat.bt",
                               "/usr/share/bpftrace/tools/runqlat.bt") if os.path.exists(p)), None)
EMPTY_HOOKS = {"sched_switch", "sched_migrate_task", "sched_wakeup", "sched_wakeup_new"}
QUIET = {"stdin": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


class Subject:
    """One thing to measure. running() starts it and yields it once it is attached."""
    ours = empty = False

    def __init__(self, name, label, argv):
        self.name, self.label, self.argv = name, label, argv
        self.note = ""

    @contextlib.contextmanager
    def running(self):
        with self.process() as process:
            process.start_seconds = self.wait(process) - process.began
            yield process

    def process(self):
        return Process(self.argv, stdout=subprocess.PIPE, **QUIET)


class Tally(Subject):
    """Says "ready" on --ready-fd."""
    ours = True

    @contextlib.contextmanager
    def running(self):
        read_end, write_end = os.pipe()
        process = Process(self.argv + ["--ready-fd", str(write_end)], pass_fds=[write_end],
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        try:
            with process:
                os.close(write_end)
                ready = wait_for_text(process, read_end, "ready")
                process.start_seconds = ready - process.began
                yield process
        finally:
            os.close(read_end)


class Empty(Subject):
    empty = True

    def process(self):
        return Process(self.argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE)

    def wait(self, process):
        return wait_for_text(process, process.popen.stdout.fileno(), "ready")


class LibbpfTool(Subject):
    """
    Its banner stays in a buffer, so its links are counted: it attaches to three hooks. An
    interrupt just before its sleep(99999999) would have no effect.
    """
    links = 3

    def process(self):
        return Process(self.argv, stop=signal.SIGTERM, stdout=subprocess.DEVNULL, **QUIET)

    def wait(self, process):
        return wait_until(process, lambda: kernel.count_links(process.pid) >= self.links)


class Bpftrace(Subject):
    """BEGIN's banner is printed once all probes are attached."""

    def process(self):
        return Process(self.argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                       stderr=subprocess.STDOUT)

    def wait(self, process):
        return wait_for_text(process, process.popen.stdout.fileno(), "Hit Ctrl-C")


class PerfSched(Subject):
    """Starts disabled; acknowledges the order to enable its events."""

    @contextlib.contextmanager
    def running(self):
        ack_read, ack_write = os.pipe()
        control_read, control_write = os.pipe()
        data = f"{WORK}/perf.data"
        process = Process(["perf", "sched", "record", "-a", "-B", "-o", data, "-D", "-1",
                           "--control", f"fd:{control_read},{ack_write}"],
                          stop=signal.SIGKILL,  # finishing its file, which is not wanted, takes 1 s
                          pass_fds=[control_read, ack_write], stdout=subprocess.DEVNULL, **QUIET)
        try:
            os.write(control_write, b"enable\n")
            with process:
                process.start_seconds = wait_for_text(process, ack_read, "ack") - process.began
                yield process
        finally:
            for fd in (ack_read, ack_write, control_read, control_write):
                os.close(fd)
            with contextlib.suppress(FileNotFoundError):
                os.unlink(data)


def bpftrace_subject():
    """Debian's script as it is where that works; else without the header it cannot read."""
    if not RUNQLAT_BT:
        raise Failed("runqlat.bt is not installed")
    subject = Bpftrace("bpftrace", "bpftrace runqlat.bt", ["bpftrace", "-B", "line", RUNQLAT_BT])
    try:
        with subject.running():
            return subject
    except Failed as failure:
        reason = str(failure)
    with open(RUNQLAT_BT) as f:
        script = f.read().replace("#include <linux/sched.h>", "#define TASK_RUNNING 0")
    path = f"{WORK}/runqlat.bt"
    with open(path, "w") as f:
        f.write(script)
    subject.argv[-1] = path
    subject.label += " (*)"
    subject.note = f"(*) with '#define TASK_RUNNING 0' for its #include, since: {reason}"
    return subject


def candidates():
    runqlat, empty = f"{BUILD}/runqlat", f"{WORK}/empty.bpf.o"
    yield lambda: Empty("empty-1", "empty program, sched_switch", [HOLD, empty, "empty_switch"])
    yield lambda: Empty("empty-4", "empty programs, all hooks",
                        [HOLD, empty, "empty_switch", "empty_wakeup", "empty_wakeup_new",
                         "empty_migrate"])
    for name, options in (("tally", []), ("tally-wakeup", ["--source", "wakeup"]),
                          ("tally-pid", ["--by", "pid"]), ("tally-comm", ["--by", "comm"])):
        yield lambda n=name, o=options: Tally(n, " ".join(["tally runqlat"] + o), [runqlat] + o)
    yield lambda: LibbpfTool("libbpf", "libbpf-tools runqlat", ["/usr/sbin/runqlat"])
    yield lambda: LibbpfTool("libbpf-pid", "libbpf-tools runqlat -P", ["/usr/sbin/runqlat", "-P"])
    yield bpftrace_subject
    yield lambda: PerfSched("perf", "perf sched record", ["perf"])


def available():
    """Starts everything once: (subjects that run, notes on those that do not)."""
    subjects, notes = [], []
    for make in candidates():
        subject = None
        try:
            subject = make()
            with subject.running():
                pass
        except (Failed, OSError) as failure:
            if subject and (subject.ours or subject.empty):
                raise
            notes.append(f"not run: {subject.label if subject else 'bpftrace'}: {failure}")
        else:
            subjects.append(subject)
            if subject.note:
                notes.append(subject.note)
    return subjects, notes
