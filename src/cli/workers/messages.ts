import type { FileEvent } from "../../contracts/events/file-event.ts";
import type { MeasuredRequest } from "../../metrics/measure-service.ts";
import type { CommandFailure } from "../failure.ts";
import type { ProcessUsage } from "../process-usage.ts";

/** A message of a worker to the primary process. */
export type WorkerMessage =
  | { readonly type: "listening"; readonly url: string; readonly port: number }
  /** The start of the worker failed, and the worker ends. */
  | { readonly type: "failed"; readonly failure: CommandFailure }
  | { readonly type: "events"; readonly events: readonly FileEvent[]; readonly requests: readonly MeasuredRequest[] }
  /** Requests the configuration; the primary process replies `config`. */
  | { readonly type: "config" }
  | { readonly type: "usage"; readonly usage: ProcessUsage }
  /** Requests a lock on a file; the primary process replies `locked` when the worker has it. */
  | { readonly type: "lock"; readonly file: string; readonly id: number }
  | { readonly type: "unlock"; readonly file: string; readonly id: number };

/** A message of the primary process to a worker. */
export type PrimaryMessage =
  | { readonly type: "stop" }
  | { readonly type: "reload" }
  | { readonly type: "config"; readonly config: unknown }
  | { readonly type: "locked"; readonly id: number };

/** The environment variable of a worker that holds its port; 0 for a free port that all workers share. */
export const WORKER_PORT = "FILEFERRY_WORKER_PORT";
