"""Small systems for the tests of runs; also the programs that are killed and race."""

import sys
import time
from pathlib import Path

import numpy as np

import zwang as zw


def pendulum():
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda p: [0.0, -p.m * p.g],
        potential=lambda q, p: p.m * p.g * q[1],
        constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    )


def driven():
    """Damped and pushed, so that applied forces do work."""
    return zw.System(
        coordinates=["x", "y"],
        parameters={"m": 2.0, "g": 9.81, "L": 1.0},
        mass=lambda p: np.diag([p.m, p.m]),
        force=lambda v, t, p: [np.cos(3.0 * t) - 0.3 * v[0], -p.m * p.g - 0.3 * v[1]],
        constraints={"rod": zw.position(lambda q, p: q[0] ** 2 + q[1] ** 2 - p.L**2)},
    )


START = ([1.0, 0.0], [0.0, 0.0])

#: Changes of parameters, impacts, and a constraint that is switched: all that a run may meet.
EVENTS = {
    "wall": zw.event(lambda q: q[0] + 0.5, zw.bounce(0.9), direction=-1),
    "low": zw.event(lambda q: q[1] + 0.8, [zw.set_parameters(g=9.5)], direction=-1),
    "seen": zw.event(lambda q: q[1] + 0.3),
}

CASES = {
    "every step": ({"until": 60.0}, {}),
    "times": ({"until": 60.0, "save": 0.001}, {}),
    "events": ({"until": 20.0}, EVENTS),
    "events and times": ({"until": 20.0, "save": 0.01}, EVENTS),
    "stopped": (
        {"until": 60.0, "save": 0.007},
        {"end": zw.event(lambda t: t - 40.0001, "stop")},
    ),
    "implicit": ({"until": 4.0, "save": 0.01, "integrator": "radau5"}, EVENTS),
}

#: A run of a second or so, with many chunks.
LONG = {"until": 16000.0, "store_every": 0.0}


def _resume(path):
    """Resume when a file says so, and tell what came of it."""
    go = Path(f"{path}-go")
    pendulum().simulate(*START, until=1.0)
    print("ready", flush=True)
    while not go.exists():
        time.sleep(0.0005)
    try:
        zw.resume(path, pendulum(), store_every=0.0)
    except zw.StoreError as error:
        print(error, flush=True)
    else:
        print("done", flush=True)


def _simulate(path):
    # Once in little, so that everything is compiled and loaded.
    pendulum().simulate(*START, until=1.0, store=path + "-first")
    print("ready", flush=True)
    pendulum().simulate(*START, **LONG, store=path)
    print("done", flush=True)


if __name__ == "__main__":
    (_resume if sys.argv[2:] == ["resume"] else _simulate)(sys.argv[1])
