"""The installed program works from a folder that it was moved to: runs_test.py PREFIX"""
import os
import shutil
import sys

from support import expect, run, temporary_home

prefix = sys.argv[1]
program = os.path.join(prefix, "bin", "specklescope")

for name in ["share/applications/specklescope.desktop", "share/man/man1/specklescope.1.gz",
             "share/metainfo/io.specklescope.Specklescope.metainfo.xml", "share/doc/specklescope/copyright",
             "share/icons/hicolor/scalable/apps/specklescope.svg", "share/icons/hicolor/48x48/apps/specklescope.png",
             "share/specklescope/presets/flow.toml", "share/bash-completion/completions/specklescope",
             "share/zsh/vendor-completions/_specklescope", "share/fish/vendor_completions.d/specklescope.fish"]:
    expect(os.path.getsize(os.path.join(prefix, name)) > 0, name)

with temporary_home() as home:
    version = run([program, "--version"], home)
    expect(f"data            {prefix}/share" in version, version)
    for row, name in (("C library", "libspecklescope.so."), ("element", "libgstspecklescope.so")):
        told = [line.split()[-1] for line in version.splitlines() if line.startswith(f"  {row} ")]
        expect(told and told[0].startswith(f"{prefix}/") and os.path.basename(told[0]).startswith(name) and os.path.exists(told[0]), version)
    expect("commit " in version and "unknown" not in version.split("build")[0], version)

    out = run([program, "run", "synthetic:vessels?width=160&height=120&live=false", "--frames", "5", "--preset", "flow",
               "--backend", "cpu", "--record", "flow.tiff"], home)
    expect("5 in, 5 processed, none dropped" in out and os.path.exists(os.path.join(home, "flow.tiff")), out)

    # The order of presets: yours, installed, compiled in. On a copy, because the prefix is shared.
    copy = os.path.join(home, "copy")
    shutil.copytree(prefix, copy)
    program = os.path.join(copy, "bin", "specklescope")
    presets = os.path.join(copy, "share/specklescope/presets")
    expect(f"{presets}/flow.toml" in run([program, "help", "flow"], home), "the installed preset is read")
    with open(os.path.join(presets, "flow.toml"), "w") as file:
        file.write("# An administrator's flow.\n[[stage]]\nname = \"speckle\"\nradius = 5\n")
    expect("An administrator's flow." in run([program, "list", "presets"], home), "installed before compiled in")
    yours = os.path.join(home, ".config/specklescope/presets")
    os.makedirs(yours)
    with open(os.path.join(yours, "flow.toml"), "w") as file:
        file.write("# My flow.\n[[stage]]\nname = \"speckle\"\nradius = 9\n")
    listed = run([program, "list", "presets"], home)
    expect("My flow." in listed and "An administrator's" not in listed, listed)
    shutil.rmtree(presets)
    os.remove(os.path.join(yours, "flow.toml"))
    expect("flow.toml" not in run([program, "help", "flow"], home), "nothing installed: compiled in")
