// What the theme lacks for keyboards and screen readers: regions that scroll take the focus, and
// the bar of each code block is no landmark. The theme adds both while a page is read, and takes
// the focus from code blocks when the window changes.
function mend() {
  const scrolling = "pre > code, .md-typeset__scrollwrap";
  for (const element of document.querySelectorAll(`:is(${scrolling}):not([tabindex])`)) {
    element.tabIndex = 0;
  }
  for (const bar of document.querySelectorAll(".md-code__nav:not([role=none])")) {
    bar.role = "none";
  }
}

const changes = { attributeFilter: ["tabindex"], childList: true, subtree: true };
new MutationObserver(mend).observe(document.body, changes);
mend();

// On the page for addresses that do not exist: search for the words in the address, or for others.
const find = document.querySelector(".find");
if (find) {
  const [last = ""] = decodeURI(location.pathname).split("/").filter(Boolean).slice(-1);
  find.elements.words.value = last.replace(/\.\w+$/, "").replace(/[-_]+/g, " ");
  find.addEventListener("submit", (event) => {
    event.preventDefault();
    document.querySelector(".md-search__button").click();
    search(find.elements.words.value);
  });
}

// The theme draws its dialog in a shadow tree, a moment after it was opened.
function search(words) {
  const roots = [...document.body.children].map((element) => element.shadowRoot);
  const input = roots.map((root) => root?.querySelector("dialog[open] input")).find(Boolean);
  if (!input) return requestAnimationFrame(() => search(words));
  input.value = words;
  input.dispatchEvent(new Event("input", { bubbles: true }));
}
