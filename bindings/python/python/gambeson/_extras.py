"""The packages of others that parts of this one need, and the extras that bring them."""

from __future__ import annotations

import importlib.util


def require(module: str, package: str, extra: str) -> None:
    """Raises ModuleNotFoundError, which names the extra, unless the package is installed."""
    if importlib.util.find_spec(package) is None:
        message = f'{module} needs the package {package}: install gambeson with its extra "{extra}"'
        raise ModuleNotFoundError(message, name=package)
