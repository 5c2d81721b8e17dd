"""Rotation of a rigid body in quaternions, after Udwadia & Schutte and after Nikravesh."""
