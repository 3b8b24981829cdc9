"""``specklescope convert``: recordings as OME-Zarr 0.5 and NWB, and OME-Zarr and DICOM as recordings. Requires
``pip install 'specklescope[convert]'`` (docs/convert.md).

    from specklescope.convert import from_zarr, to_nwb, to_zarr
    to_zarr("raw.tiff", "raw.ome.zarr")
    from_zarr("raw.ome.zarr", "again.raw")
    to_nwb("raw.tiff", "raw.nwb", traces="flow.csv", regions="regions.json", about="about.toml")

film.py reads and writes recordings; ome_zarr.py, nwb.py and dicom.py are the other formats.
"""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .dicom import from_dicom
    from .nwb import to_nwb
    from .ome_zarr import from_zarr, to_zarr

__all__ = ["from_dicom", "from_zarr", "to_nwb", "to_zarr"]


def __getattr__(name: str) -> Any:
    """Imports only the packages of the format: pynwb takes seconds."""
    from importlib import import_module
    if name not in __all__:
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    module = "dicom" if name == "from_dicom" else "nwb" if name == "to_nwb" else "ome_zarr"
    return getattr(import_module(f"{__name__}.{module}"), name)
