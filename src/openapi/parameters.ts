import type { OpenApiOptions } from "./input-options.ts";
import type { ParameterObject } from "./types.ts";

const text = { type: "string" } as const;
const SEGMENTS =
  "its segments separated by `/`, each percent-encoded by itself: a `/` that is encoded is refused (400)";

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
  asset: inPath("name", "The name of an asset, as the pages have it."),
  range: inHeader("Range", "One range of bytes, or several: at most 16 are answered as such (RFC 9110 14.2)."),
  ifRange: inHeader("If-Range", "Has `Range` ignored unless the file is still this version (RFC 9110 13.1.5)."),
  ifMatch: inHeader("If-Match", "Goes on only with one of these versions, or with any by `*` (RFC 9110 13.1.1)."),
  ifNoneMatch: inHeader(
    "If-None-Match",
    "Goes on only without these versions, or by `*` where nothing is there (RFC 9110 13.1.2).",
  ),
  ifModifiedSince: inHeader("If-Modified-Since", "Asks for the file only where it is younger (RFC 9110 13.1.3)."),
  ifUnmodifiedSince: inHeader("If-Unmodified-Since", "Goes on only where the file is not younger (RFC 9110 13.1.4)."),
  acceptLanguage: inHeader("Accept-Language", "The languages of pages."),
  contentEncoding: {
    ...inHeader("Content-Encoding", "The coding of the content: none other is taken (RFC 9110 8.4)."),
    schema: { ...text, enum: ["identity"] },
  },
  requestedWith: inHeader(
    "X-Requested-With",
    "`XMLHttpRequest` leaves the Basic challenge out of a 401, for which browsers would open a box of their own.",
  ),
  traceparent: inHeader(
    "traceparent",
    "A trace that events, webhooks and authentication requests are to be part of (W3C Trace Context).",
  ),
  tracestate: inHeader("tracestate", "What belongs to `traceparent`."),
  sort: inQuery("sort", "The column that the page is sorted by; left out: `name`.", {
    ...text,
    enum: ["name", "size", "modified"],
  }),
  order: inQuery("order", "The direction that the page is sorted in; left out: `asc`.", {
    ...text,
    enum: ["asc", "desc"],
  }),
  done: inQuery("done", "What the form before has done, which the page says: a code of ours."),
  basicLogin: inQuery("login", "Has browsers without cookies ask for Basic credentials.", {
    ...text,
    enum: ["basic"],
  }),
  returnTo: inQuery("return", "The path to go to after the login; another site's is ignored."),
} as const satisfies Readonly<Record<string, ParameterObject>>;

/** The name of a parameter. Those of metadata exist only if the service accepts metadata. */
export type ParameterName = keyof typeof PARAMETERS | "metadata" | "formMetadata";

/** Returns all parameters of a service by their names in the document. */
export function toParameters(service: OpenApiOptions): Readonly<Partial<Record<ParameterName, ParameterObject>>> {
  if (service.metadata === undefined) return PARAMETERS;
  const formMetadata = toMetadata({ ...service.metadata, isRequired: false });
  const note = service.metadata.isRequired ? " A form without files needs none." : "";
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
  const description = keys === undefined ? `${items} Any keys.` : `${items} Keys: ${rules.join(", ")}.`;
  return { ...inHeader(header, description), ...(isRequired && { required: true }) };
}
