// Comments that are not sent yet: kept in the browser, so that a reload or a restart of the server loses none.

import { make } from "./dialog.js";

let page;
let key;
let drafts = [];

const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Those that are finished; one that is still being written does not count.
export const list = () => drafts.filter((draft) => draft.text.trim() !== "" && !draft.isOpen);
export const count = () => list().length;
export const unfinished = () => drafts.filter((draft) => draft.isOpen && draft.text.trim() !== "").length;

// The comments as the API reads them.
export const bodies = () =>
  list().map(({ path, part, side, line, endLine, text }) =>
    part ? { part, line: line ?? null, endLine: endLine ?? null, text } : { path, side, line: line ?? null, endLine: endLine ?? null, text },
  );

export function clear() {
  drafts = [];
  save();
}

function load() {
  try {
    const kept = JSON.parse(localStorage.getItem(key));
    drafts = Array.isArray(kept) ? kept.filter((draft) => draft && typeof draft.text === "string") : [];
  } catch {
    drafts = [];
  }
}

function save() {
  try {
    if (drafts.length) localStorage.setItem(key, JSON.stringify(drafts));
    else localStorage.removeItem(key);
  } catch {
    // Without storage they live as long as the page.
  }
  page.changed();
}

// Where a comment goes that is written to a row.
export function anchorOf(row, end = row) {
  const part = row.closest("[data-part]")?.dataset.part;
  const side = (end.dataset.new ?? null) !== null && !end.matches(".d") ? "new" : "old";
  const numbers = [row, end].map((one) => Number(one.dataset[side] ?? one.dataset.new ?? one.dataset.old)).sort((a, b) => a - b);
  const file = row.closest(".file");
  const path = part ? null : side === "old" ? file.dataset.oldPath : file.dataset.path;
  return { part: part ?? null, path, file: file?.dataset.path ?? null, side, line: numbers[0], endLine: numbers[1] };
}

export const anchorOfFile = (file) => ({ part: null, path: file.dataset.path, file: file.dataset.path, side: "new", line: null, endLine: null });

// Opens a field for a new comment.
export function write(anchor) {
  const open = drafts.find((draft) => draft.isOpen && draft.file === anchor.file && draft.part === anchor.part && draft.endLine === anchor.endLine && draft.side === anchor.side);
  const draft = open ?? { id: `${Date.now()}-${Math.random().toString(36).slice(2)}`, ...anchor, text: "", isOpen: true, head: page.head };
  if (!open) drafts.push(draft);
  show(draft).then((box) => box?.querySelector("textarea")?.focus());
}

// Puts the drafts of a file beside their lines.
export function place(article) {
  for (const draft of drafts) if (draft.file === article.dataset.path && !draft.part) show(draft, article);
}

async function show(draft, article = null) {
  document.getElementById(`draft-${draft.id}`)?.remove();
  const box = make("div", { className: "talk is-draft", id: `draft-${draft.id}` });
  box.append(draft.isOpen ? form(draft) : said(draft));
  const holder = await find(draft, article);
  holder?.(box);
  paint();
  return box;
}

// Finds where a draft stands; opens what is folded there.
async function find(draft, article) {
  if (draft.part) {
    const place = document.querySelector(`[data-drafts="${draft.part}"]`);
    return (box) => place.append(box);
  }
  const file = article ?? all(".file", page.diffs).find((one) => one.dataset.path === draft.file);
  if (!file) return null;
  const here = await page.load(file);
  const top = (box) => here.querySelector(":scope > header").after(box);
  if (draft.line === null) return top;
  const row = await findRow(here, draft);
  if (!row) return top;
  return (box) => {
    let last = row;
    while (last.nextElementSibling?.matches(".note")) last = last.nextElementSibling;
    const cell = make("td", { colSpan: row.cells.length });
    cell.append(box);
    last.after(make("tr", { className: "note" }, cell));
  };
}

async function findRow(file, { side, endLine }) {
  const row = () => all(`tr[data-${side}="${endLine}"]`, file)[0];
  if (row()) return row();
  const fold = all(".fold", file).find((one) => {
    const start = Number(one.dataset[side]);
    return endLine >= start && endLine < start + Number(one.dataset.count);
  });
  if (!fold) return null;
  await page.openFold(fold, "all").catch(() => {});
  return row();
}

const where = ({ line, endLine, side, part }) => {
  if (line === null) return part ? (part === "plan" ? "on the plan" : "on the chain output") : "on the file";
  const lines = line === endLine ? `on line ${line}` : `on lines ${line}–${endLine}`;
  return side === "old" ? `${lines} before` : lines;
};

function said(draft) {
  const edit = make("button", { type: "button", className: "btn plain mini-btn" }, "Edit");
  const remove = make("button", { type: "button", className: "btn plain mini-btn" }, "Delete");
  edit.addEventListener("click", () => {
    draft.isOpen = true;
    save();
    show(draft).then((box) => box.querySelector("textarea").focus());
  });
  remove.addEventListener("click", () => drop(draft));
  const face = make("span", { className: "face me", ariaHidden: "true" }, "Y");
  const by = make("span", { className: "by" }, make("b", { className: "mid" }, "You"), ` ${where(draft)} `, make("span", { className: "chip warn" }, "Draft"), make("span", { className: "end" }), edit, remove);
  return make("div", { className: "say" }, face, by, make("p", {}, draft.text));
}

function form(draft) {
  const field = make("textarea", { rows: 3, value: draft.text, maxLength: 2000, placeholder: "What should change?", ariaLabel: `Comment ${where(draft)}` });
  const add = make("button", { type: "submit", className: "btn primary" }, "Keep for sending");
  const cancel = make("button", { type: "button", className: "btn plain" }, "Discard");
  const box = make("form", { className: "writing" }, make("p", { className: "by" }, `Comment ${where(draft)}`), field, make("div", { className: "row" }, make("span", { className: "dim grow" }, "Sent with the others when you send the work back"), cancel, add));
  field.addEventListener("input", () => {
    draft.text = field.value;
    save();
  });
  field.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) box.requestSubmit();
    if (event.key === "Escape" && field.value.trim() === "") drop(draft);
    else if (event.key === "Escape") field.blur();
  });
  cancel.addEventListener("click", () => drop(draft));
  box.addEventListener("submit", (event) => {
    event.preventDefault();
    if (field.value.trim() === "") return drop(draft);
    draft.text = field.value.trim();
    draft.isOpen = false;
    save();
    show(draft);
  });
  return box;
}

function drop(draft) {
  drafts = drafts.filter((one) => one !== draft);
  const box = document.getElementById(`draft-${draft.id}`);
  (box?.closest("tr.note") ?? box)?.remove();
  all("tr.note", page.diffs).forEach((row) => row.querySelector(".talk") ?? row.remove());
  save();
  paint();
}

// Marks the lines that have a draft.
function paint() {
  all("tr.picked").forEach((row) => row.classList.remove("picked"));
  for (const draft of drafts) {
    if (draft.line === null) continue;
    const within = draft.part ? document.querySelector(`[data-part="${draft.part}"]`) : all(".file", page.diffs).find((one) => one.dataset.path === draft.file);
    if (!within) continue;
    for (let line = draft.line; line <= Math.min(draft.endLine, draft.line + 500); line += 1) {
      all(`tr[data-${draft.side}="${line}"]`, within)[0]?.classList.add("picked");
    }
  }
  page.changed();
}

// Lines are picked by their numbers: a click, a drag, or a click with Shift for a range.
let from = null;
let last = null;
const numberAt = (target) => target.closest?.("td.n[data-side]")?.closest("tr[data-old], tr[data-new]");
const isTogether = (one, other) => one.closest(".file, [data-part]") === other.closest(".file, [data-part]");

function preview(one, other) {
  all("tr.picking").forEach((row) => row.classList.remove("picking"));
  if (!one) return;
  const rows = all("tr[data-old], tr[data-new]", one.closest(".file, [data-part]"));
  const [start, end] = [rows.indexOf(one), rows.indexOf(other)].sort((a, b) => a - b);
  rows.slice(start, end + 1).forEach((row) => row.classList.add("picking"));
}

function pick(one, other) {
  const isAfter = one.compareDocumentPosition(other) & Node.DOCUMENT_POSITION_PRECEDING;
  write(isAfter ? anchorOf(other, one) : anchorOf(one, other));
}

export function start(given) {
  page = given;
  key = `regatta-review-${page.task}`;
  load();
  document.addEventListener("pointerdown", (event) => {
    const row = event.button === 0 && numberAt(event.target);
    if (!row) return;
    event.preventDefault();
    from = event.shiftKey && last?.isConnected && isTogether(last, row) ? last : row;
    preview(from, row);
  });
  document.addEventListener("pointerover", (event) => {
    const row = from && event.target.closest?.("tr[data-old], tr[data-new]");
    if (row && isTogether(from, row)) preview(from, row);
  });
  document.addEventListener("pointerup", (event) => {
    const row = from && event.target.closest?.("tr[data-old], tr[data-new]");
    if (row && isTogether(from, row)) {
      pick(from, row);
      last = row;
    }
    from = null;
    preview(null);
  });
  document.addEventListener("click", (event) => {
    const part = event.target.closest("[data-comment-part]")?.dataset.commentPart;
    if (part) write({ part, path: null, file: null, side: "new", line: null, endLine: null });
    const file = event.target.closest("[data-comment-file]")?.closest(".file");
    if (file) page.load(file).then((here) => write(anchorOfFile(here)));
  });
  // Another tab of the same review has written.
  addEventListener("storage", (event) => {
    if (event.key !== key || document.activeElement?.matches("textarea")) return;
    all(".is-draft").forEach((box) => (box.closest("tr.note") ?? box).remove());
    load();
    drafts.forEach((draft) => show(draft));
  });
  for (const draft of drafts) if (draft.part) show(draft);
  // A draft in a file that is not here yet brings it in.
  for (const draft of drafts) {
    const file = !draft.part && all(".file[data-later]", page.diffs).find((one) => one.dataset.path === draft.file);
    if (file) page.load(file).catch(() => {});
  }
  page.changed();
}
