import { setChildren } from "../elements.ts";

const ROW = "tr[data-name]";
const CONTROL = "input, button";

/**
 * Updates the children of an element to those of a fresh one, in linear time. Equal rows, and controls, are not
 * replaced or moved: browsers send no click if the pointer is released on another element than it was pressed on.
 */
export function updateChildren(current: Element, fresh: Element): void {
  const previous = new Map(Array.from(current.children, (child) => [toKey(child), child]));
  const children = Array.from(fresh.children, (child) => {
    const key = toKey(child);
    const existing = previous.get(key);
    // Each element is used once: a second child with the same key is new.
    previous.delete(key);
    return existing !== undefined && update(existing, child) ? existing : child;
  });
  setChildren(current, children);
}

/** A key that distinguishes an element from its siblings. */
function toKey(child: Element): string {
  const own = child.getAttribute("data-name") ?? child.getAttribute("value") ?? child.getAttribute("class");
  return `${child.localName} ${own}`;
}

/** Updates an element to a fresh one if it may stay in the page. Returns whether it stays. */
function update(current: Element, fresh: Element): boolean {
  if (current.isEqualNode(fresh)) return true;
  if (!canStay(current, fresh)) return false;
  for (const name of current.getAttributeNames()) if (!fresh.hasAttribute(name)) current.removeAttribute(name);
  for (const { name, value } of fresh.attributes) current.setAttribute(name, value);
  updateChildren(current, fresh);
  return true;
}

/** Whether an element that differs may stay: a control with the same label, or a container of rows or controls. */
function canStay(current: Element, fresh: Element): boolean {
  if (fresh.matches(ROW)) return false;
  if (fresh.matches(CONTROL)) return current.textContent === fresh.textContent;
  return fresh.querySelector(`${ROW}, ${CONTROL}`) !== null;
}
