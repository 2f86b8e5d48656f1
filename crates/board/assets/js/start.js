// First start: what takes a while to find is fetched late, and the first task opens the board.

import { html } from "./api.js";
import { morph } from "./fragments.js";
import * as live from "./live.js";
import { creating } from "./new_task.js";

for (const part of document.querySelectorAll("[data-late]")) {
  html(part.dataset.late).then((text) => text && morph(part, text), () => {});
}
live.on((event) => {
  if (event.type === "task:created" || event.type === "look-again") creating.finally(() => location.reload());
});
