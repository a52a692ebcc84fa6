#!/usr/bin/env python3
"""Runs the commands that the documentation shows, with the built programs, and compares their output with the pages.

A comment before a code block in README.md or docs marks the block:

    <!-- output -->                      the block has commands, each after '$ ', and their output
    <!-- output: COMMAND | head -3 -->   the block is the output of this command
    <!-- output: 1-4 -->                 like the first form, but only lines 1 to 4 of the output of each command are shown
    <!-- program: NAME -->               the block is a whole Swift program; commands of the page can run it as NAME
    <!-- origin: OPTIONS -->             anywhere: the options of the page's test origin, for example its schedule

The commands of a block run in bash one after another, the blocks of a page at the same time in one folder, with the programs on the PATH.
`film.ts` is the film of scripts/make-sample.sh, and http://127.0.0.1:8080 is a test origin, on any port. Standard output and standard error
are shown as a terminal would show them. An ellipsis (…) at the end of a line stands for the rest of the line.

Two outputs are equal if they differ only in what varies from run to run: times, identifiers, ports, amounts of bytes, resolutions, numbers
with a unit or a point, and the number of spaces. A page that differs runs again, at most three times in all, because a busy machine may change
what a stream shows. Exits with 1 if a page differs, and shows the difference. With --update, it writes the differing blocks; with --all, all.

Usage: scripts/check-output.py [--update | --all] [--bin .build/release] [--build .build/release] [PAGE…]
--bin (or BIN in the environment) is the folder of player-monitor and test-origin.
"""
import argparse, difflib, glob, json, os, re, shlex, shutil, subprocess, tempfile
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from local_servers import free_port, wait_for

ATTEMPTS = 3
ORIGIN = re.compile(r"^<!-- origin: (.+) -->$", re.M)
MARK = re.compile(r"^\s*<!-- (output|program)(?:: (.+?))? -->\s*$")
FENCE = re.compile(r"^(\s*)```\w*\s*$")
VARYING = [(re.compile(pattern), text) for pattern, text in [
    (r"[0-9A-Fa-f]{8}-[0-9A-Fa-f]{4}-[0-9A-Fa-f-]{22}(-\d+)?", "<id>"),
    (r"\d{4}-\d\d-\d\d[T ]", ""),
    (r"\d\d:\d\d:\d\d([.,]\d+)?(Z|[+-]\d\d:?\d\d)?", "<time>"),
    (r"127\.0\.0\.1:\d+", "<server>"),
    (r"\b\d+x\d+\b", "<size>"),
    (r"\b\d+:\d\d(\.\d+)?\b", "<position>"),
    (r"(?<![\d.])\d+\.\d+(?!\.?\d)", "#"),
    (r"\b\d{4,}\b", "#"),
    (r"(?<==)-?\d+", "#"),
    (r"(?<=\w\":)-?\d+", "#"),
    (r"\b\d+(?= ?(ns|µs|ms|s|%|B|kB|MB|bit/s|kbit/s|Mbit/s|bytes|segments|playlists|requests|times)\b| %)", "#"),
    (r"[━─]+", "<bar>"),
    (r" +", " "),
]]


def normalized(line):
    for pattern, text in VARYING:
        line = pattern.sub(text, line)
    return line.strip()


def same(written, found):
    if len(written) != len(found):
        return False
    for one, other in zip(written, found):
        if one.endswith("…") and not other.endswith("…"):
            if not normalized(other).startswith(normalized(one[:-1])):
                return False
        elif normalized(one) != normalized(other):
            return False
    return True


class Block:
    """A marked code block: lines[first:last] of its page."""

    def __init__(self, kind, argument, first, lines, indent):
        self.kind, self.first, self.indent = kind, first, indent
        self.last = first + len(lines)
        self.lines = [line[len(indent):] for line in lines]
        self.range, self.command = None, None
        if kind == "output" and argument:
            limits = re.fullmatch(r"(\d+)-(\d+)", argument)
            if limits:
                self.range = slice(int(limits[1]) - 1, int(limits[2]))
            else:
                self.command = argument
        self.name = argument

    def commands(self):
        """The commands with the lines that show them."""
        if self.command:
            return [(self.command, [])]
        commands, lines = [], iter(self.lines)
        for line in lines:
            if not line.startswith("$ "):
                continue
            shown = [line]
            while shown[-1].endswith("\\"):
                shown.append(next(lines, ""))
            commands.append(("\n".join(shown)[2:], shown))
        if not commands:
            raise SystemExit(f"line {self.first + 1}: a block that is marked with 'output' must have a line that begins with '$ '")
        return commands

    def run(self, environment, folder):
        """The lines of the block as they are now."""
        shown, used = "127.0.0.1:8080", f"127.0.0.1:{environment['ORIGIN']}"
        commands = self.commands()
        script = "".join(f"printf '\\0'\n{command}\n" for command, _ in commands)
        ended = subprocess.run(
            ["bash", "-c", script.replace(shown, used)], cwd=folder, env=environment, timeout=120, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
        if ended.returncode >= 128:
            raise SystemExit(f"line {self.first + 1}: a command ended with signal {ended.returncode - 128}:\n{ended.stdout.decode()}")
        text = ended.stdout.decode().replace(used, shown).replace(folder + "/", "")
        lines = []
        for (_, shown), output in zip(commands, text.split("\0")[1:]):
            output = [line.rstrip() for line in output.rstrip("\n").split("\n")] if output.strip() else []
            lines += shown + (output[self.range] if self.range else output)
        return lines

    def compile(self, build, folder):
        """Compiles the program of the block against the built modules, and links it with their objects."""
        source, built = os.path.join(folder, "main.swift"), os.path.abspath(build)
        with open(source, "w") as file:
            file.write("\n".join(self.lines) + "\n")
        objects = [path for target in linked_targets(self.lines, folder) for path in glob.glob(f"{built}/{target}.build/**/*.o", recursive=True)]
        maps = glob.glob(f"{built}/C*Shim.build/module.modulemap") + glob.glob("Sources/System/C*/module.modulemap")
        subprocess.run(
            ["swiftc", "-swift-version", "6", "-I", f"{built}/Modules", *[part for path in maps for part in ("-Xcc", f"-fmodule-map-file={path}")],
             "-o", os.path.join(folder, "bin", self.name), source, *objects], check=True,
        )


def linked_targets(lines, folder):
    """The targets of this package that a program links: those that it imports, and their dependencies.

    A separate scratch folder, because another build may hold the lock of `.build`.
    """
    command = ["swift", "package", "--scratch-path", os.path.join(folder, "scratch"), "dump-package"]
    described = subprocess.run(command, check=True, stdout=subprocess.PIPE).stdout
    dependencies = {
        target["name"]: [next(iter(dependency.values()))[0] for dependency in target["dependencies"]]
        for target in json.loads(described)["targets"]
    }
    found, waiting = [], [line.split()[1] for line in lines if line.startswith("import ")]
    while waiting:
        target = waiting.pop()
        if target in dependencies and target not in found:
            found.append(target)
            waiting += dependencies[target]
    return found


def blocks(path):
    lines = open(path, encoding="utf-8").read().split("\n")
    found, number = [], 0
    while number < len(lines):
        mark = MARK.match(lines[number])
        number += 1
        if not mark:
            continue
        fence = FENCE.match(lines[number]) if number < len(lines) else None
        if not fence:
            raise SystemExit(f"{path}:{number}: a comment that marks a code block must be on the line before the block")
        first = number + 1
        number = first
        while lines[number].strip() != "```":
            number += 1
        found.append(Block(mark[1], mark[2], first, lines[first:number], fence[1]))
    return lines, found


@contextmanager
def origin(binaries, settings):
    """A test origin on a free port. Each run of a page has its own: a schedule begins with the first request of a session."""
    port = free_port()
    server = subprocess.Popen(
        [os.path.join(binaries, "test-origin"), "--port", str(port), *settings], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        wait_for(port, "/")
        yield port
    finally:
        server.terminate()
        server.wait(60)


def run_blocks(found, settings, options, film, work):
    """The lines of each block as they are now."""
    folder = tempfile.mkdtemp(dir=work)
    os.mkdir(os.path.join(folder, "bin"))
    shutil.copy(film, os.path.join(folder, "film.ts"))
    with origin(options.bin, settings) as port:
        environment = dict(
            os.environ, PATH=f"{folder}/bin:{os.path.abspath(options.bin)}:{os.environ['PATH']}", ORIGIN=str(port), HOME=folder, LC_ALL="C.UTF-8",
            COLUMNS="120", TERM="dumb", TZ="UTC",
        )
        for block in found:
            if block.kind == "program":
                block.compile(options.build, folder)
        with ThreadPoolExecutor(len(found)) as pool:
            return list(pool.map(lambda block: block.lines if block.kind == "program" else block.run(environment, folder), found))


def run_page(path, options, film, work):
    """The page's lines, its blocks, and the lines of each block as they are now."""
    lines, found = blocks(path)
    settings = ORIGIN.search("\n".join(lines))
    settings = shlex.split(settings[1]) if settings else []
    for _ in range(ATTEMPTS):
        results = run_blocks(found, settings, options, film, work)
        if options.all or all(same(block.lines, result) for block, result in zip(found, results)):
            break
    return lines, found, results


def report(path, block, result):
    print(f"{path}:{block.first}: the output differs")
    written, found = [normalized(line) for line in block.lines], [normalized(line) for line in result]
    print("\n".join(difflib.unified_diff(written, found, "page", "program", "", "", 1, "")))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("pages", nargs="*")
    parser.add_argument("--bin", default=os.environ.get("BIN", ".build/release"))
    parser.add_argument("--build", default=".build/release", help="the folder of the modules and objects that programs in pages link")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--all", action="store_true")
    options = parser.parse_args()
    os.chdir(os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
    for program in ("player-monitor", "test-origin"):
        if not os.access(os.path.join(options.bin, program), os.X_OK):
            raise SystemExit(f"{options.bin}/{program} must be a program (found none); build it, or name its folder with --bin")
    pages = [path for path in options.pages or ["README.md", *sorted(glob.glob("docs/**/*.md", recursive=True))] if blocks(path)[1]]
    writes, differing = options.update or options.all, 0
    with tempfile.TemporaryDirectory(prefix="check-output-") as work, ThreadPoolExecutor(max(1, len(pages))) as pool:
        film = os.path.join(work, "film.ts")
        subprocess.run(["scripts/make-sample.sh", film], check=True)
        for path, (lines, found, results) in zip(pages, pool.map(lambda path: run_page(path, options, film, work), pages)):
            for block, result in reversed(list(zip(found, results))):
                if same(block.lines, result) and not options.all:
                    continue
                differing += 1
                if writes:
                    lines[block.first:block.last] = [(block.indent + line).rstrip() for line in result]
                    print(f"{path}:{block.first}: updated")
                else:
                    report(path, block, result)
            if writes:
                with open(path, "w", encoding="utf-8") as file:
                    file.write("\n".join(lines))
    if differing and not writes:
        raise SystemExit(f"{differing} outputs differ; scripts/check-output.py --update writes them into the pages")
    print(f"the outputs of {len(pages)} pages are those of the programs")


if __name__ == "__main__":
    main()
