"""json.json: docs/spec/jose.md, JSON and times."""

from reading import canonical, parse_json, parse_object, parse_time, write_time


def check(vector, _):
    if vector["kind"] == "time":
        seconds = parse_time(vector["text"])
        assert (seconds, write_time(seconds)) == (vector["seconds"], vector["written"])
        return
    data = bytes.fromhex(vector["hex"]) if "hex" in vector else vector["text"].encode()
    parse = parse_object if vector.get("object") else parse_json
    value = parse(data, vector.get("max", 4096))
    assert canonical(value).decode() == vector["canonical"]
    assert parse_json(vector["canonical"].encode(), 4096) == value
