import mime from "mime";
import { type StorageEntry, StorageError, type StoredFile } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions, mayUseRange, type Validators } from "../http/conditional.ts";
import { toAttachment } from "../http/content-disposition.ts";
import { toHttpDate } from "../http/http-date.ts";
import { HttpError } from "../http/http-error.ts";
import { parseRange, type RangePart } from "../http/range.ts";
import { emptyResponse, type HeaderFields, streamResponse } from "../http/responses.ts";
import type { AccountExchange } from "./endpoint.ts";
import { redirectIfFolder } from "./slash-redirect.ts";
import { toValidators } from "./validators.ts";

/** Header fields that make a request's answer depend on the version that is there. */
const CONDITIONS = ["if-match", "if-none-match", "if-modified-since", "if-unmodified-since", "range"] as const;

/** How often a file may be replaced under a conditional request before it is given up. */
const MAX_ATTEMPTS = 5;

/** `GET` and `HEAD /home/<path>`: the content of a file (4.2, 4.5, 4.6; CONTRACT 3.1, 3.2). */
export async function getFile(exchange: AccountExchange): Promise<Response> {
  const { request, path, files } = exchange;
  const isUnconditional = CONDITIONS.every((name) => request.headers.get(name) === null);
  try {
    if (!isUnconditional || request.method === "HEAD") return await getConditionally(exchange);
    return whole(await files.read(path.segments), path.segments);
  } catch (error) {
    return redirectIfFolder(exchange, error);
  }
}

/** Decides on the entry and then reads that very version, or decides anew when it was replaced in between. */
async function getConditionally(exchange: AccountExchange): Promise<Response> {
  const { segments } = exchange.path;
  for (let attempt = 1; attempt < MAX_ATTEMPTS; attempt++) {
    const entry = await exchange.files.stat(segments, "read");
    if (entry === undefined) throw new StorageError("not-found");
    const decision = decide(exchange, entry);
    if ("answer" in decision) return decision.answer;

    const file = await exchange.files.read(segments, decision.range);
    if (isSameVersion(file.entry, entry)) {
      return decision.range ? part(file, segments, decision.range) : whole(file, segments);
    }
    await file.body.cancel();
  }
  throw new StorageError("unavailable", "the file was replaced again and again");
}

/** What the conditions of a request come to for a version of the file: an answer without it, or what to read. */
function decide({ request, config, path }: AccountExchange, entry: StorageEntry): Decision {
  const validators = toValidators(entry);
  const now = config.clock();
  const precondition = evaluatePreconditions(request, validators, now);
  if (precondition === "failed") throw new StorageError("precondition-failed");
  if (precondition === "not-modified") return { answer: emptyResponse(304, toValidatorFields(validators)) };
  if (request.method === "HEAD") return { answer: emptyResponse(200, toFileFields(entry, path.segments)) };

  if (!mayUseRange(request.headers, validators, now)) return { range: undefined };
  const range = parseRange(request.headers.get("range"), entry.size);
  if (range !== "unsatisfiable") return { range };
  throw new HttpError("range-not-satisfiable", "The file is shorter.", { "Content-Range": `bytes */${entry.size}` });
}

type Decision = { readonly answer: Response } | { readonly range: RangePart | undefined };

function whole({ entry, body }: StoredFile, segments: readonly string[]): Response {
  return streamResponse(200, body, toFileFields(entry, segments));
}

function part({ entry, body }: StoredFile, segments: readonly string[], { offset, length }: RangePart): Response {
  return streamResponse(206, body, {
    ...toFileFields(entry, segments),
    "Content-Length": String(length),
    "Content-Range": `bytes ${offset}-${offset + length - 1}/${entry.size}`,
  });
}

function isSameVersion(one: StorageEntry, other: StorageEntry): boolean {
  const [first, second] = [toValidators(one), toValidators(other)];
  return first.etag === second.etag && first.modified.getTime() === second.modified.getTime();
}

function toFileFields(entry: StorageEntry, segments: readonly string[]): HeaderFields {
  const name = segments.at(-1) ?? "";
  return {
    ...toValidatorFields(toValidators(entry)),
    "Accept-Ranges": "bytes",
    "Content-Length": String(entry.size),
    "Content-Type": mime.getType(name) ?? "application/octet-stream",
    // A user's file never runs in the service's origin (CONTRACT 3.2).
    "Content-Disposition": toAttachment(name),
    "Content-Security-Policy": "sandbox; default-src 'none'",
  };
}

function toValidatorFields({ etag, modified }: Validators): HeaderFields {
  return { ETag: etag, "Last-Modified": toHttpDate(modified) };
}
