// Addresses, keys, and the connection to the monitor.

let queued = false;
/** Whether the monitor has sent nothing for a while, over a connection that stands. */
let isSilent = false;
/** Draws the page in the next frame. */
function refresh() {
  if (queued) return;
  queued = true;
  nextFrame(() => {
    queued = false;
    draw();
  });
}
function draw() {
  drawOverview();
  drawList();
  drawPanel();
}

let groupKeys = "";
/** The choices of a group: the labels that streams have. */
function drawGroupChoices() {
  const keys = new Set();
  for (const row of store.rows.values()) for (const key in row.labels || {}) keys.add(key);
  // What the places see of one stream stands together, until a person asks for something else.
  choices.group ??= hasPlaces() ? byStream : "";
  if (choices.group === byStream && !hasPlaces()) choices.group = "";
  if (choices.group && choices.group !== byStream) keys.add(choices.group);
  const list = [...keys].sort().slice(0, 50), text = hasPlaces() + list.join("\n");
  if (text === groupKeys) return;
  groupKeys = text;
  $("group").replaceChildren(...[["", "nothing"], ...(hasPlaces() ? [[byStream, "stream"]] : []), ...list.map(key => [key, key])].map(([value, name]) => { const option = el("option", name); option.value = value; return option; }));
  $("group").value = choices.group;
}

function receive(document, isWhole) {
  const isFirst = !store.latest;
  take(document, isWhole);
  drawGroupChoices();
  if (isFirst) { arrange(); draw(); } else { admit(); refresh(); }
  if (!isWhole && document.names !== undefined && document.names !== store.names.length) readState();
}
async function readState() {
  try {
    const answer = await fetch("/api/state", { headers: headers() });
    if (answer.ok) receive(await answer.json(), true);
  } catch { /* the connection's banner says it */ }
}

/** Says that the figures are old, and since when; an empty text: they are not. */
function connection(text) {
  const wasStale = store.isStale;
  store.isStale = !!text;
  $("connection").hidden = !text;
  say($("connection"), text);
  document.body.classList.toggle("stale", !!text && store.latest > 0);
  say($("live"), text ? "stale" : "live");
  $("live").className = text ? "live lost" : "live";
  drawHealth();
  if (wasStale && !text) readDetail();
}

const pause = ms => new Promise(resolve => { setTimeout(resolve, ms); });

async function listen() {
  for (;;) {
    try {
      const answer = await fetch("/events", { headers: headers() });
      if (answer.status === 401) {
        $("login").hidden = false;
        $("token").focus();
        connection("The monitor needs a token.");
        return;
      }
      if (!answer.ok) throw new Error("status " + answer.status);
      $("login").hidden = true;
      connection("");
      const reader = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      for (let text = ""; ;) {
        const { value, done } = await reader.read();
        if (done) break;
        text += value;
        for (let end; (end = text.indexOf("\n\n")) >= 0; text = text.slice(end + 2)) event(text.slice(0, end));
      }
    } catch { /* said below */ }
    isSilent = false;
    connection(store.latest ? "Connection lost: the figures are from " + clock(store.latest + store.ahead, Date.now() + store.ahead) + " UTC. Retrying." : "The monitor does not answer. Retrying.");
    await pause(2000);
  }
}
function event(text) {
  let name = "", data = "";
  for (const line of text.split("\n")) {
    if (line.startsWith("event: ")) name = line.slice(7);
    else if (line.startsWith("data: ")) data = line.slice(6);
  }
  if (!data) return;
  receive(JSON.parse(data), name === "state");
  if (isSilent) { isSilent = false; connection(""); }
}

/** Every second: the clock, and durations. */
function tick() {
  const time = new Date(Date.now() + store.ahead);
  say($("clock"), time.toISOString().slice(11, 19) + " UTC");
  $("clock").dateTime = time.toISOString();
  const age = Date.now() - store.latest;
  if (store.latest && !store.isStale && age > 10000) {
    isSilent = true;
    connection("No news since " + clock(store.latest + store.ahead, Date.now() + store.ahead) + " UTC: the figures are from then.");
  }
  if (store.latest && !store.isStale && !document.hidden) refresh();
}

/** What the address names. A token is taken out of it. */
function asking() {
  const asked = new URLSearchParams(location.hash.slice(1));
  if (asked.has("token")) {
    token = asked.get("token");
    asked.delete("token");
    history.replaceState(null, "", location.pathname + (asked.size ? "#" + asked : ""));
  }
  return asked;
}

/** Shows what the address names. */
function route() {
  const asked = asking();
  const view = ["incidents", "objectives", "delivery"].includes(asked.get("view")) ? asked.get("view") : "streams";
  document.body.dataset.view = view;
  for (const part of document.querySelectorAll(".view")) part.hidden = part.id !== view;
  for (const link of document.querySelectorAll("nav a")) mark(link, "aria-current", link.dataset.view === view ? "page" : null);
  const before = panel.stream || panel.incident;
  panel.stream = asked.get("stream");
  panel.incident = asked.get("incident");
  panel.other = asked.get("compare");
  draw();
  readDetail();
  const opened = panel.stream || panel.incident;
  if (opened && opened !== before) $("panel").focus({ preventScroll: innerWidth > 1100 });
  if (opened && opened !== before && innerWidth <= 1100) scrollTo(0, 0);
  if (!opened && panel.returning && shells.has(panel.returning)) choose(panel.returning, true);
  if (!opened) panel.returning = null;
}

/** Opens the row that was clicked, unless text in it was selected. */
$("rows").addEventListener("click", event => {
  const row = event.target.closest(".row");
  if (!row || event.target.closest("a") || !getSelection().isCollapsed) return;
  location.hash = new URLSearchParams({ stream: row.entry });
});
document.addEventListener("keydown", event => {
  const focused = document.activeElement, isTyping = /^(INPUT|SELECT|TEXTAREA)$/.test(focused.tagName);
  if ($("dialog").open || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape") {
    if ($("columns").open) { $("columns").open = false; $("columns").firstElementChild.focus(); }
    else if (isTyping) { $("filter").value = choices.filter = ""; focused.blur(); arrange(); }
    else if (panel.stream || panel.incident) shut();
  } else if (isTyping && !(focused.id === "filter" && event.key === "ArrowDown")) return;
  else if (event.key === "/") { event.preventDefault(); $("filter").focus(); }
  else if (event.key === "o") arrange();
  else if (["ArrowDown", "ArrowUp"].includes(event.key) && !focused.closest("#panel,pre,.tools select") && document.body.dataset.view === "streams") {
    event.preventDefault();
    step(event.key === "ArrowDown" ? 1 : -1);
  }
});
$("rows").addEventListener("focusin", event => {
  const row = event.target.closest(".row");
  if (row && row.entry !== current) choose(row.entry, false);
});
$("filter").addEventListener("input", () => { choices.filter = $("filter").value; arrange(); });
$("group").addEventListener("change", () => { choices.group = $("group").value; remember(); arrange(); });
$("changed").lastElementChild.addEventListener("click", arrange);
$("layout").addEventListener("click", event => {
  if (!event.target.dataset.layout) return;
  choices.layout = event.target.dataset.layout;
  remember();
  drawChoices();
});
$("columns").addEventListener("change", event => {
  choices.hidden = columns.map(c => c.key).filter(key => key === event.target.value ? !event.target.checked : choices.hidden.includes(key));
  remember();
  drawChoices();
});
document.addEventListener("click", event => { if ($("columns").open && !event.target.closest("#columns")) $("columns").open = false; });
$("audit").addEventListener("toggle", () => { if ($("audit").open) readAudit(); });
$("maintain").addEventListener("click", () => askMaintenance("", {}));
$("month").addEventListener("click", event => {
  if (!token) return;
  event.preventDefault();
  saveMonth();
});
$("login").addEventListener("submit", event => {
  event.preventDefault();
  token = $("token").value;
  $("token").value = "";
  listen();
});
addEventListener("hashchange", route);
let resized = 0;
addEventListener("resize", () => { clearTimeout(resized); resized = setTimeout(drawPanel, 100); });

// The monitor makes its answer while the page is prepared.
asking();
listen();
recall();
for (const column of columns) {
  const box = el("input"), label = el("label", null, "", box, document.createTextNode(" " + column.title));
  box.type = "checkbox";
  box.value = column.key;
  $("columns").lastElementChild.append(label);
}
makeHead();
drawChoices();
route();
tick();
setInterval(tick, 1000);
