// Runs before the first paint: the reader's own choice of light or dark, else the system's.
try {
  document.documentElement.dataset.theme = localStorage.getItem("regatta-theme") || "auto";
} catch {
  // Storage may be switched off; then the system's choice holds.
}
