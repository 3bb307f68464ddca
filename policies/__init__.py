"""Shipped policy files (YAML); each one's header says what it is for."""
