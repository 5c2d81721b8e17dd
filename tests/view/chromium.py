"""A real Chromium without a window, driven over its DevTools protocol."""

import base64
import json
import shutil
import subprocess
import time
from pathlib import Path

#: Software WebGL, and no helper services.
OPTIONS = (
    "--headless=new",
    "--no-sandbox",
    "--use-gl=angle",
    "--use-angle=swiftshader",
    "--enable-unsafe-swiftshader",
    "--no-first-run",
    "--disable-extensions",
    "--disable-background-networking",
    "--hide-scrollbars",
    "--window-size=1200,900",
    "--remote-debugging-port=0",
)
#: Width, height and device pixels of what people look at pages on.
SCREENS = {"desktop": (1280, 900, 1), "phone": (390, 844, 2)}
#: Addresses that lead to no other machine.
AT_HOME = ("file:", "data:", "blob:", "about:", "chrome-extension:")
#: Seconds that a loaded machine may take to start a browser, or a page to get ready.
PATIENCE = 60.0


def executable():
    """The browser of this machine, or None."""
    names = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
    return next((found for name in names if (found := shutil.which(name))), None)


class Browser:
    """One page of one browser; `evaluate` runs JavaScript in it."""

    def __init__(self, folder):
        from websockets.sync.client import connect

        profile = Path(folder)
        self.process = subprocess.Popen(
            [executable(), *OPTIONS, f"--user-data-dir={profile}", "about:blank"],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        port_file = profile / "DevToolsActivePort"
        wait(lambda: port_file.exists() and port_file.read_text().count("\n") >= 1, "a browser")
        port, path = port_file.read_text().split("\n")[:2]
        self.socket = connect(f"ws://127.0.0.1:{port}{path}", max_size=None, proxy=None)
        self.count, self.errors, self.asked, self.session = 0, [], [], None
        target = next(
            t for t in self.call("Target.getTargets")["targetInfos"] if t["type"] == "page"
        )
        attached = self.call("Target.attachToTarget", targetId=target["targetId"], flatten=True)
        self.session = attached["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Network"):
            self.call(f"{domain}.enable")

    def call(self, method, **parameters):
        self.count += 1
        message = {"id": self.count, "method": method, "params": parameters}
        if self.session is not None:
            message["sessionId"] = self.session
        self.socket.send(json.dumps(message))
        while True:
            answer = json.loads(self.socket.recv(timeout=PATIENCE))
            self._listen(answer)
            if answer.get("id") == self.count:
                assert "error" not in answer, answer["error"]
                return answer["result"]

    def _listen(self, answer):
        found = answer.get("params", {})
        match answer.get("method"):
            case "Runtime.exceptionThrown":
                self.errors.append(found["exceptionDetails"])
            case "Log.entryAdded" if found["entry"]["level"] == "error":
                self.errors.append(found["entry"])
            case "Runtime.consoleAPICalled" if found["type"] in ("error", "assert"):
                self.errors.append(found["args"])
            case "Network.requestWillBeSent":
                address = found["request"]["url"]
                if not address.startswith(AT_HOME):
                    self.asked.append(address)

    def open(self, address):
        """Go to a page and wait until it is loaded."""
        self.errors.clear()
        self.asked.clear()
        answer = self.call("Page.navigate", url=address)
        assert not answer.get("errorText"), f"{address}: {answer['errorText']}"
        wait(
            lambda: (
                self.evaluate("document.readyState") == "complete"
                and self.evaluate("location.href") != "about:blank"
            ),
            address,
        )

    def screen(self, name, *, dark=False):
        """Show pages as on one of `SCREENS`, in light or dark colours."""
        width, height, ratio = SCREENS[name]
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=ratio,
            mobile=name == "phone",
        )
        scheme = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self.call("Emulation.setEmulatedMedia", features=scheme)

    def usual_screen(self):
        """As the browser was started."""
        self.call("Emulation.clearDeviceMetricsOverride")
        self.call("Emulation.setEmulatedMedia", features=[])

    def evaluate(self, expression):
        answer = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True
        )
        assert "exceptionDetails" not in answer, answer["exceptionDetails"]
        return answer["result"].get("value")

    def picture(self, path=None):
        """The page as PNG bytes, also written to a file."""
        data = base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"])
        if path is not None:
            Path(path).write_bytes(data)
        return data

    def close(self):
        try:
            self.session = None
            self.call("Browser.close")
            self.socket.close()
        finally:
            try:
                self.process.wait(timeout=10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


def wait(ready, what):
    """Until something is so; fails by name when patience ends."""
    end = time.monotonic() + PATIENCE
    while not ready():
        assert time.monotonic() < end, f"no {what} within {PATIENCE:g} s"
        time.sleep(0.05)
