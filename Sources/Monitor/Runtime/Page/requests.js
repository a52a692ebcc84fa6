// The requests of a stream as a waterfall, as curl, and as an HTTP archive.

const beginOf = request => request.begin ? Date.parse(request.begin) : Date.parse(request.time) - (request.ms || 0);

/** The address of a request beside that of its stream, else its last parts. */
function nameOf(request, base) {
  if (!request.address) return request.kind;
  const folder = (base || "").split(/[?#]/)[0].replace(/[^/]*$/, "");
  if (folder && request.address.startsWith(folder)) return request.address.slice(folder.length).split(/[?#]/)[0] || request.kind;
  try { return new URL(request.address).pathname.split("/").filter(Boolean).slice(-2).join("/") || request.kind; } catch { return request.kind; }
}

/** A request in words. */
function wordsOf(request) {
  const parts = [clock(beginOf(request), now(), 23) + " UTC", request.kind, request.status ?? "no response", request.failed ? "failed" : ""];
  if (request.wait !== undefined) parts.push("first byte after " + span(request.wait));
  parts.push("all after " + span(request.ms), size(request.bytes));
  const receiving = request.ms - (request.wait || 0);
  if (request.bytes > 0 && receiving > 0) parts.push(inMegabits(request.bytes * 8000 / receiving));
  return parts.filter(Boolean).join(" · ");
}

/** A text as one word of a shell. */
const quoted = text => "'" + String(text).replaceAll("'", "'\\''") + "'";
const asCurl = address => "curl --verbose --location --compressed --output /dev/null " + quoted(address);

/** The requests in the format HAR 1.2. */
function archiveOf(detail) {
  const headers = { headersSize: -1, headers: [], cookies: [] };
  return { log: { version: "1.2", creator: { name: "Instrument", version: "1" }, comment: detail.name + ": addresses are redacted", entries: (detail.requests || []).map(request => {
    const wait = Math.min(request.wait ?? request.ms, request.ms);
    return {
      startedDateTime: new Date(beginOf(request)).toISOString(), time: request.ms,
      request: { method: "GET", url: request.address || detail.address || "", httpVersion: "HTTP/1.1", queryString: [], bodySize: 0, ...headers },
      response: { status: request.status ?? 0, statusText: "", httpVersion: "HTTP/1.1", redirectURL: "", bodySize: request.bytes,
        content: { size: request.bytes, mimeType: "" }, ...headers },
      cache: {}, timings: { send: 0, wait, receive: request.ms - wait }, comment: request.kind,
    };
  }) } };
}

/** A waterfall: `draw` draws it, `show` moves its cursor. */
function makeWaterfall(onCursor) {
  const list = el("ol", null, "waterfall"), axis = el("div", null, "axis"), tip = el("div", null, "tip"), all = button("", () => { isAll = !isAll; redraw(); });
  const box = el("div", null, "", list, axis, all);
  const cursor = el("i", null, "cursor");
  let isAll = false, latest = null, begin = 0, end = 1, opened = null;
  tip.setAttribute("role", "tooltip");
  tip.id = "tip";
  tip.hidden = cursor.hidden = true;
  box.append(tip, cursor);
  box.className = "requests";
  const redraw = () => latest && draw(latest);
  const keyOf = request => beginOf(request) + " " + request.kind + " " + (request.address || "") + " " + request.ms;

  function draw(detail) {
    latest = detail;
    const requests = [...(detail.requests || [])].sort((a, b) => beginOf(a) - beginOf(b)), kept = isAll ? requests : requests.slice(-16);
    all.hidden = requests.length <= 16;
    say(all, isAll ? "Show the latest 16" : "Show all " + requests.length);
    begin = Math.min(...kept.map(beginOf));
    end = Math.max(begin + 1, ...kept.map(request => beginOf(request) + request.ms));
    const place = time => (time - begin) / (end - begin) * 100;
    keyed(list, kept, keyOf, request => {
      const item = el("li"), head = button(null, () => { opened = opened === head ? null : head; tip.hidden = true; redraw(); }, "request");
      const parts = { name: el("span", nameOf(request, detail.address), "what"), status: el("span", String(request.status ?? "–"), "status"), wait: el("i", null, "wait"), receive: el("i", null, "receive") };
      const track = el("span", null, "track", parts.wait, parts.receive);
      track.setAttribute("aria-hidden", "true");
      head.append(parts.name, parts.status, track);
      head.className = "request" + (request.failed ? " failed" : request.ms > 3000 ? " slow" : "");
      mark(head, "aria-label", nameOf(request, detail.address) + ", " + wordsOf(request));
      const hint = () => { say(tip, wordsOf(request)); tip.hidden = false; tip.style.top = item.offsetTop + item.offsetHeight + "px"; onCursor(beginOf(request)); };
      head.addEventListener("pointerenter", hint);
      head.addEventListener("focus", hint);
      for (const name of ["pointerleave", "blur"]) head.addEventListener(name, () => { tip.hidden = true; onCursor(null); });
      const text = el("div", null, "opened", request.address ? el("code", request.address) : null, el("p", wordsOf(request)),
        request.address ? button("Copy as curl", () => copy(asCurl(request.address))) : null);
      item.append(head, text);
      item.parts = { ...parts, head, text };
      return item;
    }, (item, request) => {
      const { wait, receive, head, text } = item.parts, from = beginOf(request), first = Math.min(request.wait ?? 0, request.ms);
      wait.style.left = place(from) + "%";
      wait.style.width = Math.max(0, place(from + first) - place(from)) + "%";
      receive.style.left = place(from + first) + "%";
      receive.style.width = Math.max(0.6, place(from + request.ms) - place(from + first)) + "%";
      mark(head, "aria-expanded", opened === head);
      text.hidden = opened !== head;
    });
    axis.hidden = !kept.length;
    // Milliseconds leave no room for a third time.
    const isShort = end - begin < 5000;
    if (kept.length) keyed(axis, isShort ? [0, 1] : [0, 0.5, 1], part => part, () => el("span"), (element, part) => say(element, clock(begin + (end - begin) * part, now(), isShort ? 23 : 19)));
  }

  function show(time) {
    const track = list.querySelector(".track");
    cursor.hidden = time === null || !track || time < begin || time > end;
    if (cursor.hidden) return;
    const area = track.getBoundingClientRect(), outer = box.getBoundingClientRect();
    cursor.style.left = area.left - outer.left + (time - begin) / (end - begin) * area.width + "px";
    cursor.style.height = list.offsetHeight + "px";
  }
  return { box, draw, show };
}
