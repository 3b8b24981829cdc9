"""Control of a running program (--control) from a script: all actions of its window."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ._errors import RunError, UsageError
from ._wire import Connection, endpoint, keys, zmq_for

_MOST_BYTES = 1 << 20  # a longer message ends the connection without an answer
_TYPES: dict[str, type[np.generic]] = {"u8": np.uint8, "u16": np.uint16, "f32": np.float32}


def _pixels(part: bytes, shape: dict[str, Any]) -> NDArray[Any]:
    size = (shape["height"], shape["width"]) + ((shape["channels"],) if shape["channels"] > 1 else ())
    return np.frombuffer(part, _TYPES[shape["type"]]).reshape(size)


class ControlledFrame:
    """``image``: the result; ``raw``: the raw frame, if requested; ``header``: a dict with sequence, version, chain,
    unit …"""

    def __init__(self, header: dict[str, Any], parts: Sequence[bytes]) -> None:
        self.header = header
        self.image: NDArray[Any] = _pixels(parts[0], header["image"])
        self.raw: NDArray[Any] | None = _pixels(parts[1], header["raw"]) if len(parts) > 1 else None

    def __repr__(self) -> str:
        return f"ControlledFrame({self.header['sequence']}, {self.header['quantity']}, {self.image.shape})"


class Control(Connection):
    """Every request of ``specklescope --control-schema`` is a method. It takes its arguments as keywords and returns the
    answer as a dict: ``program.seek(frame=10)``, ``program.stats()["stats"]["frames"]``. A context manager; close()
    leaves the program running, quit() ends it. Not for several threads at a time.

    ``key``: file with this client's key pair; ``server``: file with the program's public key. Both are needed if the
    program runs with --curve-key, in the format of zmq.auth.create_certificates(). timeout: for an answer, in s; the
    program may take up to 30 s to finish a file (stop).
    """

    def __init__(self, address: str = "zmq://127.0.0.1:5557", *, timeout: float = 45, key: str | None = None,
                 server: str | None = None) -> None:
        super().__init__()
        zmq = zmq_for("Control")
        self._address = address
        self._endpoint = endpoint(address, ("zmq://", "HOST:PORT"), ("ipc://", "PATH"))
        self._timeout = timeout
        self._give_keys = keys(key, server)
        self._context = zmq.Context.instance()
        self._connect()

    def _connect(self) -> None:
        zmq = zmq_for("Control")
        self._socket = self._context.socket(zmq.REQ)
        self._socket.linger = 0
        self._socket.sndtimeo = int(1000 * self._timeout)
        self._give_keys(self._socket)
        self._socket.connect(self._endpoint)

    def _ask(self, request: str, arguments: dict[str, Any]) -> tuple[dict[str, Any], list[bytes]]:
        given = {name: value for name, value in arguments.items() if value is not None}
        message = json.dumps({"request": request, **given}).encode()
        if len(message) > _MOST_BYTES:
            raise UsageError(f"The request {request} is {len(message)} bytes long; allowed: {_MOST_BYTES}; ask for less at a time.")
        with self._taken() as socket:
            text, *parts = self._answer_to(message, socket)
        answer: dict[str, Any] = json.loads(text)
        if not answer.pop("ok"):
            raise (UsageError if answer["kind"] == "usage" else RunError)(answer["error"])
        return answer, parts

    def _answer_to(self, message: bytes, socket: Any) -> list[bytes]:
        zmq = zmq_for("Control")
        try:
            socket.send(message)
            if self._wait(socket, self._timeout):
                parts: list[bytes] = socket.recv_multipart()
                return parts
            raise zmq.Again
        except BaseException as error:  # also Ctrl-C: this socket waits for an answer and cannot send another request
            socket.close()
            self._connect()
            if not isinstance(error, zmq.Again):
                raise
            raise TimeoutError(f"Nobody answered at {self._address} within {self._timeout:g} s; "
                               "is the program there, with --control?") from None

    def request(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Sends a request by name; arguments that are None are omitted."""
        return self._ask(name, arguments)[0]

    def __getattr__(self, name: str) -> Callable[..., dict[str, Any]]:
        if name.startswith("_"):
            raise AttributeError(name)
        return functools.partial(self.request, name)

    def __dir__(self) -> list[str]:
        return [*super().__dir__(), *(row["name"] for row in self.request("list", of="requests")["requests"])]

    def set(self, stage: str | int, **values: Any) -> int | None:
        """Sets parameters of a stage (a name or an index from 0): all of them, or none if one is refused. Returns the
        version of the results that use them."""
        return self.request("set_values", stage=stage, values=values)["version"] if values else None

    def set_chain(self, *stages: object) -> int:
        """Replaces the stages, given as texts. Returns the version of the results that use them."""
        return self.request("set_chain", chain=" | ".join(str(stage) for stage in stages) or "none")["version"]

    def open(self, source: object, *, recorded: bool | None = None) -> dict[str, Any]:
        """Opens another source, as on the command line; returns when it is open. A recording is shown with its own
        settings; with ``recorded=False`` the current settings are kept."""
        return self.request("open", source=str(source), recorded=recorded)

    def frame(self, *, raw: bool = False, version: int | None = None, after: int | None = None,
              output: str | None = None) -> ControlledFrame:
        """Returns the newest result, with at least this version and a sequence number larger than ``after``.
        ``output``: a further image of the chain, by its name (``also`` of a stage)."""
        return ControlledFrame(*self._ask("frame", {"raw": raw, "version": version, "after": after, "output": output}))
