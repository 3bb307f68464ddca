"""An NFS server, version 3 (RFC 1813), over the inode protocol: see mirage.serve.nfs.server."""
