#!/usr/bin/python3
"""A GigE Vision camera on 127.0.0.1 with what aravis' fake one lacks: chunks, PTP, lines, a clock that runs at
its own pace, a frame count of 16 or 64 bits that leaves numbers out, packets that are lost.

It speaks GVCP (control, port 3956) and GVSP (frames) and serves a GenICam description of its own. Run it in a
network namespace. Pixels count up from the frame's number, the first frame from 1. When it ends it writes what
it did to the file `--report`, as JSON."""

import argparse
import json
import random
import signal
import socket
import struct
import threading
import time

options = argparse.ArgumentParser()
options.add_argument("--serial", default="GV77")
options.add_argument("--report")
options.add_argument("--rate", type=float, default=100, help="frames/s when it runs freely")
options.add_argument("--line-rate", type=float, default=50, help="edges/s on its input Line1")
options.add_argument("--skew", type=float, default=0, help="ppm by which its clock runs fast")
options.add_argument("--jitter", type=float, default=0, help="mean of the exponential delay of a frame, ms")
options.add_argument("--jump", default="0:0", help="FRAME:SECONDS: from this frame on its clock is set so far ahead")
options.add_argument("--unstamped", type=int, default=0, help="this frame has no time")
options.add_argument("--restart", type=int, default=0, help="from this frame on it counts from 1")
options.add_argument("--damaged", type=int, default=0, help="this frame's number is far off")
options.add_argument("--claim", default="0:1", help="FRAME:FACTOR: its leader says so many times its height")
options.add_argument("--late", default="0:0", help="TRIGGER:SECONDS: this one is answered so late")
options.add_argument("--exposure", type=float, default=5000, help="us, when it is switched on")
options.add_argument("--takes-late", type=int, default=0, help="a new exposure is taken so many frames later")
options.add_argument("--show-exposure", action="store_true",
                     help="each frame begins with its true exposure in us, as a big-endian double")
options.add_argument("--coarse", type=float, default=0, help="steps of its exposure, us")
options.add_argument("--refuse-exposure", action="store_true", help="ExposureTime cannot be written")
options.add_argument("--first-id", type=int, default=1)
options.add_argument("--wide", action="store_true", help="GVSP 2.x: 64-bit frame numbers")
options.add_argument("--skip", type=int, default=0, help="every so many frames one is counted and not sent")
options.add_argument("--hide", default="0:0", help="FIRST:LAST: these frames are counted and not sent")
options.add_argument("--lose", type=int, default=0, help="every so many frames one lacks a packet")
options.add_argument("--ignore", type=int, default=0, help="every so many triggers one is not answered")
options.add_argument("--alone", action="store_true", help="no other clock answers: its PTP listens for good")
options.add_argument("--without", default="", help="features that it does not have, separated by commas")
options.add_argument("--refuse-line", action="store_true", help="LineSource cannot be written")
options.add_argument("--formats", default="Mono8:01080001", help="NAME:CODE,… of its PixelFormat, codes in hex")
options.add_argument("--picture", help="a file with the bytes of each frame, instead of those that count up")
options.add_argument("--seed", type=int, default=1)
options = options.parse_args()
random.seed(options.seed)
without = set(options.without.split(","))

# Name: (address, kind, range, access). Enumerations count from 0 except pixel formats.
FEATURES = {
    "Width": (0x100, "int", (16, 640)), "Height": (0x104, "int", (16, 480)),
    "OffsetX": (0x108, "int", (0, 0)), "OffsetY": (0x10C, "int", (0, 0)),
    "PayloadSize": (0x110, "int", (0, 1 << 30)),
    "PixelFormat": (0x114, "enum", {name: int(code, 16) for name, code in
                                    (pair.split(":") for pair in options.formats.split(","))}),
    "AcquisitionMode": (0x118, "enum", {"Continuous": 0, "SingleFrame": 1}),
    "AcquisitionStart": (0x11C, "command", None), "AcquisitionStop": (0x120, "command", None),
    "TriggerSelector": (0x124, "enum", {"FrameStart": 0, "AcquisitionStart": 1}),
    "TriggerMode": (0x128, "enum", {"Off": 0, "On": 1}),
    "TriggerSource": (0x12C, "enum", {"Software": 0, "Line0": 1, "Line1": 2}),
    "TriggerActivation": (0x130, "enum", {"RisingEdge": 0, "FallingEdge": 1}),
    "TriggerSoftware": (0x134, "command", None),
    "LineSelector": (0x138, "enum", {"Line1": 0, "Line2": 1}),
    "LineMode": (0x13C, "enum", {"Input": 0, "Output": 1}),
    "LineSource": (0x140, "enum", {"Off": 0, "ExposureActive": 1}),
    "ChunkModeActive": (0x144, "bool", None),
    "ChunkSelector": (0x148, "enum", {"ExposureTime": 0, "Timestamp": 1}),
    "ChunkEnable": (0x14C, "bool", None),
    "PtpEnable": (0x150, "bool", None), "PtpDataSetLatch": (0x154, "command", None),
    "PtpStatus": (0x158, "enum", {"Disabled": 0, "Listening": 1, "Slave": 2}),
    "ExposureTime": (0x160, "float", (10, 1000000)),
}
BASE = 0x20000
ADDRESS = {name: BASE + row[0] for name, row in FEATURES.items()}
NAME = {address: name for name, address in ADDRESS.items()}
SELECTED = {"TriggerMode": "TriggerSelector", "LineMode": "LineSelector", "LineSource": "LineSelector",
            "ChunkEnable": "ChunkSelector"}


def node(name):
    address, kind, takes = FEATURES[name]
    register = (f'<Name>Reg</Name><Address>{BASE + address}</Address><Length>{8 if kind == "float" else 4}</Length>'
                f'<AccessMode>RW</AccessMode><pPort>Device</pPort>')
    register = register.replace("<Name>Reg</Name>", "")
    inner = f'<IntReg Name="{name}Reg">{register}<Sign>Unsigned</Sign><Endianess>BigEndian</Endianess></IntReg>'
    if kind == "int":
        return (f'<Integer Name="{name}"><pValue>{name}Reg</pValue><Min>{takes[0]}</Min><Max>{takes[1]}</Max>'
                f'</Integer>' + inner)
    if kind == "float":
        return (f'<Float Name="{name}"><pValue>{name}Reg</pValue><Min>{takes[0]}</Min><Max>{takes[1]}</Max></Float>'
                f'<FloatReg Name="{name}Reg">{register}<Endianess>BigEndian</Endianess></FloatReg>')
    if kind == "enum":
        entries = "".join(f'<EnumEntry Name="{e}"><Value>{v}</Value></EnumEntry>' for e, v in takes.items())
        return f'<Enumeration Name="{name}">{entries}<pValue>{name}Reg</pValue></Enumeration>' + inner
    if kind == "bool":
        return (f'<Boolean Name="{name}"><pValue>{name}Reg</pValue><OnValue>1</OnValue><OffValue>0</OffValue>'
                f'</Boolean>' + inner)
    return f'<Command Name="{name}"><pValue>{name}Reg</pValue><CommandValue>1</CommandValue></Command>' + inner


def chunk(name, number, reg, length):
    sign = "<Sign>Unsigned</Sign>" if reg == "IntReg" else ""
    outer = "Integer" if reg == "IntReg" else "Float"
    return (f'<{outer} Name="{name}"><pValue>{name}Reg</pValue></{outer}>'
            f'<{reg} Name="{name}Reg"><Address>0</Address><Length>{length}</Length><AccessMode>RO</AccessMode>'
            f'<pPort>{name}Port</pPort>{sign}<Endianess>BigEndian</Endianess></{reg}>'
            f'<Port Name="{name}Port"><ChunkID>{number:04x}</ChunkID></Port>')


names = [name for name in FEATURES if name not in without]
XML = ('<?xml version="1.0"?><RegisterDescription ModelName="Python" VendorName="Test" StandardNameSpace="None" '
       'SchemaMajorVersion="1" SchemaMinorVersion="1" SchemaSubMinorVersion="0" MajorVersion="1" MinorVersion="0" '
       'SubMinorVersion="0" ProductGuid="1" VersionGuid="1" '
       'xmlns="http://www.genicam.org/GenApi/Version_1_1" '
       'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
       'xsi:schemaLocation="http://www.genicam.org/GenApi/Version_1_1 GenApiSchema.xsd">'
       '<Category Name="Root"><pFeature>Camera</pFeature></Category><Category Name="Camera">'
       + "".join(f"<pFeature>{name}</pFeature>" for name in names) + "</Category>"
       + "".join(node(name) for name in names)
       + chunk("ChunkExposureTime", 2, "FloatReg", 8) + chunk("ChunkTimestamp", 3, "IntReg", 8)
       + '<Port Name="Device"/></RegisterDescription>').encode()

memory = bytearray(0x1000)
XML_AT = 0x10000


def put_word(address, value):
    struct.pack_into(">I", memory, address, value)


def put_text(address, text):
    memory[address:address + len(text)] = text.encode()


put_word(0x0, 0x00020000 if options.wide else 0x00010002)
put_word(0x4, 0x80000001)
put_word(0x8, 0x0202)
put_word(0xC, 0x03040506)
put_word(0x10, 7)
put_word(0x14, 5)
put_word(0x24, 0x7F000001)
put_word(0x34, 0xFF000000)
for at, words in ((0x48, "Test"), (0x68, "Python"), (0x88, "1"), (0xA8, "none"), (0xD8, options.serial),
                  (0x200, f"Local:camera.xml;{XML_AT:x};{len(XML):x}")):
    put_text(at, words)
put_word(0x600, 1)
put_word(0x904, 1)
put_word(0x938, 3000)
put_word(0x940, 1000000000)  # ticks a second
put_word(0xD04, 1500)

values = {name: 0 for name in FEATURES}
values.update(Width=64, Height=48, PixelFormat=next(iter(FEATURES["PixelFormat"][2].values())),
              ExposureTime=options.exposure)
selected = {}  # (feature, selector) -> value
started = time.monotonic_ns()
jump_at, jump_by = (float(part) for part in options.jump.split(":"))
late_at, late_by = (float(part) for part in options.late.split(":"))
claim_at, claim_factor = (int(part) for part in options.claim.split(":"))
hide_first, hide_last = (int(part) for part in options.hide.split(":"))
done = {"triggers": 0, "ignored": 0, "sent": 0, "skipped": 0, "broken": 0}
triggers = []
set_before = []  # ExposureTime as it was set when each of the last frames began
wake = threading.Condition()
running = False
ptp_at = 0


def clock_ns(at):
    return 5_000_000_000 + int((at - started) * (1 + options.skew * 1e-6))


def chunks_on():
    return values["ChunkModeActive"] and selected.get(("ChunkEnable", 0), 0)


def picture_size():
    bits = values["PixelFormat"] >> 16 & 0xFF  # of a pixel
    return (values["Width"] * values["Height"] * bits + 7) // 8


def payload_size():
    extra = 0
    if chunks_on():
        extra = 8 + 16 + (16 if selected.get(("ChunkEnable", 1), 0) else 0)
    return picture_size() + extra


def read(name):
    if name == "PayloadSize":
        return payload_size()
    if name == "PtpStatus":
        settled = not options.alone and time.monotonic() - ptp_at > 0.3
        return 0 if not values["PtpEnable"] else 2 if settled else 1
    if name in SELECTED:
        return selected.get((name, values[SELECTED[name]]), 0)
    return values[name]


def write(name, value):
    global running, ptp_at
    if (name == "LineSource" and options.refuse_line) or (name == "ExposureTime" and options.refuse_exposure):
        return False
    if name == "ExposureTime" and options.coarse:
        value = max(1, round(value / options.coarse)) * options.coarse
    with wake:
        if name in SELECTED:
            selected[(name, values[SELECTED[name]])] = value
        else:
            values[name] = value
        if name == "AcquisitionStart":
            running = True
            set_before.clear()
        elif name == "AcquisitionStop":
            running = False
        elif name == "PtpEnable":
            ptp_at = time.monotonic()
        elif name == "TriggerSoftware" and value:
            done["triggers"] += 1
            if options.ignore and done["triggers"] % options.ignore == 0:
                done["ignored"] += 1
            else:
                triggers.append(time.monotonic_ns())
        wake.notify()
    return True


def get(address, size):
    if address >= BASE:
        name = NAME.get(address)
        if name is None:
            return bytes(size)
        return struct.pack(">d", read(name)) if FEATURES[name][1] == "float" else struct.pack(">I", read(name))
    if address >= XML_AT:
        return (XML + bytes(size))[address - XML_AT:address - XML_AT + size]
    return bytes(memory[address:address + size])


def put(address, data):
    if address >= BASE:
        name = NAME.get(address)
        form = ">d" if name and FEATURES[name][1] == "float" else ">I"
        return name is None or write(name, struct.unpack(form, data)[0])
    memory[address:address + len(data)] = data
    return True


def control():
    gvcp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    gvcp.bind(("", 3956))
    answered = {}
    while True:
        data, peer = gvcp.recvfrom(2048)
        kind, _, command, _, number = struct.unpack(">BBHHH", data[:8])
        body = data[8:]
        if kind != 0x42:
            continue
        if answered.get(peer, (None,))[0] == (number, command):  # repeated: the answer was late
            gvcp.sendto(answered[peer][1], peer)
            continue
        status = 0
        if command == 0x02:
            reply = bytes(memory[:0xF8])
        elif command == 0x80:
            reply = b"".join(get(a, 4) for (a,) in struct.iter_unpack(">I", body))
        elif command == 0x82:
            pairs = [struct.unpack_from(">II", body, i) for i in range(0, len(body), 8)]
            if not all(put(a, struct.pack(">I", v)) for a, v in pairs):
                status = 0x8006  # write protect
            reply = struct.pack(">HH", 0, len(pairs))
        elif command == 0x84:
            address, size = struct.unpack(">IHH", body[:8])[0], struct.unpack(">IHH", body[:8])[2]
            reply = body[:4] + get(address, size)
        elif command == 0x86:
            (address,) = struct.unpack(">I", body[:4])
            if not put(address, body[4:]):
                status = 0x8006
            reply = struct.pack(">HH", 0, len(body) - 4)
        else:
            continue
        packet = struct.pack(">HHHH", status, command + 1, len(reply), number) + reply
        answered[peer] = ((number, command), packet)
        gvcp.sendto(packet, peer)


gvsp = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)


def header(number, form, packet):
    if options.wide:
        return struct.pack(">HHIQI", 0, 0, 0x80000000 | form << 24, number, packet)
    return struct.pack(">HHI", 0, number, form << 24 | packet)


def true_exposure():
    """Of the frame that begins now."""
    set_before.append(values["ExposureTime"])
    del set_before[:-1 - options.takes_late]
    return set_before[0]


def send(number, index, captured, lose, exposure):
    target = ("127.0.0.1", struct.unpack_from(">I", memory, 0xD00)[0] & 0xFFFF)
    room = (struct.unpack_from(">I", memory, 0xD04)[0] & 0xFFFF) - (48 if options.wide else 36)
    width, height = values["Width"], values["Height"]
    line = bytes((index + x) % 256 for x in range(256))
    if options.picture:
        with open(options.picture, "rb") as file:
            line = file.read()
    size = picture_size()
    picture = (line * (size // len(line) + 1))[:size]
    if options.show_exposure:
        picture = struct.pack(">d", exposure) + picture[8:]
    kind = 0x0001
    if chunks_on():
        kind = 0x4001
        picture += struct.pack(">II", 1, size)
        picture += struct.pack(">dII", exposure + (0 if options.show_exposure else index % 7), 2, 8)
        if selected.get(("ChunkEnable", 1), 0):
            picture += struct.pack(">QII", captured, 3, 8)
    claimed = height * (claim_factor if index == claim_at else 1)
    packets = [header(number, 1, 0) + struct.pack(">HHQIIIIIHH", 0, kind, captured, values["PixelFormat"], width,
                                                  claimed, 0, 0, 0, 0)]
    for at in range(0, len(picture), room):
        packets.append(header(number, 3, len(packets)) + picture[at:at + room])
    packets.append(header(number, 2, len(packets)) + struct.pack(">II", kind & 0xFF, height))
    if lose:
        del packets[1]
    for packet in packets:
        gvsp.sendto(packet, target)


def following(number):
    return number + 1 if options.wide else number % 65535 + 1


def frames():
    number, index, due = options.first_id, 0, 0
    while True:
        with wake:
            while not running:
                wake.wait()
                due = time.monotonic_ns()
            triggered = selected.get(("TriggerMode", 0), 0)
            if triggered and values["TriggerSource"] == 0:
                if not triggers:
                    wake.wait(0.1)
                    continue
                at = triggers.pop(0)
                late = done["sent"] + 1 == late_at
            else:
                due += int(1e9 / (options.line_rate if triggered else options.rate))
                at = None
                late = False
        if at is None:
            time.sleep(max(0, due - time.monotonic_ns()) * 1e-9)
            at = time.monotonic_ns()
        index += 1
        with wake:
            exposure = true_exposure()
        if late:
            time.sleep(late_by)
        if index == options.restart:
            number = 1
        if options.jitter:
            time.sleep(random.expovariate(1 / options.jitter) * 1e-3)
        if (options.skip and index % options.skip == 0) or hide_first <= index <= hide_last:
            done["skipped"] += 1
        else:
            lose = bool(options.lose) and index % options.lose == 0
            done["broken" if lose else "sent"] += 1
            ahead = int(jump_by * 1e9) if jump_at and index >= jump_at else 0
            captured = 0 if index == options.unstamped else clock_ns(at) + ahead
            sent_as = number ^ 1 << (62 if options.wide else 14) if index == options.damaged else number
            send(sent_as, index, captured, lose, exposure)
        number = following(number)


def report(*_):
    if options.report:
        done["LineMode"] = [selected.get(("LineMode", line), 0) for line in (0, 1)]
        done["LineSource"] = [selected.get(("LineSource", line), 0) for line in (0, 1)]
        done["LineSelector"] = values["LineSelector"]
        done["TriggerMode"] = selected.get(("TriggerMode", 0), 0)
        done["TriggerSource"] = values["TriggerSource"]
        done["TriggerActivation"] = values["TriggerActivation"]
        with open(options.report, "w") as out:
            json.dump(done, out)
    raise SystemExit(0)


signal.signal(signal.SIGTERM, report)
for task in (control, frames):
    threading.Thread(target=task, daemon=True).start()
while True:
    signal.pause()
