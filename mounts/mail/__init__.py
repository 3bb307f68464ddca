"""What the mailboxes share (gmail, imap): the tree, the format of a message, folders. No provider."""
from __future__ import annotations
