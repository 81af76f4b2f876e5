import { toFetchHandler } from "fileferry/node";
import { createFiles } from "./files.mjs";

/*
 * Next.js: `app/files/[[...path]]/route.ts`, which serves `/files` and every URL below it.
 * Set `skipTrailingSlashRedirect: true` in `next.config`: URLs of folders end in `/`.
 */

const handle = toFetchHandler(createFiles(process.env.FILES_ROOT ?? "./files"));

/** Drops the second argument of Next.js, the route parameters: the service does not take them. */
function answer(request) {
  return handle(request);
}

export { answer as DELETE, answer as GET, answer as HEAD, answer as OPTIONS, answer as POST, answer as PUT };

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
