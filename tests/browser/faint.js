// Text too near in colour to its background: a contrast under 4.5 (WCAG 2.2, 1.4.3). Transparent grounds are passed.
(() => {
  const light = (colour) => colour
    .map((part) => part / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4))
    .reduce((sum, part, place) => sum + part * [0.2126, 0.7152, 0.0722][place], 0);
  const parts = (text) => text.match(/[0-9.]+/g).map(Number);
  const ground = (element) => {
    for (let at = element; at; at = at.parentElement) {
      const colour = parts(getComputedStyle(at).backgroundColor);
      if (colour.length < 4 || colour[3] === 1) return colour.slice(0, 3);
    }
    return [255, 255, 255];
  };
  const found = new Map();
  for (const element of document.querySelectorAll("body *")) {
    const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
    if (!own || element.closest("script, style") || !element.checkVisibility()) continue;
    const style = getComputedStyle(element);
    const colour = element instanceof SVGElement ? style.fill : style.color;
    const lights = [light(parts(colour).slice(0, 3)), light(ground(element))];
    const contrast = (Math.max(...lights) + 0.05) / (Math.min(...lights) + 0.05);
    const name = `${element.tagName}.${element.getAttribute("class") || ""} ${contrast.toFixed(1)}`;
    if (contrast < 4.5) found.set(name, element.textContent.trim().slice(0, 40));
  }
  return [...found].map((pair) => pair.join(": "));
})()
