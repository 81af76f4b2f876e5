import type { FileEvent } from "../contracts/events/file-event.ts";
import { cutPath } from "./refusals.ts";

/** The events of starts and failures. Their paths need not exist, so a client decides how long they are. */
const WITH_UNPROVEN_PATHS: ReadonlySet<FileEvent["id"]> = new Set<FileEvent["id"]>([
  40004, 40006, 40011, 40013, 40014, 40016, 40018, 40021, 40022, 40027, 40030, 40035, 40040, 40041, 40056, 49002, 49004,
  49007,
]);
const PATHS: readonly string[] = ["path", "real_path", "destination", "destination_real_path"];

/** Returns the data of an event, with the beginnings of its paths if they need not exist. */
export function cutPaths<D extends object>(id: FileEvent["id"], data: D): D {
  return mapUnprovenPaths(id, data, cutPath);
}

/** Returns the data of an event, with other paths if they need not exist. */
export function mapUnprovenPaths<D extends object>(id: FileEvent["id"], data: D, map: (path: string) => string): D {
  if (!WITH_UNPROVEN_PATHS.has(id)) return data;
  const paths = Object.entries(data).filter(([key]) => PATHS.includes(key));
  return { ...data, ...Object.fromEntries(paths.map(([key, path]) => [key, map(String(path))])) };
}
