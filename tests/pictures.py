"""Every image of the documentation is shown on a page, made by docs/images/make.py, and small; every link of a page works.

Usage: tests/pictures.py PROJECT
"""
import pathlib
import re
import subprocess
import sys

MOST, MOST_OF_ALL = 150 * 1024, 3 * 1024 * 1024  # bytes

project = pathlib.Path(sys.argv[1])
images = project / "docs" / "images"
wrong = []
shown = set()
pages = [*sorted(project.glob("*.md")), *sorted((project / "docs").rglob("*.md")), project / "python" / "README.md"]


def without_code(page):
    return re.sub(r"^```.*?^```$|`[^`\n]*`(?!\])", "", page.read_text(), flags=re.S | re.M)


def anchors(page):
    """The names that GitHub gives to headings."""
    found = {}
    for heading in re.findall(r"^#+ (.*)$", re.sub(r"^```.*?^```$", "", page.read_text(), flags=re.S | re.M), re.M):
        text = re.sub(r"\[([^]]*)\]\([^)]*\)", r"\1", heading)
        name = re.sub(r"[^\w\- ]", "", text.strip().lower()).replace(" ", "-")
        found[name] = found.get(name, -1) + 1
    return {name + (f"-{i}" if i else "") for name, last in found.items() for i in range(last + 1)}


for page in pages:
    for target, anchor in re.findall(r"\]\((?!\w+:)([^)#\s]*)#?([^)\s]*)\)", without_code(page)):
        to = (page.parent / target).resolve() if target else page
        if not to.exists():
            wrong.append(f"{page.relative_to(project)} links to {target}, which does not exist")
        elif anchor and to.suffix == ".md" and anchor not in anchors(to):
            wrong.append(f"{page.relative_to(project)} links to {target}#{anchor}, which does not exist")
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
