# SPDX-License-Identifier: BSD-2-Clause
"""The tool that docs/adding-a-tool.md writes must build and be right, as the page stands."""
import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "adding-a-tool.md"


def files_of_page():
    """{path: text} of the code blocks that follow a heading naming a file."""
    found = re.findall(r"^## \d\. [^`\n]*`([^`\n]+)`\n.*?^```c\n(.*?)^```", PAGE.read_text(),
                       re.MULTILINE | re.DOTALL)
    return dict(found)


def schedstat(pid):
    return [int(n) for n in pathlib.Path(f"/proc/{pid}/schedstat").read_text().split()]


@pytest.fixture(scope="module")
def built(tmp_path_factory):
    if os.environ.get("TALLY_GUEST"):
        pytest.skip("builds the tree; once, on the host, is enough")
    tree = tmp_path_factory.mktemp("tree") / "tally"
    shutil.copytree(ROOT, tree, ignore=shutil.ignore_patterns("build", ".git", "tests"))
    files = files_of_page()
    assert sorted(files) == ["bpf/slices.bpf.c", "bpf/slices.h", "tools/slices.c"]
    for name, text in files.items():
        (tree / name).write_text(text)
    subprocess.run(["make", "-j2", "-C", str(tree)], check=True, stdout=subprocess.DEVNULL)
    return tree / "build"


def test_is_listed(built):
    out = subprocess.run([built / "tally"], capture_output=True, text=True, check=True).stdout
    assert "slices" in out


def test_sum_is_the_run_time_of_schedstat(built):
    """Started asleep, busy, asleep again: the slices in between are the growth of its run time."""
    busy = ("import sys\nfor line in sys.stdin:\n n = 0\n while n < 3000000: n += 1\n"
            " print('done', flush=True)\n")
    worker = subprocess.Popen(["/usr/bin/python3", "-c", busy], stdin=subprocess.PIPE,
                              stdout=subprocess.PIPE, text=True)
    try:
        def round_trip():
            worker.stdin.write("go\n")
            worker.stdin.flush()
            assert worker.stdout.readline() == "done\n"
            wait_asleep(worker.pid)

        round_trip()
        ready, theirs = os.pipe()
        tool = subprocess.Popen([built / "slices", "--json", "-P", "-p", str(worker.pid),
                                 "--ready-fd", str(theirs)], pass_fds=[theirs],
                                stdout=subprocess.PIPE, text=True)
        os.close(theirs)
        assert os.read(ready, 16) == b"ready\n"
        os.close(ready)
        before = schedstat(worker.pid)
        round_trip()
        after = schedstat(worker.pid)
        tool.send_signal(2)
        out, _ = tool.communicate(timeout=30)
        assert tool.returncode == 0
        group, = json.loads(out)["groups"]
        assert group["key"]["pid"] == worker.pid
        assert group["count"] == after[2] - before[2]
        # The page's first number is sum_exec_runtime, which is kept on the clock of task time
        # (without interrupts and stolen time) and not on the run queue's: it is never more, and
        # on a machine that others share it can be somewhat less.
        assert 0.5 * group["sum"] <= after[0] - before[0] <= group["sum"] * 1.001
    finally:
        worker.stdin.close()
        worker.wait(timeout=30)


def wait_asleep(pid):
    while pathlib.Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "S":
        pass
