// What the theme lacks for keyboards and screen readers: regions that scroll take the focus, and
// the bar of each code block is no landmark. The theme adds both while a page is read.
function mend() {
  for (const element of document.querySelectorAll("pre > code, .md-typeset__scrollwrap")) {
    element.tabIndex = 0;
  }
  for (const bar of document.querySelectorAll(".md-code__nav")) {
    bar.role = "none";
  }
}

new MutationObserver(mend).observe(document.body, { childList: true, subtree: true });
mend();
