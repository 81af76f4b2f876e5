/** The servers that end: each answer is the last one of its connection. */
const ending = new WeakSet<object>();

/** From now on each answer of a server says `Connection: close`, and no request behind it begins. */
export function beginEnd(server: object): void {
  ending.add(server);
}

/** A server that listens again ends no more. */
export function cancelEnd(server: object): void {
  ending.delete(server);
}

/** Whether a connection that a server has accepted ends with the answer whose head is written next. */
export function isLast({ server }: { readonly server: object | undefined }): boolean {
  return server !== undefined && ending.has(server);
}
