// Names for those who do not see the page: the theme gives its search dialog none, and blocks that
// scroll cannot be reached with the keyboard.
const SCROLLING = ".md-typeset__scrollwrap, pre code, math[display=block], .formula, .output, .output pre";

function reachable() {
  document.querySelectorAll(SCROLLING).forEach((node) => {
    const longer = node.scrollWidth > node.clientWidth || node.scrollHeight > node.clientHeight + 1;
    if (longer) node.setAttribute("tabindex", "0");
    else node.removeAttribute("tabindex");
  });
}

document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[role=dialog]:not([aria-label])").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  reachable();
});
window.addEventListener("load", reachable);   // pictures and fonts have their sizes
window.addEventListener("resize", reachable); // a phone that is turned
