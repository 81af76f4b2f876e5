import { toFetchHandler } from "fileferry/node";
import { createFiles } from "./files.mjs";

/* Astro: `src/pages/files/[...path].ts`, which serves `/files` and every URL below it. */

const handle = toFetchHandler(createFiles(process.env.FILES_ROOT ?? "./files"));

export function ALL({ request }) {
  return handle(request);
}

export const prerender = false;
