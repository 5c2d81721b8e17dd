"""A door on three hinges: what is redundant, which reactions are known, and how to distribute them.

Two hinges are enough to hold a door and one is enough to guide it; everybody uses three. Fifteen
equations have rank five. The motion is unique all the same; what a single hinge carries is not,
and a program that gives a number without saying so gives a guess.
"""

import numpy as np

import zwang as zw

door = zw.library.door(hinges=3)


def main() -> zw.Run:
    """Explain the door, let it swing shut, and tell known from unknown reactions."""
    start = door.assemble()
    explanation = door.explain(start)
    print(explanation)
    print()
    print(door.passport(start))
    run = door.simulate(start, until=6.0, save=0.25)
    print()
    print(f"the door swings through {np.degrees(np.ptp(run['hinge1.angle'])):.1f} degrees")
    reactions = [run.reaction(f"hinge{k}") for k in (1, 2, 3)]
    known = [bool(np.all(r.determinate)) for r in reactions]
    print(f"hinges whose force is known: {sum(known)} of 3")
    total = np.sum([r.force for r in reactions], axis=0)
    print(f"together they carry {np.linalg.norm(total[0]):.3f} N, which is known")

    # A choice needs a reason: here the lowest hinge gives three times as easily as the others.
    terms = door.terms(start)
    shared = zw.splits(
        terms.mass_matrix,
        terms.applied_force,
        terms.constraint_matrix,
        terms.constraint_rhs,
        compliance=np.repeat([3.0, 1.0, 1.0], 5),
    )["compliance-weighted"].multipliers.reshape(3, 5)
    print(f"weight distributed by compliance: {shared[:, 2].round(2)} N")
    return run


if __name__ == "__main__":
    main()
