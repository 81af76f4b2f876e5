import type { S3Call, S3Script } from "../../support/s3/fake.ts";
import { refusal } from "../../support/s3/fake.ts";

/** What is asked of a store. */
export type StoreCall =
  | "HEAD"
  | "GET"
  | "PUT"
  | "POST begin"
  | "PUT part"
  | "POST complete"
  | "DELETE upload"
  | "GET uploads"
  | "GET parts"
  | "GET list"
  | "DELETE"
  | "POST delete";

/** What becomes of a call. */
export type StoreFailure =
  /** Nothing listens there; or the connection ends before, or while, the request is sent. */
  | "refused"
  | "reset before"
  | "reset midway"
  /** It is done, and the answer is lost, or cut. */
  | "lost answer"
  | "cut body"
  /** Nothing comes back for ever. */
  | "silent"
  | "403"
  | "500"
  | "503 SlowDown"
  /** A success by its status, with an error in the body. */
  | "200 with an error";

/** Which call fails, and how. */
export interface StoreFault {
  readonly call: StoreCall;
  readonly failure: StoreFailure;
  readonly lasts: "once" | "on";
}

/** What fails, and what has. */
export interface StoreFaults {
  readonly script: S3Script;
  /** Counts from the start again, and makes these calls fail. */
  strike(...faults: readonly StoreFault[]): void;
  /** Which calls were made since, and which have failed. */
  struck(): { readonly made: ReadonlySet<StoreCall>; readonly failed: ReadonlySet<StoreCall> };
}

/** All of them. */
export const FAILURES: readonly StoreFailure[] = [
  ...(["refused", "reset before", "reset midway", "lost answer", "cut body", "silent"] as const),
  ...(["403", "500", "503 SlowDown", "200 with an error"] as const),
];

/** The calls whose body says whether they have succeeded, as stores start to answer before they are done. */
const TOLD_INSIDE: readonly StoreCall[] = [
  ...(["POST begin", "PUT part", "POST complete", "GET uploads", "GET parts", "GET list", "POST delete"] as const),
];

/** Whether a call can fail like this. */
export function canFail(call: StoreCall, failure: StoreFailure): boolean {
  return failure !== "200 with an error" || TOLD_INSIDE.includes(call);
}

/** Stands between a storage and its store. */
export function createStoreFaults(): StoreFaults {
  let faults: readonly StoreFault[] = [];
  const made = new Set<StoreCall>();
  const failed = new Set<StoreCall>();

  const script: S3Script = (call, _number, serve) => {
    const name = toStoreCall(call);
    made.add(name);
    const fault = faults.find((one) => one.call === name);
    if (fault === undefined || (fault.lasts === "once" && failed.has(name))) return undefined;
    failed.add(name);
    return fail(fault.failure, call, serve);
  };

  function strike(...next: readonly StoreFault[]): void {
    faults = next;
    made.clear();
    failed.clear();
  }

  return { script, strike, struck: () => ({ made: new Set(made), failed: new Set(failed) }) };
}

function toStoreCall({ method, query }: S3Call): StoreCall {
  if (query.has("list-type")) return "GET list";
  if (query.has("delete")) return "POST delete";
  if (query.has("uploads")) return method === "POST" ? "POST begin" : "GET uploads";
  if (!query.has("uploadId")) return method as StoreCall;
  const ofUpload: Readonly<Record<string, StoreCall>> = { PUT: "PUT part", POST: "POST complete", GET: "GET parts" };
  return ofUpload[method] ?? "DELETE upload";
}

async function fail(failure: StoreFailure, call: S3Call, serve: () => Response): Promise<Response> {
  switch (failure) {
    case "refused":
      throw toFailure("ECONNREFUSED");
    case "reset before":
    case "reset midway":
      throw toFailure(failure === "reset before" ? "ECONNRESET" : "EPIPE");
    case "lost answer":
      serve();
      throw toFailure("ECONNRESET");
    case "cut body":
      return toCut(serve());
    case "silent":
      return untilAborted(call.signal);
    case "403":
      return refusal(403, "AccessDenied", call.method);
    case "500":
      return refusal(500, "InternalError", call.method);
    case "503 SlowDown":
      return refusal(503, "SlowDown", call.method, { "retry-after": "0" });
    case "200 with an error":
      return refusal(200, "InternalError", call.method);
  }
}

/** As `fetch` fails: why is in the cause. */
function toFailure(code: string): Error {
  const cause = Object.assign(new Error(`${code} 10.0.0.1:9000`), { code });
  return Object.assign(new TypeError("fetch failed"), { cause });
}

/** An answer of which half of the body comes. Without a body it is the head that does not come whole. */
async function toCut(answer: Response): Promise<Response> {
  const bytes = new Uint8Array(await answer.clone().arrayBuffer());
  if (bytes.byteLength === 0) throw toFailure("UND_ERR_SOCKET");
  let isSent = false;
  const body = new ReadableStream<Uint8Array>({
    pull(controller) {
      if (isSent) return controller.error(toFailure("UND_ERR_SOCKET"));
      isSent = true;
      controller.enqueue(bytes.subarray(0, bytes.byteLength / 2));
    },
  });
  const { status, headers } = answer;
  return new Response(body, { status, headers });
}

function untilAborted(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_resolve, reject) => {
    signal?.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}
