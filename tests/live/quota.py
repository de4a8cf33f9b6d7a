# SPDX-License-Identifier: BSD-2-Clause
"""A cgroup with a quota of CPU time, and what the kernel's books say of it: cpu.stat."""

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


def held_group(cgroup):
    """A group to be limited; cgroup: the fixture."""
    if HIERARCHY is None:
        pytest.skip("no hierarchy with a cpu controller")
    if HIERARCHY.name == "v2":
        (HIERARCHY.mount / "cgroup.subtree_control").write_text("+cpu")
        made = cgroup(HIERARCHY, "")
        (made.path / "cgroup.subtree_control").write_text("+cpu")
    return cgroup(HIERARCHY, "held")
