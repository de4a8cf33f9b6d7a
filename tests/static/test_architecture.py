# SPDX-License-Identifier: BSD-2-Clause
"""The sources keep to docs/architecture.md: which folder may include which."""
import pathlib
import re

import pytest

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


def includes(path, text):
    """Our files that a file with this text includes, from the top of the tree: user/base/types.h, bpf/lib/hist.h."""
    for name in re.findall(r'^[ \t]*#[ \t]*include[ \t]*"([^"]+)"', text, re.MULTILINE):
        for place in (path.parent, ROOT / "user", ROOT, ROOT / "tools", ROOT / "bpf" / "lib", ROOT / "vmlinux"):
            if (place / name).is_file():
                yield (place / name).resolve().relative_to(ROOT).as_posix()
                break
        else:
            yield name                  # made by the build: a skeleton, the table of system calls


def wrong_in(path, text, allowed):
    return [f"{path.relative_to(ROOT)} includes {name}" for name in includes(path, text)
            if not allowed(path.relative_to(ROOT).parts, name)]


def wrong(tree, allowed):
    paths = sources(tree)
    assert len(paths) > 20
    return [line for path in paths for line in wrong_in(path, path.read_text(), allowed)]


def test_page_names_every_folder():
    assert STRATA and sorted(STRATA) == sorted(p.name for p in (ROOT / "user").iterdir() if p.is_dir())
    assert FAMILIES and sorted(FAMILIES) == sorted(p.name for p in (ROOT / "tools").iterdir() if p.is_dir())
    assert {p.name for p in (ROOT / "bpf").iterdir()} <= {"lib", *FAMILIES}


def allowed_in_strata(path, name):
    """path: the parts of that of the file which includes name."""
    top, folder, *_ = *name.split("/"), ""
    if name in ("syscall_table.h", "syscall_table_32.h"):
        return path[1] == "host"
    if top == "user":
        return STRATA.index(folder) <= STRATA.index(path[1])
    return name.startswith("bpf/lib/")


def test_strata_of_the_library():
    assert not wrong("user", allowed_in_strata)


def allowed_in_families(path, name):
    """Likewise."""
    top, folder, *_ = *name.split("/"), ""
    if top == "user":
        return path[0] == "tools"
    if name.endswith(".skel.h") or top == "vmlinux" or len(path) == 2:
        return True                     # tools/tally.c, tools/tools.h
    return folder in ("lib", path[1]) or name in ("tools/tools.h", "tools/manual.h")


@pytest.mark.parametrize("tree", ("tools", "bpf"))
def test_families_know_no_other(tree):
    assert not wrong(tree, allowed_in_families)


def test_every_tool_is_in_a_family():
    """And the programs of a family's tools in that one's folder."""
    for path in (ROOT / "bpf").rglob("*.bpf.c"):
        skeleton = path.name.replace(".bpf.c", ".skel.h")
        users = {user.relative_to(ROOT / "tools").parts[0] for user in sources("tools")
                 if f'#include "{skeleton}"' in user.read_text()}
        assert users == {path.parent.name}, (path.name, users)


@pytest.mark.parametrize("name, allowed, line, found", (
    ("user/base/nearest.c", allowed_in_strata, '#include "run/run.h"', "user/run/run.h"),
    ("user/base/nearest.c", allowed_in_strata, '#  include "runqlat.skel.h"', "runqlat.skel.h"),
    ("user/run/run.c", allowed_in_strata, '#include "sched/waits.h"', "tools/sched/waits.h"),
    ("tools/net/tcplife.c", allowed_in_families, '#include "sched/waits.h"', "tools/sched/waits.h"),
    ("bpf/net/tcplife.bpf.c", allowed_in_families, '#include "run/run.h"', "user/run/run.h"),
))
def test_faults_are_found(name, allowed, line, found):
    text = (ROOT / name).read_text()
    assert not wrong_in(ROOT / name, text, allowed)
    assert wrong_in(ROOT / name, f"{text}{line}\n", allowed) == [f"{name} includes {found}"]
