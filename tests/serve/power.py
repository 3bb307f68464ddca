"""A disk that loses its power: what was written and not synced may be gone, block by block.

A library that is loaded into the program (LD_PRELOAD; made with `cc`) keeps a copy of a database and of its write-ahead
log as they are at each fsync and fdatasync. After a kill each block is the one of that copy, or the newer one.
"""
from __future__ import annotations

import os
import random
import shutil
import subprocess
from pathlib import Path

BLOCK = 4096
LIBRARY = r"""
#define _GNU_SOURCE
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static int synced(int fd, const char *function) {
    int (*real)(int) = (int (*)(int)) dlsym(RTLD_NEXT, function);
    static char place[4096], fresh[4200], kept[4200], buffer[1 << 16];
    char link[64];
    const char *folder = getenv("KEPT");
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    pthread_mutex_lock(&lock);
    ssize_t n = readlink(link, place, sizeof place - 1);
    place[n > 0 ? n : 0] = 0;
    char *name = strrchr(place, '/'), *end = place + strlen(place);
    int ours = folder && name && (!strcmp(end - 3, ".db") || !strcmp(end - 4, "-wal"));
    if (ours) {
        snprintf(kept, sizeof kept, "%s%s", folder, name);
        snprintf(fresh, sizeof fresh, "%s.new", kept);
        int copy = open(fresh, O_CREAT | O_TRUNC | O_WRONLY, 0600);
        for (off_t at = 0; (n = pread(fd, buffer, sizeof buffer, at)) > 0; at += n)
            if (write(copy, buffer, n) != n) abort();
        close(copy);
    }
    int status = real(fd);
    if (ours && !status) rename(fresh, kept);
    pthread_mutex_unlock(&lock);
    return status;
}

int fsync(int fd) { return synced(fd, "fsync"); }
int fdatasync(int fd) { return synced(fd, "fdatasync"); }
"""


class Disk:
    """`environment` is for the program whose disk it is; all in `folder`."""

    def __init__(self, folder: Path) -> None:
        self.kept = folder / "kept"
        self.kept.mkdir()
        source, library = folder / "disk.c", folder / "disk.so"
        source.write_text(LIBRARY)
        subprocess.run(["cc", "-shared", "-fPIC", "-O1", "-o", library, source, "-ldl", "-lpthread"], check=True)
        self.environment = {"LD_PRELOAD": os.fspath(library), "KEPT": os.fspath(self.kept)}

    def keep(self, database: Path) -> None:
        """A database that was closed before: all of it is on the disk."""
        shutil.copy(database, self.kept)

    def after_a_loss_of_power(self, database: Path, target: Path, rest: random.Random) -> None:
        """Make `target` what the database, whose program was killed, may be then."""
        for ending in ("", "-wal"):
            old, now = ((place.read_bytes() if place.exists() else b"")
                        for place in (self.kept / f"{database.name}{ending}", Path(f"{database}{ending}")))
            size = rest.choice((len(old), max(len(old), len(now))))
            blocks = []
            for at in range(0, size, BLOCK):
                block = rest.choice((old, now))[at:at + BLOCK] or old[at:at + BLOCK]
                blocks.append(block.ljust(min(BLOCK, size - at), b"\0"))
            Path(f"{target}{ending}").write_bytes(b"".join(blocks))
