// Changes go through the same API as everybody's: JSON in, JSON out, errors in their own words.

export class ApiError extends Error {
  constructor(status, error) {
    super(error.message);
    this.status = status;
    this.code = error.code;
    this.hint = error.hint ?? "";
    this.details = error.details ?? {};
  }
}

// Sends a request; answers with the JSON, or throws an ApiError.
export async function send(method, path, body) {
  const headers = { accept: "application/json", "content-type": "application/json" };
  if (method !== "GET") headers["idempotency-key"] = crypto.randomUUID?.() ?? `${Date.now()}-${Math.random()}`;
  const asked = { method, headers };
  if (method !== "GET") asked.body = JSON.stringify(body ?? {});
  let response;
  try {
    response = await fetch(path, asked);
  } catch {
    throw new ApiError(0, { code: "OFFLINE", message: "The server cannot be reached. Nothing was changed", hint: "Try again when the connection is back." });
  }
  const text = await response.text();
  let found;
  try {
    found = text ? JSON.parse(text) : null;
  } catch {
    found = null;
  }
  if (response.ok) return found;
  throw new ApiError(response.status, found?.error ?? { code: String(response.status), message: "The server answered with an error", hint: "" });
}

export const post = (path, body) => send("POST", path, body);

// Fetches a piece of a page; null if there is none any more.
export async function html(path) {
  const response = await fetch(path, { headers: { accept: "text/html" } });
  if (response.status === 404) return null;
  if (!response.ok) throw new ApiError(response.status, { message: `The page did not load (${response.status})` });
  return response.text();
}

// Says an error in one or two sentences, with the first letter large.
export function words(error) {
  const text = error.message || String(error);
  const first = text.charAt(0).toUpperCase() + text.slice(1);
  return error instanceof ApiError && error.hint ? `${first}. Next: ${error.hint}` : first;
}
