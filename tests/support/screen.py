"""A virtual screen of one's own.

The number is asked for and not left to -displayfd: with it a server tries numbers that others hold, and takes their
socket's file away doing so. A named number is locked first. -noreset: a server without clients starts anew otherwise, and
whoever connects meanwhile is thrown out.
"""
import os
import subprocess

SERVERS = 50  # display numbers to try, starting with one derived from the process


class Screen:
    """Runs until close(). `display` is what belongs into DISPLAY, `server` the process."""

    def __init__(self, width, height, log=subprocess.DEVNULL):
        first = 100 + os.getpid() % 50000
        for number in range(first, first + SERVERS):
            reader, writer = os.pipe()
            self.server = subprocess.Popen(["Xvfb", f":{number}", "-displayfd", str(writer), "-screen", "0",
                                            f"{width}x{height}x24", "-nolisten", "tcp", "-noreset"],
                                           pass_fds=[writer], stdout=log, stderr=log)
            os.close(writer)
            with os.fdopen(reader) as said:
                # complete when it is ready, to the end of the line: it exits if nobody reads that
                ready = said.readline()
            if ready.endswith("\n"):
                self.display = f":{number}"
                return
            self.server.wait()
        raise RuntimeError(f"Xvfb starts on none of the displays :{first} to :{first + SERVERS - 1}.")

    def close(self):
        if self.server.poll() is None:
            self.server.terminate()
        self.server.wait()
