/** Creates an element. Strings become text nodes, so a name is never read as markup. */
export function element<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Readonly<Record<string, string>> = {},
  ...children: readonly (Node | string)[]
): HTMLElementTagNameMap[Tag] {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
}

/** Creates a button that does not submit a form. */
export function button(label: Node | string, act: () => void): HTMLButtonElement {
  const made = element("button", { type: "button" }, label);
  made.addEventListener("click", act);
  return made;
}

/** Creates an element for a name. `bdi` keeps the name from changing the direction of the text around it. */
export function nameElement(name: string): HTMLElement {
  return element("bdi", {}, name);
}

/** Sets the text only if it differs, so that assistive technology and layout see no change otherwise. */
export function setText(target: Element, text: string): void {
  if (target.textContent !== text) target.textContent = text;
}

/** Replaces the children. Elements that are already children are not moved, so that the focused one keeps the focus. */
export function setChildren(parent: Element, children: readonly Element[]): void {
  const kept = new Set(children);
  for (const child of [...parent.children]) if (!kept.has(child)) child.remove();
  let next = parent.firstElementChild;
  for (const child of children) {
    if (child === next) next = next.nextElementSibling;
    else parent.insertBefore(child, next);
  }
}

/** Whether keys, and what is pasted, are for a field, where they are text. */
export function isTyping(target: EventTarget | null): boolean {
  return target instanceof Element && target.matches('input:not([type="checkbox"]), select, textarea');
}
