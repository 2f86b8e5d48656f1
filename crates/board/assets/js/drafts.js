// What is typed and not sent is kept in the browser, by `data-draft`: a reload or a lost server loses nothing.

const PREFIX = `regatta-draft:${document.body.dataset.project}:`;

const store = (key, value) => {
  try {
    if (value) localStorage.setItem(PREFIX + key, value);
    else localStorage.removeItem(PREFIX + key);
  } catch {
    // Without storage a draft lives as long as the page.
  }
};

export const find = (key) => {
  try {
    return localStorage.getItem(PREFIX + key) ?? "";
  } catch {
    return "";
  }
};

export const keep = store;
export const forget = (field) => store(field.dataset.draft, "");

// Fills the fields of a part of the page with what was kept.
export function fill(root = document) {
  for (const field of root.querySelectorAll("[data-draft]")) if (!field.value) field.value = find(field.dataset.draft);
}

export function start() {
  document.addEventListener("input", ({ target }) => {
    if (target instanceof Element && target.matches("[data-draft]")) store(target.dataset.draft, target.value);
  });
  document.addEventListener("fragment", ({ detail }) => fill(detail));
  fill();
}
