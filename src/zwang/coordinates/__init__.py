"""The coordinates that a mechanism is carried in, and its programs there.

    choose      which coordinates: a plane's, the joints', or those of the bodies
    planar      in a plane, or in its own with structure folded in, as one expression
    joint       in those of the joints
    blocks      a large mechanism in the coordinates of its bodies, block by block
    constants   numbers of a mechanism that are structure rather than values

Runs, events and reactions are in the coordinates of the mechanism in all cases.
"""
