import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import { FAILURE_TEXTS } from "./error-responses.ts";
import type { HeaderName } from "./headers.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import { UNLOCKED } from "./link-operations.ts";
import { CONTENTS, type ContentSpec } from "./media-types.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import { OPERATION_SPECS, type OperationName } from "./operations.ts";
import { type ParameterName, toParameters } from "./parameters.ts";
import type { OpenApiPath } from "./paths.ts";
import { toRequestBodyObject } from "./request-bodies.ts";
import { createResponses } from "./responses.ts";
import type { OperationObject, ReferenceObject } from "./types.ts";
import { UPLOAD_ADDITIONS, UPLOAD_FEATURE_HEADERS } from "./upload-operations.ts";

/** The failures that every operation with this kind of access can have. */
const FAILURES_OF_ACCESS: Readonly<Record<OpenApiRoute["access"], readonly Failure[]>> = {
  open: [],
  account: ["malformed", "unauthorized", "denied", "unavailable", "internal"],
  session: ["unauthorized", "denied", "unavailable"],
};
const READING: readonly string[] = ["GET", "HEAD"];
/** Parameters that HEAD ignores (RFC 9110 14.2). */
const RANGE_PARAMETERS: readonly ParameterName[] = ["range", "ifRange"];
/** Parameters that only pages use. */
const PAGE_PARAMETERS: readonly ParameterName[] = [
  "acceptLanguage",
  "sort",
  "order",
  "rename",
  "done",
  "sent",
  "basicLogin",
  "linkPermissions",
];
/** Parameters that only listings as JSON use. */
const LISTING_PARAMETERS: readonly ParameterName[] = ["limit", "cursor", "prefer", "listingIfNoneMatch"];
/** Statuses that a HEAD request never gets, because it ignores ranges. */
const RANGE_STATUSES: readonly number[] = [206, 416];
/** What the response to a preflight has in addition. */
const PREFLIGHT_HEADERS: readonly HeaderName[] = [
  "Access-Control-Allow-Methods",
  "Access-Control-Allow-Headers",
  "Access-Control-Max-Age",
];
const ANY_LOGIN: OperationObject["security"] = [{ basic: [] }, { session: [] }, { cookie: [] }];
const IDENTITY_OR_ANY_LOGIN: OperationObject["security"] = [{ identity: [] }, ...ANY_LOGIN];
/** A link is a login. Only some have a password. */
const LINK_ONLY: OperationObject["security"] = [{}, { linkPassword: [] }, { linkCookie: [] }];
const SESSION_ONLY: OperationObject["security"] = [{ session: [] }, { cookie: [] }];

/** Returns the operation of a method at a path. Its ID is unique in the document; `ids` collects the IDs in use. */
export function toOperation(
  service: OpenApiInput,
  route: OpenApiRoute,
  path: OpenApiPath,
  method: string,
  ids: Set<string>,
): OperationObject {
  const spec = toSpec(service, route, path, method);
  const reads = READING.includes(method);
  const parameters = toParameterRefs(service, spec, path, method);
  return {
    operationId: toId(`${route.operation}${path.suffix}`, method, ids),
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    tags: [path.isLink ? "Links" : spec.tag],
    security: toSecurity(service, route, path, spec),
    ...(parameters.length > 0 && { parameters }),
    ...(spec.body !== undefined && !reads && { requestBody: toRequestBodyObject(spec.body, service) }),
    responses: toResponses(service, route, spec, path, method),
  };
}

const OF_WEBDAV =
  "`Allow` lists the methods. Those of WebDAV (RFC 4918) are PROPFIND, PROPPATCH, COPY, MOVE, LOCK and UNLOCK, which this document cannot describe.";

/** Returns the operation OPTIONS, which every URL has (CONTRACT 1). */
export function toOptionsOperation(
  service: OpenApiInput,
  path: OpenApiPath,
  routes: readonly OpenApiRoute[],
  ids: Set<string>,
): OperationObject {
  const responses = createResponses({
    // 400 occurs only for a malformed URL, which has no path.
    hasPath: (status) => status !== 400 && hasPath(routes[0]),
    isStatic: isAsset(routes[0]),
    hasCors: service.hasCors,
    links: toLinks(routes[0], path),
    pageFields: service.pageFields,
    types: undefined,
  });
  const hasUploads = service.hasUploads && isForUploads(routes[0]);
  const headers = [
    "Allow",
    ...(service.hasCors ? PREFLIGHT_HEADERS : []),
    ...(hasUploads ? UPLOAD_FEATURE_HEADERS : []),
  ] as const;
  if (service.hasWebdav) responses.add(200, OF_WEBDAV, [], [...headers, "DAV", "MS-Author-Via"]);
  else responses.add(204, "`Allow` lists the methods.", [], headers);
  // Paths of files and folders are parsed for every method, so a malformed one fails here too.
  for (const variant of hasPath(routes[0]) && path.parameters.length > 0 ? service.variants : []) {
    const content = variant === "html" ? CONTENTS.page : CONTENTS.errors;
    responses.add(service.toStatus("malformed", variant), FAILURE_TEXTS.malformed, [content], []);
  }
  const [name = ""] = routes.map(({ operation }) => operation);
  return {
    operationId: toId(`${name}${path.suffix}`, "OPTIONS", ids),
    summary: "List the methods of this URL",
    tags: ["Service"],
    security: [],
    ...(path.parameters.length > 0 && { parameters: path.parameters.map(toParameterRef) }),
    responses: responses.toObject(),
  };
}

function toResponses(
  service: OpenApiInput,
  route: OpenApiRoute,
  spec: OperationSpec,
  path: OpenApiPath,
  method: string,
): OperationObject["responses"] {
  const { variants, pageFields, toStatus } = service;
  // The description of GET has the types.
  const isHead = method === "HEAD" && route.methods.includes("GET");
  const removalHeaders = (status: number): readonly HeaderName[] => toRemovalHeaders(service, route, status);
  const responses = createResponses({
    hasPath: () => hasPath(route),
    isStatic: isAsset(route),
    hasCors: service.hasCors,
    hasUploads: isForUpload(service, route, method),
    links: toLinks(route, path),
    pageFields,
    types: path.type,
  });

  function add(
    status: number,
    description: string,
    contents: readonly ContentSpec[],
    headers: readonly string[],
  ): void {
    if (isHead && RANGE_STATUSES.includes(status)) return;
    responses.add(status, description, isHead ? contents.map(withoutType) : contents, headers);
  }

  const { responses: specs, failures } = toOutcomes(service, route, spec, path, method);
  for (const { status, description, variants: own = variants, content = [], headers = [] } of specs) {
    if (!own.some((variant) => variants.includes(variant))) continue;
    const contents: readonly ContentSpec[] = content.map((name) => CONTENTS[name]);
    add(
      status,
      description,
      contents.filter((one) => isOf(one, variants, own)),
      [...headers, ...removalHeaders(status)],
    );
  }
  for (const variant of variants) {
    const own = variant === "html" ? [...failures, ...toMemberFailures(service, spec)] : failures;
    for (const failure of new Set(own)) {
      const content = toErrorContent(variant, failure);
      // Too many logins have failed. A session is not verified by a password.
      const headers = failure === "unauthorized" && route.access !== "session" ? ["Retry-After"] : [];
      const status = toStatus(failure, variant);
      add(status, FAILURE_TEXTS[failure], [content, ...toProblems(service, route, method, status)], headers);
    }
  }
  if (route.access !== "open" && variants.includes("html") && !path.isLink) {
    const challenge = route.access === "account" ? ["WWW-Authenticate"] : [];
    add(302, "The credentials are missing or wrong: redirect to the login page.", [CONTENTS.page], challenge);
  }
  return responses.toObject();
}

/** Whether a URL is about links, or below the URL of one. */
function toLinks(route: OpenApiRoute | undefined, { isLink }: OpenApiPath): "about" | "below" | undefined {
  if (isLink) return "below";
  return route?.kind === "links" || route?.kind === "new-link" || route?.kind === "link" ? "about" : undefined;
}

/** The root of a link also takes the form with its password. */
function toSpec(service: OpenApiInput, route: OpenApiRoute, path: OpenApiPath, method: string): OperationSpec {
  const spec = toUploadSpec(service, route, method);
  const isUnlocking = path.isLink && path.path.endsWith("{token}/") && method === "POST" && route.kind === "folder";
  if (!isUnlocking || !service.variants.includes("html")) return spec;
  const body = spec.body === "folderOrPart" ? "folderOrPartOfLink" : "folderOfLink";
  return { ...spec, body, responses: [...spec.responses, UNLOCKED] };
}

/** With uploads in several requests, an operation may create one. */
function toUploadSpec({ hasUploads }: OpenApiInput, { operation }: OpenApiRoute, method: string): OperationSpec {
  const spec: OperationSpec = OPERATION_SPECS[operation];
  const added = hasUploads ? UPLOAD_ADDITIONS[operation] : undefined;
  if (added === undefined || (added.method ?? method) !== method) return spec;
  const { description = "", parameters = [], responses, failures = [] } = spec;
  return {
    ...spec,
    description: `${description} ${added.description}`.trim(),
    parameters: [...parameters, ...added.parameters],
    ...(added.body && { body: added.body }),
    responses: [...responses, ...added.responses],
    failures: [...failures, ...added.failures],
  };
}

/** The bodies of problems that the draft has types for. */
function toProblems(
  service: OpenApiInput,
  route: OpenApiRoute,
  method: string,
  status: number,
): readonly ContentSpec[] {
  return isForUpload(service, route, method) && (status === 400 || status === 409) ? [CONTENTS.problem] : [];
}

/** Whether an operation is one of an upload, or may create one. */
function isForUpload({ hasUploads }: OpenApiInput, { kind, operation }: OpenApiRoute, method: string): boolean {
  if (!hasUploads) return false;
  const added = UPLOAD_ADDITIONS[operation];
  return kind === "upload" || kind === "uploads" || (added !== undefined && (added.method ?? method) === method);
}

/** Whether uploads can be found out about at a URL. */
function isForUploads(route: OpenApiRoute | undefined): boolean {
  return hasPath(route) || route?.kind === "uploads";
}

function toErrorContent(variant: Variant, failure: Failure): ContentSpec {
  if (variant === "html") return CONTENTS.page;
  return variant === "webdav" && failure === "locked" ? CONTENTS.lockErrors : CONTENTS.errors;
}

/** With WebDAV, what a form changes may be locked. */
function toMemberFailures({ hasWebdav }: OpenApiInput, { memberFailures = [] }: OperationSpec): readonly Failure[] {
  return hasWebdav && memberFailures.length > 0 ? [...memberFailures, "locked"] : memberFailures;
}

/**
 * With WebDAV, what the operation changes may be locked, the request may have an `If` header, and its body is checked.
 */
const WEBDAV_FAILURES: Readonly<Partial<Record<OperationName, readonly Failure[]>>> = {
  startElsewhere: ["method-not-allowed"],
  putFile: ["locked"],
  deleteFile: ["locked", "unsupported-media-type"],
  createFolder: ["locked", "precondition-failed"],
  deleteFolder: ["locked", "unsupported-media-type"],
};

/** With WebDAV, DELETE of a file's URL also removes the folder of this name. */
function toRemovalHeaders(
  { hasWebdav }: OpenApiInput,
  { operation }: OpenApiRoute,
  status: number,
): readonly HeaderName[] {
  return hasWebdav && operation === "deleteFile" && status === 204 ? ["Content-Location"] : [];
}

/**
 * Returns the responses and failures of an operation. If the method always fails at the path (`always`), it has only
 * failures; `malformed` is not one of them, because such a path has no parameters.
 */
function toOutcomes(
  { routes, hasWebdav }: OpenApiInput,
  { access, operation }: OpenApiRoute,
  { responses, failures: own = [], lacks = [], withPage }: OperationSpec,
  { always: alwaysByMethod, isLink }: OpenApiPath,
  method: string,
): { readonly responses: readonly ResponseSpec[]; readonly failures: readonly Failure[] } {
  const always = alwaysByMethod?.[method];
  const ofLink: readonly Failure[] = isLink && access !== "open" ? ["not-found", "gone"] : [];
  const failures = [...own, ...ofLink, ...((hasWebdav && WEBDAV_FAILURES[operation]) || [])];
  const usual = FAILURES_OF_ACCESS[access].filter((failure) => !lacks.includes(failure));
  if (always !== undefined)
    return { responses: [], failures: [...usual, ...ofLink, ...always].filter((failure) => failure !== "malformed") };
  if (withPage === undefined || !routes.some(({ kind }) => kind === "api-page"))
    return { responses, failures: [...usual, ...failures] };
  const more = responses.map((response) =>
    response.status === 200 ? { ...response, content: [...(response.content ?? []), ...withPage.content] } : response,
  );
  return { responses: more, failures: [...usual, ...failures, ...withPage.failures] };
}

/** Returns whether a mounted variant has both the response (`own`) and the representation. */
function isOf({ variants: its }: ContentSpec, mounted: readonly Variant[], own: readonly Variant[]): boolean {
  return mounted.some((variant) => own.includes(variant) && (its?.includes(variant) ?? true));
}

/**
 * Removes the type of a representation: HEAD has its header fields only. A page keeps the variant `html`, which marks
 * the header fields of pages.
 */
function withoutType(content: ContentSpec): ContentSpec {
  return { ...content, type: "", ...(content.type === CONTENTS.page.type && { variants: ["html"] }) };
}

function isAsset(route: OpenApiRoute | undefined): boolean {
  return route?.kind === "asset";
}

function hasPath(route: OpenApiRoute | undefined): boolean {
  return route?.kind === "file" || route?.kind === "folder" || route?.kind === "upload";
}

function toParameterRefs(
  service: OpenApiInput,
  { parameters = [] }: OperationSpec,
  path: OpenApiPath,
  method: string,
): readonly ReferenceObject[] {
  const available = toParameters(service);
  const hasPages = service.variants.includes("html");
  const hasListings = service.variants.some((variant) => variant !== "html");
  const reading = READING.includes(method) ? (path.reading ?? []) : [];
  const own = path.always?.[method] === undefined ? parameters : [];
  const all = [...path.parameters, ...own, ...reading].filter(
    (name) =>
      available[name] !== undefined &&
      (hasPages || !PAGE_PARAMETERS.includes(name)) &&
      (hasListings || !LISTING_PARAMETERS.includes(name)) &&
      !(method === "HEAD" && RANGE_PARAMETERS.includes(name)),
  );
  return [...new Set(all)].map(toParameterRef);
}

function toParameterRef(name: ParameterName): ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

function toSecurity(
  { identityChallenge }: OpenApiInput,
  { access }: OpenApiRoute,
  { isLink }: OpenApiPath,
  { takesSession }: OperationSpec,
): OperationObject["security"] {
  if (isLink) return access === "open" ? [] : LINK_ONLY;
  if (access === "account") return identityChallenge === undefined ? ANY_LOGIN : IDENTITY_OR_ANY_LOGIN;
  return access === "session" || takesSession === true ? SESSION_ONLY : [];
}

/** Returns the name of the operation; if it is taken, adds the method. */
function toId(name: string, method: string, ids: Set<string>): string {
  const word = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  const id = ids.has(name) ? `${name}By${word}` : name;
  ids.add(id);
  return id;
}
