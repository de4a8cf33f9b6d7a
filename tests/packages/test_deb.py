# SPDX-License-Identifier: BSD-2-Clause
"""The Debian package, built, installed and removed in roots of their own: TALLY_SUITES, or bookworm and trixie."""
import os
import pathlib
import re
import shutil
import subprocess

import pytest

ROOT = pathlib.Path(__file__).resolve().parents[2]
HERE = ROOT / "tests" / "packages"
ROOTS = ROOT / "build" / "packages"
SUITES = os.environ.get("TALLY_SUITES", "bookworm trixie").split()

pytestmark = pytest.mark.skipif(os.geteuid() != 0, reason="roots are made by root")


def said(*command, **options):
    result = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return result.stdout


def within(root, *command):
    return said(HERE / "within", root, *command)


def build_dependencies():
    """The first of each set of alternatives, as Debian's own builders take them."""
    control = (ROOT / "packaging" / "debian" / "control").read_text()
    field = re.search(r"^Build-Depends:((?:.|\n )*)", control, re.MULTILINE)[1]
    names = [re.split(r"[ |(]", item.strip())[0] for item in field.split(",")]
    return [name.replace("debhelper-compat", "debhelper") for name in names]


def root_of(suite, name, *packages):
    """A root with exactly these packages, created if there is none yet."""
    root, list_of = ROOTS / f"{suite}-{name}", ROOTS / f"{suite}-{name}.packages"
    wanted = "\n".join(packages) + "\n"
    if not (root.exists() and list_of.exists() and list_of.read_text() == wanted):
        said(HERE / "root", suite, root, *packages)
        list_of.write_text(wanted)
    return root


def build(root, tarball, name, *environment):
    """The packages, built from the tarball by its own script alone."""
    folder = root / "srv" / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    shutil.copy(tarball, folder)
    shutil.copy(ROOT / "packaging" / "deb", folder)
    inside = pathlib.Path("/srv") / name
    within(root, "env", *environment, inside / "deb", inside / tarball.name, inside / "out")
    return folder / "out"


@pytest.fixture(scope="module")
def tarball(tmp_path_factory):
    folder = tmp_path_factory.mktemp("tarball")
    said(ROOT / "packaging" / "dist", folder, "source")
    return next(folder.glob("*.tar.gz"))


@pytest.fixture(scope="module", params=SUITES)
def suite(request):
    return request.param


@pytest.fixture(scope="module")
def built(suite, tarball):
    root = root_of(suite, "build", "build-essential", *build_dependencies())
    return build(root, tarball, "first", f"DEB_BUILD_OPTIONS=parallel={os.cpu_count()}")


def package(folder):
    return next(folder.glob("tally_*.deb"))


def field(folder, name):
    return said("dpkg-deb", "-f", package(folder), name).strip()


def test_lintian(built):
    assert said("lintian", "--allow-root", "--fail-on", "warning,error", next(built.glob("*.changes"))) == ""


def test_dependencies(built, suite):
    needed = set(re.findall(r"(\S+)(?: \(.*?\))?(?:, |$)", field(built, "Depends")))
    names = {re.sub(r"t64$", "", name) for name in needed}
    assert {re.sub(r"\d+$", "", name) for name in names} == {
        "libbpf", "libc", "libcapstone", "libdw", "libelf", "libjansson", "liblzma", "zlib1g"}
    microhttpd, sqlite = field(built, "Recommends").split(", ")
    assert microhttpd.startswith("libmicrohttpd12") and sqlite == "libsqlite3-0"


def test_every_tool_has_its_page(built):
    """Each page in the sources, under its name here: plain words are pages of tally."""
    listed = [line.split()[5] for line in said("dpkg-deb", "-c", package(built)).splitlines()]
    pages = [path.rpartition("/")[2] for path in listed if path.startswith("./usr/share/man/man1/") and path[-1] != "/"]
    written = {path.name.removesuffix(".1.scd") for path in (ROOT / "docs/man").glob("*.1.scd")}
    assert {page.removesuffix(".1.gz").removeprefix("tally-") for page in pages} == \
        {name.removeprefix("tally-") for name in written}
    links = {path.rpartition("/")[2] for path in listed if path.startswith("./usr/libexec/tally/")} - {""}
    assert links == {name for name in written if not name.startswith("tally")}


def paths(root):
    """All paths, except those where package managers keep their records."""
    books = {"/proc", "/sys", "/dev", "/tmp", "/srv", "/var/lib/dpkg", "/var/lib/apt", "/var/cache", "/var/log"}
    found = set()
    for folder, folders, files in os.walk(root):
        inside = "/" + os.path.relpath(folder, root)
        folders[:] = [name for name in folders if os.path.normpath(f"{inside}/{name}").replace("//", "/") not in books]
        found.update(os.path.normpath(f"{inside}/{name}") for name in (*folders, *files))
    return found


def owned(root):
    """Files of packages that are still installed: the libraries that came with tally."""
    lists = (path.read_text().split("\n") for path in root.glob("var/lib/dpkg/info/*.list"))
    files = {file for each in lists for file in each}
    return files | {"/usr" + file for file in files}


def test_installs_runs_and_leaves_nothing(built, suite, tmp_path):
    root = tmp_path / "root"
    said("cp", "-a", root_of(suite, "base"), root)
    shutil.copy(package(built), root / "srv" / "tally.deb")
    before = paths(root)
    shutil.copy("/etc/resolv.conf", root / "etc" / "resolv.conf")
    within(root, "apt-get", "-qq", "update")
    within(root, "apt-get", "-qq", "-y", "install", "/srv/tally.deb")

    assert (root / "usr/share/zsh/vendor-completions/_tally").read_text().startswith("#compdef tally ")
    for name in ("tally", "runqlat"):
        for place in (
            f"usr/share/fish/vendor_completions.d/{name}.fish",
            f"usr/share/bash-completion/completions/{name}",
        ):
            assert "--complete" in (root / place).read_text()
    assert not (root / "usr/share/zsh/site-functions").exists()

    assert within(root, "tally", "--version").strip() == "tally " + field(built, "Version").rpartition("-")[0]
    report = within(root, "tally", "runqlat", "1", "1")
    assert f"kernel {os.uname().release.partition('-')[0]}" in report
    assert int(re.search(r"^events ([\d,]+)", report, re.MULTILINE)[1].replace(",", "")) > 0
    # The library that --listen loads.
    assert list(root.glob("usr/lib/*/libmicrohttpd.so.12*"))

    within(root, "apt-get", "-qq", "-y", "purge", "tally")
    left = paths(root) - before - owned(root) - {"/etc/resolv.conf"}
    assert not left and before <= paths(root)


def test_is_the_same_again(built, suite, tarball):
    """In another folder, at another time, with one job, in another time zone."""
    again = build(root_of(suite, "build", "build-essential", *build_dependencies()), tarball, "second",
                  "DEB_BUILD_OPTIONS=parallel=1", "TZ=Asia/Tokyo", "LANG=C", "USER=somebody")
    first = {path.name: path.read_bytes() for path in built.glob("*.deb")}
    assert len(first) == 2                      # tally-dbgsym, too
    assert {path.name: path.read_bytes() for path in again.glob("*.deb")} == first
