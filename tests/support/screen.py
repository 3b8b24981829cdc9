"""A separate virtual screen. The caller chooses its number: with -displayfd a server tries numbers in use and removes
the socket files of their servers. A chosen number is locked first. -noreset: a server without clients would restart and
disconnect new clients."""
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
                # the line is complete when the server is ready; the server exits if nothing reads it
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
