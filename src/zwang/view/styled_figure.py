"""A Matplotlib figure that is saved under the settings it was made with."""

from __future__ import annotations

from typing import Any

from matplotlib import rc_context, rcParams
from matplotlib.figure import Figure

__all__ = ["StyledFigure"]

#: What Matplotlib reads when it writes the file, when the style of the figure is no longer set.
OF_FILES = ("savefig.dpi", "pdf.fonttype", "ps.fonttype")


class StyledFigure(Figure):
    """A figure whose resolution and kind of letters in files are those of its style."""

    def __init__(self, *args: Any, **settings: Any) -> None:
        super().__init__(*args, **settings)
        self._of_files: Any = {name: rcParams[name] for name in OF_FILES}

    def savefig(self, fname: Any, **settings: Any) -> None:
        """Write the figure, as Matplotlib does, with what its style says of files."""
        with rc_context(self._of_files):
            super().savefig(fname, **settings)
