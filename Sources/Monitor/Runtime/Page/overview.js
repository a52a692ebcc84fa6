// Tiles, incidents, banners and the further views.

const tileStates = ["down", "stalled", "impaired", "playing", "unknown", "starting", "waiting", "stopped"];

function drawTiles() {
  const counts = {};
  for (const row of store.rows.values()) if (!choices.place || row.place === choices.place) counts[row.state] = (counts[row.state] || 0) + 1;
  const items = tileStates.filter(state => counts[state] || ["down", "stalled", "playing"].includes(state) || choices.state === state)
    .map(state => ({ key: state, figure: String(counts[state] || 0), text: state, tone: counts[state] ? states[state].tone : "zero" }));
  // The objective whose budget is nearest to its end.
  const goal = store.objectives.filter(o => typeof o.value === "number").sort((a, b) => (a.budgetLeft ?? 1) - (b.budgetLeft ?? 1))[0];
  if (goal) items.push({ key: "goal", figure: share(goal.value), text: nameOfObjective(goal) + ", goal " + share(goal.goal), tone: goal.value >= goal.goal ? "ok" : "down" });
  else if (typeof store.upToday === "number") items.push({ key: "today", figure: share(store.upToday), text: "up today", tone: store.upToday >= 0.999 ? "ok" : "stall" });
  keyed($("tiles"), store.names.length ? items : [], item => item.key, item => {
    const tile = button(null, () => {
      if (item.key === "goal" || item.key === "today") { location.hash = "view=" + (item.key === "goal" ? "objectives" : "incidents"); return; }
      choices.state = choices.state === item.key ? "" : item.key;
      drawTiles();
      arrange();
    });
    tile.append(el("b"), el("span"));
    return tile;
  }, (tile, item) => {
    const isShare = item.key === "goal" || item.key === "today";
    dress(tile, "tile " + item.tone + (isShare ? " goal" : ""));
    if (!isShare) mark(tile, "aria-pressed", choices.state === item.key);
    say(tile.firstElementChild, item.figure);
    say(tile.lastElementChild, item.text);
  });
}
const share = value => typeof value === "number" ? (value * 100).toFixed(2).replace(/\.?0+$/, "") + " %" : dash;
const nameOfObjective = objective => objective.name + (objective.group ? ", " + (objective.by ? objective.by + "=" : "") + objective.group : "");

/** Who has an incident, and until when. */
function holder(incident) {
  const until = incident.until ? "until " + clock(incident.until, now(), 16) + " UTC" : "";
  if (incident.state === "acknowledged") return [incident.by || "acknowledged", until].filter(Boolean).join(", ");
  if (isQuiet(incident)) return [incident.state, until].filter(Boolean).join(" ");
  return isOpen(incident) ? "nobody has it" : "";
}

function incidentDetails(incident) {
  const names = incident.streams || [], count = incident.streamCount ?? names.length;
  const listed = names.slice(0, 4).join(", ");
  const labels = Object.entries(incident.labels || {}).map(([key, value]) => key + "=" + value).filter(text => !incident.title.includes(text)).join(" ");
  const failing = incident.failing < count && isOpen(incident) ? incident.failing + " of " : "";
  // An incident about a place or an objective has no streams.
  if (isOpen(incident) && !names.some(name => store.rows.has(name))) return labels;
  return [failing + plural(count, "stream") + (listed ? ": " + listed + (count > 4 ? ", +" + (count - Math.min(4, names.length)) + " more" : "") : ""), labels,
    incident.host && !incident.title.includes(incident.host) ? incident.host : "", incident.evidence?.length ? plural(incident.evidence.length, "piece") + " of evidence" : ""].filter(Boolean).join(" · ");
}

function drawIncidents(parent, list) {
  keyed(parent, list, incident => incident.id, incident => {
    const item = el("div", null, "incident"), link = el("a", null, "title");
    link.href = "#" + new URLSearchParams({ incident: incident.id });
    item.parts = { link, text: el("span", null, "dim"), places: el("span", null, "chips"), time: el("span", null, "age"), who: el("span", null, "who"), acts: el("span", null, "acts") };
    const words = el("div", null, "words", link, item.parts.text, item.parts.places);
    item.append(el("i"), words, item.parts.time, item.parts.who, item.parts.acts);
    item.addEventListener("click", event => { if (!event.target.closest("a,button") && getSelection().isCollapsed) link.click(); });
    return item;
  }, (item, incident) => {
    dress(item, "incident " + (!isOpen(incident) || isQuiet(incident) ? "quiet" : incident.severity || "warning"));
    const parts = item.parts, end = isOpen(incident) ? now() : Date.parse(incident.ended);
    say(parts.link, incident.title);
    mark(parts.link, "aria-current", panel.incident === incident.id ? "true" : null);
    const who = holder(incident), isFree = incident.state === "open";
    say(parts.text, [isFree ? who : "", incidentDetails(incident)].filter(Boolean).join(" · "));
    drawChips(parts.places, incident);
    say(parts.time, (isOpen(incident) ? "" : "closed, ") + duration(end - Date.parse(incident.since)));
    mark(parts.time, "title", "since " + clock(incident.since, now()) + " UTC");
    say(parts.who, who);
    parts.who.hidden = isFree || !who;
    drawActions(parts.acts, incident, true);
  });
}

function drawOverview() {
  drawTiles();
  drawPlaces();
  const all = incidentsInOrder(), open = all.filter(isOpen);
  say($("opencount"), open.length ? String(open.length) : "");
  $("alerting").hidden = !open.length;
  drawIncidents($("alerting"), open.slice(0, 5));
  let more = $("alerting").more;
  if (!more) {
    more = $("alerting").more = el("a", null, "more");
    more.href = "#view=incidents";
  }
  if (open.length > 5) { $("alerting").append(more); say(more, "+" + (open.length - 5) + " more"); } else more.remove();
  if (!$("incidents").hidden) drawIncidentView(all);
  document.querySelector("[data-view=objectives]").hidden = !store.objectives.length;
  if (!$("objectives").hidden) drawObjectives();
  if (!$("delivery").hidden) { drawDelivery(); drawSamples(); }
  drawConfiguration();
  drawSource();
  drawHealth();
  drawEmpty();
  const down = [...store.rows.values()].filter(row => row.state === "down").length;
  const title = (down ? "(" + down + " down) " : "") + (panel.stream ? panel.stream + " – " : "") + "Instrument monitor";
  if (document.title !== title) document.title = title;
}

function drawIncidentView(all) {
  const list = $("incidentlist");
  drawIncidents(list, all);
  if (!all.length && !list.none) list.append(list.none = el("p", "No incident is known.", "dim"));
  if (all.length && list.none) { list.none.remove(); list.none = null; }
  const may = store.role === "act";
  drawHidings($("silences"), "Silences", store.silences, may);
  drawHidings($("works"), "Maintenance", store.maintenance, may);
  $("maintain").hidden = !may;
}

/** Silences, or planned work, under a title. */
function drawHidings(box, title, list, may) {
  keyed(box, title && list.length ? [{ id: "\0" }, ...list] : list, hiding => hiding.id + (may ? "" : "\0"), hiding => {
    if (hiding.id === "\0") return el("h2", title);
    const item = el("div", null, "silence", el("span"), el("span", null, "dim")), isWork = hiding.kind === "maintenance";
    if (may) {
      const end = button(!isWork ? "End the silence" : Date.parse(hiding.begins) > now() ? "Call it off" : "End the maintenance", () => endHiding(hiding.id, isWork));
      mark(end, "aria-label", end.textContent + ": " + nameOfHiding(hiding));
      item.append(end);
    }
    return item;
  }, (item, hiding) => {
    if (hiding.id === "\0") return;
    say(item.children[0], nameOfHiding(hiding));
    say(item.children[1], aboutHiding(hiding));
  });
}
const textOfMatchers = list => list?.length ? list.map(m => m.label + (m.isRegex ? "=~" : "=") + m.value).join(", ") : "all streams";
const nameOfHiding = hiding => (hiding.name ? hiding.name + ": " : "") + textOfMatchers(hiding.matchers);
/** When silences or planned work begin and end, by whom, and why. */
const aboutHiding = hiding => [Date.parse(hiding.begins) > now() ? "begins in " + duration(Date.parse(hiding.begins) - now()) + ", at " + clock(hiding.begins, now(), 16) + " UTC" : "",
  hiding.ends ? "until " + clock(hiding.ends, now(), 16) + " UTC" : "", hiding.isConfigured ? "planned in the configuration" : hiding.by && "by " + hiding.by, hiding.reason].filter(Boolean).join(" · ");

/** A table of some columns. */
function drawTable(parent, titles, rows, emptyText) {
  if (!parent.table) {
    const head = el("tr");
    titles.forEach((title, index) => { const th = el("th", title, index ? "figure" : ""); th.scope = "col"; head.append(th); });
    parent.table = el("tbody");
    parent.append(el("table", null, "plain", el("thead", null, "", head), parent.table), parent.none = el("p", emptyText, "dim"));
  }
  say(parent.none, emptyText);
  parent.none.hidden = rows.length > 0;
  parent.table.parentElement.hidden = !rows.length;
  keyed(parent.table, rows, row => row[0], row => {
    const tr = el("tr");
    row.forEach((_, index) => {
      const part = el(index ? "td" : "th", null, index ? "figure" : "");
      if (!index) part.scope = "row";
      part.dataset.title = titles[index];
      tr.append(part);
    });
    return tr;
  }, (tr, row) => row.forEach((value, index) => say(tr.children[index], String(value))));
}
const drawObjectives = () => drawTable($("objectivelist"), ["Objective", "Days", "Goal", "Value", "Error budget left"],
  store.objectives.map(o => [nameOfObjective(o), o.days ?? dash, share(o.goal), share(o.value), share(o.budgetLeft)]), "No objective is configured.");
const drawDelivery = () => drawTable($("ledger"), ["Backend", "Emitted", "Delivered", "Queued", "Refused", "Dropped"],
  store.backends.map(b => [b.name, b.emitted, b.acknowledged, b.queued, b.dead, b.dropped]), store.source ? "No backend is used: the monitors of the places record the samples." : "No backend is configured: samples are not recorded.");

/** The banner of a configuration that is not used: file, line, and what to do. */
function drawConfiguration() {
  const banner = $("configuration"), monitor = store.monitor, problems = monitor.configurationProblems || [];
  banner.hidden = monitor.configurationValid !== false;
  if (banner.hidden) return;
  if (!banner.list) banner.append(el("strong", "The new configuration is not used; the monitor continues with the previous one."), banner.list = el("ul"), banner.rest = el("p"));
  keyed(banner.list, problems, problem => problem.file + ":" + problem.line + ":" + problem.message,
    problem => el("li", null, "", el("code", problem.file + (problem.line ? ":" + problem.line : "")), document.createTextNode(" " + plain(problem.message))));
  const left = (monitor.configurationProblemCount ?? problems.length) - problems.length;
  say(banner.rest, left > 0 ? "+" + left + " more; `player-monitor watch --check FILE` prints them all." : "Correct the file; the monitor reads it again once it changes.");
}

function drawHealth() {
  const monitor = store.monitor, lostOf = isMessage => store.backends.filter(b => b.name.startsWith("alerts:") === isMessage).reduce((sum, b) => sum + (b.dropped || 0) + (b.dead || 0), 0);
  const lost = [[lostOf(true), "message"], [lostOf(false), "sample"]].filter(([count]) => count).map(([count, word]) => plural(count, word)).join(", ");
  const late = monitor.delay > 1000;
  say($("health"), store.isStale ? "" : late ? "monitor " + inSeconds(monitor.delay) + " late: stalls may be its own" : lost ? lost + " lost" : store.latest ? "monitor ok" : "");
  $("health").className = late || lost ? "trouble" : "";
}

function drawEmpty() {
  const box = $("empty"), isEmpty = store.latest > 0 && !store.names.length;
  box.hidden = !isEmpty;
  $("table").hidden = document.querySelector(".tools").hidden = isEmpty;
  if (!isEmpty || box.firstChild) return;
  if (store.source) { box.append(...explainPlaces()); return; }
  const file = "streams:\n  - name: news\n    url: https://cdn.example/news.m3u8\n    continuous: true\n";
  const command = "player-monitor watch --check monitor.yaml\nplayer-monitor watch --listen 127.0.0.1:9464 monitor.yaml";
  box.append(el("h2", "No stream is configured"), el("p", "Add a stream to the configuration, for example monitor.yaml:"), code(file),
    el("p", "Check the file and start the monitor. A monitor that runs reads the file again once it changes."), code(command));
}
/** A text to copy. */
function code(text) {
  const pre = el("pre", text);
  pre.tabIndex = 0;
  return el("div", null, "code", pre, button("Copy", () => copy(text)));
}
