// Names for those who do not see the page: the theme gives its search dialog none, and blocks that
// scroll cannot be reached with the keyboard.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[role=dialog]:not([aria-label])").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  document.querySelectorAll(".md-typeset__scrollwrap, pre code, math[display=block]").forEach((node) => {
    if (node.scrollWidth > node.clientWidth) node.setAttribute("tabindex", "0");
  });
});
