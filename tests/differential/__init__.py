"""Generated scripts, ours against the real programs."""
