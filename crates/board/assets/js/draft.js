// What is typed into a field with data-draft survives a reload and a lost connection.

const key = (field) => `regatta-draft-${location.host}-${document.body.dataset.project}-${field.dataset.draft}`;

export function load(field) {
  try {
    return localStorage.getItem(key(field));
  } catch {
    return null;
  }
}

export function save(field, text = field.value) {
  try {
    if (text) localStorage.setItem(key(field), text);
    else localStorage.removeItem(key(field));
  } catch {
    // Without storage a draft lives as long as the page.
  }
}

// Keeps a field's text from now on, and puts back what was kept.
export function keep(field) {
  const kept = load(field);
  if (kept && !field.value) field.value = kept;
  field.addEventListener("input", () => save(field));
  return field;
}
