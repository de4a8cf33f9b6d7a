# SPDX-License-Identifier: BSD-2-Clause
"""cputhrottle: a cgroup with a quota, and a load in it, against the cgroup's own cpu.stat."""

import pytest

from quota import PERIOD, QUOTA, books, books_at_rest, held_group, limit


def work_in(group, trigger, threads):
    """Ten quotas for each of the threads."""
    load = trigger("spin", threads, 50, 0)
    group.add(load.pid)
    load.go()
    load.done()
    load.settle()


@pytest.fixture
def group(cgroup):
    return held_group(cgroup)


def rows_of(report, group):
    return [row for row in report["rows"] if row["cgroup"] == group.name]


@pytest.mark.exact
def test_throttled(tool, trigger, group):
    """All that the books say of the run, to the last period: read before, behind, and when it is over."""
    limit(group, QUOTA)
    before = books_at_rest(group)
    tracer = tool("--json", tool="cputhrottle")
    work_in(group, trigger, 2)
    after = books_at_rest(group)
    (row,) = rows_of(tracer.stop().report, group)
    assert books(group) == after
    expected = tuple(b - a for a, b in zip(before, after))
    assert (row["periods"], row["throttled"], row["throttled_time"]) == expected
    assert expected[1] >= 3 and row["cpus"] == pytest.approx(QUOTA / PERIOD)
    assert row["throttled_percent"] == pytest.approx(100 * expected[1] / expected[0], abs=0.01)


@pytest.mark.exact
def test_intervals_add_up(tool, trigger, group):
    limit(group, QUOTA)
    before = books_at_rest(group)
    tracer = tool("--json", "0.2", tool="cputhrottle")
    work_in(group, trigger, 1)
    tracer.await_lines(2)           # so that there are rows in two intervals
    work_in(group, trigger, 1)
    tracer.await_lines(2)           # periods without throttling, and an interval of them
    limit(group, 10 * PERIOD)
    work_in(group, trigger, 1)
    expected = books_at_rest(group)
    rows = [row for report in tracer.stop().reports for row in rows_of(report, group)]
    for at, name in enumerate(("periods", "throttled", "throttled_time")):
        assert sum(row[name] for row in rows) == expected[at] - before[at]
    assert len(rows) >= 2


def test_what_is_shown(run, group):
    """With --all those that have a quota and did not use it up, and no others."""
    limit(group, 50_000)
    assert not rows_of(run("--json", "-d", "0.1", tool="cputhrottle").report, group)
    (row,) = rows_of(run("--json", "-d", "0.1", "--all", tool="cputhrottle").report, group)
    assert (row["throttled"], row["cpus"], row["throttled_time"]) == (0, 0.5, 0)
