import { shownRows } from "./page.ts";

const CONTROLS = "input, a";

/** Moves the focus among rows, of which one control has the tab stop. */
export interface RovingFocus {
  /** Moves from a row by a key. Returns the row that has the focus then, or `undefined` for another key. */
  move(row: HTMLElement, key: string): HTMLElement | undefined;
  /** Moves to the row that had the focus last, or to the first or last one. Returns whether there is one. */
  enter(atEnd: boolean): boolean;
}

/** Makes the table a grid: all of its rows are one tab stop, and the arrows lead from one control to another. */
export function createRovingFocus(main: HTMLElement): RovingFocus {
  let stop: HTMLElement | undefined;
  let isPrepared = false;

  /**
   * Takes the controls of all rows but one out of the tab order. It is done when Tab is pressed: in a large folder it
   * takes a while, and most users need it never.
   */
  function removeStops(): void {
    // The filter may have hidden the row, and a hidden control is no tab stop.
    if (stop?.closest("tr")?.hidden !== false) {
      if (stop !== undefined) stop.tabIndex = -1;
      stop = shownRows(main)[0]?.querySelector<HTMLElement>("th a") ?? undefined;
    }
    if (!isPrepared) {
      isPrepared = true;
      const controls = main.querySelectorAll<HTMLElement>(`tr[data-name] :is(${CONTROLS}):not([tabindex="-1"])`);
      for (const control of controls) if (control !== stop) control.tabIndex = -1;
    }
    if (stop !== undefined) stop.tabIndex = 0;
  }

  function focusOn(target: HTMLElement | null | undefined): void {
    target?.focus();
    target?.closest("tr")?.scrollIntoView({ block: "nearest" });
  }

  function moveAcross(row: HTMLElement, step: number): void {
    const controls = [...row.querySelectorAll<HTMLElement>(CONTROLS)];
    const index = controls.indexOf(document.activeElement as HTMLElement);
    focusOn(controls[Math.max(0, Math.min(index + step, controls.length - 1))]);
  }

  /** To the same control of another row. */
  function moveTo(row: HTMLElement | undefined): HTMLElement | undefined {
    const cell = document.activeElement?.closest("td, th")?.className;
    const target = cell ? row?.querySelector<HTMLElement>(`.${cell} :is(${CONTROLS})`) : undefined;
    focusOn(target ?? row?.querySelector<HTMLElement>("th a"));
    return row;
  }

  /** There are other rows. The table may be new. */
  function forget(): void {
    isPrepared = false;
    if (stop?.isConnected !== true) stop = undefined;
    main.querySelector(".files")?.setAttribute("role", "grid");
  }

  main.addEventListener("members-replaced", forget);
  document.addEventListener("keydown", ({ key }) => {
    if (key === "Tab") removeStops();
  });
  main.addEventListener("focusin", ({ target }) => {
    // The tab stop follows the focus, which a press may move, too.
    if (!(target instanceof HTMLElement) || !target.matches(`tr[data-name] :is(${CONTROLS})`)) return;
    if (stop !== undefined && stop !== target) stop.tabIndex = -1;
    stop = target;
    target.tabIndex = 0;
  });
  forget();

  return {
    move(row, key) {
      const step = { ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 }[key];
      if (key === "ArrowRight" || key === "ArrowLeft") {
        const isForward = (key === "ArrowRight") === (document.documentElement.dir !== "rtl");
        moveAcross(row, isForward ? 1 : -1);
        return row;
      }
      const all = shownRows(main);
      if (key === "Home" || key === "End") return moveTo(key === "Home" ? all[0] : all.at(-1));
      if (step === undefined) return undefined;
      return moveTo(all[Math.max(0, Math.min(all.indexOf(row) + step, all.length - 1))]);
    },
    enter(atEnd) {
      const all = shownRows(main);
      const last = stop?.closest("tr")?.hidden === false ? stop : undefined;
      focusOn(last ?? (atEnd ? all.at(-1) : all[0])?.querySelector<HTMLElement>("th a"));
      return all.length > 0;
    },
  };
}
