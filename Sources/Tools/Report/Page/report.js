"use strict";
(() => {
  const data = JSON.parse(document.getElementById("data").textContent);
  const body = document.querySelector("#table tbody");
  const rows = Array.from(body.rows);
  const by = id => document.getElementById(id);
  const columns = document.querySelectorAll("#table thead th").length;
  const space = "http://www.w3.org/2000/svg";
  const narrow = matchMedia("(max-width:40rem)");
  const froms = Array.from(document.querySelectorAll(".controls .from"));
  rows.forEach((row, index) => { row.index = index; row.text = row.textContent.toLowerCase(); row.from = row.dataset.f.split(","); });

  function make(name, attributes, text) {
    const node = document.createElement(name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
  }
  function draw(parent, name, attributes, text) {
    const node = document.createElementNS(space, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.append(node);
    return node;
  }

  function filter() {
    const words = by("filter").value.toLowerCase().split(/\s+/).filter(Boolean);
    const outcome = by("outcome").value;
    const stalled = by("stalled").checked;
    let shown = 0;
    for (const row of rows) {
      const fits = words.every(word => row.text.includes(word)) && (!outcome || row.dataset.o === outcome)
        && froms.every((choice, index) => !choice.value || row.from[index] === choice.value)
        && (!stalled || data.sessions[row.index].k[2] > 0);
      row.hidden = !fits;
      if (row.detail) row.detail.hidden = !fits;
      if (fits) shown += 1;
    }
    by("shown").textContent = shown + " of " + rows.length + " shown";
  }

  function sort(button) {
    const head = button.closest("th");
    const falls = head.getAttribute("aria-sort") === "ascending";
    for (const other of document.querySelectorAll("#table th[aria-sort]")) other.setAttribute("aria-sort", "none");
    head.setAttribute("aria-sort", falls ? "descending" : "ascending");
    const key = Number(button.dataset.sort);
    const value = row => data.sessions[row.index].k[key];
    rows.sort((a, b) => {
      const [x, y] = [value(a), value(b)];
      if (x === null || y === null) return (x === null) - (y === null) || a.index - b.index;
      return (falls ? y - x : x - y) || a.index - b.index;
    });
    for (const row of rows) { body.append(row); if (row.detail) body.append(row.detail); }
  }

  function clock(ms) {
    const seconds = ms / 1000;
    if (ms < 999.5) return Math.round(ms) + " ms";
    if (seconds < 60) return seconds.toFixed(seconds < 10 ? 2 : 1) + " s";
    const whole = Math.round(seconds);
    const rest = String(whole % 60).padStart(2, "0");
    const minutes = Math.floor(whole / 60);
    return minutes < 60 ? minutes + ":" + rest + " min"
      : Math.floor(minutes / 60) + ":" + String(minutes % 60).padStart(2, "0") + ":" + rest + " h";
  }
  const tick = ms => ms > 0 && ms < 1000 ? ms + " ms" : ms < 60e3 ? Number((ms / 1000).toFixed(2)) + " s" : clock(ms);
  const pairs = list => {
    const points = [];
    for (let i = 0; i + 1 < (list || []).length; i += 2) points.push([list[i], list[i + 1]]);
    return points;
  };
  function phases(session) {
    let time = 0;
    return pairs(session.p).map(([state, length]) => {
      const phase = { state: data.states[state], begin: time, length };
      time += length;
      return phase;
    });
  }
  function step(span) {
    const steps = [100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 144e5, 432e5, 864e5];
    return steps.find(value => span / value <= (narrow.matches ? 4 : 9)) || span;
  }

  function timeline(session, name) {
    const width = narrow.matches ? 360 : 1100;
    const left = narrow.matches ? 86 : 90;
    const right = 8;
    const span = Math.max(1, session.l);
    const x = time => left + (width - left - right) * Math.min(1, Math.max(0, time / span));
    const svg = document.createElementNS(space, "svg");
    svg.setAttribute("role", "img");
    const states = phases(session);
    const totals = {};
    for (const phase of states) totals[phase.state] = (totals[phase.state] || 0) + phase.length;
    draw(svg, "title", {}, "Timeline of " + name);
    draw(svg, "desc", {}, Object.keys(totals).map(state => state + " " + clock(totals[state])).join(", "));
    let y = 6;
    draw(svg, "text", { class: "lane", x: 0, y: y + 18 }, "state");
    for (const phase of states) {
      const from = x(phase.begin);
      const rect = draw(svg, "rect", { class: phase.state, x: from.toFixed(1), y,
        width: Math.max(1.5, x(phase.begin + phase.length) - from).toFixed(1), height: 26 });
      draw(rect, "title", {}, phase.state + " from " + clock(phase.begin) + " for " + clock(phase.length));
    }
    y += 38;
    const curve = (label, unit, list, digits, scale, filled, isSloped) => {
      const points = pairs(list);
      if (!points.length) return;
      const top = Math.max(...points.map(point => point[1] * scale), Number.MIN_VALUE);
      const height = 54;
      const base = y + height;
      const level = value => base - (height - 6) * value * scale / top;
      draw(svg, "text", { class: "lane", x: 0, y: y + 14 }, label);
      draw(svg, "text", { class: "lane", x: 0, y: y + 30 }, top.toFixed(digits) + " " + unit);
      draw(svg, "line", { class: "edge", x1: left, x2: width - right, y1: base, y2: base });
      let path = "";
      points.forEach(([time, value], index) => {
        const at = x(time).toFixed(1);
        path += index === 0 ? "M" + at + " " + level(value).toFixed(1)
          : isSloped ? "L" + at + " " + level(value).toFixed(1) : "H" + at + "V" + level(value).toFixed(1);
      });
      path += "H" + x(span).toFixed(1);
      if (filled) draw(svg, "path", { class: "area", d: path + "V" + base + "H" + x(points[0][0]).toFixed(1) + "Z" });
      const line = draw(svg, "path", { class: "curve", d: path });
      draw(line, "title", {}, label + ": " + points.slice(0, 40).map(([time, value]) =>
        (value * scale).toFixed(digits) + " " + unit + " at " + clock(time)).join(", "));
      y = base + 14;
    };
    curve("bitrate", "Mbit/s", session.b, 2, 0.001, true);
    curve("buffer", "s", session.f, 1, 0.001, true, true);
    curve("latency", "s", session.d, 1, 0.001, false);
    if (session.r) {
      draw(svg, "text", { class: "lane", x: 0, y: y + 14 }, "requests");
      for (let i = 0; i + 3 < session.r.length; i += 4) {
        const [time, length, count, failures] = session.r.slice(i, i + 4);
        const from = x(time);
        const mark = draw(svg, "rect", { class: failures ? "failed" : "request", x: from.toFixed(1), y: failures ? y : y + 4,
          width: Math.max(2, x(time + Math.max(0, length)) - from).toFixed(1), height: failures ? 20 : 12 });
        draw(mark, "title", {}, count + (count === 1 ? " request at " : " requests by ") + clock(time)
          + (length >= 0 ? ", " + length + " ms" : "") + (failures ? ", " + failures + " failed" : ""));
      }
      y += 32;
    }
    const every = step(span);
    draw(svg, "line", { class: "edge", x1: left, x2: width - right, y1: y, y2: y });
    for (let time = 0; time <= span; time += every) {
      draw(svg, "line", { class: "edge", x1: x(time).toFixed(1), x2: x(time).toFixed(1), y1: y, y2: y + 5 });
      draw(svg, "text", { class: "lane", x: x(time).toFixed(1), y: y + 19,
        "text-anchor": time === 0 ? "start" : x(time) > width - 40 ? "end" : "middle" }, tick(time));
    }
    svg.setAttribute("viewBox", "0 0 " + width + " " + (y + 26));
    return { svg, states, totals };
  }

  /** The states of a session as one bar. */
  function ribbon(session) {
    const svg = document.createElementNS(space, "svg");
    const states = phases(session);
    const totals = {};
    const paths = {};
    const whole = Math.max(1, session.l, ...states.map(phase => phase.begin + phase.length));
    for (const phase of states) {
      totals[phase.state] = (totals[phase.state] || 0) + phase.length;
      const from = phase.begin / whole * 400;
      paths[phase.state] = (paths[phase.state] || "") + "M" + from.toFixed(1) + " 0h" + Math.max(1.5, phase.length / whole * 400).toFixed(1) + "V14H" + from.toFixed(1) + "z";
    }
    svg.setAttribute("viewBox", "0 0 400 14");
    svg.setAttribute("preserveAspectRatio", "none");
    svg.setAttribute("role", "img");
    draw(svg, "title", {}, Object.keys(totals).map(state => state + " " + clock(totals[state])).join(", ") || "no states");
    // Short troubles are drawn over long good states.
    for (const state of Object.keys(paths).sort((a, b) => (b === "playing") - (a === "playing"))) draw(svg, "path", { class: state, d: paths[state] });
    return svg;
  }

  function panel(session, name) {
    const box = make("div", { class: "panel" });
    const drawn = timeline(session, name);
    box.append(make("h3", {}, name));
    const legend = make("ul", { class: "legend" });
    for (const state of data.states) {
      if (!drawn.totals[state]) continue;
      const item = make("li", {});
      const key = document.createElementNS(space, "svg");
      key.setAttribute("viewBox", "0 0 10 10");
      key.setAttribute("aria-hidden", "true");
      draw(key, "rect", { class: state, width: 10, height: 10 });
      item.append(key, state + " " + clock(drawn.totals[state]));
      legend.append(item);
    }
    box.append(legend, drawn.svg);
    if (session.s) box.append(make("p", { class: "note" }, "The timeline is simplified: short states and close points are merged."));
    const details = make("details", {});
    details.append(make("summary", {}, "States as a table"));
    const table = make("table", {});
    const head = table.createTHead().insertRow();
    for (const title of ["State", "From", "For"]) head.append(make("th", { scope: "col" }, title));
    const rows = table.createTBody();
    for (const phase of drawn.states.slice(0, 500)) {
      const row = rows.insertRow();
      for (const text of [phase.state, clock(phase.begin), clock(phase.length)]) row.append(make("td", {}, text));
    }
    details.append(table);
    box.append(details);
    return box;
  }

  function toggle(button) {
    const row = button.closest("tr");
    const opens = !row.detail;
    if (opens) {
      row.detail = make("tr", { class: "open" });
      const cell = make("td", { colspan: columns });
      cell.append(panel(data.sessions[row.index], button.textContent));
      row.detail.append(cell);
      row.after(row.detail);
    } else {
      row.detail.remove();
      row.detail = null;
    }
    button.setAttribute("aria-expanded", String(opens));
  }

  document.addEventListener("click", event => {
    const button = event.target.closest("button");
    if (!button) return;
    if (button.dataset.sort !== undefined) sort(button); else if (button.closest("#table tbody")) toggle(button);
  });
  for (const control of [by("filter"), by("outcome"), by("stalled"), ...froms]) control.addEventListener("input", filter);
  for (const row of rows) row.querySelector(".ribbon").append(ribbon(data.sessions[row.index]));
  narrow.addEventListener("change", () => {
    for (const button of body.querySelectorAll("button[aria-expanded=true]")) { toggle(button); toggle(button); }
  });
  filter();
})();
