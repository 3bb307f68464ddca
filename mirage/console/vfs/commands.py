"""The commands of `vfs`, their options and texts."""
from __future__ import annotations

from mirage.console.vfs.model import Argument, Command, Option

CIPHERS = ("aegis128l", "aegis128x2", "aegis128x4", "aegis256", "aegis256x2", "aegis256x4", "aes128gcm", "aes256gcm")
LISTED = f"Cipher algorithm for encryption (required with --key). Options: {', '.join(CIPHERS)}"
SHORT_LISTED = "Cipher algorithm for encryption (required with --key)"
ENCRYPTED = "Hex-encoded encryption key for encrypted databases"
NEW_KEY = "Hex-encoded encryption key. Enables local encryption when provided"
DELTA_KEY = "Hex-encoded encryption key for the delta layer. Enables local encryption when provided"
SHELLS = ("bash", "zsh", "fish", "elvish", "power-shell")
BACKENDS = ("fuse", "nfs")
BACKEND = "Backend to use for mounting (default: fuse on Linux, nfs on macOS)"
SYSTEM = "Allow other system users to access this mount (requires /etc/fuse.conf user_allow_other; use cautiously)"
JSON = "Emit machine-readable JSON"
TOOLS = ("Tools to expose (comma-separated). If not provided, all tools are exposed. Available tools: read_file, "
         "write_file, readdir, mkdir, remove, rename, stat, access, kv_get, kv_set, kv_delete, kv_list")
DATABASE = Argument("ID_OR_PATH", "Agent ID or database path")
SESSION = Argument("SESSION_ID", "Run session identifier")
FILE = Argument("FILE_PATH", "Path to the file in the filesystem")


def key(text: str = ENCRYPTED, cipher: str = LISTED, env: bool = True) -> tuple[Option, Option]:
    return (Option("--key", text, value="KEY", env="VFS_KEY" if env else None),
            Option("--cipher", cipher, value="CIPHER", env="VFS_CIPHER" if env else None))


def maintenance_key() -> tuple[Option, Option]:
    return key(cipher="Encryption cipher (required with --key)", env=False)


def partial() -> tuple[Option, Option]:
    return (Option("--partial-origin", "Partial-origin policy for base-file writes: off, on, or auto", value="MODE",
                   values=("off", "on", "auto")),
            Option("--partial-origin-threshold-bytes", "Size threshold for --partial-origin auto", value="BYTES"))


def backend(text: str = BACKEND) -> Option:
    return Option("--backend", text, value="BACKEND", values=BACKENDS, default="fuse")


def bind() -> tuple[Option, Option]:
    return (Option("--bind", "IP address to bind to", value="BIND", default="127.0.0.1"),
            Option("--port", "Port to listen on", value="PORT", default="11111"))


def build() -> Command:
    """The whole tree of commands."""
    files = "mirage.console.vfs.files"
    care = "mirage.console.vfs.care"
    mounting = "mirage.console.vfs.mounting"
    serving = "mirage.console.vfs.serving"
    return Command("vfs", "An agent's files, values and tool calls in one SQLite file", commands=[
        Command("completions", "Manage shell completions (supported shells: bash, zsh, fish, elvish, powershell)", commands=[
            Command("install", "Install shell completions to your shell rc file", arguments=[
                Argument("SHELL", "Shell to install completions for (defaults to current shell)", required=False,
                         values=SHELLS)], run="mirage.console.vfs.completions:install"),
            Command("uninstall", "Uninstall shell completions from your shell rc file", arguments=[
                Argument("SHELL", "Shell to uninstall completions for (defaults to current shell)", required=False,
                         values=SHELLS)], run="mirage.console.vfs.completions:uninstall"),
            Command("show", "Print instructions for manual installation", run="mirage.console.vfs.completions:show"),
        ]),
        Command("init", "Initialize a new agent filesystem", arguments=[
            Argument("ID", "Agent identifier (if not provided, generates a unique one)", required=False)], options=[
            Option("--force", "Overwrite existing file if it exists"),
            Option("--base", "Base directory for overlay filesystem (copy-on-write)", value="BASE"),
            *key(NEW_KEY),
            Option("--command", "Command to execute after initialization (mounts the filesystem, runs command, unmounts)",
                   value="COMMAND", short="-c"),
            backend("Backend to use for mounting when using -c (default: fuse on Linux, nfs on macOS)"),
            Option("--sync-remote-url", value="SYNC_REMOTE_URL"),
            Option("--sync-partial-prefetch", value="SYNC_PARTIAL_PREFETCH", values=("true", "false")),
            Option("--sync-partial-segment-size", value="SYNC_PARTIAL_SEGMENT_SIZE"),
            Option("--sync-partial-bootstrap-query", value="SYNC_PARTIAL_BOOTSTRAP_QUERY"),
            Option("--sync-partial-bootstrap-length", value="SYNC_PARTIAL_BOOTSTRAP_LENGTH"),
        ], run=f"{care}:init"),
        Command("sync", "Remote sync operations", arguments=[DATABASE], commands=[
            Command("pull", "Pull remote changes (only of vfs was initialized with remote sync)"),
            Command("push", "Push remote changes (only of vfs was initialized with remote sync)"),
            Command("stats", "Print synced database stats"),
            Command("checkpoint", "Checkpoint local synced db"),
        ]),
        Command("fs", "Filesystem operations", arguments=[DATABASE], options=key(), commands=[
            Command("ls", "List files in the filesystem", arguments=[
                Argument("FS_PATH", "Path to list (default: /)", required=False, default="/")], run=f"{files}:ls"),
            Command("cat", "Display file contents", arguments=[FILE], run=f"{files}:cat"),
            Command("write", "Write file content", arguments=[FILE, Argument("CONTENT", "Content of the file")],
                    run=f"{files}:write"),
            Command("rm", "Remove a file, or a directory with --recursive", ours=True, arguments=[FILE], options=[
                Option("--recursive", "Remove directories and what is in them", short="-r")], run=f"{files}:rm"),
            Command("mkdir", "Make a directory", ours=True, arguments=[
                Argument("DIR_PATH", "Path of the directory in the filesystem")], options=[
                Option("--parents", "Make the directories above it too; it may exist", short="-p")], run=f"{files}:mkdir"),
            Command("stat", "Show what is known about a file", ours=True, arguments=[FILE], options=[
                Option("--json", JSON)], run=f"{files}:stat"),
            Command("cp", "Copy files in, out, or within", ours=True,
                    more="A path that begins with `:` is one in the filesystem, any other is one of the host.", arguments=[
                        Argument("SOURCE", "What to copy"), Argument("TARGET", "Where to, or the directory to copy into")],
                    options=[Option("--recursive", "Copy directories and what is in them", short="-r")],
                    run=f"{files}:cp"),
        ]),
        Command("run", "Run a command in the sandboxed environment.",
                more="By default, uses FUSE+overlay with Linux user and mount namespaces for isolation. The overlay uses the "
                     "host filesystem as a read-only base and stores all changes in a Vfs-backed delta layer. On macOS the "
                     "overlay is mounted over NFS and a generated Seatbelt profile scopes writes to the sandbox and reads "
                     "to the allowed directories plus required platform paths (see the Sandboxing section of "
                     "docs/MANUAL.md).",
                arguments=[Argument("COMMAND", "Command to execute (defaults to bash on Linux, zsh on macOS)",
                                    required=False, rest=True)], options=[
            Option("--allow", "Allow read/write access to additional directories (can be specified multiple times)",
                   value="PATH", many=True),
            Option("--no-default-allows",
                   "Disable default allowed directories (~/.config, ~/.cache, ~/.local, ~/.claude, etc.)"),
            Option("--session", "Session identifier for sharing delta layer across multiple runs. If not provided, a unique "
                   "session ID is generated for each run. Use the same session ID to share the delta layer between runs",
                   value="ID"),
            Option("--system", SYSTEM), *partial(), *key(DELTA_KEY),
            Option("--seed-pin", "Seed dirty and local-commit state against this git commit before mounting. Ignored files "
                   "are not part of portable state", value="COMMIT"),
        ]),
        Command("exec", "Execute a command with a Vfs filesystem mounted.",
                more="Mounts the specified Vfs to a temporary directory, runs the command with that directory as the working "
                     "directory, then automatically unmounts. This is useful for running tools that need filesystem access "
                     "without a persistent mount.",
                arguments=[DATABASE, Argument("COMMAND", "Command to execute", rest=True)],
                options=[backend(), *key(cipher=SHORT_LISTED)], run=f"{mounting}:execute"),
        Command("clone", "Clone a git repository into a Vfs database (fast bulk ingest).",
                more="Runs git clone --no-checkout through a temporary mount (pack files are large sequential writes), then "
                     "materializes the worktree by bulk-importing blobs straight into the database in large transactions and "
                     "fabricating a matching git index, skipping the per-file FUSE round trips of a regular checkout. The "
                     "resulting repository lives entirely inside the database; nothing is written to the host filesystem. "
                     "Submodules and smudge/clean filters are not supported.",
                arguments=[Argument("ID_OR_PATH", "Agent ID or database path (created if it does not exist)"),
                           Argument("SOURCE", "Git repository to clone (URL or local path)"),
                           Argument("NAME", "Directory name for the repository inside the filesystem (default: derived from "
                                    "the source)", required=False)],
                options=[backend(), Option("--verify", "Verify git status is clean through the mount before finishing")],
                run="mirage.console.vfs.cloning:clone"),
        Command("mount", "Mount an agent filesystem using FUSE (or list mounts if no args)", arguments=[
            Argument("ID_OR_PATH", "Agent ID or database path (if omitted, lists current mounts)", required=False),
            Argument("MOUNTPOINT", "Mount point directory", required=False)], options=[
            Option("--auto-unmount", "Automatically unmount on exit", short="-a"),
            Option("--allow-root", "Allow root user to access filesystem"),
            Option("--system", SYSTEM),
            Option("--foreground", "Run in foreground (don't daemonize)", short="-f"),
            Option("--uid", "User ID to report for all files (defaults to current user)", value="UID"),
            Option("--gid", "Group ID to report for all files (defaults to current group)", value="GID"),
            backend("Backend to use for mounting"), *partial(), *key(),
        ], run=f"{mounting}:mount"),
        Command("diff", "Show differences between base filesystem and delta (overlay mode only)", arguments=[DATABASE],
                run="mirage.console.vfs.show:diff"),
        Command("timeline", "Display agent action timeline from tool call audit log", arguments=[DATABASE], options=[
            Option("--limit", "Limit number of entries to display", value="LIMIT", default="100"),
            Option("--filter", "Filter by tool name", value="FILTER"),
            Option("--status", "Filter by status (pending/success/error)", value="STATUS",
                   values=("pending", "success", "error")),
            Option("--format", "Output format", value="FORMAT", values=("table", "json"), default="table"),
        ], run="mirage.console.vfs.show:timeline"),
        Command("nfs", "Start an NFS server to export a Vfs filesystem over the network (deprecated: use vfs serve nfs "
                "instead)", arguments=[DATABASE], options=[*bind(), *key()], run=f"{serving}:old_nfs"),
        Command("mcp-server", "Start an MCP server exposing filesystem and KV-store tools (deprecated: use vfs serve mcp "
                "instead)", arguments=[DATABASE], options=[Option("--tools", TOOLS, value="TOOLS")],
                run=f"{serving}:old_mcp"),
        Command("serve", "Serve a Vfs filesystem via different protocols", commands=[
            Command("nfs", "Start an NFS server to export a Vfs filesystem over the network", arguments=[DATABASE],
                    options=[*bind(), *key()], run=f"{serving}:nfs"),
            Command("mcp", "Start an MCP server exposing filesystem and KV-store tools", arguments=[DATABASE],
                    options=[Option("--tools", TOOLS, value="TOOLS")], run=f"{serving}:mcp"),
        ]),
        Command("pack", "Prepare an inactive run session database for transfer", arguments=[SESSION], options=[
            Option("--prune", "Additional delta path glob to prune (can be specified multiple times)", value="GLOB",
                   many=True),
            Option("--no-default-prunes", "Disable the default generated-artifact prune globs"),
            Option("--output", "Copy the packed database to this path", value="PATH"),
            Option("--chunk-size", "Byte size of the per-chunk verification digests reported in the manifest's chunks list",
                   value="BYTES", default="4194304"),
            Option("--json", f"{JSON} (pack output is always JSON)"),
        ]),
        Command("seed", "Capture a run session's live git state into its portable delta.",
                more="Compares the session base checkout with --pin, imports dirty files and local commits without mounting, "
                     "and records deletions as whiteouts. Ignored files are not part of portable state.",
                arguments=[SESSION], options=[
                    Option("--pin", "Git commit used as the pristine portable base", value="COMMIT"),
                    Option("--json", f"{JSON} (seed output is always JSON)")]),
        Command("adopt", "Install an externally transferred run session.",
                more="Verifies a packed session database against the receiver's base git checkout (the checkout's HEAD must "
                     "equal the artifact's recorded seed pin), migrates supported older artifact schemas to the current "
                     "version, and atomically publishes ~/.vfs/run/<SESSION_ID>. After adopt, vfs run --session <SESSION_ID> "
                     "resumes the transferred session.",
                arguments=[SESSION], options=[
                    Option("--db", "Packed session database produced by vfs pack", value="PATH"),
                    Option("--base", "The receiver's base git checkout for the session", value="PATH"),
                    Option("--pin", "Git commit the base checkout must be at (required only when the artifact does not "
                           "record a seed pin)", value="COMMIT"),
                    Option("--json", f"{JSON} (adopt output is always JSON)")]),
        Command("status", "Show run session state for daemon preflight", arguments=[SESSION], options=[
            Option("--json", f"{JSON} (status output is always JSON)"),
            *key("Hex-encoded encryption key for an encrypted session database", "Encryption cipher (required with --key)"),
        ]),
        Command("version", "Show vfs version and feature capabilities", options=[Option("--json", JSON)],
                run="mirage.console.vfs.show:version"),
        Command("ps", "List active vfs run sessions"),
        Command("prune", "Prune unused resources", commands=[
            Command("mounts", "Unmount unused vfs mount points", options=[
                Option("--force", "Skip confirmation prompt and unmount immediately")], run=f"{mounting}:prune"),
        ]),
        Command("integrity", "Check a local Vfs database for SQLite and schema corruption", arguments=[DATABASE], options=[
            Option("--json", JSON),
            Option("--require-portable", "Fail if the database depends on external partial-origin base files"),
            Option("--check-base", "Validate partial-origin base file fingerprints against the current base tree"),
            Option("--checkpoint", "Checkpoint the WAL and remove empty SQLite sidecars after checks pass"),
            Option("--repair", "Remove what other programs left behind without harm, before the checks"),
            *maintenance_key(),
        ], run=f"{care}:integrity"),
        Command("backup", "Create a portable local Vfs database backup", arguments=[
            DATABASE, Argument("TARGET", "Target database path to create")], options=[
            Option("--verify", "Reopen and verify the copied main database"),
            Option("--materialize", "Materialize partial-origin files into a portable backup"), *maintenance_key(),
        ], run=f"{care}:backup"),
        Command("materialize", "Create a portable database by materializing partial-origin files", arguments=[DATABASE],
                options=[Option("--output", "Target database path to create", value="OUTPUT"),
                         Option("--verify", "Reopen and verify the materialized database"), *maintenance_key()],
                run=f"{care}:materialize"),
        Command("migrate", "Migrate database schema to the current version", arguments=[DATABASE], options=[
            Option("--dry-run", "Preview migration without applying changes"),
            Option("--copy", "Copy-migrate into a new database file at this path instead of migrating in place",
                   value="TARGET"),
            Option("--verify", "Verify migrated state equivalence (requires --copy)"),
            Option("--overwrite-target", "Allow replacing an existing --copy target database"), *maintenance_key(),
        ], run=f"{care}:migrate"),
    ])
