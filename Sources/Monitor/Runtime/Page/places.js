// The places whose monitors play the streams: what differs between them.

/** The choice of a group for each stream, with its places in it; no label has this name. */
const byStream = ":stream";
const hasPlaces = () => store.places.length > 0;

/** How a row is called in its group, which has the rest of its name. */
const nameIn = row => !row.place ? row.name : choices.group === byStream ? row.place : choices.group === "location" ? row.origin : row.name;

/** Names as a part of a sentence. */
function listOf(names) {
  if (names.length < 2) return names[0] ?? "";
  return names.length > 4 ? names.slice(0, 3).join(", ") + " and " + (names.length - 3) + " more" : names.slice(0, -1).join(", ") + " and " + names.at(-1);
}

/** The rows of each stream, a row for each place, sorted by place. */
function rowsByStream() {
  if (store.origins) return store.origins;
  const groups = new Map();
  for (const row of store.rows.values()) {
    const key = row.origin ?? row.name;
    if (groups.has(key)) groups.get(key).push(row); else groups.set(key, [row]);
  }
  for (const rows of groups.values()) rows.sort((a, b) => (a.place ?? "") < (b.place ?? "") ? -1 : 1);
  store.origins = groups;
  return groups;
}

/** The rows of a stream in all of its places. */
const siblingsOf = row => row?.origin === undefined ? [] : rowsByStream().get(row.origin) || [];

/** Whether all places of a stream have a label, with the same value. */
const isShared = (rows, key, value) => rows.length > 1 && rows.every(row => row.labels?.[key] === value);

/** What the places see of one stream, in words: `down from oslo · playing from paris and rome`. */
function scopeOf(rows) {
  const states = new Map();
  for (const row of [...rows].sort((a, b) => lookOf(a).rank - lookOf(b).rank)) {
    const word = row.state === "unknown" ? "nothing known" : row.state;
    if (states.has(word)) states.get(word).push(row.place); else states.set(word, [row.place]);
  }
  return [...states].map(([word, places]) => states.size > 1 || rows.length < 2 ? word + " from " + listOf(places) : word + " everywhere (" + plural(rows.length, "place") + ")").join(" · ");
}

/** The places, each with what is down there; a click lists the streams of one place. */
function drawPlaces() {
  $("places").hidden = !hasPlaces();
  keyed($("places"), store.places, place => place.name, place => {
    const chip = button(null, () => {
      choices.place = choices.place === place.name ? "" : place.name;
      draw();
      arrange();
    }, "place");
    chip.append(el("i"), el("b", place.name), el("span"));
    return chip;
  }, (chip, place) => {
    const age = now() - Date.parse(place.latest), isSilent = place.state === "silent";
    dress(chip, "place " + (isSilent ? "idle" : place.down ? "down" : "ok"));
    mark(chip, "aria-pressed", choices.place === place.name);
    say(chip.children[0], isSilent ? "?" : place.down ? states.down.sign : states.playing.sign);
    say(chip.children[2], isSilent ? "silent for " + duration(age) : place.down ? place.down + " of " + plural(place.streams, "stream") + " down" : plural(place.streams, "stream"));
    mark(chip, "title", "latest sample at " + clock(place.latest, now()) + " UTC");
  });
}

/** The banner of a source of samples that cannot be read, or that is not read to its end yet. */
function drawSource() {
  const source = store.source, banner = $("source"), hasFailed = !!source?.failure;
  banner.hidden = !source || (!hasFailed && source.caughtUp !== false);
  if (banner.hidden) return;
  dress(banner, "banner " + (hasFailed ? "bad" : "warn"));
  say(banner, hasFailed ? "The samples of all places cannot be read since " + clock(source.failingSince, now()) + " UTC, and nothing newer is known: " + source.failure
    : "Reading what the places have sent before: the states are of the past until that is done.");
}

/** The stream of the panel as each place sees it. */
function drawSiblings(parent, row) {
  const rows = siblingsOf(row);
  keyed(parent, rows.length > 1 ? rows : [], sibling => sibling.name, sibling => {
    const link = el("a", null, "sibling"), bars = svg("svg", { viewBox: "0 0 156 20", width: 156, height: 14, role: "img", preserveAspectRatio: "none" });
    link.href = address({ stream: sibling.name, compare: null });
    link.parts = { sign: el("span", null, "sign"), place: el("b", sibling.place), state: el("span", null, "state"), figures: el("span", null, "dim"), reason: el("span", null, "reason") };
    mark(link.parts.sign, "aria-hidden", "true");
    link.append(link.parts.sign, link.parts.place, link.parts.state, bars, link.parts.figures, link.parts.reason);
    link.parts.bars = bars;
    return link;
  }, (link, sibling) => {
    const parts = link.parts, look = lookOf(sibling);
    dress(link, "sibling " + look.tone);
    mark(link, "aria-current", sibling.name === panel.stream ? "true" : null);
    say(parts.sign, look.sign);
    say(parts.state, stateText(sibling).join(" ").trim());
    if (sibling.bars) drawBars(parts.bars, sibling.bars);
    say(parts.figures, [sibling.startup === null ? "" : "start " + inMilliseconds(sibling.startup), sibling.rebufferRatio === null ? "" : inPercent(sibling.rebufferRatio) + " stalled"].filter(Boolean).join(" · "));
    say(parts.reason, reasonOf(sibling));
    parts.reason.hidden = !reasonOf(sibling);
  });
  return rows.length > 1;
}

/** What a place sees of an incident: the sign and the words. */
const placeLooks = { failing: { sign: "■", tone: "down", text: "fails" }, fine: { sign: "▶", tone: "ok", text: "does not fail" }, silent: { sign: "?", tone: "idle", text: "nothing is known" } };
const placeLook = place => placeLooks[place.state] || { sign: "·", tone: "idle", text: place.state };
/** Places of an incident that stand in a list; of more, the title has the number. */
const mostChips = 8;

/** The places of an incident as signs beside its name in a list. */
function drawChips(parent, incident) {
  const places = incident.places || [];
  keyed(parent, places.length > 1 && places.length <= mostChips ? places : [], place => place.name, place => el("span", null, "chip", el("i"), document.createTextNode(plain(place.name))), (chip, place) => {
    const look = placeLook(place), text = isOpen(incident) || place.state !== "failing" ? look.text : "failed";
    dress(chip, "chip " + look.tone);
    say(chip.firstChild, look.sign);
    mark(chip.firstChild, "aria-hidden", "true");
    mark(chip, "title", place.name + ": " + text);
  });
  parent.hidden = !parent.known?.size;
}

/** The places of the incident in the panel, with the number of streams that fail from each. */
function drawScope(parent, incident, members) {
  const places = incident.places || [];
  const known = members.filter(member => member.place !== undefined), counts = new Map();
  for (const member of known) if (!member.ended) counts.set(member.place, (counts.get(member.place) || 0) + 1);
  keyed(parent, places, place => place.name, () => el("li", null, "", el("i"), el("b"), el("span")), (item, place) => {
    const look = placeLook(place), count = counts.get(place.name);
    dress(item, look.tone);
    say(item.children[0], look.sign);
    mark(item.children[0], "aria-hidden", "true");
    say(item.children[1], place.name);
    say(item.children[2], place.state !== "failing" ? look.text : !isOpen(incident) ? "failed" : count ? plural(count, "stream") + (count === 1 ? " fails" : " fail") : look.text);
  });
  return places.length > 0;
}

/** What arrived from the places, and what of it was not used. */
function drawSamples() {
  const reasons = refused => Object.entries(refused || {}).filter(([, count]) => count).map(([reason, count]) => count + " " + reason).join(", ") || "0";
  $("samples").hidden = !store.source;
  say($("unused"), store.source ? "Samples of all places that were not used: " + reasons(store.source.refused) : "");
  drawTable($("samplelist"), ["Place", "Streams", "Down", "Latest sample, UTC", "Samples", "Not used"],
    store.places.map(place => [place.name, place.streams, place.down, clock(place.latest, now()), place.samples, reasons(place.refused)]), "No place has sent samples.");
}

/** What a monitor without streams of other places tells. */
function explainPlaces() {
  return [el("h2", "No samples of a stream have arrived"), el("p", "Start a monitor in each place, with the name of the place and with the backend that this monitor reads:"),
    code("player-monitor watch --location oslo --state oslo streams.yaml"),
    el("p", "Each stream appears once its first session begins. Samples that cannot be used are counted under Delivery.")];
}
