"""backup.json: docs/spec/backup.md."""

from backup import open_backup
from cards import verify_log
from reading import need, parse_time
from subject_state import changed


def check(vector, by_id):
    whole = {**by_id[vector["of"]], **vector} if "of" in vector else vector
    found = open_backup(whole["suite"], bytes.fromhex(whole["seed"]), whole["did"], changed(whole, "file"))
    if "since" in whole:
        newest = len(verify_log(found["cards"].encode())) if found["cards"] else 0
        need(newest >= whole["since"], "stale-card")
    assert found == {**whole["expect"], "made": parse_time(whole["expect"]["made"])}
