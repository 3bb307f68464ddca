"""Math builtins: C's functions on doubles."""
from __future__ import annotations

import math

from mirage.commands.jq.numbers import normal, unary
from mirage.commands.jq.values import compare, is_number, negate, unfit

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Callable
    from typing import Any

NAN = float("nan")
INFINITY = float("inf")


def number(value: Any) -> float:
    if not is_number(value):
        raise unfit(value, "number required")
    return float(value)


def fabs(value: Any) -> float:
    return normal(abs(number(value)))


def _keep(function: Callable[[float], float]) -> Callable[[float], float]:
    """For functions that Python defines on finite numbers only."""
    return lambda x: x if x != x or x in (INFINITY, -INFINITY) else function(x)


def _round(x: float) -> float:
    return math.copysign(math.floor(abs(x) + 0.5), x)


def _log(function: Callable[[float], float]) -> Callable[[float], float]:
    return lambda x: -INFINITY if x == 0 else function(x)


def _power(x: float, y: float) -> float:
    try:
        return math.pow(x, y)
    except OverflowError:
        return -INFINITY if x < 0 and y % 2 == 1 else INFINITY
    except ValueError:
        if x == 0 and y < 0:
            return math.copysign(INFINITY, x) if y % 2 == 1 else INFINITY
        return NAN


def _bessel(kind: str, order: int, x: float) -> float:
    """J and Y by numerical integration of their integral forms."""
    steps = 4000
    if kind == "j":
        h = math.pi / steps
        return sum(math.cos(order * t - x * math.sin(t)) * (0.5 if n in (0, steps) else 1.0)
                   for n in range(steps + 1) for t in (n * h,)) * h / math.pi
    if x <= 0:
        return -INFINITY if x == 0 else NAN
    h = math.pi / steps
    first = sum(math.sin(x * math.sin(t) - order * t) * (0.5 if n in (0, steps) else 1.0)
                for n in range(steps + 1) for t in (n * h,)) * h / math.pi
    top = math.asinh(750 / x)
    g = top / steps
    sign = -1 if order % 2 else 1

    def tail(t: float) -> float:
        return (math.exp(order * t - x * math.sinh(t)) + sign * math.exp(-order * t - x * math.sinh(t)))

    second = (tail(0) + tail(top)) + sum((4 if n % 2 else 2) * tail(n * g) for n in range(1, steps))
    return first - second * g / 3 / math.pi


def _exp10(x: float) -> float:
    return _power(10.0, x)


def _significand(x: float) -> float:
    if x == 0 or x in (INFINITY, -INFINITY) or x != x:
        return x
    return math.frexp(x)[0] * 2


def _logb(x: float) -> float:
    if x == 0:
        return -INFINITY
    return INFINITY if x in (INFINITY, -INFINITY) else x if x != x else float(math.frexp(x)[1] - 1)


def _scale(x: float, exponent: float) -> float:
    if exponent != exponent:
        return NAN
    try:
        return math.ldexp(x, int(max(-5000.0, min(exponent, 5000.0))))
    except OverflowError:
        return math.copysign(INFINITY, x)


def frexp(value: Any) -> list[float]:
    x = number(value)
    if x != x or x in (INFINITY, -INFINITY):
        return [x, 0]
    mantissa, exponent = math.frexp(x)
    return [normal(mantissa), exponent]


def modf(value: Any) -> list[float]:
    fraction, whole = math.modf(number(value))
    return [normal(fraction), normal(whole)]


def lgamma_r(value: Any) -> list[float]:
    x = number(value)
    sign = -1 if x < 0 and math.floor(x) % 2 else 1
    return [unary(math.lgamma)(x), sign]


def gamma(x: float) -> float:
    return INFINITY if x <= 0 and x == math.floor(x) else math.lgamma(x)


UNARY: dict[str, Callable[[float], float]] = {
    "floor": _keep(math.floor), "ceil": _keep(math.ceil), "round": _keep(_round), "trunc": _keep(math.trunc),
    "rint": _keep(round), "nearbyint": _keep(round), "sqrt": math.sqrt, "fabs": abs,
    "cbrt": lambda x: math.cbrt(x) if hasattr(math, "cbrt") else math.copysign(abs(x) ** (1 / 3), x),
    "exp": math.exp, "exp2": lambda x: _power(2.0, x), "exp10": _exp10, "pow10": _exp10, "expm1": math.expm1,
    "log": _log(math.log), "log2": _log(math.log2), "log10": _log(math.log10),
    "log1p": lambda x: -INFINITY if x == -1 else math.log1p(x), "logb": _logb, "significand": _significand,
    "sin": math.sin, "cos": math.cos, "tan": math.tan, "asin": math.asin, "acos": math.acos, "atan": math.atan,
    "sinh": math.sinh, "cosh": math.cosh, "tanh": math.tanh, "asinh": math.asinh, "acosh": math.acosh,
    "atanh": lambda x: math.copysign(INFINITY, x) if abs(x) == 1 else math.atanh(x),
    "gamma": gamma, "lgamma": gamma, "tgamma": math.gamma, "erf": math.erf, "erfc": math.erfc,
    "j0": lambda x: _bessel("j", 0, x), "j1": lambda x: _bessel("j", 1, x),
    "y0": lambda x: _bessel("y", 0, x), "y1": lambda x: _bessel("y", 1, x),
}
BINARY: dict[str, Callable[[float, float], float]] = {
    "pow": _power, "atan2": math.atan2, "fmod": math.fmod, "hypot": math.hypot, "copysign": math.copysign,
    "fmin": lambda x, y: y if x != x else x if y != y else min(x, y),
    "fmax": lambda x, y: y if x != x else x if y != y else max(x, y),
    "fdim": lambda x, y: max(x - y, 0.0) if x == x and y == y else NAN,
    "drem": math.remainder, "remainder": math.remainder, "ldexp": _scale, "scalb": _scale, "scalbln": _scale,
    "nextafter": math.nextafter, "nexttoward": math.nextafter,
    "jn": lambda n, x: _bessel("j", int(n), x), "yn": lambda n, x: _bessel("y", int(n), x),
}


def _unary(function: Callable[[float], float]) -> Callable[[Any], float]:
    apply = unary(function)
    return lambda value: apply(number(value))


def _binary(function: Callable[[float, float], float]) -> Callable[[Any, Any, Any], float]:
    def apply(value: Any, a: Any, b: Any) -> float:
        x, y = number(a), number(b)
        try:
            return normal(float(function(x, y)))
        except ValueError:
            return NAN
        except OverflowError:
            return INFINITY

    return apply


def fma(value: Any, a: Any, b: Any, c: Any) -> float:
    return normal(number(a) * number(b) + number(c))


def _test(function: Callable[[float], bool]) -> Callable[[Any], bool]:
    return lambda value: is_number(value) and function(number(value))


def absolute(value: Any) -> Any:
    """`if . < 0 then - . else . end`: what sorts before numbers cannot be negated, what sorts behind is kept."""
    return negate(value) if compare(value, 0) < 0 else value


FUNCTIONS: dict[str, Callable[..., Any]] = {
    **{f"{name}/0": _unary(function) for name, function in UNARY.items()},
    **{f"{name}/2": _binary(function) for name, function in BINARY.items()},
    "abs/0": absolute, "fma/3": fma, "frexp/0": frexp, "modf/0": modf, "lgamma_r/0": lgamma_r,
    "infinite/0": lambda v: INFINITY, "nan/0": lambda v: NAN,
    "isinfinite/0": _test(lambda x: x in (INFINITY, -INFINITY)), "isnan/0": _test(lambda x: x != x),
    "isnormal/0": _test(lambda x: x == x and abs(x) != INFINITY and abs(x) >= 2.2250738585072014e-308),
}
