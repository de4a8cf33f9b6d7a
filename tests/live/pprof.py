# SPDX-License-Identifier: BSD-2-Clause
"""Reads profile.proto (github.com/google/pprof), and checks the properties that every reader relies on. Written from
the wire format of protocol buffers and the .proto file, not from our writer."""

import gzip

# Fields by message: number -> (name, whether it is repeated, type).
NUMBER, TEXT = "number", "text"
VALUE_TYPE = {1: ("type", False, NUMBER), 2: ("unit", False, NUMBER)}
LABEL = {
    1: ("key", False, NUMBER),
    2: ("str", False, NUMBER),
    3: ("num", False, NUMBER),
    4: ("num_unit", False, NUMBER),
}
SAMPLE = {1: ("location_id", True, NUMBER), 2: ("value", True, NUMBER), 3: ("label", True, LABEL)}
MAPPING = {1: ("id", False, NUMBER), 2: ("memory_start", False, NUMBER), 3: ("memory_limit", False, NUMBER),
           4: ("file_offset", False, NUMBER), 5: ("filename", False, NUMBER), 6: ("build_id", False, NUMBER),
           7: ("has_functions", False, NUMBER), 8: ("has_filenames", False, NUMBER),
           9: ("has_line_numbers", False, NUMBER), 10: ("has_inline_frames", False, NUMBER)}
LINE = {1: ("function_id", False, NUMBER), 2: ("line", False, NUMBER)}
LOCATION = {1: ("id", False, NUMBER), 2: ("mapping_id", False, NUMBER), 3: ("address", False, NUMBER),
            4: ("line", True, LINE), 5: ("is_folded", False, NUMBER)}
FUNCTION = {1: ("id", False, NUMBER), 2: ("name", False, NUMBER), 3: ("system_name", False, NUMBER),
            4: ("filename", False, NUMBER), 5: ("start_line", False, NUMBER)}
PROFILE = {1: ("sample_type", True, VALUE_TYPE), 2: ("sample", True, SAMPLE), 3: ("mapping", True, MAPPING),
           4: ("location", True, LOCATION), 5: ("function", True, FUNCTION), 6: ("string_table", True, TEXT),
           7: ("drop_frames", False, NUMBER), 8: ("keep_frames", False, NUMBER), 9: ("time_nanos", False, NUMBER),
           10: ("duration_nanos", False, NUMBER), 11: ("period_type", False, VALUE_TYPE), 12: ("period", False, NUMBER),
           13: ("comment", True, NUMBER), 14: ("default_sample_type", False, NUMBER)}


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 0x7f) << shift
        shift += 7
        assert shift <= 70 and value < 2 ** 64
        if byte < 0x80:
            return value, at


def numbers(data):
    at, found = 0, []
    while at < len(data):
        value, at = varint(data, at)
        found.append(value)
    return found


def message(data, fields):
    found = {name: [] if repeated else {} if isinstance(kind, dict) else 0
             for name, repeated, kind in fields.values()}
    at = 0
    while at < len(data):
        tag, at = varint(data, at)
        assert tag >> 3 in fields and tag & 7 in (0, 2), tag
        name, repeated, kind = fields[tag >> 3]
        value, at = varint(data, at)
        if tag & 7 == 0:
            assert kind == NUMBER
            values = [value]
        else:
            assert at + value <= len(data)
            part, at = data[at:at + value], at + value
            assert kind != NUMBER or repeated
            values = [part.decode("utf-8")] if kind == TEXT else numbers(part) if kind == NUMBER else \
                [message(part, kind)]
        if repeated:
            found[name] += values
        else:
            found[name], = values
    return found


class Profile:
    """A checked profile: samples as ([(function names, outermost first)], {label: value}, values)."""

    def __init__(self, data):
        assert data[:2] == b"\x1f\x8b", data[:16]
        self.raw = raw = message(gzip.decompress(data), PROFILE)
        texts = self.texts = raw["string_table"]
        assert texts[0] == "" and "" not in texts[1:] and len(set(texts)) == len(texts)
        assert all(text.isprintable() for text in texts), texts
        self.functions, self.mappings, self.locations = (
            {one["id"]: one for one in raw[name]} for name in ("function", "mapping", "location"))
        for name in ("function", "mapping", "location"):
            ids = [one["id"] for one in raw[name]]
            assert 0 not in ids and len(set(ids)) == len(ids), (name, ids)
        assert all(self.text(f["name"]) and self.text(f["system_name"]) for f in raw["function"])
        self.modules = [self.text(m["filename"]) for m in raw["mapping"]]
        assert all(self.modules) and len(set(self.modules)) == len(self.modules)
        assert all(m["has_functions"] for m in raw["mapping"])
        self.types = [self.type(t) for t in raw["sample_type"]]
        self.period = (self.type(raw["period_type"]), raw["period"]) if raw["period_type"] else None
        self.comments = [self.text(index) for index in raw["comment"]]
        for location in raw["location"]:
            assert location["line"] and not location["mapping_id"] or location["mapping_id"] in self.mappings
            assert all(line["function_id"] in self.functions for line in location["line"])
        assert {i for s in raw["sample"] for i in s["location_id"]} == set(self.locations), "all are used"
        assert {line["function_id"] for one in raw["location"] for line in one["line"]} == set(self.functions)
        self.samples = [self.sample(s) for s in raw["sample"]]

    def text(self, index):
        assert index < len(self.texts)
        return self.texts[index]

    def type(self, value_type):
        found = self.text(value_type["type"]), self.text(value_type["unit"])
        assert all(found)
        return found

    def sample(self, sample):
        assert len(sample["value"]) == len(self.types)
        names, labels = [], {}
        for number in reversed(sample["location_id"]):
            names += [self.text(self.functions[line["function_id"]]["name"])
                      for line in reversed(self.locations[number]["line"])]
        for label in sample["label"]:
            assert bool(label["str"]) != bool(label["num"] or label["num_unit"]), label
            key = self.text(label["key"])
            assert key and key not in labels
            labels[key] = self.text(label["str"]) if label["str"] else label["num"]
        return tuple(names), labels, sample["value"]

    def sums(self, which=-1):
        """{function names: value}, over all labels."""
        found = {}
        for names, _, values in self.samples:
            found[names] = found.get(names, 0) + values[which]
        return found
