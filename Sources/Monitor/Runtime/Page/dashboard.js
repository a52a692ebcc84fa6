"use strict";
const $ = id => document.getElementById(id),
  rows = new Map();
let order = [],
  alerts = [],
  backends = [],
  monitor = {},
  open = null,
  token = "",
  last = 0,
  detailTimer = 0,
  reading = false,
  queued = false,
  lost = false;
const MOST = 300;
const asked = new URLSearchParams(location.hash.slice(1));
if (asked.has("token")) {
  token = asked.get("token");
  asked.delete("token");
  history.replaceState(null, "", location.pathname + (asked.size ? "#" + asked : ""))
}
const headers = () => token ? {
  Authorization: "Bearer " + token
} : {};

function el(tag, text, cls) {
  const e = document.createElement(tag);
  if (text !== undefined && text !== null) e.textContent = text;
  if (cls) e.className = cls;
  return e
}

function svg(tag, attributes) {
  const e = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const k in attributes) e.setAttribute(k, attributes[k]);
  return e
}
const ms = v => v == null ? "–" : v < 1000 ? v + " ms" : v < 6e5 ? (v / 1000).toFixed(1) + " s" : v < 36e6 ?
  Math.round(v / 6e4) + " min" : (v / 36e5).toFixed(1) + " h",
  count = (n, word) => n + " " + word + (n === 1 ? "" : "s"),
  rate = v => v == null ? "–" : v >= 1e6 ? (v / 1e6).toFixed(1) + " Mbit/s" : Math.round(v / 1e3) + " kbit/s";
const percent = v => v == null ? "–" : (v * 100).toFixed(v < 0.1 ? 2 : 1) + " %",
  zone = [undefined, {
    timeZoneName: "short"
  }],
  clock = t => {
    if (!t) return "";
    const d = new Date(t);
    return d.toDateString() === new Date().toDateString() ? d.toLocaleTimeString(...zone) : d.toLocaleString(
      ...zone)
  };
const words = {
  playing: ["▶ playing", "good"],
  stalled: ["■ stalled", "bad"],
  impaired: ["▶ impaired", "warn"],
  starting: ["… starting", "warn"],
  down: ["✕ down", "bad"],
  waiting: ["○ waiting", "dim"],
  new: ["○ new", "dim"]
};
const state = s => words[s] || [s, "dim"];
const trouble = r => (r.up === false ? 8 : 0) + (r.state === "stalled" ? 4 : 0) + (r.broken.length ? 2 :
  0) + (r.rebufferRatio > 0.01 ? 1 : 0);

function visible() {
  const f = $("filter").value.toLowerCase(),
    key = $("sort").value;
  let list = order.map(n => rows.get(n)).filter(r => r && (!f || (r.name + " " + r.state + " " + Object
    .values(r.labels).join(" ") + " " + r.broken.join(" ")).toLowerCase().includes(f)));
  const by = {
    name: (a, b) => a.name < b.name ? -1 : 1,
    trouble: (a, b) => trouble(b) - trouble(a) || (a.name < b.name ? -1 : 1)
  } [key] || ((a, b) => (b[key] ?? -1) - (a[key] ?? -1) || (a.name < b.name ? -1 : 1));
  return list.sort(by)
}

function spark(values) {
  if (values.length === 1) values = [values[0], values[0]];
  const s = svg("svg", {
      width: 90,
      height: 22,
      viewBox: "0 0 90 22",
      "aria-hidden": "true"
    }),
    top = Math.max(1, ...values);
  s.append(svg("polyline", {
    points: values.map((v, i) => (i * 90 / Math.max(1, values.length - 1)).toFixed(1) + "," + (20 - v *
      18 / top).toFixed(1)).join(" ")
  }));
  return s
}

function cell(text, cls, key) {
  const c = el("td", text, cls);
  if (key) c.dataset.k = key;
  return c
}

function row(r) {
  const tr = el("tr", null, "s");
  tr.tabIndex = 0;
  tr.dataset.name = r.name;
  const name = el("td");
  name.append(el("div", r.name, "name"));
  const extra = [r.title && r.title !== r.name ? r.title : "", Object.entries(r.labels).map(([k, v]) => k +
    "=" + v).join(" ")].filter(Boolean).join(" · ");
  if (extra) name.append(el("div", extra, "labels"));
  const [word, cls] = state(r.state);
  const error = el("td");
  if (r.broken.length) error.append(el("div", r.broken.join(", "), "bad"));
  if (r.error) error.append(el("div", r.error.code + " at " + clock(r.error.time), r.up === false ? "bad" :
    "dim"));
  const sp = el("td", null, "wide");
  sp.append(spark(r.spark));
  tr.append(name, cell(word, "st " + cls), cell(ms(r.startup), "n", "start"), cell(r.rebuffers + (r
    .rebufferRatio == null ? "" : " / " + percent(r.rebufferRatio)), "n" + (r.rebufferRatio > 0.01 ?
    " warn" : ""), "stalls"), cell(rate(r.bitrate), "n", "quality"), cell(ms(r.latency), "n wide"), cell(
    ms(r.buffer), "n wide"), sp, error);
  tr.setAttribute("aria-label", r.name + ", " + word);
  return tr
}

function draw() {
  queued = false;
  const list = visible(),
    focus = document.activeElement,
    was = focus && focus.dataset ? focus.dataset.name : null,
    body = document.createDocumentFragment();
  for (const r of list.slice(0, MOST)) body.append(row(r));
  $("rows").replaceChildren(body);
  $("more").hidden = list.length <= MOST;
  $("more").textContent = (list.length - MOST) + " more streams; use the filter.";
  $("none").hidden = list.length > 0;
  $("none").textContent = order.length ? "No stream matches the filter." : "No stream is configured.";
  if (was) {
    const again = [...$("rows").children].find(e => e.dataset.name === was);
    if (again) again.focus({
      preventScroll: true
    })
  }
  const all = [...rows.values()],
    down = all.filter(r => r.up === false).length,
    stalled = all.filter(r => r.state === "stalled").length;
  $("summary").textContent = count(order.length, "stream") + ", " + count(monitor.sessions || 0, "session") +
    ", " + down + " down, " + stalled + " stalled, " + count(alerts.filter(a => a.firing).length, "alert") + (
      monitor.configurationValid === false ?
      " – the configuration file is invalid, the last good one is used" : "") + (monitor.delay > 1000 ?
      " – this machine is too busy: the monitor works " + ms(monitor.delay) +
      " late, and stalls may be its own" : "");
  document.title = (down ? "(" + down + " down) " : "") + "Instrument monitor";
  $("alerts").hidden = !alerts.length;
  $("alertlist").replaceChildren(...alerts.slice(0, 100).map(a => {
    const li = el("li");
    li.append(el("span", a.firing ? "firing " : "pending ", a.firing ? "bad" : "warn"), el("strong", a
      .alert + ": "), el("span", a.stream + (a.reason ? " · " + a.reason : "") + " · since " +
      clock(a.since) + (a.flapping ? " · flapping" : "")));
    return li
  }));
  $("ledger").replaceChildren(...!backends.length ? [nothing(
    "No backend is configured: samples are not recorded.")] : backends.map(b => {
    const tr = el("tr");
    tr.append(el("td", b.name));
    for (const [k, word] of [
        ["emitted", "emitted"],
        ["acknowledged", "delivered"],
        ["queued", "queued"],
        ["dead", "refused"],
        ["dropped", "dropped"]
      ]) tr.append(cell(b[k], "n" + ((k === "dead" || k === "dropped") && b[k] ? " bad" : ""), word));
    return tr
  }))
}

function nothing(text) {
  const tr = el("tr"),
    td = el("td", text, "dim");
  td.colSpan = 6;
  tr.append(td);
  return tr
}

function later() {
  if (!queued) {
    queued = true;
    requestAnimationFrame(draw)
  }
}

function take(d, whole) {
  last = Date.now();
  if (whole) {
    rows.clear();
    order = d.streams.map(r => r.name)
  }
  for (const r of d.streams) {
    if (!rows.has(r.name) && !whole) order.push(r.name);
    rows.set(r.name, r)
  }
  alerts = d.alerts;
  backends = d.backends;
  monitor = d.monitor;
  if (open && !reading && d.streams.some(r => r.name === open)) detail();
  if (!whole && d.names !== order.length) reload();
  later()
}
async function reload() {
  try {
    const a = await fetch("/api/state", {
      headers: headers()
    });
    if (a.ok) take(await a.json(), true)
  } catch {}
}

function connection(text) {
  const was = lost;
  lost = !!text;
  $("connection").hidden = !text;
  $("connection").textContent = text;
  if (was && !text && open) detail()
}
async function listen() {
  for (;;) {
    try {
      const a = await fetch("/events", {
        headers: headers()
      });
      if (a.status === 401) {
        $("login").hidden = false;
        connection("The monitor needs a token.");
        return
      }
      if (!a.ok) throw 0;
      $("login").hidden = true;
      connection("");
      const reader = a.body.pipeThrough(new TextDecoderStream()).getReader();
      let text = "";
      last = Date.now();
      for (;;) {
        const {
          value,
          done
        } = await reader.read();
        if (done) break;
        text += value;
        let end;
        while ((end = text.indexOf("\n\n")) >= 0) {
          const part = text.slice(0, end);
          text = text.slice(end + 2);
          let name = "",
            data = "";
          for (const line of part.split("\n")) {
            if (line.startsWith("event: ")) name = line.slice(7);
            else if (line.startsWith("data: ")) data = line.slice(6)
          }
          if (data) take(JSON.parse(data), name === "state")
        }
      }
    } catch {}
    connection("Connection lost; the figures are from " + (last ? new Date(last).toLocaleTimeString(...
      zone) : "an earlier time") + ". Retrying.");
    await new Promise(r => setTimeout(r, 2000))
  }
}
setInterval(() => {
  if (last && !lost && Date.now() - last > 10000) connection("No news for " + Math.round((Date.now() -
    last) / 1000) + " s.");
  else if (lost && Date.now() - last < 5000) connection("")
}, 2000);

function chart(title, points, value, shown, mark) {
  const f = el("figure"),
    s = svg("svg", {
      viewBox: "0 0 300 70",
      preserveAspectRatio: "none",
      role: "img"
    }),
    values = points.map(value),
    top = Math.max(1, ...values),
    slots = Math.max(30, points.length),
    w = 300 / slots,
    left = (slots - points.length) * w;
  s.append(Object.assign(svg("title"), {
    textContent: title
  }));
  values.forEach((v, i) => {
    const h = v * 58 / top,
      r = svg("rect", {
        x: (left + i * w).toFixed(2),
        y: (66 - h).toFixed(1),
        width: Math.max(0.5, w - 0.5).toFixed(2),
        height: Math.max(0, h).toFixed(1)
      });
    const m = mark && mark(points[i]);
    if (m) {
      r.setAttribute("class", m);
      if (!h) {
        r.setAttribute("y", 8);
        r.setAttribute("height", 58)
      }
    }
    s.append(r)
  });
  const end = values.length ? values[values.length - 1] : null;
  f.append(el("figcaption", title + ": " + (end === null ? "–" : shown(end)) + ", at most " + shown(values
    .length ? Math.max(...values) : 0)), s);
  return f
}

function scroll(list, make) {
  const d = el("div", null, "scroll");
  d.tabIndex = 0;
  const t = el("table"),
    b = el("tbody");
  for (const x of list) b.append(make(x));
  t.append(b);
  d.append(t);
  return d
}
async function detail() {
  clearTimeout(detailTimer);
  const name = open;
  if (!name) return;
  reading = true;
  try {
    const a = await fetch("/api/stream?name=" + encodeURIComponent(name), {
      headers: headers()
    });
    if (open !== name) return;
    if (a.status === 404) {
      $("detail").replaceChildren(el("h2", name), el("p", "This stream is no longer configured."));
      return
    }
    if (!a.ok) throw 0;
    show(await a.json())
  } catch {} finally {
    reading = false
  }
  clearTimeout(detailTimer);
  detailTimer = setTimeout(detail, 2000)
}

function show(d) {
  const box = $("detail"),
    top = [...box.querySelectorAll(".scroll")].map(e => e.scrollTop),
    parts = () => [...box.querySelectorAll("button,.scroll")],
    focused = parts().indexOf(document.activeElement);
  const h = el("h2", d.name + (d.title && d.title !== d.name ? " – " + d.title : "")),
    close = el("button", "Close");
  close.onclick = shut;
  h.append(close);
  const [word, cls] = state(d.state), facts = el("p");
  facts.append(el("span", word, cls), el("span", " · start " + ms(d.startup) + " · " + d.rebuffers +
    " stalls, " + ms(d.rebuffering) + " of " + ms(d.playing) + " played · " + rate(d.bitrate) +
    " · latency " + ms(d.latency) + " · buffer " + ms(d.buffer) + (d.age != null ?
      " · playlist unchanged for " + ms(d.age) : "") + (d.loudness != null ? " · loudness " + d.loudness
      .toFixed(1) + " LUFS" : "")));
  const charts = el("div", null, "charts"),
    m = d.minutes;
  charts.append(chart("States, last hour (played per minute)", m, p => p.playing, ms, p => p.down ? "down" : p
    .rebuffering ? "stall" : ""), chart("Bitrate", m, p => p.bitrate * 1000, rate), chart("Buffer", m,
    p => p.buffer, ms), chart("Latency", m, p => p.latency, ms), chart("Start time", m, p => p.startup,
    v => v ? ms(v) : "–"), chart("Stalled, last 24 h", d.quarters, p => p.rebuffering, ms, p => p.down ?
    "down" : ""));
  const cols = el("div", null, "cols"),
    a = el("div"),
    b = el("div"),
    c = el("div");
  a.append(el("h2", "Events"), scroll([...d.log].reverse(), e => {
    const tr = el("tr");
    tr.append(el("td", clock(e.time), "dim"), el("td", e.text, e.kind === "error" || e.kind ===
      "alert" ? "bad" : e.kind === "stall" || e.kind === "check" ? "warn" : ""));
    return tr
  }));
  b.append(el("h2", "Requests"), scroll([...d.requests].reverse(), r => {
    const tr = el("tr");
    tr.append(el("td", clock(r.time), "dim"), el("td", r.kind, "k"), el("td", r.status ?? "none", "k" +
      (r.failed ? " bad" : "")), el("td", ms(r.ms), "n"), el("td", Math.round(r.bytes / 1024) +
      " KiB", "n"));
    return tr
  }));
  c.append(el("h2", "Checks"), d.checks.length ? scroll(d.checks, k => {
    const tr = el("tr"),
      td = el("td");
    td.append(el("div", k.rule + (k.broken ? " is broken since " : " is kept since ") + clock(k.since),
      k.broken ? "bad" : "good"), el("div", (k.broken ? "" : "Before: ") + k.message));
    tr.append(td);
    return tr
  }) : el("p", "No rule was broken.", "dim"));
  cols.append(a, b, c);
  box.replaceChildren(h, facts, charts, cols);
  [...box.querySelectorAll(".scroll")].forEach((e, i) => e.scrollTop = top[i] || 0);
  if (focused >= 0) parts()[focused]?.focus({
    preventScroll: true
  })
}

function shut() {
  const name = open;
  open = null;
  history.replaceState(null, "", location.pathname);
  $("detail").hidden = true;
  const r = [...$("rows").children].find(e => e.dataset.name === name);
  if (r) r.focus();
  else $("filter").focus()
}

function choose(name) {
  open = name;
  history.replaceState(null, "", "#" + new URLSearchParams({
    stream: name
  }));
  const box = $("detail");
  box.hidden = false;
  box.replaceChildren(el("h2", name));
  box.focus();
  box.scrollIntoView({
    block: "nearest"
  });
  detail()
}
$("rows").addEventListener("click", e => {
  const r = e.target.closest("tr");
  if (r) choose(r.dataset.name)
});
document.addEventListener("keydown", e => {
  const r = document.activeElement.closest && document.activeElement.closest("tr.s"),
    typing = /^(INPUT|SELECT)$/.test(document.activeElement.tagName);
  if (e.key === "Escape") {
    if (open) shut();
    else if (typing) {
      $("filter").value = "";
      document.activeElement.blur();
      later()
    }
  } else if (e.key === "/" && !typing) {
    e.preventDefault();
    $("filter").focus()
  } else if ((e.key === "ArrowDown" || e.key === "ArrowUp") && !(typing && document.activeElement
      .tagName === "SELECT") && !document.activeElement.closest(".scroll,#alertlist")) {
    const list = [...$("rows").children];
    if (!list.length) return;
    e.preventDefault();
    const at = r ? list.indexOf(r) : -1;
    list[Math.min(list.length - 1, Math.max(0, at + (e.key === "ArrowDown" ? 1 : -1)))].focus()
  } else if (e.key === "Enter" && r) choose(r.dataset.name)
});
$("filter").addEventListener("input", later);
$("sort").addEventListener("change", later);
$("login").addEventListener("submit", e => {
  e.preventDefault();
  token = $("token").value;
  $("token").value = "";
  listen()
});
if (asked.has("stream")) choose(asked.get("stream"));
listen();
