// The decisions of a review. Each names what it does, and says what happened in the API's own words.

import { post, send, words } from "./api.js";
import { ask, make } from "./dialog.js";
import { toast } from "./toast.js";

const paragraph = (text, className = "mid") => make("p", { className }, text);

function next() {
  const link = document.getElementById("next");
  return link ? { label: "Next", key: "N", run: () => link.click() } : null;
}

// Approves exactly the commit that the page shows. What is not whole, not viewed or obeyed is said first.
export function approve({ task, head, decide, left, drafts, look }) {
  const { lacks, obeyed, canApprove } = decide.dataset;
  if (canApprove !== "true") return;
  const merge = async () => {
    await post(`/api/tasks/${task}/approve`, { head, anyway: Boolean(lacks || obeyed) });
    toast(`Approved #${task}`, { action: next() });
    look();
  };
  const parts = [];
  if (obeyed) parts.push(paragraph(`Regatta obeys files in this diff: ${obeyed}. What they say is done after the merge.`, "warn"));
  if (lacks) parts.push(paragraph(`It is not whole: ${lacks}.`, "warn"));
  if (left > 0) parts.push(paragraph(`${left} ${left === 1 ? "change is" : "changes are"} not viewed yet.`));
  if (drafts > 0) parts.push(paragraph(`Your ${drafts === 1 ? "comment is" : `${drafts} comments are`} not sent with an approval.`));
  parts.push(paragraph(`Merges ${head.slice(0, 10)}.`));
  ask({ title: `Approve and merge #${task}`, parts, ok: lacks || obeyed ? "Merge it anyway" : "Approve and merge", done: merge });
}

// Sends the work back with what was written, as one rejection.
export async function sendBack({ task, drafts, look, isAgentChosen = false }) {
  const count = drafts.count();
  const parts = [];
  if (count) parts.push(paragraph(`${count} ${count === 1 ? "comment goes" : "comments go"} along, with the lines they are about.`));
  if (drafts.unfinished()) parts.push(paragraph("A comment that you are still writing stays here.", "warn"));
  const select = make("select", { ariaLabel: "Agent", className: "select" });
  if (isAgentChosen) {
    const { items } = await send("GET", "/api/agents");
    select.append(...items.map((agent) => make("option", { value: agent.id }, agent.id)));
    parts.push(make("label", { className: "row" }, "Send it to ", select));
  }
  const done = async (text) => {
    const body = { comments: drafts.bodies() };
    if (text) {
      // A reason has one thousand characters; more is feedback.
      const first = text.split("\n", 1)[0].slice(0, 1000);
      Object.assign(body, text.length <= 1000 ? { reason: text } : { reason: first, feedback: text });
    }
    if (isAgentChosen) body.agentId = select.value;
    await post(`/api/tasks/${task}/reject`, body);
    drafts.clear();
    for (const box of document.querySelectorAll(".is-draft")) (box.closest("tr.note") ?? box).remove();
    toast(`Sent #${task} back`, { icon: "back", action: next() });
    look();
  };
  const label = count ? "Anything else? (optional)" : "What should change?";
  const ok = count ? `Send back with ${count} ${count === 1 ? "comment" : "comments"}` : "Send back";
  ask({ title: `Send #${task} back`, parts, label, isRequired: count === 0, max: 5000, ok, done });
}

export function cancel({ task, look }) {
  const done = async (reason) => {
    await post(`/api/tasks/${task}/cancel`, reason ? { reason } : {});
    toast(`Cancelled #${task}; the work is kept`, { action: next() });
    look();
  };
  const text = "The task goes back to the backlog. What was done is kept as a salvage.";
  ask({ title: `Cancel the work on #${task}`, text, label: "Why? (optional)", max: 500, ok: "Cancel the work", danger: true, done });
}

// Puts up what is in the worktree now, and shows what is new.
export async function submit({ task }) {
  try {
    await post(`/api/tasks/${task}/submit`, {});
    location.assign(`/tasks/${task}/review?new`);
  } catch (error) {
    toast(words(error), { isError: true });
  }
}
