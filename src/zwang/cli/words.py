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
        "or put numbers in for parameters with --set NAME=VALUE"
    ),
    "put numbers in for parameters with derive(parameters=…)": (
        "put numbers in for parameters with --set NAME=VALUE"
    ),
    "Mechanism.derive, in the coordinates of joints, keeps it a letter": (
        "Without --bodies, in the coordinates of joints, it is kept"
    ),
    "derive(use_constraints=True)": "--use-constraints",
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
_SYMBOL = re.compile(r'sympy\.Symbol\("(\w+)"\)')
_LETTERS = re.compile(r'parameters=\{(?P<letters>("\w+": sympy\.Symbol\("\w+"\)(, )?)+)\}')
_RESUMED = re.compile(r"zw\.resume\((?P<path>'[^']*'|\"[^\"]*\"), system\)")


def at_the_command_line(text: str) -> str:
    """A text with what to type in place of what to call."""
    for call, typed in WORDS.items():
        text = text.replace(call, typed)
    text = _LETTERS.sub(lambda m: f"--letters {','.join(_SYMBOL.findall(m['letters']))}", text)
    return _RESUMED.sub(lambda m: _RESUME.replace("RUN", m["path"].strip("'\"")), text)
