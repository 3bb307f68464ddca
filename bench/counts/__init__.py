"""How many calls a command costs, counted in the logs of the simulators, beside the least that would do.

    python -m mirage.bench.counts [--service NAME]... [--peer] [--json FILE] [--markdown FILE]

A service joins with an entry in services.py.
"""
