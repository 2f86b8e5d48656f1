// Notifications of the browser, if the reader asks for them: only while no tab of the project is looked at.

import { toast } from "./toast.js";

const KEY = "regatta-notify";
let known = Number(document.getElementById("nav").dataset.inbox);

export async function ask() {
  if (!("Notification" in self)) return toast("This browser has no notifications", { isError: true });
  const answer = await Notification.requestPermission();
  if (answer !== "granted") return toast("The browser does not allow notifications for this page", { isError: true });
  localStorage.setItem(KEY, "on");
  toast("You are notified here when something waits for you");
}

export function count(now) {
  const isMore = now > known;
  known = now;
  if (!isMore || !document.hidden || !("Notification" in self) || Notification.permission !== "granted") return;
  if (localStorage.getItem(KEY) !== "on") return;
  const text = now === 1 ? "1 thing waits for you" : `${now} things wait for you`;
  const shown = new Notification(`Regatta · ${document.body.dataset.project}`, { body: text, tag: "regatta-inbox" });
  shown.onclick = () => {
    focus();
    location.assign("/inbox");
  };
}
