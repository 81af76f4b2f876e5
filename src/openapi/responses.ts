import { HEADER_FIELDS, HEADERS_OF_STATUS, type HeaderName, isHeaderName } from "./headers.ts";
import { HEADERS_BELOW_LINK, LINK_HEADERS } from "./link-operations.ts";
import type { ContentSpec } from "./media-types.ts";
import type { HeaderObject, MediaTypeObject, OperationObject, ReferenceObject, ResponseObject } from "./types.ts";
import { UPLOAD_HEADERS_OF_STATUS } from "./upload-operations.ts";

/** Collects the responses of an operation by their status. */
export interface Responses {
  /** Adds one meaning of a status, with its representations, and header fields in addition to the usual ones. */
  add(status: number, description: string, contents: readonly ContentSpec[], headers: readonly string[]): void;
  toObject(): OperationObject["responses"];
}

/** Options of {@link createResponses}. */
export interface ResponsesOptions {
  /** Returns whether responses with this status have the header `Server-Path` (1.4). */
  readonly hasPath: (status: number) => boolean;
  /** Whether scripts of other origins may read the responses. Default: false. */
  readonly hasCors?: boolean;
  /** Whether the URL is for uploads in several requests, or may create one. Default: false. */
  readonly hasUploads?: boolean;
  /** Whether the URL is about links, or below the URL of one. Default: neither. */
  readonly links?: "about" | "below" | undefined;
  /** The header fields of pages. */
  readonly pageFields: readonly string[];
  /** The only media type that responses have here; `undefined` for all that the operation has. */
  readonly types: string | undefined;
}

interface CollectedResponse {
  readonly descriptions: Set<string>;
  readonly contents: Map<string, ContentSpec[]>;
  readonly headers: Set<string>;
}

const PAGE = "text/html";

/** The content of responses that the service does not create. */
const ANY_TEXT: ResponseObject["content"] = { "*/*": { schema: { type: "string" } } };

/**
 * Responses that servers and proxies create instead of the service, at any URL. The document cannot promise their media
 * type, nor that they have content.
 */
const RESPONSES_OF_OTHERS: readonly (readonly [statuses: string, response: ResponseObject])[] = [
  [
    "4XX",
    {
      description:
        "Rejected before it reached the service: malformed (400), too slow (408), or too many headers (431).",
      content: ANY_TEXT,
    },
  ],
  [
    "default",
    {
      description: "A response of a proxy without one from the service (502, 504).",
      content: ANY_TEXT,
    },
  ],
];

export function createResponses({
  hasPath,
  hasCors = false,
  hasUploads = false,
  links,
  pageFields,
  types,
}: ResponsesOptions): Responses {
  const collected = new Map<number, CollectedResponse>();

  function addStatus(status: number): CollectedResponse {
    const usual = [
      "Server",
      ...(hasPath(status) ? ["Server-Path"] : []),
      "X-Content-Type-Options",
      "Cross-Origin-Resource-Policy",
      "Cache-Control",
      "Vary",
      ...(status >= 400 ? ["Error-Code"] : []),
      ...(hasUploads ? ["Tus-Resumable", ...(UPLOAD_HEADERS_OF_STATUS[status] ?? [])] : []),
      ...(hasUploads && status >= 400 ? ["Upload-Complete"] : []),
      ...(links === undefined ? [] : Object.keys(LINK_HEADERS)),
      ...(hasCors ? ["Access-Control-Allow-Origin", "Access-Control-Expose-Headers"] : []),
    ];
    const headers = new Set([...usual, ...(HEADERS_OF_STATUS[status] ?? [])]);
    const response = { descriptions: new Set<string>(), contents: new Map<string, ContentSpec[]>(), headers };
    collected.set(status, response);
    return response;
  }

  function add(status: number, description: string, contents: readonly ContentSpec[], more: readonly string[]): void {
    const { descriptions, contents: own, headers } = collected.get(status) ?? addStatus(status);
    descriptions.add(description);
    for (const header of more) headers.add(header);
    if (contents.some(isPage)) for (const header of ["Content-Language", ...pageFields]) headers.add(header);
    for (const content of contents.filter(({ type }) => type !== "" && (types === undefined || type === types))) {
      const known = own.get(content.type) ?? [];
      if (!known.includes(content)) own.set(content.type, [...known, content]);
    }
  }

  function toObject(): OperationObject["responses"] {
    const sorted = [...collected].sort(([one], [other]) => one - other);
    const own = sorted.map(([status, response]) => [String(status), toResponse(status, response, links)] as const);
    return Object.fromEntries([...own, ...RESPONSES_OF_OTHERS]);
  }

  return { add, toObject };
}

/** Returns whether a representation is a page, even if its type is empty as for HEAD. */
function isPage({ type, variants }: ContentSpec): boolean {
  return type === PAGE || variants?.includes("html") === true;
}

function toResponse(
  status: number,
  { descriptions, contents, headers }: CollectedResponse,
  links: ResponsesOptions["links"],
): ResponseObject {
  const known = [...headers].filter(isHeaderName);
  return {
    description: [...descriptions].join(" "),
    headers: Object.fromEntries(known.map((name) => [name, toHeader(name, status, links)])),
    ...(contents.size > 0 && {
      content: Object.fromEntries([...contents].map(([type, all]) => [type, toMediaType(all)])),
    }),
  };
}

/** Makes `Server-Path` optional for 400, because a malformed URL has no path. */
function toHeader(name: HeaderName, status: number, links: ResponsesOptions["links"]): HeaderObject | ReferenceObject {
  const ofLinks = (links && LINK_HEADERS[name]) ?? (links === "below" ? HEADERS_BELOW_LINK[name] : undefined);
  if (ofLinks !== undefined) return ofLinks;
  if (name === "Location" && status === 201) {
    return { ...HEADER_FIELDS[name], description: "The URL of the upload or the link, as a path.", required: false };
  }
  // Only the redirect to where a file is stored has it among those of this status.
  if (name === "Referrer-Policy" && status === 307) {
    return {
      description: "Browsers send no `Referer` to the store.",
      schema: { type: "string", enum: ["no-referrer"] },
    };
  }
  if (name === "Server-Path" && status === 400) return { ...HEADER_FIELDS[name], required: false };
  return { $ref: `#/components/headers/${name}` };
}

/** Combines several bodies of one media type as alternatives. */
function toMediaType(contents: readonly ContentSpec[]): MediaTypeObject {
  const [{ schema, example } = { schema: {} } as ContentSpec, ...others] = contents;
  if (others.length > 0) return { schema: { anyOf: contents.map((one) => one.schema) } };
  return { schema, ...(example !== undefined && { example }) };
}
