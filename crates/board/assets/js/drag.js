// Moving a card: with the mouse, or with M. Where it can go, what a drop does there and why not elsewhere come from the server
// with the card, and are said in the columns before the drop.

import { post, words } from "./api.js";
import { ask, show } from "./dialog.js";
import { assign } from "./new_task.js";
import { drawIcon, toast } from "./toast.js";

const ICONS = { assign: "play", cancel: "back", reject: "back", submit: "check" };
let board = null;
let moving = null;

const said = (text) => (document.getElementById("said").textContent = text);
const columns = () => [...board.querySelectorAll(".col")];
const movesOf = (card) => JSON.parse(card.dataset.moves);

export function start(element) {
  board = element;
  board.addEventListener("dragstart", (event) => {
    const card = event.target.closest?.("li[data-task]");
    if (!card) return;
    event.dataTransfer.effectAllowed = "move";
    event.dataTransfer.setData("text/plain", `#${card.dataset.task}`);
    // The columns change only after the browser has its picture of the card.
    requestAnimationFrame(() => lift(card));
  });
  board.addEventListener("dragover", (event) => {
    const column = event.target.closest?.(".col.can");
    for (const other of columns()) other.classList.toggle("target", other === column);
    if (!column) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "move";
  });
  board.addEventListener("drop", (event) => {
    const column = event.target.closest?.(".col.can");
    const card = moving;
    event.preventDefault();
    settle();
    if (column && card) move(card, column.dataset.column);
  });
  board.addEventListener("dragend", settle);
}

// Shows where a card can go.
function lift(card) {
  moving = card;
  card.classList.add("ghost");
  const moves = movesOf(card);
  for (const column of columns()) {
    const found = moves[column.dataset.column];
    if (!found) continue;
    const [verb, says] = found;
    column.classList.add(verb ? "can" : "cannot");
    const note = column.querySelector(".dropnote");
    note.replaceChildren(drawIcon(verb ? ICONS[verb] : "x"), Object.assign(document.createElement("span"), { textContent: says }));
    note.hidden = false;
  }
}

function settle() {
  moving?.classList.remove("ghost");
  moving = null;
  for (const column of columns()) {
    column.classList.remove("can", "cannot", "target");
    column.querySelector(".dropnote").hidden = true;
  }
}

// M: choose a column with the arrows, Enter drops, Esc leaves it where it is.
export function choose(card) {
  settle();
  lift(card);
  const all = columns();
  const moves = movesOf(card);
  const can = all.filter((column) => moves[column.dataset.column]?.[0]);
  let at = all.indexOf(can[0] ?? all.find((column) => column.dataset.column !== card.dataset.column));
  const aim = () => {
    for (const column of all) column.classList.toggle("target", column === all[at]);
    const name = all[at].querySelector("h2").textContent;
    said(`${name}: ${moves[all[at].dataset.column]?.[1] ?? "It is here now."}`);
    all[at].scrollIntoView({ block: "nearest", inline: "nearest" });
  };
  const end = () => {
    removeEventListener("keydown", heard, true);
    removeEventListener("pointerdown", end, true);
    settle();
  };
  const heard = (event) => {
    const step = { ArrowRight: 1, l: 1, ArrowLeft: -1, h: -1 }[event.key];
    if (step) {
      at = Math.min(all.length - 1, Math.max(0, at + step));
      aim();
    } else if (event.key === "Enter") {
      const to = all[at].dataset.column;
      end();
      if (to !== card.dataset.column) move(card, to);
    } else if (event.key === "Escape" || event.key === "m") {
      end();
      said("It stays where it is.");
    } else if (event.key === "Tab") {
      end();
      return;
    }
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("keydown", heard, true);
  addEventListener("pointerdown", end, true);
  aim();
}

// Does what a drop in a column does, or says why it is not possible.
export function move(card, column) {
  const found = movesOf(card)[column];
  if (!found) return;
  const [verb, says] = found;
  const id = Number(card.dataset.task);
  if (!verb) {
    said(says);
    toast(`#${id}: ${says}`, { isError: true });
  } else if (verb === "assign") {
    pick(id);
  } else if (verb === "cancel") {
    ask({
      title: `Cancel #${id}?`,
      text: "Its agent is stopped and it goes back to the backlog. The work is kept.",
      label: "Why (can stay empty)",
      max: 500,
      ok: "Cancel the task",
      danger: true,
      done: async (reason) => {
        await post(`/api/tasks/${id}/cancel`, reason ? { reason } : {});
        toast(`#${id} goes back to the backlog. The work is kept`, { icon: "back" });
      },
    });
  } else if (verb === "reject") {
    ask({
      title: `Send #${id} back`,
      text: "The agent works on with what you write.",
      label: "What is missing?",
      isRequired: true,
      ok: "Send back",
      done: async (reason) => {
        await post(`/api/tasks/${id}/reject`, { reason });
        toast(`#${id} was sent back`, { icon: "back" });
      },
    });
  } else if (verb === "submit") {
    run(() => post(`/api/tasks/${id}/submit`), `#${id} was submitted for review`, "check");
  }
}

async function run(change, text, icon, action = null) {
  try {
    await change();
    toast(text, { icon, action });
  } catch (error) {
    toast(words(error), { isError: true });
  }
}

// Takes a task out of the queue; undone by queueing it again for the same agent.
export function dequeue(card) {
  const id = card.dataset.task;
  const agent = card.dataset.queued || "any";
  const undo = { label: "Undo", key: "Z", run: () => give(id, agent) };
  run(() => post(`/api/tasks/${id}/dequeue`), `#${id} was taken out of the queue`, "queue", undo);
}

// Hides a merged task; undone by showing it again.
export function hide(card) {
  const id = card.dataset.task;
  const undo = { label: "Undo", key: "Z", run: () => run(() => post(`/api/tasks/${id}/hide`, { hidden: false }), `#${id} is shown again`, "eye") };
  run(() => post(`/api/tasks/${id}/hide`, { hidden: true }), `#${id} is hidden. The filter is:hidden shows it`, "off", undo);
}

const give = (id, agent) => assign(id, agent).catch((error) => toast(words(error), { isError: true }));

// Asks which agent gets it; with only one there is nothing to ask.
function pick(id) {
  const agents = board.dataset.agents.split(",").filter(Boolean);
  if (agents.length < 2) return give(id, agents[0]);
  const dialog = Object.assign(document.createElement("dialog"), { className: "dialog pick-agent", ariaLabel: `Assign #${id}` });
  const title = Object.assign(document.createElement("h2"), { textContent: `Assign #${id} to` });
  const choices = document.createElement("ul");
  for (const agent of ["any", ...agents]) {
    const item = document.createElement("li");
    const button = Object.assign(document.createElement("button"), { type: "button", className: "item" });
    const face = document.querySelector(`#nav .agent b`)
      ? [...document.querySelectorAll("#nav .agent")].find((line) => line.querySelector("b").textContent === agent)
      : null;
    const mark = face?.querySelector(".face").cloneNode(true) ?? drawIcon("play", false);
    const line = face?.querySelector("small")?.textContent ?? "";
    button.append(mark, Object.assign(document.createElement("span"), { textContent: agent === "any" ? "The next free agent" : agent }));
    button.append(Object.assign(document.createElement("small"), { className: "dim end cut", textContent: line }));
    button.addEventListener("click", () => {
      dialog.close();
      give(id, agent);
    });
    item.append(button);
    choices.append(item);
  }
  dialog.append(title, choices);
  dialog.addEventListener("keydown", (event) => {
    const by = { ArrowDown: 1, j: 1, ArrowUp: -1, k: -1 }[event.key];
    if (!by) return;
    event.preventDefault();
    const all = [...choices.querySelectorAll("button")];
    all[(all.indexOf(document.activeElement) + by + all.length) % all.length].focus();
  });
  show(dialog);
  choices.querySelector("button").focus();
}
