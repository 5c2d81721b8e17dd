"""Methods of fixed steps, each the root of its discrete equations."""
