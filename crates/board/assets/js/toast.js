// One message at a time at the bottom left: what was done, with Undo where it is real.

const SHOWN_FOR = 6000;
let timer = 0;
let current = null;

// Shows a message; `action` is {label, key, run}.
export function toast(text, { icon = "check", action = null, isError = false } = {}) {
  const place = document.getElementById("toasts");
  const box = document.createElement("div");
  box.className = "toast";
  if (isError) box.setAttribute("role", "alert");
  box.append(drawIcon(isError ? "alert" : icon), Object.assign(document.createElement("span"), { textContent: text }));
  if (action) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: action.label });
    if (action.key) button.append(" ", Object.assign(document.createElement("kbd"), { textContent: action.key }));
    button.addEventListener("click", () => act());
    box.append(button);
  }
  const close = Object.assign(document.createElement("button"), { type: "button", className: "close", ariaLabel: "Close" });
  close.append(drawIcon("x"));
  close.addEventListener("click", hide);
  box.append(close);
  place.replaceChildren(box);
  current = { action };
  const wait = () => {
    clearTimeout(timer);
    timer = setTimeout(hide, isError ? SHOWN_FOR * 2 : SHOWN_FOR);
  };
  box.addEventListener("pointerenter", () => clearTimeout(timer));
  box.addEventListener("pointerleave", wait);
  box.addEventListener("focusin", () => clearTimeout(timer));
  wait();
}

export function hide() {
  clearTimeout(timer);
  document.getElementById("toasts").replaceChildren();
  current = null;
}

// Does what the message offers, such as Undo; tells whether there was anything.
export function act() {
  const action = current?.action;
  if (!action) return false;
  hide();
  action.run();
  return true;
}

export function drawIcon(name, small = true) {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("class", small ? "i s" : "i");
  svg.setAttribute("aria-hidden", "true");
  const use = document.createElementNS("http://www.w3.org/2000/svg", "use");
  use.setAttribute("href", `#i-${name}`);
  svg.append(use);
  return svg;
}
