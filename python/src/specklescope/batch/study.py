"""The table of a study and its overview."""

from __future__ import annotations

import csv
import html
import io
from pathlib import Path
from typing import Any
from urllib.parse import quote

from .plan import Task

Failures = dict[str, str]
FIRST = ("recording", "region")

STYLE = """
body{font:15px/1.5 system-ui,sans-serif;margin:2rem auto;max-width:1400px;padding:0 1rem;color:#1c2430;background:#fff}
h1{font-size:1.5rem;margin:0}p{margin:.3rem 0 1.2rem;color:#55606e}a{color:#1d5fa8}
ul{list-style:none;margin:0;padding:0;display:grid;grid-template-columns:repeat(auto-fill,minmax(240px,1fr));gap:1.2rem}
li{border:1px solid #d5dae1;border-radius:6px;padding:.7rem;overflow-wrap:anywhere}
img{width:100%;height:200px;object-fit:contain;background:#f2f4f7;display:block;margin-bottom:.5rem}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums}td{padding:.1rem .4rem .1rem 0}
td.n{text-align:right}.failed{border-color:#c0392b}.failed b{color:#a93226}small{color:#55606e}
@media(prefers-color-scheme:dark){body{background:#15181c;color:#dfe4ea}img{background:#20252b}li{border-color:#363d46}
p,small{color:#9aa5b1}a{color:#7db4f0}.failed b{color:#ff8a7a}}
"""


def write_study(out: Path, tasks: list[Task], failures: Failures) -> int:
    """Writes study.csv, study.parquet and index.html, each whole or not at all. Returns the number of rows."""
    records = {task.name: task.record() for task in tasks if task.name not in failures and not task.reason()}
    rows = [{"recording": task.name, "region": region["region"], **task.facts, **region, "source": task.source}
            for task in tasks if task.name in records for region in records[task.name]["regions"]]
    columns = list(dict.fromkeys([*FIRST, *(key for row in rows for key in row)]))
    text = io.StringIO()
    table = csv.DictWriter(text, columns, lineterminator="\n", restval="")
    table.writeheader()
    table.writerows(rows)
    whole(out / "study.csv", text.getvalue().encode())
    whole(out / "study.parquet", parquet(rows, columns))
    whole(out / "index.html", overview(out, tasks, records, failures).encode())
    return len(rows)


def whole(path: Path, data: bytes) -> None:
    part = path.with_name(f".{path.name}.part")
    part.write_bytes(data)
    part.replace(path)


def parquet(rows: list[dict[str, Any]], columns: list[str]) -> bytes:
    import pyarrow
    import pyarrow.parquet
    sink = pyarrow.BufferOutputStream()
    made = pyarrow.table({column: pyarrow.array([row.get(column) for row in rows]) for column in columns})
    pyarrow.parquet.write_table(made, sink)
    return bytes(sink.getvalue())


def overview(out: Path, tasks: list[Task], records: dict[str, Any], failures: Failures) -> str:
    """A page without scripts. Images are those of the folders next to it."""
    cards = [card(task, records.get(task.name), failures.get(task.name, "")) for task in
             sorted(tasks, key=lambda task: task.name not in failures)]
    about = f"{len(records)} of {len(tasks)} recordings are complete" + (f", {len(failures)} failed" if failures else "")
    return (f'<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">'
            '<meta http-equiv="Content-Security-Policy" content="script-src \'none\'">'
            f"<title>Study {html.escape(out.name)}</title><style>{STYLE}</style><h1>Study {html.escape(out.name)}</h1>"
            f'<p>{about}. Numbers: <a href="study.csv">study.csv</a>, <a href="study.parquet">study.parquet</a>. Images: mean '
            f"over each recording, with the colours of its settings.</p><ul>{''.join(cards)}</ul></html>\n")


def card(task: Task, record: dict[str, Any] | None, failure: str) -> str:
    link, title = quote(task.name), html.escape(task.name)
    facts = html.escape(", ".join(f"{key} {value}" for key, value in task.facts.items() if value))
    if record is None:
        return f'<li class="failed"><b>{title}</b><br><small>{facts}</small><br>{html.escape(failure or "It has not run.")}</li>'
    unit = record["regions"][0]["unit"] if record["regions"] else ""
    rows = "".join(f'<tr><td>{html.escape(row["region"])}<td class="n">{number(row["mean"])} ± {number(row["std"])} '
                   f"{html.escape(unit)}" for row in record["regions"])
    image = f'<img src="{link}/mean.png" alt="Mean of {title}" loading="lazy">'
    report = f'<a href="{link}/report.pdf">report</a> · ' if task.report else ""
    return (f'<li><a href="{link}/mean.png">{image}</a><b>{title}</b><br><small>{facts}</small><table>{rows}</table>'
            f'<small>{report}<a href="{link}/traces.csv">traces</a> · <a href="{link}/run.log">log</a></small></li>')


def number(value: float | None) -> str:
    return "–" if value is None else f"{value:.4g}"
