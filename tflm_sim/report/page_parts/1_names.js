// Names come from strangers: what is shown is made harmless here, and set as text only, never as markup.

const HOSTILE = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

function escapeCharacter(character) {
  const code = character.codePointAt(0);
  const hex = code.toString(16);
  if (code < 0x100) return "\\x" + hex.padStart(2, "0");
  return code < 0x10000 ? "\\u" + hex.padStart(4, "0") : "\\U" + hex.padStart(8, "0");
}

/** One line without hostile characters, at most `limit` characters; the end is kept, as it says most. */
function printable(text, limit = 60) {
  const start = Math.max(0, text.length - limit);
  const shown = text.slice(start).replace(HOSTILE, escapeCharacter);
  return start === 0 && shown.length <= limit ? shown : "…" + shown.slice(1 - limit);
}

const count = new Intl.NumberFormat("en-US");

let WORDS = {};

/** A sentence of page_text.py, with its gaps filled. */
function words(key, values = {}) {
  return WORDS[key].replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function bytes(n) {
  return count.format(n) + " B";
}

/** `82,300 B (80.4 KiB)` from 10 KiB on. */
function size(n) {
  if (Math.abs(n) < 10240) return bytes(n);
  return n < 1048576 ? `${bytes(n)} (${(n / 1024).toFixed(1)} KiB)` : `${bytes(n)} (${(n / 1048576).toFixed(1)} MiB)`;
}

function shortSize(n) {
  if (n < 10240) return bytes(n);
  return n < 1048576 ? (n / 1024).toFixed(1) + " KiB" : (n / 1048576).toFixed(2) + " MiB";
}

/** An element with attributes; children are nodes or texts. */
function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (value !== null && value !== undefined && value !== false) element.setAttribute(name, value === true ? "" : value);
  }
  element.append(...children);
  return element;
}

/** Put other children into an element; the button that had the focus, made anew, has it again. */
function refill(host, children) {
  const buttons = () => [...host.querySelectorAll("button")];
  const before = buttons(), at = before.indexOf(document.activeElement);
  host.replaceChildren(...children);
  if (at < 0) return;
  const now = buttons(), isSame = (button) => button?.textContent === before[at].textContent;
  (isSame(now[at]) ? now[at] : now.find(isSame) ?? host).focus();
}

function byId(id) {
  return document.getElementById(id);
}
