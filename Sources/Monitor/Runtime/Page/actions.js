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

function askSilence(title, labels) {
  const text = Object.entries(labels).map(([label, value]) => label + "=" + value).join("\n");
  ask("Silence: " + title, [{ key: "matchers", title: "Streams whose labels are (one label=value a line)", value: text, isLong: true, isRequired: true },
    { key: "for", title: "For", choices: times, value: "1h" }, who(), { key: "reason", title: "Reason", isRequired: true }], async values => {
    const matchers = [];
    for (const line of values.matchers.split("\n").map(line => line.trim()).filter(Boolean)) {
      const match = /^([^=~]+)(=~?)(.*)$/.exec(line);
      if (!match) return { text: "A line must be label=value or label=~pattern (found '" + line + "')." };
      matchers.push({ label: match[1].trim(), value: match[3].trim(), ...(match[2] === "=~" ? { isRegex: true } : {}) });
    }
    person = values.by;
    return act("/api/silences", { matchers, for: values.for, by: values.by, reason: values.reason }, "Silenced.");
  });
}
const silenceLabels = incident => Object.keys(incident.labels || {}).length ? incident.labels : { stream: (incident.streams || [""])[0] };

/** The buttons of an incident. */
function drawActions(parent, incident, isShort) {
  const may = store.role === "act" && isOpen(incident), path = "/api/incidents/" + encodeURIComponent(incident.id);
  const items = [];
  if (may && incident.state === "open") items.push(["Acknowledge", () => askAcknowledge(incident)]);
  if (may && !isQuiet(incident) && !(isShort && incident.state !== "open")) items.push(["Silence…", () => askSilence(incident.title, silenceLabels(incident))]);
  if (may && incident.state === "acknowledged" && !isShort) items.push(["Release", () => act(path + "/release", {}, "Released.")]);
  if (may && !isShort) items.push(["Close the incident", () => act(path + "/close", {}, "Closed.")]);
  keyed(parent, items, item => item[0], item => button(item[0]), (element, item) => { element.onclick = item[1]; mark(element, "aria-label", item[0] + ": " + incident.title); });
}
