"""Its presence puts this folder on the path, so that all tests can import `samples`."""

from hypothesis import settings

# How long an example takes says something of the machine, nothing of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")
