// Dialogs: the browser's own element, so focus stays inside and Esc closes.

import { html, words } from "./api.js";
import { parse } from "./fragments.js";

// Makes an element with these properties and children.
export const make = (tag, fields = {}, ...children) => {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
};

// Opens a dialog that the server renders; answers with its element.
export async function open(src) {
  const content = parse(await html(src));
  return show(content.querySelector("dialog"));
}

export function show(dialog) {
  const before = document.activeElement;
  document.body.append(dialog);
  dialog.addEventListener("close", () => {
    dialog.remove();
    if (before?.isConnected) before.focus({ preventScroll: true });
  });
  // A click beside it closes it.
  dialog.addEventListener("pointerdown", (event) => event.target === dialog && dialog.close());
  for (const button of dialog.querySelectorAll("[data-close]")) button.addEventListener("click", () => dialog.close());
  dialog.showModal();
  dialog.querySelector("[autofocus]")?.focus();
  return dialog;
}

// Asks for a text, or only for a yes. `parts` are elements above the field; `done` gets the text and may throw: its words are
// shown and the dialog stays.
export function ask({ title, text = "", parts = [], label = null, value = "", isRequired = false, max = 1000, ok, danger = false, done }) {
  const field = label && make("textarea", { rows: 3, value, required: isRequired, maxLength: max, placeholder: label, ariaLabel: label });
  const problem = make("p", { className: "bad", role: "alert" });
  const button = make("button", { type: "submit", className: `btn primary${danger ? " danger" : ""}`, id: "do-it" }, ok);
  const cancel = make("button", { type: "button", className: "btn plain" }, "Not now");
  const body = make("div", { className: "form" }, make("h2", {}, title));
  if (text) body.append(make("p", { className: "mid" }, text));
  body.append(...parts, ...(field ? [field] : []), problem);
  const form = make("form", { method: "dialog" }, body, make("footer", {}, cancel, make("span", { className: "end" }), button));
  const dialog = make("dialog", { className: "dialog", ariaLabel: title }, form);
  const submit = async () => {
    if (!form.reportValidity()) return;
    button.disabled = true;
    try {
      await done(field ? field.value.trim() : "");
      dialog.close();
    } catch (error) {
      problem.textContent = words(error);
      button.disabled = false;
    }
  };
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  form.addEventListener("keydown", (event) => {
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      submit();
    }
  });
  cancel.addEventListener("click", () => dialog.close());
  show(dialog);
  (field ?? button).focus();
}
