#!/usr/bin/env python3
"""Drives the window of Examples/EmbeddedPlayer as a person does, on a virtual display (Xvfb), and takes a picture.

    scripts/test-embedded-player.py PROGRAM [PICTURE.png]

It agrees to the question, waits until the picture moves, pauses, plays, seeks and goes to full screen, ends the app, and checks the
picture, the events and the metrics that the app has written."""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

LIMIT = 120  # seconds for each step: a busy machine is slow
SIZE = "720x480"  # of the window


def wait_for(what, probe):
    end = time.monotonic() + LIMIT
    while time.monotonic() < end:
        found = probe()
        if found:
            return found
        time.sleep(0.1)
    sys.exit(f"error: {what}: not seen in {LIMIT} s")


def start_display():
    reader, writer = os.pipe()
    command = ["timeout", "600", "Xvfb", "-displayfd", str(writer), "-screen", "0", SIZE + "x24", "-nolisten", "tcp"]
    server = subprocess.Popen(command, pass_fds=[writer], stderr=subprocess.DEVNULL)
    os.close(writer)
    return server, ":" + os.read(reader, 16).decode().strip()


def make_film(folder):
    """Makes a film in a folder; returns its name."""
    film = "film.mp4"
    subprocess.run(
        ["ffmpeg", "-nostdin", "-loglevel", "error", "-f", "lavfi", "-i", "testsrc2=size=640x360:rate=25:duration=60", "-f", "lavfi",
         "-i", "sine=duration=60", "-c:v", "libx264", "-preset", "ultrafast", "-g", "25", "-pix_fmt", "yuv420p", "-c:a", "aac", film],
        check=True, cwd=folder)
    return film


class Screen:
    def __init__(self, display):
        self.environment = dict(os.environ, DISPLAY=display, GDK_BACKEND="x11", GSK_RENDERER="cairo", GTK_A11Y="none", NO_AT_BRIDGE="1")
        self.environment.pop("WAYLAND_DISPLAY", None)
        self.display = display

    def tool(self, *arguments):
        found = subprocess.run(["xdotool", *arguments], env=self.environment, capture_output=True, text=True)
        return found.stdout.split() if found.returncode == 0 else []

    def grab(self, pixels=True):
        """The pixels of the screen, or a PNG of it."""
        form = ["-f", "rawvideo", "-pix_fmt", "rgb24"] if pixels else ["-f", "image2pipe", "-c:v", "png"]
        source = ["-f", "x11grab", "-draw_mouse", "0", "-video_size", SIZE, "-i", self.display]
        command = ["ffmpeg", "-nostdin", "-loglevel", "error", *source, "-frames:v", "1", *form, "-"]
        return subprocess.run(command, capture_output=True, check=True).stdout

    def click(self, window, right, down):
        """Clicks at a part of the width and the height of a window."""
        geometry = dict(line.split("=") for line in self.tool("getwindowgeometry", "--shell", window))
        place = [str(int(int(geometry[size]) * part)) for size, part in (("WIDTH", right), ("HEIGHT", down))]
        self.tool("mousemove", "--window", window, *place)
        self.tool("click", "1")


def events(folder):
    """The actions and the names of the metrics in the file."""
    try:
        lines = [json.loads(line) for line in open(folder + "/samples.ndjson", encoding="utf-8") if line.endswith("\n")]
    except FileNotFoundError:
        return []
    return [line.get("action") or line.get("name") or line.get("metric") for line in lines]


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory(prefix="embedded-player-") as folder:
        film = make_film(folder)
        server, display = start_display()
        screen = Screen(display)
        app = subprocess.Popen(["timeout", "600", program, film, folder], env=screen.environment, cwd=folder)
        try:
            drive(screen, folder)
            # The app delivers what waits before it ends.
            app.send_signal(signal.SIGTERM)
            app.wait(timeout=LIMIT)
        finally:
            app.kill()
            server.terminate()
            server.wait()
        found = events(folder)
    wanted = ["AppOpened", "StreamLoad", "Start", "PauseBegin", "PauseFinish", "SeekBegin", "SeekFinish", "FullScreen", "StartTime"]
    missing = [name for name in wanted if name not in found]
    if missing or app.returncode != 0:
        sys.exit(f"error: the app ended with {app.returncode}; not in its file: {missing}; in it: {sorted(set(map(str, found)))}")
    print(f"{len(found)} samples; the window was seen playing")


def drive(screen, folder):
    wait_for("the window", lambda: screen.tool("search", "--onlyvisible", "--name", "Embedded player"))
    window = screen.tool("search", "--onlyvisible", "--name", "Embedded player")[0]
    others = lambda: [each for each in screen.tool("search", "--onlyvisible", "--name", "Consent") if each != window]
    dialog = wait_for("the question", others)[0]
    screen.click(dialog, 0.5, 0.45)
    wait_for("the answer", lambda: not others())
    wait_for("Start", lambda: "Start" in events(folder))

    def moves():
        before = screen.grab()
        time.sleep(0.3)
        after = screen.grab()
        changed = sum(1 for place in range(0, len(before), 97) if before[place] != after[place])
        return changed > 100 and len(set(after[::97])) > 20

    wait_for("a picture that moves", moves)
    if len(sys.argv) > 2:
        with open(sys.argv[2], "wb") as file:
            file.write(screen.grab(pixels=False))
    screen.click(window, 0.04, 0.97)
    wait_for("PauseBegin", lambda: "PauseBegin" in events(folder))
    screen.click(window, 0.04, 0.97)
    wait_for("PauseFinish", lambda: "PauseFinish" in events(folder))
    screen.click(window, 0.6, 0.97)
    wait_for("SeekFinish", lambda: "SeekFinish" in events(folder))
    screen.click(window, 0.95, 0.97)
    wait_for("FullScreen", lambda: "FullScreen" in events(folder))


main()
