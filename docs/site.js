// Tables that scroll can be reached by the keyboard; what repeats on a page is no landmark of its own.
const REPEATED = "nav.md-code__nav:not([role]), .md-nav--secondary nav.md-nav:not([role])";
new MutationObserver(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap:not([tabindex])")) box.tabIndex = 0;
  for (const bar of document.querySelectorAll(REPEATED)) {
    bar.setAttribute("role", "none");
    bar.removeAttribute("aria-label");
  }
}).observe(document.documentElement, { childList: true, subtree: true });

// Pictures are dark where the page is, whoever chose it: the system, or the reader with the page's own switch.
const DARK = [...document.querySelectorAll("picture source[media*=dark]")];
function followScheme() {
  for (const source of DARK) source.media = document.body.dataset.mdColorScheme === "slate" ? "all" : "not all";
}
new MutationObserver(followScheme).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
followScheme();

// A table's corner that says nothing is no header.
for (const corner of document.querySelectorAll("th:empty")) corner.replaceWith(document.createElement("td"));
