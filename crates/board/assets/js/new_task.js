// The dialog of a new task: title first, Enter in a criterion makes the next.

import { post, words } from "./api.js";
import { open } from "./dialog.js";
import * as draft from "./draft.js";
import { toast } from "./toast.js";

const DRAFT = { dataset: { draft: "new-task" } };

// Settled when the last task that was asked for is made and assigned: a page that is left before that loses the second half.
export let creating = Promise.resolve();

export async function newTask(title = "") {
  if (document.getElementById("new-task")) return;
  let dialog;
  try {
    dialog = await open("/fragments/new-task");
  } catch (error) {
    return toast(words(error), { isError: true });
  }
  const form = dialog.querySelector("form");
  const list = form.querySelector(".newcrit");
  const values = (name) => [...form.querySelectorAll(`[name=${name}]`)].map((field) => field.value.trim()).filter(Boolean);
  restore(form, list, title);
  const save = () =>
    draft.save(DRAFT, JSON.stringify({ title: form.elements.title.value, description: form.elements.description.value, criteria: values("criterion") }));
  form.addEventListener("input", save);
  form.addEventListener("change", (event) => {
    if (event.target.name === "agent") form.elements.assign.checked = true;
  });
  form.addEventListener("keydown", (event) => {
    if (event.key !== "Enter") return;
    if (event.ctrlKey || event.metaKey) {
      event.preventDefault();
      form.requestSubmit();
    } else if (event.target.name === "criterion") {
      event.preventDefault();
      if (event.target.value.trim()) add(list).focus();
    } else if (event.target.tagName === "INPUT" && event.target.type !== "checkbox") {
      // Enter in the title moves to the description; only Ctrl Enter and the button create.
      event.preventDefault();
      form.elements.description.focus();
    }
  });
  list.addEventListener("keydown", (event) => {
    const row = event.target.closest("li");
    if (event.key === "Backspace" && !event.target.value && list.children.length > 1) {
      event.preventDefault();
      (row.previousElementSibling ?? row.nextElementSibling).querySelector("input").focus();
      row.remove();
    }
  });
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    creating = create(dialog, form, values);
  });
  form.elements.title.focus();
}

function add(list) {
  const row = list.firstElementChild.cloneNode(true);
  row.querySelector("input").value = "";
  list.append(row);
  return row.querySelector("input");
}

function restore(form, list, title) {
  let kept = {};
  try {
    kept = JSON.parse(draft.load(DRAFT) || "{}");
  } catch {
    // A draft that cannot be read is none.
  }
  form.elements.title.value = title || kept.title || "";
  form.elements.description.value = kept.description ?? "";
  (kept.criteria ?? []).forEach((text, index) => ((index ? add(list) : list.querySelector("input")).value = text));
}

async function create(dialog, form, values) {
  const problem = form.querySelector("[data-problem]");
  const button = form.querySelector("[type=submit]");
  const fields = form.elements;
  const numbers = (fields.depends.value.match(/\d+/g) ?? []).map(Number);
  const body = {
    title: fields.title.value.trim(),
    description: fields.description.value.trim(),
    criteria: values("criterion"),
    dependencies: numbers,
    priority: fields.priority.value,
  };
  if (fields.epic?.value) body.epicId = Number(fields.epic.value);
  problem.textContent = "";
  button.disabled = true;
  try {
    const task = await post("/api/tasks", body);
    draft.save(DRAFT, "");
    dialog.close();
    const see = { label: "Open", run: () => location.assign(`/tasks/${task.id}`) };
    if (fields.assign?.checked) await assign(task.id, fields.agent.value, see);
    else toast(`#${task.id} was added to the backlog`, { icon: "plus", action: see });
  } catch (error) {
    if (dialog.open) problem.textContent = words(error);
    else toast(words(error), { isError: true });
  } finally {
    button.disabled = false;
  }
}

// Gives a task to an agent, or queues it, and says which.
export async function assign(id, agent, action = null) {
  const task = await post(`/api/tasks/${id}/assign`, { agentId: agent });
  if (task?.queuePosition) {
    const undo = { label: "Undo", key: "Z", run: () => post(`/api/tasks/${id}/dequeue`).then(() => toast(`#${id} was taken out of the queue`, { icon: "queue" }), () => {}) };
    toast(`#${id} was queued: ${task.queuePosition === 1 ? "next" : `number ${task.queuePosition}`} in the queue`, { icon: "queue", action: undo });
  } else {
    toast(`#${id} was given to ${task?.agentId ?? agent}`, { icon: "play", action });
  }
}
