// Tables that scroll can be reached by the keyboard, and each block's copy button is no landmark of its own.
new MutationObserver(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) {
    box.tabIndex = 0;
  }
  for (const bar of document.querySelectorAll("nav.md-code__nav:not([role])")) bar.setAttribute("role", "none");
}).observe(document.documentElement, { childList: true, subtree: true });
