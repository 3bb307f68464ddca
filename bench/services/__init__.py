"""Simulators of services over HTTP on the loopback interface, for the demo, tests and benchmarks."""
