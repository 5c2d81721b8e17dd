// What the theme leaves out: a name of its search dialog for those who do not see the page, a way to
// blocks that scroll with the keyboard, and a search for words that are pasted and not typed.
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
  document.querySelectorAll("input.md-search__input").forEach((node) => {
    node.addEventListener("paste", () => setTimeout(() => node.dispatchEvent(new KeyboardEvent("keyup"))));
  });
  reachable();
});
window.addEventListener("load", reachable);   // pictures and fonts have their sizes
window.addEventListener("resize", reachable); // a phone that is turned
