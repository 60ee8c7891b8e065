"""Verifies every file of vectors, from docs/spec alone: `check.py FOLDER`.

A subject is a module `subject_NAME` with `check(vector, by_id)`: it asserts what a good vector says, and raises `Refused` with the code of
the refusal. A file without a module fails, as does a module without a file.
"""

import importlib
import json
import pathlib
import sys
import traceback

from reading import Refused

HERE = pathlib.Path(__file__).parent


def check_file(path):
    """Good and refused vectors of a file."""
    subject = path.stem
    file = json.loads(path.read_text(encoding="utf-8"))
    vectors = file["vectors"]
    assert (file["version"], file["subject"]) == (1, subject), "another version or subject"
    assert file["count"] == len(vectors) > 0, "the count is not that of the vectors"
    by_id = {vector["id"]: vector for vector in vectors}
    assert len(by_id) == len(vectors), "an id stands twice"
    check = importlib.import_module(module(subject)).check
    refused = 0
    for vector in vectors:
        expected = vector["reason"] if vector.get("result") == "reject" else None
        try:
            check(vector, by_id)
            found = None
        except Refused as error:
            found = error.code
        except Exception as error:
            raise AssertionError(f"{vector['id']}: {traceback.format_exc()}") from error
        assert found == expected, f"{vector['id']}: {found}, not {expected}"
        refused += expected is not None
    assert 0 < refused < len(vectors), "good ones and refused ones"
    return len(vectors) - refused, refused


def module(subject):
    return "subject_" + subject.replace("-", "_")


def main(folder):
    files = sorted(pathlib.Path(folder).glob("*.json"))
    known = {path.stem for path in HERE.glob("subject_*.py")}
    failed = [f"{name}: FAILED no file" for name in sorted(known - {module(path.stem) for path in files})]
    good = refused = 0
    for path in files:
        try:
            if module(path.stem) not in known:
                raise AssertionError("no subject of this program")
            counts = check_file(path)
            good, refused = good + counts[0], refused + counts[1]
            print(f"{path.stem}: {counts[0]} good, {counts[1]} refused", flush=True)
        except Exception as error:
            failed.append(f"{path.stem}: FAILED {error}")
    for line in failed:
        print(line)
    print(f"python: {len(files)} files, {good} good, {refused} refused, {len(failed)} failed")
    return bool(failed) or not files


if __name__ == "__main__":
    if not __debug__:
        sys.exit("python -O takes the assertions away, and they are the checks")
    sys.exit(main(sys.argv[1]))
