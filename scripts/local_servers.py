"""What the scripts share that start servers on this machine."""
import socket, time, urllib.request


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def page(port, path):
    return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=60).read()


def wait_for(port, path):
    for _ in range(600):
        try:
            return page(port, path)
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers on port {port}")
