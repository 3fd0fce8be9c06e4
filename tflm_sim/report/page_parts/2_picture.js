// A picture with what the drawing needs of it. Time is one axis, u: AllocateTensors() fills [0, SPLIT), Invoke() the rest.

const SPLIT = 0.34;
/** The most that one step of AllocateTensors() has of it: LiteRT has but one. */
const STEP_SHARE = 0.06;
/** The least part of Invoke()'s height for the scope in which most is alive, as in shapes.py. */
const PEAK_SHARE = 0.06;

class PictureView {
  constructor(document, strings, categories, texts) {
    this.texts = texts;
    const text = (column) => column.map((index) => strings[index]);
    this.source = document;
    this.title = document.title;
    this.arena = document.arena_bytes;
    this.categories = categories;
    this.opNames = document.op_names.map(text);
    this.scopes = document.scopes;
    this.live = document.live_bytes;
    this.limits = document.limits;
    const key = new Map(categories.map((row, index) => [row.key, index]));
    const column = (names) => Uint8Array.from(names, (index) => key.get(strings[index]));
    const { moments, blocks, steps, residents } = document;
    this.moments = { ...moments, name: text(moments.name) };
    this.blocks = { ...blocks, category: column(blocks.category), label: text(blocks.label) };
    this.steps = { ...steps, kind: text(steps.kind), text: text(steps.text) };
    this.residents = { ...residents, category: column(residents.category), name: text(residents.name) };
    this.stepCount = steps.kind.length;
    this.scopeCount = this.scopes.length;
    this.momentOf = this.#momentOfSteps();
    this.states = this.#states(document.levels);
    this.peakScope = this.live.length ? this.live.reduce((best, n, i) => (n > this.live[best] ? i : best), 0) : -1;
    this.#sortBlocks();
  }

  get count() {
    return this.stepCount + this.scopeCount;
  }

  isTail(block) {
    return this.categories[this.blocks.category[block]].section === "tail";
  }

  #momentOfSteps() {
    const result = new Int32Array(this.stepCount);
    let moment = -1;
    for (let step = 0; step < this.stepCount; step++) {
      if (this.steps.kind[step] === "enter") moment = this.steps.value[step];
      result[step] = moment;
    }
    return result;
  }

  /** Head, end of temp and start of the tail after each step, bytes. */
  #states(levels) {
    const [head, temp, tail] = [0, 0, this.arena].map((value) => new Int32Array(this.stepCount).fill(value));
    for (let row = 0; row < levels.step.length; row++) {
      const start = levels.step[row], end = levels.step[row + 1];
      head.fill(levels.head[row], start, end);
      temp.fill(levels.temp[row], start, end);
      tail.fill(this.arena - levels.tail[row], start, end);
    }
    return { head, temp, tail };
  }

  #sortBlocks() {
    this.persistent = [];
    this.passing = [];
    this.longest = 0;
    for (let block = 0; block < this.blocks.begin.length; block++) {
      if (this.isTail(block)) { this.persistent.push(block); continue; }
      this.passing.push(block);
      if (this.categories[this.blocks.category[block]].section === "temp")
        this.longest = Math.max(this.longest, this.blocks.end[block] - this.blocks.begin[block]);
    }
    this.heads = this.passing.filter((block) => this.categories[this.blocks.category[block]].section === "head");
    this.temps = this.passing.filter((block) => this.categories[this.blocks.category[block]].section === "temp");
    const { offset, size: length } = this.blocks, rows = this.residents;
    this.tailStart = this.persistent.reduce((least, block) => Math.min(least, offset[block]), this.arena);
    this.headEnd = rows.offset.reduce((most, start, i) => Math.max(most, start + Math.ceil(rows.size[i] / 16) * 16), 0);
    if (!rows.offset.length) this.headEnd = this.heads.reduce((most, block) => Math.max(most, length[block]), 0);
  }

  // -- time ---------------------------------------------------------------------------------------------------------

  get split() {
    return this.scopeCount ? Math.min(SPLIT, STEP_SHARE * this.stepCount) : 1;
  }

  stepU(step) {
    return (this.split * step) / this.stepCount;
  }

  /** How much of Invoke() the fullest scope has, and each other one. */
  get shares() {
    const n = this.scopeCount;
    if (this.peakScope < 0 || n < 2) return [1 / Math.max(n, 1), 1 / Math.max(n, 1)];
    const peak = Math.max(PEAK_SHARE, 1 / n);
    return [peak, (1 - peak) / (n - 1)];
  }

  scopeU(scope) {
    const [peak, other] = this.shares, inside = this.peakScope < 0 ? 0 : Math.min(Math.max(scope - this.peakScope, 0), 1);
    return this.split + (1 - this.split) * (inside * peak + (scope - inside) * other);
  }

  /** The [start, end) on the time axis of a place in the sequence of steps and scopes. */
  span(index) {
    if (index < this.stepCount) return [this.stepU(index), this.stepU(index + 1)];
    return [this.scopeU(index - this.stepCount), this.scopeU(index - this.stepCount + 1)];
  }

  indexAt(u) {
    if (u < this.split || !this.scopeCount)
      return Math.min(this.stepCount - 1, Math.max(0, Math.floor((u / this.split) * this.stepCount)));
    const [peak, other] = this.shares, at = (u - this.split) / (1 - this.split), start = this.peakScope * other;
    const scope = this.peakScope < 0 || at < start ? at / other : at < start + peak ? this.peakScope : this.peakScope + 1 + (at - start - peak) / other;
    return this.stepCount + Math.min(this.scopeCount - 1, Math.floor(scope));
  }

  /** The first and last place of the operator, or of the phase of AllocateTensors(), that a place belongs to. */
  wholeOf(index) {
    if (index >= this.stepCount) return [index, index];
    const { step } = this.moments, moment = this.momentOf[index];
    const end = moment + 1 < step.length ? step[moment + 1] : this.stepCount;
    return [moment < 0 ? 0 : step[moment], end - 1];
  }

  placeName(index) {
    return index < this.stepCount ? this.momentName(this.momentOf[index]) : this.opAt(index - this.stepCount);
  }

  // -- what there is ------------------------------------------------------------------------------------------------

  /** The time of a thing: {kind: "resident" or "block", index}. */
  extent(thing) {
    if (thing.kind === "resident") {
      const { offset, size: length, first, last } = this.residents, i = thing.index;
      return { from: offset[i], to: offset[i] + length[i], start: this.scopeU(first[i]), end: this.scopeU(last[i] + 1) };
    }
    const { offset, size: length, begin, end } = this.blocks, i = thing.index;
    return { from: offset[i], to: offset[i] + length[i], start: this.stepU(begin[i]), end: this.isTail(i) ? 1 : this.stepU(end[i]) };
  }

  category(thing) {
    const table = thing.kind === "resident" ? this.residents : this.blocks;
    return this.categories[table.category[thing.index]];
  }

  operator(subgraph, operator) {
    if (operator < 0) return words(subgraph > 0 ? "inputs of" : "inputs", { subgraph });
    return words(subgraph > 0 ? "operator of" : "operator", { number: operator, name: printable(this.opNames[subgraph][operator], 40), subgraph });
  }

  opAt(scope) {
    return this.operator(...this.scopes[scope]);
  }

  momentName(moment) {
    if (moment < 0) return words("start");
    const name = this.moments.name[moment];
    if (this.moments.operator[moment] < 0) return name.replaceAll("_", " ");
    return words("moment of", { moment: name.replace("op_", ""), operator: this.operator(this.moments.subgraph[moment], this.moments.operator[moment]) });
  }

  /** The same for the narrow column at the side. */
  shortMoment(moment) {
    return this.momentName(moment).replace(" of ", " ");
  }

  /** What a thing is called, harmless to show. */
  name(thing, limit = 60) {
    if (thing.kind === "resident") {
      const rows = this.residents, i = thing.index;
      const name = printable(rows.name[i], limit);
      if (rows.operator[i] >= 0) return words(name ? "scratch for" : "scratch", { number: rows.number[i], name });
      return name || words("tensor", { number: rows.number[i] });
    }
    return printable(this.blocks.label[thing.index], limit) || this.category(thing).title;
  }

  /** Where a thing comes from and until when it is there. */
  lifetime(thing) {
    if (thing.kind === "resident") {
      const { first, last } = this.residents, i = thing.index;
      return words(first[i] === last[i] ? "lives in" : "lives from", { first: this.opAt(first[i]), last: this.opAt(last[i]) });
    }
    const moment = this.momentName(this.blocks.moment[thing.index]);
    return words(this.isTail(thing.index) ? "lives since" : "lives during", { moment });
  }

  /** The other residents that use some of the same bytes. */
  sharing(index) {
    const { offset, size: length } = this.residents;
    const from = offset[index], to = from + length[index], others = [];
    for (let i = 0; i < offset.length; i++)
      if (i !== index && offset[i] < to && offset[i] + length[i] > from) others.push(i);
    return others;
  }

  aliveAt(scope) {
    const { first, last, offset } = this.residents, rows = [];
    for (let i = 0; i < first.length; i++) if (first[i] <= scope && scope <= last[i]) rows.push(i);
    return rows.sort((a, b) => offset[a] - offset[b]);
  }

  /** The thing at a byte and a time, the smallest of several; null for free bytes. */
  at(byte, u) {
    if (u >= this.split && this.scopeCount) {
      const scope = this.indexAt(u) - this.stepCount;
      const { first, last, offset, size: length } = this.residents;
      for (let i = 0; i < first.length; i++)
        if (first[i] <= scope && scope <= last[i] && offset[i] <= byte && byte < offset[i] + length[i])
          return { kind: "resident", index: i };
    }
    const step = u >= this.split ? this.stepCount - 1 : this.indexAt(u);
    const { begin, end, offset, size: length } = this.blocks;
    let found = null;
    for (let i = 0; i < begin.length; i++) {
      if (begin[i] > step || end[i] <= step || byte < offset[i] || byte >= offset[i] + length[i]) continue;
      if (u >= this.split && !this.isTail(i)) continue;
      if (found === null || length[i] < length[found]) found = i;
    }
    return found === null ? null : { kind: "block", index: found };
  }

  matches(query) {
    const wanted = query.toLowerCase();
    const things = [];
    const opOf = (subgraph, operator) => (operator < 0 ? "" : this.opNames[subgraph][operator]);
    const rows = this.residents;
    for (let i = 0; i < rows.name.length; i++) {
      const [subgraph, operator] = this.scopes[rows.first[i]];
      if (`${rows.name[i]}\n${opOf(subgraph, operator)}`.toLowerCase().includes(wanted)) things.push({ kind: "resident", index: i });
    }
    for (const i of this.persistent) {
      const moment = this.blocks.moment[i];
      const op = opOf(this.moments.subgraph[moment], this.moments.operator[moment]);
      const title = this.categories[this.blocks.category[i]].title;
      if (`${this.blocks.label[i]}\n${op}\n${title}`.toLowerCase().includes(wanted)) things.push({ kind: "block", index: i });
    }
    return things;
  }

  /** The place of this picture that corresponds to another picture's. */
  counterpart(other, index) {
    if (index >= other.stepCount)
      return this.scopeCount ? this.stepCount + Math.min(this.scopeCount - 1, index - other.stepCount) : this.stepCount - 1;
    const theirs = other.momentOf[index], same = (table, i) => [table.name[i], table.subgraph[i], table.operator[i]].join();
    const key = theirs < 0 ? "" : same(other.moments, theirs);
    const own = this.moments.name[theirs] !== undefined && same(this.moments, theirs) === key ? theirs
      : this.moments.name.findIndex((_, i) => same(this.moments, i) === key);
    if (own < 0) return Math.min(this.stepCount - 1, index);
    const next = own + 1 < this.moments.step.length ? this.moments.step[own + 1] : this.stepCount;
    return Math.min(next - 1, this.moments.step[own] + index - other.moments.step[theirs]);
  }
}

/** What happens at a step, for people. */
function stepText(view, index) {
  const { value, text } = view.steps, { shortage, failure } = view.source, { size: length, offset } = view.blocks;
  const kind = shortage && index === shortage.step ? "fail" : view.steps.kind[index], n = value[index];
  const note = printable(kind === "fail" ? failure || text[index] : text[index], 160);
  if (kind === "place") {
    const rows = view.residents, name = () => view.name({ kind: "resident", index: n });
    return n < rows.offset.length ? words(kind, { name: name(), size: bytes(rows.size[n]), offset: count.format(rows.offset[n]) }) : words("place nothing");
  }
  const block = ["persist", "temp", "free"].includes(kind) ? { name: view.name({ kind: "block", index: n }), size: bytes(length[n]), offset: count.format(offset[n]) } : {};
  const key = { reset: "reset refused", resize: "resize refused", request: "request for" }[kind];
  return words(note && key ? key : kind, { ...block, note, value: count.format(n), bytes: bytes(n) });
}
