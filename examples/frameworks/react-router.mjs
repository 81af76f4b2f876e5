import { toFetchHandler } from "fileferry/node";
import { createFiles } from "./files.mjs";

/*
 * React Router: `app/routes/files.ts`, a route without a component.
 * In `app/routes.ts` it is `route("files/*", "routes/files.ts")`.
 */

const handle = toFetchHandler(createFiles(process.env.FILES_ROOT ?? "./files"));

/** GET, HEAD and OPTIONS. */
export function loader({ request }) {
  return handle(request);
}

/** POST, PUT and DELETE. */
export function action({ request }) {
  return handle(request);
}
