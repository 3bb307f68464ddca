"""Hostile input: random scripts, limits, and what must hold after every one of them."""
