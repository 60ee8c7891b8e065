"""status.json: docs/spec/credentials.md, status lists."""

import functools

from credentials import Status, StatusList, verify_credential
from subject_vc_jwt import logs_of, resolver


@functools.cache
def known_lists(logs, tokens):
    return [StatusList(token, resolver(logs), now) for token, now in tokens]


def check(vector, by_id):
    logs = logs_of(by_id)
    resolve = resolver(logs)
    if vector["kind"] == "list":
        found = StatusList(vector["token"], resolve, vector["now"])
        numbers = [number for number in range(len(found.bits) * 8) if found.bits[number // 8] and found.is_set(number)]
        assert (found.url, found.purposes) == (vector["url"], [vector["purpose"]])
        assert (len(found.bits) * 8, numbers) == (vector["entries"], vector["set"])
    elif vector["kind"] == "credential":
        good = (other for other in by_id.values() if other["kind"] == "list" and "result" not in other)
        lists = known_lists(logs, tuple((other["token"], other["now"]) for other in good))
        verify_credential(vector["token"], resolve, vector["now"], Status(vector["status"], lists))
    else:
        assert vector["kind"] == "card-log"
