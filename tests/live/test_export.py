# SPDX-License-Identifier: BSD-2-Clause
"""tally export: each of many lines on one port has the same counts as alone; lines come and go while others continue;
slow clients, many short processes and a wrong file change nothing. promtool and a real Prometheus read it."""

import concurrent.futures
import contextlib
import ctypes
import errno
import json
import os
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import tempfile
import threading
import time
import urllib.parse
import urllib.request
from pathlib import Path

import pytest

import services
import tally
from pprof import Profile
from tally import once, wait_until
from test_every_tool import IDLE
from test_listen import HERE, ask, connect, free_port, scrape
from test_openmetrics import GETPPID, READ, figures
from test_soak import resident_kib

FILES = tally.ROOT / "packaging/export"
CALLS, ERRORS = "tally_syscount_calls_total", "tally_syscount_errors_total"
needs_prometheus = pytest.mark.skipif(not shutil.which("promtool"), reason="prometheus is not installed")


def of(samples, name, measurement):
    """The sum of a line's samples of that name."""
    return sum(v for (n, labels), v in samples.items() if n == name and dict(labels).get("measurement") == measurement)


def ups(samples):
    return figures(samples, "tally_up", "measurement")


class Exporter:
    def __init__(self, tool, *args, interval="0.2"):
        self.port = free_port()
        self.tool = tool("--listen", self.port, *args, interval, tool="export")
        self.pid = self.tool.pid

    def scrape(self):
        return scrape(self.port)

    def await_intervals(self, n=2):
        """Waits until n more intervals have ended."""
        def ended():
            return max(figures(self.scrape(), "tally_report_timestamp_seconds", "measurement").values(), default=0)

        for _ in range(n):
            before = ended()
            wait_until(lambda: ended() > before, "an interval")
        return self.scrape()

    def reload(self):
        before = self.scrape()["tally_config_reloads_total", frozenset()]
        os.kill(self.pid, signal.SIGHUP)
        wait_until(lambda: self.scrape()["tally_config_reloads_total", frozenset()] > before, "the file is read")
        return self.scrape()


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "lines"

    def write(*lines):
        path.write_text("# what is measured\n\n" + "".join(f"  {line}\n" for line in lines))
        return path

    return write


A, B, C = "syscount -e getppid", "syscount --failed -e read", "syscount --by comm -e getppid"


@pytest.mark.exclusive
def test_lines_count_what_each_counts(tool, trigger):
    """Three lines of one tool: each family appears once (parse() checks that), and no figures are mixed up."""
    load = trigger("syscalls", 2, f"{GETPPID}:300", f"{READ}:200")
    export = Exporter(tool, A, B, C, "-p", load.pid)
    load.go()
    load.done()
    load.settle()
    samples = export.await_intervals()
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    for line, name, calls in ((A, CALLS, 600), (B, ERRORS, 400), (C, CALLS, 600)):
        assert calls - lost <= of(samples, name, line) <= calls, line
    assert ups(samples) == {A: 1, B: 1, C: 1}
    assert export.tool.stop().code == 0


@pytest.mark.exclusive
def test_lines_come_and_go_while_others_go_on(tool, trigger, file):
    load = trigger("syscalls", 1, f"{GETPPID}:500", f"{READ}:500")
    export = Exporter(tool, file(A, B), "-p", load.pid)
    assert ask(export.port, "/-/healthy").status == 200
    load.go()
    load.done()
    load.settle()
    samples = export.await_intervals()
    counted = of(samples, CALLS, A)
    measured = of(samples, "tally_measured_seconds_total", A)
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    assert 500 - lost <= counted <= 500
    file(C, A)
    export.reload()
    samples = export.await_intervals()
    assert ups(samples) == {A: 1, C: 1}
    assert of(samples, CALLS, A) == counted                 # nothing was counted again, or twice
    assert of(samples, "tally_measured_seconds_total", A) > measured
    assert 0 < of(samples, "tally_measured_seconds_total", C) < of(samples, "tally_measured_seconds_total", A)
    assert of(samples, CALLS, C) == 0
    assert not of(samples, "tally_events_total", B)
    assert samples["tally_config_last_reload_successful", frozenset()] == 1
    result = export.tool.stop()
    assert result.code == 0 and "2 of 2 lines are measured" in result.stderr


@pytest.mark.exclusive
@once
def test_what_a_new_line_counts(tool, trigger, file):
    """Exactly, from the moment it is added."""
    load = trigger("syscalls", 1, f"{GETPPID}:500")
    export = Exporter(tool, file(B), "-p", load.pid)
    file(B, A)
    export.reload()
    load.go()
    load.done()
    load.settle()
    samples = export.await_intervals()
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    assert 500 - lost <= of(samples, CALLS, A) <= 500


@once
def test_a_file_that_is_wrong_changes_nothing(tool, file):
    path = file("runqlat", "softirqs")
    export = Exporter(tool, path)
    good = samples = export.await_intervals(1)
    for n, (lines, said) in enumerate(((("runqlat", "softirqs --nonsense"), "unknown option '--nonsense'"),
                                       (("nosuchtool",), "'nosuchtool' does not begin with a measuring tool"),
                                       (("runqlat", "runqlat"), "twice"),
                                       (("runqlat --help",), "--help"), (("profile",), "stacks"),
                                       (("runqlat",) * 65, "64"), ((), "no line"), (None, "No such file"),
                                       (("probe nosuch:event",), "no tracepoint system 'nosuch'")), 1):
        if lines is None:
            path.unlink()
        else:
            file(*lines)
        export.reload()
        samples = export.await_intervals(1)
        assert ups(samples) == {"runqlat": 1, "softirqs": 1}, said
        assert samples["tally_config_last_reload_successful", frozenset()] == 0
        assert samples["tally_config_reload_failures_total", frozenset()] == n
        assert said in export.tool.result().stderr
    when = "tally_config_last_reload_success_timestamp_seconds", frozenset()
    assert samples[when] == good[when]
    assert of(samples, "tally_measured_seconds_total", "runqlat") > of(good, "tally_measured_seconds_total", "runqlat")
    file("runqlat")
    export.reload()
    samples = export.await_intervals(1)
    assert ups(samples) == {"runqlat": 1} and samples[when] > good[when]
    assert export.tool.stop().code == 0


@once
def test_a_line_that_cannot_be_had_is_down(tool, run, file):
    export = Exporter(tool, file("probe nosuch:event", "runqlat"))
    samples = export.await_intervals(1)
    assert ups(samples) == {"probe nosuch:event": 0, "runqlat": 1}
    assert "'probe nosuch:event' is left out" in export.tool.stop().stderr
    alone = run("--listen", free_port(), "probe nosuch:event", "1", tool="export")
    assert alone.code == run("nosuch:event", "-d", "0.1", tool="probe").code != 0, alone


@once
def test_it_says_when_it_is_ready(tool):
    export = Exporter(tool, "runqlat", interval="1.5")
    assert ask(export.port, "/-/ready").status == 503 and ask(export.port, "/-/healthy").status == 200
    samples = export.scrape()
    assert ups(samples) == {"runqlat": 1} and not figures(samples, "tally_measured_seconds_total")
    export.await_intervals(1)
    assert ask(export.port, "/-/ready").status == 200
    assert export.tool.stop(signal.SIGHUP).code == 0        # without a file it ends the run, as in every tool


@once
def test_metrics_of_its_own(tool):
    export = Exporter(tool, "runqlat --by pid --top 3 --max-keys 2000", "softirqs")
    before, samples = export.await_intervals(2), export.await_intervals(4)
    line = "runqlat --by pid --top 3 --max-keys 2000"
    one = {name: value for (name, labels), value in samples.items() if not labels}
    version = subprocess.run(
        [tally.BUILD / "tally", "--version"], capture_output=True, text=True, check=True
    ).stdout.split()[1]
    assert figures(samples, "tally_build_info", "version") == {version: 1}
    # The series of three keys: 27 buckets, a sum and a count each. The rest are figures that every line has.
    assert of(samples, "tally_series", line) == sum(dict(labels).get("measurement") == line and
                                                    n not in ("tally_up", "tally_series", "tally_reading_seconds")
                                                    for n, labels in samples)
    assert len({labels for n, labels in samples if n == "tally_runqlat_wait_seconds_count"}) == 3
    assert of(samples, "tally_hidden_groups", line) > 0
    assert one["tally_process_resident_memory_bytes"] / 1024 == pytest.approx(resident_kib(export.pid), rel=0.2)
    used = tally.cpu_ns(export.pid) / 1e9
    assert 0 < one["tally_process_cpu_seconds_total"] <= used + 0.01
    assert one["tally_program_seconds_total"] > 0 < one["tally_program_runs_total"]
    assert one["tally_http_requests_total"] > before["tally_http_requests_total", frozenset()]
    assert 0 < of(samples, "tally_reading_seconds", line) < 1 and one["tally_exposition_seconds"] < 1
    assert time.time() - 60 < one["tally_start_timestamp_seconds"] < time.time()
    text = ask(export.port).text
    assert 0.5 < one["tally_exposition_bytes"] / len(text) < 2
    assert "tally_config_reloads" not in text               # there is no file


def libc():
    """The C library of this process."""
    maps = Path("/proc/self/maps").read_text().splitlines()
    return next(line.split()[-1] for line in maps if "/libc.so" in line)


@pytest.mark.exclusive
@pytest.mark.parametrize("how", ("alone", "held", "late"))
def test_its_cost_is_that_of_windows(tool, file, how):
    """A program that runs once for each call of this process. Its cost is estimated from the 25 ms of each
    second in which export enables statistics: even where another tool has them enabled all the time (held), and where
    the line is added after the start, with no report before the end of the calls."""
    other, line = (f"probe -x {libc()} {name}" for name in ("getpgrp", "getppid"))

    def trial():
        lines = file(other) if how == "late" else file(other, line)
        export = Exporter(tool, lines, "-p", os.getpid(), interval="8" if how == "late" else "2")
        holder = tool("--overhead", "-p", os.getpid()) if how == "held" else None
        if how == "late":
            file(other, line)
            export.reload()
        calls, end = 0, time.monotonic() + 6
        while time.monotonic() < end:
            os.getppid()
            calls += 1
            time.sleep(0.0003)
        samples = export.await_intervals(1 if how == "late" else 2)
        runs = figures(samples, "tally_program_runs_total", "tool")[None]
        for each in filter(None, (export.tool, holder)):
            each.stop()
        # A window of six may be before or after the calls, and a CPU is not always there. If the whole time counted
        # as that of the windows, the figure would be 20 to 40 times too large.
        tally.within(0.5 < runs / calls < 2, runs, calls)

    tally.steady(trial)


def slow_clients(ends, port, n):
    """Half of them send a byte now and then, the others send requests and never read."""
    clients = [connect(ends, port) for _ in range(n)]
    for s in clients[n // 2:]:
        with contextlib.suppress(OSError):
            s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 2048)
            s.sendall(b"GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n")
    return clients


def await_end(s):
    """Waits until the server has ended the connection."""
    s.settimeout(tally.PATIENCE)
    with contextlib.suppress(ConnectionError):
        assert not s.recv(1)


def children_of(pid):
    """The child processes that profile: helpers that read files come and go."""
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with contextlib.suppress(OSError):
            for child in open(f"/proc/{pid}/task/{task}/children").read().split():
                if open(f"/proc/{child}/cmdline").read().startswith("tally\0profile\0"):
                    found.append(child)
    return found


def get_bytes(port, path):
    with urllib.request.urlopen(f"http://{HERE}:{port}{path}", timeout=tally.PATIENCE) as response:
        return response.headers["Content-Type"], response.read()


@once
def test_profiles(tool, trigger):
    """Profiles of the machine, taken during measurements, one at a time; neither a client that leaves nor the end of
    the run leaves anything behind."""
    def asking(seconds):
        client = socket.create_connection((HERE, export.port))
        client.sendall(f"GET /profile?seconds={seconds} HTTP/1.1\r\nHost: x\r\n\r\n".encode())
        return client

    export = Exporter(tool, "--profiles", "syscount")
    load = trigger("shares", 3000, -1)
    load.go()
    with concurrent.futures.ThreadPoolExecutor() as pool:
        asked = pool.submit(get_bytes, export.port, "/profile?seconds=1")
        wait_until(lambda: children_of(export.pid), "the profiler")
        assert ask(export.port, "/profile?seconds=1").status == 503
        export.await_intervals(2)
        kind, data = asked.result()
    profile = Profile(data)
    assert kind == "application/octet-stream" and profile.types == [("samples", "count"), ("cpu", "nanoseconds")]
    assert profile.raw["duration_nanos"] >= 10 ** 9
    assert any("seventy" in names for names, _, _ in profile.samples), profile.samples
    for wrong in ("0", "61", "x", "-1", ""):
        assert ask(export.port, f"/profile?seconds={wrong}").status == 400
    # Each would take a minute: a client that closes its connection, and one whose machine resets it.
    for linger in (None, struct.pack("ii", 1, 0)):
        left = wait_until(
            lambda: next((c for c in [asking(60)] if not select.select([c], [], [], 0.3)[0]), None), "a free place"
        )
        wait_until(lambda: children_of(export.pid), "the profiler")
        if linger:
            left.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        left.close()
        went = time.monotonic()
        wait_until(lambda: not children_of(export.pid), "its end")
        assert time.monotonic() - went < 30
    waiting = wait_until(
        lambda: next((c for c in [asking(60)] if not select.select([c], [], [], 0.3)[0]), None), "a free place"
    )
    child = wait_until(lambda: children_of(export.pid), "the profiler")
    assert export.tool.stop().code == 0
    waiting.close()
    assert not any(os.path.exists(f"/proc/{pid}") for pid in child)


@once
def test_no_profile_goes_on_without_the_exporter(tool):
    export = Exporter(tool, "--profiles", "syscount")
    with socket.create_connection((HERE, export.port)) as client:
        client.sendall(b"GET /profile?seconds=60 HTTP/1.1\r\nHost: x\r\n\r\n")
        child, = wait_until(lambda: children_of(export.pid), "the profiler")
        export.tool.process.kill()
        wait_until(lambda: not os.path.exists(f"/proc/{child}/exe"), "its end")


@once
@pytest.mark.skipif(os.uname().machine != "x86_64", reason="the numbers are x86's")
def test_without_a_thread(ends):
    """If no thread can be created, the loop answers; and there is no child for a profile."""
    port, clones = free_port(), "56,57,58,435"
    process = subprocess.Popen(
        [
            tally.BUILD / "triggers" / "denied",
            str(errno.EPERM),
            clones,
            tally.BUILD / "export",
            "--profiles",
            "--listen",
            str(port),
            "syscount",
            "0.2",
        ],
        stderr=subprocess.DEVNULL,
    )
    ends.callback(process.wait)
    ends.callback(process.send_signal, signal.SIGINT)

    def ready():
        with contextlib.suppress(OSError):
            return ask(port, "/-/ready").status == 200

    wait_until(ready, "an interval")
    assert len(os.listdir(f"/proc/{process.pid}/task")) == 1
    assert ask(port, "/-/healthy").status == 200 and figures(scrape(port), "tally_up", "measurement") == {"syscount": 1}
    assert ask(port, "/profile?seconds=1").status == 500


@once
def test_no_profiles_unless_they_are_offered(tool):
    export = Exporter(tool, "syscount")
    answer = ask(export.port, "/profile?seconds=1")
    assert answer.status == 404 and "--profiles" in answer.text


PTRACE_SEIZE, PTRACE_INTERRUPT, PTRACE_DETACH = 0x4206, 0x4207, 17


@contextlib.contextmanager
def stopped_thread(tid):
    """Stops one thread of a program, while the others run on."""
    libc = ctypes.CDLL(None, use_errno=True)
    libc.ptrace.argtypes = [ctypes.c_long] * 4
    for request in (PTRACE_SEIZE, PTRACE_INTERRUPT):
        assert libc.ptrace(request, tid, 0, 0) == 0, ctypes.get_errno()
    os.waitpid(tid, 0x40000000)     # __WALL
    try:
        yield
    finally:
        assert libc.ptrace(PTRACE_DETACH, tid, 0, 0) == 0, ctypes.get_errno()


@once
def test_clients_do_not_wait_for_measurements(tool):
    """However long the loop that reads them takes: here it is stopped."""
    export = Exporter(tool, "runqlat --by pid", "syscount")
    before = of(export.await_intervals(1), "tally_report_timestamp_seconds", "syscount")
    with stopped_thread(export.pid):
        last = of(export.scrape(), "tally_report_timestamp_seconds", "syscount")
        time.sleep(0.5)
        assert of(export.scrape(), "tally_report_timestamp_seconds", "syscount") == last >= before
        assert ask(export.port, "/-/healthy").status == ask(export.port, "/-/ready").status == 200
    assert of(export.await_intervals(2), "tally_report_timestamp_seconds", "syscount") > last
    assert export.tool.stop().code == 0


@once
@pytest.mark.exclusive
def test_slow_clients_delay_nothing(tool, ends):
    """200 clients that come back when they are sent away: scrapes are answered, and intervals are as long as ever."""
    export = Exporter(tool, "runqlat --by pid", "syscount", "softirqs")
    export.await_intervals(1)
    clients, took, lengths = slow_clients(ends, export.port, 200), [], []
    asking = clients[:100]
    before = of(export.scrape(), "tally_report_timestamp_seconds", "syscount")
    began = time.monotonic()
    while time.monotonic() - began < 4:
        for i, s in enumerate(clients[:100]):
            try:
                s.send(b"G" if i % 2 else b" ")
            except OSError:
                clients[i] = connect(ends, export.port)
                asking.append(clients[i])
        asked = time.monotonic()
        now = of(export.scrape(), "tally_report_timestamp_seconds", "syscount")
        took.append(time.monotonic() - asked)
        if now != before:
            lengths.append(now - before)
        before = now
        time.sleep(0.1)
    assert max(took) < 2 and sorted(took)[len(took) // 2] < 0.5, took
    # Each scrape sees an interval or two; one ends every 0.2 s.
    assert len(lengths) > 10 and sorted(lengths)[len(lengths) // 2] < 0.5, lengths
    # None of these ever got an answer; those that do not read have one, if the kernel had room for it.
    for s in asking:
        await_end(s)
    samples = export.await_intervals(2)
    assert len(asking) <= samples["tally_http_connections_dropped_total", frozenset()] <= len(asking) + 100
    assert len(os.listdir(f"/proc/{export.pid}/fd")) < 400
    assert export.tool.stop().code == 0


def pass_processes(export, trigger, n):
    load = trigger("storm", n, 4, 0)
    load.go()
    load.done()
    load.close()
    return export.await_intervals(2)


BY_TASK = (
    "runqlat --by pid,comm --max-keys 1000",
    "schedlat --by pid --max-keys 1000",
    "syscount --by pid --max-keys 1000",
    "futexstat --by pid --max-keys 1000",
    "faults --by pid --max-keys 1000",
    "exitsnoop",
)


def fill_once(export, trigger, n):
    """Fills an interval with as much as it can hold: nobody reads the maps while these run."""
    os.kill(export.pid, signal.SIGSTOP)
    load = trigger("storm", n, 4, 0)
    load.go()
    load.done()
    load.close()
    os.kill(export.pid, signal.SIGCONT)
    return export.await_intervals(2)


def check_memory(tool, trigger, rounds, each):
    """Memory of the process and the maps after each round, once an interval was as full as can be."""
    export = Exporter(tool, "--top", 50, *BY_TASK)
    fill_once(export, trigger, each)
    memory, charged = [], []
    for _ in range(rounds):
        samples = pass_processes(export, trigger, each)
        memory.append(resident_kib(export.pid))
        charged.append(samples["tally_map_bytes", frozenset()])
    full = {line: sum(v for (n, labels), v in samples.items() if n == "tally_lost_total" and
                      (dict(labels)["measurement"], dict(labels)["reason"]) == (line, "map_full")) for line in BY_TASK}
    ended = of(samples, "tally_events_total", "exitsnoop") + of(samples, "tally_lost_total", "exitsnoop")
    return memory, charged, full, ended


@once
def test_short_processes_leave_nothing(tool, trigger):
    """Thousands per second, each a key in five lines that have room for 1000: neither the process nor the maps
    grow."""
    memory, charged, _, ended = check_memory(tool, trigger, 5, tally.scaled(3000))
    assert ended >= 5 * tally.scaled(3000)
    assert memory[-1] <= memory[2] * 1.1 + 1024, memory
    assert charged[-1] <= max(charged[:3]) * 1.2 + (1 << 20), charged


@pytest.mark.soak
@pytest.mark.skipif(not os.environ.get("TALLY_SOAK"), reason="runs with TALLY_SOAK=1")
def test_a_million_processes_leave_nothing(tool, trigger):
    memory, charged, full, ended = check_memory(tool, trigger, 50, 20_000)
    print(
        f"{ended:.0f} processes; memory {memory[::5]}, {memory[-1]} KiB; maps {charged[5]:.0f}, {charged[-1]:.0f} bytes; {full}"
    )
    assert ended >= 1_000_000
    # A busy machine has long intervals, whose memory is freed some seconds later.
    assert min(memory[-10:]) <= min(memory[:10]) * 1.05 + 1024, memory
    assert charged[-1] <= max(charged[:6]) * 1.1 + (1 << 20), charged


@once
@pytest.mark.parametrize("args, said", (
    (("nosuchfile",), "No such file"), (("runqlat", "./file"), "either lines or one file"),
    (("a", "b"), "either lines or one file"), (("runqlat --by nosuch",), "nosuch"), (("/dev/null",), "no line"),
    (("runqlat", "runqlat"), "twice"), (("--listen", "x", "runqlat"), "is not a port"),
    (("timehist",), "openmetrics"), (("runqlat -o /tmp/x",), "-o"),
), ids=str)
def test_wrong_usage(run, args, said):
    result = run(*args, tool="export")
    assert result.code == 2 and said in result.stderr, result


@once
def test_what_is_usual(tool):
    """Without a file it measures the lines of the service's file; most of them work everywhere."""
    port = free_port()
    export = tool("--listen", port, "0.3", tool="export")
    lines = [line for line in (FILES / "export.conf").read_text().splitlines() if line and not line.startswith("#")]
    assert list(ups(scrape(port))) == lines or tally.GUEST
    assert sum(ups(scrape(port)).values()) >= len(lines) - 3
    assert export.stop().code == 0


@once
@services.needs_setpriv
def test_the_rights_of_the_service_are_enough(tool, ends):
    """Each usual line is measured, as with all capabilities, with only those of the unit and no way to get
    others."""
    lines = [line for line in (FILES / "export.conf").read_text().splitlines() if line and not line.startswith("#")]
    whole = Exporter(tool, *lines)
    expected = ups(whole.await_intervals(1))
    assert whole.tool.stop().code == 0
    port = free_port()
    process = subprocess.Popen(
        [*services.limited("export"), tally.BUILD / "export", "--listen", str(port), *lines, "0.3"],
        stderr=subprocess.DEVNULL,
    )
    ends.callback(tally.end_process, process)

    def ready():
        with contextlib.suppress(OSError):
            return ask(port, "/-/ready").status == 200

    wait_until(ready, "an interval")
    has, there = (
        bin(int(re.search(r"^CapBnd:\s+(\w+)$", open(f"/proc/{pid}/status").read(), re.MULTILINE)[1], 16)).count("1")
        for pid in (process.pid, "self")
    )
    # A container may itself lack some of them.
    assert has <= len(services.rights("export")) and has < there and ups(scrape(port)) == expected


@once
@services.needs_systemd
def test_the_page_has_the_exposure_of_the_service():
    services.check_exposure("export", "docs/export.md")


# --- the readers ------------------------------------------------------------------------------------


def promtool(*args, text=None):
    done = subprocess.run(["promtool", *args], input=text, capture_output=True, text=True, check=False)
    assert done.returncode == 0, (args, done.stdout + done.stderr)
    return done.stdout + done.stderr


@once
@needs_prometheus
def test_alerts():
    assert "12 rules found" in promtool("check", "rules", str(FILES / "alerts.yml"))
    promtool("test", "rules", str(FILES / "alerts_test.yml"))
    named = set(re.findall(r"alert: (\w+)", (FILES / "alerts.yml").read_text()))
    assert named == set(re.findall(r"alertname: (\w+)", (FILES / "alerts_test.yml").read_text()))


def make_load():
    """A little of everything that tools count."""
    subprocess.run(
        ["sh", "-c", "for i in 1 2 3; do ls /proc/self >/dev/null; cat /nosuch 2>/dev/null; done; true"], check=True
    )
    with tempfile.TemporaryDirectory() as folder:
        # Opening a pipe waits for its other end.
        subprocess.run(
            ["sh", "-c", 'mkfifo "$1"; { sleep 0.02; : >"$1"; } & cat "$1"; wait', "sh", f"{folder}/pipe"], check=True
        )
    with socket.create_server((HERE, 0)) as server, socket.create_connection(server.getsockname()) as s:
        peer, _ = server.accept()
        for _ in range(20):
            s.sendall(b"x" * 1000)
            peer.recv(1000)
            peer.send(b"y")
            s.recv(1)
        peer.close()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        for _ in range(3):
            with contextlib.suppress(OSError):
                s.sendto(b"x", (HERE, 9))
    with contextlib.suppress(OSError), socket.socket() as s:
        s.connect((HERE, 9))
    with tempfile.NamedTemporaryFile(dir="/var/tmp") as f:
        f.write(b"x" * 100_000)
        f.flush()
        os.fsync(f.fileno())
    threads = [threading.Thread(target=time.sleep, args=(0.01,)) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


# Lines of every tool that has metrics. "": it always has rows; otherwise the reason why there may be none.
METRICS = (
    {
        "profile --by comm,sym": "",
        "cpudist": "",
        "migrations": "",
        "offcputime --format table": "",
        "offwaketime --format table": "",
        "wakeuptime --format table": "",
        "runqlat": "",
        "runqlen": "",
        "schedlat": "",
        "why": "",
        "probe sched:sched_switch --by comm": "",
        "stackcount -K sched:sched_switch --format table": "",
        "stat -e cs,page-faults": "",
        "syscount": "",
        "trace --summary": "",
        "runqslower": "lines",
        "funcgraph -x libc connect,sendto": "",
    },
    {
        "filelife": "lines",
        "fileslower": "lines",
        "filetop": "",
        "fsdist": "",
        "opensnoop": "lines",
        "biolatency": "no disk",
        "biopattern": "no disk",
        "biosnoop": "lines",
        "biotop": "no disk",
        "bitesize": "no disk",
        "connsnoop": "lines",
        "dnssnoop --count": "none",
        "tcpbacklog": "none",
        "tcpstates": "none",
        "uringstat": "none",
        "execsnoop": "lines",
        "exitsnoop": "lines",
        "signals": "lines",
        "faults": "",
        "kmem": "",
        "reclaim": "no need",
        "cachestat": "6.12",
        "dcstat": "functions",
    },
    {
        "cputhrottle": "no quota",
        "futexstat": "",
        "lockstat": "5.19",
        "netdrop": "",
        "netlat": "",
        "tcplife": "lines",
        "tcpretrans --count": "none",
        "tcprtt": "",
        "tcptop": "",
        "hardirqs": "",
        "softirqs": "",
        "timers": "",
        "workqueues": "",
        "snap": "",
        "kvmstat": "no guest",
        "memleak": "leaks",
        "vitals": "",
        "bpftop": "",
    },
)


def test_the_table_has_every_tool():
    listed = subprocess.run([tally.BUILD / "tally", "--json"], stdout=subprocess.PIPE, check=True)
    tools = (
        {row["tool"] for row in json.loads(listed.stdout)["rows"]}
        - IDLE
        - {"timehist", "timechart", "schedmap", "triage"}
    )
    assert tools == {line.split()[0] for lines in METRICS for line in lines}


@once
@needs_prometheus
@pytest.mark.parametrize("lines", METRICS, ids=("cpu", "files", "others"))
def test_promtool_takes_the_metrics_of_every_tool(tool, lines):
    """All with rows, in one text; promtool reads the older format. memleak slows every malloc: it traces this
    process only."""
    typed = {line + f" -p {os.getpid()}" if line == "memleak" else line: why for line, why in lines.items()}
    export = Exporter(tool, "--top", 20, *typed, interval="0.5")

    def each_has_rows():
        make_load()
        samples = export.await_intervals(1)
        assert set(ups(samples)) == set(typed)
        lines = [line for line, why in typed.items() if ups(samples)[line] and not why]
        return all(any(name.startswith(f"tally_{line.split()[0]}_") for name, _ in samples) for line in lines)

    wait_until(each_has_rows, "rows of each tool")
    promtool("check", "metrics", text=ask(export.port, Accept="text/plain").text)
    assert export.tool.stop().code == 0


# --- Prometheus itself ------------------------------------------------------------------------------


class Prometheus:
    """Scrapes a port twice a second, with our alerts."""

    def __init__(self, ends, path, port):
        self.port = free_port()
        (path / "alerts.yml").write_text((FILES / "alerts.yml").read_text())
        (path / "prometheus.yml").write_text(
            "global: {scrape_interval: 500ms, scrape_timeout: 500ms, evaluation_interval: 1s}\nrule_files: [alerts.yml]\n"
            f"scrape_configs: [{{job_name: tally, static_configs: [{{targets: ['{HERE}:{port}']}}]}}]\n"
        )
        self.process = subprocess.Popen(
            ["prometheus", f"--config.file={path}/prometheus.yml", f"--storage.tsdb.path={path}/data",
             f"--web.listen-address={HERE}:{self.port}"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        ends.callback(tally.end_process, self.process)

    def get(self, path, **query):
        url = f"http://{HERE}:{self.port}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        with urllib.request.urlopen(url, timeout=tally.PATIENCE) as answer:
            return json.load(answer)["data"]

    def query(self, what):
        return [(r["metric"], float(r["value"][1])) for r in self.get("query", query=what)["result"]]

    def is_scraping(self):
        with contextlib.suppress(OSError):
            return any(value == 1 for _, value in self.query("up"))
        return False


def dashboard_queries():
    for panel in json.loads((FILES / "dashboard.json").read_text())["panels"]:
        for target in panel["targets"]:
            yield target["expr"].replace("$__rate_interval", "10s").replace("$instance", ".*")


@once
@needs_prometheus
def test_prometheus_scrapes_and_is_asked(tool, trigger, ends, tmp_path):
    """Figures are those of a load; each query of the dashboard returns data; no alert's expression is an error."""
    load = trigger("syscalls", 1, f"{GETPPID}:500")
    export = Exporter(
        tool,
        *(line for line in (FILES / "export.conf").read_text().splitlines() if line and line[0] != "#"),
        A + f" -p {load.pid}",
        interval="0.5",
    )
    server = Prometheus(ends, tmp_path, export.port)
    wait_until(server.is_scraping, "a scrape")
    load.go()
    load.done()
    queries, empty = list(dashboard_queries()), []
    assert len(queries) > 15
    for _ in range(15):
        make_load()
        empty = [query for query in queries if not server.query(query)]
        if not empty:
            break
        time.sleep(0.5)
    assert not empty
    promtool("check", "metrics", text=ask(export.port, Accept="text/plain").text)
    samples = export.scrape()
    lost = sum(figures(samples, "tally_lost_total", "reason").values())
    (labels, counted), = server.query(f'tally_syscount_calls_total{{measurement=~"{A} .*"}}')
    assert 500 - lost <= counted <= 500 and labels["syscall"] == "getppid"
    assert len(server.query("tally_up == 1")) == len(ups(samples)) - list(ups(samples).values()).count(0)
    rules = [rule for group in server.get("rules")["groups"] for rule in group["rules"]]
    assert len(rules) == 12 and all(rule["health"] in ("ok", "unknown") for rule in rules), rules
    assert export.tool.stop().code == 0
