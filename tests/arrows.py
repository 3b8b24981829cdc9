"""Checks the arrows between folders: every #include must be allowed by docs/architecture.md.

The page's table of arrows has a row "| `folder/` | `folder/`, `folder/` |" for each folder: the other folders that its
files may include. main.cpp may include everything. Rooms that are part of libspecklescope log through run_log()
(base/log.hpp), never directly to the program's log. Prints each line that breaks a rule, and then ends with status 1.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else __file__).resolve()
ROOT = ROOT if ROOT.is_dir() else ROOT.parent.parent
# Rooms that only the program has: they may print to the terminal.
MAY_SAY = {"cli", "ui", "bench", "tests"}
SAYS = re.compile(r"\bspdlog::(log|trace|debug|info|warn|error|critical)\s*\(")
BEGIN, END = "<!-- arrows -->", "<!-- end of arrows -->"


def allowed_arrows():
    page = (ROOT / "docs/architecture.md").read_text()
    table = page[page.index(BEGIN):page.index(END)]
    arrows = {}
    for line in table.splitlines():
        cells = [re.findall(r"`([\w-]+)/`", cell) for cell in line.split("|")[1:-1]]
        if len(cells) == 2 and cells[0]:
            arrows[cells[0][0]] = set(cells[1])
    return arrows


def includes(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        if found := re.match(r'\s*#\s*include\s+"([^"]+)"', line):
            yield number, found.group(1)


def main():
    arrows = allowed_arrows()
    wrong = []
    sources = [path for kind in ("cpp", "hpp", "cu", "cuh", "inc") for path in ROOT.glob(f"*/**/*.{kind}")]
    sources = [path for path in sources if not path.relative_to(ROOT).parts[0].startswith((".", "build"))]
    if not sources:
        sys.exit("there are no sources under " + str(ROOT))
    for path in sources:
        folder = path.relative_to(ROOT).parts[0]
        if folder not in arrows:
            wrong.append(f"{folder}/ has no row in the table of arrows of docs/architecture.md")
            continue
        for number, name in includes(path):
            to = name.split("/")[0]
            # Headers without a folder are made by CMake.
            if "/" in name and to != folder and to not in arrows[folder]:
                wrong.append(f"{path.relative_to(ROOT)}:{number}: {folder}/ may not include {name}")
        if folder not in MAY_SAY:
            for number, line in enumerate(path.read_text().splitlines(), 1):
                if SAYS.search(line):
                    wrong.append(f"{path.relative_to(ROOT)}:{number}: say it with run_log(), libspecklescope has no terminal")
    print("\n".join(dict.fromkeys(wrong)) or f"{len(sources)} files include only what they may.")
    return 1 if wrong else 0


sys.exit(main())
