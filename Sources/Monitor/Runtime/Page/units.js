// Figures as text. A column has one unit, so that figures stand under one another.

const dash = "–";
const fixed = (value, digits, unit) => value === null || value === undefined ? dash : value.toFixed(digits) + " " + unit;

/** Milliseconds in milliseconds. */
const inMilliseconds = ms => ms === null || ms === undefined ? dash : String(Math.round(ms)).replace(/\B(?=(\d{3})+$)/g, " ") + " ms";
/** Milliseconds in seconds. */
const inSeconds = ms => ms === null || ms === undefined ? dash : fixed(ms / 1000, 1, "s");
/** A share in percent. */
const inPercent = share => share === null || share === undefined ? dash : fixed(share * 100, 2, "%");
/** bit/s in Mbit/s. */
const inMegabits = bits => bits === null || bits === undefined ? dash : fixed(bits / 1e6, 2, "Mbit/s");

/** A size in bytes. */
function size(bytes) {
  if (bytes === null || bytes === undefined) return dash;
  if (bytes < 1000) return bytes + " B";
  return bytes < 1e6 ? (bytes / 1e3).toFixed(bytes < 1e4 ? 1 : 0) + " kB" : (bytes / 1e6).toFixed(1) + " MB";
}

/** A short time: milliseconds below a second. */
const span = ms => ms < 1000 ? Math.round(ms) + " ms" : ms < 6e4 ? (ms / 1000).toFixed(1) + " s" : duration(ms);

/** How long something lasts. */
function duration(ms) {
  const seconds = Math.max(0, Math.round(ms / 1000)), minutes = Math.floor(seconds / 60), hours = Math.floor(minutes / 60);
  if (seconds < 60) return seconds + " s";
  if (minutes < 60) return minutes + " min";
  if (hours < 24) return hours + " h" + (minutes % 60 ? " " + minutes % 60 + " min" : "");
  return Math.floor(hours / 24) + " d" + (hours % 24 ? " " + hours % 24 + " h" : "");
}

const plural = (count, word) => count + " " + word + (count === 1 ? "" : "s");

/** A time of day in UTC, with the date if it is another day than that of `now`. */
function clock(time, now, precision = 19) {
  const date = new Date(time);
  if (isNaN(date)) return dash;
  const text = date.toISOString();
  return text.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? text.slice(11, precision) : text.slice(0, precision).replace("T", " ");
}

/** A time element in UTC. */
function timeOf(time, now) {
  const element = el("time", clock(time, now)), date = new Date(time);
  if (!isNaN(date)) element.dateTime = date.toISOString();
  return element;
}
/** The hint of a time is the local time. The first text of a locale takes the browser longer than the first picture of the page. */
document.addEventListener("pointerover", event => {
  const time = event.target.closest("time");
  if (time?.dateTime) mark(time, "title", new Date(time.dateTime).toLocaleString(undefined, { timeZoneName: "short" }) + " local");
});
