// What a person may do: by requests to the monitor, if its role allows them.

let token = "";
const headers = () => token ? { Authorization: "Bearer " + token } : {};

let messageTimer = 0;
/** Shows the outcome of an action. */
function tell(text, isProblem) {
  const message = $("message");
  message.hidden = false;
  say(message, text);
  dress(message, isProblem ? "bad" : "");
  clearTimeout(messageTimer);
  messageTimer = setTimeout(() => { message.hidden = true; }, isProblem ? 15000 : 5000);
}

/** Asks the monitor to do something; a refusal is shown with its words, and returned with its status. */
async function act(path, body, done, method = "POST") {
  try {
    const request = { method, headers: { ...headers(), "Content-Type": "application/json" }, body: JSON.stringify(body ?? {}) };
    const answer = await fetch(path, request);
    if (!answer.ok) throw Object.assign(new Error((await answer.text()).slice(0, 300) || "status " + answer.status), { status: answer.status });
    tell(done);
    refresh();
    return null;
  } catch (error) {
    const text = (error.status ? "The monitor refused: " : "The monitor does not answer: ") + error.message;
    tell(text, true);
    return { text, status: error.status };
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    tell("Copied.");
  } catch {
    // A page without TLS on another host may not write to the clipboard.
    ask("Copy", [{ key: "text", title: "Text", value: text, isLong: true }], null);
  }
}

/** Saves a text or bytes as a file. */
function save(name, content, type) {
  const link = el("a");
  link.href = URL.createObjectURL(content instanceof Blob ? content : new Blob([content], { type }));
  link.download = name.replace(/[^\w.-]+/g, "_").slice(0, 80);
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}

/** Saves the report of the month: a link sends no token. */
async function saveMonth() {
  try {
    const answer = await fetch("/month", { headers: headers() });
    if (!answer.ok) throw new Error("status " + answer.status);
    save("month.html", await answer.blob(), "text/html");
  } catch (error) {
    tell("The monitor does not answer: " + error.message, true);
  }
}

/** Reads who did what, the latest first. */
async function readAudit() {
  try {
    const answer = await fetch("/api/audit", { headers: headers() });
    if (!answer.ok) throw new Error((await answer.text()).slice(0, 300) || "status " + answer.status);
    const entries = (await answer.json()).audit.map(entry => ({ ...entry, kind: "audit", text: [entry.by || "the monitor", entry.action, entry.target, entry.text].filter(Boolean).join(" · ") }));
    drawLog($("audit").lastElementChild, entries.length ? entries : [{ time: now(), kind: "audit", text: "Nobody has done anything yet." }]);
  } catch (error) {
    tell("Who did what could not be read: " + error.message, true);
  }
}

/** Asks for some values, and gives them to `send`, which returns what went wrong, with its text. */
function ask(title, fields, send) {
  const dialog = $("dialog"), form = dialog.querySelector("form");
  say($("dialogtitle"), title);
  const inputs = fields.map(field => {
    const input = el(field.choices ? "select" : field.isLong ? "textarea" : "input");
    if (field.choices) for (const [value, text] of field.choices) { const option = el("option", text); option.value = value; input.append(option); }
    input.id = "field-" + field.key;
    input.value = field.value ?? (field.choices ? field.choices[0][0] : "");
    input.required = !!field.isRequired;
    if (field.isLong) input.rows = 4;
    if (field.type) input.type = field.type;
    const label = el("label", field.title);
    label.htmlFor = input.id;
    return [label, input];
  });
  $("fields").replaceChildren(...inputs.flat());
  $("dialogerror").hidden = true;
  form.querySelector(".primary").hidden = !send;
  form.querySelector("[data-cancel]").onclick = () => dialog.close();
  form.onsubmit = async event => {
    event.preventDefault();
    const values = Object.fromEntries(fields.map((field, index) => [field.key, inputs[index][1].value.trim()]));
    const problem = await send?.(values);
    if (problem) { say($("dialogerror"), problem.text); $("dialogerror").hidden = false; } else dialog.close();
  };
  dialog.showModal();
}

const times = [["30m", "30 minutes"], ["1h", "1 hour"], ["4h", "4 hours"], ["1d", "1 day"], ["7d", "7 days"]];
let person = "";
const who = () => ({ key: "by", title: "Your name", value: person, isRequired: true });

function askAcknowledge(incident) {
  ask("Acknowledge: " + incident.title, [who(), { key: "for", title: "For", choices: times, value: "1h" }, { key: "note", title: "Note" }], values => {
    person = values.by;
    return act("/api/incidents/" + encodeURIComponent(incident.id) + "/acknowledge", values, "Acknowledged.");
  });
}

const textOfLabels = labels => Object.entries(labels).map(([label, value]) => label + "=" + value).join("\n");

/** Reads matchers, one a line; a line of another form is returned as a problem. */
function readMatchers(text) {
  const matchers = [];
  for (const line of text.split("\n").map(line => line.trim()).filter(Boolean)) {
    const match = /^([^=~]+)(=~?)(.*)$/.exec(line);
    if (!match) return { problem: { text: "A line must be label=value or label=~pattern (found '" + line + "')." } };
    matchers.push({ label: match[1].trim(), value: match[3].trim(), ...(match[2] === "=~" ? { isRegex: true } : {}) });
  }
  return { matchers };
}

function askSilence(title, labels) {
  ask("Silence: " + title, [{ key: "matchers", title: "Streams whose labels are (one label=value a line)", value: textOfLabels(labels), isLong: true, isRequired: true },
    { key: "for", title: "For", choices: times, value: "1h" }, who(), { key: "reason", title: "Reason", isRequired: true }], async values => {
    const { matchers, problem } = readMatchers(values.matchers);
    if (problem) return problem;
    person = values.by;
    return act("/api/silences", { matchers, for: values.for, by: values.by, reason: values.reason }, "Silenced.");
  });
}

/** Begins planned work, now or later. */
function askMaintenance(title, labels) {
  ask("Maintenance" + (title ? ": " + title : ""), [{ key: "name", title: "What the work is", isRequired: true },
    { key: "matchers", title: "Streams whose labels are (one label=value a line; without a line, all streams)", value: textOfLabels(labels), isLong: true },
    { key: "begin", title: "Begin in UTC (empty: now)", type: "datetime-local" }, { key: "for", title: "For", choices: times, value: "1h" }, who()], async values => {
    const { matchers, problem } = readMatchers(values.matchers);
    if (problem) return problem;
    const begin = values.begin ? new Date(values.begin + "Z") : null;
    if (begin && isNaN(begin)) return { text: "The begin must be a time such as 2026-12-01 16:00." };
    person = values.by;
    return act("/api/maintenance", { name: values.name, for: values.for, by: values.by, ...(matchers.length ? { matchers } : {}), ...(begin ? { begin: begin.toISOString() } : {}) },
      begin && begin > now() ? "The maintenance is planned." : "The maintenance has begun.");
  });
}

/** Ends a silence, or planned work. */
const endHiding = (id, isWork) => act("/api/" + (isWork ? "maintenance" : "silences") + "/" + encodeURIComponent(id), undefined, isWork ? "The maintenance has ended." : "The silence has ended.", "DELETE");
const silenceLabels = incident => Object.keys(incident.labels || {}).length ? incident.labels : { stream: (incident.streams || [""])[0] };

/** The buttons of an incident. */
function drawActions(parent, incident, isShort) {
  const may = store.role === "act" && isOpen(incident), path = "/api/incidents/" + encodeURIComponent(incident.id);
  const items = [];
  if (may && incident.state === "open") items.push(["Acknowledge", () => askAcknowledge(incident)]);
  if (may && !isQuiet(incident) && !(isShort && incident.state !== "open")) items.push(["Silence…", () => askSilence(incident.title, silenceLabels(incident))]);
  if (may && !isQuiet(incident) && !isShort) items.push(["Maintenance…", () => askMaintenance(incident.title, silenceLabels(incident))]);
  if (may && isQuiet(incident) && incident.hiddenBy && !isShort) items.push([incident.state === "maintenance" ? "End the maintenance" : "End the silence", () => endHiding(incident.hiddenBy, incident.state === "maintenance")]);
  if (may && incident.state === "acknowledged" && !isShort) items.push(["Release", () => act(path + "/release", {}, "Released.")]);
  if (may && !isShort) items.push(["Close the incident", () => act(path + "/close", {}, "Closed.")]);
  keyed(parent, items, item => item[0], item => button(item[0]), (element, item) => { element.onclick = item[1]; mark(element, "aria-label", item[0] + ": " + incident.title); });
}
