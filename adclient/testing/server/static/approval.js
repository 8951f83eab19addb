"use strict";

// Keeps the page up to date and sends its steps, without losing the reader's place.

const form = document.getElementById("review");
const SHOWN_WHOLE = ["now", "waiting", "first", "pages", "trail"];
// The changes that this page displays whole: they never change, so they stay.
const displayed = new Map();
let latest = 0;

function replaceIfChanged(old, fresh) {
  if (!old.isEqualNode(fresh)) old.replaceChildren(...fresh.childNodes);
}

function remember(draft) {
  const change = draft.querySelector(".change[data-whole]");
  if (change) displayed.set(change.dataset.change, change.cloneNode(true));
}

// Put a change that was displayed whole in place of a part, and allow its steps.
function complete(draft) {
  const part = draft.querySelector(".change:not([data-whole])");
  const change = part && displayed.get(part.dataset.change);
  if (!change) return;
  part.replaceWith(change.cloneNode(true));
  for (const button of draft.querySelectorAll("button[data-needs='whole']")) {
    const url = `${button.getAttribute("formaction")}?shown=${change.dataset.change}`;
    button.setAttribute("formaction", url);
    button.setAttribute("aria-describedby", `${draft.id}-title`);
    button.removeAttribute("data-needs");
    button.disabled = false;
  }
}

function updateDrafts(fresh) {
  const list = document.getElementById("drafts");
  for (const draft of [...list.children]) {
    if (!fresh.getElementById(draft.id)) draft.remove();
  }
  for (const draft of [...fresh.getElementById("drafts").children]) {
    complete(draft);
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
  for (const id of SHOWN_WHOLE) {
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

// The address of this page for the name in its form, with changes in part: it has the rest.
function address() {
  const url = new URL(location);
  url.searchParams.set("reviewer", form?.elements.reviewer.value ?? "");
  url.searchParams.set("part", "1");
  return url;
}

async function showWhole(button) {
  const { id } = button.closest("article");
  const response = await fetch(button.formAction, { cache: "no-store" });
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  remember(fresh.getElementById(id));
  const draft = document.getElementById(id); // it may have been replaced meanwhile
  complete(draft);
  draft.focus({ preventScroll: true });
}

async function makeStep(event) {
  const { submitter } = event;
  const isWhole = submitter.classList.contains("whole");
  if (submitter.formMethod === "get" && !isWhole) return; // another page of drafts
  event.preventDefault();
  try {
    if (isWhole) return await showWhole(submitter);
    const body = new URLSearchParams(new FormData(form, submitter));
    const fresh = await load(submitter.formAction, { method: "POST", body });
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
for (const draft of document.getElementById("drafts").children) remember(draft);
form?.addEventListener("submit", makeStep);
poll();
