"""Runs Ralph's LRS on a free port of the loopback address, which it prints; ends with its standard input, or in time."""

import os
import socket
import sys
import threading

from ralph.backends.data.base import BaseOperationType
from ralph.backends.lrs.fs import FSLRSBackend

# As shipped, the backend for files inherits CREATE and takes a single write.
FSLRSBackend.default_operation_type = BaseOperationType.APPEND

import uvicorn  # noqa: E402
from ralph.api import app  # noqa: E402


def end_with_input():
    sys.stdin.read()
    os._exit(0)


limit = threading.Timer(float(os.environ.get("LRS_LIFE", "300")), os._exit, [3])
limit.daemon = True
limit.start()
threading.Thread(target=end_with_input, daemon=True).start()

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
# From here on nobody is turned away; who comes early waits.
listener.listen(64)
server = uvicorn.Server(uvicorn.Config(app, log_level="warning"))
print(listener.getsockname()[1], flush=True)
server.run(sockets=[listener])
