"""Receives the messages of a program that runs with --publish."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any, Self

from ._errors import UsageError
from ._wire import Connection, endpoint, keys, zmq_for

KINDS = ("frame", "event", "settings", "stream")


class Published(Connection):
    """Messages of a program that runs with --publish, as dicts: ``for frame in ss.Published(address): …``. A context
    manager.

    kinds: "frame", "event", "settings" and "stream" messages to receive. Non-finite numbers become None. timeout: in s
    for each message, then TimeoutError; None: no limit. After a timeout or Ctrl-C, iteration can continue. key, server:
    key files as in ``ss.Control``, if the program runs with --curve-key.

    ``received``: number of received messages; ``dropped``: messages lost between them because this loop or the program
    was too slow. They are counted from gaps in the program's numbering of each kind of message. Messages on their way
    after the last received one are not counted.
    """

    def __init__(self, address: str = "zmq://127.0.0.1:5556", *, key: str | None = None, server: str | None = None,
                 kinds: str | Iterable[str] = ("frame",), timeout: float | None = 30) -> None:
        super().__init__()
        zmq = zmq_for("Published")
        kinds = (kinds,) if isinstance(kinds, str) else tuple(kinds)
        wrong = [kind for kind in kinds if kind not in KINDS]
        if wrong or not kinds:
            raise UsageError(f"kinds = {wrong[0] if wrong else kinds!r} is not possible; allowed: {', '.join(KINDS)}.")
        self._address, self._timeout = address, timeout
        at, give_keys = endpoint(address, ("zmq://", "HOST:PORT")), keys(key, server)
        self._newest: dict[str, int] = {}
        self.received = self.dropped = 0
        self._socket = zmq.Context.instance().socket(zmq.SUB)
        self._socket.linger = 0
        give_keys(self._socket)
        for kind in kinds:
            self._socket.subscribe(f'{{"content":"{kind}"')
        self._socket.connect(at)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> dict[str, Any]:
        with self._taken() as socket:
            while True:
                if not self._wait(socket, self._timeout):
                    raise TimeoutError(f"Nothing came from {self._address} within {self._timeout:g} s; "
                                       "is the program there, with --publish?")
                message: dict[str, Any] = json.loads(socket.recv())
                if self._count(message["content"], message["n"]):
                    return message

    def _count(self, kind: str, n: int) -> bool:
        """False if this message was received before: the program repeats it for new subscribers."""
        before = self._newest.get(kind)
        self._newest[kind] = n
        if n == before and kind in ("settings", "stream"):
            return False
        if before is not None and n > before:  # a smaller number means that the program was restarted
            self.dropped += n - before - 1
        self.received += 1
        return True
