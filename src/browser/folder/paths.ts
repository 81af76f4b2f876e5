/** The URL of the account's root folder, or of the link's. */
export function rootUrl(): string {
  return new URL(document.querySelector(".brand")?.getAttribute("href") ?? "/", location.href).href;
}

/** The names from the root to the folder of the page. */
export function currentPath(): readonly string[] {
  const path = location.pathname.slice(new URL(rootUrl()).pathname.length);
  return path
    .split("/")
    .filter((name) => name !== "")
    .map(decodeURIComponent);
}

/** The URL of a folder by the names from the root. */
export function toFolderUrl(path: readonly string[]): string {
  return rootUrl() + path.map((name) => `${encodeURIComponent(name)}/`).join("");
}

/** A path as users write it: with a leading `/` and, for a folder, one at the end. */
export function toPathText(path: readonly string[]): string {
  return `/${path.map((name) => `${name}/`).join("")}`;
}

/** The names of a path that a user has entered: with a leading `/` from the root, else from the folder of the page. */
export function parsePath(text: string): readonly string[] {
  const names = text.split("/").filter((name) => name !== "");
  return text.startsWith("/") ? names : [...currentPath(), ...names];
}
