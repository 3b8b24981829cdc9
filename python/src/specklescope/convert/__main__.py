"""``python -m specklescope.convert``, which `specklescope convert` runs."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from .. import convert
from .._errors import RunError, UsageError

EXAMPLE = """examples:
  specklescope convert raw.tiff raw.ome.zarr
  specklescope convert 'film.tif?rate=100' film.ome.zarr
  specklescope convert raw.ome.zarr again.raw
  specklescope convert cells.ome.zarr cells.raw --at c=1 --at z=0
  specklescope convert raw.tiff raw.nwb --about about.toml --traces flow.csv --regions regions.json"""


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser("specklescope convert", epilog=EXAMPLE, formatter_class=argparse.RawDescriptionHelpFormatter,
                                   description="Convert a file to OME-Zarr 0.5 or NWB, or OME-Zarr or DICOM to a recording.")
    add = made.add_argument
    add("input", metavar="INPUT", help="a file that the program reads, as SOURCE of run; or an OME-Zarr image (.zarr) or multi-frame DICOM (.dcm)")
    add("output", metavar="OUTPUT", help="FILE.ome.zarr or FILE.nwb; FILE.raw if INPUT is OME-Zarr or DICOM")
    add("--about", metavar="FILE", help="subject, session, plane and device for .nwb (.toml)")
    add("--traces", metavar="FILE", help="traces of regions for .nwb, written by --traces (.csv)")
    add("--regions", metavar="FILE", help="regions of these traces")
    add("--at", action="append", default=[], metavar="AXIS=N", help="index from 0 of an axis of OME-Zarr other than t, y, x")
    return made


def run(options: argparse.Namespace) -> int:
    ending = Path(options.output).suffix
    if ending != ".nwb" and (options.about or options.traces or options.regions):
        raise UsageError("--about, --traces and --regions are for .nwb. Leave them out, or choose such a name.")
    if Path(options.input).suffix == ".zarr" or Path(options.input, "zarr.json").exists():
        return convert.from_zarr(options.input, options.output, dict(_index(text) for text in options.at))
    if options.at:
        raise UsageError("--at is for an OME-Zarr image as INPUT. Leave it out.")
    if Path(options.input).suffix.lower() in (".dcm", ".dicom"):
        return convert.from_dicom(options.input, options.output)
    if ending == ".zarr":
        return convert.to_zarr(options.input, options.output)
    if ending == ".nwb":
        return convert.to_nwb(options.input, options.output, traces=options.traces, regions=options.regions, about=options.about)
    raise UsageError(f"'{options.output}' ends in neither .zarr nor .nwb. Choose such a name.")


def _index(text: str) -> tuple[str, int]:
    axis, _, index = text.partition("=")
    if not axis or not index.isdecimal():
        raise UsageError(f"--at {text} is no axis with an index. Allowed: such as --at c=1.")
    return axis, int(index)


def main(words: list[str] | None = None) -> int:
    options = parser().parse_args(words)
    try:
        frames = run(options)
    except (UsageError, RunError) as error:
        print(f"specklescope convert: {error}", file=sys.stderr)
        return 2 if isinstance(error, UsageError) else 1
    except ModuleNotFoundError as error:
        print(f"specklescope convert: The Python package {error.name} is missing. Install it with: pip install "
              "'specklescope[convert]'.", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"specklescope convert: {os.strerror(error.errno) if error.errno else error}: {error.filename or options.output}.", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("specklescope convert: Interrupted. Nothing was written.", file=sys.stderr, flush=True)
        os._exit(1)  # threads of zarr-python would report their unfinished work
    print(f"Wrote {options.output}: {frames} frame{'s' * (frames != 1)}.", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
