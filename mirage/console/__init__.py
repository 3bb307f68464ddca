"""The host programs: `mirage` and the interactive terminal."""
