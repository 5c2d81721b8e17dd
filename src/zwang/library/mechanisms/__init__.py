"""Ready-made mechanisms of bodies and joints."""
