// Find or do: tasks and runs come from the server, actions are these and those of the page.

import { html } from "./api.js";
import { show } from "./dialog.js";
import { parse } from "./fragments.js";
import { drawIcon } from "./toast.js";

const actions = [];
const sources = [];
// What is listed now: the actions, and what the sources had when it was drawn.
let listed = [];

// Adds an action: {label, icon, key, run, when}; `label` may be a function of what is typed.
export function offer(action) {
  actions.push(action);
}

// Adds actions that change with the page: `find` returns them each time.
export function offerFrom(find) {
  sources.push(find);
}

export function open() {
  if (document.getElementById("palette")) return;
  const input = Object.assign(document.createElement("input"), { ariaLabel: "Find or do", placeholder: "Find a task or a run, or do something", autocomplete: "off", spellcheck: false });
  input.setAttribute("role", "combobox");
  input.setAttribute("aria-expanded", "true");
  input.setAttribute("aria-controls", "found");
  const field = document.createElement("div");
  field.className = "field";
  field.append(drawIcon("search", false), input);
  const list = Object.assign(document.createElement("div"), { id: "found", className: "found-list" });
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-label", "Found");
  const foot = document.createElement("footer");
  foot.className = "dim";
  for (const [key, word] of [["↑ ↓", "move"], ["↵", "open"], ["Esc", "close"]]) {
    foot.append(Object.assign(document.createElement("kbd"), { textContent: key }), ` ${word} `);
  }
  const dialog = Object.assign(document.createElement("dialog"), { id: "palette", className: "dialog palette", ariaLabel: "Find or do" });
  dialog.append(field, list, foot);
  let asked = 0;

  const options = () => [...list.querySelectorAll("[role=option]")];
  const choose = (option) => {
    for (const other of options()) other.setAttribute("aria-selected", String(other === option));
    input.setAttribute("aria-activedescendant", option?.id ?? "");
    option?.scrollIntoView({ block: "nearest" });
  };
  const run = (option) => {
    if (!option) return;
    dialog.close();
    if (option.dataset.go) location.assign(option.dataset.go);
    else listed[Number(option.dataset.action)].run(input.value.trim());
  };
  const step = (by) => {
    const all = options();
    const at = all.findIndex((option) => option.getAttribute("aria-selected") === "true");
    choose(all[(at + by + all.length) % all.length]);
  };
  const search = async () => {
    const mine = ++asked;
    const query = input.value.trim();
    let found = null;
    try {
      found = await html(`/fragments/find?q=${encodeURIComponent(query)}`);
    } catch {
      // Without a connection the actions are still there.
    }
    if (mine !== asked) return;
    list.replaceChildren(...(found ? [...parse(found).firstElementChild.children] : []), ...doings(query));
    choose(options()[0]);
  };

  let searching = null;
  input.addEventListener("input", () => (searching = search()));
  // Whoever types fast means what is being searched for, not what is still shown.
  const enter = async () => {
    await searching;
    run(options().find((option) => option.getAttribute("aria-selected") === "true"));
  };
  dialog.addEventListener("keydown", (event) => {
    if (event.key === "ArrowDown") step(1);
    else if (event.key === "ArrowUp") step(-1);
    else if (event.key === "Enter") enter();
    else return;
    event.preventDefault();
  });
  list.addEventListener("click", (event) => run(event.target.closest("[role=option]")));
  list.addEventListener("pointermove", (event) => {
    const option = event.target.closest("[role=option]");
    if (option && option.getAttribute("aria-selected") !== "true") choose(option);
  });
  show(dialog);
  input.focus();
  list.replaceChildren(...doings(""));
  search();
}

function doings(query) {
  const words = query.toLowerCase().split(/\s+/).filter(Boolean);
  const fits = (action) => {
    if (action.when && !action.when(query)) return false;
    const label = labelOf(action, query).toLowerCase();
    return action.always || words.every((word) => label.includes(word));
  };
  listed = [...sources.flatMap((find) => find()), ...actions];
  const found = listed.filter(fits);
  // What fits what was typed comes before what always fits.
  if (words.length) found.sort((one, other) => Number(one.always ?? false) - Number(other.always ?? false));
  if (!found.length) return [];
  const head = Object.assign(document.createElement("h3"), { textContent: "Do" });
  head.setAttribute("role", "presentation");
  const group = document.createElement("ul");
  group.setAttribute("role", "group");
  group.setAttribute("aria-label", "Do");
  for (const action of found) {
    const row = document.createElement("li");
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    row.id = `do-${listed.indexOf(action)}`;
    row.dataset.action = listed.indexOf(action);
    const icon = drawIcon(action.icon ?? "right", false);
    icon.classList.add("dim");
    row.append(icon, Object.assign(document.createElement("span"), { className: "cut", textContent: labelOf(action, query) }));
    if (action.key) row.append(Object.assign(document.createElement("kbd"), { className: "end", textContent: action.key }));
    group.append(row);
  }
  return [head, group];
}

const labelOf = (action, query) => (typeof action.label === "function" ? action.label(query) : action.label);
