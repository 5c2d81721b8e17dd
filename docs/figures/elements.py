"""Small drawings of every joint and force element, one file each, and a sheet of them all.

The first body is grey, the second teal, what may move orange, axes and normals are dash-dotted.

Run: python docs/figures/elements.py [SHEET.svg]; the drawings go to a folder named after the sheet.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np

HERE = Path(__file__).parent
FIRST, SECOND, MOVES, LINE = "#78909c", "#00897b", "#ff6e40", "#90a4ae"
WIDTH, HEIGHT, COLUMNS = 150, 110, 5

Point = tuple[float, float]


class Sketch:
    """A drawing of 150 × 110 units, y upwards, as a list of SVG elements."""

    def __init__(self) -> None:
        self.parts: list[str] = []

    def path(self, d: str, color: str, width: float, *, fill: str = "none", dash: str = "") -> None:
        """A path in SVG's own coordinates."""
        dashes = f' stroke-dasharray="{dash}"' if dash else ""
        self.parts.append(
            f'<path d="{d}" fill="{fill}" stroke="{color}" stroke-width="{width:g}"{dashes}/>'
        )

    def line(
        self, *points: Point, color: str = LINE, width: float = 1.5, dash: str = "", fill: str = ""
    ) -> None:
        """A polyline, or a filled polygon."""
        d = "M" + " L".join(f"{x:.1f},{HEIGHT - y:.1f}" for x, y in points)
        if fill:
            d += " Z"
        self.path(d, color, width, dash=dash, fill=fill or "none")

    def bar(self, *points: Point, color: str, width: float = 8.0) -> None:
        """A body."""
        self.line(*points, color=color, width=width)

    def axis(self, *points: Point) -> None:
        """An axis or a normal."""
        self.line(*points, width=1.2, dash="8 3 2 3")

    def block(self, x: float, y: float, w: float, h: float, color: str, slant: float = 0.0) -> None:
        """A rectangle from its lower left corner, or a plate seen at a slant."""
        corners = ((x, y), (x + w, y), (x + w + slant, y + h), (x + slant, y + h))
        self.line(*corners, color=color, width=1.5, fill=color)

    def ellipse(
        self,
        center: Point,
        rx: float,
        ry: float,
        color: str,
        *,
        fill: str = "none",
        width: float = 2.0,
        start: float = 0.0,
        end: float = 360.0,
        tilt: float = 0.0,
        dash: str = "",
    ) -> list[Point]:
        """An ellipse or an arc of one, angles in degrees against the clock; returns its points."""
        a, r = np.radians(np.linspace(start, end, 40)), np.radians(tilt)
        u, w = rx * np.cos(a), ry * np.sin(a)
        x = center[0] + u * np.cos(r) - w * np.sin(r)
        y = center[1] + u * np.sin(r) + w * np.cos(r)
        points = list(zip(x.tolist(), y.tolist(), strict=True))
        self.line(*points, color=color, width=width, fill="" if fill == "none" else fill, dash=dash)
        return points

    def pin(self, center: Point, radius: float = 4.0, color: str = SECOND) -> None:
        """A pin or a ball seen along its axis."""
        self.ellipse(center, radius, radius, color, fill="#ffffff", width=2.0)

    def head(self, tip: Point, back: Point, color: str = MOVES) -> None:
        """The head of an arrow."""
        d = np.subtract(tip, back)
        d = 7.0 * d / np.linalg.norm(d)
        n = 0.45 * np.array([-d[1], d[0]])
        foot = np.subtract(tip, d)
        corners = [tuple(foot + n), tuple(foot - n)]
        self.line(tip, *corners, color=color, width=0.5, fill=color)

    def arrow(self, p: Point, q: Point, *, both: bool = False, color: str = MOVES) -> None:
        """A straight arrow from p to q."""
        d = np.subtract(q, p) / np.linalg.norm(np.subtract(q, p))
        ends = [tuple(np.add(p, 5 * d) if both else p), tuple(np.subtract(q, 5 * d))]
        self.line(*ends, color=color, width=2.0)
        self.head(q, p, color)
        if both:
            self.head(p, q, color)

    def turn(
        self,
        center: Point,
        rx: float,
        ry: float,
        start: float = 200.0,
        end: float = 500.0,
        tilt: float = 0.0,
    ) -> None:
        """An arrow about an axis: an arc of an ellipse with a head."""
        # The arc ends inside the head, whichever way round it goes.
        short = end - np.sign(end - start) * min(12.0, 200.0 / max(rx, ry))
        points = self.ellipse(center, rx, ry, MOVES, start=start, end=short, tilt=tilt)
        a, r = np.radians(end), np.radians(tilt)
        tip = (
            center[0] + rx * np.cos(a) * np.cos(r) - ry * np.sin(a) * np.sin(r),
            center[1] + rx * np.cos(a) * np.sin(r) + ry * np.sin(a) * np.cos(r),
        )
        self.head(tip, points[-3])

    def text(self, at: Point, words: str, color: str = FIRST, size: float = 10.0) -> None:
        """A word or two."""
        self.parts.append(
            f'<text x="{at[0]:g}" y="{HEIGHT - at[1]:g}" fill="{color}" font-size="{size:g}" '
            f'font-family="sans-serif" text-anchor="middle">{words}</text>'
        )

    def spring(self, p: Point, q: Point, *, coils: int = 5, color: str = LINE) -> None:
        """A zigzag from p to q."""
        d = np.subtract(q, p)
        n = 5.0 * np.array([-d[1], d[0]]) / np.linalg.norm(d)
        inner = np.linspace(0.15, 0.85, 2 * coils)
        points = [tuple(np.add(p, s * d) + (-1) ** k * n) for k, s in enumerate(inner)]
        self.line(p, tuple(np.add(p, 0.1 * d)), *points, tuple(np.add(p, 0.9 * d)), q, color=color)


# --- joints ---------------------------------------------------------------------------------------


def revolute(s: Sketch) -> None:
    """A hinge: knuckles of two bodies on one axis."""
    s.bar((12, 50), (56, 50), color=FIRST)
    s.bar((58, 30), (58, 70), color=FIRST)
    for y in (22, 66):
        s.block(60, y, 22, 16, FIRST)
    s.bar((82, 52), (140, 52), color=SECOND)
    s.block(60, 42, 22, 20, SECOND)
    s.axis((71, 6), (71, 106))
    s.turn((71, 95), 17, 5)


def cylindrical(s: Sketch) -> None:
    """A sleeve on a round bar."""
    s.block(14, 42, 122, 10, FIRST)
    s.block(54, 32, 36, 30, SECOND)
    s.bar((72, 62), (72, 96), color=SECOND)
    s.axis((4, 47), (146, 47))
    s.arrow((92, 76), (134, 76), both=True)
    s.turn((114, 47), 6, 20, start=-120, end=140)


def prismatic(s: Sketch) -> None:
    """A slider that grips a rail."""
    s.block(14, 36, 122, 16, FIRST)
    s.line((14, 44), (136, 44), color="#ffffff", width=1.0)
    s.line((48, 28), (48, 62), (98, 62), (98, 28), color=SECOND, width=6.0)
    s.bar((73, 62), (73, 98), color=SECOND)
    s.axis((4, 44), (146, 44))
    s.arrow((90, 80), (136, 80), both=True)


def screw(s: Sketch) -> None:
    """A nut on a threaded bar."""
    s.block(14, 40, 122, 14, FIRST)
    for x in range(18, 132, 8):
        s.line((x, 38), (x + 5, 56), color="#ffffff", width=1.5)
    s.block(56, 32, 32, 30, SECOND)
    s.bar((72, 62), (72, 96), color=SECOND)
    s.axis((4, 47), (146, 47))
    s.arrow((88, 76), (122, 76))
    s.turn((112, 47), 6, 20, start=-120, end=140)
    s.text((110, 12), "pitch a turn")


def spherical(s: Sketch) -> None:
    """A ball in a socket."""
    s.bar((10, 42), (48, 48), color=FIRST)
    s.ellipse((68, 52), 20, 20, FIRST, width=7.0, start=60, end=310)
    s.bar((68, 52), (134, 84), color=SECOND)
    s.ellipse((68, 52), 13, 13, SECOND, fill=SECOND)
    s.turn((104, 69.5), 5, 15, start=-120, end=140, tilt=26)
    s.turn((68, 52), 58, 58, start=18, end=-14)
    s.turn((68, 52), 58, 58, start=34, end=66)


def planar(s: Sketch) -> None:
    """A plate on a plate."""
    s.block(8, 14, 100, 40, FIRST, slant=34)
    s.block(44, 30, 40, 16, SECOND, slant=14)
    s.bar((70, 40), (70, 72), color=SECOND)
    s.axis((70, 8), (70, 106))
    s.arrow((92, 36), (128, 36))
    s.arrow((60, 24), (46, 8))
    s.turn((70, 92), 17, 5)


def fixed(s: Sketch) -> None:
    """Two bars welded together."""
    s.bar((12, 48), (76, 48), color=FIRST, width=12)
    s.bar((74, 48), (138, 64), color=SECOND, width=12)
    for x in (-9, -3, 3, 9):
        s.line((75 + x - 4, 38), (75 + x + 4, 60), color=MOVES, width=2.0)


def universal(s: Sketch) -> None:
    """Two forks on a cross."""
    s.bar((8, 50), (36, 50), color=FIRST)
    s.line((38, 50), (46, 80), (72, 80), color=FIRST, width=6.0)
    s.line((38, 50), (46, 20), (72, 20), color=FIRST, width=6.0)
    s.bar((116, 60), (144, 72), color=SECOND)
    s.line((116, 60), (108, 76), (92, 63), color=SECOND, width=6.0)
    s.line((116, 60), (96, 28), (52, 37), color=SECOND, width=6.0)
    for ends in (((72, 14), (72, 86)), ((52, 37), (92, 63))):
        s.line(*ends, color=LINE, width=4.0)
    for end in ((72, 14), (72, 86)):
        s.pin(end, 3, FIRST)
    for end in ((52, 37), (92, 63)):
        s.pin(end, 3)
    s.turn((72, 99), 15, 5)
    s.turn((102, 69.5), 5, 13, start=-130, end=130, tilt=32)
    s.text((18, 60), "axis")
    s.text((132, 48), "axis_b", SECOND)


def constant_velocity(s: Sketch) -> None:
    """Two shafts in a bell."""
    s.bar((8, 40), (58, 40), color=FIRST)
    s.ellipse((74, 42), 21, 21, FIRST, width=6.0, start=50, end=330)
    s.bar((74, 42), (136, 82), color=SECOND)
    s.ellipse((74, 42), 11, 11, SECOND, fill=SECOND)
    s.turn((30, 40), 6, 18, start=-120, end=140)
    s.turn((112, 66), 6, 18, start=-120, end=140, tilt=33)


def oldham(s: Sketch) -> None:
    """Two hubs out of line and a disk with crossed keys between them."""
    s.axis((4, 46), (70, 46))
    s.axis((86, 62), (146, 62))
    s.bar((10, 46), (48, 46), color=FIRST)
    s.block(48, 20, 10, 52, FIRST)
    s.block(63, 24, 14, 60, LINE)
    s.block(82, 36, 10, 52, SECOND)
    s.bar((92, 62), (138, 62), color=SECOND)
    s.turn((28, 46), 6, 17, start=-120, end=140)
    s.turn((118, 62), 6, 17, start=-120, end=140)
    s.arrow((106, 4), (106, 36), both=True)


def gear(s: Sketch) -> None:
    """Two wheels in mesh."""
    for center, radius, color in (((52, 52), 34.0, FIRST), ((111, 52), 22.0, SECOND)):
        s.ellipse(center, radius - 3, radius - 3, color, width=2.0)
        s.ellipse(center, radius, radius, color, width=5.0, dash="3.5 3.5")
        s.pin(center, 3.5, color)
    s.turn((52, 52), 18, 18, start=20, end=160)
    s.turn((111, 52), 12, 12, start=160, end=20)
    s.text((52, 30), "radius_a", size=9)
    s.text((113, 16), "radius_b", SECOND, size=9)


def rack_and_pinion(s: Sketch) -> None:
    """A wheel on a toothed bar."""
    s.ellipse((70, 70), 25, 25, FIRST, width=2.0)
    s.ellipse((70, 70), 28, 28, FIRST, width=5.0, dash="3.5 3.5")
    s.pin((70, 70), 3.5, FIRST)
    s.bar((14, 30), (136, 30), color=SECOND)
    for x in range(16, 136, 7):
        s.line((x, 34), (x + 3, 39), color=SECOND, width=3.0)
    s.turn((70, 70), 15, 15, start=200, end=340)
    s.arrow((88, 14), (126, 14))


def spherical_link(s: Sketch) -> None:
    """A rod between two balls."""
    s.bar((10, 22), (36, 44), color=FIRST)
    s.bar((110, 76), (142, 70), color=SECOND)
    s.line((36, 44), (110, 76), color=LINE, width=3.0)
    s.pin((36, 44), 5, FIRST)
    s.pin((110, 76), 5, SECOND)
    s.turn((110, 76), 19, 19, start=250, end=300)
    s.turn((36, 44), 24, 24, start=60, end=110)
    s.text((86, 48), "length")


def revolute_spherical_link(s: Sketch) -> None:
    """A rod between a pin and a ball."""
    s.bar((8, 26), (36, 40), color=FIRST)
    s.bar((110, 76), (142, 70), color=SECOND)
    s.line((36, 40), (110, 76), color=LINE, width=3.0)
    s.block(29, 30, 14, 20, FIRST)
    s.axis((36, 4), (36, 100))
    s.pin((110, 76), 5, SECOND)
    s.turn((36, 84), 15, 5)
    s.turn((110, 76), 19, 19, start=250, end=300)
    s.text((86, 46), "length")


def point_on_line(s: Sketch) -> None:
    """A point of one body on a line of another."""
    s.bar((12, 26), (30, 34), color=FIRST)
    s.bar((14, 30), (138, 30), color=FIRST, width=4.0)
    s.axis((4, 30), (146, 30))
    s.bar((72, 34), (98, 92), color=SECOND)
    s.pin((71, 32), 5)
    s.arrow((84, 16), (126, 16), both=True)
    s.turn((71, 32), 40, 40, start=90, end=122)


def point_on_plane(s: Sketch) -> None:
    """A point of one body in a plane of another."""
    s.block(8, 10, 100, 40, FIRST, slant=34)
    s.axis((70, 4), (70, 106))
    s.bar((70, 34), (98, 92), color=SECOND)
    s.pin((70, 32), 5)
    s.arrow((80, 32), (118, 32))
    s.arrow((64, 24), (50, 8))


def point_on_curve(s: Sketch) -> None:
    """A point of one body on a curve of another."""
    x = np.linspace(10.0, 140.0, 40)
    y = 34.0 + 16.0 * np.sin(x / 20.0)
    s.line(*zip(x.tolist(), y.tolist(), strict=True), color=FIRST, width=4.0)
    s.bar((78, 24), (98, 88), color=SECOND)
    s.pin((77, 23.5), 5)
    s.arrow((88, 14), (122, 30))
    s.turn((77, 23), 44, 44, start=88, end=118)
    s.text((30, 62), "curve(s)")


def rolling_sphere(s: Sketch) -> None:
    """A ball on a plane."""
    s.block(4, 6, 108, 30, FIRST, slant=30)
    s.axis((70, 4), (70, 106))
    s.ellipse((70, 46), 26, 26, SECOND, fill=SECOND)
    s.ellipse((70, 46), 26, 8, "#ffffff", width=1.0, start=180, end=360)
    s.line((70, 46), (70, 20), color="#ffffff", width=1.5)
    s.text((84, 32), "radius", "#ffffff", 8)
    s.turn((70, 46), 36, 36, start=150, end=60)
    s.arrow((104, 46), (140, 46))


def rolling_disk(s: Sketch) -> None:
    """A leaning disk on a plane."""
    s.block(4, 4, 108, 30, FIRST, slant=30)
    s.ellipse((66, 50), 13, 34, SECOND, fill=SECOND, tilt=12)
    s.axis((30, 42), (128, 63))
    s.text((128, 70), "axis_b", SECOND, 9)
    s.turn((104, 58), 6, 16, start=-120, end=140, tilt=12)
    s.arrow((58, 14), (34, 8))


def knife_edge(s: Sketch) -> None:
    """A blade on a plane."""
    s.block(4, 8, 108, 46, FIRST, slant=34)
    s.line((48, 24), (92, 40), (92, 62), (48, 46), color=SECOND, width=1.5, fill=SECOND)
    s.axis((70, 8), (70, 106))
    s.arrow((94, 41), (126, 53))
    s.turn((70, 92), 17, 5)
    s.text((98, 14), "reference", "#ffffff", 9)
    s.line((94, 23), (86, 33), color="#ffffff", width=1.0)


# --- forces ---------------------------------------------------------------------------------------


def gravity(s: Sketch) -> None:
    """The weight of a body."""
    s.block(38, 52, 74, 34, SECOND)
    s.pin((75, 69), 4)
    s.arrow((75, 66), (75, 14))
    s.text((98, 24), "m g", MOVES)


def force(s: Sketch) -> None:
    """A force at a point and a torque on one body."""
    s.bar((16, 34), (128, 62), color=SECOND)
    s.pin((116, 59), 4)
    s.arrow((116, 100), (116, 62))
    s.text((132, 86), "force", MOVES)
    s.text((126, 42), "at", SECOND)
    s.turn((46, 42), 17, 17, start=-30, end=210)
    s.text((46, 68), "torque", MOVES)


def spring_damper(s: Sketch) -> None:
    """A spring, a damper and an actuator side by side."""
    s.bar((8, 30), (26, 56), color=FIRST)
    s.bar((124, 56), (142, 84), color=SECOND)
    s.line((26, 56), (38, 56), width=2.0)
    s.line((112, 56), (124, 56), width=2.0)
    for x in (38, 112):
        s.line((x, 36), (x, 76), width=2.0)
    s.spring((38, 76), (112, 76))
    s.line((38, 56), (64, 56))
    s.line((86, 64), (64, 64), (64, 48), (86, 48), width=2.0)
    s.line((74, 62), (74, 50), width=3.0)
    s.line((74, 56), (112, 56))
    s.arrow((62, 36), (40, 36))
    s.arrow((88, 36), (110, 36))
    s.text((75, 33), "f", MOVES)
    s.pin((26, 56), 4, FIRST)
    s.pin((124, 56), 4)
    s.text((75, 92), "stiffness, damping, force", size=9)


def torsion_spring(s: Sketch) -> None:
    """A spiral spring at a hinge."""
    s.bar((10, 40), (66, 40), color=FIRST)
    s.bar((66, 40), (130, 76), color=SECOND)
    a = np.linspace(np.pi, 4.0 * np.pi + 0.5, 80)
    r = np.linspace(25, 8, 80)
    s.line(*zip(66 + r * np.cos(a), 40 + r * np.sin(a), strict=True), color=MOVES, width=2.0)
    s.pin((66, 40), 4.5)
    s.turn((66, 40), 48, 48, start=30, end=3)


def bushing(s: Sketch) -> None:
    """An elastic bed."""
    s.bar((6, 55), (34, 55), color=FIRST)
    s.line((36, 12), (36, 98), (114, 98), (114, 12), (36, 12), color=FIRST, width=5.0)
    s.block(60, 40, 30, 30, SECOND)
    s.bar((90, 55), (144, 55), color=SECOND, width=5.0)
    s.spring((38, 55), (60, 55), coils=2)
    s.spring((75, 70), (75, 96), coils=3)
    s.spring((75, 14), (75, 40), coils=3)
    s.arrow((92, 80), (110, 80), both=True)
    s.arrow((54, 18), (54, 36), both=True)


def friction(s: Sketch) -> None:
    """A journal in its bearing."""
    s.bar((8, 34), (50, 46), color=FIRST)
    s.ellipse((68, 52), 24, 24, FIRST, width=6.0)
    s.bar((68, 52), (138, 66), color=SECOND)
    s.ellipse((68, 52), 17, 17, SECOND, fill=SECOND)
    s.arrow((68, 12), (68, 33))
    s.text((58, 14), "N", MOVES)
    s.turn((68, 52), 35, 35, start=160, end=50)
    s.text((104, 94), "μ r N", MOVES)


def user_force(s: Sketch) -> None:
    """Forces on two bodies."""
    s.block(14, 20, 40, 24, FIRST)
    s.block(96, 52, 40, 24, SECOND)
    s.arrow((34, 32), (62, 50))
    s.arrow((116, 64), (86, 46))
    s.text((75, 90), "f(bodies, t, p)", MOVES)


JOINTS: Sequence[Callable[[Sketch], None]] = (
    revolute,
    prismatic,
    cylindrical,
    screw,
    spherical,
    planar,
    fixed,
    universal,
    constant_velocity,
    oldham,
    gear,
    rack_and_pinion,
    spherical_link,
    revolute_spherical_link,
    point_on_line,
    point_on_plane,
    point_on_curve,
    rolling_sphere,
    rolling_disk,
    knife_edge,
)
FORCES: Sequence[Callable[[Sketch], None]] = (
    gravity,
    force,
    spring_damper,
    torsion_spring,
    bushing,
    friction,
    user_force,
)


def svg(parts: Sequence[str], width: float, height: float) -> str:
    """An SVG file of elements."""
    body = "\n".join(parts)
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:g} {height:g}" '
        f'width="{width:g}" height="{height:g}" stroke-linejoin="round" stroke-linecap="round">\n'
        f"{body}\n</svg>\n"
    )


def draw(sheet: Path) -> None:
    """Write all drawings, and the sheet that shows them with their names."""
    folder = sheet.with_suffix("")
    folder.mkdir(exist_ok=True)
    tiles = []
    step = HEIGHT + 22
    for k, element in enumerate((*JOINTS, *FORCES)):
        sketch = Sketch()
        element(sketch)
        name = element.__name__
        parts = [f"<title>{element.__doc__}</title>", *sketch.parts]
        (folder / f"{name}.svg").write_text(svg(parts, WIDTH, HEIGHT), encoding="utf-8")
        sketch.text((WIDTH / 2, -10), name.replace("_", " "), size=11)
        x, y = k % COLUMNS * (WIDTH + 10), k // COLUMNS * step
        tiles += [f'<g transform="translate({x},{y})">', *sketch.parts, "</g>"]
    rows = -(-(len(JOINTS) + len(FORCES)) // COLUMNS)
    text = svg(tiles, COLUMNS * (WIDTH + 10), rows * step)
    sheet.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    draw(Path(sys.argv[1]) if len(sys.argv) > 1 else HERE.parent / "images" / "elements.svg")
