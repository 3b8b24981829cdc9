"""Every picture of the documentation is shown where something is explained, made by docs/images/make.py, and small.

Usage: tests/pictures.py PROJECT
"""
import pathlib
import re
import subprocess
import sys

MOST, MOST_OF_ALL = 150 * 1024, 2 * 1024 * 1024  # bytes

project = pathlib.Path(sys.argv[1])
images = project / "docs" / "images"
wrong = []
shown = set()
for page in [project / "README.md", *sorted((project / "docs").glob("*.md"))]:
    for link in re.findall(r"\]\(((?:docs/)?images/[^)]+)\)", page.read_text()):
        target = (page.parent / link).resolve()
        if target.parent != images.resolve() or not target.is_file():
            wrong.append(f"{page.name} shows {link}, which is not there")
        shown.add(target.name)
made = set(subprocess.run([sys.executable, str(images / "make.py"), "--list"], check=True, capture_output=True,
                          text=True).stdout.split())
there = {picture.name: picture.stat().st_size for picture in images.glob("*.png")}
for name in sorted(there.keys() | made):
    if name not in there:
        wrong.append(f"make.py makes {name}, which is not there")
        continue
    if name not in made:
        wrong.append(f"{name} is not made by make.py")
    if name not in shown:
        wrong.append(f"{name} is shown nowhere")
    if there[name] > MOST:
        wrong.append(f"{name} has {there[name]} bytes; allowed: {MOST}")
if sum(there.values()) > MOST_OF_ALL:
    wrong.append(f"all pictures have {sum(there.values())} bytes; allowed: {MOST_OF_ALL}")
print("\n".join(wrong) or f"{len(there)} pictures, {sum(there.values()) // 1024} KiB")
sys.exit(1 if wrong else 0)
