# SPDX-License-Identifier: BSD-2-Clause
"""The version of a release, and the contents of its tarball."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import tarfile

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
BUILD = ROOT / "build"


def said(*command, **options):
    return subprocess.run(command, check=True, capture_output=True, text=True, **options).stdout.strip()


# --- versions ------------------------------------------------------------------------------------

@pytest.fixture
def tree(tmp_path):
    """A repository with the script that prints versions, and a commit with a known date."""
    if not shutil.which("git"):
        pytest.skip("needs git")
    tree = tmp_path / "tree"
    (tree / "packaging").mkdir(parents=True)
    shutil.copy(ROOT / "packaging" / "version", tree / "packaging")
    git(tree, "init")
    git(tree, "add", ".")
    git(tree, "commit", "-m", "first")
    return tree


def git(tree, *args):
    who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER")
           for what, value in (("NAME", "n"), ("EMAIL", "e@example.org"), ("DATE", "2024-02-29T23:30:00-0500"))}
    return said("git", "-C", tree, *args, env={"PATH": "/usr/bin:/bin", "HOME": "/", **who})


def version(tree):
    return said(tree / "packaging" / "version", cwd="/")


def release():
    return re.search(r"^release=(\S+)$", (ROOT / "packaging" / "version").read_text(), re.MULTILINE)[1]


def test_version_of_a_commit(tree):
    commit = git(tree, "rev-parse", "--short=8", "HEAD")
    assert version(tree) == f"{release()}~git20240301.{commit}"
    with open(tree / "packaging" / "version", "a") as file:
        file.write("# changed\n")
    assert version(tree) == f"{release()}~git20240301.{commit}.dirty"


def test_version_of_a_tag(tree):
    git(tree, "tag", "another")
    assert "~git" in version(tree)
    git(tree, "tag", "v" + release())
    assert version(tree) == release()
    with open(tree / "packaging" / "version", "a") as file:
        file.write("# changed\n")
    assert version(tree).endswith(".dirty")


def test_version_without_git(tree):
    """A folder inside another repository ignores that one; a tarball has the version that it was made from."""
    inner = tree / "inner"
    shutil.copytree(tree / "packaging", inner / "packaging")
    assert version(inner) == release()
    (inner / "VERSION").write_text("7.8.9~git1.a\n")
    assert version(inner) == "7.8.9~git1.a"


def test_version_that_tally_prints(tmp_path):
    header = tmp_path / "skel" / "version.h"
    said("make", "-s", "-C", ROOT, f"BUILD={tmp_path}", header)
    assert header.read_text() == f'#define TALLY_VERSION "{version(ROOT)}"\n'
    built = (BUILD / "skel" / "version.h").read_text().split('"')[1]
    assert said(BUILD / "tally", "--version") == f"tally {built}"


def test_changes_name_the_release():
    headings = re.findall(r"^## \[(.+?)\]", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)
    assert headings and headings[0] in ("Unreleased", release())


# --- compile_commands.json -------------------------------------------------------------------------

@pytest.fixture(scope="module")
def commands():
    said("make", "-C", ROOT, "compile_commands.json")
    return json.loads((ROOT / "compile_commands.json").read_text())


def test_each_source_has_a_command(commands):
    assert all(pathlib.Path(each["directory"]) == ROOT for each in commands)
    files = [each["file"] for each in commands]
    assert len(files) == len(set(files))
    sources = {str(path.relative_to(ROOT)) for folder in ("bpf", "tools", "user", "tests/unit")
               for path in (ROOT / folder).rglob("*.c")}
    assert set(files) == sources


@pytest.mark.parametrize("file", ("bpf/sched/runqlat.bpf.c", "tools/sched/runqlat.c", "tools/tally.c", "tests/unit/test_glob.c"))
def test_commands_compile(commands, file):
    command, = (each for each in commands if each["file"] == file)
    said(*command["command"].split(), "-fsyntax-only", cwd=command["directory"])


# --- the tarball -----------------------------------------------------------------------------------

def make_tarball(folder, **environment):
    said(ROOT / "packaging" / "dist", folder, "source", env={**os.environ, **environment})
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    if not (ROOT / ".git").exists():
        pytest.skip("tarballs are made from a git checkout")
    return make_tarball(tmp_path_factory.mktemp("tarball"))


def test_tarball_has_what_git_knows(tarball):
    name = tarball.name.removesuffix(".tar.gz")
    with tarfile.open(tarball) as tar:
        members = [member for member in tar if not member.isdir()]
        assert tar.extractfile(f"{name}/VERSION").read().decode() == f"{version(ROOT)}\n"
    assert name == "tally-" + version(ROOT)
    known = said("git", "-C", ROOT, "ls-files", "-z").strip("\0").split("\0")
    assert {member.name for member in members} == {f"{name}/{path}" for path in [*known, "VERSION"]}
    assert {(member.uid, member.gid, member.mode & ~0o111) for member in members} == {(0, 0, 0o644)}
    assert len({member.mtime for member in members}) == 1


def test_tarball_is_the_same_again(tarball, tmp_path):
    """At another time, with new files readable by nobody else, and in another language."""
    clone = tmp_path / "clone"
    shutil.copytree(ROOT / ".git", clone / ".git")
    subprocess.run(["sh", "-c", f"umask 077 && git ls-files -z | tar --null -T - -c | tar -x --touch -C '{clone}'"],
                   cwd=ROOT, check=True)
    again = tmp_path / "again"
    said("sh", "-c", f"umask 077 && packaging/dist '{again}' source", cwd=clone,
         env={**os.environ, "LANG": "C.UTF-8", "TZ": "Asia/Tokyo"})
    assert (again / tarball.name).read_bytes() == tarball.read_bytes()


def test_tarball_lacks_nothing(tarball, tmp_path):
    """make -n needs each file that the build reads, and a rule for each that it makes."""
    with tarfile.open(tarball) as tar:
        tar.extractall(tmp_path)
    tree, = tmp_path.iterdir()
    planned = said("make", "-n", "V=1", "all", "man", "unit", "triggers", cwd=tree)
    assert planned.count("-target bpf") == len(list((ROOT / "bpf").rglob("*.bpf.c")))


def test_sums(tarball):
    said("sha256sum", "--check", "--strict", "SHA256SUMS", cwd=tarball.parent)
