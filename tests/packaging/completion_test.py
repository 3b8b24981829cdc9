"""TAB in a real shell, typed on a terminal: completion_test.py PREFIX bash|zsh|fish

Types a line with a TAB in it, then inserts "printf" at its start. The output of the shell is the line that it would have
run.
"""
import os
import pty
import select
import signal
import subprocess
import sys
import time

from support import clean_environment, expect, need, run, temporary_home

prefix, shell = sys.argv[1:]
need(shell)

# Text before the TAB, and the completed words.
TYPED = [
    ("specklescope ru", ["specklescope", "run"]),
    ("specklescope list dev", ["specklescope", "list", "devices"]),
    ("specklescope run x --stage spatio", ["specklescope", "run", "x", "--stage", "spatiotemporal"]),
    ("specklescope --stage speckle:rad", ["specklescope", "--stage", "speckle:radius="]),
    ("specklescope --stage speckle:radius=3,output=b", ["specklescope", "--stage", "speckle:radius=3,output=bfi"]),
    ("specklescope --preset flow-", ["specklescope", "--preset", "flow-slow"]),
    ("specklescope --preset my-", ["specklescope", "--preset", "my-own"]),
    ("specklescope synthetic:ves", ["specklescope", "synthetic:vessels"]),
    ("specklescope --colormap vi", ["specklescope", "--colormap", "viridis"]),
    ("specklescope --view colormap=vi", ["specklescope", "--view", "colormap=viridis"]),
    ("specklescope --backend=cu", ["specklescope", "--backend=cuda"]),
    ("specklescope --save-c", ["specklescope", "--save-config"]),
    ("specklescope run some_fr", ["specklescope", "run", "some_frames.tiff"]),
    ("specklescope run raw:some_fr", ["specklescope", "run", "raw:some_frames.tiff"]),
]


class Terminal:
    def __init__(self, words, home, **more):
        self.text = ""
        self.pid, self.terminal = pty.fork()
        if self.pid == 0:
            os.chdir(home)
            os.execvpe(words[0], words, clean_environment(home, TERM="vt100", LC_ALL="C.UTF-8", **more))

    def type(self, text):
        os.write(self.terminal, text.encode())

    def until(self, wanted, seconds=180):
        """Reads until `wanted` appears in new output, and discards what was read."""
        end = time.monotonic() + seconds
        while wanted not in self.text:
            ready, _, _ = select.select([self.terminal], [], [], max(0, end - time.monotonic()))
            expect(ready, f"'{wanted}' did not come; on the terminal: {self.text!r}")
            self.text += os.read(self.terminal, 4096).decode(errors="replace")
        text, self.text = self.text, ""
        return text

    def close(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


def typed(home, path, words, setup):
    terminal = Terminal(words, home, PATH=path)
    try:
        for line in setup:
            terminal.type(line + "\n")
        terminal.type("echo rea''dy\n")
        terminal.until("ready")
        for number, (line, wanted) in enumerate(TYPED):
            terminal.type(line + "\t")
            terminal.type(f"\x01printf '<%s>' \x05; echo ''end={number}=\n")
            text = terminal.until(f">end={number}=")
            expect("".join(f"<{word}>" for word in wanted) in text, f"{line!r} became {text!r}")
    finally:
        terminal.close()


def bash(home, path):
    typed(home, path, ["bash", "--norc", "--noprofile", "-i"],
          ["bind 'set bell-style none'", "bind 'set enable-bracketed-paste off'", "PS1='> '",
           f"source {prefix}/share/bash-completion/completions/specklescope"])
    # All completions, as programmable completion returns them.
    script = f"""source {prefix}/share/bash-completion/completions/specklescope 2>/dev/null
        COMP_LINE='specklescope --stage speckle:output=' COMP_POINT=${{#COMP_LINE}}
        COMP_WORDS=(specklescope --stage speckle : output =) COMP_CWORD=5
        COMP_POINT=${{#COMP_LINE}}; _specklescope specklescope = = 2>/dev/null; echo "${{COMPREPLY[@]}}" """
    answer = run(["bash", "--norc", "-c", script], home, PATH=path)
    expect(answer.split() == ["sfi", "contrast", "contrast2", "tau", "bfi", "mean", "error"], answer)


def zsh(home, path):
    typed(home, path, ["zsh", "-f", "-i"],
          ["PS1='> '", "unsetopt beep", f"fpath=({prefix}/share/zsh/vendor-completions $fpath)",
           "autoload -Uz compinit; compinit -D -u"])


def fish(home, path):
    source = f"source {prefix}/share/fish/vendor_completions.d/specklescope.fish; "
    for line, wanted in TYPED:
        answer = run(["fish", "--no-config", "-c", source + f"complete -C '{line}'"], home, PATH=path)
        words = [row.split("\t")[0] for row in answer.splitlines()]
        expect(words == [wanted[-1]], f"{line!r} became {answer!r}")


with temporary_home() as home:
    os.makedirs(os.path.join(home, ".config/specklescope/presets"))
    for name in (".config/specklescope/presets/my-own.toml", "some_frames.tiff"):
        with open(os.path.join(home, name), "w") as file:
            file.write("# Mine.\n")
    {"bash": bash, "zsh": zsh, "fish": fish}[shell](home, os.path.join(prefix, "bin") + ":" + os.environ["PATH"])
