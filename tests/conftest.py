"""Its presence puts this folder on the path, so that all tests can import `samples`."""

import signal

from hypothesis import settings

# How long an example takes says something of the machine, nothing of the code.
settings.register_profile("no deadline", deadline=None)
settings.load_profile("no deadline")

# A shell that starts the tests in the background has them ignore Ctrl-C, and whatever they start;
# tests that press it would wait for ever.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)
