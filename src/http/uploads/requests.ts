import { readDraftAppend, readDraftCreation } from "./draft.ts";
import { readInteropVersion, requireNoConditions, requireUploadProtocol } from "./protocol.ts";
import type { UploadAccess, UploadAppend, UploadCreation, UploadProtocol } from "./request-types.ts";
import { readTusAppend, readTusCreation } from "./tus.ts";

/**
 * Reads the header fields of a request that creates an upload. `protocol` is that of `findCreationProtocol`;
 * `isFolder`: the URL of the request is that of a folder.
 * @throws HttpError as {@link readTusCreation} and {@link readDraftCreation} do.
 */
export async function readUploadCreation(
  request: Request,
  protocol: UploadProtocol,
  isFolder: boolean,
): Promise<UploadCreation> {
  return protocol === "tus" ? readTusCreation(request, isFolder) : readDraftCreation(request, isFolder);
}

/**
 * Reads the header fields of a `PATCH` of an upload, which may be sent as a `POST` (`toUploadMethod`).
 * @throws HttpError `precondition-failed` for another version of tus, `unsupported-media-type` and `malformed`.
 */
export function readUploadAppend(request: Request): UploadAppend {
  const { headers } = request;
  const protocol = requireUploadProtocol({ method: "PATCH", headers });
  return protocol === "tus" ? readTusAppend(request) : readDraftAppend(request);
}

/**
 * Reads the header fields of a `HEAD` or `DELETE` of an upload.
 * @throws HttpError `precondition-failed` for another version of tus, `malformed` for conditions.
 */
export function readUploadAccess({ headers }: Pick<Request, "headers">): UploadAccess {
  const protocol = requireUploadProtocol({ method: "HEAD", headers });
  requireNoConditions(headers);
  return protocol === "tus" ? { protocol } : { protocol, interop: readInteropVersion(headers) };
}
