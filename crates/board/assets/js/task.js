// The page of a task: its log, its file, the note to its agent, its keys.

import { html, post, words } from "./api.js";
import * as draft from "./draft.js";
import { morph } from "./fragments.js";
import * as keys from "./keys.js";
import * as live from "./live.js";
import { Log } from "./log.js";
import { toast } from "./toast.js";

const page = document.querySelector(".task");
const task = page.dataset.task;
const onCtrlEnter = (field, run) =>
  field.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    run();
  });

// The log, and the choice of a session.
const list = document.getElementById("log");
const log = list && new Log(list);
const isNewest = document.getElementById("session")?.dataset.newest === "true";
document.addEventListener("change", (event) => {
  if (event.target.id === "session") location.assign(`/tasks/${task}?session=${encodeURIComponent(event.target.value)}`);
});
document.addEventListener("fragment", ({ detail }) => {
  if (detail.id === "logbar") {
    log.say();
    // Whoever reads the newest session reads the next one, too, unless a note is being written.
    const newest = document.getElementById("session").options[0]?.value;
    if (isNewest && newest && newest !== log.session) location.replace(`/tasks/${task}`);
  }
  if (detail.id === "task-head" && !list && page.dataset.tab === "session" && detail.dataset.column !== "backlog") showLog();
});

// The first session has begun: the page shows its log as soon as there is one.
async function showLog() {
  const text = await html(`/fragments/tasks/${task}/middle`).catch(() => null);
  if (text?.includes('id="log"')) location.replace(`/tasks/${task}`);
}

// The note to the agent.
const note = document.getElementById("note");
if (note) {
  const field = draft.keep(note.elements.text);
  const submit = async () => {
    const text = field.value.trim();
    if (!text) return field.focus();
    const button = note.querySelector("button");
    button.disabled = true;
    try {
      await post(`/api/tasks/${task}/notes`, { text });
      field.value = "";
      draft.save(field);
      toast("The note is sent. It is in the agent's next prompt, or earlier if it looks");
    } catch (error) {
      toast(words(error), { isError: true });
    } finally {
      button.disabled = !live.state.isConnected;
    }
  };
  note.addEventListener("submit", (event) => {
    event.preventDefault();
    submit();
  });
  onCtrlEnter(field, submit);
}

// The task's file: rendered, or a field in its place. Saving names the version that was read.
const middle = document.querySelector(".filetab");
if (middle) {
  const [article, editor, bar] = ["file", "editor", "elsewhere"].map((name) => document.getElementById(name));
  const [field, both] = [editor.elements.text, document.getElementById("both")];
  const problem = editor.querySelector("[role=alert]");
  const address = `/api/tasks/${task}/file`;
  let version = null;
  let before = field.value;
  const read = async () => {
    const response = await fetch(address, { headers: { accept: "text/markdown" } });
    if (!response.ok) throw new Error("The file could not be read");
    return { text: await response.text(), tag: response.headers.get("etag") };
  };
  const show = (isOpen) => {
    [editor.hidden, article.hidden, document.getElementById("edit").hidden] = [!isOpen, isOpen, isOpen];
    if (!isOpen) [bar.hidden, both.hidden, problem.textContent] = [true, true, ""];
  };
  const edit = async () => {
    const now = await read();
    [before, version] = [now.text, now.tag];
    field.value = draft.load(field) ?? now.text;
    show(true);
    field.focus();
  };
  const stop = async () => {
    draft.save(field, "");
    show(false);
    morph(article, await html(article.dataset.src));
  };
  // The file was changed by somebody else: both versions are shown, and saving again keeps what the person made of them.
  const elsewhere = async (isShown) => {
    const now = await read();
    if (now.text === before) {
      version = now.tag;
      return false;
    }
    bar.hidden = false;
    if (!isShown) return true;
    both.hidden = false;
    both.querySelector("textarea").value = now.text;
    [before, version] = [now.text, now.tag];
    return true;
  };
  const put = (text) =>
    fetch(address, {
      method: "PUT",
      headers: { "content-type": "text/markdown", accept: "application/json", "if-match": version },
      body: text,
    }).catch(() => null);
  // Puts back what was there, unless somebody has changed the file since.
  const undo = async (text) => {
    const response = await put(text);
    if (!response?.ok) return toast("It was not undone: the file was changed since, or the server cannot be reached", { isError: true });
    morph(article, await html(article.dataset.src));
    toast("The file is as it was before", { icon: "back" });
  };
  const save = async () => {
    problem.textContent = "";
    const text = field.value;
    let response = await put(text);
    if (response?.status === 412) {
      // What somebody else did to the task moves the version, too; only another text stands in the way.
      if (await elsewhere(true)) return;
      response = await put(text);
    }
    if (response?.ok) {
      const was = before;
      version = (await read()).tag;
      await stop();
      toast("The file is saved", { action: { label: "Undo", key: "Z", run: () => undo(was) } });
      return;
    }
    const error = response && (await response.json().catch(() => null))?.error;
    problem.textContent = error ? words(error) : "The server cannot be reached. What you typed is kept";
  };
  document.getElementById("edit").addEventListener("click", () => edit().catch((error) => toast(words(error), { isError: true })));
  bar.querySelector("[data-theirs]").addEventListener("click", () => elsewhere(true));
  editor.querySelector("[data-stop]").addEventListener("click", () => stop());
  field.addEventListener("input", () => draft.save(field));
  editor.addEventListener("submit", (event) => {
    event.preventDefault();
    save();
  });
  onCtrlEnter(field, save);
  live.on((event) => {
    const isOurs = event.type === "look-again" || (event.taskId === Number(task) && event.type.startsWith("file:"));
    if (!editor.hidden && isOurs) elsewhere(false).catch(() => {});
  });
  if (draft.load(field)) edit().catch(() => {});
}

for (const number of [1, 2, 3, 4, 5]) {
  keys.bind(String(number), () => document.querySelector(`#task-tabs [data-key="${number}"]`)?.click());
}
keys.bind("f", () => (log ? log.toggle() : false));
keys.bind("Escape", () => location.assign("/"));
