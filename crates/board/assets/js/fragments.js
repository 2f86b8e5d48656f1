// Pieces of a page that are fetched again when something happens to what they show:
//
//   <div data-live="task:38 run:7" data-src="/fragments/…">   is replaced by what data-src answers
//
// `*` stands for every event. With `data-slow` at most one fetch a second is made. Focus, scrolling and what is being typed
// stay: the new piece is morphed into the old one.

import { html } from "./api.js";
import * as live from "./live.js";

const SLOW = 1000;
const pending = new Map();

// What an event is about.
export function topics(event) {
  const found = ["*"];
  if (event.taskId) found.push(`task:${event.taskId}`);
  if (event.runId) found.push(`run:${event.runId}`);
  return found;
}

// Turns a text into the one element that it has.
export function parse(text) {
  const template = document.createElement("template");
  template.innerHTML = text;
  return template.content;
}

// Morphs an element into what a text says; a field that is being edited keeps its text.
export function morph(element, text) {
  Idiomorph.morph(element, text, {
    ignoreActiveValue: true,
    callbacks: {
      beforeNodeMorphed: (old) => !(old instanceof Element && old.hasAttribute("data-keep")),
    },
  });
}

// Fetches a piece again; more than one wish at a time becomes one.
export async function refresh(element) {
  const known = pending.get(element);
  if (known) {
    known.again = true;
    return;
  }
  const entry = { again: false };
  pending.set(element, entry);
  try {
    do {
      entry.again = false;
      const text = await html(element.dataset.src);
      if (text === null) element.remove();
      else if (element.isConnected) {
        morph(element, text);
        document.dispatchEvent(new CustomEvent("fragment", { detail: element }));
      }
      if (element.dataset.slow !== undefined) await new Promise((done) => setTimeout(done, SLOW));
    } while (entry.again && element.isConnected);
  } catch {
    // The connection is lost; when it is back, everything is looked at again.
  } finally {
    pending.delete(element);
  }
}

export function start() {
  live.on((event) => {
    const about = topics(event);
    for (const element of document.querySelectorAll("[data-live][data-src]")) {
      const wants = element.dataset.live.split(" ");
      if (event.type === "look-again" || wants.some((topic) => about.includes(topic))) refresh(element);
    }
  });
}
