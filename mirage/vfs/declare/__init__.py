"""A service as a declaration of directories, files and endpoints, executed by one mount (docs/adding-a-service.md)."""
from __future__ import annotations

from mirage.vfs.declare.client import Answer, RestClient
from mirage.vfs.declare.model import Auth, Directory, Fetch, File, Listing, Paging, Rendering, Scope, Service
from mirage.vfs.declare.mount import Declared

__all__ = ["Answer", "Auth", "Declared", "Directory", "Fetch", "File", "Listing", "Paging", "Rendering", "RestClient",
           "Scope", "Service"]
