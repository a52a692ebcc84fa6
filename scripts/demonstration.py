"""What the demonstrations of the monitor share: their folder, the programs that they start, a receiver of webhooks, and the verdicts."""
import http.server, json, os, subprocess, sys, tempfile, threading, time, urllib.request

folder = tempfile.mkdtemp(prefix="monitor-demonstration-")
children, messages = [], []
status = 0


def start(name, command, **more):
    log = open(os.path.join(folder, name + ".log"), "ab")
    child = subprocess.Popen(command, stdout=log, stderr=subprocess.STDOUT, **more)
    children.append(child)
    return child


def answers(port, path="/", seconds=120):
    end = time.time() + seconds
    while time.time() < end:
        try:
            return urllib.request.urlopen(f"http://127.0.0.1:{port}{path}", timeout=10).read()
        except OSError:
            time.sleep(0.2)
    raise SystemExit(f"nothing answers on port {port}")


def verify(is_right, text):
    global status
    print(f"{'ok' if is_right else 'WRONG'}: {text}", flush=True)
    status |= not is_right


def finish(is_failed=False):
    """Ends the programs and this process."""
    for child in reversed(children):
        if child.poll() is None:
            child.terminate()
    for child in children:
        try:
            child.wait(60)
        except subprocess.TimeoutExpired:
            child.kill()
    print(f"logs: {folder}", flush=True)
    # The threads of the servers end with the process.
    os._exit(int(is_failed or status))


class Hook(http.server.BaseHTTPRequestHandler):
    """Keeps the messages that it gets, each with its time."""

    def do_POST(self):
        messages.append((time.time(), json.loads(self.rfile.read(int(self.headers["Content-Length"])))))
        self.send_response(204)
        self.end_headers()

    def log_message(self, *_):
        pass


class Server(http.server.ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def handle_error(self, *_):
        """A client may end a connection at any time, for example when its session ends."""
        if not isinstance(sys.exc_info()[1], ConnectionError):
            super().handle_error(*_)


def serve(handler, host="127.0.0.1"):
    server = Server((host, 0), handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server
