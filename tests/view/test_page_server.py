"""The page's server keeps to itself: tried from outside with raw requests."""

import socket

import pytest

import zwang as zw

viser = pytest.importorskip("viser")

from zwang.view.server import PageServer, _AccessRules  # noqa: E402


@pytest.fixture(scope="module")
def server():
    found = PageServer(port=0)
    yield found
    found.stop()


def answer(server, host=None, origin=None, *, upgrade=True, path="/"):
    """First line of the answer to a raw request, a websocket handshake by default."""
    lines = [f"GET {path} HTTP/1.1", f"Host: {host or f'127.0.0.1:{server.port}'}"]
    if origin is not None:
        lines.append(f"Origin: {origin}")
    if upgrade:
        lines += [
            "Upgrade: websocket",
            "Connection: Upgrade",
            "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            "Sec-WebSocket-Version: 13",
            f"Sec-WebSocket-Protocol: viser-v{viser.__version__}",
        ]
    with socket.create_connection(("127.0.0.1", server.port), timeout=20) as connection:
        connection.sendall(("\r\n".join([*lines, "", ""])).encode())
        return connection.recv(4096).split(b"\r\n")[0].decode()


def test_its_own_page_gets_a_websocket(server):
    own = f"http://127.0.0.1:{server.port}"
    assert answer(server, origin=own) == "HTTP/1.1 101 Switching Protocols"
    assert answer(server, upgrade=False) == "HTTP/1.1 200 OK"
    local = f"localhost:{server.port}"
    assert answer(server, host=local, origin=f"http://{local}").startswith("HTTP/1.1 101")


@pytest.mark.parametrize(
    "origin",
    [
        "http://evil.example",
        "https://evil.example",
        "null",
        "file://",
        "http://127.0.0.1",  # another port is another origin
        "http://127.0.0.1:1",
        "http://127.0.0.1.evil.example",
        "",
    ],
)
def test_a_foreign_page_is_refused(server, origin):
    assert answer(server, origin=origin) == "HTTP/1.1 403 Forbidden"


def test_a_foreign_name_for_this_machine_is_refused(server):
    """DNS rebinding: origin and host agree, and neither is ours."""
    host = f"evil.example:{server.port}"
    assert answer(server, host=host, origin=f"http://{host}") == "HTTP/1.1 403 Forbidden"
    assert answer(server, host=host, upgrade=False) == "HTTP/1.1 403 Forbidden"


def test_there_is_no_way_to_a_public_tunnel(server, monkeypatch):
    from viser import _messages, _tunnel

    handlers = server.viser._websock_server._incoming_handlers
    assert _messages.ShareUrlRequest not in handlers
    assert _messages.ShareUrlDisconnect not in handlers
    monkeypatch.setattr(_tunnel.ViserTunnel, "__init__", lambda *_: pytest.fail("a tunnel"))
    with pytest.raises(zw.ZwangError, match="public address"):
        server.viser.request_share_url()
    assert server.viser._share_tunnel is None


def test_it_listens_on_this_machine_alone(server):
    listening = server.viser._websock_server._host
    assert listening == "127.0.0.1"
    with pytest.raises(OSError):  # another address of the same machine, where there is one
        socket.create_connection(("127.0.0.2", server.port), timeout=5)


def test_a_taken_port_leads_to_the_next_and_the_address_tells(server):
    second = PageServer(port=server.port)
    try:
        assert second.port != server.port
        assert second.address == f"http://127.0.0.1:{second.port}"
        assert answer(second, origin=second.address).startswith("HTTP/1.1 101")
    finally:
        second.stop()


def test_starting_a_server_leaves_websockets_as_they_were():
    import websockets.asyncio.server as servers

    plain = servers.serve
    PageServer(port=0).stop()
    assert servers.serve is plain


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"host": "no.such.host.invalid"}, "host: found 'no.such.host.invalid'"),
        ({"host": "192.0.2.1"}, "expected an address of this machine"),
        ({"port": 70000}, "port: found 70000"),
        ({"port": "8080"}, "port: found '8080'"),
    ],
)
def test_wrong_addresses_are_told_at_once(choices, message):
    with pytest.raises(zw.InputError, match=message):
        PageServer(**choices)


def test_before_it_is_ready_nobody_gets_in():
    guard = _AccessRules("127.0.0.1")
    assert guard.refusal({}) == "the server is not ready"


def test_a_viser_that_starts_otherwise_is_refused(monkeypatch):
    """If the guard is not in the way, there is no page at all."""
    from zwang.view import server as module

    monkeypatch.setattr(module, "_guarded", lambda _: module.contextlib.nullcontext())
    with pytest.raises(zw.ZwangError, match="another way"):
        PageServer(port=0)
