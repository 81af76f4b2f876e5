import { html, type SafeHtml } from "../http/html.ts";
import { openTextSource, type TextSource } from "./text-source.ts";

/** Marks the position of the rows on a page. No text on the page can contain it, because `<` is escaped. */
export const ROWS = html`<!--rows-->`;

/** A page whose rows are read while it is sent. */
export interface RowsPage<T> {
  /** A few at a time. */
  readonly rows: AsyncIterator<readonly T[]>;
  /** Renders the page with {@link ROWS} in it, or without if there are no rows. */
  toFrame(isEmpty: boolean): SafeHtml;
  toRow(row: T): SafeHtml;
}

/**
 * Opens a page whose rows are read while it is sent. Closing it ends their iteration.
 * @throws what the first steps of `rows` throw.
 */
export async function openRowsPage<T>({ rows, toFrame, toRow }: RowsPage<T>): Promise<TextSource> {
  let next = await nextRows();
  const [before = "", after = ""] = String(toFrame(next === undefined)).split(String(ROWS));
  let position: "begin" | "rows" | "end" = "begin";

  /** The next rows, of which there are some; `undefined` at the end. */
  async function nextRows(): Promise<readonly T[] | undefined> {
    for (let step = await rows.next(); !step.done; step = await rows.next()) {
      if (step.value.length > 0) return step.value;
    }
    return undefined;
  }

  async function nextText(): Promise<string | undefined> {
    if (position === "end") return undefined;
    if (position === "begin") {
      position = "rows";
      return before;
    }
    if (next === undefined) {
      position = "end";
      return after;
    }
    const text = next.map((row) => String(toRow(row))).join("");
    next = await nextRows();
    return text;
  }

  async function close(): Promise<void> {
    await rows.return?.();
  }

  return openTextSource({ next: nextText, close });
}
