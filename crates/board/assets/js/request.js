// Buttons that send a request of the API: data-request holds {method, path, body} and what the person is asked before.
//
//   choose, choices   one of several goes into that field of the body
//   ask               {title, text, label, field, ok, danger}: a dialog first; its text goes into `field`
//   then              is posted when the first request is done
//
// data-copy copies a text in place of a request.

import { send, words } from "./api.js";
import * as dialog from "./dialog.js";
import { toast } from "./toast.js";

const make = (tag, fields, ...children) => {
  const element = Object.assign(document.createElement(tag), fields);
  element.append(...children);
  return element;
};

async function carryOut(request, more = {}) {
  const answer = await send(request.method ?? "POST", request.path, { ...(request.body ?? {}), ...more });
  if (request.then) await send("POST", request.then, {});
  if (request.path.endsWith("/fork") && answer?.id) location.assign(`/runs/${answer.id}`);
  return answer;
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

export async function run(button) {
  const request = JSON.parse(button.dataset.request);
  const label = button.textContent.trim();
  if (request.ask) {
    const { field, ...rest } = request.ask;
    dialog.ask({ ...rest, max: 1000, done: (text) => carryOut(request, field && text ? { [field]: text } : {}) });
    return;
  }
  let more = {};
  if (request.choose) {
    const found = request.choices.length === 1 ? request.choices[0] : await choose(label, request.choices);
    if (!found) return;
    more = { [request.choose]: found };
  }
  button.disabled = true;
  try {
    await carryOut(request, more);
    if (!button.closest(".head, .error")) toast(`${label}: done`);
  } catch (error) {
    toast(words(error), { isError: true });
  } finally {
    button.disabled = false;
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
    if (button.dataset.request) run(button);
    else copy(button.dataset.copy);
  });
}
