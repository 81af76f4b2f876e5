/** The servers that shut down: each response is the last one of its connection. */
const draining = new WeakSet<object>();

/** From now on every response says `Connection: close`, and no further request is started. */
export function startDraining(server: object): void {
  draining.add(server);
}

/** Serves normally again, because the server listens again. */
export function stopDraining(server: object): void {
  draining.delete(server);
}

/** Whether the next response on a connection of this server must close it. */
export function isDraining({ server }: { readonly server: object | undefined }): boolean {
  return server !== undefined && draining.has(server);
}
