// The review page: files that are fetched as they come into view, what was viewed, the decision, the keys.

import { html, post, words } from "./api.js";
import { parse, refresh } from "./fragments.js";
import * as comments from "./review_comments.js";
import { approve, cancel, sendBack, submit } from "./review_decide.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { toast } from "./toast.js";

const root = document.getElementById("review");
const diffs = document.getElementById("diffs");
const { task, base, head } = root.dataset;
const ends = `base=${base}&head=${head}`;
// Two columns of code need more room than a phone has; turned on its side, it may have it.
const narrow = matchMedia("(max-width: 600px)");
const isSplit = () => root.dataset.split === "true" && !narrow.matches;
const all = (selector, within = document) => [...within.querySelectorAll(selector)];

// Files

const watcher = new IntersectionObserver(
  (entries) => entries.filter((entry) => entry.isIntersecting).forEach((entry) => load(entry.target)),
  { root: diffs, rootMargin: "1500px 0px" },
);

function watch(article) {
  article.style.minHeight = `${Math.min(Number(article.dataset.lines) * 20, 60000) + 60}px`;
  watcher.observe(article);
}

// Fetches a file whose lines are not here yet; answers with its element.
const loading = new Map();
export function load(article) {
  if (!article.hasAttribute("data-later")) return Promise.resolve(article);
  const number = article.dataset.file;
  if (!loading.has(number)) {
    watcher.unobserve(article);
    loading.set(number, fetchFile(article, number).finally(() => loading.delete(number)));
  }
  return loading.get(number);
}

async function fetchFile(article, number) {
  try {
    const text = await html(`/fragments/tasks/${task}/files/${number}?${ends}${isSplit() ? "&split" : ""}`);
    const fresh = parse(text).querySelector("article");
    const isCurrent = article.querySelector(".is-current") !== null;
    article.replaceWith(fresh);
    ready(fresh);
    if (isCurrent) select(fresh.querySelector(".hunk"), false);
    return fresh;
  } catch (error) {
    const line = article.querySelector(".later");
    if (line) line.textContent = `${words(error)} `;
    const again = Object.assign(document.createElement("button"), { type: "button", className: "btn", textContent: "Try again" });
    again.addEventListener("click", () => load(article));
    line?.append(again);
    throw error;
  }
}

// What a file needs once its lines are there.
function ready(article) {
  if (document.body.classList.contains("new-only")) hideViewed(article);
  comments.place(article);
}

// Opens unchanged lines: all of them, or 20 after the change above or before the one below.
export async function openFold(fold, which) {
  const [old, fresh, count] = [fold.dataset.old, fold.dataset.new, fold.dataset.count].map(Number);
  const number = fold.closest(".file").dataset.file;
  const size = which === "all" ? count : Math.min(20, count);
  const skip = which === "up" ? count - size : 0;
  const at = `from=${fresh + skip}&count=${size}&old=${old + skip}`;
  const lines = parse(await html(`/fragments/tasks/${task}/lines/${number}?${ends}&${at}${isSplit() ? "&split" : ""}`));
  const rest = count - size;
  if (which === "up") fold.after(lines);
  else fold.before(lines);
  if (rest <= 0) {
    fold.remove();
    return;
  }
  if (which === "down") Object.assign(fold.dataset, { old: old + size, new: fresh + size });
  fold.dataset.count = rest;
  const label = fold.querySelector("[data-open=all]");
  label.lastChild.textContent = `${rest} unchanged ${rest === 1 ? "line" : "lines"}`;
  if (rest <= 20) all("[data-open=up], [data-open=down]", fold).forEach((button) => button.remove());
}

// Viewed marks

const STATES = { new: ["new", "New"], changed: ["half", "Changed since you viewed it"], viewed: ["yes", "Viewed"] };
const RANK = { new: 0, changed: 1, viewed: 2 };

function showSeen(hunk, seen) {
  const [mark, ring] = [hunk.querySelector("[data-mark]"), hunk.querySelector("[data-mark] .seen")];
  const [name, text] = STATES[seen];
  hunk.dataset.seen = seen;
  mark.className = `mark ${name}`;
  mark.setAttribute("aria-pressed", seen === "viewed");
  ring.className = `seen ${name}`;
  ring.innerHTML = seen === "viewed" ? '<svg class="i" aria-hidden="true"><use href="#i-check"/></svg>' : "";
  mark.lastElementChild.textContent = text;
  const article = hunk.closest(".file");
  const least = all(".hunk", article).map((one) => one.dataset.seen).sort((a, b) => RANK[a] - RANK[b])[0];
  article.dataset.seen = least;
  const entry = document.querySelector(`[data-tree="${article.dataset.file}"]`);
  const dot = entry.querySelector(".seen");
  dot.className = `seen ${STATES[least][0]}`;
  dot.innerHTML = least === "viewed" ? '<svg class="i" aria-hidden="true"><use href="#i-check"/></svg>' : "";
  entry.querySelector(".sr").textContent = STATES[least][1].toLowerCase();
}

async function mark(hunk) {
  const viewed = hunk.dataset.seen !== "viewed";
  const path = hunk.closest(".file").dataset.path;
  const before = hunk.dataset.seen;
  showSeen(hunk, viewed ? "viewed" : "new");
  foldHunk(hunk, viewed);
  try {
    showCounts(await post(`/api/tasks/${task}/viewed`, { path, hunks: [hunk.dataset.hunk], viewed, head }));
  } catch (error) {
    showSeen(hunk, before);
    foldHunk(hunk, before === "viewed");
    toast(words(error), { isError: true });
  }
}

let left = Number(document.querySelector("[data-left]")?.textContent ?? 0);
function showCounts({ all: count, viewed, changed }) {
  left = count - viewed;
  document.querySelector("[data-viewed]").textContent = viewed;
  const since = document.querySelector("[data-changed]");
  since.textContent = `${changed} changed since`;
  since.hidden = changed === 0;
  for (const place of all("[data-left]")) place.textContent = left;
  showDecision();
}

function foldHunk(hunk, folded = !hunk.classList.contains("is-folded")) {
  hunk.classList.toggle("is-folded", folded);
  hunk.querySelector("[data-fold]")?.setAttribute("aria-expanded", !folded);
}

function foldFile(article, folded = !article.classList.contains("is-folded")) {
  article.classList.toggle("is-folded", folded);
  article.querySelector("[data-fold-file]").setAttribute("aria-expanded", !folded);
  if (folded) article.style.minHeight = "";
}

// What is viewed is hidden when the switch is turned; what is marked later only folds, so nothing jumps away.
function hideViewed(within = document) {
  for (const part of all(".file, .hunk", within)) part.classList.toggle("is-hidden", part.dataset.seen === "viewed");
  if (within.matches?.(".file")) within.classList.toggle("is-hidden", within.dataset.seen === "viewed");
}

function showOnly(isNew) {
  document.body.classList.toggle("new-only", isNew);
  for (const button of all("[data-show]")) button.setAttribute("aria-pressed", (button.dataset.show === "new") === isNew);
  if (isNew) hideViewed();
  else all(".is-hidden").forEach((part) => part.classList.remove("is-hidden"));
  document.getElementById("nothing-new").hidden = !isNew || left > 0;
  remember();
}

function setLayout(split) {
  root.dataset.split = split;
  for (const button of all("[data-layout]")) button.setAttribute("aria-pressed", (button.dataset.layout === "split") === split);
  remember();
  layOutAgain();
}

function layOutAgain() {
  for (const article of all(".file:not([data-later])", diffs)) {
    article.setAttribute("data-later", "");
    watch(article);
  }
}

// The view is kept in the address, so a reload shows the same.
function remember() {
  const query = [document.body.classList.contains("new-only") && "new", root.dataset.split === "true" && "split"].filter(Boolean);
  history.replaceState(null, "", location.pathname + (query.length ? `?${query.join("&")}` : ""));
}

// The decision

function showDecision() {
  const line = document.querySelector("[data-left-text]");
  if (line) line.textContent = left === 0 ? "You have viewed every change" : `${left} ${left === 1 ? "change" : "changes"} not viewed yet`;
  const count = comments.count();
  const place = document.querySelector("[data-comment-count]");
  if (place) place.textContent = count === 0 ? "" : ` with ${count} ${count === 1 ? "comment" : "comments"}`;
}

const decide = () => document.getElementById("decide");
const look = () => refresh(decide());

const acts = {
  approve: () => approve({ task, head, decide: decide(), left, drafts: comments.count(), look }),
  "send-back": () => sendBack({ task, drafts: comments, look }),
  "send-back-to": () => sendBack({ task, drafts: comments, look, isAgentChosen: true }),
  cancel: () => cancel({ task, look }),
  submit: () => submit({ task }),
  "submit-new": () => submit({ task }),
  "show-new": () => location.assign(`/tasks/${task}/review?new`),
};

// Moving about

let current = null;
let row = null;

function select(hunk, scroll = true) {
  if (!hunk) return;
  current?.classList.remove("is-current");
  current = hunk;
  hunk.classList.add("is-current");
  setRow(null);
  if (scroll) {
    hunk.scrollIntoView({ block: "start" });
    hunk.focus({ preventScroll: true });
  }
  showFile(hunk.closest(".file"));
}

function setRow(next) {
  row?.classList.remove("is-cursor");
  row = next;
  row?.classList.add("is-cursor");
  row?.scrollIntoView({ block: "nearest" });
}

const shown = (selector) => all(selector, diffs).filter((part) => part.offsetParent !== null);

async function step(by) {
  const article = current?.closest(".file");
  const hunks = shown(".hunk");
  const place = hunks.indexOf(current);
  const next = hunks[place < 0 ? (by > 0 ? 0 : hunks.length - 1) : place + by];
  // Between the two may be a file that is not here yet.
  const later = by > 0 ? all(".file", diffs).slice(all(".file", diffs).indexOf(article) + 1).find((file) => !file.classList.contains("is-hidden")) : null;
  if (later?.hasAttribute("data-later") && (!next || next.closest(".file") !== article)) return select((await load(later)).querySelector(".hunk"));
  select(next);
}

async function stepFile(by) {
  const files = shown(".file");
  const place = files.indexOf(current?.closest(".file"));
  const next = files[place < 0 ? 0 : Math.max(0, Math.min(files.length - 1, place + by))];
  if (next) await goTo(next);
}

async function goTo(article) {
  const here = await load(article);
  foldFile(here, false);
  here.scrollIntoView({ block: "start" });
  select(here.querySelector(".hunk") ?? null, false);
  showFile(here);
  if (root.dataset.tab !== "changes") showTab("changes");
}

function showFile(article) {
  all("#files [aria-current]").forEach((entry) => entry.removeAttribute("aria-current"));
  const entry = document.querySelector(`[data-tree="${article?.dataset.file}"]`);
  entry?.setAttribute("aria-current", "true");
  entry?.scrollIntoView({ block: "nearest" });
}

function moveRow(by) {
  if (!current) return step(by);
  const rows = all("tr[data-old], tr[data-new]", current).filter((one) => one.offsetParent !== null);
  const first = rows.findIndex((one) => one.matches(".a, .d") || one.querySelector(".a, .d"));
  const place = rows.indexOf(row);
  setRow(rows[place < 0 ? Math.max(0, first) : Math.max(0, Math.min(rows.length - 1, place + by))] ?? null);
}

function showTab(name) {
  root.dataset.tab = name;
  for (const tab of all("[data-tab]")) if (tab !== root) tab.toggleAttribute("aria-current", tab.dataset.tab === name);
  const pane = name === "changes" ? "evidence" : name;
  for (const box of all("[data-pane]")) box.hidden = box.dataset.pane !== pane;
  if (name === "changes") document.querySelector(".panel [data-tab=evidence]")?.setAttribute("aria-current", "page");
}

function filterFiles(text) {
  const wanted = text.trim().toLowerCase();
  let count = 0;
  for (const entry of all("[data-tree]")) {
    const fits = entry.dataset.path.toLowerCase().includes(wanted);
    entry.parentElement.hidden = !fits;
    count += fits;
  }
  for (const folder of all(".folder")) folder.hidden = !folder.querySelector("ul > li:not([hidden])");
  document.getElementById("no-file").hidden = count > 0;
}

// What is pressed and typed

document.addEventListener("click", (event) => {
  const on = (selector) => event.target.closest(selector);
  const hunk = on(".hunk");
  const file = on(".file");
  if (on(".menu-list")) on("details.menu").removeAttribute("open");
  if (on("[data-act]")) {
    acts[on("[data-act]").dataset.act]?.();
  } else if (on("[data-mark]")) mark(hunk);
  else if (on("[data-only-fresh]")) {
    const only = hunk.classList.toggle("only-fresh");
    on("[data-only-fresh]").setAttribute("aria-pressed", only);
  } else if (on("[data-fold]")) foldHunk(hunk);
  else if (on("[data-fold-file]")) foldFile(file);
  else if (on("[data-open]")) openFold(on(".fold"), on("[data-open]").dataset.open).catch((error) => toast(words(error), { isError: true }));
  else if (on("[data-show]")) showOnly(on("[data-show]").dataset.show === "new");
  else if (on("[data-layout]")) setLayout(on("[data-layout]").dataset.layout === "split");
  else if (on("a[data-tab]")) {
    event.preventDefault();
    showTab(on("[data-tab]").dataset.tab);
  } else if (on("[data-tree], [data-goto]")) {
    event.preventDefault();
    const path = on("[data-goto]")?.dataset.goto;
    const article = path ? all(".file", diffs).find((one) => one.dataset.path === path) : document.getElementById(`file-${on("[data-tree]").dataset.tree}`);
    if (article) goTo(article);
  } else if (hunk && hunk !== current) select(hunk, false);
});

const find = document.getElementById("find-file");
find.addEventListener("input", () => filterFiles(find.value));
find.addEventListener("keydown", (event) => {
  if (event.key === "Enter") {
    const first = all("[data-tree]").find((entry) => entry.offsetParent !== null);
    if (first) goTo(document.getElementById(`file-${first.dataset.tree}`));
    find.blur();
  } else if (event.key === "Escape") {
    find.value = "";
    filterFiles("");
    find.blur();
    root.classList.remove("has-tree");
  }
});

const press = (selector) => document.querySelector(selector)?.click();
keys.bind("j", () => step(1));
keys.bind("k", () => step(-1));
keys.bind("]", () => stepFile(1));
keys.bind("[", () => stepFile(-1));
keys.bind("ArrowDown", () => moveRow(1));
keys.bind("ArrowUp", () => moveRow(-1));
keys.bind("v", () => current && mark(current));
keys.bind("o", () => current && foldHunk(current));
keys.bind("c", () => {
  if (!current) return;
  if (!row) moveRow(0);
  if (row) comments.write(comments.anchorOf(row));
  else comments.write(comments.anchorOfFile(current.closest(".file")));
});
keys.bind(["t", "/"], () => {
  root.classList.add("has-tree");
  find.focus();
});
keys.bind("u", () => !narrow.matches && setLayout(root.dataset.split !== "true"));
keys.bind("i", () => showOnly(!document.body.classList.contains("new-only")));
keys.bind("Shift+A", () => document.querySelector("#approve:not([disabled])")?.click());
keys.bind("Shift+R", () => press("#send-back:not([disabled])"));
keys.bind("n", () => press("#next"));
keys.bind("p", () => press("#previous"));
keys.bind("Escape", () => {
  if (root.classList.contains("has-tree")) root.classList.remove("has-tree");
  else if (row) setRow(null);
  else return false;
});

comments.start({ task, head, diffs, load, openFold, changed: showDecision });
all(".file[data-later]", diffs).forEach(watch);
all(".file:not([data-later])", diffs).forEach(ready);
if (document.body.classList.contains("new-only")) showOnly(true);
// The server does not know how wide the screen is.
if (root.dataset.split === "true" && narrow.matches) layOutAgain();
narrow.addEventListener("change", () => root.dataset.split === "true" && layOutAgain());
document.addEventListener("fragment", ({ detail }) => detail.id === "decide" && showDecision());
// The branch can move without an event: somebody commits in the worktree.
document.addEventListener("visibilitychange", () => document.hidden || look());
live.onState((state) => state.isConnected && all(".file[data-later]", diffs).forEach((file) => watcher.observe(file)));
showDecision();
