"""Control and Published from several threads and processes: ZeroMQ ends the process if two threads use one socket."""
import json
import os
import threading

import pytest
import specklescope as ss

zmq = pytest.importorskip("zmq")
BUSY = "Another thread is using this connection; let one use it at a time, or give each its own."
CLOSED = "The connection was closed; make another one."


@pytest.fixture
def answering():
    """Address of a server that answers each request with its arguments."""
    socket = zmq.Context.instance().socket(zmq.REP)
    port, done = socket.bind_to_random_port("tcp://127.0.0.1"), threading.Event()

    def answer():
        while not done.is_set():
            if socket.poll(50):
                socket.send(json.dumps({"ok": True, **json.loads(socket.recv())}).encode())
        socket.close(0)

    thread = threading.Thread(target=answer)
    thread.start()
    yield f"zmq://127.0.0.1:{port}"
    done.set()
    thread.join()


@pytest.fixture
def silent():
    """Address of a server that never sends anything."""
    socket = zmq.Context.instance().socket(zmq.PUB)
    yield f"zmq://127.0.0.1:{socket.bind_to_random_port('tcp://127.0.0.1')}"
    socket.close(0)


def test_a_second_thread_is_refused_and_each_gets_its_own_answer(answering):
    control, wrong, turns = ss.Control(answering), [], []

    def work(own):
        for number in range(500):
            try:
                told = control.request("x", own=own, number=number)
                turns.append(own)
                if (told["own"], told["number"]) != (own, number):
                    wrong.append(told)
            except ss.UsageError as error:
                if str(error) != BUSY:
                    wrong.append(error)

    threads = [threading.Thread(target=work, args=(own,)) for own in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert wrong == [] and turns
    assert control.request("x", own=9)["own"] == 9
    control.close()
    control.close()
    with pytest.raises(ss.UsageError) as refused:
        control.request("x")
    assert str(refused.value) == CLOSED


@pytest.mark.parametrize("make, wait", [(lambda at: ss.Published(at, timeout=None), next),
                                        (lambda at: ss.Control(at, timeout=3600), lambda one: one.request("x"))])
def test_close_ends_the_wait_of_another_thread(silent, make, wait):
    one, said, begun = make(silent), [], threading.Event()

    def work():
        begun.set()
        try:
            wait(one)
        except ss.UsageError as error:
            said.append(str(error))

    thread = threading.Thread(target=work)
    thread.start()
    begun.wait()
    one.close()
    thread.join()
    assert said == [CLOSED]


def test_a_child_makes_its_own(answering):
    control = ss.Control(answering)
    assert control.request("x", number=1)["number"] == 1
    reads, writes = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            control.request("x")
        except ss.UsageError as error:
            os.write(writes, str(error).encode())
        control.close()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    os.close(writes)
    with os.fdopen(reads) as said:
        assert said.read() == "This connection was made before a fork; make another one in this process."
    assert control.request("x", number=2)["number"] == 2
    control.close()
