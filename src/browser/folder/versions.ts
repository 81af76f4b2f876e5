/** The link from the row of a file to the page with its versions. Folders have none, nor files of all storages. */
export function findVersions(row: Element | null | undefined): HTMLAnchorElement | null | undefined {
  return row?.querySelector<HTMLAnchorElement>("td.modified a");
}
