"""The fixture of a browser, for the folders of tests that open pages."""

import pytest
from chromium import Browser, executable


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    pytest.importorskip("websockets", reason="the browser is driven over websockets (extra view)")
    if executable() is None:
        pytest.skip("no Chromium or Chrome on this machine: install Debian's package 'chromium'")
    try:
        found = Browser(tmp_path_factory.mktemp("browser"))
    except (AssertionError, OSError, TimeoutError) as error:
        pytest.skip(f"the browser of this machine does not start without a window: {error}")
    yield found
    found.close()
