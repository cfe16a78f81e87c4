/* What the theme leaves out for keyboards and screen readers: menus with names, and boxes that scroll by keys. */
for (const caption of document.querySelectorAll('.sidebar-tree [role="heading"]')) caption.setAttribute("aria-level", 2);
document.querySelector(".sidebar-drawer")?.setAttribute("aria-label", "All pages");
document.querySelector(".toc-drawer")?.setAttribute("aria-label", "On this page");
for (const box of document.querySelectorAll("pre, .table-wrapper, div.math")) {
  if (box.scrollWidth > box.clientWidth) box.tabIndex = 0;
}
