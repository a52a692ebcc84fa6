// The course of a stream on one time axis, with a cursor that all lanes share.

const lanes = [
  { key: "buffer", title: "Buffer", value: point => point.buffer / 1000, text: value => fixed(value, 1, "s") },
  { key: "bitrate", title: "Bitrate", value: point => point.bitrate / 1000, text: value => fixed(value, 2, "Mbit/s"), isStep: true },
  { key: "latency", title: "Behind live", value: point => point.latency / 1000, text: value => fixed(value, 1, "s") },
];
/** The lengths of the time axis: the member of a stream with its points, their number, and milliseconds between two marks. */
const spans = [
  { title: "1 h", member: "minutes", step: 6e4, count: 60, every: 9e5 },
  { title: "24 h", member: "quarters", step: 9e5, count: 96, every: 216e5 },
  { title: "14 d", member: "quarters", step: 9e5, count: 1344, every: 3 * 864e5 },
];
/** What a stream is compared with by a name that no stream has: the stream itself, a day before. */
const yesterday = "\0yesterday";
const pointState = point => point.down ? 3 : point.rebuffering || point.impaired ? 2 : point.playing ? 1 : 0;

/** A timeline: `draw` draws it, `onCursor` hears of the cursor's time. */
function makeTimeline(onCursor) {
  const box = el("div", null, "timeline");
  const state = { box, begin: 0, end: 1, cursor: null, draw, show, points: [] };
  const left = 0;
  let width = 380, step = 6e4, line = null, label = null, readings = [];
  box.tabIndex = 0;
  mark(box, "role", "slider");
  mark(box, "aria-label", "Time of the cursor");
  mark(box, "aria-valuemin", 0);
  mark(box, "aria-valuenow", 0);
  mark(box, "aria-valuemax", 100);
  mark(box, "aria-valuetext", "no time chosen");
  const x = time => left + (width - left) * Math.min(1, Math.max(0, (time - state.begin) / (state.end - state.begin)));

  /** @param other Another stream, or the stream itself with `shift` milliseconds by which its points are later than they were. */
  function draw(detail, other, axis) {
    step = axis.step;
    state.end = Math.ceil((now() + 1) / step) * step;
    state.begin = state.end - axis.count * step;
    const within = (points, shift) => (points || []).map(point => shift ? { ...point, minute: point.minute + shift / 6e4 } : point)
      .filter(point => point.minute * 6e4 + step > state.begin && point.minute * 6e4 < state.end);
    state.points = within(detail[axis.member], 0);
    const others = other ? within(other[axis.member], other.shift || 0) : [];
    width = Math.max(240, box.clientWidth || 380);
    readings = [];
    const picture = svg("svg", { width, role: "img" });
    picture.append(svg("title", {}, "Course of the stream"));
    let y = 0;
    const title = (lane, latest) => {
      picture.append(svg("text", { x: 0, y: y + 11, class: "label" }, lane.title));
      const reading = svg("text", { x: width, y: y + 11, class: "label", "text-anchor": "end" }, latest);
      picture.append(reading);
      readings.push({ lane, reading, latest });
      y += 16;
    };
    const strip = points => {
      picture.append(svg("rect", { x: 0, y, width, height: 12, class: "lane" }));
      const paths = ["", "", "", ""];
      for (const point of points) {
        const from = x(point.minute * 6e4), to = x(point.minute * 6e4 + step);
        if (to > from) paths[pointState(point)] += "M" + from.toFixed(1) + " " + y + "H" + (to + 0.3).toFixed(1) + "v12H" + from.toFixed(1) + "z";
      }
      paths.forEach((d, kind) => { if (d && kind) picture.append(svg("path", { d, class: "b" + kind })); });
      y += 16;
    };
    const describe = point => point ? barNames[pointState(point)] : "nothing known";
    title({ title: "State", read: describe }, describe(state.points.at(-1)));
    strip(state.points);
    if (other) {
      title({ title: other.shift ? "State yesterday" : "State of " + other.name, read: time => describe(at(others, time)), isOther: true }, describe(others.at(-1)));
      strip(others);
    }
    for (const lane of lanes) {
      const values = [...state.points, ...others].map(lane.value).filter(value => value > 0);
      if (!values.length) continue;
      const top = Math.max(...values), latest = state.points.at(-1);
      title({ ...lane, read: point => point && lane.value(point) > 0 ? lane.text(lane.value(point)) : dash },
        (latest && lane.value(latest) > 0 ? lane.text(lane.value(latest)) : dash) + " · at most " + lane.text(top));
      const height = 40, base = y + height, level = value => (base - (height - 2) * value / top).toFixed(1);
      picture.append(svg("line", { x1: 0, x2: width, y1: base, y2: base, class: "axis" }));
      for (const [points, name] of [[state.points, ""], [others, " other"]]) {
        let path = "", area = "", isOpen = false, from = 0;
        for (const point of points) {
          const begin = point.minute * 6e4, value = lane.value(point);
          if (begin + step <= state.begin) continue;
          if (!(value > 0)) { if (isOpen) area += "V" + base + "H" + from + "z"; isOpen = false; continue; }
          const [a, b] = [x(begin).toFixed(1), x(begin + step).toFixed(1)];
          if (!isOpen) { path += "M" + a + " " + level(value); area += "M" + a + " " + level(value); from = a; } else { path += "L" + a + " " + level(value); area += "L" + a + " " + level(value); }
          path += "H" + b;
          area += "H" + b;
          isOpen = true;
        }
        if (isOpen) area += "V" + base + "H" + from + "z";
        if (area && !name) picture.append(svg("path", { d: area, class: "area" }));
        if (path) picture.append(svg("path", { d: path, class: "curve" + name }));
      }
      y = base + 6;
    }
    const requests = (detail.requests || []).filter(request => axis.member === "minutes" && beginOf(request) >= state.begin);
    if (requests.length) {
      const failed = requests.filter(request => request.failed).length;
      title({ title: "Requests", read: null }, "latest " + requests.length + (failed ? ", " + failed + " failed" : ""));
      for (const request of requests) {
        picture.append(svg("rect", { x: x(beginOf(request)).toFixed(1), y: request.failed ? y : y + 3, width: 2, height: request.failed ? 12 : 8, class: request.failed ? "b3" : "request" }));
      }
      y += 16;
    }
    picture.append(svg("line", { x1: 0, x2: width, y1: y, y2: y, class: "axis" }));
    const every = axis.every;
    for (let time = Math.ceil(state.begin / every) * every; time <= state.end; time += every) {
      const place = x(time);
      picture.append(svg("line", { x1: place, x2: place, y1: y, y2: y + 4, class: "axis" }));
      picture.append(svg("text", { x: place, y: y + 15, class: "label", "text-anchor": place < 20 ? "start" : place > width - 24 ? "end" : "middle" }, every < 864e5 ? new Date(time).toISOString().slice(11, 16) : new Date(time).toISOString().slice(5, 10)));
    }
    line = svg("line", { y1: 0, y2: y, class: "cursor", visibility: "hidden" });
    label = svg("text", { y: y + 29, class: "label strong", "text-anchor": "middle" }, "UTC");
    label.setAttribute("x", width / 2);
    picture.append(line, label);
    mark(picture, "height", y + 34);
    mark(picture, "viewBox", "0 0 " + width + " " + (y + 34));
    box.replaceChildren(picture);
    state.others = others;
    move();
  }

  const at = (points, time) => points.find(point => point.minute * 6e4 <= time && time < point.minute * 6e4 + step);

  /** Shows the cursor where it is. */
  function move() {
    if (!line) return;
    const isShown = state.cursor !== null && state.cursor >= state.begin && state.cursor <= state.end;
    mark(line, "visibility", isShown ? "visible" : "hidden");
    const point = isShown ? at(state.points, state.cursor) : null, texts = [];
    for (const { lane, reading, latest } of readings) {
      const text = !isShown || !lane.read ? latest : lane.isOther ? lane.read(state.cursor) : lane.read(point);
      say(reading, text);
      if (lane.read) texts.push(lane.title + " " + text);
    }
    if (isShown) {
      const place = x(state.cursor);
      mark(line, "x1", place);
      mark(line, "x2", place);
      mark(label, "x", Math.min(width - 40, Math.max(40, place)));
      say(label, clock(state.cursor, now()) + " UTC");
    } else { say(label, "UTC"); mark(label, "x", width / 2); }
    mark(box, "aria-valuenow", isShown ? Math.round(100 * (state.cursor - state.begin) / (state.end - state.begin)) : 0);
    mark(box, "aria-valuetext", isShown ? clock(state.cursor, now()) + " UTC: " + texts.join(", ") : "no time chosen");
  }
  /** Moves the cursor to a time; null hides it. */
  function show(time) { state.cursor = time; move(); }

  const choose = time => { show(time); onCursor(time); };
  box.addEventListener("pointermove", event => {
    const area = box.getBoundingClientRect();
    choose(state.begin + (event.clientX - area.left - left) / (width - left) * (state.end - state.begin));
  });
  box.addEventListener("pointerleave", () => choose(null));
  box.addEventListener("keydown", event => {
    const by = { ArrowLeft: -step, ArrowRight: step, PageUp: -10 * step, PageDown: 10 * step }[event.key];
    if (by) choose(Math.min(state.end - 1, Math.max(state.begin, (state.cursor ?? state.end - step / 2) + by)));
    else if (event.key === "Home") choose(state.begin);
    else if (event.key === "End") choose(state.end - 1);
    else return;
    event.preventDefault();
    event.stopPropagation();
  });
  box.addEventListener("blur", () => choose(null));
  return state;
}
