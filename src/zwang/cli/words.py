"""Advice of the library as one types it: texts speak of calls, a terminal of options."""

from __future__ import annotations

import re

__all__ = ["WORDS", "at_the_command_line"]

_RESUME = "zwang run MODEL.toml -o RUN --resume"
#: What texts of the library say → what to type, or to write into the model file.
WORDS = {
    "continue with zw.resume": f"go on with: {_RESUME}",
    "zw.resume continues from the last one": f"{_RESUME} continues from the last one",
    "zw.resume goes on with it": f"{_RESUME} goes on with it",
    "derive(seconds=…)": "--seconds",
    "put numbers in for parameters with derive(parameters=…), or raise derive(limit=…)": (
        "or move parameters of the file to [constants]"
    ),
    "put numbers in for parameters with derive(parameters=…)": (
        "move parameters of the file to [constants]"
    ),
    "derive(solve=False)": "--terms",
    "passport() reports which are": "the table below tells which are",
    "overwrite=True replaces it": "--force replaces it",
    "integrator='radau5'": 'integrator = "radau5" in [simulation]',
    "zw.switch(on=…) goes on with a constraint": (
        'on = ["CONSTRAINT"] in the table of the event, [event.NAME], goes on with a constraint'
    ),
    "; .nearest of this error is the nearest state": "",
    "; .nearest of this error shows the gap": "",
    "save=… at fewer times": "save = … at fewer times in [simulation]",
}
_RESUMED = re.compile(r"zw\.resume\((?P<path>'[^']*'|\"[^\"]*\"), system\)")


def at_the_command_line(text: str) -> str:
    """A text with what to type in place of what to call."""
    for call, typed in WORDS.items():
        text = text.replace(call, typed)
    return _RESUMED.sub(lambda m: _RESUME.replace("RUN", m["path"].strip("'\"")), text)
