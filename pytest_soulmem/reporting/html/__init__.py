"""A run as one page that works offline: rendered from the results document alone."""

from pytest_soulmem.reporting.html.render import render_html

__all__ = ["render_html"]
