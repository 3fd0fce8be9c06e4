// Tables that scroll can be reached by the keyboard; what repeats on a page is no landmark of its own.
const REPEATED = "nav.md-code__nav:not([role]), .md-nav--secondary nav.md-nav:not([role])";
new MutationObserver(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
  for (const bar of document.querySelectorAll(REPEATED)) {
    bar.setAttribute("role", "none");
    bar.removeAttribute("aria-label");
  }
}).observe(document.documentElement, { childList: true, subtree: true });
