# A node of SLIM out of the wheel slim-bindings: runs with the configuration that it is given, until its standard input ends.
import sys

import slim_bindings

slim_bindings.initialize_from_config(sys.argv[1])
print(slim_bindings.get_version(), flush=True)
sys.stdin.read()
