# SPDX-License-Identifier: BSD-2-Clause
"""tcprtt: a connection whose round-trip time stands still, against TCP_INFO."""

import pytest

import network
import tally
from network import exact
from tally import flaws, once


@pytest.fixture(params=list(network.LOOPBACK))
def sockets(request, ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK[request.param])


def listen_to(server, client, n):
    """n segments that arrive at a client, which sends nothing but their acknowledgements: it
    measures nothing any more."""
    for _ in range(n):
        server.sendall(b"x")
        network.receive(client, 1)
    network.await_acknowledged(server)


def judged(result):
    report = result.report
    lost = {reason for reason, n in flaws(report).items() if n}
    if lost and lost <= {"recursion", "no_buffer"}:
        raise tally.Blurred
    assert not lost, result
    return report


@exact
def test_against_tcp_info(tool, sockets):
    n = tally.scaled(400)
    server = sockets.server()
    client, accepted = sockets.pair(server)
    port = client.getsockname()[1]
    tracers = [tool("--json", "--lport", port, *args, tool="tcprtt")
               for args in ((), ("--minimum",), ("--by", "lport,remote,cpu", "--hist"),
                            ("--by", "local,rport"))]
    before = network.tcp_info(client)["data_segs_in"]
    listen_to(accepted, client, n)
    info = network.tcp_info(client)
    # On a machine that stands still the kernel may send one again before it is acknowledged.
    arrived = info["data_segs_in"] - before
    assert arrived >= n, info
    plain, least, groups, table = (judged(tracer.stop()) for tracer in tracers)
    rtt, min_rtt = info["rtt"] * 1000, info["min_rtt"] * 1000
    (group,) = plain["groups"]
    assert (group["count"], group["min"], group["max"]) == (arrived, rtt, rtt), (group, info)
    (group,) = least["groups"]
    assert (group["count"], group["min"], group["max"]) == (arrived, min_rtt, min_rtt), (group, info)
    assert sum(g["count"] for g in groups["groups"]) == arrived
    for group in groups["groups"]:
        assert (group["key"]["lport"], group["key"]["remote"]) == (port, sockets.host)
    (row,) = table["rows"]
    assert (row["local"], row["rport"]) == (sockets.host, server.getsockname()[1])
    assert (row["count"], row["max"]) == (arrived, rtt)
    assert plain["filtered"] > 0        # the acknowledgements, at the other end


@once
@pytest.mark.parametrize("args", (("-P",), ("--by", "comm"), ("--by", "nonsense"), ("-p", "1"),
                                  ("--rport", "http")))
def test_wrong_usage(run, args):
    result = run(*args, tool="tcprtt")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="tcprtt")
    assert result.code == 0 and "on_segment at tp_btf/tcp_probe" in result.text, result
