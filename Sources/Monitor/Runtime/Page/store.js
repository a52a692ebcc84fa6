// What the page knows of the monitor.

/** The states by severity: the word, the sign, the class. */
const states = {
  down: { rank: 0, sign: "■", tone: "down" },
  stalled: { rank: 1, sign: "▮", tone: "stall" },
  impaired: { rank: 2, sign: "▲", tone: "stall" },
  unknown: { rank: 3, sign: "?", tone: "idle" },
  starting: { rank: 4, sign: "…", tone: "idle" },
  playing: { rank: 5, sign: "▶", tone: "ok" },
  waiting: { rank: 6, sign: "○", tone: "idle" },
  stopped: { rank: 7, sign: "□", tone: "idle" },
};
const otherState = { rank: 5, sign: "·", tone: "idle" };

const store = {
  rows: new Map(),
  /** The names in the order of the configuration. */
  names: [],
  incidents: [],
  silences: [],
  /** Planned work: begun by a person, planned, or a window of the configuration that is open. */
  maintenance: [],
  objectives: [],
  backends: [],
  /** The places whose monitors send samples, and the source of the samples; none for a monitor that plays itself. */
  places: [],
  source: null,
  /** The rows of each stream in its places, once they are asked for after a document. */
  origins: null,
  monitor: {},
  /** The share of the day in which the streams were up; null if nothing is known yet. */
  upToday: null,
  role: "",
  /** When the latest document arrived, and how far the monitor's clock is ahead of this one. */
  latest: 0,
  ahead: 0,
  isStale: false,
};

/** The monitor's time; stands still while nothing arrives. */
const now = () => (store.isStale ? store.latest : Date.now()) + store.ahead;

const lookOf = row => states[row.state] || otherState;

/** Takes a document: the whole state, or an update. Returns the names of the streams that changed. */
function take(document, isWhole) {
  store.latest = Date.now();
  const time = Date.parse(document.time);
  if (!isNaN(time)) store.ahead = time - store.latest;
  const streams = document.streams || [];
  store.origins = null;
  if (isWhole) {
    store.rows = new Map(streams.map(row => [row.name, row]));
    store.names = streams.map(row => row.name);
  } else {
    for (const row of streams) {
      if (!store.rows.has(row.name)) store.names.push(row.name);
      store.rows.set(row.name, row);
    }
  }
  for (const key of ["incidents", "silences", "maintenance", "objectives", "backends", "places", "source", "monitor", "role", "upToday"]) if (document[key] !== undefined) store[key] = document[key];
  return streams.map(row => row.name);
}

/** How urgent an incident is; 0 first. */
const urgency = { critical: 0, warning: 1, info: 2 };
const isOpen = incident => incident.state !== "closed";
const isQuiet = incident => incident.state === "silenced" || incident.state === "maintenance";

/** The incidents: open ones first, by urgency and age. */
function incidentsInOrder() {
  return [...store.incidents].sort((a, b) => isOpen(b) - isOpen(a) || isQuiet(a) - isQuiet(b)
    || (urgency[a.severity] ?? 1) - (urgency[b.severity] ?? 1) || (a.since < b.since ? -1 : a.since > b.since ? 1 : 0));
}
const incidentsOf = name => store.incidents.filter(incident => isOpen(incident) && (incident.streams || []).includes(name));

/** What keeps a stream from playing, in short. */
function reasonOf(row) {
  const parts = [], cause = row.cause;
  if (cause) {
    parts.push(cause.status && cause.resource ? cause.status + " " + cause.resource : cause.title);
  } else {
    if (row.broken?.length) parts.push(row.broken.join(", "));
    if (row.up === false && row.error) parts.push(row.error.code);
  }
  const next = Date.parse(row.nextTry) - now();
  if (next > 0 && row.state !== "waiting") parts.push("next try " + duration(next));
  return parts.join(" · ");
}

/** The state in words: with its duration, or until when it waits. */
function stateText(row) {
  const state = row.state, next = Date.parse(row.nextTry) - now();
  if (state === "waiting" && next > 0) return ["next in ", duration(next)];
  const since = now() - Date.parse(row.stateSince || "");
  return [state, state !== "playing" && since >= 0 ? duration(since) : ""];
}

/** The text that a filter looks at. */
const textOf = row => [row.name, row.title, row.state, ...Object.entries(row.labels || {}).map(([key, value]) => key + "=" + value),
  ...(row.broken || []), row.cause?.title, row.cause?.host, row.cause?.text, row.up === false ? row.error?.code : ""].filter(Boolean).join("\n").toLowerCase();
