"""rand() as gawk computes it: BSD's additive generator with 63 words of state, behind a shuffle table of 512."""
from __future__ import annotations

DEGREE, SEPARATION = 63, 1
SHUFFLE = 512
LARGEST = 0x7FFFFFFF
DIVISOR = 2147483648.0


class Random:
    """The same seed gives gawk's numbers."""

    def __init__(self, seed: int = 1) -> None:
        self.seed(seed)

    def seed(self, seed: int) -> None:
        words = [seed & 0xFFFFFFFF]
        for _ in range(1, DEGREE):
            words.append(park_miller(words[-1]))
        self.state = words
        self.front, self.rear = SEPARATION, 0
        self.table = [self._step() for _ in range(SHUFFLE)]
        self.carry = self._step()
        for _ in range(10 * DEGREE):
            self.next()

    def _step(self) -> int:
        state = self.state
        state[self.front] = value = (state[self.front] + state[self.rear]) & 0xFFFFFFFF
        self.front = (self.front + 1) % DEGREE
        self.rear = (self.rear + 1) % DEGREE
        return value >> 1

    def next(self) -> int:
        """31 random bits."""
        fresh = self._step()
        place = self.carry % SHUFFLE
        self.carry = self.table[place]
        self.table[place] = fresh
        return self.carry

    def uniform(self) -> float:
        """A number from 0 up to but not including 1, as rand()."""
        while True:
            first = self.next()
            value = 0.5 + (first / DIVISOR + self.next()) / DIVISOR - 0.5
            if value != 1.0:
                return value


def park_miller(word: int) -> int:
    """The next word of the initial state: 16807 x modulo 2**31 - 1, with C's signed division."""
    value = word - (1 << 32) if word >= 1 << 31 else word
    if value == 0:
        value = 123459876
    quotient = value // 127773 if value >= 0 else -(-value // 127773)
    result = 16807 * (value - quotient * 127773) - 2836 * quotient
    return (result + LARGEST if result < 0 else result) & 0xFFFFFFFF
