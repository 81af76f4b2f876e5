import type { OpenApiOptions } from "./input-options.ts";
import type { ParameterObject } from "./types.ts";

const text = { type: "string" } as const;
const SEGMENTS = "its segments separated by `/`, each percent-encoded on its own. An encoded `/` is rejected (400)";

function inPath(name: string, description: string, example?: string): ParameterObject {
  return {
    name,
    in: "path",
    required: true,
    description,
    schema: { ...text, minLength: 1 },
    ...(example !== undefined && { example }),
  };
}

function inQuery(name: string, description: string, schema: ParameterObject["schema"] = text): ParameterObject {
  return { name, in: "query", description, schema };
}

function inHeader(name: string, description: string): ParameterObject {
  return { name, in: "header", description, schema: text };
}

/** The parameters of requests by their names in the document. Those of metadata depend on the configuration. */
const PARAMETERS = {
  path: inPath("path", `The path of a file below the account's root, ${SEGMENTS}.`, "example/hello.txt"),
  folder: inPath("folder", `The path of a folder below the account's root, ${SEGMENTS}.`, "example"),
  token: inPath("token", "The token of a link. Who has it can use the link: it is a secret."),
  zip: inQuery("zip", "With any value the response is the archive of the folder."),
  sender: inHeader(
    "X-Sender",
    "Who sends the file, percent-encoded in UTF-8, for links that ask for it. The file is stored as `<sender> - <name>`. A form has the field `sender`, before its files.",
  ),
  signOnId: {
    ...inPath("id", "The ID of a login at another site."),
    schema: { ...text, pattern: "^[a-z0-9-]{1,32}$" },
  },
  signOnState: inQuery("state", "What the service has given to the other site (RFC 6749 4.1.2)."),
  signOnCode: inQuery("code", "The authorization code of the other site."),
  signOnError: inQuery("error", "Why the other site has refused the login (RFC 6749 4.1.2.1)."),
  signOnIssuer: inQuery("iss", "The other site (RFC 9207)."),
  keyId: { ...inPath("id", "The ID of an API key."), schema: { ...text, pattern: "^[0-9a-f]{16}$" } },
  linkId: { ...inPath("id", "The id of a link."), schema: { ...text, pattern: "^[0-9a-f]{32}$" } },
  linkPath: {
    ...inQuery("path", "The account's path that the link is to lead to, such as `/reports`."),
    required: true,
  },
  linkPermissions: inQuery("permissions", "The permissions that are chosen in the form at first.", {
    type: "array",
    items: text,
  }),
  permanent: inHeader("X-Permanent", "With `1`, what is removed does not go to the trash."),
  versionId: inPath("id", "The ID of a version."),
  versionedPath: {
    ...inQuery("path", "The account's path of the file whose versions these are, such as `/reports/q1.csv`."),
    required: true,
  },
  asset: inPath("name", "The name of an asset, as in the links of the pages."),
  range: inHeader("Range", "Byte ranges, at most 16 (RFC 9110 14.2); more are ignored."),
  inline: inQuery("inline", "With any value browsers show the file, if its type is safe to show."),
  ifRange: inHeader("If-Range", "`Range` is ignored unless the file still has this version (RFC 9110 13.1.5)."),
  ifMatch: inHeader(
    "If-Match",
    "The request is processed only if the file has one of these versions; `*` means any version (RFC 9110 13.1.1).",
  ),
  ifNoneMatch: inHeader(
    "If-None-Match",
    "The request is processed only if the file has none of these versions; `*` means that it must not exist (RFC 9110 13.1.2).",
  ),
  listingIfNoneMatch: inHeader(
    "If-None-Match",
    "A listing as JSON is sent only if it has none of these entity-tags (RFC 9110 13.1.2). Ignored if the storage has no tags.",
  ),
  prefer: inHeader(
    "Prefer",
    "With `order=name` a listing as JSON of at most 10,000 members is sorted by code points (RFC 7240).",
  ),
  dryRun: inHeader("Prefer", "With `dry-run` the commands of a JSON body are only checked (RFC 7240)."),
  idempotencyKey: {
    ...inHeader(
      "Idempotency-Key",
      "1 to 255 visible ASCII characters, such as a random UUID. The same key with the same JSON body runs once, and is answered again as the first time.",
    ),
    schema: { ...text, minLength: 1, maxLength: 255 },
  },
  ifModifiedSince: inHeader(
    "If-Modified-Since",
    "The file is sent only if it was modified after this time (RFC 9110 13.1.3).",
  ),
  ifUnmodifiedSince: inHeader(
    "If-Unmodified-Since",
    "The request is processed only if the file was not modified after this time (RFC 9110 13.1.4).",
  ),
  acceptLanguage: inHeader("Accept-Language", "The preferred languages of pages."),
  contentEncoding: {
    ...inHeader("Content-Encoding", "The content coding: only `identity` is supported (RFC 9110 8.4)."),
    schema: { ...text, enum: ["identity"] },
  },
  requestedWith: inHeader(
    "X-Requested-With",
    "With `XMLHttpRequest` a 401 has no Basic challenge: browsers open no login dialog. Pages that are served alone respond in JSON to such a request, if it prefers that.",
  ),
  traceparent: inHeader(
    "traceparent",
    "The trace of events, webhooks and authentication requests (W3C Trace Context).",
  ),
  tracestate: inHeader("tracestate", "Vendor-specific data that belongs to `traceparent` (W3C Trace Context)."),
  q: inQuery(
    "q",
    "A text: the response has all members below the folder whose names contain it, as far as limits allow. Case and accents do not count.",
    { ...text, minLength: 1, maxLength: 255 },
  ),
  limit: inQuery("limit", "The maximum number of members on a page of a listing as JSON. The page is sorted by name.", {
    type: "integer",
    minimum: 1,
    maximum: 10_000,
  }),
  cursor: inQuery("cursor", "Where the page begins: a value from the `Link` of the previous page. Needs `limit`.", {
    ...text,
    minLength: 1,
    maxLength: 4096,
  }),
  sort: inQuery("sort", "The column that the page is sorted by. Default: `name`.", {
    ...text,
    enum: ["name", "size", "modified"],
  }),
  order: inQuery("order", "The sort direction of the page. Default: `asc`.", {
    ...text,
    enum: ["asc", "desc"],
  }),
  member: inQuery("member", "The member of the folder whose properties the page shows, with forms for it."),
  done: inQuery("done", "The code of the form's result, which the page shows as a message."),
  sent: inQuery("sent", "The files that the form has sent, for accounts that cannot list them.", {
    type: "array",
    items: text,
  }),
  uploadId: { ...inPath("id", "The id of an upload."), schema: { ...text, pattern: "^[0-9a-f]{32}$" } },
  tusResumable: {
    ...inHeader("Tus-Resumable", "The version of tus. With another one the response is 412."),
    schema: text,
  },
  draftVersion: inHeader("Upload-Draft-Interop-Version", "The version of the draft that the client speaks: 5 to 8."),
  uploadOffset: inHeader("Upload-Offset", "The number of bytes that are stored already."),
  uploadLength: inHeader("Upload-Length", "The number of bytes of the complete file."),
  uploadDeferLength: inHeader("Upload-Defer-Length", "`1`: the length is told later (tus)."),
  uploadComplete: inHeader(
    "Upload-Complete",
    "`?1`: the content is all that is left of the file; `?0`: it is not (draft).",
  ),
  uploadMetadata: inHeader(
    "Upload-Metadata",
    "Keys and values in Base64 (tus), at most 8 KiB. `filename` or `name` is the name of the file in a folder.",
  ),
  uploadConcat: inHeader(
    "Upload-Concat",
    "`partial`, or `final;` and the URLs of 1 to 1,000 partial uploads of the file (tus). It counts in the request that creates the upload.",
  ),
  uploadChecksum: inHeader(
    "Upload-Checksum",
    "Algorithm and checksum in Base64 of the content (tus). With a wrong one this content is discarded.",
  ),
  contentDigest: inHeader(
    "Content-Digest",
    "Digests of the content by `sha-256` or `sha-512`, which are verified (RFC 9530).",
  ),
  reprDigest: inHeader(
    "Repr-Digest",
    "Digests of the file by `sha-256` or `sha-512`, which are verified if the request has all of it (RFC 9530).",
  ),
  wantReprDigest: inHeader(
    "Want-Repr-Digest",
    "Asks for the digest of the complete file by `sha-256` or `sha-512`, such as `sha-256=1` (RFC 9530).",
  ),
  wantContentDigest: inHeader(
    "Want-Content-Digest",
    "Asks for the digest of the content of a response with the complete file (RFC 9530).",
  ),
  contentDisposition: inHeader("Content-Disposition", "The name of the file in a folder (RFC 6266)."),
  methodOverride: inHeader("X-HTTP-Method-Override", "`PATCH`, `DELETE` or `HEAD`, together with `Tus-Resumable`."),
  basicLogin: inQuery("login", "Makes browsers without cookies ask for Basic credentials.", {
    ...text,
    enum: ["basic"],
  }),
  returnTo: inQuery("return", "The path to open after the login. A URL of another site is ignored."),
} as const satisfies Readonly<Record<string, ParameterObject>>;

/** The name of a parameter. Those of metadata exist only if the service accepts metadata. */
export type ParameterName = keyof typeof PARAMETERS | "metadata" | "formMetadata";

/** Returns all parameters of a service by their names in the document. */
export function toParameters(service: OpenApiOptions): Readonly<Partial<Record<ParameterName, ParameterObject>>> {
  if (service.metadata === undefined) return PARAMETERS;
  const formMetadata = toMetadata({ ...service.metadata, isRequired: false });
  const note = service.metadata.isRequired ? " A form without files does not need this header." : "";
  return {
    ...PARAMETERS,
    metadata: toMetadata(service.metadata),
    formMetadata: { ...formMetadata, description: `${formMetadata.description}${note}` },
  };
}

/** Returns the header parameter for the metadata of uploads (4.4, CONTRACT 5). */
function toMetadata({ header, isRequired, keys }: NonNullable<OpenApiOptions["metadata"]>): ParameterObject {
  const items = "Metadata of the upload: `key=value` items separated by commas (RFC 4180).";
  const rules = (keys ?? []).map((key) => `\`${key.name}\` (${key.isRequired ? "required" : "optional"})`);
  const description = keys === undefined ? `${items} Any key is allowed.` : `${items} Keys: ${rules.join(", ")}.`;
  return { ...inHeader(header, description), ...(isRequired && { required: true }) };
}
