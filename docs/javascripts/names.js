// What the theme leaves out: a name of its search dialog for those who do not see the page, a way to
// blocks that scroll with the keyboard, and a search for words that are pasted and not typed.
document.addEventListener("DOMContentLoaded", () => {
  document.querySelectorAll("[role=dialog]:not([aria-label])").forEach((node) => {
    node.setAttribute("aria-label", "Search");
  });
  document.querySelectorAll("input.md-search__input").forEach((node) => {
    node.addEventListener("paste", () => setTimeout(() => node.dispatchEvent(new KeyboardEvent("keyup"))));
  });
  document.querySelectorAll(".md-typeset__scrollwrap, pre code, math[display=block]").forEach((node) => {
    if (node.scrollWidth > node.clientWidth) node.setAttribute("tabindex", "0");
  });
});
