// What stands beside the picture: figures, the chosen block, what would have to shrink, tables.

const MOST_ROWS = 300;

/** The figures of one picture, or of two with their difference. */
function showFigures(host, cards) {
  cards.forEach((card, row) => {
    const tone = card.change > 0 ? "more" : card.change < 0 ? "less" : null;
    const cells = [make("span", { "data-figure": card.key, "data-value": card.value ?? "" }, card.text)];
    if (card.note) cells.push(make("small", { class: tone, "data-change": card.change === null ? null : card.key }, card.note));
    host.append(make("div", { class: row === 0 ? "answer" : null }, make("dt", {}, card.title), make("dd", {}, ...cells)));
  });
}

/** What page_text.py has for a panel. */
function shown(app, view, parts) {
  return parts.map((part) => {
    if (part.tag === "table") return tableOf(app, view, part);
    if (part.tag === "bar") return barOf(app, part);
    if (part.tag === "chart") return chartOf(part);
    if (part.tag === "hint") return make("p", { class: "hint" }, part.text);
    if (part.tag === "code") return make("p", {}, make("code", {}, part.text));
    return make(part.tag, { id: part.id, "data-value": part.value }, part.text);
  });
}

function tableOf(app, view, { id, head, rows, chosen, titles }) {
  const one = (row) => (row.length ? row.map(({ n }) => (n ? "n" : null)) : []);
  const body = rows.map((row, at) => make("tr", { class: at === chosen ? "chosen" : null, title: titles?.[at] }, ...row.map((cell) => {
    const category = app.categories.find(({ key }) => key === cell.category);
    const text = cell.resident !== undefined ? link(app, view, { kind: "resident", index: cell.resident })
      : cell.step !== undefined ? make("button", { type: "button", onclick: () => app.goTo(view, cell.step) }, cell.text) : cell.text;
    return make("td", { class: cell.n ? "n" : null }, ...(category ? [swatch(app, category)] : []), text);
  })));
  const classes = one(rows[0] ?? []);
  const top = head ? [make("thead", {}, make("tr", {}, ...head.map((text, at) => make("th", { class: classes[at] }, text))))] : [];
  return make("table", { id }, ...top, make("tbody", {}, ...body));
}

/** Bytes beside each other, as wide as they are many. */
function barOf(app, { text, segments }) {
  const pieces = segments.map((segment) => {
    const category = app.categories.find(({ key }) => key === segment.category), piece = category ? swatch(app, category) : make("i", { class: segment.category || null });
    piece.style.flexGrow = segment.bytes;
    piece.title = segment.text;
    return piece;
  });
  return make("div", { class: "stack", role: "img", "aria-label": text }, ...pieces);
}

function chartOf({ text, rows }) {
  const lines = rows.map(({ label, width, mark, hint, no }) => {
    const bar = make("i"), line = make("b");
    bar.style.width = `${width}%`;
    if (mark !== null) line.style.left = `${mark}%`;
    return make("div", { title: hint, class: no ? "no" : null }, make("span", {}, label), make("div", {}, bar, ...(mark === null ? [] : [line])));
  });
  return make("figure", { class: "chart", role: "img", "aria-label": text }, ...lines, make("figcaption", { class: "hint" }, text));
}

function swatch(app, category) {
  const element = make("i", { class: category.is_hatched ? "hatched" : null });
  element.style.backgroundColor = app.colors.fill[app.categories.indexOf(category)];
  return element;
}

function facts(rows) {
  const list = make("dl");
  for (const [term, value] of rows) if (value !== "") list.append(make("dt", {}, term), make("dd", {}, value));
  return list;
}

function link(app, view, thing) {
  return make("button", { type: "button", onclick: () => app.choose(view, thing, { show: true }) }, view.name(thing));
}

// -- the chosen block -----------------------------------------------------------------------------------------------

function chosenPanel(app) {
  if (app.range) return rangePanel(app);
  if (!app.chosen) return [make("p", { class: "hint" }, words("choose")), ...momentPanel(app)];
  const { view, thing } = app.chosen;
  const category = view.category(thing), table = thing.kind === "resident" ? view.residents : view.blocks, i = thing.index;
  const start = table.offset[i], length = table.size[i], first = count.format(start), last = count.format(start + length - 1);
  const rows = [
    [words("kind"), make("span", {}, swatch(app, category), words("in section", category))],
    [words("size"), make("span", { id: "chosen-size", "data-value": length }, size(length))],
    [words("bytes"), make("span", { id: "chosen-offset", "data-value": start }, words(length ? "byte range" : "no bytes", { first, last }))],
    [words("address"), make("code", {}, words("arena plus", { offset: start.toString(16) }))],
    [words("alive"), view.lifetime(thing)],
  ];
  const title = make("p", { class: "title", id: "chosen-name" }, view.name(thing, 2000));
  if (thing.kind === "block") {
    const padding = view.blocks.padding[i];
    rows.push([words("alignment"), padding ? words("padding", { bytes: bytes(padding) }) : ""]);
    return [title, facts(rows)];
  }
  const { operator, number, subgraph, sharing } = view.residents;
  rows.push([words("of tensor"), operator[i] < 0 ? words("tensor in", { number: number[i], subgraph: subgraph[i] }) : ""]);
  const shared = make("ul", { id: "chosen-sharing", "data-value": sharing[i] });
  for (const other of view.sharing(i).slice(0, 40)) {
    const at = { kind: "resident", index: other };
    shared.append(make("li", {}, link(app, view, at), words("shared", { size: shortSize(view.residents.size[other]), lifetime: view.lifetime(at) })));
  }
  const heading = words(sharing[i] ? "shares" : "shares nothing", { count: count.format(sharing[i]) });
  const rest = sharing[i] > 40 ? [make("p", { class: "hint" }, words("more", { count: count.format(sharing[i] - 40) }))] : [];
  return [title, facts(rows), make("h3", {}, heading), shared, ...rest];
}

/** What a range of operators, or of phases of AllocateTensors(), holds and does. */
function rangePanel(app) {
  const { view, first, last } = app.range;
  const [one, other] = [view.placeName(first), view.placeName(last)];
  const parts = [make("p", { class: "title", id: "range-name" }, one === other ? one : words("range", { first: one, last: other }))];
  if (first < view.stepCount) parts.push(...setUpParts(app, view, first, Math.min(last, view.stepCount - 1)));
  if (last >= view.stepCount) parts.push(...invokedParts(app, view, Math.max(first - view.stepCount, 0), last - view.stepCount));
  return parts;
}

/** What AllocateTensors() does between two steps. */
function setUpParts(app, view, first, last) {
  const { head, temp, tail } = view.states, before = Math.max(first - 1, 0);
  const sums = new Map(), { kind, value } = view.steps, { size: length, category } = view.blocks;
  let most = 0, temps = 0;
  for (let step = first; step <= last; step++) {
    most = Math.max(most, temp[step]);
    temps += kind[step] === "temp";
    if (kind[step] === "persist") sums.set(category[value[step]], (sums.get(category[value[step]]) || 0) + length[value[step]]);
  }
  const taken = (first ? tail[before] : view.arena) - tail[last];
  const body = make("tbody");
  for (const [index, total] of [...sums].sort((a, b) => b[1] - a[1]))
    body.append(make("tr", {}, make("td", {}, swatch(app, view.categories[index]), view.categories[index].title), make("td", { class: "n" }, count.format(total))));
  return [make("h3", {}, words("in AllocateTensors")), facts([
    [words("events"), count.format(last - first + 1)],
    [words("tail takes"), make("span", { id: "range-tail", "data-value": taken }, size(taken))],
    [words("temporary"), temps ? words("temporary up to", { count: count.format(temps), end: count.format(most) }) : words("nothing")],
    [words("head then"), size(head[last])],
  ]), ...(sums.size ? [make("table", {}, body)] : [])];
}

/** What is alive while operators run, and what they keep in the tail. */
function invokedParts(app, view, first, last) {
  const { first: begins, last: ends, size: length, offset, operator } = view.residents, rows = [];
  let born = 0, gone = 0, scratch = 0;
  for (let i = 0; i < begins.length; i++) {
    if (begins[i] > last || ends[i] < first) continue;
    rows.push([{ kind: "resident", index: i }, length[i], offset[i]]);
    born += begins[i] >= first;
    gone += ends[i] <= last;
    if (operator[i] >= 0) scratch += length[i];
  }
  rows.sort((a, b) => b[1] - a[1]);
  let fullest = first;
  for (let scope = first; scope <= last; scope++) if (view.live[scope] > view.live[fullest]) fullest = scope;
  const inside = new Set(view.scopes.slice(first, last + 1).map(String));
  const kept = !view.source.size.tail.ops.length ? null : view.source.size.tail.ops.reduce((sum, row) => sum + (inside.has(`${row.subgraph},${row.operator}`) ? row.used : 0), 0);
  const operators = view.scopes.slice(first, last + 1).filter(([, number]) => number >= 0).length;
  return [make("h3", {}, words("in Invoke")), facts([
    [words("operators"), make("span", { id: "range-operators", "data-value": operators }, count.format(operators))],
    [words("fullest in"), make("span", { id: "range-live", "data-value": view.live[fullest] }, words("alive in", { size: size(view.live[fullest]), operator: view.opAt(fullest) }))],
    [words("buffers"), words("begin and end", { count: count.format(rows.length), born: count.format(born), gone: count.format(gone) })],
    [words("of scratch"), scratch ? size(scratch) : ""],
    [words("in the tail"), kept === null ? "" : make("span", { id: "range-kept", "data-value": kept }, words("for these", { size: size(kept) }))],
  ]), thingTable(app, view, rows.slice(0, MOST_ROWS))];
}

/** What is in the head at the cursor, when it stands in Invoke(). */
function momentPanel(app) {
  const view = app.activeView, scope = app.cursorOf(view) - view.stepCount;
  if (scope < 0 || !view.scopeCount) return [];
  const alive = view.aliveAt(scope);
  const rows = alive.map((i) => [{ kind: "resident", index: i }, view.residents.size[i], view.residents.offset[i]]);
  return [make("h3", {}, words("alive then", { operator: view.opAt(scope), size: size(view.live[scope]) })), thingTable(app, view, rows)];
}

function thingTable(app, view, rows) {
  const body = make("tbody");
  for (const [thing, length, start] of rows) {
    const isChosen = app.chosen && app.chosen.view === view && app.chosen.thing.kind === thing.kind && app.chosen.thing.index === thing.index;
    body.append(make("tr", { class: isChosen ? "chosen" : null },
      make("td", {}, swatch(app, view.category(thing)), link(app, view, thing)),
      make("td", { class: "n" }, count.format(length)), make("td", { class: "n" }, count.format(start))));
  }
  const head = make("tr", {}, make("th", {}, words("buffer")), make("th", { class: "n" }, words("bytes")), make("th", { class: "n" }, words("offset")));
  return make("table", {}, make("thead", {}, head), body);
}

// -- what would have to shrink, the tail, boards ----------------------------------------------------------------------

/** What binds in each picture, the one that was looked at last in front. */
function shrinkPanel(app) {
  const views = [app.activeView, ...app.views.filter((view) => view !== app.activeView)];
  if (views.length === 1) return shown(app, views[0], views[0].texts.peak);
  return views.flatMap((view) => [make("h2", { class: "of" }, view.texts.heading), ...shown(app, view, view.texts.peak)]);
}

const tailPanel = (app) => shown(app, app.activeView, app.activeView.texts.tail);
const boardsPanel = (app) => shown(app, app.activeView, app.texts.boards);

// -- tables ---------------------------------------------------------------------------------------------------------

function buffersPanel(app) {
  const view = app.activeView, { offset, size: length, category } = view.residents;
  const rows = [];
  for (let i = 0; i < offset.length; i++) {
    const thing = { kind: "resident", index: i };
    if (app.hidden.has(view.categories[category[i]].key)) continue;
    if (app.matched && !app.matched.get(view).resident.has(i)) continue;
    rows.push([thing, length[i], offset[i]]);
  }
  const order = { size: (a, b) => b[1] - a[1], offset: (a, b) => a[2] - b[2], time: () => 0 };
  rows.sort(order[app.order]);
  const sorts = make("p", { class: "hint" }, words("by"));
  for (const name of Object.keys(order))
    sorts.append(make("button", { type: "button", "aria-pressed": String(app.order === name), onclick: () => { app.order = name; app.showPanel(); } }, words(`by ${name}`)), " ");
  const numbers = { first: MOST_ROWS, shown: count.format(rows.length), count: count.format(offset.length) };
  const title = words(rows.length > MOST_ROWS ? "shown first" : "shown", numbers);
  return [make("h3", { id: "buffer-count", "data-value": rows.length }, title), sorts, thingTable(app, view, rows.slice(0, MOST_ROWS))];
}
