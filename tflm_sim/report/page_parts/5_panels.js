// What stands beside the picture: figures, the chosen block, what would have to shrink, tables.

const STAGES = {
  prepare: "during setup: the Prepare functions",
  planning: "the planner's own memory",
  running: "head and tail together, in the end",
};
const MOST_ROWS = 300;

// The mobile runtime has a name and none of TFLM's settings.
const isOnPhone = ({ size }) => !size.target.runtime;

function figureRows(view) {
  const { size } = view;
  if (isOnPhone(view)) {
    return [
      ["smallest_arena_bytes", "both arenas", size.smallest_arena_bytes],
      ["head_bytes", "arena", size.head_bytes],
      ["tail_bytes", "persistent arena", size.tail_bytes],
    ];
  }
  const split = size.smallest_split_arenas_bytes;
  const answer = split
    ? [["smallest_split_persistent", "smallest persistent arena", split.persistent], ["smallest_split_non_persistent", "smallest non-persistent arena", split.non_persistent]]
    : [["smallest_arena_bytes", "smallest arena", size.smallest_arena_bytes], ["smallest_arena_multiple_of_16", "as a multiple of 16", size.smallest_arena_multiple_of_16]];
  return [
    ...answer,
    ["head_bytes", "head", size.head_bytes],
    ["tail_bytes", "tail", size.tail_bytes],
    ["arena_used_bytes", "arena_used_bytes()", size.arena_used_bytes],
  ];
}

function showFigures(host, views) {
  const [main, ...others] = views.map(figureRows);
  main.forEach(([key, title, value], row) => {
    const shown = value === null ? "none" : bytes(value);
    const cells = [make("span", { "data-figure": key, "data-value": value === null ? "" : value }, shown)];
    if (value !== null && value >= 10240) cells.push(make("small", {}, shortSize(value)));
    for (const rows of others) {
      const other = rows[row][2];
      if (other === null || value === null) continue;
      const change = other - value;
      const sign = change > 0 ? "+" : change < 0 ? "−" : "±";
      cells.push(make("small", { class: change > 0 ? "more" : change < 0 ? "less" : null, "data-change": key, title: `in the other picture: ${bytes(other)}` }, `${sign}${count.format(Math.abs(change))}`));
    }
    host.append(make("div", { class: row === 0 ? "answer" : null }, make("dt", {}, title), make("dd", {}, ...cells)));
  });
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
  if (!app.chosen) return [make("p", { class: "hint" }, "Click a block, or search for one. The arrow keys step through the events. Click an operator's name at the left, or drag over several, for what they hold."), ...momentPanel(app)];
  const { view, thing } = app.chosen;
  const category = view.category(thing), table = thing.kind === "resident" ? view.residents : view.blocks, i = thing.index;
  const start = table.offset[i], length = table.size[i];
  const rows = [
    ["kind", make("span", {}, swatch(app, category), ` ${category.title} (${category.section})`)],
    ["size", make("span", { id: "chosen-size", "data-value": length }, size(length))],
    ["bytes", make("span", { id: "chosen-offset", "data-value": start }, length ? `${count.format(start)} … ${count.format(start + length - 1)}` : `none, at ${count.format(start)}`)],
    ["address", make("code", {}, `arena + 0x${start.toString(16)}`)],
    ["alive", view.lifetime(thing)],
  ];
  const title = make("p", { class: "title", id: "chosen-name" }, view.name(thing, 2000));
  if (thing.kind === "block") {
    const padding = view.blocks.padding[i];
    rows.push(["alignment", padding ? `${bytes(padding)} behind it are lost to it` : ""]);
    return [title, facts(rows)];
  }
  rows.push(["tensor", view.residents.operator[i] < 0 ? `${view.residents.number[i]} of subgraph ${view.residents.subgraph[i]}` : ""]);
  const others = view.sharing(i);
  const shared = make("ul", { id: "chosen-sharing", "data-value": others.length });
  for (const other of others.slice(0, 40)) {
    const at = { kind: "resident", index: other };
    shared.append(make("li", {}, link(app, view, at), ` ${shortSize(view.residents.size[other])}, ${view.lifetime(at)}`));
  }
  const heading = others.length ? `shares bytes with ${count.format(others.length)} other${others.length > 1 ? "s" : ""}, at other times` : "shares its bytes with nobody";
  const rest = others.length > 40 ? [make("p", { class: "hint" }, `and ${count.format(others.length - 40)} more`)] : [];
  return [title, facts(rows), make("h3", {}, heading), shared, ...rest];
}

/** What a range of operators, or of phases of AllocateTensors(), holds and does. */
function rangePanel(app) {
  const { view, first, last } = app.range;
  const [one, other] = [view.placeName(first), view.placeName(last)];
  const parts = [make("p", { class: "title", id: "range-name" }, one === other ? one : `${one} to ${other}`)];
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
  return [make("h3", {}, "in AllocateTensors()"), facts([
    ["events", count.format(last - first + 1)],
    ["tail takes", make("span", { id: "range-tail", "data-value": taken }, size(taken))],
    ["temporary", temps ? `${count.format(temps)}, up to byte ${count.format(most)}` : "nothing"],
    ["head then", size(head[last])],
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
  const kept = isOnPhone(view) ? null : view.size.tail.ops.reduce((sum, row) => sum + (inside.has(`${row.subgraph},${row.operator}`) ? row.used : 0), 0);
  const operators = view.scopes.slice(first, last + 1).filter(([, number]) => number >= 0).length;
  return [make("h3", {}, "in Invoke()"), facts([
    ["operators", make("span", { id: "range-operators", "data-value": operators }, count.format(operators))],
    ["fullest", make("span", { id: "range-live", "data-value": view.live[fullest] }, `${size(view.live[fullest])} alive in ${view.opAt(fullest)}`)],
    ["buffers", `${count.format(rows.length)}: ${count.format(born)} begin and ${count.format(gone)} end here`],
    ["of scratch", scratch ? size(scratch) : ""],
    ["in the tail", kept === null ? "" : make("span", { id: "range-kept", "data-value": kept }, `${size(kept)} for these operators`)],
  ]), thingTable(app, view, rows.slice(0, MOST_ROWS))];
}

/** What is in the head at the cursor, when it stands in Invoke(). */
function momentPanel(app) {
  const view = app.activeView, scope = app.cursorOf(view) - view.stepCount;
  if (scope < 0 || !view.scopeCount) return [];
  const alive = view.aliveAt(scope);
  const rows = alive.map((i) => [{ kind: "resident", index: i }, view.residents.size[i], view.residents.offset[i]]);
  return [make("h3", {}, `alive in ${view.opAt(scope)}: ${size(view.live[scope])}`), thingTable(app, view, rows)];
}

function thingTable(app, view, rows) {
  const body = make("tbody");
  for (const [thing, length, start] of rows) {
    const isChosen = app.chosen && app.chosen.view === view && app.chosen.thing.kind === thing.kind && app.chosen.thing.index === thing.index;
    body.append(make("tr", { class: isChosen ? "chosen" : null },
      make("td", {}, swatch(app, view.category(thing)), link(app, view, thing)),
      make("td", { class: "n" }, count.format(length)), make("td", { class: "n" }, count.format(start))));
  }
  const head = make("tr", {}, make("th", {}, "buffer"), make("th", { class: "n" }, "bytes"), make("th", { class: "n" }, "offset"));
  return make("table", {}, make("thead", {}, head), body);
}

// -- what would have to shrink --------------------------------------------------------------------------------------

/** What binds in each picture, the one that was looked at last in front. */
function shrinkPanel(app) {
  const views = [app.activeView, ...app.views.filter((view) => view !== app.activeView)];
  if (views.length === 1) return peakParts(app, views[0]);
  return views.flatMap((view) => [make("h2", { class: "of" }, printable(view.title, 400)), ...peakParts(app, view)]);
}

function peakParts(app, view) {
  const { limits, size: report } = view, parts = [];
  if (view.source.failure) parts.push(make("h3", {}, "It fails"), make("p", {}, printable(view.source.failure, 400)));
  for (const sentence of view.source.advice || []) parts.push(make("p", {}, printable(sentence, 400)));
  const log = view.source.device_log && view.source.device_log.length ? view.source.device_log : report.log || [];
  if (log.length) parts.push(make("h3", {}, "The device prints"), ...log.map((line) => make("p", {}, make("code", {}, printable(line, 200)))));
  if (limits.length && !view.source.failure) parts.push(...limitParts(app, view));
  if (view.remedies.length && !view.source.failure) parts.push(...remedyParts(app, view));
  const hint = isOnPhone(view)
    ? "The XNNPACK delegate, which apps get by default, is left out: it takes nodes away and has memory of its own."
    : view.source.split_at
      ? "Two arenas do not compete: the persistent one must hold the tail, the other one the head and temporary memory."
      : "Only what the program asked for was seen: which buffer is alive when, nothing says.";
  if (!parts.length) parts.push(make("p", { class: "hint" }, hint));
  return parts;
}

function limitParts(app, view) {
  const [first, second] = view.limits;
  const text = second
    ? `Bytes saved there shrink the arena, up to ${bytes(first.need - second.need)}. Then this decides the size: ${STAGES[second.stage]}.`
    : "Every byte saved there shrinks the arena.";
  const body = make("tbody");
  view.limits.forEach((limit, row) => body.append(make("tr", { class: row ? null : "chosen" },
    make("td", {}, make("button", { type: "button", onclick: () => app.goTo(view, limit.step) }, STAGES[limit.stage])),
    make("td", { class: "n" }, count.format(limit.floor)), make("td", { class: "n" }, count.format(limit.tail)),
    make("td", { class: "n" }, count.format(Math.ceil(limit.need / 16) * 16)))));
  const head = make("tr", {}, make("th", {}, "tightest"), make("th", { class: "n" }, "front"), make("th", { class: "n" }, "tail"), make("th", { class: "n" }, "needs"));
  const binding = view.size.binding ? [make("p", { class: "hint" }, `${view.size.binding.kind}: ${view.size.binding.what}, in ${printable(view.size.binding.where, 120)}`)] : [];
  const notes = view.source.failure ? [] : [make("p", {}, text)];
  return [make("h3", {}, `What decides the size: ${STAGES[first.stage]}`), ...binding, ...notes,
    make("table", { id: "limits" }, make("thead", {}, head), body),
    make("p", { class: "hint" }, view.source.failure ? `Bytes, in the arena that is drawn: ${bytes(view.arena)}.` : "Bytes, in the smallest arena that is a multiple of 16."), ...partsAt(app, view, first.step)];
}

/** What the bytes are for at a step, the largest first. */
function partsAt(app, view, step) {
  const { begin, end, size: length, padding, category } = view.blocks;
  const sums = new Map();
  for (let i = 0; i < begin.length; i++)
    if (begin[i] <= step && step < end[i]) sums.set(category[i], (sums.get(category[i]) || 0) + length[i] + padding[i]);
  const body = make("tbody");
  for (const [index, total] of [...sums].sort((a, b) => b[1] - a[1]))
    body.append(make("tr", {}, make("td", {}, swatch(app, view.categories[index]), view.categories[index].title), make("td", { class: "n" }, count.format(total))));
  return [make("h3", {}, "in the arena at that moment"), make("table", {}, body)];
}

function remedyParts(app, view) {
  const body = make("tbody");
  const smallest = view.size.smallest_arena_multiple_of_16;
  for (const row of view.remedies) {
    const arena = smallest - row.arena_bytes, head = view.headEnd - row.head_bytes;
    body.append(make("tr", {}, make("td", {}, link(app, view, { kind: "resident", index: row.resident })),
      make("td", { class: "n" }, count.format(view.residents.size[row.resident])),
      make("td", { class: "n" }, head > 0 ? "−" + count.format(head) : "0"), make("td", { class: "n" }, arena > 0 ? "−" + count.format(arena) : "0")));
  }
  const head = make("tr", {}, make("th", {}, "without"), make("th", { class: "n" }, "its size"), make("th", { class: "n" }, "head"), make("th", { class: "n" }, "arena"));
  const gaps = view.headEnd - view.live[view.peakScope];
  const note = gaps > 0 ? `${bytes(gaps)} of the head are gaps that the planner left.` : "No plan can be smaller: in that moment all of the head is alive.";
  return [make("h3", {}, `The head is fullest in ${view.opAt(view.peakScope)}`),
    make("p", {}, make("span", { id: "peak-live", "data-value": view.live[view.peakScope] }, bytes(view.live[view.peakScope])), ` alive of ${bytes(view.headEnd)}. ${note}`),
    make("table", { id: "remedies" }, make("thead", {}, head), body),
    make("p", { class: "hint" }, "Planned again without one of them: how many bytes smaller head and arena would be.")];
}

// -- the model on other boards -----------------------------------------------------------------------------------------

function boardsPanel(app) {
  const [head, ...rows] = app.boards;
  const line = (kind, [board, target, arena, ofRam, ram, ofFlash, flash, fits]) => make("tr", { title: `${target}, RAM: ${ram}, flash: ${flash}` },
    make(kind, { class: "whole" }, board), make(kind, { class: "n" }, arena), make(kind, { class: "n" }, ofRam), make(kind, { class: "n" }, ofFlash), make(kind, {}, fits));
  return [make("h3", {}, `${count.format(rows.length)} boards`), make("table", { id: "board-table" }, make("thead", {}, line("th", head)), make("tbody", {}, ...rows.map((row) => line("td", row))))];
}

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
  const sorts = make("p", { class: "hint" }, "by ");
  for (const name of Object.keys(order))
    sorts.append(make("button", { type: "button", "aria-pressed": String(app.order === name), onclick: () => { app.order = name; app.showPanel(); } }, name), " ");
  const shown = rows.length > MOST_ROWS ? `the first ${MOST_ROWS} of ${count.format(rows.length)}` : `${count.format(rows.length)}`;
  return [make("h3", { id: "buffer-count", "data-value": rows.length }, `${shown} of ${count.format(offset.length)} buffers in the head`), sorts, thingTable(app, view, rows.slice(0, MOST_ROWS))];
}

function tailPanel(app) {
  const { tail, tail_bytes: total } = app.activeView.size;
  const groups = make("tbody"), ops = make("tbody");
  for (const row of [...tail.groups].sort((a, b) => b.used - a.used)) {
    const category = app.categories.find((one) => one.key === row.what);
    groups.append(make("tr", {}, make("td", {}, swatch(app, category), row.what), make("td", { class: "n" }, count.format(row.used)),
      make("td", { class: "n" }, `${((100 * row.used) / Math.max(total, 1)).toFixed(1)} %`), make("td", { class: "n" }, count.format(row.used - row.requested))));
  }
  for (const row of [...tail.ops].sort((a, b) => b.used - a.used).slice(0, 60))
    ops.append(make("tr", {}, make("td", {}, `#${row.operator} ${printable(row.op, 40)}${row.subgraph ? ` of subgraph ${row.subgraph}` : ""}`), make("td", { class: "n" }, count.format(row.used))));
  const head = make("tr", {}, make("th", {}, "what"), make("th", { class: "n" }, "bytes"), make("th", { class: "n" }, "share"), make("th", { class: "n" }, "padding"));
  return [make("h3", {}, `tail: ${size(total)}`), make("table", { id: "tail" }, make("thead", {}, head), groups),
    make("h3", {}, "by operator, the largest"), make("table", {}, ops)];
}
