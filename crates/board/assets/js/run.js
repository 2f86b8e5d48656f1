// Runs: the list, and the page of one with its question and its steps.

import { html, post, words } from "./api.js";
import { show } from "./dialog.js";
import * as draft from "./draft.js";
import { parse } from "./fragments.js";
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

// The dialog of a signal; the server makes its fields from the signal's schema.
async function openSignal(name) {
  let text;
  try {
    text = await html(`/fragments/runs/${page.dataset.run}/signals/${encodeURIComponent(name)}`);
  } catch (error) {
    return toast(words(error), { isError: true });
  }
  if (text === null) return toast("The run does not take this signal now", { isError: true });
  const dialog = show(parse(text).querySelector("dialog"));
  const form = dialog.querySelector("form");
  const fields = [...form.querySelectorAll("[data-kind]")];
  fields[0]?.focus();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    sendSignal(dialog, form, fields);
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      form.requestSubmit();
    }
  });
}

// What a field holds, as its schema wants it.
function read(field) {
  const text = field.value;
  switch (field.dataset.kind) {
    case "number": return Number(text);
    case "boolean": return text === "true";
    case "lines": return text.split("\n").map((line) => line.trim()).filter(Boolean);
    case "json": return JSON.parse(text);
    default: return text;
  }
}

async function sendSignal(dialog, form, fields) {
  const problem = form.querySelector("[data-problem]");
  const button = form.querySelector("[type=submit]");
  const input = {};
  problem.textContent = "";
  for (const field of fields) {
    // What is left out is not sent: the workflow may have a value of its own.
    if (!field.value.trim()) continue;
    try {
      input[field.name] = read(field);
    } catch {
      problem.textContent = `${field.labels[0].firstChild.textContent.trim()} is not JSON. A text needs quotes.`;
      return field.focus();
    }
  }
  button.disabled = true;
  try {
    await post(`/api/runs/${form.dataset.run}/signal`, { signal: form.dataset.signal, input });
    dialog.close();
    toast(form.dataset.continues === undefined ? `Sent: ${form.dataset.title}` : `Run ${form.dataset.run} continues`);
  } catch (error) {
    problem.textContent = words(error);
    button.disabled = false;
  }
}

document.addEventListener("click", (event) => {
  const button = event.target.closest?.("button[data-signal]");
  if (button && !button.disabled) openSignal(button.dataset.signal);
});

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
