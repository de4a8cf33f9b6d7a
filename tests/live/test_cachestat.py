# SPDX-License-Identifier: BSD-2-Clause
"""cachestat: page cache requests of this process, compared with cachestat(2), getrusage(2) and its own actions."""

import ctypes
import mmap
import os
import random
import resource
import subprocess
import sys

import pytest

import disks
import tally
from tally import BUILD

ASKED = subprocess.run([BUILD / "cachestat", "-n"], capture_output=True, text=True)
pytestmark = [
    pytest.mark.exclusive,
    pytest.mark.skipif(ASKED.returncode == 4, reason="this kernel does not report page cache lookups"),
]

PAGE = mmap.PAGESIZE
PAGES = 512
CACHESTAT = 451
DISKS = {"ext4", "ext2/ext3", "xfs", "btrfs"}
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t] + [ctypes.c_int] * 3 + [ctypes.c_long]
libc.munmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t]


@pytest.fixture
def place(ends, directory):
    """A directory whose files are on a disk: on tmpfs the page cache is the file itself."""
    if disks.run("stat", "-f", "-c", "%T", str(directory)) in DISKS:
        return directory
    disks.load("ext4")
    disk = disks.loop(ends, directory, 32 << 20)
    subprocess.run(["mkfs.ext4", "-q", "-F", disk.path], check=True)
    on = directory / "on"
    on.mkdir()
    subprocess.run(["mount", "-t", "ext4", disk.path, on], check=True)
    ends.callback(subprocess.run, ["umount", on], check=True)
    return on


class File:
    def __init__(self, path, pages=PAGES):
        self.path, self.pages = path, pages
        path.write_bytes(b"x" * (pages * PAGE))
        self.fd = os.open(path, os.O_RDWR)
        os.fsync(self.fd)
        self.at = libc.mmap(None, pages * PAGE, mmap.PROT_READ, mmap.MAP_SHARED, self.fd, 0)
        # Otherwise khugepaged reads the missing pages of a mapped file, and is charged for them.
        libc.madvise(ctypes.c_void_p(self.at), ctypes.c_size_t(pages * PAGE), mmap.MADV_NOHUGEPAGE)

    def cachestat(self, first=0, pages=None):
        """cachestat(2): pages in the cache, dirty, under writeback, evicted, recently evicted."""
        asked = (ctypes.c_uint64 * 2)(first * PAGE, (pages or self.pages) * PAGE)
        told = (ctypes.c_uint64 * 5)()
        assert not libc.syscall(CACHESTAT, self.fd, asked, told, 0), os.strerror(ctypes.get_errno())
        return list(told)

    def cached(self, *which):
        """Includes pages that are being read. (mincore(2) does not.)"""
        return self.cachestat(*which)[0]

    def evicted(self):
        return self.cachestat()[3]

    def drop(self, advice=os.POSIX_FADV_NORMAL):
        os.posix_fadvise(self.fd, 0, 0, os.POSIX_FADV_DONTNEED)
        os.posix_fadvise(self.fd, 0, 0, advice)
        os.lseek(self.fd, 0, os.SEEK_SET)
        assert not self.cached()
        return self

    def close(self):
        libc.munmap(self.at, self.pages * PAGE)
        os.close(self.fd)


@pytest.fixture
def file(ends, place):
    each = File(place / "file")
    ends.callback(each.close)
    return each


@pytest.fixture
def measured(tool, file):
    """The row of this file for this process, from a trial that lost nothing."""
    def measure(act, prepare=lambda: None):
        def trial():
            prepare()
            tracer = tool("--json", "-p", os.getpid(), "--by", "file", tool="cachestat")
            told = act()
            report = tracer.stop().report
            # A machine may reclaim pages at any time (DAMON does, without memory pressure): then there is no judgement.
            if any(tally.flaws(report).values()) or file.evicted():
                raise tally.Blurred
            rows = [row for row in report["rows"] if row["inode"] == file.path.stat().st_ino]
            assert len(rows) <= 1, report
            return (rows or [{}])[0], told
        return tally.steady(trial)
    return measure


def nothing_missed(missed):
    """Requires that no cached page was reclaimed. Otherwise the trial is no judgement."""
    if missed:
        raise tally.Blurred


def figures(row, *names):
    return tuple(row.get(name) for name in names)


def each_page(file, order=None):
    """Reads page by page. Returns how many were not in the cache when they were read."""
    missed = 0
    for page in order or range(file.pages):
        missed += not file.cached(page, 1)
        assert len(os.pread(file.fd, PAGE, page * PAGE)) == PAGE
    return missed


@pytest.mark.exact
def test_read_page_by_page(measured, file):
    row, missed = measured(lambda: each_page(file), file.drop)
    assert figures(row, "pages", "hits", "misses", "faults") == (PAGES, PAGES - missed, missed, 0)
    assert row["misses"] + row["read_ahead"] == PAGES and 0 < missed < PAGES / 2
    assert row["path"].endswith(f"/{file.path.name}") and str(file.path).endswith(row["path"])
    assert figures(row, "dirtied", "written", "other") == (0, 0, 0)
    assert row["hit_percent"] == pytest.approx(100 * (PAGES - missed) / PAGES, abs=0.01)


@pytest.mark.exact
def test_read_again(measured, file):
    row, _ = measured(lambda: nothing_missed(each_page(file)), lambda: each_page(file.drop()))
    assert figures(row, "pages", "hits", "misses", "read_ahead") == (PAGES, PAGES, 0, 0)


@pytest.mark.exact
def test_read_in_any_order(measured, file):
    order = random.Random(7).sample(range(PAGES), PAGES)
    row, _ = measured(lambda: [os.pread(file.fd, PAGE, page * PAGE) for page in order],
                      lambda: file.drop(os.POSIX_FADV_RANDOM))
    assert figures(row, "pages", "hits", "misses", "read_ahead") == (PAGES, 0, PAGES, 0)


@pytest.mark.exact
@pytest.mark.parametrize("pages", [1, 3, 32, 100, PAGES])
def test_large_reads(measured, file, pages):
    """Pages that were cached when a read began are hits; pages that it brings in are misses."""
    def read():
        missed = 0
        for at in range(0, PAGES, pages):
            here = min(pages, PAGES - at)
            missed += here - file.cached(at, here)
            assert len(os.pread(file.fd, here * PAGE, at * PAGE)) == here * PAGE
        return missed

    row, missed = measured(read, file.drop)
    assert figures(row, "pages", "misses", "read_ahead", "other") == (PAGES, missed, PAGES - missed, 0)


@pytest.mark.exact
def test_odd_reads(measured, file):
    """A read accesses each page that it touches, up to the end of the file."""
    sizes = [(100, 4090), (1, 0), (1, 0), (PAGE, 1), (3 * PAGE, PAGE - 1), (5000, PAGES * PAGE - 10),
             (10, PAGES * PAGE)]
    touched = []

    def read():
        touched.clear()
        for size, at in sizes:
            got = len(os.pread(file.fd, size, at))
            touched.append((at + got - 1) // PAGE - at // PAGE + 1 if got else 0)
        os.lseek(file.fd, 50, os.SEEK_SET)
        for n in range(300):                # 100 bytes at a time: some lie in two pages
            at = 50 + n * 100
            assert len(os.read(file.fd, 100)) == 100
            touched.append((at + 99) // PAGE - at // PAGE + 1)
        nothing_missed(PAGES - file.cached())

    row, _ = measured(read, lambda: each_page(file))
    assert figures(row, "pages", "misses") == (sum(touched), 0)


@pytest.mark.exact
def test_mapped(measured, file):
    """Faults that find their page in the cache are hits, even while it is being read: to getrusage(2), those that wait
    for it are also major faults."""
    def touch():
        at = mmap.mmap(file.fd, PAGES * PAGE, prot=mmap.PROT_READ)
        before, missed = resource.getrusage(resource.RUSAGE_THREAD), 0
        for page in range(0, PAGES, 3):
            missed += not file.cached(page, 1)
            assert at[page * PAGE] == ord("x")
        after = resource.getrusage(resource.RUSAGE_THREAD)
        at.close()
        return missed, after.ru_majflt - before.ru_majflt, after.ru_minflt - before.ru_minflt

    row, (missed, major, minor) = measured(touch, lambda: (touch(), file.drop()))
    assert 0 < row["misses"] == missed <= major
    # Faults on the interpreter's own memory are among the others.
    assert missed <= row["faults"] == row["pages"] <= major + minor
    assert file.cached() == row["misses"] + row["read_ahead"]

    def again():
        missed, *others = touch()
        nothing_missed(missed)
        return others

    row, (major, minor) = measured(again, touch)
    assert row["misses"] == 0 < row["hits"] == row["faults"] <= major + minor


@pytest.mark.exact
def test_shared_memory(tool, ends):
    """Its pages are in no file on a disk: none of its faults counts."""
    fd = os.memfd_create("memory")
    ends.callback(os.close, fd)
    os.truncate(fd, PAGES * PAGE)
    with mmap.mmap(fd, PAGES * PAGE) as at:
        at.write(b"x" * PAGES * PAGE)
    tracer = tool("--json", "-p", os.getpid(), "--by", "file", tool="cachestat")
    before = resource.getrusage(resource.RUSAGE_THREAD).ru_minflt
    with mmap.mmap(fd, PAGES * PAGE, prot=mmap.PROT_READ) as at:
        assert {at[page * PAGE] for page in range(PAGES)} == {ord("x")}
    assert resource.getrusage(resource.RUSAGE_THREAD).ru_minflt > before
    made = os.fstat(fd)
    dev = f"{os.major(made.st_dev)}:{os.minor(made.st_dev)}"
    rows = tracer.stop().report["rows"]
    assert not [row for row in rows if (row["dev"], row["inode"]) == (dev, made.st_ino)], rows


@pytest.mark.exact
def test_written(measured, file):
    def write():
        for page in range(PAGES // 2):
            os.pwrite(file.fd, b"y" * PAGE, page * PAGE)
        for page in range(PAGES // 2):
            os.pwrite(file.fd, b"z", page * PAGE)   # dirty already

    def prepare():
        os.fsync(file.fd)
        file.drop()

    row, _ = measured(write, prepare)
    assert figures(row, "dirtied", "written", "pages", "misses", "other") == (PAGES // 2, PAGES // 2, 0, 0, 0)


@pytest.mark.exact
def test_sendfile(measured, file, place):
    def send():
        to = os.open(place / "to", os.O_CREAT | os.O_WRONLY | os.O_TRUNC)
        sent = 0
        while sent < PAGES * PAGE:
            sent += os.sendfile(to, file.fd, sent, 64 * PAGE)
        os.close(to)

    row, _ = measured(send, file.drop)
    assert row["pages"] == PAGES and row["misses"] + row["read_ahead"] == PAGES
    there = file.cached()
    row, _ = measured(send)
    assert figures(row, "pages", "hits", "misses") == (PAGES, there, PAGES - there)


@pytest.mark.exact
def test_advice(measured, file):
    """Pages that were read on advice are in the cache when they are accessed."""
    def advise():
        libc.readahead(file.fd, ctypes.c_long(0), ctypes.c_size_t(16 * PAGE))
        there = file.cached()
        os.pread(file.fd, 16 * PAGE, 0)
        return there

    row, there = measured(advise, file.drop)
    assert there == 16
    assert figures(row, "pages", "hits", "misses", "other") == (16, 16, 0, 16)


@pytest.mark.exact
def test_by_whom(tool, file):
    """The rows of all processes add up to the total."""
    code = f"import os; fd = os.open({str(file.path)!r}, 0); [os.pread(fd, {PAGE}, i * {PAGE}) for i in range(100)]"

    def trial():
        tracers = [tool("--json", *args, "--", sys.executable, "-c", code, tool="cachestat", ready=False)
                   for args in ([], ["--by", "pid"], ["--by", "comm,file"])]
        reports = [tracer.wait().report for tracer in tracers]
        if any(n for report in reports for n in tally.flaws(report).values()):
            raise tally.Blurred
        for report in reports:
            assert sum(row["pages"] for row in report["rows"]) == report["events"] > 100
        found = [row for row in reports[2]["rows"] if row["inode"] == file.path.stat().st_ino]
        assert [(row["pages"], row["comm"][:6]) for row in found] == [(100, "python")]
        assert len(reports[1]["rows"]) == 1 and reports[1]["rows"][0]["pages"] == reports[1]["events"]

    each_page(file)
    tally.steady(trial)


@pytest.mark.exact
def test_every_page_is_somewhere(tool, file):
    """Each page that anybody on the machine adds to the cache is a miss, read ahead, written or other: their
    sum is that of the kernel's own tracepoint, which has the size of each folio."""
    def trial():
        tracer = tool("--json", "cachestat --by file,pid --max-keys 20000",
                      'probe filemap:mm_filemap_add_to_page_cache --sum "1 << order"', tool="run")
        for _ in range(2):
            each_page(file.drop())
        pages, probed = tracer.stop().reports
        if any(n for report in (pages, probed) for n in tally.flaws(report).values()):
            raise tally.Blurred
        found = sum(row[name] for row in pages["rows"] for name in ("misses", "read_ahead", "written", "other"))
        assert found == sum(row["sum"] for row in probed["rows"]) >= 2 * PAGES

    tally.steady(trial)
