import type { HeaderName } from "./headers.ts";
import { redirect, TRACE, UNSUPPORTED_CONTENT } from "./operation-parts.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import type { HeaderObject } from "./types.ts";

const WITHDRAWN: ResponseSpec = redirect(303, "The form succeeded: redirect to the list of links.");

/** The operations of the links that an account makes, and of the URL that leads to a link. */
export const LINK_OPERATIONS = {
  share: {
    summary: "Redirect to the page of a link",
    tag: "Links",
    responses: [redirect(302, "Redirect to the same URL with a trailing `/`.", { content: ["page"] })],
  },
  shareElsewhere: {
    summary: "Redirect other methods to the page of a link",
    tag: "Links",
    responses: [redirect(307, "Redirect to the same URL with a trailing `/`.")],
  },
  listLinks: {
    summary: "List the links of the account",
    description: "Newest first. Without a store of links this is 404.",
    tag: "Links",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The links.", content: ["linkList", "page"] }],
    failures: ["not-found"],
    lacks: ["malformed"],
  },
  createLink: {
    summary: "Make a link",
    description:
      "Until the link ends, its `url` allows what `permissions` say, as far as the account may. The form can also withdraw all links.",
    tag: "Links",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "link",
    responses: [
      { status: 201, description: "The link.", content: ["link", "page"], headers: ["Location"] },
      WITHDRAWN,
      UNSUPPORTED_CONTENT,
    ],
    failures: ["not-found", "too-large", "unsupported-media-type", "unprocessable"],
  },
  withdrawLinks: {
    summary: "Withdraw all links of the account",
    tag: "Links",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The links were withdrawn." }],
    failures: ["not-found"],
    lacks: ["malformed"],
  },
  getNewLinkPage: {
    summary: "Show the form for a new link",
    tag: "Links",
    parameters: ["linkPath", "linkPermissions", "acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The form.", content: ["anyPage"] }],
    failures: ["not-found"],
  },
  showLink: {
    summary: "Show a link",
    tag: "Links",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The link.", content: ["link", "page"] }],
    failures: ["not-found"],
  },
  postLink: {
    summary: "Withdraw a link by a form",
    tag: "Links",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "withdrawal",
    responses: [WITHDRAWN, UNSUPPORTED_CONTENT],
    failures: ["not-found", "too-large", "unsupported-media-type"],
  },
  withdrawLink: {
    summary: "Withdraw a link",
    tag: "Links",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 204, description: "The link was withdrawn." }],
    failures: ["not-found"],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;

/** The response to the form of the page that asks for the password of a link, at the root of the link. */
export const UNLOCKED: ResponseSpec = {
  status: 303,
  description: "Redirect to the page of the link, with a cookie that keeps it open.",
  variants: ["html"],
  headers: ["Set-Cookie"],
};

/** The header fields that all responses about links have (SHARING 9.1). */
export const LINK_HEADERS: Readonly<Partial<Record<HeaderName, HeaderObject>>> = {
  "Referrer-Policy": {
    description: "The URL is a secret: browsers send it to no site.",
    required: true,
    schema: { type: "string", enum: ["no-referrer"] },
  },
  "X-Robots-Tag": {
    description: "Search engines leave the URL out.",
    required: true,
    schema: { type: "string", enum: ["noindex, nofollow"] },
  },
};

/** What header fields mean below the URL of a link, if that is something else. */
export const HEADERS_BELOW_LINK: typeof LINK_HEADERS = {
  "Accept-Ranges": {
    description: "Whether byte ranges can be requested: not of a link whose uses are limited.",
    schema: { type: "string", enum: ["bytes", "none"] },
  },
  "Set-Cookie": { description: "Keeps the link open after its password.", schema: { type: "string" } },
  "WWW-Authenticate": { description: "The link needs its password.", schema: { type: "string" } },
};
