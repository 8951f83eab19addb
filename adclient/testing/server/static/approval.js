"use strict";

// Keeps the page up to date and sends its steps, without losing the reader's place.

const form = document.getElementById("review");
const REPLACED = ["now", "waiting", "first", "trail"];
let latest = 0;

function replaceIfChanged(old, fresh) {
  if (!old.isEqualNode(fresh)) old.replaceChildren(...fresh.childNodes);
}

function updateDrafts(fresh) {
  const list = document.getElementById("drafts");
  for (const draft of [...list.children]) {
    if (!fresh.getElementById(draft.id)) draft.remove();
  }
  for (const draft of [...fresh.getElementById("drafts").children]) {
    const old = document.getElementById(draft.id);
    // Times alone do not replace a draft: its reader may be selecting text.
    for (const time of old?.querySelectorAll("[data-live]") ?? []) {
      const now = draft.querySelector(`[data-live="${time.dataset.live}"]`);
      if (now) time.textContent = now.textContent;
    }
    if (!old) list.append(draft);
    else if (!old.isEqualNode(draft)) old.replaceWith(draft);
  }
}

function restoreFocus(focused) {
  if (!focused || focused.isConnected) return;
  const draft = focused.closest("article")?.id;
  const again = [focused.id, draft, "drafts-title"].map((id) => document.getElementById(id));
  again.find((element) => element && !element.disabled).focus();
}

function update(fresh) {
  const focused = document.activeElement;
  for (const id of REPLACED) {
    const old = document.getElementById(id);
    if (old) replaceIfChanged(old, fresh.getElementById(id));
  }
  updateDrafts(fresh);
  restoreFocus(focused);
}

function say(text) {
  document.getElementById("message").textContent = text;
}

// A response that a later one has overtaken is out of date: it is ignored.
async function load(url, options) {
  const number = ++latest;
  const response = await fetch(url, { cache: "no-store", ...options });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  if (number === latest && fresh.getElementById("drafts")) update(fresh);
  return fresh;
}

// The address of this page for the name in its form.
function address() {
  const url = new URL(location);
  url.searchParams.set("reviewer", form?.elements.reviewer.value ?? "");
  return url;
}

async function makeStep(event) {
  event.preventDefault();
  try {
    const body = new URLSearchParams(new FormData(form, event.submitter));
    const fresh = await load(location, { method: "POST", body });
    say(fresh.getElementById("message")?.textContent ?? fresh.body.textContent);
  } catch {
    say("The service does not respond. The step may not have been made.");
  }
}

async function poll() {
  try {
    if (!document.hidden) await load(address());
    document.body.classList.remove("offline");
  } catch {
    document.body.classList.add("offline");
  }
  setTimeout(poll, 1000);
}

// The second click of a double click must not make the second step.
document.addEventListener("click", (event) => {
  if (event.detail > 1 && event.target.closest("button")) event.preventDefault();
});
form?.addEventListener("submit", makeStep);
poll();
