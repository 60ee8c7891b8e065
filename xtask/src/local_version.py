"""Names a wheel after what it was built for: `gambeson-0.1.0-….whl` becomes `gambeson-0.1.0+checked-….whl`, a local version (PEP 440).

python local_version.py WHEEL LABEL: prints the path of the new wheel, and removes the old one.
"""

import base64
import hashlib
import sys
import zipfile
from pathlib import Path

wheel, label = Path(sys.argv[1]), sys.argv[2]
name, version, *tags = wheel.stem.split("-")
local = f"{version}+{label}"
old, new = f"{name}-{version}.dist-info/", f"{name}-{local}.dist-info/"
renamed = wheel.with_name("-".join([name, local, *tags]) + ".whl")
record = []
with zipfile.ZipFile(wheel) as source, zipfile.ZipFile(renamed, "w", zipfile.ZIP_DEFLATED) as target:
    for entry in source.infolist():
        data = source.read(entry)
        path = entry.filename.replace(old, new, 1)
        if path == new + "RECORD":
            continue
        if path == new + "METADATA":
            line = f"\nVersion: {version}\n".encode()
            assert data.count(line) == 1, "one line says the version"
            data = data.replace(line, f"\nVersion: {local}\n".encode())
        digest = base64.urlsafe_b64encode(hashlib.sha256(data).digest()).rstrip(b"=").decode()
        record.append(f"{path},sha256={digest},{len(data)}")
        entry.filename = path
        target.writestr(entry, data)
    target.writestr(new + "RECORD", "\n".join([*record, f"{new}RECORD,,", ""]))
wheel.unlink()
print(renamed)
