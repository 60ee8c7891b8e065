"""card-log.json: docs/spec/did.md."""

import keys
from cards import AGREEMENT, CONTEXT, ROLES, Keeper, recover, verify_log
from reading import Refused, parse_time


def check(vector, by_id):
    if vector.get("result") == "reject":
        refuse(vector, by_id)
    else:
        good(vector)


def lines_of(vector):
    return vector["log"].encode().splitlines()


def joined(lines):
    return b"".join(line + b"\n" for line in lines)


def refuse(vector, by_id):
    source = by_id[vector["of"]]
    lines = [lines_of(source)[number] for number in vector["lines"]]
    for line, old, new in vector["edits"]:
        assert old.encode() in lines[line]
        lines[line] = lines[line].replace(old.encode(), new.encode(), 1)
    if "pad" in vector:
        lines[0] = lines[0].ljust(vector["pad"])
    cards = verify_log(joined(lines))
    keeper = Keeper()
    if "known" in vector:
        keeper.add(verify_log(joined(lines_of(source)[number] for number in vector["known"])))
    if "other" in vector:
        keeper.add(verify_log(by_id[vector["other"]]["log"].encode()))
    keeper.add(cards)
    if "seed" in vector:
        recover(bytes.fromhex(vector["seed"]), cards)


def good(vector):
    seed = bytes.fromhex(vector["seed"])
    cards = verify_log(vector["log"].encode())
    newest = cards[-1]
    assert (newest.did, newest.suite) == (vector["did"], vector["suite"])
    assert [card.hash for card in cards] == vector["hashes"]
    assert {role: str(index) for role, index in recover(seed, cards).items()} == vector["indexes"]
    for card in cards:
        signing = keys.derive(card.suite, seed, "Did", card.version - 1)
        name = keys.algorithm(card.suite, "Did")
        assert card.signature == keys.sign(name, signing, card.canonical, CONTEXT)
        following = keys.derive(card.suite, seed, "Did", card.version)
        public = keys.public_key(name, following)
        assert card.next == keys.multihash(card.suite, public)
        present(card)
    keeper = Keeper()
    keeper.add(cards)
    for case in vector["cases"]:
        try:
            judge(case, keeper, newest)
            found = "ok"
        except Refused as refused:
            found = refused.code
        assert found == case.get("reason", "ok"), case


def present(card):
    """The first eight methods are the present keys, in the order of the roles and with their relationships."""
    methods = card.document.json["verificationMethod"][:8]
    assert [method["id"].rpartition("#")[2].rpartition("-")[0] for method in methods] == list(ROLES)
    for method, (role, (_, form, relationships)) in zip(methods, ROLES.items()):
        assert method["type"] == form
        named = {name for name, urls in card.document.relationships.items() if method["id"] in urls}
        assert named == set(relationships)
        if (role, card.suite) in AGREEMENT:
            assert method["publicKeyJwk"]["alg"] == AGREEMENT[role, card.suite]


def judge(case, keeper, newest):
    document = newest.document
    if "resolve" in case:
        keeper.resolve(newest.did, parse_time(case["resolve"]))
    elif "agreement" in case:
        url, _ = document.agreement_key(case["agreement"], parse_time(case["at"]))
        assert url == case["key"]
    elif "role" in case:
        document.key_of_role(case["key"], case["role"], parse_time(case["at"]))
    else:
        document.key_for(case["key"], case["form"], case["relationship"], parse_time(case["at"]))
