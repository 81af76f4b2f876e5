import type { Failure } from "../http/http-error.ts";
import { isGetOrHead, WEBDAV_METHODS } from "../http/methods.ts";
import type { Variant } from "../http/negotiate.ts";
import { FAILURE_TEXTS } from "./error-responses.ts";
import type { HeaderName } from "./headers.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import { CONTENTS, type ContentSpec } from "./media-types.ts";
import { isForUpload, toMemberFailures, toOutcomes, toSpec } from "./operation-outcomes.ts";
import { toParameterRef, toParameterRefs } from "./operation-parameters.ts";
import type { OperationSpec } from "./operation-types.ts";
import type { OpenApiPath } from "./paths.ts";
import { toRequestBodyObject } from "./request-bodies.ts";
import { createResponses } from "./responses.ts";
import type { OperationObject } from "./types.ts";
import { UPLOAD_FEATURE_HEADERS } from "./upload-operations.ts";

/** Statuses that a HEAD request never gets, because it ignores ranges. */
const RANGE_STATUSES: readonly number[] = [206, 416];
/** What the response to a preflight has in addition. */
const PREFLIGHT_HEADERS: readonly HeaderName[] = [
  "Access-Control-Allow-Methods",
  "Access-Control-Allow-Headers",
  "Access-Control-Max-Age",
];
const ANY_LOGIN: readonly Readonly<Record<string, readonly string[]>>[] = [
  { basic: [] },
  { session: [] },
  { cookie: [] },
];
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
  const parameters = toParameterRefs(service, spec, path, method);
  return {
    operationId: toId(`${route.operation}${path.suffix}`, method, ids),
    summary: spec.summary,
    ...(spec.description !== undefined && { description: spec.description }),
    tags: [path.isLink ? "Links" : spec.tag],
    security: toSecurity(service, route, path, spec),
    ...(parameters.length > 0 && { parameters }),
    ...(spec.body !== undefined && !isGetOrHead(method) && { requestBody: toRequestBodyObject(spec.body, service) }),
    responses: toResponses(service, route, spec, path, method),
  };
}

const OF_WEBDAV = `\`Allow\` has the methods, also ${WEBDAV_METHODS.join(", ")}, for which OpenAPI has no place.`;

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
    hasCors: service.hasCors,
    links: toLinks(routes[0], path),
    pageFields: service.pageFields,
    types: undefined,
  });
  const hasUploads = service.hasUploads && describesUploads(routes[0]);
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
  const removalHeaders = (status: number): readonly HeaderName[] => toRemovalHeaders(service, route, path, status);
  const responses = createResponses({
    hasPath: () => hasPath(route),
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

/** The bodies of problems that the draft has types for. */
function toProblems(
  service: OpenApiInput,
  route: OpenApiRoute,
  method: string,
  status: number,
): readonly ContentSpec[] {
  return isForUpload(service, route, method) && (status === 400 || status === 409) ? [CONTENTS.problem] : [];
}

/** Whether uploads can be found out about at a URL. */
function describesUploads(route: OpenApiRoute | undefined): boolean {
  return hasPath(route) || route?.kind === "uploads";
}

function toErrorContent(variant: Variant, failure: Failure): ContentSpec {
  if (variant === "html") return CONTENTS.page;
  return variant === "webdav" && failure === "locked" ? CONTENTS.lockErrors : CONTENTS.errors;
}

/** With WebDAV, DELETE of a file's URL also removes the folder of this name. Below a link there is no trash. */
function toRemovalHeaders(
  { hasWebdav, hasTrash }: OpenApiInput,
  { operation }: OpenApiRoute,
  { isLink }: OpenApiPath,
  status: number,
): readonly HeaderName[] {
  const isRemoval = (operation === "deleteFile" || operation === "deleteFolder") && status === 204;
  if (!isRemoval) return [];
  const folderHeaders = hasWebdav && operation === "deleteFile" ? (["Content-Location"] as const) : [];
  return hasTrash && !isLink ? [...folderHeaders, "Trash-Id"] : folderHeaders;
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

function hasPath(route: OpenApiRoute | undefined): boolean {
  return route?.kind === "file" || route?.kind === "folder" || route?.kind === "upload";
}

function toSecurity(
  { identityChallenge, hasKeys, hasAnonymous }: OpenApiInput,
  { access, kind }: OpenApiRoute,
  { isLink }: OpenApiPath,
  { takesSession }: OperationSpec,
): OperationObject["security"] {
  if (isLink) return access === "open" ? [] : LINK_ONLY;
  if (access === "account") {
    return [
      ...(identityChallenge === undefined ? [] : [{ identity: [] }]),
      ...ANY_LOGIN,
      ...(hasKeys ? [{ key: [] }] : []),
      ...(hasAnonymous && (kind === "file" || kind === "folder") ? [{}] : []),
    ];
  }
  return access === "session" || takesSession === true ? SESSION_ONLY : [];
}

/** Returns the name of the operation; if it is taken, adds the method. */
function toId(name: string, method: string, ids: Set<string>): string {
  const word = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  const id = ids.has(name) ? `${name}By${word}` : name;
  ids.add(id);
  return id;
}
