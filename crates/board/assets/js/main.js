// What every page does: the connection, the keys, the sidebar, messages.

import * as clock from "./clock.js";
import * as fragments from "./fragments.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { act } from "./toast.js";

const bar = document.getElementById("offline");

// The bar of a lost connection: since when, and when it is tried again. Decisions wait, drafts stay.
function showState(state) {
  bar.hidden = state.isConnected;
  document.body.classList.toggle("is-offline", !state.isConnected);
  const line = document.querySelector("#connection [data-text]");
  if (line) line.textContent = state.isConnected ? line.parentElement.dataset.liveText : "Connection lost";
  for (const button of document.querySelectorAll("[data-decides]")) button.disabled = !state.isConnected;
  if (!state.isConnected) sayWhen();
}

function sayWhen() {
  if (live.state.isConnected) return;
  const since = new Date(live.state.since).toLocaleTimeString("en-GB");
  const seconds = Math.max(0, Math.ceil((live.state.nextTry - Date.now()) / 1000));
  const next = seconds > 0 ? `Trying again in ${seconds} s.` : "Trying again.";
  bar.querySelector("[data-text]").textContent = `Connection lost at ${since}. ${next} What you type is kept.`;
}

// The count in the tab's title and its icon, after the sidebar was fetched again.
function showCount() {
  const count = Number(document.getElementById("nav").dataset.inbox);
  const title = document.title.replace(/^\(\d+\) /, "");
  document.title = count > 0 ? `(${count}) ${title}` : title;
  const icon = document.querySelector("link[rel=icon]");
  const href = count > 0 ? icon.dataset.dot : icon.dataset.plain;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

export const go = (address) => location.assign(address);

bar.querySelector("[data-try]").addEventListener("click", () => live.tryNow());
setInterval(sayWhen, 500);
live.onState(showState);
document.addEventListener("fragment", ({ detail }) => {
  if (detail.id === "nav") showCount();
  showState(live.state);
});

keys.bind("g i", () => go("/inbox"));
keys.bind("g b", () => go("/"));
keys.bind("g r", () => go("/runs"));
keys.bind("z", () => act());
clock.start();
fragments.start();
keys.start();
live.start();
