"""The library through ctypes, with structs parsed from its header, so that no other code of ours is involved."""
import ctypes
import re
from pathlib import Path

import numpy as np

TYPES = {np.dtype(np.uint8): 0, np.dtype(np.uint16): 1, np.dtype(np.float32): 2}
C = {"size_t": ctypes.c_size_t, "int32_t": ctypes.c_int32, "int64_t": ctypes.c_int64, "uint64_t": ctypes.c_uint64,
     "double": ctypes.c_double}


def struct(header, name):
    """The struct as in the header."""
    body = re.search(r"typedef struct %s \{(.*?)\} %s;" % (name, name), header, re.S).group(1)
    body = re.sub(r"/\*.*?\*/", "", body, flags=re.S)
    fields = []
    for line in body.split(";"):
        words = re.sub(r"\bconst\b", "", line).replace("*", "").split()
        if not words:
            continue
        stars = line.count("*")
        kind = C.get(words[0], ctypes.c_void_p) if stars == 0 else ctypes.c_char_p if stars == 1 and words[0] == "char" \
            else ctypes.c_void_p
        fields += [(member.strip(), kind) for member in " ".join(words[1:]).split(",")]
    return type(name, (ctypes.Structure,), {"_fields_": fields})


class Library:
    def __init__(self, path, header):
        text = Path(header).read_text()
        self.calls = ctypes.CDLL(path)
        self.calls.specklescope_last_error.restype = ctypes.c_char_p
        self.Image, self.Result, self.Settings, self.Stage, self.Parameter = (
            struct(text, "specklescope_" + name) for name in ("image", "result", "settings", "stage_info",
                                                              "parameter_info"))

    def call(self, name, *arguments):
        status = getattr(self.calls, "specklescope_" + name)(*arguments)
        if status != 0:
            raise RuntimeError(self.calls.specklescope_last_error().decode())

    def sized(self, kind, **members):
        return kind(struct_size=ctypes.sizeof(kind), **members)

    def stages(self):
        """Name and parameters of each: (name, kind, default, choices, minimum, maximum)."""
        count = ctypes.c_size_t()
        self.call("stage_count", ctypes.byref(count))
        for index in range(count.value):
            stage = self.sized(self.Stage)
            self.call("stage_describe", ctypes.c_size_t(index), ctypes.byref(stage))
            yield stage.name.decode(), [self.parameter(stage.name, k) for k in range(stage.parameters)]

    def parameter(self, stage, index):
        info = self.sized(self.Parameter)
        self.call("parameter_describe", stage, ctypes.c_size_t(index), ctypes.byref(info))
        choices = []
        if info.choices:
            names = ctypes.cast(info.choices, ctypes.POINTER(ctypes.c_char_p))
            while names[len(choices)] is not None:
                choices.append(names[len(choices)].decode())
        return info.name.decode(), info.kind, info.default_value.decode(), choices, info.minimum, info.maximum

    def image(self, pixels):
        height, width = pixels.shape[:2]
        return self.sized(self.Image, data=pixels.ctypes.data, pitch=pixels.strides[0], width=width, height=height,
                          channels=pixels.shape[2] if pixels.ndim == 3 else 1, type=TYPES[pixels.dtype])

    def process(self, chain_text, frames, options=b"backend=cpu"):
        """Results of one chain for these frames in sequence."""
        settings = self.sized(self.Settings, options=options)
        chain = ctypes.c_void_p()
        self.call("chain_create", chain_text.encode(), ctypes.byref(settings), ctypes.byref(chain))
        try:
            results = []
            for frame in frames:
                given, made = self.image(frame), self.sized(self.Image)
                self.call("chain_output", chain, ctypes.byref(given), ctypes.byref(made))
                shape = (made.height, made.width) + ((3,) if made.channels == 3 else ())
                kind = {value: key for key, value in TYPES.items()}[made.type]
                result = np.empty(shape, kind)
                self.call("chain_process", chain, ctypes.byref(given), None, ctypes.byref(self.image(result)), None)
                results.append(result)
            return results
        finally:
            self.call("chain_free", chain)
