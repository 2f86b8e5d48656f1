// The log of a session: it grows at its end while the agent works, and backwards when somebody asks for more.
//
// The server renders every line. A line that may still change (a text that grows, a tool that has not come back) is fetched
// again from the place where it begins, with everything after it.

import { html, words } from "./api.js";
import { parse } from "./fragments.js";
import * as live from "./live.js";
import { toast } from "./toast.js";

const LINES_MAX = 3000;
const OPEN_LINES_MAX = 40;
const PAUSE = 150;

const row = (id, buttons) =>
  parse(`<li class="cut-off" id="${id}"><time></time><span></span><div>${buttons}</div></li>`).firstElementChild;
const EARLIER = '<button type="button" class="linky" data-earlier>Earlier lines</button> · <button type="button" class="linky" data-first>From the beginning</button>';
const LATER = '<button type="button" class="linky" data-later>More lines</button>';

export class Log {
  constructor(element, button) {
    this.element = element;
    this.button = button;
    this.session = element.dataset.session;
    this.news = 0;
    this.isBusy = false;
    this.isWanted = false;
    this.isFollowing = this.isOpen();
    element.addEventListener("scroll", () => this.scrolled(), { passive: true });
    element.addEventListener("click", (event) => this.clicked(event));
    document.addEventListener("click", (event) => event.target.closest?.("#follow") && this.toggle());
    if (this.isFollowing) this.toEnd();
    // Marks say that there is more; the lines themselves come as HTML.
    if (this.isOpen()) live.follow(`${this.session}@`, Number(element.dataset.end), (data) => this.heard(data));
    if (element.hasAttribute("data-more")) this.want();
    this.say();
  }

  isOpen() {
    return this.element.dataset.open === "true";
  }

  part(query) {
    return html(`/fragments/sessions/${encodeURIComponent(this.session)}/log?${query}`).then((text) => text && parse(text).querySelector("ol"));
  }

  heard(data) {
    if (data.end) this.element.dataset.open = "false";
    this.want();
  }

  // Fetches what is new; more than one wish at a time becomes one.
  async want() {
    this.isWanted = true;
    if (this.isBusy) return;
    this.isBusy = true;
    try {
      while (this.isWanted && this.element.isConnected) {
        this.isWanted = false;
        if (await this.grow()) this.isWanted = true;
        await new Promise((done) => setTimeout(done, PAUSE));
      }
    } catch {
      // The connection is lost; the next mark fetches it.
    } finally {
      this.isBusy = false;
    }
  }

  // Where the last lines may have changed.
  changing() {
    const last = [...this.element.children].slice(-OPEN_LINES_MAX).filter((line) => line.dataset.from !== undefined);
    return last.find((line) => line.hasAttribute("data-running")) ?? last.at(-1);
  }

  async grow() {
    const line = this.changing();
    const part = await this.part(`from=${line ? line.dataset.from : this.element.dataset.end}`);
    if (!part) return false;
    const old = new Map();
    for (let next = line; next; next = next.nextElementSibling) old.set(next.dataset.from, next);
    let added = 0;
    const lines = [...part.children].map((fresh) => {
      const before = old.get(fresh.dataset.from);
      if (!before) added += 1;
      const [was, is] = [before?.querySelector("details"), fresh.querySelector("details")];
      if (was && is) is.open = was.open;
      return before?.outerHTML === fresh.outerHTML ? before : fresh;
    });
    for (const gone of old.values()) gone.remove();
    this.element.append(...lines);
    this.element.dataset.end = part.dataset.end;
    if (this.element.children.length > LINES_MAX) this.forget();
    if (this.isFollowing) this.toEnd();
    else this.news += added;
    this.say();
    return part.hasAttribute("data-more");
  }

  // Lets go of the oldest lines: a page that is open for days stays small.
  forget() {
    const lines = [...this.element.querySelectorAll(":scope > li[data-from]")];
    for (const line of lines.slice(0, 500)) line.remove();
    this.element.dataset.begin = lines[500].dataset.from;
    this.offerEarlier();
  }

  offerEarlier() {
    document.getElementById("earlier")?.remove();
    if (Number(this.element.dataset.begin) > 0) this.element.prepend(row("earlier", EARLIER));
  }

  async clicked(event) {
    const button = event.target.closest("button");
    if (!button) return;
    try {
      if (button.dataset.earlier !== undefined) await this.back();
      else if (button.dataset.first !== undefined) await this.first();
      else if (button.dataset.later !== undefined) await this.fill(button.closest("li"));
    } catch (error) {
      toast(words(error), { isError: true });
    }
  }

  async back() {
    const part = await this.part(`before=${this.element.dataset.begin}`);
    const height = this.element.scrollHeight - this.element.scrollTop;
    document.getElementById("earlier")?.remove();
    this.element.prepend(...part.children);
    this.element.dataset.begin = part.dataset.begin;
    this.offerEarlier();
    // What is being read stays where it is.
    this.element.scrollTop = this.element.scrollHeight - height;
  }

  // Shows the first lines, with a gap before those that are there.
  async first() {
    const part = await this.part("from=0");
    const begin = Number(this.element.dataset.begin);
    document.getElementById("earlier")?.remove();
    const gap = row("gap", LATER);
    gap.dataset.end = part.dataset.end;
    const lines = [...part.children].filter((line) => Number(line.dataset.from) < begin);
    this.element.prepend(...lines, ...(Number(part.dataset.end) < begin ? [gap] : []));
    this.element.scrollTop = 0;
  }

  // Shows the lines after the gap's beginning.
  async fill(gap) {
    const begin = Number(this.element.dataset.begin);
    const part = await this.part(`from=${gap.dataset.end}`);
    gap.before(...[...part.children].filter((line) => Number(line.dataset.from) < begin));
    gap.dataset.end = part.dataset.end;
    if (Number(part.dataset.end) >= begin) gap.remove();
  }

  scrolled() {
    const isAtEnd = this.element.scrollHeight - this.element.scrollTop - this.element.clientHeight < 24;
    if (isAtEnd) this.news = 0;
    if (this.isOpen()) this.isFollowing = isAtEnd;
    this.say();
  }

  toEnd() {
    this.element.scrollTop = this.element.scrollHeight;
    this.news = 0;
  }

  toggle() {
    if (this.isFollowing && this.isOpen()) {
      this.isFollowing = false;
    } else {
      this.isFollowing = this.isOpen();
      this.toEnd();
    }
    this.say();
  }

  say() {
    const button = document.getElementById("follow");
    if (!button) return;
    const lines = this.news === 1 ? "1 new line" : `${this.news} new lines`;
    const quiet = this.isFollowing ? "Following" : "Paused";
    button.setAttribute("aria-pressed", String(this.isFollowing));
    button.querySelector("[data-text]").textContent = this.news ? lines : this.isOpen() ? quiet : "To the end";
  }
}
