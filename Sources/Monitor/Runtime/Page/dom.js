"use strict";
// Elements. Text from outside becomes a text node or the value of an attribute, and never markup.

/** Returns the element of the page with an identifier. */
const $ = id => document.getElementById(id);

/** Text whose changes of direction are visible: they would show a name as another one, or turn the text beside it round. */
const turning = /[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;
const plain = text => typeof text === "string" ? text.replace(turning, mark => "\\u{" + mark.charCodeAt(0).toString(16) + "}") : text;

/** Creates an element with text, a class and children. */
function el(tag, text, name, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined && text !== null && text !== "") element.textContent = plain(text);
  if (name) element.className = name;
  element.append(...children.filter(Boolean));
  return element;
}

/** Creates an element of a picture. */
function svg(tag, attributes = {}, text) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const key in attributes) element.setAttribute(key, attributes[key]);
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Creates a button that performs an action. */
function button(text, action, name) {
  const element = el("button", text, name);
  element.type = "button";
  element.onclick = action;
  return element;
}

/** Changes a text only if it differs, so that a selection in it survives. */
function say(element, text) {
  text = plain(text);
  if (element.textContent !== text) element.textContent = text;
}

/** Changes a class only if it differs. */
function dress(element, name) {
  if (element.className !== name) element.className = name;
}

/** Changes an attribute only if it differs. */
function mark(element, name, value) {
  if (value === null || value === undefined) element.removeAttribute(name);
  else if (element.getAttribute(name) !== String(plain(value))) element.setAttribute(name, plain(value));
}

/** Makes the children of an element those of some items: elements of known keys stay, with focus and selection. */
function keyed(parent, items, keyOf, make, update) {
  const known = parent.known || new Map(), next = new Map();
  for (const item of items) {
    const key = keyOf(item);
    if (!next.has(key)) next.set(key, item);
  }
  for (const [key, element] of known) if (!next.has(key)) { element.remove(); known.delete(key); }
  let place = parent.firstElementChild;
  for (const [key, item] of next) {
    let element = known.get(key);
    if (!element) known.set(key, element = make(item));
    if (update) update(element, item);
    if (element === place) place = place.nextElementSibling;
    else parent.insertBefore(element, place);
  }
  parent.known = known;
}

/** Works before the next frame; a tab that is not shown has no frames. */
const nextFrame = work => { (document.hidden ? setTimeout : requestAnimationFrame)(work); };
