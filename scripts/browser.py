"""Headless Chromium for the scripts that look at pages."""
import base64, json, os, subprocess


class Browser:
    """Speaks the DevTools protocol over two pipes: each message is JSON, and a zero byte ends it."""

    def __init__(self, profile, chromium="chromium", size=(1440, 900)):
        read_commands, self.commands = os.pipe()
        self.answers, write_answers = os.pipe()
        flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking"]
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$@" 3<&{read_commands} 4>&{write_answers}', "sh", chromium, *flags, f"--window-size={size[0]},{size[1]}",
             "--remote-debugging-pipe", f"--user-data-dir={profile}"],
            pass_fds=(read_commands, write_answers), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )
        os.close(read_commands)
        os.close(write_answers)
        self.received, self.number = b"", 0

    def ask(self, method, session=None, **parameters):
        """Sends a command, and returns its result; events meanwhile are dropped."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters, **({"sessionId": session} if session else {})}
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        while True:
            line, separator, rest = self.received.partition(b"\0")
            if not separator:
                piece = os.read(self.answers, 1 << 16)
                if not piece:
                    raise SystemExit("Chromium ended")
                self.received += piece
                continue
            self.received = rest
            answer = json.loads(line)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise SystemExit(f"{method}: {answer['error']}")
                return answer["result"]

    def open(self, address):
        """Opens an address in a new tab, and returns the tab and its session."""
        tab = self.ask("Target.createTarget", url="about:blank")["targetId"]
        session = self.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
        self.ask("Page.navigate", session, url=address)
        return tab, session

    def value(self, session, expression):
        """Returns the value of an expression in JavaScript; the value of a promise is waited for."""
        answer = self.ask("Runtime.evaluate", session, expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in answer:
            raise SystemExit(f"{expression}: {answer['exceptionDetails']['text']}")
        return answer["result"].get("value")

    def picture(self, session, path, **clip):
        """Keeps a picture of the page as a PNG file."""
        area = {"clip": {"x": 0, "y": 0, "scale": 1, **clip}, "captureBeyondViewport": True} if clip else {}
        with open(path, "wb") as file:
            file.write(base64.b64decode(self.ask("Page.captureScreenshot", session, **area)["data"]))

    def close(self, tab):
        self.ask("Target.closeTarget", targetId=tab)

    def end(self):
        self.process.terminate()
        self.process.wait(60)
