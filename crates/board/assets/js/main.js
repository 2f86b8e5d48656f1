// What every page does: the connection, the keys, the sidebar, messages.

import * as clock from "./clock.js";
import * as dialog from "./dialog.js";
import * as fragments from "./fragments.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { newTask } from "./new_task.js";
import * as notify from "./notify.js";
import * as palette from "./palette.js";
import * as request from "./request.js";
import { act, toast } from "./toast.js";

const bar = document.getElementById("offline");

// The bar of a lost connection: since when, and when it is tried again. Decisions wait, drafts stay.
function showState(state) {
  bar.hidden = state.isConnected;
  document.body.classList.toggle("is-offline", !state.isConnected);
  const line = document.querySelector("#connection [data-text]");
  if (line) line.textContent = state.isConnected ? line.closest("#connection").dataset.said : "Connection lost";
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
  notify.count(count);
  document.title = count > 0 ? `(${count}) ${title}` : title;
  const icon = document.querySelector("link[rel=icon]");
  const href = count > 0 ? icon.dataset.dot : icon.dataset.plain;
  if (icon.getAttribute("href") !== href) icon.setAttribute("href", href);
}

const go = (address) => location.assign(address);

async function showKeys() {
  const shown = await dialog.open("/fragments/keys");
  const box = shown.querySelector("[data-keys-on]");
  box.checked = keys.isOn();
  box.addEventListener("change", () => keys.setOn(box.checked));
}

function setTheme(theme) {
  document.documentElement.dataset.theme = theme;
  localStorage.setItem("regatta-theme", theme);
}

const doings = {
  palette: () => palette.open(),
  "new-task": () => newTask(),
  notify: () => notify.ask(),
  keys: () => showKeys(),
};
document.addEventListener("click", (event) => {
  const button = event.target.closest("[data-do]");
  doings[button?.dataset.do]?.();
});

// What the page of a task or a run has buttons for, the palette has, too.
const BUTTONS = ".head.line :is([data-request], a.btn:not(.icon)), #signals button, .error .fix .btn";
palette.offerFrom(() => {
  const head = document.querySelector("#task-head, #run-head");
  const about = head?.dataset.task ? `#${head.dataset.task}` : `Run ${head?.dataset.run}`;
  const buttons = head ? [...document.querySelectorAll(BUTTONS)].filter((button) => !button.disabled) : [];
  const icon = (button) => button.querySelector("use")?.getAttribute("href").replace("#i-", "") ?? "right";
  return buttons.map((button) => ({ label: `${about}: ${button.textContent.trim()}`, icon: icon(button), run: () => button.click() }));
});
palette.offer({ label: (query) => (query ? `New task “${query}”` : "New task"), icon: "plus", key: "C", always: true, run: (query) => newTask(query) });
palette.offer({ label: "Go to the inbox", icon: "inbox", key: "G I", run: () => go("/inbox") });
palette.offer({ label: "Go to the board", icon: "board", key: "G B", run: () => go("/") });
palette.offer({ label: "Go to the runs", icon: "runs", key: "G R", run: () => go("/runs") });
palette.offer({ label: "Show the keys", icon: "term", key: "?", run: showKeys });
palette.offer({ label: "Notify me in this browser", icon: "alert", run: notify.ask });
palette.offer({ label: "Use light colours", icon: "eye", run: () => setTheme("light") });
palette.offer({ label: "Use dark colours", icon: "eye", run: () => setTheme("dark") });
palette.offer({ label: "Use the colours of the system", icon: "eye", run: () => setTheme("auto") });
palette.offer({ label: "Switch the keys on or off", icon: "term", run: () => (keys.setOn(!keys.isOn()), toast(keys.isOn() ? "Keys are on" : "Keys are off")) });

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
keys.bind("c", () => doings["new-task"]());
keys.bind("?", () => doings.keys());
keys.bind("Control+k", () => palette.open());
keys.bind("Escape", () => (document.referrer.startsWith(location.origin) && location.pathname !== "/" ? history.back() : false));
clock.start();
fragments.start();
keys.start();
live.start();
request.start();
