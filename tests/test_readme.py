"""The documentation does what it says: its Python runs, its console output is what comes out."""
from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

ROOT = Path(__file__).resolve().parents[1]
PAGES = ("README.md", *sorted(f"docs/{page.name}" for page in (ROOT / "docs").glob("*.md")))


def blocks(kind: str) -> list[tuple[str, int, str]]:
    """(page, line, text) of each block of that kind."""
    found = []
    for page in PAGES:
        text = (ROOT / page).read_text(encoding="utf-8")
        for match in re.finditer(rf"^```{kind}\n(.*?)^```$", text, re.M | re.S):
            found.append((page, text.count("\n", 0, match.start()) + 1, match.group(1)))
    return found


@pytest.mark.parametrize(("page", "line", "code"), [pytest.param(*b, id=f"{b[0]}:{b[1]}") for b in blocks("python")])
def test_python(page: str, line: int, code: str, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("x = 1  # TODO: more\n")
    (tmp_path / "project").mkdir()
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    assert "TODO" not in code or done.stdout.strip() == "/src/a.py:1:x = 1  # TODO: more"


@pytest.mark.parametrize(("page", "line", "text"), [pytest.param(*b, id=f"{b[0]}:{b[1]}") for b in blocks("console")])
def test_console(page: str, line: int, text: str, tmp_path: Path) -> None:
    pytest.importorskip("googleapiclient")
    for command, output in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", text, re.M):
        program = command.replace("mirage ", f"{sys.executable} -m mirage.console ", 1)
        done = subprocess.run(["sh", "-c", program], cwd=tmp_path, capture_output=True, text=True, timeout=60, check=False)
        assert done.stdout + done.stderr == output and output


@pytest.mark.parametrize(("page", "line", "text"), [pytest.param(*b, id=f"{b[0]}:{b[1]}") for b in blocks("yaml")])
def test_yaml(page: str, line: int, text: str) -> None:
    """A configuration, a policy, or the declaration of a service (which has its own test)."""
    from mirage.config import Config
    from mirage.policy import Policy
    data = yaml.safe_load(text)
    if set(data) <= set(Config.model_fields):
        Config.model_validate(data)
    elif "tree" not in data:
        Policy.load(text)


def slug(title: str) -> str:
    """The anchor that a heading gets."""
    return re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")


def test_every_page_is_in_the_index_and_every_link_leads_somewhere() -> None:
    index = (ROOT / "docs/README.md").read_text(encoding="utf-8")
    for page in sorted((ROOT / "docs").glob("*.md")):
        assert page.name == "README.md" or f"({page.name})" in index
    for page in [ROOT / "README.md", *(ROOT / "docs").glob("*.md")]:
        for target, heading in re.findall(r"\]\(([^)#:]*)(?:#([^)]*))?\)", page.read_text(encoding="utf-8")):
            if heading:
                text = (page.parent / target if target else page).read_text(encoding="utf-8")
                assert heading in [slug(title) for title in re.findall(r"^#+ (.*)$", text, re.M)], f"{page.name}: {target}#{heading}"
            assert not target or (page.parent / target).exists() or target == "docs/conformance.md" or target == "conformance.md", f"{page.name}: {target}"
