# SPDX-License-Identifier: BSD-2-Clause
"""The sources keep to docs/architecture.md: which folder may include which."""
import pathlib
import re

import pytest

from tally import beside, once

pytestmark = beside

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs" / "architecture.md").read_text()


def folders(heading):
    """The first column of the table below a heading, in its order."""
    text = PAGE.split(f"\n## {heading}\n", 1)[1].split("\n## ", 1)[0]
    return re.findall(r"^\| `(\w+)` \|", text, re.MULTILINE)


STRATA = folders("Strata of `user/`")
FAMILIES = folders("Families")


def sources(tree):
    return sorted(path for path in (ROOT / tree).rglob("*.[ch]"))


def includes(path):
    """What a file includes of ours, from the top of the tree: user/base/types.h, bpf/lib/hist.h."""
    for name in re.findall(r'^#include "([^"]+)"', path.read_text(), re.MULTILINE):
        for place in (path.parent, ROOT / "user", ROOT, ROOT / "tools", ROOT / "bpf" / "lib", ROOT / "vmlinux"):
            if (place / name).is_file():
                yield (place / name).resolve().relative_to(ROOT).as_posix()
                break
        else:
            yield name                  # made by the build: a skeleton, the table of system calls


def wrong(tree, allowed):
    return [f"{path.relative_to(ROOT)} includes {name}" for path in sources(tree) for name in includes(path)
            if not allowed(path.relative_to(ROOT).parts, name)]


@once
def test_page_names_every_folder():
    assert STRATA and sorted(STRATA) == sorted(p.name for p in (ROOT / "user").iterdir() if p.is_dir())
    assert FAMILIES and sorted(FAMILIES) == sorted(p.name for p in (ROOT / "tools").iterdir() if p.is_dir())
    assert {p.name for p in (ROOT / "bpf").iterdir()} <= {"lib", *FAMILIES}


@once
def test_strata_of_the_library():
    def allowed(path, name):
        top, folder, *_ = *name.split("/"), ""
        if name in ("syscall_table.h", "syscall_table_32.h"):
            return path[1] == "host"
        if top == "user":
            return STRATA.index(folder) <= STRATA.index(path[1])
        return name.startswith("bpf/lib/")

    assert not wrong("user", allowed)


@once
@pytest.mark.parametrize("tree", ("tools", "bpf"))
def test_families_know_no_other(tree):
    def allowed(path, name):
        top, folder, *_ = *name.split("/"), ""
        if top == "user":
            return tree == "tools"
        if name.endswith(".skel.h") or top == "vmlinux" or len(path) == 2:
            return True                 # tools/tally.c, tools/tools.h
        return folder in ("lib", path[1]) or name in ("tools/tools.h", "tools/manual.h")

    assert not wrong(tree, allowed)


@once
def test_every_tool_is_in_a_family():
    """And the programs of a family's tools in that one's folder."""
    for path in (ROOT / "bpf").rglob("*.bpf.c"):
        skeleton = path.name.replace(".bpf.c", ".skel.h")
        users = {user.relative_to(ROOT / "tools").parts[0] for user in sources("tools")
                 if f'#include "{skeleton}"' in user.read_text()}
        assert users == {path.parent.name}, (path.name, users)
