"""What the wheel and the sdist hold, and that a folder of the checkout is a room of `mirage` and nothing else."""
from __future__ import annotations

import configparser
import os
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest

from mirage.bench import environment

ROOT = Path(__file__).resolve().parents[2]
ROOMS = ("mounts", "clis", "policies", "vfsmd", "bench")

pytest.importorskip("hatchling")


def build(source: Path, into: Path, target: str) -> Path:
    subprocess.run([sys.executable, "-m", "hatchling", "build", "-d", into, "-t", target], cwd=source, check=True, capture_output=True)
    (made,) = into.glob("*.whl" if target == "wheel" else "*.tar.gz")
    return made


def files_of(wheel: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        assert len(names) == len(set(names))
        return {name: archive.read(name) for name in names}


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return build(ROOT, tmp_path_factory.mktemp("wheel"), "wheel")


@pytest.fixture(scope="module")
def sdist(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The sdist, unpacked."""
    folder = tmp_path_factory.mktemp("sdist")
    with tarfile.open(build(ROOT, folder, "sdist")) as archive:
        archive.extractall(folder, **({"filter": "data"} if hasattr(tarfile, "data_filter") else {}))
    (unpacked,) = [path for path in folder.iterdir() if path.is_dir()]
    return unpacked


def sources() -> set[str]:
    """Every file of the package, the linked rooms followed."""
    found = set()
    for folder, folders, names in os.walk(ROOT / "mirage", followlinks=True):
        folders[:] = [name for name in folders if not name.startswith((".", "__pycache__"))]
        found.update(str(Path(folder, name).relative_to(ROOT)) for name in names if not name.endswith(".pyc"))
    return found


def test_the_wheel_holds_every_file_of_the_package_once_and_nothing_else(wheel: Path) -> None:
    names = set(files_of(wheel))
    package = {name for name in names if name.startswith("mirage/")}
    assert package == sources()
    assert {name.split("/")[0] for name in names - package} == {"mirage_terminal-0.1.0.dist-info"}
    for name in ("mirage/py.typed", "mirage/mounts/memory/__init__.py", "mirage/policies/read-only.yaml",
                 "mirage/bench/demo/docs/company/README.txt", "mirage/vfsmd/vfs.py", "mirage/clis/mail.py"):
        assert name in package


def test_nothing_made_from_bashlex_is_shipped(wheel: Path) -> None:
    from mirage.shell import grammar
    assert grammar.load()                                    # the tables are in the user's cache now
    for name, data in files_of(wheel).items():
        assert not name.endswith((".tab", ".pickle", ".marshal")) and "parsetab" not in name, name
        assert b"_lr_action" not in data or name.endswith((".py", ".md")), name
        assert b"def p_simple_command(" not in data, name    # a production as bashlex writes it


def test_metadata(wheel: Path) -> None:
    files = files_of(wheel)
    info = "mirage_terminal-0.1.0.dist-info/"
    assert files[info + "licenses/LICENSE"] == (ROOT / "LICENSE").read_bytes()
    assert files[info + "licenses/NOTICE"] == (ROOT / "NOTICE").read_bytes()
    points = configparser.ConfigParser()
    points.read_string(files[info + "entry_points.txt"].decode())
    assert points["console_scripts"]["mirage"] == "mirage.console.main:main"
    metadata = files[info + "METADATA"].decode()
    extras = {line.split(": ")[1] for line in metadata.splitlines() if line.startswith("Provides-Extra: ")}
    assert {"gmail", "demo", "all", "dev"} <= extras
    assert "Requires-Python: >=3.11" in metadata and "License-Expression: Apache-2.0" in metadata


def test_the_sdist_is_complete_and_gives_the_same_wheel(wheel: Path, sdist: Path, tmp_path: Path) -> None:
    for name in ("README.md", "CHANGELOG.md", "LICENSE", "NOTICE", "Makefile", "pyproject.toml", "tools/make-venv.sh", "docs/policy.md",
                 "tests/packaging/test_distributions.py", ".ci/run", *(f"mirage/{room}/__init__.py" for room in ROOMS)):
        assert (sdist / name).is_file(), name
    assert not [path for path in sdist.rglob("*") if path.is_symlink()]
    again, first = files_of(build(sdist, tmp_path, "wheel")), files_of(wheel)
    record = "mirage_terminal-0.1.0.dist-info/RECORD"
    assert sorted(again) == sorted(first)
    assert {name for name in first if name != record and first[name] != again[name]} == set()


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_has_no_second_name(room: str, tmp_path: Path) -> None:
    def imported(folder: Path) -> str:
        done = subprocess.run([sys.executable, "-c", f"import {room}"], cwd=folder, capture_output=True, text=True, check=False)
        assert done.returncode == 1
        return done.stderr.splitlines()[-1]

    assert imported(ROOT) == f"ImportError: import mirage.{room} instead of {room}: the folder is a room of the package mirage"
    assert imported(tmp_path) == f"ModuleNotFoundError: No module named '{room}'"


def test_the_linters_see_each_file_once() -> None:
    def unique(paths: list[Path]) -> None:
        real = [path.resolve() for path in paths]
        twice = {path for path in real if real.count(path) > 1}
        assert not twice and len(real) > 200

    listed = subprocess.run([sys.executable, "-m", "ruff", "check", ".", "--show-files"], cwd=ROOT, capture_output=True, text=True, check=True)
    unique([Path(line) for line in listed.stdout.splitlines()])
    from mypy.fscache import FileSystemCache
    from mypy.modulefinder import FindModuleCache, SearchPaths
    from mypy.options import Options
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["mypy"]
    options = Options()
    options.exclude = settings["exclude"]
    finder = FindModuleCache(SearchPaths((str(ROOT),), (), (), ()), FileSystemCache(), options)
    found = [source for package in settings["packages"] for source in finder.find_modules_recursive(package)]
    unique([Path(source.path) for source in found if source.path])
    assert {source.module.split(".")[1] for source in found if "." in source.module} >= set(ROOMS)


@pytest.mark.slow
def test_an_installed_wheel_without_extras(wheel: Path, tmp_path: Path) -> None:
    """pip installs it into a fresh environment; `mirage` works there, and the demo says what it needs."""
    python = environment.create(tmp_path / "env")
    install = subprocess.run([python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", wheel], capture_output=True, text=True, check=False)
    if install.returncode and ("No matching distribution" in install.stderr or "connection" in install.stderr.lower()):
        pytest.skip("pip cannot reach a package index")
    assert install.returncode == 0, install.stderr

    def mirage(*arguments: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run([python.with_name("mirage"), *arguments], cwd=tmp_path, capture_output=True, text=True, check=False)

    (tmp_path / "a.yaml").write_text("mounts: {/src: {provider: host, dir: .}}\npolicy: no-secrets\n")
    assert mirage("exec", "echo hi | tr a-z A-Z").stdout == "HI\n"
    assert mirage("-f", "a.yaml", "ls /src/*.yaml; head -1 /VFS.md").stdout == "/src/a.yaml\n---\n"
    demo = mirage("demo", "exec", "ls /")
    assert demo.returncode == 2 and "pip install 'mirage-terminal[demo]'" in demo.stderr
    for room in ROOMS:
        assert subprocess.run([python, "-c", f"import {room}"], cwd=tmp_path, capture_output=True, check=False).returncode == 1
