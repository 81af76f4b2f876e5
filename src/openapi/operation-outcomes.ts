import type { Failure } from "../http/http-error.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import { UNLOCKED } from "./link-operations.ts";
import { withFeatures } from "./operation-additions.ts";
import { redirect } from "./operation-parts.ts";
import type { OperationSpec, ResponseSpec } from "./operation-types.ts";
import { OPERATION_SPECS, type OperationName } from "./operations.ts";
import type { OpenApiPath } from "./paths.ts";
import { UPLOAD_ADDITIONS } from "./upload-operations.ts";

/** The failures that every operation with this kind of access can have. */
const FAILURES_OF_ACCESS: Readonly<Record<OpenApiRoute["access"], readonly Failure[]>> = {
  open: [],
  account: ["malformed", "unauthorized", "denied", "unavailable", "internal"],
  session: ["unauthorized", "denied", "unavailable"],
};
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

/** The response to a download whose content the store sends (the option `offload`). */
const TO_STORE = redirect(307, "The content is at `Location` for a short time, without a login.", {
  headers: [
    "ETag",
    "Last-Modified",
    "Accept-Ranges",
    "Content-Disposition",
    "Content-Security-Policy",
    "Referrer-Policy",
  ],
});

/**
 * Returns the responses and failures of an operation. If the method always fails at the path (`always`), it has only
 * failures; `malformed` is not one of them, because such a path has no parameters.
 */
export function toOutcomes(
  { routes, hasWebdav, redirectsDownloads }: OpenApiInput,
  { access, operation }: OpenApiRoute,
  { responses: own, failures: ofOperation = [], lacks = [], withPage }: OperationSpec,
  { always: alwaysByMethod, isLink }: OpenApiPath,
  method: string,
): { readonly responses: readonly ResponseSpec[]; readonly failures: readonly Failure[] } {
  const always = alwaysByMethod?.[method];
  const isRedirected = redirectsDownloads && operation === "getFile" && method === "GET";
  const responses = isRedirected ? [...own, TO_STORE] : own;
  const ofLink: readonly Failure[] = isLink && access !== "open" ? ["not-found", "gone"] : [];
  const failures = [...ofOperation, ...ofLink, ...((hasWebdav && WEBDAV_FAILURES[operation]) || [])];
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

/** With WebDAV, what a form changes may be locked. */
export function toMemberFailures(
  { hasWebdav }: OpenApiInput,
  { memberFailures = [] }: OperationSpec,
): readonly Failure[] {
  return hasWebdav && memberFailures.length > 0 ? [...memberFailures, "locked"] : memberFailures;
}

/** Returns what is known of an operation. The root of a link also takes the form with its password. */
export function toSpec(service: OpenApiInput, route: OpenApiRoute, path: OpenApiPath, method: string): OperationSpec {
  const spec = withFeatures(service, route, toUploadSpec(service, route, method));
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

/** Whether an operation is one of an upload, or may create one. */
export function isForUpload({ hasUploads }: OpenApiInput, { kind, operation }: OpenApiRoute, method: string): boolean {
  if (!hasUploads) return false;
  const added = UPLOAD_ADDITIONS[operation];
  return kind === "upload" || kind === "uploads" || (added !== undefined && (added.method ?? method) === method);
}
