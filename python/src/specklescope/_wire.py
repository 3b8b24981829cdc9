"""Shared code for connections to a running program: ZeroMQ, addresses, keys."""

from __future__ import annotations

import contextlib
import os
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any, Self

from ._errors import UsageError

_STEP = 0.1  # s between checks for cancellation


def zmq_for(name: str) -> Any:
    try:
        import zmq
    except ImportError:
        raise ImportError(f"ss.{name} needs pyzmq, which is not installed; pip install pyzmq.", name="zmq") from None
    return zmq


def endpoint(address: str, *schemes: tuple[str, str]) -> str:
    """ZeroMQ's form of an address; schemes: allowed prefixes, with an example of the rest."""
    if not address.startswith(tuple(scheme for scheme, _ in schemes)):
        raise UsageError(f"'{address}' is no address; allowed: {', '.join(map(''.join, schemes))}.")
    return address.replace("zmq://", "tcp://", 1)


def keys(key: str | None, server: str | None) -> Callable[[Any], None]:
    """Returns a function that sets these keys on a socket, from files of zmq.auth.create_certificates()."""
    if (key is None) != (server is None):
        raise UsageError("key and server need each other. Name both files.")
    if key is None or server is None:
        return lambda socket: None
    import zmq.auth

    public, secret = zmq.auth.load_certificate(key)
    if secret is None:
        raise UsageError(f"'{key}' holds no secret key; name the file that ends in .key_secret.")
    of_server = zmq.auth.load_certificate(server)[0]

    def give(socket: Any) -> None:
        socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = public, secret, of_server

    return give


class Connection:
    """A socket for one thread at a time: ZeroMQ ends the process if two use it. Any thread may close it."""

    def __init__(self) -> None:
        self._socket: Any = None
        self._turn = threading.Lock()
        self._closing = False
        self._made_in = os.getpid()

    @contextlib.contextmanager
    def _taken(self) -> Iterator[Any]:
        if os.getpid() != self._made_in:
            raise UsageError("This connection was made before a fork; make another one in this process.")
        if not self._turn.acquire(blocking=False):
            raise UsageError("Another thread is using this connection; let one use it at a time, or give each its own.")
        try:
            self._check_open()
            yield self._socket
        finally:
            self._turn.release()
            if self._closing:
                self.close()

    def _check_open(self) -> None:
        if self._closing or self._socket is None:
            raise UsageError("The connection was closed; make another one.")

    def _wait(self, socket: Any, seconds: float | None) -> bool:
        """True if a message has arrived; None: waits without limit. Closing the socket ends the wait."""
        end = None if seconds is None else time.monotonic() + seconds
        while True:
            left = _STEP if end is None else min(_STEP, end - time.monotonic())
            if socket.poll(max(0, int(1000 * left))):
                return True
            self._check_open()
            if end is not None and time.monotonic() >= end:
                return False

    def close(self) -> None:
        """Ends calls of other threads; the program continues."""
        self._closing = True
        if self._turn.acquire(blocking=False):  # otherwise the thread that holds it closes it after its call
            try:
                if self._socket is not None:
                    self._socket.close()
                    self._socket = None
            finally:
                self._turn.release()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()
