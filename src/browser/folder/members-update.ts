import { element, setChildren } from "../elements.ts";

const TABLE = ".files";
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
  if (fresh.matches(TABLE)) updateTable(current, fresh);
  else updateChildren(current, fresh);
  return true;
}

/** Whether an element that differs may stay: a control with the same label, or a container of rows or controls. */
function canStay(current: Element, fresh: Element): boolean {
  if (fresh.matches(ROW)) return false;
  if (fresh.matches(CONTROL)) return current.textContent === fresh.textContent;
  return fresh.querySelector(`${ROW}, ${CONTROL}`) !== null;
}

/** A `tbody` gets no more rows at its end than this: browsers skip those that are out of sight as a whole. */
const ROWS_PER_CHUNK = 100;

/** Updates the head of a table, and its rows. Rows stay in their `tbody`, of which there are several. */
function updateTable(current: Element, fresh: Element): void {
  for (const part of ["caption", "thead"]) {
    const [old, made] = [current.querySelector(part), fresh.querySelector(part)];
    if (old !== null && made !== null && !update(old, made)) old.replaceWith(made);
  }
  const previous = new Map(rowsOf(current).map((row) => [row.dataset.name, row]));
  const rows = rowsOf(fresh).map((row) => {
    const existing = previous.get(row.dataset.name);
    return existing !== undefined && toState(existing) === toState(row) ? existing : row;
  });
  const kept = new Set(rows);
  for (const row of previous.values()) if (!kept.has(row)) row.remove();
  let next = current.querySelector(ROW);
  for (const row of rows) {
    if (row === next) next = nextRow(next);
    else if (next !== null) next.before(row);
    else appendRow(current, row);
  }
  for (const body of current.querySelectorAll("tbody")) if (body.childElementCount === 0) body.remove();
}

function rowsOf(table: Element): HTMLElement[] {
  return [...table.querySelectorAll<HTMLElement>(ROW)];
}

/** What a row shows of its member besides the name. The script changes how a row shows it. */
function toState(row: HTMLElement): string {
  const size = row.querySelector<HTMLElement>("[data-size]")?.dataset.size;
  return [
    row.dataset.kind,
    row.dataset.denied,
    size,
    row.querySelector("time")?.dateTime,
    row.childElementCount,
  ].join();
}

function nextRow(row: Element): Element | null {
  return row.nextElementSibling ?? row.parentElement?.nextElementSibling?.querySelector(ROW) ?? null;
}

function appendRow(table: Element, row: Element): void {
  const last = table.lastElementChild;
  if (last?.matches("tbody") && last.childElementCount < ROWS_PER_CHUNK) last.append(row);
  else table.append(element("tbody", {}, row));
}
