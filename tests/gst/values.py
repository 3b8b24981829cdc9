"""Exact values of images, read in Python through GStreamer's introspection: values.py PLUGIN"""
import os
import sys
import tempfile
from pathlib import Path

FRAMES, WIDTH, HEIGHT = 20, 67, 45
(plugin,) = sys.argv[1:]
os.environ["GST_PLUGIN_PATH"] = str(Path(plugin).parent)
with tempfile.TemporaryDirectory() as home:
    os.environ["GST_REGISTRY"] = f"{home}/registry.bin"
    import gi
    gi.require_version("Gst", "1.0")
    from gi.repository import Gst
    Gst.init(None)

ELEMENT = 'specklescope qos=false options=backend=cpu chain="temporal:frames=3 | speckle:radius=2 | average:frames=2"'
SINK = "appsink sync=false max-buffers=0"


def data_of(buffer):
    return buffer.extract_dup(0, buffer.get_size())


def pull(pipeline, name):
    sink = pipeline.get_by_name(name)
    samples = []
    while (sample := sink.emit("pull-sample")) is not None:
        samples.append(sample)
    return samples


pipeline = Gst.parse_launch(
    f"videotestsrc pattern=snow num-buffers={FRAMES} ! video/x-raw,format=GRAY8,width={WIDTH},height={HEIGHT},framerate=25/1 ! "
    f"tee name=t t. ! queue ! {ELEMENT} values=true ! video/x-raw,format=RGBA ! {SINK} name=pictures "
    f"t. ! queue ! {ELEMENT} ! application/x-specklescope ! {SINK} name=numbers")
assert pipeline.set_state(Gst.State.PLAYING) != Gst.StateChangeReturn.FAILURE
pictures, numbers = pull(pipeline, "pictures"), pull(pipeline, "numbers")
error = pipeline.get_bus().pop_filtered(Gst.MessageType.ERROR)
assert error is None, error.parse_error()
pipeline.set_state(Gst.State.NULL)
del pipeline

assert len(pictures) == len(numbers) == FRAMES, (len(pictures), len(numbers))
seen = set()
for i, (picture, alone) in enumerate(zip(pictures, numbers)):
    known = picture.get_buffer().get_custom_meta("SpecklescopeResult").get_structure()
    values = known.get_value("values")
    assert isinstance(values, Gst.Sample), values
    assert values.get_caps().is_equal(alone.get_caps()), (values.get_caps().to_string(), alone.get_caps().to_string())
    data = data_of(values.get_buffer())
    assert len(data) == WIDTH * HEIGHT * 4, len(data)
    assert data == data_of(alone.get_buffer()), f"frame {i}: the numbers beside the picture are others"
    assert known.get_boolean("warming-up") == (True, i < 3), (i, known.to_string()[:200])
    assert not alone.get_buffer().get_custom_meta("SpecklescopeResult").get_structure().has_field("values")
    seen.add(data)
assert len(seen) > FRAMES / 2, "a scene that stands shows nothing"
print(f"the numbers of {len(pictures)} pictures are those that go out alone, after the pipeline has ended")
