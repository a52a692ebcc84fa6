"""What the scripts share that start servers on this machine."""
import random, socket, time, urllib.request

# The kernel gives ports of its ephemeral range, which begins at 32,768 by default, to any socket that asks for none: a port outside it
# is still free when the server binds it.
PORTS = list(range(10_240, 32_768))
random.shuffle(PORTS)


def free_port():
    while PORTS:
        port = PORTS.pop()
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
                return port
            except OSError:
                continue
    raise SystemExit("no port between 10,240 and 32,767 is free on the loopback address")


def page(port, path):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).read()


def wait_for(port, path):
    for _ in range(600):
        try:
            return page(port, path)
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers on port {port}")
