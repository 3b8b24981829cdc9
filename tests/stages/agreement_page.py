#!/usr/bin/python3
"""docs/agreement.md from what StageWalk.HostAndDeviceAgree wrote.

Usage: SPECKLESCOPE_AGREEMENT_FILE=agreement.json build/native/stages_tests --gtest_filter="*HostAndDevice*"
       tests/stages/agreement_page.py agreement.json > docs/agreement.md
"""
import json
import sys


def number(value):
    if value is None:  # infinity in JSON
        return "∞"
    if value == 0:
        return "0"
    mantissa, exponent = f"{value:.1e}".split("e")
    return f"{mantissa.removesuffix('.0')}·10{str(int(exponent)).translate(str.maketrans('-0123456789', '⁻⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def main():
    page = json.load(open(sys.argv[1], encoding="utf-8"))
    stages = page["stages"]
    driver = f", driver {page['driver']}" if page["driver"] else ""
    print("# Host and device agree\n")
    print("Made by `tests/stages/agreement_page.py` from a run of `StageWalk.HostAndDeviceAgree` in `stages_tests`, which walks the registry: every")
    print("choice, both ends of every range and every pair of values, on awkward shapes (1×1, 64×1, 1×64, 17×13,")
    print("131×67, 631×479), in every pixel type, grey and colour, over frames in sequence with restarts, repeated")
    print("frames and buttons. Undefined, infinite and saturated pixels are counted alike on both sides.\n")
    print(f"{page['date']} · device {page['device']}{driver} · host {page['host']} · seed {page['seed']}\n")
    print(f"{sum(s['cases'] for s in stages)} cases, {sum(s['frames'] for s in stages)} frames, "
          f"{sum(s['samples'] for s in stages) / 1e6:.1f} million samples compared.\n")
    print("| stage | cases | refused by both | other method | frames | measure | allowed | worst | grey levels apart at most | samples that differ |")
    print("|---|---|---|---|---|---|---|---|---|---|")
    for s in stages:
        part = s["differing"] / s["samples"] if s["samples"] else 0
        print(f"| {s['name']} | {s['cases']} | {s['refused']} | {s['chosen_otherwise']} | {s['frames']} | {s['measure']} | "
              f"{number(s['tolerance'])} | {number(s['worst'])} | {s['levels']} | {100 * part:.2g} % |")
    print("\n*Other method*: host and device took different methods under `method=auto`, each the faster there; they are compared")
    print("method by method in cases of their own. Integers may differ by one level where a rounding falls the other way; f32 by what is allowed. The worst cases:\n")
    for s in stages:
        if s["worst_case"]:
            print(f"- {s['name']}: `{s['worst_case']}`")


if __name__ == "__main__":
    main()
