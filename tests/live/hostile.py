# SPDX-License-Identifier: BSD-2-Clause
"""ELF files made to harm their readers, built from small harmless programs."""

import lzma
import os
import re
import struct
import subprocess
import zlib

# Spins in code of 400,000 bytes, which has room for as many symbols.
SOURCE = """
asm(".text\\n.globl wide\\n.type wide,@function\\nwide: .skip 400000, 0x90\\nret\\n.size wide, . - wide");
extern void wide(void);
void (*volatile keep)(void) = wide;
volatile unsigned long turns;
__attribute__((noinline)) void spin(void) { for (;;) turns++; }
int main(void) { spin(); }
"""


class Elf:
    """A 64-bit ELF file in memory, whose sections can be replaced and added to."""

    def __init__(self, path):
        self.data = bytearray(path.read_bytes())
        self.shoff, = struct.unpack_from("<Q", self.data, 40)
        self.shnum, = struct.unpack_from("<H", self.data, 60)
        names, = struct.unpack_from("<H", self.data, 62)
        self.names = self.header(names)[4]

    def header(self, i):
        return struct.unpack_from("<IIQQQQIIQQ", self.data, self.shoff + 64 * i)

    def name(self, i):
        start = self.names + self.header(i)[0]
        return self.data[start:self.data.index(0, start)].decode()

    def find(self, name):
        return next(i for i in range(self.shnum) if self.name(i) == name)

    def replace(self, name, contents, flags=None):
        at = self.shoff + 64 * self.find(name)
        self.data += bytes(-len(self.data) % 16)
        struct.pack_into("<QQ", self.data, at + 24, len(self.data), len(contents))
        if flags is not None:
            struct.pack_into("<Q", self.data, at + 8, flags)
        self.data += contents

    def claim(self, name, size):
        """Makes the section header claim a size."""
        struct.pack_into("<Q", self.data, self.shoff + 64 * self.find(name) + 32, size)

    def write(self, path, size=None):
        path.write_bytes(self.data)
        if size:
            os.truncate(path, size)
        path.chmod(0o755)


def command(*args):
    subprocess.run([str(a) for a in args], check=True)


def compile_spinner(directory, name, *options):
    source = directory / f"{name}.c"
    source.write_text(SOURCE)
    path = directory / name
    command("cc", "-O1", "-w", *options, "-o", path, source)
    return path


def stripped(directory, name):
    path = compile_spinner(directory, name, "-Wl,--build-id=none")
    command("strip", "--strip-all", path)
    return path


def add_section(path, name, contents):
    file = path.with_suffix(".section")
    file.write_bytes(contents)
    command("objcopy", "--add-section", f"{name}={file}", path)


def link_of(name, crc):
    text = name.encode() + b"\0"
    return text + bytes(-len(text) % 4) + struct.pack("<I", crc)


# --- one file each: made in a directory, called name -----------------------------------------------

def huge_debug_file(directory, name):
    """The debug file is sparse, and has 8 TB."""
    path = stripped(directory, name)
    add_section(path, ".gnu_debuglink", link_of(f"{name}.debug", 1))
    Elf(path).write(directory / f"{name}.debug", size=8 << 40)
    return path


def fifo_as_debug_file(directory, name):
    path = stripped(directory, name)
    add_section(path, ".gnu_debuglink", link_of(f"{name}.debug", 1))
    os.mkfifo(directory / f"{name}.debug")
    return path


def fifo_as_shared_debug_file(directory, name):
    """The shared part of its debug information, as moved by dwz(1), is a FIFO."""
    path = compile_spinner(directory, name, "-g")
    add_section(path, ".gnu_debugaltlink", f"{directory}/{name}.alt".encode() + bytes(1) + bytes(20))
    os.mkfifo(directory / f"{name}.alt")
    return path


def symbols(path, names, name_of):
    """Adds 100,000 symbols in the code of wide(), with names at the offsets name_of(i) into names."""
    elf = Elf(path)
    text = elf.header(elf.find(".text"))
    index = elf.find(".text")
    table = bytearray(24)
    for i in range(100000):
        table += struct.pack("<IBBHQQ", name_of(i), 0x12, 0, index, text[3] + 32 + 2 * i, 1)
    elf.replace(".symtab", table)
    elf.replace(".strtab", names)
    elf.write(path)
    return path


def one_long_name(directory, name):
    """All symbols have the same name of 16,000 letters."""
    path = compile_spinner(directory, name)
    return symbols(path, b"\0" + b"n" * 16000 + b"\0", lambda i: 1)


def names_in_names(directory, name):
    """Each symbol's name is the end of another one's, 8,000 letters on average."""
    path = compile_spinner(directory, name)
    return symbols(path, b"\0" + b"n" * 16000 + b"\0", lambda i: 1 + i % 16000)


def ten_million_symbols(directory, name):
    """A sparse symbol table of 2 GB."""
    path = compile_spinner(directory, name)
    elf = Elf(path)
    elf.replace(".symtab", b"")
    elf.claim(".symtab", (2 << 30) - 8)
    elf.write(path, size=4 << 30)
    return path


def absurd_segments(directory, name):
    """50 million program headers, in a file that takes a few KB on disk."""
    header = bytearray(struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1" + bytes(9), 3, 62, 1, 0, 4096, 64,
                                   0, 64, 56, 0xffff, 64, 1, 0))
    section = struct.pack("<IIQQQQIIQQ", 0, 0, 0, 0, 0, 0, 0, 50_000_000, 0, 0)
    path = directory / name
    path.write_bytes(header + section)
    os.truncate(path, 8 << 30)
    path.chmod(0o755)
    return path


def absurd_sections(directory, name):
    """A header that claims 2^40 sections."""
    path = compile_spinner(directory, name)
    elf = Elf(path)
    struct.pack_into("<H", elf.data, 60, 0)
    struct.pack_into("<Q", elf.data, elf.shoff + 32, 1 << 40)
    elf.write(path, size=8 << 40)
    return path


def packed_debug_information(directory, name):
    """.debug_info that unpacks to 1 GB."""
    path = compile_spinner(directory, name, "-g")
    packer, size = zlib.compressobj(1), 1 << 30
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(size >> 20)) + packer.flush()
    elf = Elf(path)
    elf.replace(".debug_info", struct.pack("<IIQQ", 1, 0, size, 1) + packed, flags=1 << 11)
    elf.write(path)
    return path


def packed_symbols(directory, name):
    """.gnu_debugdata that unpacks to 512 MB."""
    path = stripped(directory, name)
    packer = lzma.LZMACompressor(preset=0)
    packed = b"".join(packer.compress(bytes(1 << 20)) for _ in range(512)) + packer.flush()
    add_section(path, ".gnu_debugdata", packed)
    return path


def unit(abbreviations, entries):
    """A DWARF 4 unit, and its abbreviations."""
    body = struct.pack("<HIB", 4, 0, 8) + entries
    return struct.pack("<I", len(body)) + body, abbreviations + b"\0"


def with_debug_information(directory, name, info, abbreviations):
    path = compile_spinner(directory, name, "-g")
    elf = Elf(path)
    elf.replace(".debug_info", info)
    elf.replace(".debug_abbrev", abbreviations)
    elf.write(path)
    return path


def deep_entries(directory, name):
    """Lexical blocks nested a million deep."""
    info, abbreviations = unit(b"\1\x11\1\0\0" + b"\2\x0b\1\0\0", b"\1" + b"\2" * 1_000_000)
    return with_debug_information(directory, name, info, abbreviations)


def entries_in_circles(directory, name):
    """Functions that are each other's origin, and that are their own next sibling."""
    # DW_TAG_subprogram: DW_AT_abstract_origin DW_AT_sibling, both DW_FORM_ref4, with children
    info, abbreviations = unit(b"\1\x11\1\0\0" + b"\2\x2e\1\x31\x13\1\x13\0\0",
                               b"\1" + b"\2" + struct.pack("<II", 21, 12) + b"\2" +
                               struct.pack("<II", 12, 12) + b"\0\0\0")
    return with_debug_information(directory, name, info, abbreviations)


def endless_lines(directory, name):
    """A line table of 40 million lines."""
    path = compile_spinner(directory, name, "-g", "-gdwarf-4")
    elf = Elf(path)
    head = elf.header(elf.find(".debug_line"))
    old = elf.data[head[4]:head[4] + head[5]]
    prologue, = struct.unpack_from("<I", old, 6)
    program = old[:10 + prologue] + b"\1" * 40_000_000 + b"\0\1\1"
    struct.pack_into("<I", program, 0, len(program) - 4)
    elf.replace(".debug_line", program)
    elf.write(path)
    return path


def huge_dynamic_section(directory, name):
    """The dynamic section, which lists the needed libraries, is sparse and has 2 GB."""
    path = compile_spinner(directory, name)
    elf = Elf(path)
    elf.replace(".dynamic", b"")
    elf.claim(".dynamic", (2 << 30) - 16)
    elf.write(path, size=4 << 30)
    return path


def forged_debug_file(directory, name):
    """A file with the C library's build ID that names all of its code forged(), and the path where it is looked for."""
    libc = next(line.split()[-1] for line in open("/proc/self/maps", encoding="utf8") if "/libc.so.6" in line)
    notes = subprocess.run(["readelf", "-n", libc], stdout=subprocess.PIPE, text=True, check=True).stdout
    build_id = re.search(r"Build ID: ([0-9a-f]+)", notes)[1]
    path = directory / name
    command("objcopy", "--add-symbol", "forged=.text:0,function,global", libc, path)
    elf = Elf(path)
    text = elf.header(elf.find(".text"))
    table = bytearray(24)
    for address in range(text[3], text[3] + text[5], 64):
        table += struct.pack("<IBBHQQ", 1, 0x12, 0, elf.find(".text"), address, 64)
    elf.replace(".symtab", table)
    elf.replace(".strtab", b"\0forged\0")
    elf.write(path)
    return path, f"/usr/lib/debug/.build-id/{build_id[:2]}/{build_id[2:]}.debug"


# Files that harm readers of symbols, and files that harm only readers of debug information.
IN_SYMBOLS = [huge_debug_file, fifo_as_debug_file, one_long_name, names_in_names, ten_million_symbols,
              absurd_sections, packed_symbols]
IN_DEBUG_INFORMATION = [fifo_as_shared_debug_file, packed_debug_information, deep_entries,
                        entries_in_circles, endless_lines]


# Each instruction has its own unwind rule.
RULES = """
asm(".text\\n.globl ruled\\n.type ruled,@function\\nruled:\\n.cfi_startproc\\n"
    ".rept {n}\\nnop\\n.cfi_adjust_cfa_offset 8\\n.endr\\nret\\n.cfi_endproc\\n.size ruled, . - ruled");
"""


def many_rules(directory, name, n):
    """A spinner with n different unwind rules."""
    source, path = directory / f"{name}.c", directory / name
    source.write_text(RULES.format(n=n) + SOURCE)
    command("cc", "-O1", "-w", "-o", path, source)
    return path
