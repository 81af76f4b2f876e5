import { StorageError } from "../contracts/storage-adapter.ts";
import { evaluatePreconditions } from "../http/conditional.ts";
import { toHttpDate } from "../http/http-date.ts";
import { readBody } from "../http/request-body.ts";
import { emptyResponse } from "../http/responses.ts";
import { toUnmodified, toWriteOptions } from "../uploads/upload.ts";
import type { AccountExchange } from "./endpoint.ts";
import { toValidators } from "./validators.ts";

/**
 * `PUT /home/<path>`: creates or overwrites a file, all or nothing (4.2, CONTRACT 4.1, 4.2). Whatever refuses it does so
 * before the body is read.
 */
export async function putFile({ request, path, files, config }: AccountExchange): Promise<Response> {
  const options = toWriteOptions(request);
  const current = await files.stat(path.segments, "write");
  const now = config.clock();
  const precondition = evaluatePreconditions(request, current && toValidators(current), now);
  if (precondition !== "met") throw new StorageError("precondition-failed");

  const entry = await files.write(path.segments, readBody(request), toUnmodified(request, options, current, now));
  return emptyResponse(201, { ETag: entry.etag, "Last-Modified": toHttpDate(entry.modified) });
}
