# SPDX-License-Identifier: BSD-2-Clause
"""cputhrottle: a cgroup with a quota, and a load in it, against the cgroup's own cpu.stat."""

import time

import pytest

import cgroups
import tally

HIERARCHY = cgroups.default_hierarchy()


def books(group):
    """nr_periods, nr_throttled, and the time in ns."""
    text = (group.path / "cpu.stat").read_text().split()
    stat = dict(zip(text[::2], map(int, text[1::2])))
    return stat["nr_periods"], stat["nr_throttled"], stat.get("throttled_time", stat.get("throttled_usec", 0) * 1000)


def books_at_rest(group):
    """Once nobody is there any more, nor was for a period or two: the timer of the periods stops then."""
    def unchanged():
        before = books(group)
        time.sleep(0.3)
        return before == books(group)

    tally.wait_until(unchanged, "the end of the last period")
    return books(group)


# In us. A small quota: it is used up even where others leave little of the CPU.
PERIOD, QUOTA = 100_000, 5_000


def limit(group, quota):
    if HIERARCHY.name == "v2":
        (group.path / "cpu.max").write_text(f"{quota} {PERIOD}")
    else:
        (group.path / "cpu.cfs_period_us").write_text(str(PERIOD))
        (group.path / "cpu.cfs_quota_us").write_text(str(quota))


def work_in(group, trigger, threads):
    """Ten quotas for each of the threads."""
    load = trigger("spin", threads, 50, 0)
    group.add(load.pid)
    load.go()
    load.done()
    load.settle()


@pytest.fixture
def group(cgroup):
    if HIERARCHY is None:
        pytest.skip("no hierarchy with a cpu controller")
    if HIERARCHY.name == "v2":
        (HIERARCHY.mount / "cgroup.subtree_control").write_text("+cpu")
        made = cgroup(HIERARCHY, "")
        (made.path / "cgroup.subtree_control").write_text("+cpu")
    return cgroup(HIERARCHY, "held")


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
