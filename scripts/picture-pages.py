#!/usr/bin/env python3
"""Takes pictures of the dashboard in each of its states and of the report, from fixed data, checks each with axe, and compares it with the stored one.

The pictures of the dashboard are of the page's own files, as the program composes them, in headless Chromium with a clock that stands; those of the
reports are of `Tests/Pages/report.html` and `Tests/Pages/month.html`, which tests compare with what the program makes. `Tests/Pages/pictures.json`
keeps the colours of each picture's squares, not the picture: small, and tolerant of how a letter is drawn. With other fonts than those of the
stored pictures, lines break elsewhere: nothing is compared then, and the script says so. axe is installed from PyPI beside the build; without a
network, the script says that it is skipped.

Usage: scripts/picture-pages.py OUT [--only TEXT] [--update] [--chromium chromium]     (OUT: a folder for the pictures)
Exits with 1 if a picture differs, axe finds a violation, or the page has an error.
"""
import argparse, base64, json, os, pathlib, shutil, subprocess, sys, tempfile, time, venv, zlib
from browser import Browser
from monitor_fixture import NOW, Fixture

ROOT = pathlib.Path(__file__).resolve().parent.parent
STORED = ROOT / "Tests/Pages/pictures.json"
REPORT, MONTH = ROOT / "Tests/Pages/report.html", ROOT / "Tests/Pages/month.html"
# How wide a printed page is, between its margins, in pixels of CSS.
PRINTED = 718
AXE = "axe-playwright-python==0.1.8"
WIDTHS = {390: 844, 768: 1024, 1280: 900, 1920: 1080}
# A square of a picture, in pixels; by how much its colour may differ, and the share of the squares that may differ more.
SQUARE, TOLERANCE, SHARE = 40, 20, 0.01
# The height of the picture of a report in pixels.
LONGEST = 3000
WHOLE = "document.querySelectorAll('#rows .row .name').length >= {rows}"
LOADED = "document.readyState === 'complete'"
PANEL = "document.querySelectorAll('#panel .timeline svg, #panel .links a').length >= 1"
OPEN_SESSION = "document.querySelector('#table tbody button').click(); document.querySelector('#sessions').scrollIntoView()"
FILTER_SESSIONS = "const choice = [...document.querySelectorAll('.controls .from')].find(c => c.labels[0].firstElementChild.textContent === 'cdn'); choice.value = '1'; choice.dispatchEvent(new Event('input'))"
# State: the data, the address, when it is complete, what a person does then, and the widths.
STATES = {
    "empty": ("empty", "", "!document.querySelector('#empty').hidden", "", WIDTHS),
    "well": ("well", "", WHOLE.format(rows=12), "", WIDTHS),
    "incidents": ("incidents", "", WHOLE.format(rows=12), "", WIDTHS),
    "grouped": ("incidents", "", WHOLE.format(rows=12), "const g = document.querySelector('#group'); g.value = 'cdn'; g.dispatchEvent(new Event('change'))", [1280]),
    "filtered": ("incidents", "", WHOLE.format(rows=12), "document.querySelector('#tiles .tile').click()", [390, 1280]),
    "panel": ("incidents", "#stream=news-hd", PANEL, "", WIDTHS),
    "finding": ("incidents", "#stream=studio&compare=sport-3", PANEL, "", [1280]),
    "evidence": ("incidents", "#stream=studio", PANEL, "(async () => { document.querySelector('#panel .piece.playlist button').click(); while (!document.querySelector('#panel .piece pre').textContent) await new Promise(requestAnimationFrame); document.querySelector('#panel .acts').scrollIntoView() })()", [390, 1280]),
    "incident": ("incidents", "#incident=i1", PANEL, "", [390, 1280]),
    "incident-evidence": ("incidents", "#incident=i2", PANEL, "document.querySelector('#panel .evidence').scrollIntoView()", [390, 1280]),
    "list-of-incidents": ("incidents", "#view=incidents", "document.querySelectorAll('#incidentlist .incident').length === 4", "", [390, 1280]),
    "who-did-what": ("incidents", "#view=incidents", "document.querySelectorAll('#incidentlist .incident').length === 4", "(async () => { document.querySelector('#audit').open = true; while (document.querySelectorAll('#audit li').length < 3) await new Promise(requestAnimationFrame); document.querySelector('#audit').scrollIntoView() })()", [390, 1280]),
    "maintenance": ("incidents", "#view=incidents", "document.querySelectorAll('#incidentlist .incident').length === 4", "document.querySelector('#maintain').click()", [390, 1280]),
    "objectives": ("incidents", "#view=objectives", "document.querySelectorAll('#objectivelist td').length >= 8", "", [390, 1280]),
    "silence": ("incidents", "", WHOLE.format(rows=12), "[...document.querySelectorAll('#alerting button')].find(b => b.textContent === 'Silence…').click()", [390, 1280]),
    "stale": ("incidents", "#stream=news-hd", PANEL, "lose", WIDTHS),
    "banner": ("banner", "", WHOLE.format(rows=12), "", WIDTHS),
    "places": ("places", "", WHOLE.format(rows=17), "", WIDTHS),
    "place": ("places", "#stream=news-hd (oslo)", PANEL, "", WIDTHS),
    "place-incident": ("places", "#incident=p2", PANEL, "", [390, 1280]),
    "place-samples": ("places", "#view=delivery", "document.querySelectorAll('#samplelist td').length >= 15", "", [390, 1280]),
    "places-by-location": ("places", "", WHOLE.format(rows=17), "const g = document.querySelector('#group'); g.value = 'location'; g.dispatchEvent(new Event('change')); document.querySelector('#places .place').click()", [1280]),
    "places-unread": ("unread", "", WHOLE.format(rows=17), "", [390, 1280]),
    "no-places": ("unplaced", "", "!document.querySelector('#empty').hidden", "", [390, 1280]),
    "grid": ("many", "", WHOLE.format(rows=40), "document.querySelector('[data-layout=grid]').click()", WIDTHS),
    "report": (REPORT, "", LOADED, "", WIDTHS),
    "report-opened": (REPORT, "", LOADED, OPEN_SESSION, [390, 1280]),
    "report-filtered": (REPORT, "", LOADED, FILTER_SESSIONS, [390, 1280]),
    "report-printed": (REPORT, "", LOADED, "print", [PRINTED]),
    "month": (MONTH, "", LOADED, "", WIDTHS),
    "month-printed": (MONTH, "", LOADED, "print", [PRINTED]),
    "compact": ("many", "", WHOLE.format(rows=40), "document.querySelector('[data-layout=compact]').click()", WIDTHS),
}
CLOCK = f"""{{ const at = {int(NOW.timestamp() * 1000)}, Real = Date;
  globalThis.Date = class extends Real {{ constructor(...given) {{ super(...(given.length ? given : [at])) }} static now() {{ return at }} }};
  globalThis.faults = [];
  addEventListener("error", event => faults.push(event.message));
  addEventListener("unhandledrejection", event => faults.push(String(event.reason)));
  addEventListener("securitypolicyviolation", event => faults.push("content security policy: " + event.blockedURI + " " + event.violatedDirective)) }}"""
FONTS = """(() => { const pen = document.createElement("canvas").getContext("2d");
  return ["14px " + getComputedStyle(document.body).fontFamily, "14px " + getComputedStyle(document.documentElement).getPropertyValue("--mono")]
    .map(font => { pen.font = font; return Math.round(pen.measureText("The quick brown fox 0123456789").width) }).join(" ") })()"""
SQUARES = """(async () => {
  const bytes = Uint8Array.from(atob(%s), c => c.charCodeAt(0)), image = await createImageBitmap(new Blob([bytes], { type: "image/png" }));
  const canvas = new OffscreenCanvas(image.width, image.height), pen = canvas.getContext("2d"), size = %d;
  pen.drawImage(image, 0, 0);
  const data = pen.getImageData(0, 0, image.width, image.height).data, columns = Math.ceil(image.width / size), rows = Math.ceil(image.height / size);
  const sums = new Float64Array(columns * rows * 4);
  for (let y = 0, at = 0; y < image.height; y++) for (let x = 0; x < image.width; x++, at += 4) {
    const place = (Math.floor(y / size) * columns + Math.floor(x / size)) * 4;
    for (let c = 0; c < 3; c++) sums[place + c] += data[at + c];
    sums[place + 3] += 1;
  }
  const result = [];
  for (let i = 0; i < sums.length; i += 4) for (let c = 0; c < 3; c++) result.push(Math.round(sums[i + c] / sums[i + 3]));
  return JSON.stringify([columns, result]) })()"""

arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
arguments.add_argument("out")
arguments.add_argument("--only", default="", help="take the pictures whose name contains this text")
arguments.add_argument("--update", action="store_true", help="store the pictures instead of comparing them")
arguments.add_argument("--chromium", default="chromium")
options = arguments.parse_args()


def axe_script():
    """axe, or None without a network."""
    folder = ROOT / ".build/axe"
    mark = folder / ("installed-" + AXE)
    if not mark.exists():
        try:
            venv.create(folder, with_pip=True, clear=True)
            command = [folder / "bin/pip", "install", "--quiet", "--disable-pip-version-check", "--no-deps", "--retries", "2", "--timeout", "30", AXE]
            subprocess.run(command, check=True)
        except (subprocess.CalledProcessError, OSError) as error:
            print(f"SKIPPED: axe cannot be installed ({error})", file=sys.stderr)
            return None
        mark.touch()
    found = sorted(folder.rglob("axe.min.js"))
    return found[0].read_text() if found else None


def settle(browser, session, condition, what):
    for _ in range(600):
        if browser.value(session, condition):
            break
        time.sleep(0.1)
    else:
        raise SystemExit(f"{what}: the page did not show what the picture is of: {condition}")
    # Two frames: what was asked for is drawn.
    browser.value(session, "new Promise(done => requestAnimationFrame(() => requestAnimationFrame(done)))")


if shutil.which(options.chromium) is None:
    print("SKIPPED: the pictures of the pages, because there is no chromium", file=sys.stderr)
    raise SystemExit(0)
os.makedirs(options.out, exist_ok=True)
axe = axe_script()
browser = Browser(tempfile.mkdtemp(prefix="page-pictures-"), options.chromium)
stored = json.loads(STORED.read_text()) if STORED.exists() else {"fonts": "", "pictures": {}}
taken, problems, fonts = {}, [], ""
canvas = browser.ask("Target.attachToTarget", targetId=browser.ask("Target.createTarget", url="about:blank")["targetId"], flatten=True)["sessionId"]
try:
    for state, (data, address, ready, action, widths) in STATES.items():
        for width in widths:
            for scheme in ("light", "dark"):
                name = f"{state}-{width}-{scheme}"
                if options.only not in name:
                    continue
                fixture = Fixture(data) if isinstance(data, str) else None
                # A context of its own remembers no choices of another picture.
                context = browser.ask("Target.createBrowserContext")["browserContextId"]
                tab = browser.ask("Target.createTarget", url="about:blank", browserContextId=context)["targetId"]
                session = browser.ask("Target.attachToTarget", targetId=tab, flatten=True)["sessionId"]
                browser.ask("Page.enable", session)
                browser.ask("Emulation.setDeviceMetricsOverride", session, width=width, height=WIDTHS.get(width, 1_000), deviceScaleFactor=1, mobile=width < 500)
                browser.ask("Emulation.setScrollbarsHidden", session, hidden=True)
                browser.ask("Emulation.setEmulatedMedia", session, features=[{"name": "prefers-color-scheme", "value": scheme}, {"name": "prefers-reduced-motion", "value": "reduce"}])
                browser.ask("Page.addScriptToEvaluateOnNewDocument", session, source=CLOCK)
                browser.ask("Page.navigate", session, url=fixture.address + address if fixture else data.as_uri())
                settle(browser, session, f"document.querySelector('#rows') !== null && {ready}" if fixture else ready, name)
                if "#stream" in address or "#incident" in address:
                    settle(browser, session, "document.querySelectorAll('#panel .log li').length > 0 && [...document.querySelectorAll('#panel img')].every(i => i.naturalWidth)", name)
                if action == "lose":
                    fixture.lose()
                    settle(browser, session, "document.body.classList.contains('stale')", name)
                elif action == "print":
                    browser.ask("Emulation.setEmulatedMedia", session, media="print", features=[{"name": "prefers-color-scheme", "value": scheme}])
                    settle(browser, session, "true", name)
                elif action:
                    browser.value(session, action)
                    settle(browser, session, "true", name)
                path = os.path.join(options.out, name + ".png")
                whole = {} if fixture else {"width": width, "height": min(LONGEST, browser.value(session, "document.documentElement.scrollHeight"))}
                browser.picture(session, path, **whole)
                fonts = browser.value(session, FONTS)
                if browser.value(session, "document.documentElement.scrollWidth > innerWidth"):
                    problems.append(f"{name}: the page is wider than the screen")
                problems += [f"{name}: {fault}" for fault in browser.value(session, "faults")]
                if axe:
                    browser.value(session, axe + ";0")
                    found = json.loads(browser.value(session, "axe.run(document, { resultTypes: ['violations'] }).then(r => JSON.stringify(r.violations.map(v => [v.id, v.help, v.nodes.slice(0, 3).map(n => n.html.slice(0, 160) + ' ' + (n.any[0]?.message || ''))])))"))
                    problems += [f"{name}: axe, {rule}: {text}: {' | '.join(nodes)}" for rule, text, nodes in found]
                with open(path, "rb") as file:
                    columns, squares = json.loads(browser.value(canvas, SQUARES % (json.dumps(base64.b64encode(file.read()).decode()), SQUARE)))
                taken[name] = (columns, squares)
                browser.ask("Target.disposeBrowserContext", browserContextId=context)
                if fixture:
                    fixture.lose()
finally:
    browser.end()

if options.update:
    pictures = {} if not options.only else stored["pictures"]
    pictures |= {name: f"{columns} " + base64.b64encode(zlib.compress(bytes(squares), 9)).decode() for name, (columns, squares) in taken.items()}
    STORED.parent.mkdir(parents=True, exist_ok=True)
    STORED.write_text(json.dumps({"fonts": fonts, "pictures": pictures}, indent=0) + "\n")
    print(f"{len(taken)} pictures stored in {STORED.relative_to(ROOT)}: {STORED.stat().st_size} bytes")
elif stored["fonts"] != fonts:
    print(f"SKIPPED: the comparison of the pictures, because this machine has other fonts (widths {fonts}; those of the stored pictures: {stored['fonts'] or 'none'})")
else:
    for name, (columns, squares) in taken.items():
        known = stored["pictures"].get(name)
        if known is None:
            problems.append(f"{name}: no picture is stored; look at it, then store it with --update")
            continue
        old_columns, _, text = known.partition(" ")
        old = zlib.decompress(base64.b64decode(text))
        if int(old_columns) != columns or len(old) != len(squares):
            problems.append(f"{name}: the size of the picture differs")
            continue
        off = [place for place in range(len(old) // 3) if max(abs(old[3 * place + c] - squares[3 * place + c]) for c in range(3)) > TOLERANCE]
        if len(off) > SHARE * len(old) / 3:
            left, top = min(place % columns for place in off) * SQUARE, off[0] // columns * SQUARE
            right, bottom = (max(place % columns for place in off) + 1) * SQUARE, (off[-1] // columns + 1) * SQUARE
            problems.append(f"{name}: {len(off)} of {len(old) // 3} squares differ, between ({left}, {top}) and ({right}, {bottom}); look at {options.out}/{name}.png, "
                            "and store it with --update if it is right")
for problem in problems:
    print(problem)
print(f"{len(taken)} pictures in {options.out}, {len(problems)} problems{'' if axe else ', without axe'}")
raise SystemExit(1 if problems else 0)
