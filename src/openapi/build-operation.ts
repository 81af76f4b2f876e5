import type { Failure } from "../http/http-error.ts";
import type { Variant } from "../http/negotiate.ts";
import { FAILURE_TEXTS } from "./error-responses.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import { CONTENTS, type ContentAbout } from "./media-types.ts";
import type { OperationAbout, ResponseNote } from "./operation-types.ts";
import { OPERATIONS } from "./operations.ts";
import { type ParameterName, toParameters } from "./parameters.ts";
import type { OpenApiPath } from "./paths.ts";
import { toRequestBody } from "./request-bodies.ts";
import { createResponses } from "./responses.ts";
import type { OperationObject, ReferenceObject } from "./types.ts";

/** How every request can fail, by who may ask. */
const FAILURES_OF_ACCESS: Readonly<Record<OpenApiRoute["access"], readonly Failure[]>> = {
  open: [],
  account: ["malformed", "unauthorized", "denied", "unavailable", "internal"],
  session: ["unauthorized", "denied", "unavailable"],
};
const READING: readonly string[] = ["GET", "HEAD"];
/** What HEAD ignores (RFC 9110 14.2). */
const OF_RANGES: readonly ParameterName[] = ["range", "ifRange"];
/** What only pages have. */
const OF_PAGES: readonly ParameterName[] = ["acceptLanguage", "sort", "order", "done", "basicLogin"];
const NOT_OF_HEAD: readonly number[] = [206, 416];
const ANY: OperationObject["security"] = [{ basic: [] }, { session: [] }, { cookie: [] }];
const SESSIONS: OperationObject["security"] = [{ session: [] }, { cookie: [] }];

/** The operation of a method on a URL. Its identifier is one that `ids` does not have yet. */
export function toOperation(
  service: OpenApiInput,
  route: OpenApiRoute,
  path: OpenApiPath,
  method: string,
  ids: Set<string>,
): OperationObject {
  const about: OperationAbout = OPERATIONS[route.operation];
  const reads = READING.includes(method);
  const parameters = toParameterRefs(service, about, path, method);
  return {
    operationId: toId(`${route.operation}${path.suffix}`, method, ids),
    summary: about.summary,
    ...(about.description !== undefined && { description: about.description }),
    tags: [about.tag],
    security: toSecurity(route, about),
    ...(parameters.length > 0 && { parameters }),
    ...(about.body !== undefined && !reads && { requestBody: toRequestBody(about.body, service) }),
    responses: toResponses(service, route, about, path, method),
  };
}

/** What every URL has: the methods that it has (CONTRACT 1). */
export function toOptionsOperation(
  service: OpenApiInput,
  path: OpenApiPath,
  routes: readonly OpenApiRoute[],
  ids: Set<string>,
): OperationObject {
  const responses = createResponses({
    // Of a URL that is malformed alone.
    hasPath: (status) => status !== 400 && hasPath(routes[0]),
    isKept: isAsset(routes[0]),
    pageFields: service.pageFields,
    types: undefined,
  });
  responses.add(204, "The methods are in `Allow`.", [], ["Allow"]);
  // Whatever the method is, that of a file or a folder has to be read first.
  for (const variant of hasPath(routes[0]) && path.parameters.length > 0 ? service.variants : []) {
    const content = variant === "html" ? CONTENTS.page : CONTENTS.errors;
    responses.add(service.toStatus("malformed", variant), FAILURE_TEXTS.malformed, [content], []);
  }
  const [name = ""] = routes.map(({ operation }) => operation);
  return {
    operationId: toId(`${name}${path.suffix}`, "OPTIONS", ids),
    summary: "The methods of this URL",
    tags: ["Service"],
    security: [],
    ...(path.parameters.length > 0 && { parameters: path.parameters.map(toParameterRef) }),
    responses: responses.toObject(),
  };
}

function toResponses(
  service: OpenApiInput,
  route: OpenApiRoute,
  about: OperationAbout,
  path: OpenApiPath,
  method: string,
): OperationObject["responses"] {
  const { variants, pageFields, toStatus } = service;
  const isHead = method === "HEAD";
  const responses = createResponses({
    hasPath: () => hasPath(route),
    isKept: isAsset(route),
    pageFields,
    types: path.type,
  });

  function add(
    status: number,
    description: string,
    contents: readonly ContentAbout[],
    headers: readonly string[],
  ): void {
    if (isHead && NOT_OF_HEAD.includes(status)) return;
    responses.add(status, description, isHead ? contents.map(withoutType) : contents, headers);
  }

  const { responses: notes, failures } = toOutcomes(service, route, about, path.always?.[method]);
  for (const { status, description, variants: own = variants, content = [], headers = [] } of notes) {
    if (!own.some((variant) => variants.includes(variant))) continue;
    const contents: readonly ContentAbout[] = content.map((name) => CONTENTS[name]);
    add(
      status,
      description,
      contents.filter((one) => isOf(one, variants, own)),
      headers,
    );
  }
  for (const variant of variants) {
    const own = variant === "html" ? [...failures, ...(about.memberFailures ?? [])] : failures;
    const content = variant === "html" ? CONTENTS.page : CONTENTS.errors;
    for (const failure of new Set(own)) add(toStatus(failure, variant), FAILURE_TEXTS[failure], [content], []);
  }
  if (route.access !== "open" && variants.includes("html")) {
    const challenge = route.access === "account" ? ["WWW-Authenticate"] : [];
    add(302, "No login, or a wrong one: the login page.", [CONTENTS.page], challenge);
  }
  return responses.toObject();
}

/** What may come of it: on a URL where it always fails nothing but that, which then is not malformed either. */
function toOutcomes(
  { routes }: OpenApiInput,
  { access }: OpenApiRoute,
  { responses, failures = [], withPage }: OperationAbout,
  always: readonly Failure[] | undefined,
): { readonly responses: readonly ResponseNote[]; readonly failures: readonly Failure[] } {
  const usual = FAILURES_OF_ACCESS[access];
  if (always !== undefined)
    return { responses: [], failures: [...usual, ...always].filter((failure) => failure !== "malformed") };
  if (withPage === undefined || !routes.some(({ shape }) => shape === "api-page"))
    return { responses, failures: [...usual, ...failures] };
  const more = responses.map((response) =>
    response.status === 200 ? { ...response, content: [...(response.content ?? []), ...withPage.content] } : response,
  );
  return { responses: more, failures: [...usual, ...failures, ...withPage.failures] };
}

/** Whether a representation is one of the variants that are mounted, and of the answer. */
function isOf({ variants: its }: ContentAbout, mounted: readonly Variant[], own: readonly Variant[]): boolean {
  return mounted.some((variant) => own.includes(variant) && (its?.includes(variant) ?? true));
}

/** HEAD has the header fields of a content alone; those of a page are that of browsers. */
function withoutType(content: ContentAbout): ContentAbout {
  return { ...content, type: "", ...(content.type === CONTENTS.page.type && { variants: ["html"] }) };
}

function isAsset(route: OpenApiRoute | undefined): boolean {
  return route?.shape === "asset";
}

function hasPath(route: OpenApiRoute | undefined): boolean {
  return route?.shape === "file" || route?.shape === "folder";
}

function toParameterRefs(
  service: OpenApiInput,
  { parameters = [] }: OperationAbout,
  path: OpenApiPath,
  method: string,
): readonly ReferenceObject[] {
  const available = toParameters(service);
  const hasPages = service.variants.includes("html");
  const reading = READING.includes(method) ? (path.reading ?? []) : [];
  const own = path.always?.[method] === undefined ? parameters : [];
  const all = [...path.parameters, ...own, ...reading].filter(
    (name) =>
      available[name] !== undefined &&
      (hasPages || !OF_PAGES.includes(name)) &&
      !(method === "HEAD" && OF_RANGES.includes(name)),
  );
  return [...new Set(all)].map(toParameterRef);
}

function toParameterRef(name: ParameterName): ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}

function toSecurity({ access }: OpenApiRoute, { takesSession }: OperationAbout): OperationObject["security"] {
  if (access === "account") return ANY;
  return access === "session" || takesSession === true ? SESSIONS : [];
}

/** The name, and where that is taken the method as well. */
function toId(name: string, method: string, ids: Set<string>): string {
  const word = `${method.slice(0, 1)}${method.slice(1).toLowerCase()}`;
  const id = ids.has(name) ? `${name}By${word}` : name;
  ids.add(id);
  return id;
}
