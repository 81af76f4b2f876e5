// What the servers of the bench have in common.
import { join, normalize } from "node:path";

/** Listens on a free port and prints the address. */
export function announce(server) {
  server.listen(0, "127.0.0.1", () => announcePort(server.address().port));
}

export function announcePort(port) {
  process.stdout.write(`Listening on http://127.0.0.1:${port}/\n`);
}

/** The file of a URL; nothing above the root, which `normalize` sees to as the path is absolute. */
export function toLocalPath(root, url) {
  return join(root, normalize(decodeURIComponent(url)));
}
