// One connection per browser to /api/live, however many tabs are open: the tab that holds the lock reads it and tells the
// others over a channel. A tab that was asleep, or came later, looks again at everything it shows.

const WAITS = [1, 2, 4, 8, 15];
const listeners = new Set();
const stateListeners = new Set();
const wanted = new Map();
const followers = new Map();
const id = Math.random().toString(36).slice(2);
const channel = "BroadcastChannel" in self ? new BroadcastChannel(`regatta-live-${location.host}`) : null;

export const state = { isConnected: true, since: null, nextTry: null };
let position = Number(document.body.dataset.seq) || 0;
let leader = null;

// Calls `heard` with every event of the log, and with {type: "look-again"} when some may have been missed.
export function on(heard) {
  listeners.add(heard);
  return () => listeners.delete(heard);
}

// Calls `changed` when the connection is lost or comes back.
export function onState(changed) {
  stateListeners.add(changed);
  changed(state);
  return () => stateListeners.delete(changed);
}

// Follows the output of a session after the first `known` items; `heard` gets {session, number, item} or {session, end}.
export function follow(session, known, heard) {
  wanted.set(session, known);
  followers.set(session, heard);
  want();
  return () => {
    wanted.delete(session);
    followers.delete(session);
    want();
  };
}

// Tries to connect now.
export function tryNow() {
  if (leader) leader.open();
  else channel?.postMessage({ kind: "try" });
}

// The last event that is known.
export const seen = () => position;

function want() {
  const message = { kind: "want", from: id, sessions: [...wanted] };
  if (leader) leader.hear(message);
  else channel?.postMessage(message);
}

function tell(message) {
  take(message);
  channel?.postMessage(message);
}

function take(message) {
  if (message.kind === "event") {
    position = Math.max(position, message.event.seq ?? 0);
    for (const heard of listeners) heard(message.event);
  } else if (message.kind === "output") {
    const { session, number, end } = message.data;
    if (number && wanted.has(session)) {
      if (number <= wanted.get(session)) return;
      wanted.set(session, number);
    }
    if (end) wanted.delete(session);
    followers.get(session)?.(message.data);
  } else if (message.kind === "state") {
    Object.assign(state, message.state);
    for (const changed of stateListeners) changed(state);
  } else if (message.kind === "position" && message.to === id && message.position > position) {
    position = message.position;
    for (const heard of listeners) heard({ type: "look-again" });
  }
}

class Leader {
  source = null;
  tries = 0;
  timer = 0;
  wants = new Map();

  hear(message) {
    if (message.kind === "hello") {
      channel.postMessage({ kind: "position", to: message.from, position });
      channel.postMessage({ kind: "state", state: { ...state } });
    } else if (message.kind === "want") {
      if (message.sessions.length) this.wants.set(message.from, new Map(message.sessions));
      else this.wants.delete(message.from);
      // What this tab wants has changed already, so it is compared with what the connection was opened for.
      if (this.names() !== this.opened) this.open();
    } else if (message.kind === "try" && !state.isConnected) {
      this.open();
    }
  }

  // All sessions that a tab follows, each from where the tab that knows least stands.
  sessions() {
    const all = new Map();
    for (const [from, wants] of this.wants) {
      for (const [session, known] of from === id ? wanted : wants) {
        all.set(session, Math.min(known, all.get(session) ?? Infinity));
      }
    }
    return [...all].slice(0, 16).map(([session, known]) => `${session}:${known}`);
  }

  names() {
    return this.sessions()
      .map((entry) => entry.slice(0, entry.lastIndexOf(":")))
      .sort()
      .join(",");
  }

  open() {
    clearTimeout(this.timer);
    this.opened = this.names();
    this.source?.close();
    const sessions = this.sessions().join(",");
    const source = new EventSource(`/api/live?after=${position}${sessions ? `&sessions=${encodeURIComponent(sessions)}` : ""}`);
    this.source = source;
    source.onopen = () => {
      const wasLost = !state.isConnected;
      this.tries = 0;
      tell({ kind: "state", state: { isConnected: true, since: null, nextTry: null } });
      if (wasLost) tell({ kind: "event", event: { type: "look-again" } });
    };
    source.onmessage = (message) => tell({ kind: "event", event: JSON.parse(message.data) });
    source.addEventListener("output", (message) => this.output(JSON.parse(message.data)));
    source.addEventListener("end", (message) => this.output(JSON.parse(message.data)));
    source.onerror = () => this.lost(source);
  }

  output(data) {
    for (const wants of this.wants.values()) {
      if (data.number && wants.has(data.session)) wants.set(data.session, Math.max(wants.get(data.session), data.number));
      if (data.end) wants.delete(data.session);
    }
    tell({ kind: "output", data });
  }

  lost(source) {
    if (source !== this.source) return;
    source.close();
    const wait = WAITS[Math.min(this.tries, WAITS.length - 1)] * 1000;
    this.tries += 1;
    tell({ kind: "state", state: { isConnected: false, since: state.since ?? Date.now(), nextTry: Date.now() + wait } });
    this.timer = setTimeout(() => this.open(), wait);
  }
}

function lead() {
  leader = new Leader();
  // A copy: what is known to be sent is noted in it before the tab has heard it.
  leader.wants.set(id, new Map(wanted));
  leader.open();
  channel?.postMessage({ kind: "who" });
  // Held until the tab is closed; then another one leads.
  return new Promise(() => {});
}

export function start() {
  if (channel) {
    channel.onmessage = ({ data }) => {
      if (data.kind === "who") want();
      else if (leader) leader.hear(data);
      else take(data);
    };
    channel.postMessage({ kind: "hello", from: id });
  }
  if (navigator.locks && channel) navigator.locks.request(`regatta-live-${location.host}`, lead);
  else lead();
  // A page that comes back from the browser's history, or from sleep, may have missed something.
  addEventListener("pageshow", (event) => event.persisted && location.reload());
}
