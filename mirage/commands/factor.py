"""factor: prime factors."""
from __future__ import annotations

import re

from mirage.commands._getopt import NONE, Spec, parse
from mirage.commands._io import decode, read_all
from mirage.commands._text import quote

TYPE_CHECKING = False
if TYPE_CHECKING:
    from mirage.process.process import Process

SPEC = Spec("h", {"exponents": ("h", NONE)},
            help="Usage: NAME [OPTION] [NUMBER]...\nPrint the prime factors of each specified integer NUMBER.\n")

MAX_DIGITS = 60
_WITNESSES = (2, 3, 5, 7, 11, 13, 17, 19, 23, 29, 31, 37, 41, 43, 47, 53)


def is_prime(n: int) -> bool:
    """Miller and Rabin; exact below 3.3e24, and beyond it wrong with no known example."""
    if n < 2:
        return False
    for p in _WITNESSES:
        if n % p == 0:
            return n == p
    odd, twos = n - 1, 0
    while odd % 2 == 0:
        odd //= 2
        twos += 1
    for witness in _WITNESSES:
        x = pow(witness, odd, n)
        if x in (1, n - 1):
            continue
        for _ in range(twos - 1):
            x = x * x % n
            if x == n - 1:
                break
        else:
            return False
    return True


def _split(proc: Process, n: int) -> int:
    """A proper factor of a composite odd number: Pollard's rho in Brent's form."""
    from math import gcd, isqrt
    root = isqrt(n)
    if root * root == n:
        return root
    for constant in range(1, 100):
        y = x = 2
        product, power = 1, 1
        while True:
            x = y
            for _ in range(power):
                y = (y * y + constant) % n
            done = 0
            factor = 1
            while done < power and factor == 1:
                start = y
                for _ in range(min(256, power - done)):
                    y = (y * y + constant) % n
                    product = product * abs(x - y) % n
                factor = gcd(product, n)
                done += 256
                proc.check()
            power *= 2
            if factor != 1:
                break
        if factor == n:
            factor, y = 1, start
            while factor == 1:
                y = (y * y + constant) % n
                factor = gcd(abs(x - y), n)
        if factor != n:
            return factor
    return 1


def factors(proc: Process, n: int) -> list[int]:
    out = []
    for p in range(2, 1000):
        while n % p == 0 and n > 1:
            out.append(p)
            n //= p
    todo = [n] if n > 1 else []
    while todo:
        m = todo.pop()
        if is_prime(m):
            out.append(m)
            continue
        part = _split(proc, m)
        todo += [part, m // part]
    return sorted(out)


def main(proc: Process) -> int:
    options, operands = parse(proc, SPEC)
    exponents = bool(options)
    status = 0
    words = operands or decode(read_all(proc, proc.file(0))).split()
    for word in words:
        if not re.fullmatch(r"[ \t]*\+?[0-9]+", word):
            proc.stdout.flush()
            proc.message(f"{quote(proc, word)} is not a valid positive integer")
            status = 1
            continue
        if len(word) > MAX_DIGITS:
            proc.stdout.flush()
            proc.message(f"{quote(proc, word)} is too large")
            status = 1
            continue
        n = int(word)
        found = factors(proc, n) if n > 1 else []
        if exponents:
            texts = [f"{p}^{found.count(p)}" if found.count(p) > 1 else str(p) for p in sorted(set(found))]
        else:
            texts = [str(p) for p in found]
        proc.stdout.write((f"{n}:" + "".join(f" {t}" for t in texts) + "\n").encode())
        proc.check()
    return status
