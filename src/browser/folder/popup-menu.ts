import { button, element } from "../elements.ts";

/** One line of a menu. */
export interface MenuItem {
  readonly label: string;
  readonly act: () => void;
  readonly isDanger?: boolean;
}

/**
 * Opens a menu at an element (ARIA menu button): arrows, Home and End move in it; Escape, Tab and a press elsewhere
 * close it. The focus goes back to the element. `at`: where the pointer is, if that opens it.
 */
export function openPopupMenu(
  anchor: HTMLElement,
  items: readonly MenuItem[],
  { label, at }: { readonly label: string; readonly at?: MouseEvent | undefined },
): void {
  const entries = items.map(({ label: text, act, isDanger }) => {
    const entry = button(text, () => {
      close(true);
      act();
    });
    entry.setAttribute("role", "menuitem");
    entry.tabIndex = -1;
    if (isDanger) entry.className = "danger";
    return entry;
  });
  const menu = element("div", { role: "menu", class: "panel popup", "aria-label": label }, ...entries);

  function close(goesBack: boolean): void {
    menu.remove();
    anchor.removeAttribute("aria-expanded");
    removeEventListener("pointerdown", onPress, true);
    removeEventListener("scroll", onScroll, true);
    if (goesBack) anchor.focus();
  }

  function onPress({ target }: Event): void {
    if (target instanceof Node && !menu.contains(target)) close(false);
  }

  function onScroll(): void {
    close(menu.contains(document.activeElement));
  }

  menu.addEventListener("keydown", (event) => {
    const index = entries.indexOf(document.activeElement as HTMLButtonElement);
    const next = toIndex(event.key, index, entries.length);
    if (event.key === "Escape") close(true);
    else if (event.key === "Tab") return close(true);
    else if (next === undefined) return;
    else entries[next]?.focus();
    event.preventDefault();
    event.stopPropagation();
  });
  addEventListener("pointerdown", onPress, true);
  anchor.setAttribute("aria-expanded", "true");
  anchor.closest("main")?.append(menu);
  place(
    menu,
    at === undefined ? anchor.getBoundingClientRect() : new DOMRect(at.clientX, at.clientY),
    at !== undefined,
  );
  entries[0]?.focus({ preventScroll: true });
  // The event of a scroll that brought the element into sight comes before the next frame.
  requestAnimationFrame(() => {
    if (menu.isConnected) addEventListener("scroll", onScroll, true);
  });
}

function toIndex(key: string, index: number, count: number): number | undefined {
  const indexes: Readonly<Record<string, number>> = {
    ArrowDown: (index + 1) % count,
    ArrowUp: (index - 1 + count) % count,
    Home: 0,
    End: count - 1,
  };
  return indexes[key];
}

/** Below the element or, if there is no room, above it; always in sight. At a pointer it begins where that is. */
function place(menu: HTMLElement, { top, bottom, left, right }: DOMRect, isAtPointer: boolean): void {
  const { width, height } = menu.getBoundingClientRect();
  const isBelow = bottom + height <= innerHeight || top < height;
  const start = (document.documentElement.dir === "rtl") === isAtPointer ? right - width : left;
  menu.style.left = `${Math.max(8, Math.min(start, innerWidth - width - 8))}px`;
  menu.style.top = `${Math.max(8, isBelow ? Math.min(bottom, innerHeight - height - 8) : top - height)}px`;
}
