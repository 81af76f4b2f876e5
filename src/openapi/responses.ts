import { HEADER_FIELDS, HEADERS_OF_STATUS, type HeaderName, isHeaderName } from "./headers.ts";
import type { ContentAbout } from "./media-types.ts";
import type { HeaderObject, MediaTypeObject, OperationObject, ReferenceObject, ResponseObject } from "./types.ts";

/** The answers of an operation, gathered by their status. */
export interface Responses {
  /** Adds what a status may stand for, with its representations, and header fields beside the usual ones. */
  add(status: number, description: string, contents: readonly ContentAbout[], headers: readonly string[]): void;
  toObject(): OperationObject["responses"];
}

/** What all answers of an operation have in common. */
export interface ResponsesOptions {
  /** Whether those of a status name the account's path (1.4). */
  readonly hasPath: (status: number) => boolean;
  /** Whether a success is everybody's, and depends on nothing. Default: false. */
  readonly isKept?: boolean;
  /** The header fields of pages. */
  readonly pageFields: readonly string[];
  /** The one media type that successes have. Default: whatever they may have. */
  readonly types: string | undefined;
}

interface Gathered {
  readonly descriptions: Set<string>;
  readonly contents: Map<string, ContentAbout[]>;
  readonly headers: Set<string>;
}

const PAGE = "text/html";

/** Of others, whatever it is. */
const ANY_TEXT: ResponseObject["content"] = { "*/*": { schema: { type: "string" } } };

/** What others answer at any URL, before a request is the service's: which type its content has, and whether it has any, nobody promises. */
const BY_OTHERS: readonly (readonly [statuses: string, response: ResponseObject])[] = [
  [
    "4XX",
    {
      description:
        "Refused by the server before the service has it: no HTTP (400), too slow (408), or too many header fields (431). Mostly without content.",
      content: ANY_TEXT,
    },
  ],
  [
    "default",
    {
      description: "Of what is between client and service, such as a proxy that gets no answer (502, 504).",
      content: ANY_TEXT,
    },
  ],
];

export function createResponses({ hasPath, isKept = false, pageFields, types }: ResponsesOptions): Responses {
  const gathered = new Map<number, Gathered>();

  function begin(status: number): Gathered {
    const depends = isKept && status < 300 ? [] : ["Vary"];
    const usual = [
      "Server",
      ...(hasPath(status) ? ["Server-Path"] : []),
      "X-Content-Type-Options",
      "Cache-Control",
      ...depends,
    ];
    const headers = new Set([...usual, ...(HEADERS_OF_STATUS[status] ?? [])]);
    const fresh = { descriptions: new Set<string>(), contents: new Map<string, ContentAbout[]>(), headers };
    gathered.set(status, fresh);
    return fresh;
  }

  function add(status: number, description: string, contents: readonly ContentAbout[], more: readonly string[]): void {
    const { descriptions, contents: own, headers } = gathered.get(status) ?? begin(status);
    descriptions.add(description);
    for (const header of more) headers.add(header);
    if (contents.some(isPage)) for (const header of ["Content-Language", ...pageFields]) headers.add(header);
    for (const content of contents.filter(({ type }) => type !== "" && (types === undefined || type === types))) {
      const known = own.get(content.type) ?? [];
      if (!known.includes(content)) own.set(content.type, [...known, content]);
    }
  }

  function toObject(): OperationObject["responses"] {
    const sorted = [...gathered].sort(([one], [other]) => one - other);
    const own = sorted.map(([status, response]) => [String(status), toResponse(status, response)] as const);
    return Object.fromEntries([...own, ...BY_OTHERS]);
  }

  return { add, toObject };
}

/** Also where its type is left out, as it is for HEAD. */
function isPage({ type, variants }: ContentAbout): boolean {
  return type === PAGE || variants?.includes("html") === true;
}

function toResponse(status: number, { descriptions, contents, headers }: Gathered): ResponseObject {
  const known = [...headers].filter(isHeaderName);
  return {
    description: [...descriptions].join(" "),
    headers: Object.fromEntries(known.map((name) => [name, toHeader(name, status)])),
    ...(contents.size > 0 && {
      content: Object.fromEntries([...contents].map(([type, all]) => [type, toMediaType(all)])),
    }),
  };
}

/** A URL that is malformed has no path. */
function toHeader(name: HeaderName, status: number): HeaderObject | ReferenceObject {
  if (name === "Server-Path" && status === 400) return { ...HEADER_FIELDS[name], required: false };
  return { $ref: `#/components/headers/${name}` };
}

/** Several bodies of one type are one or the other. */
function toMediaType(contents: readonly ContentAbout[]): MediaTypeObject {
  const [{ schema, example } = { schema: {} } as ContentAbout, ...others] = contents;
  if (others.length > 0) return { schema: { anyOf: contents.map((one) => one.schema) } };
  return { schema, ...(example !== undefined && { example }) };
}
