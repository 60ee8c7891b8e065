"""sealed.json: docs/spec/hpke-sealed.md."""

from reading import parse_time
from sealed import open_envelope
from subject_vc_jwt import resolver


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    envelope = bytearray.fromhex(whole["envelope"])
    if "flip" in vector:
        envelope[vector["flip"]] ^= 1
    envelope = bytes(envelope[: vector.get("keep", len(envelope))])
    cards = whole["sender_cards"] if "sender_cards" in whole else by_id[whole["sender_cards_of"]]["sender_cards"]
    seed, index = bytes.fromhex(whole["recipient_seed"]), int(whole["recipient_index"])
    key = (whole["suite"], seed, index, whole["recipient"])
    opened = set()
    for _ in range(2 if vector.get("opened_before") else 1):
        found = open_envelope(envelope, *key, resolver((cards,)), parse_time(whole["now"]), opened)
    signer, media, number, expires, payload = found
    facts = {
        "signer": signer, "media_type": media, "message_id": number.hex(), "expires": expires, "payload": payload.hex(),
    }
    assert facts.keys() == vector["expect"].keys(), vector["id"]
    for name, expected in vector["expect"].items():
        assert facts[name] == (parse_time(expected) if name == "expires" else expected), name
