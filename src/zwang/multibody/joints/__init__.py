"""Joints between bodies."""

from zwang.multibody.joints import contacts, couplings, gears, lower_pairs
from zwang.multibody.joints.kind import JointKind

__all__ = ["KINDS"]

#: Name → kind of joint.
KINDS: dict[str, JointKind] = {
    kind.name: kind
    for module in (lower_pairs, couplings, gears, contacts)
    for kind in vars(module).values()
    if isinstance(kind, JointKind) and not kind.variant
}
