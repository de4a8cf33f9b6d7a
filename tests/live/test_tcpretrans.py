# SPDX-License-Identifier: BSD-2-Clause
"""tcpretrans: packets that are lost on purpose, against the kernel's own counters."""

import pytest

import network
import tally
from network import counter, exact, text
from snooping import events_of
from tally import flaws, once

COUNTERS = {"RetransSegs": "snmp", "TCPLossProbes": "netstat", "TCPSynRetrans": "netstat"}


def counters():
    return {name: counter(file, name) for name, file in COUNTERS.items()}


@pytest.fixture(params=("IPv4", "IPv6"))
def sockets(request, ends):
    ends.enter_context(network.Own())
    return network.Sockets(ends, *network.LOOPBACK[request.param])


def lose_data(client, accepted):
    """Two segments, until the timer has run out, too. Nothing more is to be sent: a probe is one of
    them once more."""
    network.be_deaf(accepted)
    before = network.tcp_info(client)["total_retrans"]
    client.sendall(b"x" * 1000)
    client.sendall(b"y" * 500)
    tally.wait_until(lambda: network.tcp_info(client)["total_retrans"] >= before + 3,
                     "no retransmissions")
    network.hear(accepted)
    network.receive(accepted, 1500)
    network.await_acknowledged(client)


def lose_handshake(sockets, server):
    """A client that hears no answer asks again, and the server answers again, until it hears one: nothing is sent again
    behind that."""
    s = sockets.new()
    network.be_deaf(s)
    s.setblocking(False)
    s.connect_ex((sockets.host, server.getsockname()[1]))
    before = counter("netstat", "TCPSynRetrans")
    tally.wait_until(lambda: counter("netstat", "TCPSynRetrans") >= before + 2, "no SYN")
    end = text(s.getsockname())
    network.hear(s)
    network.reset(server.accept()[0])
    s.close()
    return end


@exact
def test_against_counters(tool, sockets):
    server = sockets.server()
    client, accepted = sockets.pair(server)
    port = server.getsockname()[1]
    tracers = [tool("--json", *args, tool="tcpretrans")
               for args in ((), ("--count", "--rport", port), ("--by", "remote,rport"))]
    before = counters()
    lose_data(client, accepted)
    handshake = lose_handshake(sockets, server)
    grew = {name: n - before[name] for name, n in counters().items()}
    lines, by_flow, by_remote = (tracer.stop() for tracer in tracers)
    lines, _ = events_of(lines)
    here, there = text(client.getsockname()), text(server.getsockname())
    values = [line["values"] for line in lines
              if there in (line["values"]["local"], line["values"]["remote"])]
    assert all(v["error"] is None and v["segments"] == 1 for v in values), values
    assert sum(v["segments"] for v in values) == grew["RetransSegs"], (values, grew)
    why = [v["why"] for v in values]
    assert why.count("probe") == grew["TCPLossProbes"] >= 1, (why, grew)
    assert why.count("syn") + why.count("synack") == grew["TCPSynRetrans"], (why, grew)
    for v in values:
        ends = (v["local"], v["remote"], v["state"])
        if v["why"] in ("probe", "timeout", "other", "recovery"):
            assert ends == (here, there, "established"), v
            assert v["bytes"] in (500, 1000, 1500), v
        elif v["why"] == "syn":
            assert ends == (handshake, there, "syn-sent") and not v["bytes"], v
        else:
            assert ends == (there, handshake, "syn-recv") and not v["bytes"], v
    check_tables(by_flow.report, by_remote.report, values, there, port, sockets.host)


def check_tables(by_flow, by_remote, values, there, port, host):
    """The same, summed up."""
    mine = [v for v in values if v["remote"] == there]
    flows = {}
    for v in mine:
        flow = flows.setdefault(v["local"], {"retransmits": 0, "bytes": 0})
        flow["retransmits"] += 1
        flow["bytes"] += v["bytes"]
    for report in (by_flow, by_remote):
        if any(flaws(report).values()):
            raise tally.Blurred
    found = {text((row["local"], row["lport"])):
             {name: row[name] for name in ("retransmits", "bytes")} for row in by_flow["rows"]}
    assert found == flows
    (row,) = (row for row in by_remote["rows"] if (row["remote"], row["rport"]) == (host, port))
    assert row["retransmits"] == len(mine)
    for why in ("syn", "probe", "timeout", "recovery", "synack", "other"):
        assert row[why] == sum(v["why"] == why for v in mine), row


@exact
@pytest.mark.parametrize("sockets", ("IPv4",), indirect=True)
def test_new_connections_find_room(tool, sockets):
    """Each connection is there with what its own counter says, long after there was room for the first ones."""
    rounds, each, room = 4, 40, 60
    server = sockets.server(backlog=each)
    tracer = tool("--json", "--count", "--rport", server.getsockname()[1], "--max-keys", room, "-I", 100,
                  tool="tcpretrans")
    wanted = {}
    for _ in range(rounds):
        pairs = [sockets.pair(server) for _ in range(each)]
        for client, accepted in pairs:
            network.be_deaf(accepted)
            client.sendall(b"x" * 100)
        for client, accepted in pairs:
            tally.wait_until(lambda c=client: network.tcp_info(c)["total_retrans"], "no retransmission")
            network.hear(accepted)
        for client, accepted in pairs:
            network.receive(accepted, 100)
            network.await_acknowledged(client)
            wanted[text(client.getsockname())] = network.tcp_info(client)["total_retrans"]
            network.reset(client)
    reports = tracer.stop().reports
    found = {}
    for row in (row for report in reports for row in report["rows"]):
        end = text((row["local"], row["lport"]))
        found[end] = found.get(end, 0) + row["retransmits"]
    assert not any(report["lost"]["map_full"] for report in reports)
    assert {end: n for end, n in found.items() if end in wanted} == wanted


@once
@pytest.mark.parametrize("args", (("-P",), ("--by", "comm"), ("--count", "--template", "{why}"),
                                  ("-p", "1"), ("--sort", "why")))
def test_wrong_usage(run, args):
    result = run(*args, tool="tcpretrans")
    assert result.code == 2 and not result.stdout, result


def test_usage(run):
    result = run("-n", tool="tcpretrans")
    assert result.code == 0 and "on_retransmit at tp_btf/tcp_retransmit_skb" in result.text, result
