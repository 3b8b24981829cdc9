#!/usr/bin/python3
"""Ten common clients watch one address at the same time: FFmpeg, OpenCV and GStreamer, over TCP and UDP. Prints the
signal-to-noise ratio of each received image against the snapshot; fails below 38 dB.

usage: clients.py rtsp://… SNAPSHOT.png
"""
import os
import subprocess
import sys

import cv2
import numpy

url, snapshot = sys.argv[1:]
PICTURES = 40  # each new client requests a key frame, which is coarser because of the rate limit

if snapshot == "opencv":  # one separate client
    film = cv2.VideoCapture(url, cv2.CAP_FFMPEG)
    for _ in range(PICTURES):
        ok, picture = film.read()
        assert ok
    sys.stdout.buffer.write(picture[..., ::-1].tobytes())
    sys.exit()

wanted = cv2.imread(snapshot)[..., ::-1].astype(float)
height, width = wanted.shape[:2]
even = height + height % 2, width + width % 2


def ffmpeg(protocol):
    return f"exec timeout 60 ffmpeg -y -v warning -rtsp_transport {protocol} -i {url} -frames:v {PICTURES} -f rawvideo -pix_fmt rgb24 - -c copy -frames:v {PICTURES} -f framecrc $NAME.times"


def opencv(protocol):
    return f"OPENCV_FFMPEG_CAPTURE_OPTIONS='rtsp_transport;{protocol}' exec timeout 60 {sys.executable} {__file__} {url} opencv"


def gstreamer(protocol):
    return (
        f"exec timeout 60 gst-launch-1.0 -q rtspsrc location={url} protocols={protocol} latency=0 ! rtph264depay ! avdec_h264 ! "
        f"videoconvert ! video/x-raw,format=RGB ! identity eos-after={PICTURES} ! fdsink"
    )


clients = {}
for protocol in ("tcp", "udp"):
    for program, count in ((ffmpeg, 2), (opencv, 1), (gstreamer, 2)):
        for number in range(count):
            name = f"{program.__name__}-{protocol}-{number}"
            out = open(name + ".rgb", "wb")
            clients[name] = subprocess.Popen(program(protocol), shell=True, stdout=out, stderr=open(name + ".err", "w"),
                                             env={**os.environ, "NAME": name})
failed = []
for name, client in clients.items():
    status = client.wait()
    said = "".join(line for line in open(name + ".err") if "swscaler" not in line and "Timestamps are unset" not in line)
    if os.path.exists(name + ".times"):  # FFmpeg gives the first image no time
        times = [int(line.split(",")[2]) for line in open(name + ".times") if line[0] != "#"][1:]
        if len(times) < PICTURES // 2 or any(b <= a for a, b in zip(times, times[1:])):
            failed.append(f"{name}: times {times}")
    pictures = numpy.fromfile(name + ".rgb", numpy.uint8)
    size = even if len(pictures) % (even[0] * even[1] * 3) == 0 else (height, width)
    pictures = pictures[: len(pictures) // (size[0] * size[1] * 3) * size[0] * size[1] * 3].reshape(-1, *size, 3)
    if len(pictures) == 0:
        failed.append(f"{name}: no picture, status {status}: {said}")
        continue
    error = numpy.mean((pictures[-1, :height, :width].astype(float) - wanted) ** 2)
    psnr = 10 * numpy.log10(255**2 / max(error, 1e-9))
    print(f"{name}: {psnr:.1f} dB, {len(pictures)} pictures {said.strip()}")
    if psnr < 38 or "monoton" in said:
        failed.append(f"{name}: {psnr:.1f} dB {said}")
assert not failed, "\n".join(failed)
