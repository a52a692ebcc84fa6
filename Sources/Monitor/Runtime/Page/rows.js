// The table of streams. The order of the rows changes only when a person asks for it.

/** The columns that a person may hide: key, title, text, and the value that sorts. */
const columns = [
  { key: "bars", title: "Last 30 min" },
  { key: "startup", title: "Start", text: row => inMilliseconds(row.startup), isFigure: true },
  { key: "rebufferRatio", title: "Stalled", text: row => inPercent(row.rebufferRatio), isFigure: true },
  { key: "bitrate", title: "Bitrate", text: row => inMegabits(row.bitrate), isFigure: true },
  { key: "latency", title: "Behind live", text: row => inSeconds(row.latency), isFigure: true },
  { key: "buffer", title: "Buffer", text: row => inSeconds(row.buffer), isFigure: true, isOff: true },
  { key: "reason", title: "What it waits for" },
];

/** Choices that the browser remembers. */
const choices = { group: null, layout: "list", sort: "state", isFalling: false, hidden: columns.filter(c => c.isOff).map(c => c.key), state: "", place: "", filter: "" };
function remember() {
  try { localStorage.setItem("instrument", JSON.stringify({ group: choices.group, layout: choices.layout, hidden: choices.hidden })); } catch { /* no storage */ }
}
function recall() {
  try {
    const kept = JSON.parse(localStorage.getItem("instrument")) || {};
    if (typeof kept.group === "string") choices.group = kept.group;
    if (["list", "compact", "grid"].includes(kept.layout)) choices.layout = kept.layout;
    if (Array.isArray(kept.hidden)) choices.hidden = kept.hidden.filter(key => columns.some(c => c.key === key));
  } catch { /* no storage, or a text of another form */ }
}

/** What is listed, in order: the names of streams, and after a zero the names of groups. */
let shown = [], shells = new Map(), near = new Set(), current = null;

/** The names that the choices ask for now. */
function wanted() {
  const words = choices.filter.toLowerCase().split(/\s+/).filter(Boolean);
  const rows = store.names.map(name => store.rows.get(name)).filter(row => row
    && (!choices.state || row.state === choices.state) && (!choices.place || row.place === choices.place) && (!words.length || words.every(word => textOf(row).includes(word))));
  const byName = (a, b) => a.name < b.name ? -1 : a.name > b.name ? 1 : 0;
  const compare = choices.sort === "state" ? (a, b) => lookOf(a).rank - lookOf(b).rank
    : choices.sort === "name" ? byName : (a, b) => (a[choices.sort] ?? Infinity) - (b[choices.sort] ?? Infinity) || 0;
  rows.sort((a, b) => (choices.isFalling ? compare(b, a) : compare(a, b)) || byName(a, b));
  if (!choices.group) return rows.map(row => row.name);
  const groups = new Map();
  for (const row of rows) {
    const value = choices.group === byStream ? row.origin ?? row.name : row.labels?.[choices.group] ?? "";
    if (groups.has(value)) groups.get(value).push(row.name); else groups.set(value, [row.name]);
  }
  // A stream stands where the worst of its places would, labels in their order.
  if (choices.group === byStream) return [...groups].flatMap(([value, names]) => ["\0" + value, ...names.sort()]);
  return [...groups].sort(([a], [b]) => (a === "") - (b === "") || (a < b ? -1 : 1)).flatMap(([value, names]) => ["\0" + value, ...names]);
}
const isGroup = entry => entry.startsWith("\0");

/** A bar a minute: the taller, the worse. */
const barHeights = [3, 9, 14, 20];
const barNames = ["nothing known", "played", "impaired", "down"];
function drawBars(picture, bars) {
  const key = bars.join("");
  if (picture.key === key) return;
  picture.key = key;
  const paths = ["", "", "", ""], counts = [0, 0, 0, 0];
  bars.forEach((value, index) => {
    const kind = barHeights[value] ? value : 0, x = (30 - bars.length + index) * 5.2;
    counts[kind] += 1;
    paths[kind] += "M" + x.toFixed(1) + " " + (20 - barHeights[kind]) + "h4V20h-4z";
  });
  picture.replaceChildren(...paths.map((path, kind) => path && svg("path", { d: path, class: "b" + kind })).filter(Boolean));
  mark(picture, "aria-label", "last " + plural(bars.length, "minute") + ": " + counts.map((count, kind) => count && count + " " + barNames[kind]).filter(Boolean).reverse().join(", "));
}

/** A row without cells: a thousand are made at once, and their cells when they come near the screen. Until then it has no role, which demands cells. */
function shell(entry) {
  const element = el("div", null, isGroup(entry) ? "group" : "row");
  element.entry = entry;
  if (isGroup(entry)) element.setAttribute("role", "row");
  else {
    element.dataset.name = entry;
    nearness.observe(element);
  }
  return element;
}
const nearness = new IntersectionObserver(changes => {
  for (const change of changes) {
    if (change.isIntersecting) { near.add(change.target); fill(change.target); } else near.delete(change.target);
  }
}, { rootMargin: "800px 0px" });

function cell(parent, name, role = "cell") {
  const element = el("div", null, name);
  element.setAttribute("role", role);
  parent.append(element);
  return element;
}

function makeCells(element, row) {
  const parts = {};
  element.setAttribute("role", "row");
  const head = cell(element, "stream", "rowheader");
  parts.sign = el("span", null, "sign");
  parts.sign.setAttribute("aria-hidden", "true");
  parts.link = el("a", row.name, "name");
  parts.link.href = "#" + new URLSearchParams({ stream: row.name });
  parts.link.tabIndex = row.name === (current ?? shown.find(entry => !isGroup(entry))) ? 0 : -1;
  parts.labels = el("span", null, "labels");
  head.append(parts.sign, parts.link, parts.labels);
  parts.state = cell(element, "state");
  parts.word = parts.state.appendChild(el("span"));
  parts.time = parts.state.appendChild(el("b"));
  for (const column of columns) {
    const part = cell(element, "c-" + column.key + (column.isFigure ? " figure" : ""));
    if (column.key === "bars") {
      parts.bars = svg("svg", { viewBox: "0 0 156 20", width: 156, height: 20, role: "img", preserveAspectRatio: "none" });
      part.append(parts.bars);
    } else parts[column.key] = part;
  }
  element.parts = parts;
}

/** Writes a stream into its row. */
function fill(element) {
  const row = store.rows.get(element.entry);
  if (!row || isGroup(element.entry)) return;
  if (!element.parts) makeCells(element, row);
  const parts = element.parts, look = lookOf(row), [word, time] = stateText(row);
  say(parts.sign, look.sign);
  say(parts.link, nameIn(row));
  mark(parts.link, "aria-label", nameIn(row) === row.name ? null : row.name);
  // What a group says is not said in its rows again.
  const group = choices.group === byStream ? siblingsOf(row) : [];
  const labels = Object.entries(row.labels || {}).filter(([key, value]) => key !== choices.group && !(key === "location" && row.place) && !isShared(group, key, value));
  const title = row.title && row.title !== row.name ? [row.title] : [];
  say(parts.labels, [...title, ...labels.map(([, value]) => value)].join(" · "));
  mark(parts.labels, "title", [...title, ...labels.map(([key, value]) => key + "=" + value)].join(" · ") || null);
  say(parts.word, word);
  say(parts.time, time ? (word.endsWith(" ") ? "" : " ") + time : "");
  parts.bars.toggleAttribute("hidden", !row.bars);
  if (row.bars) drawBars(parts.bars, row.bars);
  for (const column of columns) if (column.text) say(parts[column.key], column.text(row));
  const reason = reasonOf(row);
  say(parts.reason, reason);
  mark(parts.reason, "title", reason || null);
  dress(element, "row " + look.tone);
  mark(parts.link, "aria-current", panel.stream === row.name ? "true" : null);
  element.classList.toggle("selected", panel.stream === row.name);
}

/** Writes a group; of a stream with `rows`, those of its places. */
function fillGroup(element, playing, count, rows) {
  const value = element.entry.slice(1);
  if (!element.parts) {
    const head = cell(element, "", "rowheader");
    element.parts = { key: head.appendChild(el("span")), value: head.appendChild(el("b")), count: head.appendChild(el("span", null, "count")), labels: head.appendChild(el("span", null, "labels")) };
  }
  const parts = element.parts;
  say(parts.value, value);
  if (rows) {
    say(parts.key, "");
    say(parts.count, scopeOf(rows));
    say(parts.labels, Object.entries(rows[0].labels || {}).filter(([key, value]) => isShared(rows, key, value)).map(([, value]) => value).join(" · "));
    dress(element, "group " + lookOf(rows.reduce((a, b) => lookOf(b).rank < lookOf(a).rank ? b : a)).tone);
    return;
  }
  say(parts.key, value ? choices.group + " " : "no " + choices.group);
  say(parts.count, playing + " of " + count + " playing");
  say(parts.labels, "");
  dress(element, "group");
}

/** Makes the rows those that the choices ask for: a person asked for it. */
function arrange() {
  shown = wanted();
  const names = new Set(shown);
  for (const entry of shells.keys()) if (!names.has(entry)) drop(entry);
  const list = shown.map(entry => {
    let element = shells.get(entry);
    if (!element) shells.set(entry, element = shell(entry));
    return element;
  });
  if (current && !names.has(current)) current = null;
  const focused = document.activeElement;
  place(list);
  if (focused?.isConnected && focused !== document.body && focused !== document.activeElement) focused.focus({ preventScroll: true });
  for (const element of list.slice(0, 40)) fill(element);
  drawList();
  rest(list);
}

/** How many rows the first picture has: more than a screen shows. */
const firstRows = 150;
/** The rows below the first picture, until it is drawn. */
let below = [];
/** Makes the rows of the table those of the list. Of a long table that is new, the rest comes after the first picture. */
function place(list) {
  const known = [...$("rows").children];
  below = known.length || list.length <= firstRows ? [] : list.slice(firstRows);
  const first = below.length ? list.slice(0, firstRows) : list;
  if (known.length !== first.length || known.some((element, index) => element !== first[index])) $("rows").replaceChildren(...first);
  if (below.length) nextFrame(() => setTimeout(placeBelow));
}
function placeBelow() {
  if (!below.length) return;
  $("rows").append(...below.filter(element => shells.get(element.entry) === element));
  below = [];
}

/** Fills further rows while nothing else is to do, so that a search in the page finds them. */
function rest(list) {
  let index = 40;
  const work = deadline => {
    while (index < list.length && deadline.timeRemaining() > 2) { if (!list[index].parts) fill(list[index]); index += 1; }
    if (index < list.length) requestIdleCallback(work);
  };
  if (window.requestIdleCallback && list.length > 40) requestIdleCallback(work);
}

function drawGroups() {
  // The words of a stream are about all of its places, also those that a filter leaves out.
  const streams = choices.group === byStream ? rowsByStream() : null;
  let group = null, playing = 0, count = 0;
  const end = () => { if (group !== null) fillGroup(shells.get(group), playing, count, streams?.get(group.slice(1))); };
  for (const entry of shown) {
    if (isGroup(entry)) { end(); [group, playing, count] = [entry, 0, 0]; continue; }
    count += 1;
    if (store.rows.get(entry)?.state === "playing") playing += 1;
  }
  end();
}

/** Draws what changed, without moving a row. */
function drawList() {
  for (const element of near) if (element.isConnected) fill(element);
  drawGroups();
  const next = wanted(), kept = new Set(shown), differs = next.length !== shown.length || next.some((entry, index) => entry !== shown[index]);
  const more = next.filter(entry => !isGroup(entry) && !kept.has(entry)).length;
  $("changed").hidden = !differs;
  if (differs) say($("changed").firstElementChild, more ? plural(more, "more stream") + " would be listed." : "The order has changed.");
  $("none").hidden = !store.latest || shown.length > 0 || !store.names.length;
  say($("none"), "No stream matches the filter.");
}

/** Forgets the element of a row. */
function drop(entry) {
  const element = shells.get(entry);
  nearness.unobserve(element);
  near.delete(element);
  shells.delete(entry);
  element.remove();
}

/** Streams that are new in the configuration are listed at once, at the end; removed ones leave. */
function admit() {
  placeBelow();
  if (!shown.length) { arrange(); return; }
  for (const entry of shown) if (!isGroup(entry) && !store.rows.has(entry)) drop(entry);
  shown = shown.filter(entry => shells.has(entry));
  const known = new Set(shown), added = store.names.filter(name => !known.has(name));
  // What a filter leaves out is said in a line.
  if (!added.length || choices.filter || choices.state || choices.place) return;
  if (choices.group) { arrange(); return; }
  for (const name of added) {
    const element = shell(name);
    shells.set(name, element);
    $("rows").append(element);
  }
  shown.push(...added);
}

/** The row that the keyboard is at. */
function step(by) {
  const names = shown.filter(entry => !isGroup(entry));
  if (!names.length) return;
  const focused = document.activeElement?.closest?.(".row")?.entry;
  const index = focused === undefined ? -1 : names.indexOf(focused);
  choose(names[Math.min(names.length - 1, Math.max(0, index + by))], true);
}
function choose(name, isFocused) {
  placeBelow();
  const before = current && shells.get(current)?.parts, element = shells.get(name);
  if (!element) return;
  for (const parts of [before, ...[...near].map(e => e.parts)]) if (parts) parts.link.tabIndex = -1;
  current = name;
  fill(element);
  element.parts.link.tabIndex = 0;
  if (isFocused) { element.parts.link.focus({ preventScroll: true }); element.scrollIntoView({ block: "nearest" }); }
}

/** The heads of the columns, which sort. */
function makeHead() {
  const head = document.querySelector("#table .head");
  const titles = [["name", "Stream"], ["state", "State"], ...columns.map(c => [c.key, c.title])];
  for (const [key, title] of titles) {
    const part = cell(head, "c-" + key + (columns.find(c => c.key === key)?.isFigure ? " figure" : ""), "columnheader");
    if (key === "bars" || key === "reason") { part.textContent = title; continue; }
    part.append(button(title, () => {
      const isSame = choices.sort === key;
      // Figures begin with the worst, names and states with the first.
      choices.isFalling = isSame ? !choices.isFalling : columns.some(c => c.key === key) && key !== "bitrate" && key !== "buffer";
      choices.sort = key;
      drawChoices();
      arrange();
    }));
    part.dataset.sort = key;
  }
}

function drawChoices() {
  for (const part of document.querySelectorAll("#table .head [data-sort]")) {
    mark(part, "aria-sort", part.dataset.sort !== choices.sort ? "none" : choices.isFalling ? "descending" : "ascending");
  }
  const table = $("table");
  dress(table, choices.layout + columns.map(c => choices.hidden.includes(c.key) ? " no-" + c.key : "").join(""));
  table.style.setProperty("--columns", ["minmax(160px, 1.3fr)", "minmax(128px, .7fr)", ...columns.filter(c => !choices.hidden.includes(c.key))
    .map(c => c.key === "bars" ? "156px" : c.key === "reason" ? "minmax(120px, 1.6fr)" : c.key === "bitrate" ? "104px" : "84px")].join(" "));
  for (const part of document.querySelectorAll("#layout button")) mark(part, "aria-pressed", part.dataset.layout === choices.layout);
  for (const part of document.querySelectorAll("#columns input")) part.checked = !choices.hidden.includes(part.value);
}
