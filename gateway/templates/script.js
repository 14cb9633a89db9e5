// What makes the pages more convenient. Each block stands by itself, and no page needs any of them.
"use strict";

// The places that this browser keeps, newest first: "recent" and "bookmarks". No server sees them.
const places = {
  all(list) {
    try {
      return JSON.parse(localStorage.getItem("fetch1738 " + list)).filter((p) => /^\/(?!\/)/.test(p.path));
    } catch {
      return [];
    }
  },
  has: (list, path) => places.all(list).some((p) => p.path === path),
  save(list, all) {
    try {
      localStorage.setItem("fetch1738 " + list, JSON.stringify(all));
    } catch {} // the browser keeps nothing
  },
  remove: (list, path) => places.save(list, places.all(list).filter((p) => p.path !== path)),
  add(list, place, most) {
    places.remove(list, place.path);
    places.save(list, [place, ...places.all(list)].slice(0, most));
  },
};

// This page becomes a recent place. The star makes it a bookmark, or no bookmark any more.
{
  const star = document.querySelector("[data-star]"), address = document.getElementById("address");
  if ("keep" in document.body.dataset && star && address) {
    const here = { path: location.pathname + location.search, url: address.value, title: document.title };
    places.add("recent", here, 30);
    const show = () => star.setAttribute("aria-pressed", places.has("bookmarks", here.path));
    star.addEventListener("click", () => {
      if (places.has("bookmarks", here.path)) places.remove("bookmarks", here.path);
      else places.add("bookmarks", here, 200);
      show();
    });
    show();
    star.classList.add("on");
  }
}

// The lists of these places on the first page, in sections that are hidden while they are empty.
for (const list of document.querySelectorAll("[data-list]")) {
  for (const place of places.all(list.dataset.list)) {
    const row = list.appendChild(document.createElement("li"));
    const link = row.appendChild(document.createElement("a"));
    link.href = place.path;
    link.textContent = place.title || place.url;
    if (place.url !== link.textContent) row.appendChild(document.createElement("span")).textContent = place.url;
  }
  list.closest("section").hidden = !list.firstChild;
}
for (const button of document.querySelectorAll("[data-clear]")) {
  button.addEventListener("click", () => {
    places.save(button.dataset.clear, []);
    button.closest("section").hidden = true;
  });
}

// A click on "Link" copies the original URL, where the browser permits it.
for (const link of document.querySelectorAll("a[data-copy]")) {
  if (!navigator.clipboard) break;
  const text = link.textContent;
  link.setAttribute("role", "button");
  link.addEventListener("click", async (event) => {
    event.preventDefault();
    await navigator.clipboard.writeText(link.getAttribute("href"));
    link.textContent = "Copied";
    setTimeout(() => { link.textContent = text; }, 1500);
  });
}

// The times of articles become those of this computer. The title keeps what was there: the date in the
// zone of the author, or UTC.
for (const time of document.querySelectorAll("[data-local] time")) {
  const date = new Date(time.getAttribute("datetime") || time.textContent.replace(" ", "T"));
  if (isNaN(date)) continue;
  time.title = time.textContent;
  if (time.hasAttribute("datetime")) time.textContent = date.toLocaleString(undefined, { dateStyle: "full", timeStyle: "short" });
  else time.textContent = new Date(date - date.getTimezoneOffset() * 60000).toISOString().slice(0, 16).replace("T", " ");
}

// While a person types into the filter, its table shows the rows whose names contain the text. All
// rows are on the page.
for (const table of document.querySelectorAll("table[data-filter]")) {
  const filter = document.getElementById(table.dataset.filter), count = document.getElementById("count");
  const rows = table.querySelectorAll("tbody tr:not(.parent)"), all = count.textContent;
  filter.addEventListener("input", () => {
    const part = filter.value.trim().toLowerCase();
    let shown = 0;
    for (const row of rows) {
      row.hidden = !(row.querySelector("a") || row.cells[0]).textContent.toLowerCase().includes(part);
      if (!row.hidden) shown++;
    }
    count.textContent = part ? shown + " of " + rows.length + " names" : all;
  });
}

// The buttons of /setup register the gateway with the browser.
for (const button of document.querySelectorAll("button[data-scheme]")) {
  const result = document.getElementById("result"), scheme = button.dataset.scheme;
  document.getElementById("handlers").hidden = false;
  button.addEventListener("click", () => {
    try {
      navigator.registerProtocolHandler(scheme, location.origin + button.dataset.open);
      result.textContent = "The browser was asked to open " + scheme + " links here. If it asks you, confirm.";
    } catch (error) {
      result.textContent = "The browser refused to register " + scheme + ": " + error.message;
    }
  });
}

// When a sound of a list has ended, the next one is played.
for (const list of document.querySelectorAll("[data-playlist]")) {
  const sounds = [...list.querySelectorAll("audio")];
  sounds.forEach((sound, i) => {
    sound.addEventListener("ended", () => sounds[i + 1]?.play());
    sound.addEventListener("play", () => sounds.filter((other) => other !== sound).forEach((other) => other.pause()));
  });
}

// Keys: "/" goes to the address, "j" and "k" to the next and the previous entry, "u" up, "?" to the
// help, whose page can turn them off.
{
  const name = "fetch1738 keys", turned = (value) => {
    try {
      if (value) localStorage.setItem(name, value);
      return localStorage.getItem(name) !== "off";
    } catch {
      return true; // the browser keeps nothing
    }
  };
  const entries = () => {
    const rows = [...document.querySelectorAll("main :is(tbody tr, li)")];
    const links = rows.map((row) => row.querySelector("a[href]")).filter((link) => link);
    return links.length ? links : [...document.querySelectorAll("main a[href]")];
  };
  const move = (step) => {
    const side = step > 0 ? Node.DOCUMENT_POSITION_FOLLOWING : Node.DOCUMENT_POSITION_PRECEDING, focused = document.activeElement;
    const isNext = (link) => focused.compareDocumentPosition(link) & side && link.checkVisibility();
    (step > 0 ? entries().find(isNext) : entries().findLast(isNext))?.focus();
  };
  const step = (rel, by) => {
    const entry = document.querySelector(`main a[rel="${rel}"]`); // of a page that shows one entry of a list
    if (entry) entry.click();
    else move(by);
  };
  const follow = (selector) => [...document.querySelectorAll(selector)].at(-1)?.click();
  const keys = {
    "/": () => document.getElementById("address")?.select(),
    j: () => step("next", 1),
    k: () => step("prev", -1),
    u: () => follow(".crumbs a"),
    "?": () => { location.href = document.querySelector("link[rel=help]").href; },
  };
  document.addEventListener("keydown", (event) => {
    const types = event.target.closest?.("input, textarea, select, [contenteditable]");
    if (event.ctrlKey || event.altKey || event.metaKey || event.isComposing || types || !Object.hasOwn(keys, event.key) || !turned()) return;
    event.preventDefault();
    keys[event.key]();
  });
  for (const box of document.querySelectorAll("[data-keys]")) {
    box.checked = turned();
    box.closest("[hidden]").hidden = false;
    box.addEventListener("change", () => turned(box.checked ? "on" : "off"));
  }
}
