import { useSyncExternalStore } from "react";

/** The folder in the address of the page, such as `#/reports/2026`: links and the back button work. */
export function usePath(): string {
  return useSyncExternalStore(subscribe, readPath);
}

/** The address of a folder. */
export function toHref(path: string): string {
  return `#${path.split("/").map(encodeURIComponent).join("/")}`;
}

/** The path of a member of a folder. */
export function toMemberPath(folder: string, name: string): string {
  return folder === "/" ? `/${name}` : `${folder}/${name}`;
}

/** The folders on the way to a folder, the root first. */
export function toParents(path: string): readonly { readonly name: string; readonly path: string }[] {
  const names = path.split("/").filter((name) => name !== "");
  const parents = names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join("/")}` }));
  return [{ name: "Files", path: "/" }, ...parents];
}

function subscribe(listener: () => void): () => void {
  addEventListener("hashchange", listener);
  return () => removeEventListener("hashchange", listener);
}

function readPath(): string {
  try {
    return decodeURIComponent(location.hash.slice(1)) || "/";
  } catch {
    return "/";
  }
}
