// Keys. They are off while something is typed, and can be switched off as a whole.

const bound = new Map();
let first = null;
let timer = 0;

export const isOn = () => {
  try {
    return localStorage.getItem("regatta-keys") !== "off";
  } catch {
    return true;
  }
};

export function setOn(on) {
  try {
    localStorage.setItem("regatta-keys", on ? "on" : "off");
  } catch {
    // Without storage the keys stay on.
  }
}

// Binds a key such as "c", "?", "ArrowDown", "Shift+A", "Control+k" or "g i"; `run` may answer false to let it pass.
export function bind(keys, run) {
  for (const key of [keys].flat()) bound.set(key, run);
}

const isTyping = (target) => target instanceof Element && target.closest("input:not([type=checkbox]):not([type=radio]), textarea, select, [contenteditable]");

function name(event) {
  const parts = [];
  if (event.ctrlKey || event.metaKey) parts.push("Control");
  if (event.shiftKey && event.key.length > 1) parts.push("Shift");
  // A letter with shift is written as `Shift+A`.
  if (event.shiftKey && /^[a-z]$/i.test(event.key)) parts.push("Shift");
  const key = event.key === " " ? "Space" : /^[a-z]$/i.test(event.key) ? (event.shiftKey ? event.key.toUpperCase() : event.key.toLowerCase()) : event.key;
  return [...parts, key].join("+");
}

export function start() {
  document.addEventListener("keydown", (event) => {
    if (event.defaultPrevented || event.altKey || event.isComposing) return;
    const key = name(event);
    const isAlways = key.startsWith("Control+");
    if (!isAlways && (isTyping(event.target) || document.querySelector("dialog[open]") || !isOn())) return;
    const chord = first ? `${first} ${key}` : null;
    clearTimeout(timer);
    first = null;
    const run = (chord && bound.get(chord)) || bound.get(key);
    if (run) {
      if (run(event) !== false) event.preventDefault();
    } else if ([...bound.keys()].some((other) => other.startsWith(`${key} `))) {
      first = key;
      timer = setTimeout(() => (first = null), 1200);
    }
  });
}
