# SPDX-License-Identifier: BSD-2-Clause
"""--listen: the answers to a scraper, and the limits for other clients."""

import contextlib
import http.client
import itertools
import os
import random
import socket
import time

import pytest
from prometheus_client.parser import text_string_to_metric_families as older_families

import tally
from tally import flaws, once, wait_until
from test_openmetrics import GETPPID, READ, figures, parse

OPENMETRICS = "application/openmetrics-text; version=1.0.0; charset=utf-8"
OLDER = "text/plain; version=0.0.4; charset=utf-8"
HERE = "127.0.0.1"
CALLS = "tally_syscount_calls_total"


# Ports outside the range that the kernel assigns, in a different order in each process: nobody takes one
# between the check and its use.
PORTS = itertools.cycle(random.Random(os.getpid()).sample(range(10_000, 32_000), 2000))


def free_port(host=HERE):
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    for port in itertools.islice(PORTS, 2000):
        with contextlib.suppress(OSError), socket.create_server((host, port), family=family):
            return port
    raise AssertionError("no port is free")


def ask(port, path="/metrics", method="GET", host=HERE, body=None, **headers):
    """The response, with all of its body."""
    connection = http.client.HTTPConnection(host, port, timeout=tally.PATIENCE)
    connection.request(method, path, body, headers)
    response = connection.getresponse()
    response.text = response.read().decode()
    connection.close()
    return response


def scrape(port, **kwargs):
    response = ask(port, **kwargs)
    assert response.status == 200 and response.headers["Content-Type"] == OPENMETRICS
    return parse(response.text)


def lost(samples):
    return sum(figures(samples, "tally_lost_total", "reason").values())


def test_a_scrape_has_the_figures_of_json(tool, trigger):
    """Even without an interval: the figures are read at each request."""
    port = free_port()
    load = trigger("syscalls", 2, f"{GETPPID}:300", f"{READ}:200")
    tracer = tool("--listen", port, "-p", load.pid, tool="syscount")
    beside = tool("--json", "-p", load.pid, tool="syscount")
    load.go()
    load.done()
    samples = scrape(port)
    report = beside.stop().report
    rows = {row["syscall"]: row for row in report["rows"]}
    missing = lost(samples) + sum(flaws(report).values())
    for name, column in (("calls", "calls"), ("errors", "errors")):
        found = figures(samples, f"tally_syscount_{name}_total", "syscall")
        for call, most in (("getppid", 600), ("read", 400)):
            # The trigger also reads the words to go and to end.
            assert abs(found[call] - rows[call][column]) <= missing, (name, call)
            assert most - missing <= found[call] <= most + (call == "read" and name == "calls") * 2 \
                or (call, name) == ("getppid", "errors")
    result = tracer.stop()
    assert result.code == 0 and not result.stdout
    assert f"http://{HERE}:{port}/metrics" in result.stderr


@pytest.fixture
def served(tool, trigger):
    """A load, its tool, and the port."""
    port = free_port()
    load = trigger("syscalls", 1, f"{GETPPID}:500")
    return load, tool("--listen", port, "-p", load.pid, tool="syscount"), port


@once
def test_scrapers_do_not_disturb_each_other(served):
    load, _, port = served
    seen = {"one": [], "other": []}

    def look(who):
        samples = scrape(port)
        seen[who].append((figures(samples, "tally_measured_seconds_total", "tool")["syscount"],
                          figures(samples, CALLS, "syscall").get("getppid", 0), lost(samples)))
        return seen[who][-1]

    look("one")
    look("other")
    load.go()
    load.done()
    for who in ("one", "other", "one"):
        wait_until(lambda: sum(look(who)[1:]) >= 500, "the calls of before")
    assert all(a <= b for all_seen in seen.values() for former, latter in zip(all_seen, all_seen[1:])
               for a, b in zip(former, latter))
    assert all(each[-1][1] <= 500 for each in seen.values())


@once
def test_who_asks_often_is_told_the_same(served):
    """One reading serves all requests for half a second, however many there are."""
    _, tracer, port = served
    before = tally.cpu_ns(tracer.pid)
    began = time.monotonic()
    texts = [ask(port).text for _ in range(100)]
    took = time.monotonic() - began
    assert len(set(texts)) <= took / 0.5 + 1
    assert tally.cpu_ns(tracer.pid) > before


@once
def test_with_an_interval_it_is_the_last_one(tool, trigger, tmp_path):
    """The same as in the file of -o; there is none before the end of the first interval."""
    port, file = free_port(), tmp_path / "tally.prom"
    load = trigger("syscalls", 1, f"{GETPPID}:500")
    tool("--listen", port, "-o", file, "-I", 300, "-p", load.pid, tool="syscount")
    first = ask(port).text
    assert figures(parse(first), "tally_up", "tool") == {"syscount": 1}
    assert figures(parse(first), "tally_measured_seconds_total", "tool").get("syscount", 0.3) >= 0.3
    load.go()
    load.done()
    wait_until(lambda: sum((figures(scrape(port), CALLS, "syscall").get("getppid", 0),
                            lost(scrape(port)))) >= 500, "an interval")
    wait_until(lambda: ask(port).text == file.read_text(), "both of one interval")


@once
def test_requests(served):
    load, tracer, port = served
    load.go()
    load.done()
    wait_until(lambda: CALLS in ask(port).text, "the calls")
    assert ask(port, "/").status == 200 and "/metrics" in ask(port, "/").text
    assert ask(port, "/nope").status == 404 and ask(port, "/metrics/").status == 404
    assert ask(port, "/metrics?name[]=x").status == 200
    head = ask(port, method="HEAD")
    assert head.status == 200 and not head.text and int(head.headers["Content-Length"]) > 100
    for method in ("POST", "PUT", "DELETE", "OPTIONS", "NONSENSE"):
        refused = ask(port, method=method, body="x" * 100)
        assert refused.status == 405 and refused.headers["Allow"] == "GET, HEAD"
    for accept, kind in ((OPENMETRICS, OPENMETRICS), ("*/*", OPENMETRICS), ("text/*", OLDER),
                         ("text/plain;version=0.0.4;q=1,*/*;q=0.1", OLDER),
                         ("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.3", OPENMETRICS)):
        assert ask(port, Accept=accept).headers["Content-Type"] == kind, accept
    assert ask(port, Accept="image/png").status == 406
    assert tracer.stop().code == 0
    with pytest.raises(ConnectionRefusedError):
        ask(port)


@once
def test_the_older_format_says_the_same(served):
    load, _, port = served
    load.go()
    load.done()
    wait_until(lambda: CALLS in ask(port).text, "the calls")
    while True:                                 # until all are from one reading
        newer, older, again = (ask(port, Accept=kind).text for kind in (OPENMETRICS, OLDER, OPENMETRICS))
        if newer == again:
            break
    families = list(older_families(older))
    found = {(s.name, frozenset(s.labels.items())): s.value for f in families for s in f.samples}
    assert found == parse(newer)
    types = {f.name: f.type for f in families}
    assert types["tally_syscount_calls"] == "counter" and "unknown" not in types.values()


def connect(ends, port):
    s = socket.create_connection((HERE, port), tally.PATIENCE)
    ends.callback(s.close)
    return s


GARBAGE = (b"\0" * 5000, b"nonsense\r\n\r\n", b"GET\r\n\r\n", b"GET /metrics HTTP/9.9\r\n\r\n",
           b"GET /metrics HTTP/1.1\r\nX: " + b"x" * 20000 + b"\r\n\r\n",
           b"GET /metrics HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
           b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n")


@once
def test_hostile_clients(served, ends):
    """Silent clients, halves of requests, nonsense, a hundred at once: others are served, nothing is
    missed, and the tool does not spin. Silent clients are disconnected."""
    load, tracer, port = served
    silent = [connect(ends, port) for _ in range(50)]
    halves = [connect(ends, port) for _ in range(50)]
    for s in halves:
        s.send(b"GET /metrics HTTP/1.1\r\nHost: x\r\nAccept: ")
    for text in GARBAGE:
        s = connect(ends, port)
        s.sendall(text)
    before = tally.cpu_ns(tracer.pid)
    began = time.monotonic()
    load.go()
    load.done()
    wait_until(lambda: sum((figures(scrape(port), CALLS, "syscall").get("getppid", 0),
                            lost(scrape(port)))) >= 500, "the calls")
    for s in silent + halves:
        assert len(s.recv(1000)) < 1000         # an end of the connection, or an answer with the reason
    took = (time.monotonic() - began) * 1e9
    # The time of a reading in each trial above, far less than all of the time.
    assert tally.cpu_ns(tracer.pid) - before < took / 2
    assert figures(scrape(port), CALLS, "syscall")["getppid"] <= 500


@once
def test_more_clients_than_there_is_room(served, ends):
    _, tracer, port = served
    for _ in range(200):
        connect(ends, port)
    began = time.monotonic()
    assert ask(port).status == 200              # at once: the oldest client is disconnected
    assert time.monotonic() - began < 2
    before, began = tally.cpu_ns(tracer.pid), time.monotonic()
    time.sleep(0.5)
    assert tally.cpu_ns(tracer.pid) - before < (time.monotonic() - began) * 1e9 / 2
    assert len(os.listdir(f"/proc/{tracer.pid}/fd")) < 300


@once
def test_addresses(tool, run):
    port = free_port("::1")
    tracer = tool("--listen", port, "-C", 0)
    assert ask(port).status == ask(port, host="::1").status == 200
    taken = run("--listen", port, "-d", "0.1")
    assert taken.code == 1 and f"{HERE}:{port}: Address already in use" in taken.stderr
    assert run("--listen", port, "-n").code == 0
    tracer.stop()
    tracer = tool("--listen", f"127.0.0.2:{port}", "-C", 0)      # the port is free again at once
    assert ask(port, host="127.0.0.2").status == 200
    for host in (HERE, "::1"):
        with pytest.raises(ConnectionRefusedError):
            ask(port, host=host)
    tracer.stop()
    tool("--listen", f"[::]:{port}", "-C", 0)
    assert ask(port, host="::1").status == ask(port).status == 200
    result = run("--listen", f"192.0.2.1:{port}", "-d", "0.1")
    assert result.code == 1 and "Cannot assign requested address" in result.stderr
    assert run("--listen", free_port(), "--", "true").code == 0


@once
@pytest.mark.parametrize("name, args, says", (
    *(("runqlat", ("--listen", text), "is not a port") for text in
      ("0", "65536", "", "x", ":9435", "localhost:9435", "127.0.0.1", "127.0.0.1:", "::1:9435",
       "[127.0.0.1]:9435", "1.2.3.4.5:9435", "127.0.0.1:9435 ", "[" + "1" * 100 + "]:9435")),
    ("runqlat", ("--listen", "9435", "--json"),
     "--listen serves OpenMetrics text and cannot be combined with other formats"),
    ("runqlat", ("--listen", "9435", "--heat"), "--listen need measurements"),
    ("profile", ("--listen", "9435"), "stacks"),
    ("timehist", ("--listen", "9435"), "unknown option"),
    ("timehist", ("--format", "openmetrics"), "need measurements"),
    ("timechart", ("--format", "openmetrics"), "charts"),
    *((name, ("--listen", "9435"), "which count events") for name in ("opensnoop", "runqslower", "biosnoop")),
    *((name, ("--listen", "9435"), "single events") for name in ("trace", "tcpretrans")),
    ("probe", ("--listen", "9435", "raw_syscalls:sys_enter id"), "single events"),
    ("list", ("--listen", "9435"), "--listen"),
))
def test_what_is_refused(run, name, args, says):
    result = run(*args, tool=name)
    assert result.code == 2 and says in result.stderr, result
