/** The servers that end: each answer is the last one of its connection. */
const draining = new WeakSet<object>();

/** From now on each answer of a server says `Connection: close`, and no request behind it begins. */
export function startDraining(server: object): void {
  draining.add(server);
}

/** A server that listens again ends no more. */
export function stopDraining(server: object): void {
  draining.delete(server);
}

/** Whether a connection that a server has accepted ends with the answer whose head is written next. */
export function isDraining({ server }: { readonly server: object | undefined }): boolean {
  return server !== undefined && draining.has(server);
}
