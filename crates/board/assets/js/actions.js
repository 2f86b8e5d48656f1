// Buttons that say by their attributes what they send:
//
//   data-post="/api/…" data-body='{"…"}' data-said="What the message says when it is done"
//   data-ask="Title" data-ask-text="…" data-ask-field="reason"   asks first, for a text or only for a yes
//   data-take="text"                                             puts the text of the field beside it into the body
//   data-then="reload"                                           loads the page again when it is done
//
// A page can offer to undo what was done: it listens for "done" on the button.

import { post, words } from "./api.js";
import { ask } from "./dialog.js";
import { save } from "./draft.js";
import { toast } from "./toast.js";

async function send(button, body) {
  button.setAttribute("aria-busy", "true");
  button.disabled = true;
  try {
    const answer = await post(button.dataset.post, body);
    const detail = { answer, undo: null };
    button.dispatchEvent(new CustomEvent("done", { bubbles: true, detail }));
    if (button.dataset.then === "reload") return location.reload();
    toast(button.dataset.said || "Done", { action: detail.undo });
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

export async function press(button) {
  const body = JSON.parse(button.dataset.body || "{}");
  const { ask: title, askText: text, askField: field, take } = button.dataset;
  const beside = take && button.closest("form, li, section")?.querySelector("textarea");
  if (beside) {
    body[take] = beside.value.trim();
    if (!body[take]) {
      beside.focus();
      return toast("Write an answer first", { isError: true });
    }
  }
  if (title) {
    const sent = async (value) => {
      if (field) body[field] = value;
      await send(button, body);
    };
    return ask({ title, text, label: field ? "Write why" : null, isRequired: Boolean(field), ok: button.textContent.trim(), done: sent });
  }
  try {
    await send(button, body);
    if (beside) {
      beside.value = "";
      if (beside.dataset.draft) save(beside, "");
    }
  } catch (error) {
    toast(words(error), { isError: true });
  }
}

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest("[data-post]");
    if (button && !button.disabled) press(button);
  });
}
