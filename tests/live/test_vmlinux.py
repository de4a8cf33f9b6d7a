# SPDX-License-Identifier: BSD-2-Clause
"""vmlinux/vmlinux.h against the types of the running kernel.

Everything in the header must exist, unless its line, or the line that opens its struct, says "optional". With only a
version after "optional", it must exist from that version on, or until that version: so one of two layouts always
exists. Flavours (NAME___WHAT) are looked up by their plain name.
"""

import os
import re
import subprocess
from collections import namedtuple

import pytest

import tally

# kind: struct, enum or typedef. name: "-" for an enum without one. member: or "" for the type.
# optional: the text after "optional", or None.
Item = namedtuple("Item", "kind name member optional")

OPEN = re.compile(r"^(typedef )?(struct|enum) ?(\w*) \{")
CLOSE = re.compile(r"^\} ?(\w*);")
MEMBER = re.compile(r"^\t.*?(\w+)(\[\d*\]| : \d+)?;")
VALUE = re.compile(r"^\t(\w+)( = \w+)?,")
ONE_LINE = re.compile(r"^enum \{ (.*) \};")
TYPEDEF = re.compile(r"^typedef .*?(\w+);")
OPTIONAL = re.compile(r"/\* optional: (.*?) ?\*/")


def parse(text):
    """All Items of the header."""
    items, block, members = [], None, []
    for number, line in enumerate(text.splitlines(), 1):
        optional = OPTIONAL.search(line)
        optional = optional and optional[1]
        if block is None and ONE_LINE.match(line):
            items += [Item("enum", "-", value.split(" = ")[0], None)
                      for value in ONE_LINE.match(line)[1].split(", ")]
        elif block is None and OPEN.match(line):
            _, kind, name = OPEN.match(line).groups()
            block = Item(kind, name or "-", "", optional)
            members = []
        elif block is not None and CLOSE.match(line):
            typedef = CLOSE.match(line)[1]
            if typedef:
                block = block._replace(kind="typedef", name=typedef)
            if block.name != "-":
                items.append(block)
            items += [Item(block.kind, block.name, name, block.optional or own)
                      for name, own in members]
            block = None
        elif block is not None:
            found = (VALUE if block.kind == "enum" else MEMBER).match(line)
            assert found, f"line {number} is not understood: {line}"
            members.append((found[1], optional))
        elif TYPEDEF.match(line):
            items.append(Item("typedef", TYPEDEF.match(line)[1], "", optional))
        else:
            assert not line or line[0] in "/# \t", f"line {number} is not understood: {line}"
    assert block is None
    return items


def is_due(optional):
    """Whether the running kernel must have it."""
    if optional is None:
        return True
    version = re.fullmatch(r"(until )?(\d+)\.(\d+)(, commit \w+)?", optional)
    if not version:
        return False
    major_minor = int(version[2]), int(version[3])
    return tally.KERNEL <= major_minor if version[1] else tally.KERNEL >= major_minor


def missing(items):
    lines = [f"{i.kind} {i.name.partition('___')[0]} {i.member}".rstrip() for i in items]
    found = subprocess.run([tally.BUILD / "triggers/btf_has"], input="\n".join(lines) + "\n",
                           stdout=subprocess.PIPE, text=True, check=True, timeout=tally.PATIENCE)
    return found.stdout.splitlines()


@pytest.fixture(scope="module")
def header():
    machine = {"x86_64": "x86", "aarch64": "arm64"}[os.uname().machine]
    return [item for name in ("vmlinux", f"vmlinux_{machine}")
            for item in parse((tally.ROOT / f"vmlinux/{name}.h").read_text())]


def test_the_header_is_read(header):
    """The parser finds items: without any, this test would be empty."""
    assert Item("struct", "task_struct", "comm", None) in header
    assert Item("typedef", "kuid_t", "val", None) in header
    assert any(i.kind == "enum" and i.member == "cpu_cgrp_id" and i.optional for i in header)
    assert any(i.name == "task_struct___state" for i in header)


def test_the_question_is_answered():
    """Missing types and members are found; members of anonymous structs and unions are not missing."""
    assert missing([Item("struct", "task_struct", "no_such_member", None),
                    Item("struct", "no_such_struct", "", None),
                    Item("enum", "-", "NO_SUCH_VALUE", None),
                    Item("typedef", "no_such_t", "", None),
                    Item("enum", "bpf_map_type", "BPF_MAP_TYPE_HASH", None),
                    # In a struct { ... } of a union { ... } of the struct.
                    Item("struct", "page", "mapping", None)]) == [
        "struct task_struct no_such_member", "struct no_such_struct", "enum - NO_SUCH_VALUE",
        "typedef no_such_t"]


def test_the_kernel_has_what_the_header_lists(header):
    assert missing([i for i in header if is_due(i.optional)]) == []


def test_flavours_are_optional(header):
    """Every member of NAME___WHAT says so, and NAME exists, too."""
    plain = {i.name for i in header}
    for item in header:
        if "___" in item.name and item.member:
            assert item.optional, item
            assert item.name.partition("___")[0] in plain, item
