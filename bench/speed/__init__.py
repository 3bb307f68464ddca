"""Speed, always as a ratio against another program in the same run: machines are noisy."""
