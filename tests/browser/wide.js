// What reaches beyond the window's right edge, unless something around it scrolls.
[...document.querySelectorAll("body *")]
  .filter((element) => {
    if (!element.checkVisibility() || element.getBoundingClientRect().right <= innerWidth + 1) return false;
    for (let at = element; at !== document.body; at = at.parentElement)
      if (getComputedStyle(at).overflowX !== "visible") return false;
    return true;
  })
  .map((element) => [element.tagName, element.getAttribute("class"), element.textContent.trim().slice(0, 60)].join(" "))
  .slice(0, 9)
