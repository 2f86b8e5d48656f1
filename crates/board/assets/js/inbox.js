// The inbox: J and K move, the focused row turns its best answer primary, an answered row folds away.

import * as draft from "./draft.js";
import * as keys from "./keys.js";
import { press } from "./request.js";

const rows = () => [...document.querySelectorAll("#rows > .ask")];
const current = () => document.activeElement?.closest?.(".ask");

function step(by) {
  const all = rows();
  if (!all.length) return false;
  const at = all.indexOf(current());
  const next = all[at < 0 ? (by > 0 ? 0 : all.length - 1) : Math.min(all.length - 1, Math.max(0, at + by))];
  next.focus();
  next.scrollIntoView({ block: "nearest" });
}

function answer(key) {
  const button = (current() ?? (rows().length === 1 ? rows()[0] : null))?.querySelector(`[data-key="${key}"]`);
  if (!button) return false;
  press(button);
}

keys.bind(["j", "ArrowDown"], () => step(1));
keys.bind(["k", "ArrowUp"], () => step(-1));
keys.bind("a", () => answer("A"));
keys.bind("r", () => answer("R"));
keys.bind("Enter", (event) => {
  const row = current();
  if (!row || event.target !== row) return false;
  location.assign(row.dataset.open);
});
document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
  const button = event.target.closest?.(".ask")?.querySelector(".best[data-request]");
  if (!button) return;
  event.preventDefault();
  press(button);
});
// An answer that is half written survives a reload; rows that come later have fields of their own.
function keepDrafts() {
  for (const field of document.querySelectorAll(".ask [data-draft]:not([data-kept])")) {
    field.dataset.kept = "";
    draft.keep(field);
  }
}
keepDrafts();
document.addEventListener("fragment", keepDrafts);
// Answered: the row folds, and the next one has the focus.
document.addEventListener("done", (event) => {
  const row = event.target.closest(".ask");
  if (!row) return;
  const all = rows();
  const next = all[all.indexOf(row) + 1] ?? all[all.indexOf(row) - 1];
  row.classList.add("gone");
  next?.focus({ preventScroll: true });
});
// An address with a place, such as /inbox#run-7, begins there.
if (location.hash.length > 1) {
  const row = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  row?.scrollIntoView({ block: "center" });
  (row?.querySelector("textarea") ?? row)?.focus();
}
