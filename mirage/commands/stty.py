"""Programs of a real machine that cannot work here (stty, shred, watch, sudo, mount, ptx ...): one clear line each."""
from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

WHY = {
    "stty": "'standard input': Inappropriate ioctl for device",
    "shred": "not available in this terminal: files have no sectors to overwrite; use rm",
    "watch": "not available in this terminal: there is no screen to repeat a command on; use a loop with sleep",
    "sudo": "not available in this terminal: there is one user, and what it may do is the policy's",
    "su": "not available in this terminal: there is one user",
    "mount": "not available in this terminal: mounts are made by its owner; see df for those there are",
    "umount": "not available in this terminal: mounts are made by its owner",
    "ptx": "not available in this terminal: permuted indexes are not supported; use grep -n or awk",
    "chroot": "not available in this terminal",
    "systemctl": "not available in this terminal: there are no services",
    "apt": "not available in this terminal: nothing can be installed",
    "top": "not available in this terminal: there is no screen; use ps",
}
for _name in ("apt-get", "pip", "pip3"):
    WHY[_name] = WHY["apt"]
STATUS = {"sudo": 1, "stty": 1}


def main(proc: Process) -> int:
    name = proc.name
    if "--help" in proc.argv[1:2]:
        proc.stdout.write(f"Usage: {name}\n{name}: {WHY.get(name, WHY['chroot'])}\n".encode())
        return 0
    if "--version" in proc.argv[1:2]:
        proc.stdout.write(f"{name} (Mirage)\n".encode())
        return 0
    proc.message(WHY.get(name, WHY["chroot"]))
    return 1
