/** Whether a method reads a resource: GET, or HEAD, which differs only in that its response has no content. */
export function isGetOrHead(method: string | undefined): boolean {
  return method === "GET" || method === "HEAD";
}
