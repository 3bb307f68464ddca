"""`vfs init`, `integrity`, `backup`, `materialize`, `migrate`."""
from __future__ import annotations

import contextlib
import errno
import json
import os
import sys
from pathlib import Path

from mirage.console.vfs.model import Failure, UsageError
from mirage.console.vfs.opening import FOLDER, is_id, locate, open_database, secret
from mirage.console.vfs.progress import bar

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.console.vfs.model import Parsed
    from mirage.mounts.vfs import Vfs
    from mirage.mounts.vfs.secret import Secret


def init(parsed: Parsed) -> int:
    from mirage.mounts.vfs import Vfs, maintenance
    from mirage.mounts.vfs.users import user
    for name in parsed.values:
        if name.startswith("sync_"):
            raise Failure("sync is not available in this version")
    if parsed.get("command"):
        from mirage.console.vfs.mounting import check_backend
        check_backend(parsed)
    id = parsed.get("ID")
    if id is None:
        import uuid
        id = str(uuid.uuid4())
    if not is_id(id):
        raise Failure(f"'{id}' is no agent identifier: letters, digits, - and _")
    base = parsed.get("base")
    if base is not None:
        if not os.path.isdir(base):
            raise Failure(f"the base directory '{base}' does not exist")
        base = os.path.realpath(base)
    secret(parsed)
    path = os.path.join(FOLDER, id + ".db")
    if os.path.exists(path):
        if not parsed.get("force"):
            raise Failure(f"{path} exists already (--force overwrites it)")
        number = user(path)
        if number is not None:
            raise Failure(f"{path} is in use by process {number}, which may have it mounted; end that first")
        for ending in ("", *maintenance.SIDECARS):
            Path(path + ending).unlink(missing_ok=True)
    os.makedirs(FOLDER, exist_ok=True)
    with Vfs(path, key=parsed.get("key"), cipher=parsed.get("cipher")) as vfs:
        if base is not None:
            maintenance.set_base(vfs, base)
        vfs.sync()
    print(f"Created agent filesystem: {path}\nAgent ID: {id}")
    if base is not None:
        print(f"Base: {base}")
    if parsed.get("command"):
        from mirage.console.vfs.mounting import run_inside
        sys.stdout.flush()
        parsed.values["ID_OR_PATH"] = path
        return run_inside(parsed, ["/bin/sh", "-c", parsed.get("command")])
    return 0


def integrity(parsed: Parsed) -> int:
    from mirage.mounts.vfs import maintenance
    from mirage.mounts.vfs.integrity import Problem, check, partial_files, repair
    path = locate(parsed.get("ID_OR_PATH"))
    done = False
    with open_database(parsed) as vfs:
        if parsed.get("repair"):
            repaired = repair(vfs.db)
            if repaired and not parsed.get("json"):
                print(f"repaired: {repaired} rows removed")
        with bar("Checking") as progress:
            problems = check(vfs.db, progress)
        harmful = [p for p in problems if not p.repairable]
        partial = 0 if any(p.check == "sqlite" for p in problems) else partial_files(vfs.db)
        if parsed.get("require_portable") and partial:
            harmful.append(Problem("portable", f"{partial} files need the base directory for a part of their content"))
        if parsed.get("check_base") and not harmful:
            harmful.extend(Problem("base", text) for text in _base_problems(vfs))
        if parsed.get("checkpoint") and not harmful:
            done = maintenance.checkpoint(vfs)
    found = harmful + [p for p in problems if p.repairable]
    if done:
        for ending in ("-wal", "-shm"):
            with contextlib.suppress(FileNotFoundError):
                if os.path.getsize(path + ending) == 0:
                    os.unlink(path + ending)
    if parsed.get("json"):
        print(json.dumps({"path": path, "ok": not harmful, "problems": [p.as_dict() for p in found],
                          "partialOriginFiles": partial, "checkpointed": done}))
    else:
        for problem in found:
            print(f"{'note' if problem.repairable else 'problem'}: {problem.check}: {problem.message}")
        print("ok" if not harmful else f"{len(harmful)} problems")
    return 1 if harmful else 0


def _base_problems(vfs: Vfs) -> list[str]:
    """Partial files whose file of the base is missing, or is not what it was."""
    from mirage.mounts.vfs.maintenance import layer_of
    layer = layer_of(vfs)
    if layer is vfs.mount:
        return []
    found = []
    with vfs.db.reading:
        files = [row[0] for row in vfs.db.execute("SELECT ino FROM fs_partial_origin")] if vfs.db.complete else []
    for ino in files:
        origin = layer.store.origin(ino)
        try:
            layer._checked(origin, origin.path).close()
        except OSError as e:
            found.append(f"inode {ino}: {origin.path} in the base: "
                         f"{'missing or changed' if e.errno == errno.ESTALE else e.strerror}")
    return found


def backup(parsed: Parsed) -> int:
    from mirage.mounts.vfs import maintenance
    target = parsed.get("TARGET")
    with open_database(parsed) as vfs, bar("Copying") as progress:
        maintenance.backup(vfs, target, bool(parsed.get("materialize")), progress)
    if parsed.get("verify"):
        _verify(target, secret(parsed))
    print(f"Created backup: {target}")
    return 0


def _verify(path: str, key: Secret | None) -> None:
    from mirage.mounts.vfs.integrity import check
    from mirage.mounts.vfs.maintenance import reopened
    with reopened(path, key) as vfs, bar("Verifying") as progress:
        harmful = [p for p in check(vfs.db, progress) if not p.repairable]
    if harmful:
        raise Failure(f"{path} is damaged: {harmful[0].message}")


def materialize(parsed: Parsed) -> int:
    from mirage.mounts.vfs import maintenance
    from mirage.mounts.vfs.integrity import partial_files
    with open_database(parsed) as vfs:
        output = parsed.get("output") or vfs.path.removesuffix(".db") + ".portable.db"
        count = partial_files(vfs.db)
        with bar("Copying") as progress:
            maintenance.backup(vfs, output, True, progress)
        if parsed.get("verify"):
            _verify(output, secret(parsed))
            with maintenance.reopened(output, secret(parsed)) as made:
                if maintenance.contents(maintenance.layer_of(made)) != maintenance.contents(maintenance.layer_of(vfs)):
                    raise Failure(f"{output} differs from the database")
    print(f"Materialized {count} files: {output}")
    return 0


def migrate(parsed: Parsed) -> int:
    from mirage.mounts.vfs import maintenance
    from mirage.mounts.vfs.schema import VERSION, SchemaError
    if parsed.get("verify") and not parsed.get("copy"):
        raise UsageError("the following required arguments were not provided:\n  --copy <TARGET>", parsed.command)
    path = locate(parsed.get("ID_OR_PATH"))
    target, key = parsed.get("copy"), secret(parsed)
    import sqlite3
    try:
        if target is not None and not parsed.get("dry_run"):
            with bar("Copying") as progress:
                before, steps = maintenance.migrate_copy(
                    path, target, bool(parsed.get("overwrite_target")), key, progress)
            if parsed.get("verify") and maintenance.state(path, key) != maintenance.state(target, key):
                raise Failure(f"{target} does not say the same as {path}")
        else:
            before, steps = maintenance.migrate(path, bool(parsed.get("dry_run")), key)
    except (sqlite3.Error, SchemaError) as e:
        raise Failure(f"{path}: {e}") from None
    if not steps:
        print(f"Already at schema version {VERSION}")
        return 0
    print(f"{'Would migrate' if parsed.get('dry_run') else 'Migrated'} from schema version {before} to {VERSION}:")
    for step in steps:
        print(f"  {step}")
    return 0
