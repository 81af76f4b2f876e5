import { fill } from "../format.ts";
import { HEADERS, parseBody } from "../requests.ts";
import type { OpenFolderPage } from "./page.ts";
import { currentPath } from "./paths.ts";

/** An entry of the trash, as far as the script needs it. The list has the newest first. */
interface TrashEntry {
  readonly id: string;
  readonly path: string;
}

/**
 * Creates a function that restores members of this folder that were just deleted. Returns `undefined` if the account
 * has no trash.
 */
export function createRestorer(page: OpenFolderPage): ((names: readonly string[]) => Promise<void>) | undefined {
  const url = document.querySelector<HTMLAnchorElement>('.account a[href$="/home/__svc__/trash"]')?.href;
  if (url === undefined) return undefined;
  return async (names) => {
    const { texts } = page;
    try {
      const wanted = new Set(names.map((name) => `/${[...currentPath(), name].join("/")}`));
      const response = await fetch(url, { headers: HEADERS, cache: "no-store" });
      const { content } = (await response.json()) as { content: readonly TrashEntry[] };
      const ids = content.flatMap(({ id, path }) => (wanted.delete(path) ? [id] : []));
      const headers = { ...HEADERS, "Content-Type": "application/json; charset=utf-8" };
      const commands = ids.map((target) => ({ command: "restore", target }));
      const sent = await fetch(url, { method: "POST", headers, body: JSON.stringify({ commands }) });
      const { errors } = parseBody(await sent.text());
      if (sent.ok) page.showSuccess(fill(texts.restored, { count: ids.length }));
      else if (Array.isArray(errors)) page.showProblems(errors.flatMap(({ message }) => message ?? []));
    } catch {
      page.showProblems([texts.networkLost]);
    }
    await page.refresh();
  };
}
