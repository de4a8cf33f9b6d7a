# SPDX-License-Identifier: BSD-2-Clause
"""
The share of its requests per second that a busy server loses to triage. One server and one client run the whole time,
and the server counts its requests. A block has four equal slices: alone, twice with the tool, alone. A steady trend
thus affects both sides of a block alike. No slice includes the start or the end of the tool; the requests that these
cost are a separate figure. The control is a process that sleeps in place of the tool.

The goal: nine tenths of the requests.
"""
import contextlib
import glob
import http.client
import os
import random
import re
import shutil
import socket
import subprocess
import sys
import time
from statistics import median

import kernel
import tables
from processes import Failed, Process
from subjects import BUILD, QUIET, WORK, Tally

SLICE = 1           # seconds: work that recurs every second is the same in each slice
SETTLE = 0.1        # seconds after the start and the end of a tool
# With few connections both sides sleep between requests, and the rate depends on which CPUs they run.
CONNECTIONS = (4, 32)
NOTHING = "nothing"
NGINX = """daemon off; worker_processes 1; pid {folder}/pid; error_log /dev/null;
events {{ worker_connections 256; }}
http {{ access_log off; keepalive_requests 1000000000; keepalive_timeout 1h; server {{ listen 127.0.0.1:{port};
location / {{ return 200 "hello"; }} location /count {{ stub_status; }} }} }}
"""


SLEEP = (
    "import os, signal, sys, time\nsignal.signal(signal.SIGINT, signal.SIG_DFL)\n"
    "os.write(int(sys.argv[2]), b'ready')\ntime.sleep(600)"
)


def sleeper():
    """A control that does nothing in place of a tool."""
    return Tally(NOTHING, "nothing (control)", [sys.executable, "-c", SLEEP])


def triage(build=BUILD):
    name = "triage" if build == BUILD else f"triage of {build}"
    return Tally(name, name, [f"{build}/triage", "--json", "-d", "600"])


def lines_run(name, lines):
    return Tally(name, name, [f"{BUILD}/tally", "run", *lines, "--json", "-d", "600"])


def triage_lines():
    """The lines that triage measures with, except that of a database, which is left out where none runs."""
    with open("tools/machine/triage/rules.c") as f:
        table = re.search(r"triage_lines\[\] = \{(.*?)\n\};", f.read(), re.DOTALL)
    return re.findall(r'^\t"(.*)",$', table[1], re.MULTILINE)


# --- the server ---------------------------------------------------------------------------------

def free_port():
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return free.getsockname()[1]


def wait_for_port(port):
    for _ in range(500):
        with socket.socket() as s:
            if not s.connect_ex(("127.0.0.1", port)):
                return
        time.sleep(0.01)
    raise Failed("nginx did not start")


class Served:
    """nginx with one worker on loopback, and wrk, which sends requests all the time."""

    def __init__(self, connections):
        self.connections, self.port = connections, free_port()

    def __enter__(self):
        folder = os.path.abspath(f"{WORK}/nginx")
        os.makedirs(folder, exist_ok=True)
        with open(f"{folder}/conf", "w") as f:
            f.write(NGINX.format(folder=folder, port=self.port))
        self.stack = contextlib.ExitStack()
        with self.stack as stack:
            self.server = stack.enter_context(Process(
                ["nginx", "-p", folder, "-c", f"{folder}/conf"], stdout=subprocess.DEVNULL, **QUIET))
            wait_for_port(self.port)
            self.client = stack.enter_context(Process(
                ["wrk", "-t1", f"-c{self.connections}", "-d10h", f"http://127.0.0.1:{self.port}/"],
                stdout=subprocess.DEVNULL, **QUIET))
            self.status = stack.enter_context(
                contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.port)))
            time.sleep(1)
            self.stack = stack.pop_all()
        return self

    def __exit__(self, *exc):
        self.stack.close()

    def requests(self):
        """The server's own count of requests since its start."""
        self.status.request("GET", "/count")
        return int(self.status.getresponse().read().split()[9])

    def cpu_ns(self):
        """CPU time of server and client since their start."""
        with open(f"/proc/{self.server.pid}/task/{self.server.pid}/children") as f:
            pids = [*map(int, f.read().split()), self.client.pid]
        return sum(map(kernel.cpu_ns, pids))

    def look(self):
        return {"s": time.monotonic(), "requests": self.requests(), "cpu_ns": self.cpu_ns()}


# --- blocks -------------------------------------------------------------------------------------

def difference(before, after):
    return {key: after[key] - before[key] for key in before}


def looked_at(served, seconds):
    before = served.look()
    time.sleep(seconds)
    return difference(before, served.look())


def block(served, subject):
    """Four slices, and the start and the end of the tool between them."""
    alone = looked_at(served, SLICE)
    before = served.look()
    with subject.running() as process:
        started = served.look()
        time.sleep(SETTLE)
        own = kernel.cpu_ns(process.pid)
        beside = looked_at(served, 2 * SLICE)
        beside["own_ns"] = kernel.cpu_ns(process.pid) - own
        ending = served.look()
    ended = served.look()
    time.sleep(SETTLE)
    return {"alone": alone, "start": difference(before, started), "beside": beside,
            "end": difference(ending, ended), "again": looked_at(served, SLICE)}


def rate(part, per="s"):
    return part["requests"] / part[per]


def ratio(found, per="s"):
    return 2 * rate(found["beside"], per) / (rate(found["alone"], per) + rate(found["again"], per))


def lost_ms(found):
    """The cost of start and end: the time in which the server alone handles as many requests as were lost."""
    alone = (rate(found["alone"]) + rate(found["again"])) / 2
    return 1000 * sum(found[part]["s"] - found[part]["requests"] / alone for part in ("start", "end"))


def own_share(found):
    return found["beside"]["own_ns"] / found["beside"]["s"] / 1e9


def blocks(subjects, connections, rounds, progress):
    """{subject: [block, ...]}; each round runs the subjects in a random order."""
    found = {s.name: [] for s in subjects}
    with Served(connections) as served:
        for n in range(rounds):
            progress(f"nginx, {connections} connections, round {n + 1} of {rounds}")
            for subject in random.sample(subjects, len(subjects)):
                found[subject.name].append(block(served, subject))
    return found


# --- tables -------------------------------------------------------------------------------------

def interval(numbers, draws=2000):
    """The 95% confidence interval of the median, by bootstrap."""
    draw = random.Random(1)
    medians = sorted(median(draw.choices(numbers, k=len(numbers))) for _ in range(draws))
    return medians[draws // 40], medians[-1 - draws // 40]


def with_interval(numbers, digits=3):
    low, high = interval(numbers)
    return f"{median(numbers):.{digits}f} ({low:.{digits}f}..{high:.{digits}f})"


def row(label, found):
    return label, [
        with_interval([ratio(b) for b in found]),
        with_interval([ratio(b, "cpu_ns") for b in found]),
        with_interval([lost_ms(b) for b in found], 0),
        f"{100 * median(map(own_share, found)):.1f}",
    ]


def of_blocks(found, subjects, connections):
    rounds = len(found[subjects[0].name])
    title = (
        f"A server, wrk -c{connections}: requests beside / alone, each second and for each second of CPU time of\n"
        "server and client; time alone for as many requests as start and end cost, ms; CPU time of the tool, per cent\n"
        "of one CPU. "
        f"Median of {rounds} blocks (95 % interval of the median)"
    )
    return tables.grid(title, ["a second", "a CPU second", "start and end", "own %"],
                       [row(s.label, found[s.name]) for s in subjects])


# --- the course ---------------------------------------------------------------------------------

def add_options(parser):
    """Adds the command line options for bench.py."""
    group = parser.add_argument_group("serving")
    group.add_argument("--line", action="append", metavar="LINE",
                       help="measure these lines of 'tally run' together instead of triage")
    group.add_argument("--each-line", action="store_true", help="also each line of triage alone, and all but one")
    group.add_argument("--other", metavar="BUILD", help="also triage of that build directory")
    group.add_argument("--rounds", type=int, metavar="N", help="blocks of each")
    group.add_argument("--connections", type=int, action="append", metavar="N",
                       help="of the client; default: %s" % " and ".join(map(str, CONNECTIONS)))


def each_line():
    """Each line of triage alone, and all lines but one."""
    lines = triage_lines()
    yield lines_run("all lines", lines)
    for line in lines:
        yield lines_run(f"only {line}", [line])
        yield lines_run(f"without {line}", [other for other in lines if other != line])


def asked_for(options):
    """The control, and the subjects that the command line names."""
    yield sleeper()
    if options.line:
        yield lines_run(" + ".join(options.line), options.line)
    else:
        yield triage()
    if options.other:
        yield triage(options.other)
    if options.each_line:
        yield from each_line()


def measure_all(quick, show, look, progress, options):
    """Shows each table once it is measured; returns the raw numbers."""
    if not (shutil.which("nginx") and shutil.which("wrk")):
        return {}, ["no server was measured: nginx and wrk are not both installed"]
    things, raw = list(asked_for(options)), {}
    for connections in options.connections or CONNECTIONS:
        raw[connections] = blocks(things, connections, options.rounds or (10 if quick else 40), progress)
        show(of_blocks(raw[connections], things, connections))
        look()
    return raw, []
