"""Reports and static scenes under axe-core: no serious finding, light and dark."""

import pytest
from axe import axe_source, findings
from chromium import wait
from shown_run import pendulum_run


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    folder = tmp_path_factory.mktemp("pages")
    run = pendulum_run(0.3)
    return {
        "report": run.report(folder / "report.html", title="Swing"),
        "scene": run.show(run, title="Two swings").save(folder / "scene.html"),
    }


@pytest.mark.parametrize(("name", "dark"), [("report", False), ("report", True), ("scene", True)])
def test_no_serious_finding(browser, pages, name, dark):
    source = axe_source()
    scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
    browser.call("Emulation.setEmulatedMedia", features=scheme)
    browser.open(pages[name].as_uri())
    ready = "document.documentElement.dataset.ready"
    wait(lambda: browser.evaluate(ready) == "yes", "scene")
    browser.evaluate("document.querySelectorAll('details').forEach((d) => { d.open = true; })")
    try:
        assert findings(browser, source) == []
    finally:
        browser.call("Emulation.setEmulatedMedia", features=[])
