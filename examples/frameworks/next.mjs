import { toFetchHandler } from "fileferry/node";
import { createFiles } from "./files.mjs";

/*
 * Next.js: `app/files/[[...path]]/route.ts`, which answers for `/files` and all below it. In `next.config`, `skipTrailingSlashRedirect: true`: folders end in `/`.
 */

const handle = toFetchHandler(createFiles(process.env.FILES_ROOT ?? "./files"));

/** The second argument of Next.js, its parameters, is none of the service's. */
function answer(request) {
  return handle(request);
}

export { answer as DELETE, answer as GET, answer as HEAD, answer as OPTIONS, answer as POST, answer as PUT };

export const runtime = "nodejs";
export const dynamic = "force-dynamic";
