"""Rotation of a rigid body in quaternions, after Udwadia & Schutte and after Nikravesh."""

from zwang.rotation import euler_parameters, quaternion, quaternion_motion

__all__ = ["euler_parameters", "quaternion", "quaternion_motion"]
