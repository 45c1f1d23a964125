"use strict";
const EVERY = 1500;
const status = document.getElementById("status");
const FRESH = "Simulated Slack · live";
let quietUntil = 0;
const atBottom = (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;

function tell(words, holdFor = 0) {
  if (!holdFor && Date.now() < quietUntil) return;
  quietUntil = Date.now() + holdFor;
  status.textContent = words;
}

async function refresh() {
  const response = await fetch(location.href, { cache: "no-store" });
  if (!response.ok) throw new Error(String(response.status));
  const fresh = new DOMParser().parseFromString(await response.text(), "text/html");
  for (const pane of document.querySelectorAll("[data-live]")) {
    const next = fresh.getElementById(pane.id);
    if (!next || next.innerHTML === pane.innerHTML) continue;
    const follow = atBottom(pane);
    pane.innerHTML = next.innerHTML;
    if (follow) pane.scrollTop = pane.scrollHeight;
  }
}

async function keepFresh() {
  try {
    if (!document.hidden) await refresh();
    tell(FRESH);
  } catch {
    tell("No answer from the simulator · trying again");
  }
  setTimeout(keepFresh, EVERY);
}

function speaker(form) {
  const column = form.closest(".column");
  const chosen = (column || document).querySelector("select[name=user]");
  return chosen ? chosen.value : null;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const area = form.querySelector("textarea");
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  if (!area && speaker(form)) fields.set("user", speaker(form));
  const written = area ? area.value : "";
  if (area) area.value = "";
  try {
    const response = await fetch(form.action, { method: "POST", body: fields, redirect: "manual" });
    if (response.status >= 400) throw new Error(await response.text());
    await refresh();
    if (area) form.closest(".column").querySelector("[data-live]").scrollTop = 1e9;
  } catch (problem) {
    if (area && !area.value) area.value = written;
    tell("Not sent: " + problem.message, 8000);
  }
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

if (!location.hash) for (const pane of document.querySelectorAll(".scroll")) pane.scrollTop = pane.scrollHeight;
tell(FRESH);
setTimeout(keepFresh, EVERY);
