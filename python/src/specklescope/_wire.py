"""What speaks to a program that runs has in common: ZeroMQ, its addresses, keys."""

from ._errors import UsageError


def zmq_for(name):
    try:
        import zmq
    except ImportError:
        raise UsageError(f"ss.{name} speaks through pyzmq, which is not installed; pip install pyzmq.") from None
    return zmq


def endpoint(address, *schemes):
    """ZeroMQ's name of it; schemes: what may stand in front, with an example of the rest."""
    if not address.startswith(tuple(scheme for scheme, _ in schemes)):
        raise UsageError(f"'{address}' is no address; allowed: {', '.join(map(''.join, schemes))}.")
    return address.replace("zmq://", "tcp://", 1)


def keys(key, server):
    """A function that gives a socket these keys, from files as zmq.auth.create_certificates() writes them."""
    if (key is None) != (server is None):
        raise UsageError("key and server go together; name the files of both.")
    if key is None:
        return lambda socket: None
    import zmq.auth

    public, secret = zmq.auth.load_certificate(key)
    if secret is None:
        raise UsageError(f"'{key}' holds no secret key; name the file that ends in .key_secret.")
    of_server = zmq.auth.load_certificate(server)[0]

    def give(socket):
        socket.curve_publickey, socket.curve_secretkey, socket.curve_serverkey = public, secret, of_server

    return give
