"""An emulator of others that knows a little of Drive: folders, content, uploads, moving; no search, rights or documents."""
from __future__ import annotations

import os
import shutil
import socket
import subprocess
import time
import urllib.error
import urllib.request

import pytest

from mirage import Terminal
from mirage.clis.gdrive import DriveCli
from mirage.mounts.gdrive.mount import Drive
from tests.mounts.gdrive_support import QUICK, Token

pytestmark = pytest.mark.judge
SEED = """\
tokens:
  ya29_judge: {login: mara@norrsken.example}
google:
  users: [{email: mara@norrsken.example, name: Mara}]
  drive_items:
    - {id: drv_docs, user_email: mara@norrsken.example, name: "Docs / 2026", mime_type: application/vnd.google-apps.folder, parent_ids: [root]}
    - {id: drv_plan, user_email: mara@norrsken.example, name: Plan, mime_type: application/vnd.google-apps.document, parent_ids: [drv_docs]}
    - {id: drv_empty, user_email: mara@norrsken.example, name: empty.txt, mime_type: text/plain, parent_ids: [drv_docs]}
"""


@pytest.fixture
def emulator(tmp_path):
    """emulate 0.11.2: it runs on Node 20."""
    if shutil.which("npm") is None or shutil.which("node") is None:
        pytest.skip("node and npm are not installed")
    install = ["npm", "install", "--silent", "--ignore-scripts", "--no-audit", "--prefix", str(tmp_path), "emulate@0.11.2"]
    if subprocess.run(install, capture_output=True, timeout=600).returncode:
        pytest.skip("npm cannot install emulate here")
    (tmp_path / "seed.yaml").write_text(SEED)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    command = ["node", str(tmp_path / "node_modules" / "emulate" / "dist" / "index.js"), "start", "--service", "google", "--port", str(port),
               "--seed", str(tmp_path / "seed.yaml")]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env={**os.environ, "NO_COLOR": "1"})
    try:
        for _ in range(100):
            try:
                urllib.request.urlopen(f"http://127.0.0.1:{port}/drive/v3/files", timeout=2)
            except urllib.error.HTTPError:
                break
            except OSError:
                time.sleep(0.1)
                if process.poll() is not None:
                    pytest.skip("the emulator does not start here")
        yield f"http://127.0.0.1:{port}"
    finally:
        process.terminate()
        process.wait(10)


def test_another_emulator(emulator):
    mount = Drive(Token("ya29_judge"), endpoint=emulator, rate=0.0)
    mount.client.retry = QUICK
    with Terminal({"/gd": mount}, clis=[DriveCli(mount)]) as terminal:
        for line, wanted in (
                ("ls /gd '/gd/Docs _ 2026'", "/gd:\nDocs _ 2026\n\n/gd/Docs _ 2026:\nPlan.gdoc.json\nPlan.md\nempty.txt\n"),
                ("printf 'eins\\r\\nzwei ä\\n' > a.txt; gdrive upload-file --path a.txt --parent_id '/gd/Docs _ 2026' | jq -r .path", "/gd/Docs _ 2026/a.txt\n"),
                ("cmp a.txt '/gd/Docs _ 2026/a.txt' && stat -c %s '/gd/Docs _ 2026/a.txt'", "14\n"),
                ("gdrive create-folder --name New | jq -r .path; ls /gd", "/gd/New\nDocs _ 2026\nNew\n"),
                ("gdrive move-file --file_id '/gd/Docs _ 2026/a.txt' --folder_id /gd/New | jq -r .path; ls /gd/New '/gd/Docs _ 2026'",
                 "/gd/New/a.txt\n/gd/Docs _ 2026:\nPlan.gdoc.json\nPlan.md\nempty.txt\n\n/gd/New:\na.txt\n"),
                ("gdrive rename-file --file_id /gd/New/a.txt --name b.txt | jq -r .path; tail -c 3 /gd/New/b.txt", "/gd/New/b.txt\nä\n"),
                ("grep -r --exact zwei /gd/New", "/gd/New/b.txt:zwei ä\n"),
                ("gdrive get-file --file_id /gd/New/b.txt | jq -r .name; gdrive list-files --folder_id /gd/New | jq '.files|length'", "b.txt\n1\n")):
            result = terminal.run(line)
            assert (result.stdout, result.stderr) == (wanted, ""), line
        result = terminal.run("cat '/gd/Docs _ 2026/Plan.md'; ls /gd/none")
        assert result.stdout == "" and "mirage: gdrive: " in result.stderr
