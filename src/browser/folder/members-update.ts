import { setChildren } from "../elements.ts";

const ROW = "tr[data-name]";
const CONTROL = "input, button";

/**
 * Makes the children of an element those of a fresh one, in linear time. Rows that are the same, and controls, stay the elements that they are and where
 * they are: a press that ends on another element than it began on is no click.
 */
export function updateChildren(current: Element, fresh: Element): void {
  const previous = new Map(Array.from(current.children, (child) => [toKey(child), child]));
  const children = Array.from(fresh.children, (child) => {
    const key = toKey(child);
    const like = previous.get(key);
    // Taken once: a second one of the key is new.
    previous.delete(key);
    return like !== undefined && update(like, child) ? like : child;
  });
  setChildren(current, children);
}

/** Tells an element from those beside it. */
function toKey(child: Element): string {
  const own = child.getAttribute("data-name") ?? child.getAttribute("value") ?? child.getAttribute("class");
  return `${child.localName} ${own}`;
}

/** Makes an element like a fresh one where it may stay; whether it does. */
function update(current: Element, fresh: Element): boolean {
  if (current.isEqualNode(fresh)) return true;
  if (!mayStay(current, fresh)) return false;
  for (const name of current.getAttributeNames()) if (!fresh.hasAttribute(name)) current.removeAttribute(name);
  for (const { name, value } of fresh.attributes) current.setAttribute(name, value);
  updateChildren(current, fresh);
  return true;
}

/** Whether an element that differs is still the same thing: a control that is called the same, or what holds rows or controls. */
function mayStay(current: Element, fresh: Element): boolean {
  if (fresh.matches(ROW)) return false;
  if (fresh.matches(CONTROL)) return current.textContent === fresh.textContent;
  return fresh.querySelector(`${ROW}, ${CONTROL}`) !== null;
}
