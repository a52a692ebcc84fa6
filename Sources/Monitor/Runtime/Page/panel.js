// The panel at the side: one stream, or one incident.

const panel = { stream: null, incident: null, other: null, span: spans[0], detail: null, otherDetail: null, parts: null, key: "", timer: 0, returning: null };

/** The address of a state of the page, after `#`. */
function address(changes) {
  const values = { stream: panel.stream, incident: panel.incident, compare: panel.other, ...changes };
  return "#" + new URLSearchParams(Object.entries(values).filter(([, value]) => value));
}

function title(text, aside) { return el("h3", text, "", aside || null); }

/** The skeleton of a stream's panel; `drawStream` fills it. */
function buildStream() {
  const parts = { name: el("h2"), labels: el("p", null, "dim wrap"), cause: el("div", null, "cause"), acts: el("div", null, "acts"), incidents: el("div", null, "links"), hiding: el("div", null, "hiding"),
    siblings: el("div", null, "siblings"), urgent: el("div", null, "findings"), findings: el("div", null, "findings"), facts: el("dl", null, "facts"), log: el("ol", null, "log"), compare: el("select"), curl: null };
  parts.causeTitle = parts.cause.appendChild(el("strong"));
  parts.causeText = parts.cause.appendChild(el("span"));
  parts.waterfall = makeWaterfall(time => parts.timeline.show(time));
  parts.timeline = makeTimeline(time => parts.waterfall.show(time));
  const close = button("Close", shut, "close");
  const lengths = el("span", null, "switch");
  lengths.setAttribute("role", "group");
  lengths.setAttribute("aria-label", "Length of the time axis");
  parts.spans = spans.map(axis => {
    const part = button(axis.title, () => { panel.span = axis; drawPanel(); readDetail(); });
    lengths.append(part);
    part.axis = axis;
    return part;
  });
  parts.compare.setAttribute("aria-label", "Compare with another stream");
  parts.compare.onchange = () => { location.hash = address({ compare: parts.compare.value }); };
  parts.acknowledge = el("span", null, "acts");
  parts.tryNow = button("Try now", () => act("/api/try?name=" + encodeURIComponent(panel.stream), {}, "A session starts now."));
  parts.checkNow = button("Check now", () => act("/api/check?name=" + encodeURIComponent(panel.stream), {}, "The check starts now; what it finds appears under Findings."));
  parts.silence = button("Silence…", () => askSilence(panel.stream, { stream: panel.stream }));
  parts.maintain = button("Maintenance…", () => askMaintenance(panel.stream, { stream: panel.stream }));
  parts.curl = button("as curl", () => panel.detail?.address && copy(asCurl(panel.detail.address)));
  parts.har = button("as HAR", () => panel.detail && save(panel.detail.name + ".har", JSON.stringify(archiveOf(panel.detail), null, 1), "application/json"));
  parts.acts.append(parts.acknowledge, parts.tryNow, parts.checkNow, parts.silence, parts.maintain, parts.curl, parts.har, parts.compare);
  parts.requestTitle = title("Requests", el("span", "waiting and receiving, UTC"));
  parts.siblingTitle = title("Places", el("span", "last 30 min"));
  [parts.urgentTitle, parts.findingTitle] = [title("Findings now"), title("Findings")];
  parts.logTitle = title("Events", el("span", "UTC"));
  $("panel").replaceChildren(el("div", null, "top", parts.name, close), parts.labels, parts.cause, parts.incidents, parts.hiding, parts.acts,
    parts.siblingTitle, parts.siblings, parts.urgentTitle, parts.urgent, title("Course", lengths), parts.timeline.box, parts.requestTitle, parts.waterfall.box, parts.findingTitle, parts.findings, title("Session"), parts.facts, parts.logTitle, parts.log);
  panel.parts = parts;
}

function drawStream() {
  const parts = panel.parts, row = store.rows.get(panel.stream), detail = panel.detail?.name === panel.stream ? panel.detail : null, known = detail || row;
  say(parts.name, panel.stream);
  if (!known) {
    parts.cause.hidden = false;
    dress(parts.cause, "cause idle");
    say(parts.causeTitle, store.latest ? "No stream has this name" : "");
    say(parts.causeText, store.latest ? "The configuration has no stream of this name; it may have been removed." : "");
    return;
  }
  const cause = known.cause, [word, time] = stateText(row || known), tone = lookOf(row || known).tone;
  const labels = Object.entries(known.labels || {}).map(([key, value]) => key + "=" + value);
  say(parts.labels, [known.title && known.title !== known.name ? known.title : "", ...labels, known.address, known.place ? "played by the monitor of " + known.place : ""].filter(Boolean).join(" · "));
  parts.siblingTitle.hidden = !drawSiblings(parts.siblings, row);
  parts.cause.hidden = false;
  dress(parts.cause, "cause " + tone);
  say(parts.causeTitle, (cause ? cause.title + " since " + clock(cause.since, now()) + " UTC" : (word.trim() + " " + time).trim()));
  const next = Date.parse((row || known).nextTry) - now();
  say(parts.causeText, [cause ? word.trim() + (time ? " " + time : "") + "." : "", cause?.text || (known.up === false && known.error ? known.error.message || known.error.code : "")
    || (known.broken?.length ? "Broken rules: " + known.broken.join(", ") + "." : ""), next > 0 && word !== "next in " ? "Next try in " + duration(next) + "." : ""].filter(Boolean).join(" "));
  const own = incidentsOf(panel.stream), may = store.role === "act";
  keyed(parts.incidents, own, incident => incident.id, incident => { const link = el("a"); link.href = address({ stream: null, compare: null, incident: incident.id }); return link; },
    (link, incident) => say(link, "Incident: " + incident.title + (holder(incident) ? " (" + holder(incident) + ")" : "")));
  const free = own.find(incident => incident.state === "open");
  keyed(parts.acknowledge, may && free ? [free] : [], incident => incident.id, incident => button("Acknowledge", () => askAcknowledge(incident), "primary"));
  parts.silence.hidden = parts.maintain.hidden = !may;
  drawHidings(parts.hiding, "", detail?.hiding || [], may);
  // The monitor of the place plays the stream.
  parts.tryNow.hidden = parts.checkNow.hidden = !may || !!known.place;
  parts.checkNow.disabled = !!detail?.checking;
  say(parts.checkNow, detail?.checking ? "Checking…" : "Check now");
  parts.curl.hidden = !known.address;
  // The stream in other places is what one compares with first.
  const siblings = siblingsOf(row).map(sibling => sibling.name), names = [...siblings, ...store.names.filter(name => !siblings.includes(name))].filter(name => name !== panel.stream);
  if (parts.compare.count !== names.length || parts.compare.of !== panel.stream) {
    parts.compare.count = names.length;
    parts.compare.of = panel.stream;
    parts.compare.replaceChildren(...[["", "Compare…"], [yesterday, "with yesterday"], ...names.map(name => [name, name])].map(([value, text]) => { const option = el("option", text); option.value = value; return option; }));
  }
  if (parts.compare.value !== (panel.other || "")) parts.compare.value = panel.other || "";
  for (const part of parts.spans) mark(part, "aria-pressed", part.axis === panel.span);
  if (!detail) return;
  const other = panel.other === yesterday ? { ...detail, shift: 864e5 } : panel.otherDetail?.name === panel.other ? panel.otherDetail : null;
  parts.timeline.draw(detail, other, panel.span);
  const hasRequests = detail.requests?.length > 0;
  parts.requestTitle.hidden = parts.waterfall.box.hidden = parts.har.hidden = !hasRequests;
  if (hasRequests) parts.waterfall.draw(detail);
  // What viewers see and hear, and the cause, come before everything else; rules may be broken for months.
  const checks = detail.checks || [], isUrgent = check => check.broken && (mediaFindings[check.rule] || check.rule === cause?.rule);
  const urgent = checks.filter(isUrgent), others = checks.filter(check => !isUrgent(check));
  parts.urgentTitle.hidden = !urgent.length;
  parts.findingTitle.hidden = !others.length;
  say(parts.findingTitle, urgent.length ? "Other findings" : "Findings");
  drawFindings(parts.urgent, urgent);
  drawFindings(parts.findings, others);
  const facts = [["Up today", share(detail.upToday)], ["Start", inMilliseconds(detail.startup)], ["Stalls", plural(detail.rebuffers, "stall") + ", " + span(detail.rebuffering || 0) + " of " + duration((detail.playing || 0) + (detail.rebuffering || 0))],
    ["Bitrate", inMegabits(detail.bitrate)], ["Behind live", inSeconds(detail.latency)], ["Buffer", inSeconds(detail.buffer)], ["Sessions", detail.sessions === undefined ? dash : plural(detail.sessions, "session") + ", " + plural(detail.errors || 0, "error")],
    ["Playlist unchanged for", detail.age === undefined ? dash : duration(detail.age)], ["Loudness", detail.loudness === undefined ? dash : detail.loudness.toFixed(1) + " LUFS"]].filter(([, text]) => text !== dash);
  keyed(parts.facts, facts.flatMap(([key, text]) => [{ key, tag: "dt", text: key }, { key: key + " ", tag: "dd", text }]), fact => fact.key, fact => el(fact.tag), (element, fact) => say(element, fact.text));
  const log = [...(detail.log || [])].reverse();
  parts.logTitle.hidden = !log.length;
  drawLog(parts.log, log);
}

/** What viewers see and hear, in words. */
const mediaFindings = { black: "Black picture", freeze: "Frozen picture", silence: "Silence" };

function drawFindings(parent, checks) {
  const list = [...checks].sort((a, b) => b.broken - a.broken);
  keyed(parent, list, check => check.rule, () => {
    const item = el("div", null, "finding");
    item.parts = { head: el("strong"), text: el("p"), evidence: el("div", null, "evidence") };
    item.append(item.parts.head, item.parts.text, item.parts.evidence);
    return item;
  }, (item, check) => {
    dress(item, "finding " + (check.broken ? "broken" : "kept"));
    const medium = mediaFindings[check.rule], length = duration(now() - Date.parse(check.since)), time = clock(check.since, now()) + " UTC";
    say(item.parts.head, check.broken ? (medium || check.rule + " broken") + " for " + length : medium ? medium + " until " + time : check.rule + " kept since " + time);
    say(item.parts.text, (check.broken ? "" : "Before: ") + check.message);
    drawEvidence(item.parts.evidence, check.evidence || []);
  });
}

/** Reads a piece of evidence of this monitor. */
async function readEvidence(piece) {
  const answer = await fetch(piece.href, { headers: headers() });
  if (!answer.ok) throw new Error((await answer.text()).slice(0, 300) || "status " + answer.status);
  return answer;
}

const evidenceKinds = { picture: "Picture", playlist: "Playlist", segment: "Segment", request: "Request" };

/** The evidence of a finding or an incident: of this monitor only. Pictures are shown, texts open, segments are saved. */
function drawEvidence(parent, list, namesStreams) {
  keyed(parent, list.filter(piece => new URL(piece.href, location.href).origin === location.origin), piece => piece.id, piece => {
    const label = (evidenceKinds[piece.kind] || piece.kind) + (namesStreams && piece.stream ? " of " + piece.stream : "") + " at " + clock(piece.time, now()) + " UTC";
    const item = el("div", null, "piece " + piece.kind), text = el("span", piece.text, "wrap");
    const attempt = async work => {
      try { await work(); } catch (error) { tell("The evidence could not be read: " + error.message, true); }
    };
    if (piece.kind === "picture") {
      const image = el("img");
      image.alt = label + ": " + (piece.text || "without a description");
      // The monitor has encoded it; a blob of this type is never a page.
      readEvidence(piece).then(answer => answer.blob()).then(content => { image.src = URL.createObjectURL(new Blob([content], { type: "image/jpeg" })); }, error => { text.textContent = "The picture could not be read: " + error.message; });
      image.onload = () => URL.revokeObjectURL(image.src);
      item.append(image, el("strong", label), text);
    } else if (piece.kind === "segment") {
      item.append(el("strong", label), text, button("Download segment", () => attempt(async () => {
        const answer = await readEvidence(piece), name = /filename="([\w.-]+)"/.exec(answer.headers.get("Content-Disposition") || "");
        save(name ? name[1] : piece.id + ".bin", await answer.blob());
      })));
    } else {
      const content = el("pre");
      content.tabIndex = 0;
      content.hidden = true;
      mark(content, "aria-label", label);
      const words = piece.kind === "request" ? "requests as HAR" : "playlist";
      const open = button("Show " + words, () => attempt(async () => {
        if (content.hidden && !content.textContent) content.textContent = (await (await readEvidence(piece)).text()).slice(0, 200000) || "(empty)";
        content.hidden = !content.hidden;
        mark(open, "aria-expanded", !content.hidden);
        say(open, (content.hidden ? "Show " : "Hide ") + words);
      }));
      mark(open, "aria-expanded", false);
      const command = piece.kind === "request" && piece.text ? button("Copy as curl", () => copy(piece.text)) : "";
      item.append(el("strong", label), text, open, command, content);
    }
    return item;
  });
}

function buildIncident() {
  const parts = { name: el("h2"), text: el("div", null, "cause"), acts: el("div", null, "acts"), facts: el("dl", null, "facts"), placeTitle: title("Places"), places: el("ul", null, "scope"), streams: el("div", null, "links"), streamTitle: title("Streams"), changeTitle: title("What changed before", el("span", "UTC")), changes: el("ol", null, "log"), evidenceTitle: title("Evidence"), evidence: el("div", null, "evidence"), logTitle: title("Log", el("span", "UTC")), log: el("ol", null, "log") };
  parts.causeTitle = parts.text.appendChild(el("strong"));
  parts.causeText = parts.text.appendChild(el("span"));
  $("panel").replaceChildren(el("div", null, "top", parts.name, button("Close", shut, "close")), parts.text, parts.acts, parts.facts, parts.placeTitle, parts.places, parts.changeTitle, parts.changes, parts.evidenceTitle, parts.evidence, parts.streamTitle, parts.streams, parts.logTitle, parts.log);
  panel.parts = parts;
}

function drawIncident() {
  const parts = panel.parts, incident = store.incidents.find(incident => incident.id === panel.incident);
  say(parts.name, incident ? incident.title : "Incident " + panel.incident);
  parts.text.hidden = parts.acts.hidden = parts.facts.hidden = !incident && store.latest > 0 ? false : !incident;
  if (!incident) { say(parts.causeTitle, store.latest ? "The monitor no longer knows this incident" : ""); return; }
  const end = isOpen(incident) ? now() : Date.parse(incident.ended);
  dress(parts.text, "cause " + (!isOpen(incident) || isQuiet(incident) ? "idle" : incident.severity === "critical" ? "down" : "stall"));
  say(parts.causeTitle, incident.state + " · " + duration(end - Date.parse(incident.since)) + " since " + clock(incident.since, now()) + " UTC");
  say(parts.causeText, incident.text || "");
  drawActions(parts.acts, incident, false);
  const labels = Object.entries(incident.labels || {}).map(([key, value]) => key + "=" + value).join(", ");
  const facts = [["Severity", incident.severity], ["Who has it", holder(incident)], ["Note", incident.note], ["Host", incident.host], ["All have", labels],
    ["Viewer minutes", incident.viewerMinutes === undefined ? "" : String(Math.round(incident.viewerMinutes))], ["Alerts", (incident.alerts || []).join(", ")]].filter(([, text]) => text);
  keyed(parts.facts, facts.flatMap(([key, text]) => [{ key, tag: "dt", text: key }, { key: key + " ", tag: "dd", text }]), fact => fact.key, fact => el(fact.tag), (element, fact) => say(element, fact.text));
  // The list of incidents has a few names and pieces; the incident itself has more, and its log.
  const detail = panel.detail?.id === incident.id ? panel.detail : null;
  const members = detail?.members || (incident.streams || []).map(stream => ({ stream }));
  parts.placeTitle.hidden = !drawScope(parts.places, incident, members);
  parts.streamTitle.hidden = parts.streams.hidden = isOpen(incident) && !members.some(member => store.rows.has(member.stream));
  say(parts.streamTitle.firstChild, incident.streamCount === 0 ? "In trouble" : plural(incident.streamCount ?? members.length, "stream"));
  keyed(parts.streams, members, member => member.stream, member => { const link = el("a"); link.href = address({ incident: null, stream: member.stream }); return link; }, (link, member) => {
    const row = store.rows.get(member.stream);
    const course = member.ended ? "recovered at " + clock(member.ended, now()) + " UTC after " + duration(Date.parse(member.ended) - Date.parse(member.since))
      : member.muted ? member.muted : row ? stateText(row).join(" ").trim() : "";
    say(link, [(row ? lookOf(row).sign + " " : "") + member.stream, course].filter(Boolean).join(" · "));
    mark(link, "title", member.address || null);
  });
  const changes = detail?.changes || incident.changes || [];
  parts.changeTitle.hidden = !changes.length;
  drawLog(parts.changes, changes.map(change => ({ time: change.time, kind: "change", text: change.text + (change.streams > 1 ? " (" + plural(change.streams, "stream") + ")" : "") })));
  const evidence = detail?.evidence || incident.evidence || [];
  parts.evidenceTitle.hidden = !evidence.length;
  drawEvidence(parts.evidence, evidence, incident.streamCount > 1);
  const log = [...(detail?.log || [])].reverse();
  parts.logTitle.hidden = !log.length;
  drawLog(parts.log, log);
}

/** Entries of a log, the latest first. */
function drawLog(parent, log) {
  const counts = new Map();
  keyed(parent, log.map(entry => { const key = entry.time + entry.text, count = counts.get(key) || 0; counts.set(key, count + 1); return { ...entry, key: key + count }; }), entry => entry.key,
    entry => el("li", null, entry.kind === "error" || entry.kind === "alert" ? "bad" : entry.kind === "stall" || entry.kind === "check" ? "warn" : "", timeOf(entry.time, now()), el("span", entry.text)));
}

function drawPanel() {
  const key = panel.stream ? "stream " + panel.stream : panel.incident ? "incident " + panel.incident : "";
  const isNew = key !== panel.key;
  panel.key = key;
  $("panel").hidden = !key;
  document.body.classList.toggle("open", !!key);
  if (!key) return;
  mark($("panel"), "aria-label", panel.stream || "Incident");
  if (isNew && panel.stream) buildStream();
  if (isNew && panel.incident && !panel.stream) buildIncident();
  if (panel.stream) drawStream(); else drawIncident();
}

/** Reads the stream or the incident of the panel from the monitor, and again after a while. */
async function readDetail() {
  clearTimeout(panel.timer);
  const [name, other, incident] = [panel.stream, panel.other, panel.incident];
  if (!name && !incident) return;
  // As much of the history as the axis shows, and the day before for a comparison with it.
  const axis = panel.span, count = axis.count + (other === yesterday ? 864e5 / axis.step : 0);
  const read = async path => {
    const answer = await fetch(path, { headers: headers() });
    return answer.ok ? answer.json() : null;
  };
  const stream = name => read("/api/stream?" + new URLSearchParams({ name, [axis.member]: count }));
  const isShown = () => panel.stream === name && panel.other === other && panel.incident === incident && panel.span === axis;
  try {
    const [detail, otherDetail] = await Promise.all([name ? stream(name) : read("/api/incidents/" + encodeURIComponent(incident)), name && other && other !== yesterday ? stream(other) : null]);
    if (!isShown()) return;
    [panel.detail, panel.otherDetail] = [detail, otherDetail];
    drawPanel();
  } catch { /* the connection's banner says it */ }
  clearTimeout(panel.timer);
  if (isShown()) panel.timer = setTimeout(readDetail, 2000);
}

/** Closes the panel; its row has the focus then. */
function shut() {
  panel.returning = panel.stream;
  location.hash = "";
}
