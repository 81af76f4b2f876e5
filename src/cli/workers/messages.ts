import type { FileEvent } from "../../contracts/events/file-event.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import type { Failure } from "../failure.ts";

/** What a worker tells the process that has started it. */
export type WorkerMessage =
  | { readonly type: "listening"; readonly url: string; readonly port: number }
  /** Its start has failed; it ends. */
  | { readonly type: "failed"; readonly failure: Failure }
  | { readonly type: "told"; readonly events: readonly FileEvent[]; readonly answers: readonly MeasuredRequest[] }
  /** It would have a file for itself; it is told when it has. */
  | { readonly type: "lock"; readonly file: string; readonly id: number }
  | { readonly type: "unlock"; readonly file: string; readonly id: number };

/** What it is told. */
export type PrimaryMessage = { readonly type: "stop" } | { readonly type: "locked"; readonly id: number };

/** In the environment of a worker: the port it is to listen on, 0 for the free one that all share. */
export const WORKER_PORT = "FILEFERRY_WORKER_PORT";
