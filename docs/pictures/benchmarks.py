"""Published benchmarks, larger mechanisms, many runs, formulas."""

from __future__ import annotations

from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from pictures.style import (
    AMBER,
    BLUE,
    CORAL,
    GREY,
    INK,
    SIZE,
    TEAL,
    TIDE,
    VIOLET,
    bare,
    plain,
    sheet,
)

__all__ = ["PICTURES"]


def squeezer(run: Any) -> Any:
    """The mechanism, and how its crank speeds up."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.2, 1.0))
    run.draw(0.02, axes=left, traces={"K3": (0.0, 0.0, 0.0), "K4": (0.0, 0.0, 0.0)})
    right.plot(1e3 * run.t, run["O.angle_rate"], color=TEAL)
    right.set(xlabel="t [ms]", ylabel="crank [rad/s]", xlim=(0, 30))
    return figure


def axle(run: Any) -> Any:
    """Both ends of the axle over time, and the road."""
    figure, (upper, lower) = sheet(2, 1, sharex=True, height_ratios=(2.0, 1.0))
    upper.plot(run.t, run["y_l"], color=TEAL, label="left end", lw=1.1)
    upper.plot(run.t, run["y_r"], color=CORAL, label="right end", lw=1.1)
    upper.plot(run.t, 0.1 * np.sin(10 * run.t), color=GREY, lw=0.9, label="road")
    upper.set(ylabel="height")
    upper.legend(loc="upper right", ncols=3, bbox_to_anchor=(1.0, 1.16))
    lower.plot(run.t, run.multipliers("axle")[:, 0], color=VIOLET, lw=1.0)
    lower.set(xlabel="t", ylabel="multiplier", xlim=(0, 3))
    return figure


def flat(run: Any) -> Any:
    """The linkage in several positions, and the angle with its singular passages."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.2, 1.0))
    plain(left)
    angle = run["A0.angle"]
    for k, value in enumerate(np.linspace(0.0, np.pi, 7)):
        i = int(np.argmin(np.abs(angle[:150] - value)))
        x, y = np.sin(angle[i]), np.cos(angle[i])
        color = TIDE(k / 6)
        for n in range(3):
            left.plot([n, n + x], [0, y], color=color, lw=2)
        left.plot([x, 2 + x], [y, y], color=color, lw=2)
    left.plot([0, 1, 2], [0, 0, 0], "o", color=INK, markersize=7, mfc="white", zorder=5)
    right.plot(run.t, np.degrees(angle), color=TEAL)
    for change in run.ranks:
        right.axvline(change.t, color=CORAL, lw=0.9, zorder=0)
    right.set(xlabel="t [s]", ylabel="crank [°]", xlim=(0, 10), title="singular positions passed")
    return figure


def governor(run: Any) -> Any:
    """The governor at two times, and the height of its block."""
    figure = plt.figure(figsize=SIZE, layout="constrained")
    grid = figure.add_gridspec(1, 2, width_ratios=(1.0, 1.1))
    left, right = figure.add_subplot(grid[0]), figure.add_subplot(grid[1])
    ends = {"right": (1.0, 0, 0), "left": (1.0, 0, 0)}
    run.draw(1.2, axes=left, traces=ends, elevation=0.3)
    right.plot(run.t, 0.5 + run["slide.displacement"], color=TEAL)
    right.set(xlabel="t [s]", ylabel="height of the block [m]", xlim=(0, 4))
    return figure


def stewart(run: Any) -> Any:
    """The platform under its load, and the strokes of its legs."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.1, 1.0))
    run.draw(0.4, axes=left, forces=True)
    for k in range(1, 7):
        stroke = 1e3 * run[f"slide{k}.displacement"]
        right.plot(run.t, stroke, color=TIDE((k - 1) / 5), lw=1.2, label=f"leg {k}")
    right.axvline(1.0, color=GREY, lw=0.8, ls="--")
    right.set(xlabel="t [s]", ylabel="stroke [mm]", xlim=(0, 2.5))
    right.legend(loc="lower right", fontsize=7, ncols=2)
    return figure


def bicycle(runs: Any) -> Any:
    """Lean at three speeds, and the bicycle."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.25))
    runs[5.0].draw(0.0, axes=left, azimuth=0.75, elevation=0.25)
    for (speed, run), color in zip(runs.items(), (CORAL, TEAL, AMBER), strict=True):
        lean = np.degrees(np.arcsin(run.body("frame").rotation[:, 2, 1]))
        right.plot(run.t, lean, color=color, label=f"{speed:g} m/s")
    right.axhline(0, color=GREY, lw=0.8)
    right.set(xlabel="t [s]", ylabel="lean [°]", xlim=(0, 5), ylim=(-6, 6))
    right.legend(loc="lower right")
    return figure


def leg(run: Any) -> Any:
    """The leg, and the path of its foot."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.1))
    # The foot in the axes of the lower triangle, found as in the example.
    lower = run.body("lower")
    ankle = run.body("f").point((0.197, 0, 0))[0] - lower.position[0]
    g = np.linalg.norm(ankle)
    along = (g**2 + 0.49**2 - 0.657**2) / (2 * g)
    across = np.array([-ankle[2], 0.0, ankle[0]]) / g
    foot = along * ankle / g + np.sqrt(0.49**2 - along**2) * across
    run.draw(1.35, axes=left, traces={"lower": foot})
    right.plot(run["axle.angle"] / (2 * np.pi), run.multipliers("motor")[:, 0], color=VIOLET)
    right.axhline(0, color=GREY, lw=0.8)
    right.set(xlabel="turns of the crank", ylabel="torque of the motor [N·m]", xlim=(0, 2))
    return figure


def shafts(run: Any) -> Any:
    """The shafts, and their rates over two turns."""
    figure, (upper, lower) = sheet(2, 1, height_ratios=(1.0, 1.3))
    run.draw(0.0, axes=upper, elevation=0.5)
    upper.set_xlim(-1.7, 1.7)
    upper.set_ylim(-0.55, 0.55)
    turns = run["input_bearing.angle"] / (2 * np.pi)
    lower.plot(turns, run["input_bearing.angle_rate"], color=TEAL, label="driving shaft")
    lower.plot(turns, run["output_bearing.angle_rate"], color=CORAL, label="driven shaft")
    lower.set(xlabel="turns", ylabel="rate [rad/s]", xlim=(0, 2))
    lower.legend(loc="lower right", bbox_to_anchor=(1.0, 1.0), ncols=2)
    return figure


def tops(runs: Any) -> Any:
    """Paths of the tips on a sphere."""
    figure = plt.figure(figsize=SIZE)
    u, v = np.meshgrid(np.linspace(0, 2 * np.pi, 37), np.linspace(0, 0.42 * np.pi, 13))
    surface = np.cos(u) * np.sin(v), np.sin(u) * np.sin(v), np.cos(v)
    for k, run in enumerate(runs.values()):
        # Wider than their share, since a sphere leaves the corners of its square empty.
        axes: Any = figure.add_axes(
            (0.325 * k - 0.065, 0.06, 0.48, 0.9), projection="3d", facecolor="none"
        )
        axes.plot_wireframe(*surface, color="#cfd9e0", lw=0.5, rstride=2, cstride=3)
        tip = run.body("top").rotation[:, :, 2]
        axes.plot(*(1.01 * tip.T), color=(TEAL, BLUE, CORAL)[k], lw=1.8)
        axes.plot([0, tip[0, 0]], [0, tip[0, 1]], [0, tip[0, 2]], color=INK, lw=2)
        bare(axes, np.array([[-1, -1, 0], [1, 1, 1]]), zoom=1.02)
        axes.set_title(("pushed ahead", "let go", "pushed back")[k], y=0.1)
        axes.view_init(elev=48, azim=-40)
    return figure


def net(run: Any) -> Any:
    """The net at two times."""
    figure, row = sheet(1, 2)
    for axes, t in zip(row, (0.0, 0.9), strict=True):
        run.draw(t, axes=axes, azimuth=-1.2, elevation=0.15)
        axes.set_title(f"t = {t:g} s")
    return figure


def many(runs: Any) -> Any:
    """Paths of the tips of all, as long as they go together and after."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.25))
    plain(left)
    colors = TIDE(np.linspace(0, 1, len(runs)))
    t = runs[0].t
    shown = (t > 8.2) & (t < 10.4)
    for run, color in zip(runs, colors, strict=True):
        left.plot(run["x2"][shown], run["y2"][shown], color=color, lw=0.5, alpha=0.6)
        right.plot(t, run["x2"], color=color, lw=0.5, alpha=0.6)
    left.plot(0, 0, "o", color=INK, markersize=5)
    right.set(xlabel="t [s]", ylabel="x of the tip [m]", xlim=(0, 12))
    return figure


def formulas(runs: Any) -> Any:
    """Phase curves of the bead, and the formula they obey."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.0))
    x = np.linspace(-0.55, 0.55, 200)
    left.plot(x, x**2 / 0.8, color=INK, lw=3)
    for k, run in enumerate(runs):
        color = TIDE(k / (len(runs) - 1))
        left.plot(run["x"][0], run["z"][0], "o", color=color, markersize=9, zorder=4)
        right.plot(run["x"], run["x_dot"], color=color, lw=1.6)
    plain(left)
    left.text(
        0.0,
        0.48,
        r"$\ddot x = -x\,\frac{\dot x^2 + g p}{p^2 + x^2}$",
        fontsize=13,
        color=INK,
        ha="center",
    )
    right.set(xlabel="x [m]", ylabel="ẋ [m/s]")
    return figure


def speeds(locus: Any) -> Any:
    """Growth and frequency of lean and steer over the speed."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.0))
    v = 0.3 * locus.values
    for branch in locus.eigenvalues.T:
        left.plot(v, branch.real, ".", color=TEAL, markersize=2)
        right.plot(v, branch.imag, ".", color=AMBER, markersize=2)
    left.axhline(0.0, color=GREY, lw=0.8)
    left.set(xlabel="speed [m/s]", ylabel="growth [1/s]", ylim=(-8, 6))
    right.set(xlabel="speed [m/s]", ylabel="frequency [rad/s]", ylim=(0, 10))
    return figure


def motor(found: Any) -> Any:
    """Where the ram is over the crank's angle, and the torque of the motor over time."""
    kinematics, efforts = found
    figure, (left, right) = sheet(1, 2, width_ratios=(1.0, 1.0))
    angle = np.rad2deg(kinematics["drive.angle"])
    left.plot(np.rad2deg(np.unwrap(np.deg2rad(angle))), kinematics["ram.position.x"], color=TEAL)
    left.set(xlabel="crank [deg]", ylabel="ram [m]", xlim=(0, 360))
    right.plot(efforts.t, efforts.effort["drive.angle"], color=CORAL)
    right.axhline(0.0, color=GREY, lw=0.8)
    right.set(xlabel="t [s]", ylabel="torque [N m]", xlim=(0, 1))
    return figure


def stability_map(study: Any) -> Any:
    """Growth over speed, a line for each wheelbase."""
    figure, left = sheet(1, 1)
    grid = study.on_grid
    speeds = 0.3 * grid["analysis.rates.rear_hub.angle"].values
    for place, row, color in zip(
        grid["head.at_a[0]"].values, grid["growth"].values, (TEAL, INK, CORAL), strict=True
    ):
        left.plot(speeds, row, "o-", color=color, label=f"wheelbase {place + 0.22:.2f} m")
    left.set(xlabel="speed [m/s]", ylabel="growth [1/s]")
    left.legend(frameon=False)
    return figure


def clearances(study: Any) -> Any:
    """What each hinge carries in a hundred doors."""
    figure, axes = sheet(1, 3)
    for k, (ax, color) in enumerate(zip(axes, (TEAL, AMBER, CORAL), strict=True), 1):
        ax.hist(study.dataset[f"load{k}"].values, bins=20, color=color)
        ax.set(xlabel=f"hinge {k} [N]", yticks=[])
    return figure


def basins(edge: Any) -> Any:
    """Starts that end on either side, and the boundary between them."""
    figure, left = sheet(1, 1)
    names = edge.names
    for study in edge.studies:
        data = study.dataset
        right = data["rest"].values > 0.0
        x, y = (data[name].values for name in names)
        left.plot(x[right], y[right], "o", color=TEAL, markersize=3)
        left.plot(x[~right], y[~right], "o", color=AMBER, markersize=3)
    left.plot(*edge.points.T, "s", color=INK, markersize=2)
    left.set(xlabel="angle [rad]", ylabel="rate [rad/s]")
    return figure


def snap_through(path: Any) -> Any:
    """Load over the height of the apex, unstable parts dotted, and the turning points."""
    figure, left = sheet(1, 1)
    height = path.q[:, 1]
    stable = np.array([kind == "stable" for kind in path.stability])
    left.plot(height, path.values, ":", color=GREY)
    left.plot(height[stable], path.values[stable], ".", color=TEAL, markersize=4)
    turns = [one.value for one in path.critical]
    at = [height[np.argmin(np.abs(path.values - value))] for value in turns]
    left.plot(at, turns, "o", color=CORAL)
    left.annotate("snaps through", (at[0], turns[0]), (8, 6), textcoords="offset points", color=INK)
    left.invert_xaxis()
    left.set(xlabel="height of the apex [m]", ylabel="load [N]")
    return figure


def crane(solution: Any) -> Any:
    """Ropes of the crane along its way, and the efforts of its motors."""
    figure, (left, right) = sheet(1, 2, width_ratios=(1.2, 1.0))
    for k in range(0, len(solution.t), 10):
        x, z, s = (solution[name][k] for name in "xzs")
        left.plot([s, x], [0.0, z], color=GREY, lw=0.8)
    left.plot(solution["x"], solution["z"], color=TEAL)
    left.plot(solution["s"], 0.0 * solution["s"], color=AMBER, lw=3)
    left.set(xlabel="x [m]", ylabel="z [m]", aspect="equal")
    right.plot(solution.t, solution.effort["s"], color=AMBER, label="trolley")
    right.plot(solution.t, solution.effort["l"], color=CORAL, label="winch")
    right.legend(frameon=False)
    right.set(xlabel="t [s]", ylabel="effort [N]", xlim=(0, 3))
    return figure


PICTURES = {
    "40_snap_through": snap_through,
    "41_crane": crane,
    "37_stability_map": stability_map,
    "38_door_clearances": clearances,
    "39_basin_map": basins,
    "23_squeezer": squeezer,
    "24_car_axis": axle,
    "25_singular_positions": flat,
    "26_stiff_governor": governor,
    "27_stewart_platform": stewart,
    "28_bicycle": bicycle,
    "29_walking_leg": leg,
    "30_universal_joint": shafts,
    "31_spinning_top": tops,
    "32_hanging_net": net,
    "33_many_starts": many,
    "34_formulas": formulas,
    "35_bicycle_speeds": speeds,
    "36_motor_torques": motor,
}
