import type { ResponseSpec } from "./operation-types.ts";
import type { ParameterName } from "./parameters.ts";

/** The parameters of every operation that events or the authentication may depend on. */
export const TRACE: readonly ParameterName[] = ["requestedWith", "traceparent", "tracestate"];

/** A response that redirects. Browsers show its page if they do not follow it. */
export function redirect(status: 302 | 303 | 307, description: string, more: Partial<ResponseSpec> = {}): ResponseSpec {
  return { status, description, content: status === 307 ? [] : ["page"], ...more };
}

/** The response to content that is encoded, or not of a type that the operation takes. */
export const UNSUPPORTED_CONTENT: ResponseSpec = {
  status: 415,
  description: "The request has a `Content-Encoding`, or another media type.",
  headers: ["Accept-Encoding"],
};

const FILE_HEADERS = [
  "ETag",
  "Last-Modified",
  "Accept-Ranges",
  "Content-Disposition",
  "Content-Security-Policy",
] as const;

/** The responses with the content of a file. */
export const DOWNLOAD: readonly ResponseSpec[] = [
  { status: 200, description: "The complete content.", content: ["file"], headers: FILE_HEADERS },
  {
    status: 206,
    description: "One or several ranges of the content.",
    content: ["file", "parts"],
    headers: [...FILE_HEADERS, "Content-Range"],
  },
  { status: 304, description: "The client already has this version.", headers: ["ETag", "Last-Modified"] },
];

/** The responses to commands on what the service keeps, and to the form of its page: `page` is named in the text. */
export function commandResponses(page: string): readonly ResponseSpec[] {
  return [
    {
      status: 200,
      description: "All commands succeeded.",
      content: ["commandResults"],
      headers: ["Preference-Applied"],
    },
    { status: 303, description: `The form succeeded: redirect to ${page}.`, headers: ["Location"] },
    UNSUPPORTED_CONTENT,
    {
      status: 422,
      description: "Some commands failed. The body has an entry for each target.",
      content: ["commandErrors"],
      headers: ["Preference-Applied"],
    },
  ];
}
