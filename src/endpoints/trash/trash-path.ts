/** The URL path of the trash. */
export function toTrashPath(basePath: string): string {
  return `${basePath}/home/__svc__/trash`;
}
