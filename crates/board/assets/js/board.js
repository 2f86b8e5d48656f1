// The board: cards that follow the log, a filter as you type, windows of long columns, keys.

import { html, words } from "./api.js";
import * as drag from "./drag.js";
import { morph, parse } from "./fragments.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { offer } from "./palette.js";
import { toast } from "./toast.js";

const board = document.getElementById("board");
const filter = document.getElementById("filter");
// More cards than this are not kept in a column: those far above are replaced by their height.
const KEPT_MAX = 150;
const MOVES_QUEUE = /^(task|agent|approval|session):/;
const still = matchMedia("(prefers-reduced-motion: reduce)");

const query = () => filter.value.trim();
const columnOf = (name) => board.querySelector(`.col[data-column="${name}"]`);
const list = (name) => columnOf(name).querySelector(":scope > ol");

// ---- What changed -------------------------------------------------------------------------------------------------------

const wanted = new Set();
let isFetching = false;

function want(ids) {
  for (const id of ids) wanted.add(Number(id));
  if (!isFetching) flush();
}

async function flush() {
  isFetching = true;
  try {
    while (wanted.size) {
      const ids = [...wanted].slice(0, 100);
      for (const id of ids) wanted.delete(id);
      const text = await html(`/fragments/cards?ids=${ids.join(",")}&q=${encodeURIComponent(query())}`);
      if (text !== null) take(parse(text), ids);
    }
  } catch {
    // The connection is lost; when it is back, everything is looked at again.
  } finally {
    isFetching = false;
  }
}

function take(content, ids) {
  takeHeads(content);
  const cards = new Map([...content.querySelectorAll("li[data-task]")].map((card) => [Number(card.dataset.task), card]));
  for (const id of ids) {
    const card = cards.get(id);
    if (card) place(card);
    else document.getElementById(`card-${id}`)?.remove();
  }
}

function takeHeads(content) {
  let all = 0;
  for (const head of content.querySelectorAll("header[data-head]")) {
    const name = head.dataset.head;
    morph(columnOf(name).querySelector(":scope > header"), head.outerHTML);
    document.querySelector(`[data-count-of="${name}"]`).textContent = head.dataset.count;
    all += Number(head.dataset.count);
  }
  board.classList.toggle("filtered", Boolean(query()));
  const none = document.getElementById("no-match");
  none.hidden = all > 0 || !query();
  none.querySelector("[data-query]").textContent = query();
}

// Puts a card where it belongs: in place if it only changed, else with a short move from where it was.
function place(card) {
  const known = document.getElementById(card.id);
  if (known && known.dataset.column === card.dataset.column && known.dataset.rank === card.dataset.rank) {
    morph(known, card.outerHTML);
    return mark(document.getElementById(card.id));
  }
  const focused = known?.contains(document.activeElement);
  const from = known?.getBoundingClientRect();
  known?.remove();
  const cards = list(card.dataset.column);
  const before = [...cards.querySelectorAll("li[data-rank]")].find((other) => other.dataset.rank > card.dataset.rank);
  if (!before && cards.querySelector(".more")) return;
  cards.insertBefore(card, before ?? null);
  if (focused) card.querySelector("h3 a").focus({ preventScroll: true });
  if (from && !still.matches) {
    const to = card.getBoundingClientRect();
    card.animate([{ transform: `translate(${from.x - to.x}px, ${from.y - to.y}px)` }, { transform: "none" }], { duration: 180, easing: "cubic-bezier(.2,.7,.3,1)" });
  }
  mark(card);
}

let isBack = false;
function mark(card) {
  if (!isBack || !card) return;
  card.classList.add("changed");
  setTimeout(() => card.classList.remove("changed"), 2000);
}

live.on((event) => {
  if (event.type === "look-again") return reload(true);
  const ids = new Set();
  if (event.taskId) {
    ids.add(event.taskId);
    for (const card of board.querySelectorAll(`[data-waits~="${Number(event.taskId)}"]`)) ids.add(card.dataset.task);
  }
  if (event.runId) for (const card of board.querySelectorAll(`[data-run="${Number(event.runId)}"]`)) ids.add(card.dataset.task);
  if (MOVES_QUEUE.test(event.type ?? "")) for (const card of board.querySelectorAll("[data-queued]")) ids.add(card.dataset.task);
  if (ids.size) want(ids);
});
// What a running session does is in its transcript and not in the log.
setInterval(() => {
  if (document.hidden || !live.state.isConnected) return;
  const busy = [...board.querySelectorAll("li:has(.ball.now)")].map((card) => card.dataset.task);
  if (busy.length) want(busy);
}, 4000);

// ---- The filter, and windows --------------------------------------------------------------------------------------------

let asked = 0;
async function reload(isAfterLoss = false) {
  const mine = ++asked;
  const names = [...board.querySelectorAll(".col")].map((column) => column.dataset.column);
  try {
    const parts = await Promise.all(
      names.map((name) => {
        const shown = Math.min(100, Math.max(30, isAfterLoss ? list(name).querySelectorAll("li[data-task]").length : 0));
        return html(`/fragments/column?column=${name}&limit=${shown}&q=${encodeURIComponent(query())}`);
      }),
    );
    if (mine !== asked) return;
    isBack = isAfterLoss;
    const before = new Map([...board.querySelectorAll("li[data-task]")].map((card) => [card.id, card.textContent]));
    parts.forEach((text, index) => {
      const content = parse(text);
      if (index === 0) takeHeads(content);
      const cards = content.querySelector("ol");
      morph(list(names[index]), cards.outerHTML);
    });
    if (isAfterLoss) {
      for (const card of board.querySelectorAll("li[data-task]")) if (before.get(card.id) !== card.textContent) mark(card);
    }
    isBack = false;
    watch();
  } catch (error) {
    if (!isAfterLoss) toast(words(error), { isError: true });
  }
}

let typing = 0;
filter.addEventListener("input", () => {
  clearTimeout(typing);
  typing = setTimeout(filterNow, 80);
});
filter.form.addEventListener("submit", (event) => {
  event.preventDefault();
  filterNow();
});
filter.addEventListener("keydown", (event) => {
  if (event.key !== "Escape") return;
  event.preventDefault();
  if (filter.value) setFilter("");
  else filter.blur();
});
document.addEventListener("click", (event) => {
  const term = event.target.closest("[data-term]");
  if (term) {
    const [kind] = term.dataset.term.split(":");
    const others = query().split(/\s+/).filter((word) => word && !(word.startsWith(`${kind}:`) && kind !== "is"));
    setFilter([...others.filter((word) => word !== term.dataset.term), term.dataset.term].join(" "));
  }
  for (const menu of document.querySelectorAll("details.menu[open]")) if (term || !menu.contains(event.target)) menu.open = false;
  if (event.target.closest('[data-do="clear-filter"]')) setFilter("");
  const tab = event.target.closest("[data-tab]");
  if (tab) show(tab.dataset.tab);
});

function setFilter(text) {
  filter.value = text;
  filterNow();
}

function filterNow() {
  clearTimeout(typing);
  const address = new URL(location.href);
  if (query()) address.searchParams.set("q", query());
  else address.searchParams.delete("q");
  history.replaceState(null, "", address);
  reload();
}

function show(name) {
  board.dataset.shown = name;
  for (const tab of document.querySelectorAll("[data-tab]")) {
    if (tab.dataset.tab === name) tab.setAttribute("aria-current", "true");
    else tab.removeAttribute("aria-current");
  }
}

const sight = new IntersectionObserver((seen) => seen.filter((entry) => entry.isIntersecting).forEach((entry) => more(entry.target)), { rootMargin: "800px" });

function watch() {
  sight.disconnect();
  for (const more of board.querySelectorAll("li.more, li.above")) sight.observe(more);
}

const filling = new Set();
async function more(mark) {
  const name = mark.closest(".col").dataset.column;
  if (filling.has(name)) return;
  filling.add(name);
  try {
    if (mark.classList.contains("above")) return await above(mark, name);
    const text = await html(`/fragments/column?column=${name}&q=${encodeURIComponent(query())}&after=${mark.dataset.after}`);
    const content = parse(text);
    for (const card of content.querySelectorAll("ol > li[data-task]")) document.getElementById(card.id)?.remove();
    mark.replaceWith(...content.querySelectorAll("ol > li"));
    prune(list(name));
  } catch {
    // Scrolling again asks again.
  } finally {
    filling.delete(name);
    watch();
  }
}

// The cards above those that are kept: the space that stands for them shrinks by what they fill.
async function above(mark, name) {
  const first = mark.nextElementSibling;
  const space = mark.getBoundingClientRect().height;
  const text = await html(`/fragments/column?column=${name}&q=${encodeURIComponent(query())}&before=${first.dataset.rank}`);
  const cards = [...parse(text).querySelectorAll("ol > li[data-task]")];
  for (const card of cards) document.getElementById(card.id)?.remove();
  mark.after(...cards);
  if (cards.length < 30) return mark.remove();
  const height = first.getBoundingClientRect().top - cards[0].getBoundingClientRect().top;
  mark.style.height = `${Math.max(40, space - height)}px`;
  const extra = [...list(name).querySelectorAll("li[data-task]")].slice(KEPT_MAX).filter((card) => card.getBoundingClientRect().top > innerHeight + 800);
  if (!extra.length) return;
  const more = Object.assign(document.createElement("li"), { className: "more", ariaHidden: "true" });
  more.dataset.after = extra[0].previousElementSibling.dataset.rank;
  list(name).querySelector(".more")?.remove();
  for (const card of extra) card.remove();
  list(name).append(more);
}

// A column keeps only what is near the eye.
function prune(cards) {
  const all = [...cards.querySelectorAll("li[data-task]")];
  const extra = all.slice(0, Math.max(0, all.length - KEPT_MAX)).filter((card) => card.getBoundingClientRect().bottom < -800);
  if (!extra.length) return;
  const known = cards.querySelector(".above");
  const top = (known ?? extra[0]).getBoundingClientRect().top;
  const next = extra.at(-1).nextElementSibling;
  const height = next.getBoundingClientRect().top - top;
  const above = known ?? Object.assign(document.createElement("li"), { className: "above", ariaHidden: "true" });
  for (const card of extra) card.remove();
  if (!known) cards.prepend(above);
  above.style.height = `${height - 8}px`;
}

// ---- Keys ---------------------------------------------------------------------------------------------------------------

const links = (column) => [...column.querySelectorAll("li[data-task] h3 a")].filter((link) => link.offsetParent);
export const selected = () => document.activeElement?.closest?.("li[data-task]");

function focus(link) {
  link?.focus({ preventScroll: true });
  link?.closest("li").scrollIntoView({ block: "nearest", inline: "nearest" });
}

function firstCard() {
  return board.querySelector("li[data-task]:has(.ball.you, .ball.stop) h3 a") ?? board.querySelector("li[data-task] h3 a");
}

function vertical(by) {
  const card = selected();
  if (!card) return focus(firstCard());
  const all = links(card.closest(".col"));
  focus(all[Math.min(all.length - 1, Math.max(0, all.indexOf(card.querySelector("h3 a")) + by))]);
}

function horizontal(by) {
  const card = selected();
  if (!card) return focus(firstCard());
  const columns = [...board.querySelectorAll(".col")];
  const top = card.getBoundingClientRect().top;
  for (let at = columns.indexOf(card.closest(".col")) + by; columns[at]; at += by) {
    const near = links(columns[at]);
    if (near.length) {
      const distance = (link) => Math.abs(link.closest("li").getBoundingClientRect().top - top);
      return focus(near.reduce((best, link) => (distance(link) < distance(best) ? link : best)));
    }
  }
}

keys.bind(["j", "ArrowDown"], () => vertical(1));
keys.bind(["k", "ArrowUp"], () => vertical(-1));
keys.bind(["l", "ArrowRight"], () => horizontal(1));
keys.bind(["h", "ArrowLeft"], () => horizontal(-1));
keys.bind("/", () => {
  filter.focus();
  filter.select();
});
keys.bind("m", () => (selected() ? drag.choose(selected()) : false));
keys.bind("a", () => (selected() ? drag.move(selected(), "in_progress") : false));
keys.bind("Escape", () => (selected() ? document.activeElement.blur() : false));

let last = null;
document.addEventListener("focusin", () => (last = selected() ?? last));
const about = () => (last?.isConnected ? last : null);
const moves = (column) => () => about() && JSON.parse(about().dataset.moves)[column]?.[0];
offer({ label: () => `Assign #${about()?.dataset.task}`, icon: "play", key: "A", when: () => moves("in_progress")() === "assign", run: () => drag.move(about(), "in_progress") });
offer({ label: () => `Send #${about()?.dataset.task} back`, icon: "back", when: () => moves("in_progress")() === "reject", run: () => drag.move(about(), "in_progress") });
offer({ label: () => `Cancel #${about()?.dataset.task}`, icon: "back", when: moves("backlog"), run: () => drag.move(about(), "backlog") });
offer({ label: () => `Take #${about()?.dataset.task} out of the queue`, icon: "queue", when: () => about()?.dataset.queued !== undefined, run: () => drag.dequeue(about()) });
offer({ label: () => `Hide #${about()?.dataset.task}`, icon: "off", when: () => about()?.dataset.column === "verified", run: () => drag.hide(about()) });

drag.start(board);
watch();
