"""What a mechanism can be integrated in, and its equations there.

    possible    its planes and what is written down of it, found once
    planar      in a plane, as one expression; joint, in the coordinates of its joints
    folded      in its own with what is structure folded in, as one expression
    embedding   equations in fewer coordinates than those of the bodies
    blocks      a large mechanism in the coordinates of its bodies, block by block
    constants   numbers of a mechanism that are structure rather than values

`zwang.simulation.select_program` chooses. Runs, events and reactions are in the coordinates of the
mechanism in all cases.
"""
