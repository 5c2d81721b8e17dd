"""The local web server of the view, restricted to one address and its own pages.

viser listens on every interface, takes a websocket from any page of the world, and opens a public
tunnel when a page asks for one. Here it listens on this machine unless set otherwise, answers no
page but its own, and has no tunnel.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import ipaddress
import socket
import threading
from collections.abc import Iterator
from functools import lru_cache
from typing import Any
from urllib.parse import urlsplit

from zwang.errors import InputError, MissingExtraError, ZwangError, shown

__all__ = ["CHARTS_FOLDER", "PageServer"]

#: Name of the folder of charts, by which the page finds it.
CHARTS_FOLDER = "charts"
#: viser's page is dark with this word in its address, whatever the browser prefers. On a phone,
#: where open charts would cover the mechanism, they are folded until somebody touches the page.
OWN_SCRIPT = b"""<script>
if (matchMedia("(prefers-color-scheme: dark)").matches) {
  const address = new URL(location.href);
  address.searchParams.set("darkMode", "");
  history.replaceState(null, "", address);
}
const phone = matchMedia("(max-width: 600px) and (orientation: portrait)");
const timer = setInterval(() => {  // the page may build its controls more than once
  for (const head of phone.matches ? document.querySelectorAll("#root div") : [])
    if (head.textContent.trim() === "%s" && head.parentElement.offsetHeight > 100) head.click();
}, 400);
setInterval(() => {  // names for those who hear the page: viser writes them beside its fields
  for (const field of document.querySelectorAll("#root :is([role=slider], input)")) {
    let row = field;
    while (row && (row.firstElementChild?.contains(field) || !row.firstElementChild?.textContent))
      row = row.parentElement;
    if (row && !field.ariaLabel) field.ariaLabel = row.firstElementChild.textContent;
  }
  for (const button of document.querySelectorAll("button"))
    if (!button.textContent.trim() && !button.ariaLabel)
      button.ariaLabel = button.closest("[role=alert]") ? "close" : "settings";
}, 500);
for (const kind of ["pointerdown", "keydown"])
  addEventListener(kind, () => clearInterval(timer), { capture: true, once: true });
</script>""" % CHARTS_FOLDER.encode()
#: Only one server starts at a time: while it does, its entry is being put under guard.
_STARTING = threading.Lock()


class PageServer:
    """A viser server behind a guard.

    Attributes
    ----------
    viser : the server, for scenes and controls.
    host, port : where it listens; the port is the one it got, not the one asked for.
    """

    def __init__(self, host: str = "127.0.0.1", port: int = 8080) -> None:
        try:
            import viser
        except ImportError as error:
            raise MissingExtraError("run.view", "viser", "view") from error
        _require_address(host, port)
        self.host = host
        self._guard = _AccessRules(host)
        with _STARTING, _guarded(self._guard), contextlib.redirect_stdout(io.StringIO()):
            self.viser = viser.ViserServer(host=host, port=port, verbose=False)
        self.port = int(self.viser.get_port())
        try:
            _require_guard(self._guard)
            _close_tunnel(self.viser)
        except ZwangError:
            self.stop()
            raise
        self._guard.ready = True

    @property
    def address(self) -> str:
        """Where a browser finds the page."""
        unspecified = self.host in ("0.0.0.0", "::", "")  # noqa: S104 - compared, not bound
        name = "127.0.0.1" if unspecified else self.host
        return f"http://{f'[{name}]' if ':' in name else name}:{self.port}"

    def stop(self) -> None:
        """Close all connections and the port."""
        with contextlib.redirect_stdout(io.StringIO()):
            self.viser.stop()


class _AccessRules:
    """Decides who may talk to the server.

    A browser states in ``Origin`` which page opens a websocket, and in ``Host`` what name it was
    sent to. A foreign page has another origin. A name of the attacker's that he lets point to this
    machine (DNS rebinding) has the right origin and the wrong host.
    """

    def __init__(self, host: str) -> None:
        self.host = host
        self.ready = False
        self.used = False

    def refusal(self, headers: Any) -> str | None:
        """Why a request is refused, or None if it is not."""
        if not self.ready:
            return "the server is not ready"
        hosts, origins = headers.get_all("Host"), headers.get_all("Origin")
        if len(hosts) != 1 or not self._own(hosts[0]):
            return "the host is not this server"
        if any(urlsplit(origin).netloc != hosts[0] for origin in origins):
            return "the page is from another origin"
        return None

    def _own(self, host: str) -> bool:
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name in {"localhost", self.host, socket.gethostname().lower()}:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True  # a number is no name that somebody else could point here


@contextlib.contextmanager
def _guarded(guard: _AccessRules) -> Iterator[None]:
    """While a server starts, whatever it serves is asked of the guard first."""
    import websockets.asyncio.server as servers

    plain = servers.serve

    def serve(handler: Any, *where: Any, process_request: Any = None, **choices: Any) -> Any:
        guard.used = True

        def guarded(connection: Any, request: Any) -> Any:
            reason = guard.refusal(request.headers)
            if reason is not None:
                return connection.respond(403, f"Refused: {reason}.\n")
            answer = None if process_request is None else process_request(connection, request)
            return None if answer is None else _in_colors_of_the_browser(answer)

        return plain(handler, *where, process_request=guarded, **choices)

    servers.serve = serve
    try:
        yield
    finally:
        servers.serve = plain


def _in_colors_of_the_browser(answer: Any) -> Any:
    """The page of viser, dark where the browser prefers dark pages; other answers as they are."""
    if not answer.headers.get("Content-Type", "").startswith("text/html"):
        return answer
    packed = answer.headers.get("Content-Encoding") == "gzip"
    answer.body = _with_first(OWN_SCRIPT, answer.body, packed=packed)
    if "Content-Length" in answer.headers:
        del answer.headers["Content-Length"]
        answer.headers["Content-Length"] = str(len(answer.body))
    return answer


@lru_cache(maxsize=2)
def _with_first(script: bytes, page: bytes, *, packed: bool) -> bytes:
    """An HTML page with a script that runs before all others."""
    text = gzip.decompress(page) if packed else page
    text = text.replace(b"<head>", b"<head>" + script, 1)
    return gzip.compress(text) if packed else text


def _require_guard(guard: _AccessRules) -> None:
    if not guard.used:
        raise ZwangError(
            "view",
            must="run with viser 1.0 or 1.1",
            but="another version is installed, whose connections cannot be checked",
            advice="Install viser 1.0 or 1.1.",
        )


def _close_tunnel(server: Any) -> None:
    """Take away what opens a public tunnel: the handler, the method and the button."""
    from viser import _messages

    connection = server._websock_server  # noqa: SLF001 - viser has no public way
    for message in (_messages.ShareUrlRequest, _messages.ShareUrlDisconnect):
        connection.unregister_handler(message)

    def refuse(*_: Any, **__: Any) -> None:
        raise ZwangError("view", must="stay on this machine", but="a public address was requested")

    server.request_share_url = refuse


def _require_address(host: str, port: int) -> None:
    """Refuse what viser would try a thousand times, and then wait for ever."""
    if isinstance(port, bool) or not isinstance(port, int) or not 0 <= port < 65536:
        raise InputError("port", found=shown(port), expected="a whole number from 0 to 65535")
    if not isinstance(host, str):
        raise InputError("host", found=shown(host), expected="a name or an address")
    try:
        family, _, _, _, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        with socket.socket(family) as trial:
            trial.bind(address)
    except OSError as error:
        raise InputError(
            "host", expected="an address of this machine, such as '127.0.0.1'", found=repr(host)
        ) from error
