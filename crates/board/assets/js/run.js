// Runs: the list, and the page of one with its question and its steps.

import { post, words } from "./api.js";
import * as draft from "./draft.js";
import * as keys from "./keys.js";
import { toast } from "./toast.js";

const page = document.querySelector(".plainrun");

// Answers the question of the step that it was asked in, so that no other question is answered.
async function answer(form, approved) {
  const field = form.elements.text;
  const text = field.value.trim();
  const problem = form.querySelector("[role=alert]");
  problem.textContent = "";
  if (!text) return field.reportValidity();
  const buttons = form.querySelectorAll("button");
  for (const button of buttons) button.disabled = true;
  try {
    const step = Number(form.closest("[data-step]").dataset.step);
    await post(`/api/runs/${page.dataset.run}/answer`, { text, approved, step });
    draft.save(field, "");
    toast(approved ? "The answer is sent. The run continues" : "Declined. The run continues");
  } catch (error) {
    problem.textContent = words(error);
  } finally {
    for (const button of buttons) button.disabled = false;
  }
}

function prepare() {
  const form = document.getElementById("answer");
  if (form && !form.dataset.ready) {
    form.dataset.ready = "true";
    draft.keep(form.elements.text);
  }
}

document.addEventListener("submit", (event) => {
  if (event.target.id !== "answer") return;
  event.preventDefault();
  answer(event.target, true);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest?.("[data-decline]");
  if (button) answer(button.form, false);
});
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey) && event.target.form?.id === "answer") {
    event.preventDefault();
    answer(event.target.form, true);
  }
});
document.addEventListener("fragment", prepare);
prepare();

// The steps by keys: the newest stands first, so a step back is one line down.
function step(by) {
  const steps = [...document.querySelectorAll(".steplog > li")];
  if (!steps.length) return false;
  const at = steps.findIndex((item) => item.contains(document.activeElement));
  const next = steps[Math.min(steps.length - 1, Math.max(0, at < 0 ? 0 : at - by))];
  next.querySelector("summary").focus();
  next.scrollIntoView({ block: "nearest" });
}

if (page) {
  keys.bind("ArrowLeft", () => step(-1));
  keys.bind("ArrowRight", () => step(1));
  keys.bind("Shift+ArrowLeft", () => step(-10));
  keys.bind("Shift+ArrowRight", () => step(10));
  keys.bind("Home", () => step(-Infinity));
  keys.bind(["End", "l"], () => step(Infinity));
  keys.bind("Escape", () => location.assign("/runs"));
} else {
  keys.bind("Escape", () => location.assign("/"));
}
