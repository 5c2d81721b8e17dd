"""The coordinates that a mechanism is carried in, and its programs there.

    carried         which coordinates: a plane's, the joints', or those of the bodies
    carried_system  in a plane, or in its own with structure folded in, as one expression
    in_joints       whether and how it goes in those of the joints
    joint_system    these as one expression; joint_entry, the way of a state into them
    tree_programs   a large tree, link by link
    block_programs  a large mechanism in the coordinates of its bodies, block by block

Runs, events and reactions are in the coordinates of the mechanism in all cases.
"""
