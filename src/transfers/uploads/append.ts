import type { AccountUpload } from "../../account/uploads/account-uploads.ts";
import { hasCode } from "../../contracts/storage-adapter.ts";
import { watchSteps } from "../../contracts/watch-steps.ts";
import { verifyContent } from "../../http/digests/digest-content.ts";
import type { ExpectedDigest } from "../../http/digests/digest-headers.ts";
import { createError } from "../../http/errors.ts";
import type { HttpError } from "../../http/http-error.ts";
import { readBody } from "../../http/request-body.ts";
import { createTooLargeError } from "../../http/uploads/length.ts";
import type { UploadAppend, UploadCreation, UploadProtocol } from "../../http/uploads/request-types.ts";
import type { AccountContext } from "../../request/context.ts";
import { emitUploadFailed } from "./events.ts";
import { requireUploads } from "./requirements.ts";

/**
 * Adds the body of the request to an upload. What arrives before a failure is kept, except if the content has digests.
 * Content beyond the length of the upload, or beyond the largest file, ends the upload: it is not what was meant
 * (RESUMABLE 3.7).
 * @throws HttpError `offset-mismatch` if another request has taken over, `too-large` or `malformed` for too much
 * content, the mismatch of a digest; what the storage and the content throw.
 */
export async function appendBody(
  context: AccountContext,
  upload: AccountUpload,
  demand: UploadAppend | UploadCreation,
): Promise<AccountUpload> {
  const { request } = context;
  const { uploads } = requireUploads(context);
  const { announced, protocol } = demand;
  const { size, offset } = upload.state;
  let excess: HttpError | undefined;
  let left = size === undefined ? Number.POSITIVE_INFINITY : size - offset;
  let hasBegun = false;

  const limited = watchSteps(
    () => {
      hasBegun = true;
      return readBody(request);
    },
    {
      onStep(chunk) {
        left -= chunk.byteLength;
        if (left >= 0) return;
        excess = createExcessError(protocol);
        throw excess;
      },
    },
  );
  const expected = toExpectedDigests(demand);
  const toMismatch = (): HttpError =>
    createError(protocol === "tus" ? "upload-checksum-mismatch" : "upload-digest-mismatch");
  const verified = expected.length === 0 ? undefined : verifyContent(limited, expected, toMismatch);
  try {
    return await uploads.append(upload, verified?.content ?? limited, {
      signal: request.signal,
      announced,
      ...(verified && { verify: () => verified.verify() }),
    });
  } catch (error) {
    if (excess !== undefined || context.failureOf(error).failure === "too-large") {
      const refusal = excess ?? toTooLarge(context, protocol, error);
      if ((await uploads.discard(upload.id)) === "unfinished")
        emitUploadFailed(context, upload, context.failureOf(refusal).message);
      throw refusal;
    }
    const isSuperseded = hasBegun && hasCode(error, "locked");
    if (isSuperseded || hasCode(error, "offset-mismatch")) {
      throw await toOffsetMismatch(context, upload, isSuperseded);
    }
    throw error;
  }
}

/** All digests that the content of a request must have. */
export function toExpectedDigests(demand: UploadAppend | UploadCreation): readonly ExpectedDigest[] {
  return demand.protocol === "draft" ? [...demand.digests, ...demand.fileDigests] : demand.digests;
}

/** The error for a wrong offset, with the right one. */
export function createOffsetMismatch(expected: number, provided: number, isClosing = false): HttpError {
  const headers = { "Upload-Offset": String(expected), ...(isClosing && { Connection: "close" }) };
  return createError("upload-offset-mismatch", { values: { expected, provided }, headers });
}

async function toOffsetMismatch(
  context: AccountContext,
  { id, state }: AccountUpload,
  isClosing: boolean,
): Promise<HttpError> {
  // Not `find`: it would take the upload back from the request that has taken it over.
  const current = await requireUploads(context).uploads.peek(id);
  return createOffsetMismatch(current?.state.offset ?? state.offset, state.offset, isClosing);
}

function createExcessError(protocol: UploadProtocol): HttpError {
  return createError(protocol === "tus" ? "upload-too-long" : "upload-length-inconsistent");
}

function toTooLarge({ account }: AccountContext, protocol: UploadProtocol, error: unknown): unknown {
  const { maxFileBytes } = account;
  return maxFileBytes === undefined ? error : createTooLargeError(protocol, maxFileBytes);
}
