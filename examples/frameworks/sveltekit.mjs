import { toFetchHandler, toNodeConnection } from "fileferry/node";
import { createFiles } from "./files.mjs";

/* SvelteKit: `src/hooks.server.ts`. With several hooks, the first one of `sequence`. */

const files = createFiles(process.env.FILES_ROOT ?? "./files");
const answer = toFetchHandler(files);

export function handle({ event, resolve }) {
  if (!files.handles(event.request)) return resolve(event);
  // With adapter-node; elsewhere the client's address is unknown.
  const socket = event.platform?.req?.socket;
  return answer(event.request, socket && toNodeConnection(socket));
}
