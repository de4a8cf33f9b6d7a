# SPDX-License-Identifier: BSD-2-Clause
"""
The cost of tools on the hooks of all packets and connections: dnssnoop on packets that are no DNS, and on queries;
tcpstates and tcpbacklog on connections; uringstat on io_uring requests. Each beside empty programs on the same hooks.
"""
import measure
import tables
from loads import CPU, Load
from subjects import BUILD, Empty, Tally, available


def tally(name, *options):
    return Tally(" ".join([name, *options]), " ".join(["tally", name, *options]), [f"{BUILD}/{name}", *options])


def load(name, n, program, *arguments, event):
    """In a network of its own, in which port 53 is free and no port waits in TIME_WAIT. Says its CPU time."""
    command = " ".join([f"{BUILD}/triggers/{program}", *map(str, arguments)])
    script = f"ip link set lo up; TIMEFORMAT='took %U %S'; time {command}"
    return Load(name, ["unshare", "-n", "taskset", "-c", CPU, "bash", "-c", script], n, event=event, clock="said",
                says=r"took ([0-9.]+) ([0-9.]+)")


def parts(few):
    """Each load, and the subjects beside it."""
    scale = 1 if few else 4
    packets = lambda: Empty("empty", "empty programs, net_dev_queue and netif_receive_skb", "empty_send",
                            "empty_receive")
    connections = lambda: Empty("empty", "empty programs, inet_sock_set_state and sys_exit", "empty_state",
                                "empty_typed_exit")
    requests = lambda: Empty("empty", "empty program, io_uring_complete", "empty_completion")
    yield (load("UDP exchange on another port", 100_000 * scale, "packets", "udp", 100_000 * scale, 9,
                event="net_dev_queue"), [packets, lambda: tally("dnssnoop")])
    yield (load("DNS query and reply", 50_000 * scale, "packets", "udp", 50_000 * scale, 53, event="net_dev_queue"),
           [packets, lambda: tally("dnssnoop"), lambda: tally("dnssnoop", "--count")])
    # More of them slow each other down, because the kernel searches for a free port.
    yield (load("TCP connection", 5_000, "packets", "tcp", 5_000, event="inet_sock_set_state"),
           [connections, lambda: tally("tcpbacklog"), lambda: tally("tcpstates"), lambda: tally("tcplife")])
    yield (load("io_uring request", 35_000, "uring", 5_000, 0, event="io_uring_complete"),
           [requests, lambda: tally("uringstat")])


def measure_all(quick, show, look, progress):
    """Shows the tables; returns the raw numbers."""
    raw, notes = {}, []
    for work, candidates in parts(quick):
        things, more = available(candidates)
        notes += more
        slow = measure.slowdowns(things, [work], 5 if quick else 11, progress)
        show(tables.slowdowns(slow, things, work))
        raw[work.name] = slow
        look()
    return raw, notes
