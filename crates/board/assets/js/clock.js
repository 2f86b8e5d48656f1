// Ages that stay right while a page is open, in the words of the server.

export function age(seconds) {
  if (seconds < 60) return "now";
  if (seconds < 3600) return `${Math.floor(seconds / 60)} min`;
  if (seconds < 86400) return `${Math.floor(seconds / 3600)} h`;
  return `${Math.floor(seconds / 86400)} d`;
}

export function update() {
  for (const time of document.querySelectorAll("time[data-age]")) {
    const text = age(Math.max(0, (Date.now() - Date.parse(time.dateTime)) / 1000));
    if (time.textContent !== text) time.textContent = text;
  }
}

export function start() {
  setInterval(() => document.hidden || update(), 20000);
  document.addEventListener("visibilitychange", () => document.hidden || update());
}
