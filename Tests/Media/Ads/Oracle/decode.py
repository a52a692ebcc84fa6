"""Decodes sections with threefive: a base64 text on each line of standard input, a JSON object on each line of output."""
import contextlib
import io
import json
import sys

import threefive

for line in sys.stdin:
    try:
        with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
            cue = threefive.Cue(line.strip())
            cue.decode()
            value = cue.get()
    except Exception as error:  # threefive raises errors of many types
        value = {"error": repr(error)}
    print(json.dumps(value))
