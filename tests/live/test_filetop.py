# SPDX-License-Identifier: BSD-2-Clause
"""filetop: calls and bytes by file compared with the trigger's, and by process with /proc/PID/io."""

import functools
import os
from pathlib import Path

import pytest

import tally
from filing import (APPEND, CREATE, HOSTILE, READ, after, generation_of, in_namespace, intact,
                    mount_of, name_bytes, type_of_fs)
from tally import flaws, once, scaled, steady


@pytest.fixture
def filetop(tool):
    return functools.partial(tool, "--json", tool="filetop")


@pytest.fixture
def measured(filetop, trigger):
    """Rows of a trigger's files, from a trial that lost nothing."""

    def measure(*acts, options=(), prepare=None, **kwargs):
        def trial():
            if prepare:
                prepare()
            load = trigger("files", *acts, **kwargs)
            report = after(filetop("-p", load.pid, *options), load).report
            intact(report)
            calls = sum(r["reads"] + r["writes"] + r["failed"] for r in report["rows"])
            assert calls == report["events"], report
            return report["rows"]

        return steady(trial)

    return measure


def by_path(rows):
    found = {row["path"]: row for row in rows}
    assert len(found) == len(rows), "a path is there twice"
    return found


FIGURES = "reads", "read_bytes", "writes", "write_bytes", "failed"


def figures(row):
    return tuple(row[name] for name in FIGURES)


def io_of(pid):
    text = Path(f"/proc/{pid}/io").read_text()
    return {name: int(n) for name, n in (line.split(": ") for line in text.splitlines())}


# --- figures -------------------------------------------------------------------------------------

def test_each_way_to_read_and_write(measured, directory):
    path = directory / "a"
    rows = measured(
        "open", CREATE | os.O_TRUNC, path,
        "write", 7, 1000, "pwrite", 5, 300, "writev", 3, 50, "pwritev2", 2, 90,
        "seek", 0, "read", 4, 500, "pread", 6, 200, "readv", 3, 70, "preadv2", 2, 30)
    (row,) = rows
    assert figures(row) == (15, 2000 + 1200 + 210 + 60, 17, 7000 + 1500 + 150 + 180, 0)
    assert row["path"] == str(path)
    assert row["inode"] == path.stat().st_ino
    assert row["bytes"] == row["read_bytes"] + row["write_bytes"]
    assert row["time"] == row["read_time"] + row["write_time"] > 0


def test_appended_sparse_and_past_the_end(measured, directory):
    """Bytes that were moved count, not those that were requested."""
    log, hole = directory / "log", directory / "hole"
    hole.write_bytes(b"")
    os.truncate(hole, 10_000)
    found = by_path(measured(
        "open", APPEND | os.O_TRUNC, log, "write", 10, 10,
        "open", READ, hole, "read", 3, 4096, "read", 5, 4096))
    assert figures(found[str(log)]) == (0, 0, 10, 100, 0)
    assert figures(found[str(hole)]) == (8, 10_000, 0, 0, 0)


def test_failures_move_nothing(measured, directory):
    """EISDIR, EFAULT, EBADF of a file that is open for reading only; a closed descriptor belongs to no file."""
    path = directory / "a"
    path.write_bytes(b"x" * 100)
    found = by_path(measured(
        "open", os.O_RDWR, path, "fault", 4, "open", READ | os.O_DIRECTORY, directory,
        "read", 3, 10, "badfd", 9, "open", READ, path, "write", 2, 10, "read", 1, 10))
    assert figures(found[str(path)]) == (1, 10, 0, 0, 6)
    assert figures(found[str(directory)]) == (0, 0, 0, 0, 3)
    assert len(found) == 2


def test_copies_are_a_read_and_a_write(measured, directory):
    old, new = directory / "old", directory / "new"
    old.write_bytes(b"x" * 1000)
    for act in "sendfile", "copy":
        found = by_path(measured("open", CREATE | os.O_TRUNC, new, "open", READ, old, act, 4, 300))
        assert figures(found[str(old)]) == (4, 1000, 0, 0, 0)
        assert figures(found[str(new)]) == (0, 0, 4, 1000, 0)
    (row,) = measured("open", READ, old, "splice", 2, 300)
    assert figures(row) == (2, 600, 0, 0, 0)


def test_what_the_kernel_counts(filetop, trigger, directory):
    """rchar, wchar, syscr and syscw of /proc/PID/io, on all kinds of files. The read by which a trigger
    gets its order to go began before: it is one more byte, and one more call."""

    def trial():
        load = trigger("files", "open", CREATE | os.O_TRUNC, directory / "a", "write", 100, 77,
                       "seek", 0, "read", 30, 1000, "open", READ, "/dev/zero", "read", 50, 333,
                       "open", os.O_WRONLY, "/dev/null", "write", 20, 5)
        before = io_of(load.pid)
        result = after(filetop("-p", load.pid, "--by", "pid", "--all-kinds"), load)
        now = io_of(load.pid)
        intact(result.report)
        (row,) = result.report["rows"]
        grown = {name: now[name] - before[name] for name in now}
        assert row["read_bytes"] == grown["rchar"] - 1 == 7700 + 50 * 333
        assert row["write_bytes"] == grown["wchar"] == 7700 + 100 + len("done\n")
        # The kernel also counts calls that fail, and the call in which a test ends.
        assert row["reads"] == grown["syscr"] - 1 and row["writes"] == grown["syscw"]
        assert row["pid"] == load.pid and row["comm"] == "files"

    steady(trial)


def test_many_at_once(filetop, trigger, directory):
    """Exact for several processes on one file, on all CPUs; no more calls are missing than were lost."""
    path, n = directory / "a", scaled(4000)
    path.write_bytes(b"x" * 4096)
    loads = [trigger("files", "open", READ, path, "pread", n, 1) for _ in range(4)]
    result = after(filetop("-p", ",".join(str(load.pid) for load in loads)), *loads)
    row = by_path(result.report["rows"])[str(path)]
    lost = sum(flaws(result.report).values())
    assert lost == result.report["lost"]["recursion"]
    assert row["reads"] <= 4 * n <= row["reads"] + lost
    # Reads after the first 4096 return nothing.
    assert row["read_bytes"] <= min(n, 4096) * 4


def test_intervals_add_up(filetop, trigger, directory):
    def trial():
        n = scaled(3000)
        load = trigger("files", "open", CREATE | os.O_TRUNC, directory / "a", "write", n, 10)
        reports = after(filetop("-p", load.pid, "-I", 10), load).reports
        for report in reports:
            intact(report)
        rows = [row for report in reports for row in report["rows"]]
        assert {row["path"] for row in rows} == {str(directory / "a")}
        assert sum(row["writes"] for row in rows) == n
        assert sum(row["write_bytes"] for row in rows) == 10 * n

    steady(trial)


def test_keys_are_bounded(filetop, trigger, directory):
    """Events whose keys find no room are counted as lost."""
    acts = []
    for i in range(300):
        acts += ["open", CREATE, directory / str(i), "write", 1, 10]

    def trial():
        load = trigger("files", *acts)
        report = after(filetop("-p", load.pid, "--max-keys", 20), load).report
        if report["lost"]["recursion"]:
            raise tally.Blurred
        assert report["lost"]["map_full"] > 0
        assert report["events"] + report["lost"]["map_full"] == 300
        assert len(report["rows"]) < 300

    steady(trial)


# --- names ---------------------------------------------------------------------------------------

def test_renamed_and_deleted(measured, directory):
    """A file is its inode: its row continues under its first name."""
    old, new = directory / "old", directory / "new"
    rows = measured("open", CREATE, old, "write", 1, 10, "rename", old, new, "write", 2, 10,
                    "unlink", new, "write", 3, 10, "open", CREATE, old, "write", 4, 10,
                    "unlink", old, options=("--sort", "writes"))
    assert [(row["writes"], row["path"]) for row in rows] in (
        # If another CPU saw it first, the name is a later one.
        [[(6, path), (4, str(old))] for path in (str(old), str(new), f"{new} (deleted)")])
    rows = measured("open", CREATE, old, "unlink", old, "write", 3, 10)
    assert [row["path"] for row in rows] == [f"{old} (deleted)"]


def test_a_number_that_is_given_again(filetop, directory):
    """ext4 reuses the inode of a deleted file for the next one: these are two files, with separate rows."""
    path = directory / "file"

    def trial():
        made = {}
        tracer = filetop("-p", os.getpid())
        for n in range(1, 65):
            path.write_bytes(b"x" * n)
            made[path.stat().st_ino, generation_of(path)] = n
            path.unlink()
        report = tracer.stop().report
        intact(report)
        rows = [row for row in report["rows"] if row["path"].startswith(str(path))]
        assert len(rows) == len(made)
        assert {(row["inode"], row["generation"]): row["write_bytes"] for row in rows} == made
        return made

    made = steady(trial)
    if len({inode for inode, _ in made}) == len(made):
        pytest.skip("this file system gave no inode again")


def test_hostile_names(measured, run, directory):
    path = os.fsencode(directory) + b"/" + HOSTILE
    (row,) = measured("open", CREATE, path, "write", 1, 10)
    assert name_bytes(row["path"]) == path
    acts = "open", CREATE, path, "write", 1, 10
    result = run("--", tally.BUILD / "triggers/files", *acts, tool="filetop")
    assert b"\x1b" not in result.stdout and b"\xff" not in result.stdout
    assert b"{path}" in result.stdout
    result.text


def test_long_paths(measured, directory):
    name = "n" * 255
    deep = directory
    for _ in range(15):
        deep = deep / name
    deep.mkdir(parents=True)
    path = str(deep / "f")[:4095]
    (row,) = measured("open", CREATE, path, "write", 1, 10)
    assert row["path"] == path


def test_paths_too_long(measured, directory):
    """Deeper than any one path can express, and than tally follows: the end is shown."""
    acts, fd = [], os.open(directory, os.O_RDONLY)
    for _ in range(200):
        os.mkdir("d", dir_fd=fd)
        below = os.open("d", os.O_RDONLY, dir_fd=fd)
        os.close(fd)
        fd = below
        acts += ["chdir", "d"]
    os.close(fd)
    (row,) = measured("chdir", directory, *acts, "open", CREATE, "f", "write", 1, 10)
    assert row["path"] == ".../" + "d/" * 127 + "f"


def test_paths_are_those_of_the_mount_namespace(measured, directory):
    """Through bind mounts and chroots, from the root of the namespace; each file system is right."""
    for name in "real/below", "bound", "scratch":
        (directory / name).mkdir(parents=True)
    real, bound, scratch = (directory / name for name in ("real", "bound", "scratch"))
    command = in_namespace(f"mount --bind {real} {bound}; mount -t ramfs none {scratch}")
    found = by_path(measured(
        "open", CREATE, bound / "below" / "a", "write", 1, 10,
        "open", CREATE, scratch / "b", "write", 2, 10,
        "chroot", bound, "open", CREATE, "/below/c", "write", 3, 10,
        options=("--by", "file,fs"), command=command))
    disk = type_of_fs(directory)
    assert {path: (row["writes"], row["fs"]) for path, row in found.items()} == {
        str(bound / "below" / "a"): (1, disk),
        str(scratch / "b"): (2, "ramfs"),
        str(bound / "below" / "c"): (3, disk),
    }


def test_what_has_no_path(measured, filetop, trigger):
    """Pipes are distinct; files without an inode of their own are not."""
    acts = "eventfd", "write", 3, 8, "read", 1, 8

    def trial():
        load = trigger("files", *acts)
        report = after(filetop("-p", load.pid, "--all-kinds"), load).report
        intact(report)
        rows = by_path(report["rows"])
        inode = os.fstat(load.process.stdout.fileno()).st_ino
        assert figures(rows.pop(f"pipe:[{inode}]")) == (0, 0, 1, len("done\n"), 0)
        assert figures(rows.pop("anon_inode")) == (1, 8, 3, 24, 0)
        assert not rows

    steady(trial)
    assert measured(*acts) == []


def test_overlay(measured, directory):
    for name in "lower", "upper", "work", "merged":
        (directory / name).mkdir()
    (directory / "lower" / "a").write_bytes(b"x" * 100)
    if "overlay" not in Path("/proc/filesystems").read_text():
        pytest.skip("no overlay file system here")
    scratch = directory / "s"
    scratch.mkdir()
    command = in_namespace(
        f"mount -t tmpfs none {scratch}; cd {scratch}; mkdir l u w m; echo 123456789 >l/a; "
        f"mount -t overlay none -o lowerdir=l,upperdir=u,workdir=w m")
    (row,) = measured("open", os.O_RDWR, scratch / "m" / "a", "read", 1, 100, "write", 2, 10,
                      options=("--by", "file,fs"), command=command)
    assert (row["path"], row["fs"]) == (str(scratch / "m" / "a"), "overlay")
    assert figures(row) == (1, 10, 2, 20, 0)


# --- options -------------------------------------------------------------------------------------

def test_one_type_of_file_system(measured, directory):
    here = directory / "scratch"
    here.mkdir()
    acts = ("open", CREATE | os.O_TRUNC, directory / "a", "write", 1, 10,
            "open", CREATE, here / "b", "write", 2, 10)
    command = in_namespace(f"mount -t ramfs none {here}")
    rows = measured(*acts, options=("--fs", "ramfs"), command=command)
    assert [row["writes"] for row in rows] == [2]
    rows = measured(*acts, options=("--fs", type_of_fs(directory)), command=command)
    assert [row["writes"] for row in rows] == [1]


def test_by_mount(measured, directory):
    scratch = directory / "scratch"
    scratch.mkdir()
    rows = measured("open", CREATE, scratch / "a", "write", 3, 10, "open", CREATE, directory / "b",
                    "write", 5, 10, "read", 1, 10, options=("--by", "mount,fs"),
                    command=in_namespace(f"mount -t ramfs none {scratch}"))
    assert {(row["mount"].rpartition(" (mnt:[")[0], row["fs"]): figures(row) for row in rows} == {
        (str(scratch), "ramfs"): (0, 0, 3, 30, 0),
        (mount_of(directory)[0], type_of_fs(directory)): (1, 0, 5, 50, 0)}


def test_order_and_top(measured, directory):
    acts = ("open", CREATE | os.O_TRUNC, directory / "few", "write", 2, 1000,
            "open", CREATE | os.O_TRUNC, directory / "many", "write", 9, 10)
    for options, first in (((), "few"), (("--sort", "writes"), "many")):
        rows = measured(*acts, options=options)
        assert [Path(row["path"]).name for row in rows][0] == first


@once
def test_top_of_text(tool, trigger, directory):
    acts = []
    for i in range(25):
        acts += ["open", CREATE, directory / f"f{i}", "write", 1, 10]
    for options, shown in (((), 20), (("--top", 3), 3), (("--csv",), 25)):
        load = trigger("files", *acts)
        text = after(tool("-p", load.pid, *options, tool="filetop"), load).text
        assert text.count(f"{directory}/f") == shown


@once
def test_usage(run):
    for args, hint in ((("--sort", "colour"), "read_bytes"), (("--fs", "nosuch"), "filesystems"),
                       (("--by", "disk"), "file")):
        result = run(*args, tool="filetop")
        assert result.code == 2 and hint in result.stderr
    result = run("-n", tool="filetop")
    assert result.code == 0 and "on_file_enter at tp_btf/sys_enter" in result.text
