"""systemd accepts the units, their programs exist and end well with SIGTERM, and the example settings can be read, in a
prefix that was named at installation: units_test.py PREFIX CMAKE BUILD"""
import glob
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile

from support import clean_environment, expect, need, run, temporary_home

need("systemd-analyze")
installed = tempfile.TemporaryDirectory(prefix="specklescope-units-")  # PREFIX was moved; units contain absolute paths
prefix = installed.name
subprocess.run([*sys.argv[2:3], "--install", sys.argv[3], "--prefix", prefix, "--component", "Unspecified"], check=True,
               stdout=subprocess.DEVNULL)
units = {kind: f"{prefix}/lib/systemd/{kind}/specklescope-{name}.service"
         for kind, name in (("system", "recorder"), ("user", "kiosk"))}
example, = glob.glob(f"{prefix}/share/doc/**/examples/recorder.toml", recursive=True)


def verify(kind, text, home):
    """Output of systemd about a unit."""
    path = f"{home}/{os.path.basename(units[kind])}"
    with open(path, "w") as file:
        file.write(text)
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", f"--{kind}", path], capture_output=True, text=True,
                          timeout=120, env=clean_environment(home, XDG_RUNTIME_DIR=home))
    # systemd also reads other units of the machine; their messages are ignored.
    return [line for line in done.stderr.splitlines() if "specklescope" in line]


with temporary_home() as home:
    for kind, path in units.items():
        text = open(path).read()
        expect(f"\nExecStart={prefix}/bin/specklescope " in text, f"{path} starts another program:\n{text}")
        said = verify(kind, text, home)
        expect(not said, f"{path}: {said}")
        wrong = verify(kind, text.replace("Restart=on-failure", "Restart=sometimes")
                       .replace("NoNewPrivileges=", "NoNewPrivilegs="), home)
        expect(len(wrong) >= 2, f"systemd-analyze does not notice what is wrong: {wrong}")
        for line in ("NoNewPrivileges=yes", "Restart=on-failure", "StartLimitIntervalSec=0", "KillSignal=SIGTERM"):
            expect(re.search(f"^{line}$", text, re.M), f"{path}: {line}")
        expect(re.search("^ProtectSystem=(strict|full)$", text, re.M), path)
        # The number of restarts has no limit, because a failure may be temporary and a restart costs little.
        pause, = re.findall(r"^RestartSec=(\d+)s$", text, re.M)
        expect(10 <= int(pause) <= 30 and "StartLimitBurst" not in text, f"{path}: RestartSec={pause}s")

    # Devices are allowed by their names in /proc/devices: NVIDIA's old and new drivers.
    text = open(units["system"]).read()
    for name in ("video4linux", "usb_device", "drm", "nvidia-frontend", "nvidia", "nvidiactl", "nvidia-uvm"):
        expect(f"\nDeviceAllow=char-{name} rw\n" in text, f"{units['system']}: {name}")
    expect(re.search(r"^LimitNOFILE=\d{5,}$", text, re.M), "files")

    # A recording that cannot continue ends the recorder, so that systemd restarts it.
    words = [f"{prefix}/bin/specklescope", "run", "synthetic:vessels?width=64&height=48&rate=200", "--record-raw", "x.tiff"]
    done = subprocess.run(["bash", "-c", 'trap "" XFSZ; ulimit -f 256; exec "$@"', "bash", *words], cwd=home, timeout=120,
                          env=clean_environment(home), capture_output=True, text=True)
    expect(done.returncode == 1 and "File too large" in done.stderr, f"status {done.returncode}: {done.stderr}")
    os.remove(f"{home}/x.tiff")

    # Command of the recorder, with the example's settings and a source that is available here.
    start = re.search(r"^ExecStart=(.*)$", open(units["system"]).read(), re.M).group(1).split()
    settings = f"{home}/recorder.toml"
    shutil.copy(example, settings)
    words = start
    words[words.index("/etc/specklescope/recorder.toml")] = settings
    text = open(settings).read()
    expect('source = "aravis"' in text, text)
    with open(settings, "w") as file:
        file.write(text.replace('"aravis"', '"synthetic:vessels?width=64&height=48"'))
    recorder = subprocess.Popen(words, cwd=home, env=clean_environment(home), stderr=subprocess.PIPE, text=True,
                                stdout=subprocess.DEVNULL)
    while "Recording raw frames" not in (line := recorder.stderr.readline()):
        expect(line, "it ended before it recorded")
    recorder.send_signal(signal.SIGTERM)
    said = recorder.communicate(timeout=120)[1]
    expect(recorder.returncode == 0, f"SIGTERM: status {recorder.returncode}\n{said}")
    recorded, = glob.glob(f"{home}/*_raw.tiff")
    told = run([words[0], "run", recorded, "--stage", "none", "--backend", "cpu"], home)
    expect("none dropped" in told, told)
    expect(len(glob.glob(f"{home}/*_stats.json")) == 1, os.listdir(home))
