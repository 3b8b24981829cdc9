"""Recordings of a study, as tasks with the reason why each has to run."""

from __future__ import annotations

import csv
import glob
import hashlib
import json
import os
import re
import tomllib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

ENDINGS = {".tif", ".tiff", ".btf", ".tf8", ".stk", ".lsm", ".npy", ".raw", ".mkv", ".avi", ".mp4", ".mov", ".y4m",
           ".rls", ".sc", ".holo", ".cine", ".mlf", ".h5", ".hdf5", ".nwb", ".mat", ".npz"}
RECORD = "batch.json"  # in the folder of each recording, written last
OF_RUN = ("config", "regions", "subject", "events", "options")  # columns of a table that change the results
WHOLE_IMAGE = json.dumps({"regions": [{"name": "image", "shape": "rectangle", "points": [[0, 0], [16383, 16383]]}]})
ENDS = 1 << 20  # bytes at the beginning and the end of a file that are part of its hash


class PlanError(Exception):
    """The request is wrong; the message is one sentence for the user."""


@dataclass(frozen=True)
class Task:
    """One recording. The same on every worker, whose file system has the same paths."""

    name: str
    source: str  # SOURCE of `specklescope run`
    folder: str  # of its results
    options: tuple[str, ...]  # of `specklescope run`
    regions: str  # a file; "": the whole image
    events: str  # a file; "": none
    maps: int  # one of this many frames is stored as a map; 0: none
    report: bool
    place: str  # working folder
    facts: dict[str, str]  # columns of the study table: subject, group, …
    hashes: dict[str, str]  # of recording, settings and version

    def record(self) -> Any:
        """Of its complete results. Throws OSError or ValueError if there are none."""
        return json.loads(Path(self.folder, RECORD).read_text(encoding="utf-8"))

    def reason(self) -> str:
        """Why it has to run; "" if its results are there."""
        try:
            done = self.record()
        except (OSError, ValueError):
            return "new"
        for what, value in self.hashes.items():
            if done["hashes"].get(what) != value:
                return f"{what} changed"
        for name, size in done["files"].items():
            path = Path(self.folder, name)
            if not path.is_file() or path.stat().st_size != size:
                return f"{name} is missing or changed"
        return ""


def digest(parts: Iterable[bytes | str]) -> str:
    """Hash of texts that are kept apart by their lengths."""
    made = hashlib.sha256()
    for part in parts:
        data = part.encode() if isinstance(part, str) else part
        made.update(len(data).to_bytes(8, "little") + data)
    return made.hexdigest()


def content(path: str | Path) -> bytes:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").digest()


def of_recording(source: str, path: Path | None) -> str:
    """Hash of size, modification time, first and last MiB: recordings of tens of gigabytes are not read for it. The files of
    a folder count with name, size and time."""
    parts: list[bytes | str] = [source]
    if path and path.is_dir():
        for file in sorted(path.iterdir()):
            parts.append(f"{file.name} {file.stat().st_size} {file.stat().st_mtime_ns}")
    elif path:
        for file in (path, Path(f"{path}.jsonl")):
            if not file.is_file():
                continue
            size = file.stat().st_size
            parts.append(f"{size} {file.stat().st_mtime_ns}")
            with open(file, "rb") as opened:
                parts.append(opened.read(ENDS))
                opened.seek(max(size - ENDS, 0))
                parts.append(opened.read())
    return digest(parts)


def texts_of(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for part in value.values() if isinstance(value, dict) else value:
            yield from texts_of(part)


def of_settings(options: tuple[str, ...], regions: str, events: str, outputs: str, place: str) -> str:
    """Hash of the options and of every file that they, or the settings file, name."""
    parts: list[bytes | str] = [*options, outputs]
    named = [regions, events, *(part for word in options for part in re.split("[=,]", word))]
    for config in (word for before, word in zip(options, options[1:]) if before == "--config"):
        named.append(config.removeprefix("from:"))
        try:
            settings = tomllib.loads(Path(place, config).read_text(encoding="utf-8"))
        except (OSError, ValueError):
            continue  # the program reports it
        settings.pop("source", None)
        named += texts_of(settings)
    for name in named:
        path = Path(place, name)
        if name and path.is_file():
            parts += [name, content(path)]
    return digest(parts)


def place_of(text: str, base: Path) -> tuple[str, Path | None]:
    """A SOURCE with an absolute path, and this path if it exists: "raw:a.raw?width=8" in /data is "raw:/data/a.raw?width=8"."""
    if (base / text).exists():
        return str(base / text), base / text
    kind, path, options = re.fullmatch(r"((?:[a-z0-9]+:)?)([^?]*)(.*)", text, re.S).groups()  # type: ignore[union-attr]
    if path and (base / path).exists():
        return f"{kind}{base / path}{options}", base / path
    return (text if kind else str(base / text)), None


def stem_of(path: str) -> str:
    name = re.sub(r"^[a-z0-9]+:(?=.)|\?.*$", "", path)
    return os.path.splitext(name)[0] if Path(name).suffix.lower() in ENDINGS else name


def rows_of(words: list[str]) -> Iterator[dict[str, str]]:
    """Rows with name, source and the columns of a table, for files, patterns, folders, lists (.txt) and tables (.csv)."""
    for word in words:
        path, here = Path(word), Path.cwd()
        if path.suffix.lower() == ".csv":
            with open(path, encoding="utf-8-sig", newline="") as file:
                table = csv.DictReader(file)
                if "recording" not in (table.fieldnames or ()):
                    raise PlanError(f"The table {word} has no column 'recording'. Add it, with a file in each row.")
                base = path.resolve().parent
                for row in table:
                    cells = {key: (value or "").strip() for key, value in row.items() if key}
                    source = cells.pop("recording")
                    for key in ("config", "regions", "events"):
                        if cells.get(key) and not cells[key].startswith("from:"):
                            cells[key] = str(base / cells[key])
                    name = cells.pop("name", "") or Path(stem_of(source)).name
                    yield {"source": place_of(source, base)[0], "name": name, **cells}
        elif path.suffix.lower() == ".txt":
            for line in path.read_text(encoding="utf-8").splitlines():
                if line.strip() and not line.startswith("#"):
                    source = place_of(line.strip(), path.resolve().parent)[0]
                    yield {"source": source, "name": Path(stem_of(source)).name}
        elif path.is_dir() or (glob.has_magic(word) and not path.exists()):
            root = path if path.is_dir() else Path(*path.parts[:next(i for i, p in enumerate(path.parts) if glob.has_magic(p))])
            found = sorted(root.rglob("*")) if path.is_dir() else [Path(name) for name in sorted(glob.glob(word, recursive=True))]
            if path.is_dir():
                found = [file for file in found if file.suffix.lower() in ENDINGS and not file.name.startswith(".")]
            if not found:
                raise PlanError(f"No recording is found in '{word}'. Name files, a folder, a pattern, a list or a table.")
            for path in found:
                below = os.path.relpath(path, root)
                yield {"source": str(here / path), "name": stem_of(below).replace("/", "_")}
        else:
            yield {"source": place_of(word, here)[0], "name": Path(stem_of(word)).name}


def tasks_of(words: list[str], *, out: Path, config: str, regions: str, options: list[str], maps: int, report: bool,
             cuda: bool, version: str) -> list[Task]:
    """Throws PlanError. Relative names of files in settings refer to the current folder, as for `specklescope run`."""
    tasks: dict[str, Task] = {}
    here = str(Path.cwd())
    for row in rows_of(words):
        source, name = row.pop("source"), re.sub(r"[/\0]|^\.+", "_", row.pop("name"))
        settings = {key: row.pop(key, "") for key in OF_RUN}
        config_here = settings["config"] or config
        run: list[str] = []
        for option, value in (("--config", config_here), ("--subject", settings["subject"])):
            run += [option, value] if value else []
        run += [*options, *settings["options"].split()]
        run += ["--backend", "cuda"] if cuda else []
        shapes = settings["regions"] or (str(Path(here, regions)) if regions else "")
        if name in tasks:
            raise PlanError(f"Two recordings have the name '{name}': {tasks[name].source} and {source}. Give the folder or a "
                            f"quoted pattern such as 'data/*/raw.tiff', or a table with a column 'name'.")
        hashes = {"recording": of_recording(source, place_of(source, Path("/"))[1]),
                  "settings": of_settings(tuple(run), shapes, settings["events"], f"{maps} {report}", here), "version": version}
        tasks[name] = Task(name, source, str(out / name), tuple(run), shapes, settings["events"], maps, report, here,
                           {"subject": settings["subject"], **row}, hashes)
    return list(tasks.values())
