const MENU = "details.menu:not([data-flat])";

/**
 * Closes menus as users expect: with Escape, by a press elsewhere, and if the focus leaves them. Without a script they
 * open and close by a click on their summary.
 */
export function enhanceMenus(page: Document): void {
  page.addEventListener("keydown", (event) => {
    const menu = event.key === "Escape" && event.target instanceof Element ? event.target.closest(OPEN_MENU) : null;
    if (menu === null) return;
    event.preventDefault();
    event.stopPropagation();
    closeMenu(menu);
  });
  for (const type of ["pointerdown", "focusin"] as const) {
    page.addEventListener(type, ({ target }) => {
      for (const menu of page.querySelectorAll(OPEN_MENU)) {
        if (target instanceof Node && !menu.contains(target)) menu.removeAttribute("open");
      }
    });
  }
  page.addEventListener(
    "toggle",
    ({ target }) => {
      if (target instanceof HTMLDetailsElement && target.matches(OPEN_MENU)) focusField(target);
    },
    // The event does not bubble.
    true,
  );
}

const OPEN_MENU = `${MENU}[open]`;

/** Closes the menu around an element. If the focus is in the menu, it goes to what opens it. */
export function closeMenu(within: Element): void {
  const menu = within.closest(MENU);
  if (menu === null) return;
  const hadFocus = menu.contains(document.activeElement);
  menu.removeAttribute("open");
  if (hadFocus) menu.querySelector("summary")?.focus();
}

/** What opens for a name to be entered has the focus in its field. */
function focusField(menu: HTMLDetailsElement): void {
  menu.querySelector<HTMLInputElement>('.panel input:not([type="hidden"], [type="file"], [type="radio"])')?.focus();
}
