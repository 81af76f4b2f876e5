/**
 * Calls a function when the page has arrived as a whole. The script of a folder runs earlier: of a large folder, some
 * rows are there long before the last one.
 */
export function whenLoaded(act: () => void): void {
  if (document.readyState !== "loading") act();
  else document.addEventListener("DOMContentLoaded", act);
}
