"""The program `vfs`."""
