"use strict";
const REFRESH_MS = 1500;
const status = document.getElementById("status");
const LIVE = "Simulated Slack · live";
let quietUntil = 0;
const atBottom = (pane) => pane.scrollHeight - pane.scrollTop - pane.clientHeight < 60;

function showStatus(text, holdFor = 0) {
  if (!holdFor && Date.now() < quietUntil) return;
  quietUntil = Date.now() + holdFor;
  status.textContent = text;
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

async function refreshForever() {
  try {
    if (!document.hidden) await refresh();
    showStatus(LIVE);
  } catch {
    showStatus("The simulator does not answer · trying again");
  }
  setTimeout(refreshForever, REFRESH_MS);
}

function chosenUser(form) {
  const column = form.closest(".column");
  const chosen = (column || document).querySelector("select[name=user]");
  return chosen ? chosen.value : null;
}

document.addEventListener("submit", async (event) => {
  const form = event.target;
  const area = form.querySelector("textarea");
  event.preventDefault();
  const fields = new URLSearchParams(new FormData(form, event.submitter));
  if (!area && chosenUser(form)) fields.set("user", chosenUser(form));
  const typed = area ? area.value : "";
  if (area) area.value = "";
  try {
    const response = await fetch(form.action, { method: "POST", body: fields });
    if (response.status >= 400) throw new Error(await response.text());
    // A mention opens its thread, in which the app answers.
    const opened = new URL(response.url);
    if (area && opened.searchParams.has("thread") && opened.search !== location.search) return location.assign(opened);
    if (opened.searchParams.has("home") && opened.search !== location.search) return location.assign(opened);
    await refresh();
    if (area) form.closest(".column").querySelector("[data-live]").scrollTop = 1e9;
  } catch (error) {
    if (area && !area.value) area.value = typed;
    showStatus("Not sent: " + error.message, 8000);
  }
});

document.addEventListener("change", (event) => {
  if (event.target.matches("select[name=user]")) document.cookie = `as=${event.target.value}; path=/; samesite=strict`;
});

document.addEventListener("keydown", (event) => {
  if (event.key !== "Enter" || event.shiftKey || event.isComposing || !event.target.matches("textarea")) return;
  event.preventDefault();
  event.target.form.requestSubmit();
});

if (!location.hash) for (const pane of document.querySelectorAll(".scroll")) pane.scrollTop = pane.scrollHeight;
showStatus(LIVE);
setTimeout(refreshForever, REFRESH_MS);
