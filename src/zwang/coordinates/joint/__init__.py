"""Mechanisms in the coordinates of their joints: a tree of links, and loops closed by rows.

    tree              the links, rooted in the ground
    link_constants    where each is placed on its parent, and what it weighs
    articulated_body  motion and articulated bodies from link to link
    relative_poses    how each body stands on its parent
    equations         the equations of motion as expressions
    link_kernels      the same, one function for each kind of link and pass
    from_bodies       the way of a state into these coordinates
    system            all of it as one expression; by_link, a large tree link by link
    programs          whether and how a mechanism goes in these coordinates

Runs, events and reactions are in the coordinates of the mechanism all the same.
"""
