// Buttons that send a request of the API. data-request holds {method, path, body}, and what else it takes:
//
//   ask               {title, text, label, field, isRequired, max, ok, danger}: a dialog first; its text goes into `field`
//   choose, choices   one of several goes into that field of the body
//   take              the text of the field beside the button goes into that field of the body
//   then              is posted, with an empty body, when the first request is done
//   said              what the message says; without it the page itself shows what changed
//   reload            loads the page again
//
// data-copy copies a text in place of a request. A button whose request is done gets the event "done".

import { send, words } from "./api.js";
import * as dialog from "./dialog.js";
import { save } from "./draft.js";
import { toast } from "./toast.js";

const { make } = dialog;

async function carryOut(button, request, more = {}) {
  const answer = await send(request.method ?? "POST", request.path, { ...(request.body ?? {}), ...more });
  if (request.then) await send("POST", request.then, {});
  if (request.path.endsWith("/fork") && answer?.id) return location.assign(`/runs/${answer.id}`);
  if (request.reload) return location.reload();
  button.dispatchEvent(new CustomEvent("done", { bubbles: true }));
  if (request.said) toast(request.said);
}

// Asks for one of several names; answers with nothing if the person closes it.
function choose(title, choices) {
  return new Promise((resolve) => {
    const list = make("ul", { className: "choices" });
    for (const choice of choices) {
      const button = make("button", { type: "button", className: "btn plain", value: choice }, choice);
      button.addEventListener("click", () => {
        resolve(choice);
        box.close();
      });
      list.append(make("li", {}, button));
    }
    const form = make("div", { className: "form" }, make("h2", {}, title), list);
    const box = make("dialog", { className: "dialog", ariaLabel: title }, form);
    box.addEventListener("close", () => resolve(null));
    dialog.show(box);
    list.querySelector("button")?.focus();
  });
}

// Does what a button asks for; the field beside it is emptied when it is done.
export async function press(button) {
  const request = JSON.parse(button.dataset.request);
  const label = button.textContent.trim();
  const beside = request.take && button.closest("form, li, section")?.querySelector("textarea");
  const more = {};
  if (beside) {
    more[request.take] = beside.value.trim();
    if (!more[request.take]) {
      beside.focus();
      return toast("Write an answer first", { isError: true });
    }
  }
  if (request.ask) {
    const { field, ...rest } = request.ask;
    return dialog.ask({ ok: label, ...rest, done: (text) => carryOut(button, request, field && text ? { ...more, [field]: text } : more) });
  }
  if (request.choose) {
    const found = request.choices.length === 1 ? request.choices[0] : await choose(label, request.choices);
    if (!found) return;
    more[request.choose] = found;
  }
  button.disabled = true;
  button.setAttribute("aria-busy", "true");
  try {
    await carryOut(button, request, more);
    if (!beside) return;
    beside.value = "";
    if (beside.dataset.draft) save(beside, "");
  } catch (error) {
    toast(words(error), { isError: true });
  } finally {
    button.disabled = false;
    button.removeAttribute("aria-busy");
  }
}

async function copy(text) {
  try {
    await navigator.clipboard.writeText(text);
    toast("Copied", { icon: "link" });
  } catch {
    toast(`Copy it yourself: ${text}`);
  }
}

export function start() {
  document.addEventListener("click", (event) => {
    const button = event.target.closest?.("[data-request], [data-copy]");
    if (!button || button.disabled) return;
    event.preventDefault();
    if (button.dataset.request) press(button);
    else copy(button.dataset.copy);
  });
}
