# SPDX-License-Identifier: BSD-2-Clause
"""Recordings that other users have made or prepared, and damaged ones: no file of root's is deleted, exposed to others
or overwritten, and every reader ends."""

import contextlib
import json
import os
import random
import resource
import shutil
import sqlite3
import struct
import subprocess

import pytest

import tally
from tally import BUILD, NOBODY, once

pytestmark = [once, pytest.mark.skipif(os.geteuid() != 0, reason="makes files of another user")]

JOURNAL_MAGIC = bytes.fromhex("d9d505f920a163d7")
PAGE, SECTOR = 4096, 512


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A recording of two intervals, without other files next to it."""
    path = tmp_path_factory.mktemp("recorded") / "night.db"
    subprocess.run([BUILD / "record", "-o", path, "-d", "0.5", "-I", "200", "runqlat", "opensnoop"], check=True,
                   capture_output=True, timeout=tally.PATIENCE)
    return path


@pytest.fixture
def sticky(tmp_path):
    """A directory like /tmp: anybody may create files, but remove only their own."""
    tmp_path.chmod(0o755)
    for above in tmp_path.parents:
        if str(above) == "/tmp":
            break
        above.chmod(0o755)
    place = tmp_path / "sticky"
    place.mkdir()
    place.chmod(0o1777)
    return place


def hot_journal(path, named):
    """A rollback journal that SQLite plays back for path, after which it deletes the super-journal named there."""
    name = os.fsencode(named)
    pages = path.stat().st_size // PAGE
    header = struct.pack(">8sIIIII", JOURNAL_MAGIC, 0, 0, pages, SECTOR, PAGE).ljust(SECTOR, b"\0")
    trailer = struct.pack(">I", (1 << 30) // PAGE + 1) + name + struct.pack(">II", len(name), sum(name)) + JOURNAL_MAGIC
    beside = path.with_name(path.name + "-journal")
    beside.write_bytes(header + trailer)
    return beside


def to_nobody(*paths):
    for path in paths:
        os.chown(path, NOBODY, NOBODY)


def attack(place, recorded, whose):
    """A recording with a hot journal of another user next to it: (recording, victim)."""
    path, victim = place / "night.db", place.parent / "victim"
    shutil.copy(recorded, path)
    victim.write_text("the only copy\n")
    journal = hot_journal(path, victim)
    to_nobody(journal, *([path] if whose == "file" else []), *([place] if whose == "directory" else []))
    return path, victim


def test_the_attack_works_on_others(sticky, recorded):
    """Otherwise the next test could not fail."""
    path, victim = attack(sticky, recorded, "journal")
    with contextlib.closing(sqlite3.connect(path)) as db:
        db.execute("SELECT count(*) FROM interval").fetchall()
    assert not victim.exists()


def reader(tool, path):
    return {"show": ["show", path], "triage": ["triage", path], "diff": ["diff", f"{path}@-1m", f"{path}@-2m"],
            "record": ["record", "-o", path, "-d", "0.2", "-I", "100", "runqlat"]}[tool]


def run(*args, **kwargs):
    return subprocess.run([str(BUILD / "tally"), *map(str, args)], capture_output=True, text=True, check=False,
                          timeout=tally.PATIENCE, **kwargs)


@pytest.mark.parametrize("tool", ("show", "triage", "diff", "record"))
@pytest.mark.parametrize("whose", ("file", "journal", "directory"))
def test_no_file_is_deleted(sticky, recorded, tool, whose):
    path, victim = attack(sticky, recorded, whose)
    ended = run(*reader(tool, path))
    assert victim.read_text() == "the only copy\n", ended
    # A journal of others is ignored: the recording next to it is root's, and whole.
    assert (ended.returncode == 0) == (whose == "journal" and tool != "diff"), ended
    if whose == "file":
        assert "belongs to another user" in ended.stderr and (tool == "record" or "cp '" in ended.stderr), ended
    if whose == "directory":
        assert "other users can replace files in it" in ended.stderr, ended


def test_the_user_of_sudo_is_trusted(sticky):
    """sudo tally record -o FILE, in the user's own directory."""
    home = sticky / "home"
    home.mkdir()
    to_nobody(home)
    path = home / "night.db"
    assert run(*reader("record", path)).returncode != 0
    for tool in ("record", "show"):
        ended = run(*reader(tool, path), env={**os.environ, "SUDO_UID": str(NOBODY)})
        assert ended.returncode == 0, ended
    assert run(*reader("show", path), env={**os.environ, "SUDO_UID": "1"}).returncode != 0


def prepared(kind, place):
    """Files that another user makes before root records there."""
    path = place / "night.db"
    if kind == "empty":
        path.touch()
        path.chmod(0o666)
        to_nobody(path)
    elif kind == "link":
        path.symlink_to(place / "elsewhere.db")
        os.lchown(path, NOBODY, NOBODY)
    elif kind in ("wal", "shm"):
        beside = place / f"night.db-{kind}"
        beside.touch()
        beside.chmod(0o666)
        to_nobody(beside)
    elif kind == "open":
        place.chmod(0o777)
    elif kind == "hard link":
        (place / "other.db").write_bytes(b"")
        os.link(place / "other.db", path)
    return path


@pytest.mark.parametrize("kind", ("empty", "link", "wal", "shm", "open", "hard link"))
def test_nothing_is_recorded_into_what_others_made(sticky, kind):
    path = prepared(kind, sticky)
    before = {each: each.lstat().st_size for each in sticky.iterdir()}
    ended = run(*reader("record", path))
    assert ended.returncode != 0 and str(sticky) in ended.stderr, ended
    left = {each: each.lstat().st_size for each in sticky.iterdir()}
    left = {each: size for each, size in left.items() if each in before or size}
    assert left == before and not (sticky / "elsewhere.db").exists()


def test_a_recording_in_tmp(sticky, tool):
    """Without a file of others there: the recording belongs to the recorder alone, and can be read while it grows."""
    path = sticky / "night.db"
    assert run(*reader("record", path)).returncode == 0
    assert path.stat().st_mode & 0o777 == 0o600
    recorder = tool("-o", str(path), "-I", "100", "runqlat", tool="record")
    beside = [sticky / f"night.db-{each}" for each in ("wal", "shm")]
    assert all(each.stat().st_mode & 0o777 == 0o600 for each in beside)
    assert run("show", path).returncode == 0
    recorder.stop()
    assert run("show", path).returncode == 0


@pytest.mark.parametrize("text", ("", "no database\n", "SQLite format 3\0" + 4096 * "\0"), ids=("empty", "text", "damaged"))
@pytest.mark.parametrize("tool", ("show", "triage", "record"))
def test_nothing_is_left_beside_other_files(sticky, text, tool):
    path = sticky / "notes"
    path.write_text(text)
    ended = run(*reader(tool, path))
    assert (ended.returncode == 0) == (tool == "record" and not text), ended
    assert [each.name for each in sticky.iterdir()] == ["notes"]


def test_a_log_of_others_is_not_played_back(sticky, recorded):
    """Next to a database that has none: SQLite would write the log's pages into the file."""
    path = sticky / "plain.db"
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute("CREATE TABLE t (x)")
    whole = path.read_bytes()
    log = sticky / "plain.db-wal"
    made = recorded.with_name("other.db")
    shutil.copy(recorded, made)
    with contextlib.closing(sqlite3.connect(made)) as db:
        db.execute("PRAGMA wal_autocheckpoint = 0")
        db.execute("CREATE TABLE theirs (x)")
        db.commit()
        shutil.copy(f"{made}-wal", log)
    to_nobody(log)
    for tool in ("show", "record"):
        assert run(*reader(tool, path)).returncode != 0
    assert path.read_bytes() == whole and log.exists()


# --- contents --------------------------------------------------------------------------------------

def changed(recorded, place, *statements):
    path = place / "changed.db"
    shutil.copy(recorded, path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        for statement in statements:
            db.execute(statement)
    path.write_bytes(tally.without_checksums(path.read_bytes()))
    return path


ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i, i, i, i FROM n"


@pytest.mark.parametrize("tool", ("show", "triage", "record"))
@pytest.mark.parametrize("statements", (
    ("DROP TABLE interval", f"CREATE VIEW interval (id, recording, start_ns, duration_ns) AS {ENDLESS}"),
    ("CREATE TRIGGER t AFTER INSERT ON interval BEGIN "
     f"INSERT INTO interval (recording) SELECT i FROM ({ENDLESS}); END",),
    ("CREATE VIRTUAL TABLE v USING fts5(x)",),
), ids=("view", "trigger", "virtual table"))
def test_programs_in_the_file(recorded, tmp_path, tool, statements):
    path = changed(recorded, tmp_path, *statements)
    ended = run(*reader(tool, path))
    assert ended.returncode != 0 and "it was not made by tally record" in ended.stderr, ended


@pytest.mark.parametrize("line", (("show", "runqlat"), ("triage",)), ids=" ".join)
def test_a_large_cell(recorded, tmp_path, line):
    def limit():
        if not tally.SANITIZED:         # sanitizers reserve terabytes of addresses
            resource.setrlimit(resource.RLIMIT_AS, (1 << 30, 1 << 30))

    path = changed(recorded, tmp_path, "UPDATE head SET text = hex(zeroblob(100000000)) || id")
    ended = run(line[0], path, *line[1:], preexec_fn=limit)
    assert ended.returncode > 0 and "too big" in ended.stderr, ended


# Sets the title of a terminal.
STEERS = "\x1b]0;evil\x07"


def steering(value, build=lambda new: new):
    """Copies of a JSON value; in each, another text or member name steers the terminal."""
    if isinstance(value, str):
        yield build(value + STEERS)
    elif isinstance(value, list):
        for i, each in enumerate(value):
            yield from steering(each, lambda new, i=i: build(value[:i] + [new] + value[i + 1:]))
    elif isinstance(value, dict):
        for name, each in value.items():
            yield from steering(each, lambda new, name=name: build({**value, name: new}))
            yield build({name + STEERS if key == name else key: v for key, v in value.items()})


@pytest.fixture(scope="module")
def pictures(tmp_path_factory):
    """A recording with a histogram, a table and stacks."""
    path = tmp_path_factory.mktemp("pictures") / "night.db"
    subprocess.run([BUILD / "record", "-o", path, "-d", "0.3", "-I", "200", "runqlat --by comm", "syscount", "snap -g"],
                   check=True, capture_output=True, timeout=tally.PATIENCE)
    return path


def test_no_text_steers_the_terminal(pictures, tmp_path):
    """Even texts that are constants in tools, like the heading of a report, come from the file."""
    lines = ("runqlat",), ("syscount",), ("snap -g",)
    shown = [run("show", pictures, *line) for line in lines]
    assert all(each.returncode == 0 and each.stdout for each in shown), shown
    with contextlib.closing(sqlite3.connect(pictures)) as db:
        cells = [(table, column, text) for table, column in (("head", "text"), ("shape", "columns"))
                 for text, in db.execute(f"SELECT DISTINCT {column} FROM {table}")]
    texts = 0
    for table, column, text in cells:
        for other in steering(json.loads(text)):
            path = changed(pictures, tmp_path)
            with contextlib.closing(sqlite3.connect(path)) as db, db:
                db.execute(f"UPDATE {table} SET {column} = ? WHERE {column} = ?", (json.dumps(other), text))
            path.write_bytes(tally.without_checksums(path.read_bytes()))
            for line in lines:
                ended = run("show", path, *line)
                assert not set("\x1b\x07") & set(ended.stdout + ended.stderr), (other, ended)
            texts += 1
    assert texts > 50


def test_mutations(recorded, tmp_path):
    """Random bytes change: each reader ends by itself, by no signal."""
    whole, luck = tally.without_checksums(recorded.read_bytes()), random.Random(1)
    path = tmp_path / "mutated.db"
    for _ in range(60):
        bad = bytearray(whole)
        for _ in range(luck.choice((1, 8, 64))):
            bad[luck.randrange(len(bad))] = luck.randrange(256)
        if luck.random() < 0.2:
            del bad[luck.randrange(len(bad)):]
        path.write_bytes(bad)
        for tool in ("show", "triage"):
            ended = run(*reader(tool, path))
            assert ended.returncode >= 0 and "Sanitizer" not in ended.stderr, (tool, ended)


def test_reading_needs_no_place_to_write(recorded, tmp_path):
    """A finished recording can be read where nothing can be written."""
    place = tmp_path / "read-only"
    place.mkdir()
    shutil.copy(recorded, place / "night.db")
    line = f"mount --bind {place} {place} && mount -o remount,bind,ro {place} && exec {BUILD / 'show'} {place}/night.db"
    ended = subprocess.run(["unshare", "-m", "sh", "-c", line], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended
