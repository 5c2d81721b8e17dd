"""A browser for the tests that need one."""

from browser_fixture import browser

__all__ = ["browser"]
