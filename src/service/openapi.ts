import type { ServiceConfig } from "../config/service-config.ts";
import { VERSION } from "../config/version.ts";
import type { OperationName } from "../openapi/operations.ts";
import type { DocumentedKind } from "../openapi/paths.ts";
import type { OpenApiTexts } from "../openapi/render.ts";
import { toStatus } from "../request/errors.ts";
import { FORM_ACTIONS, FORM_FIELDS, SHARE_ACTION } from "../uploads/form.ts";
import { isServed, toApis, variantsOf } from "./find-route.ts";
import type { ResourceKind } from "./resolve-url.ts";
import { ROUTES, type Route, type Served } from "./routes.ts";

/** A row of the URL space that the document describes. */
type DescribedRoute = Route & { readonly kind: DocumentedKind; readonly operation: OperationName };

/** Kinds that only services with links have: others never resolve a URL to them. */
const LINK_KINDS: readonly ResourceKind[] = ["links", "new-link", "link"];

/**
 * Makes the OpenAPI documents of a service (9), one for each set of APIs. A document is made, and its code is loaded,
 * at the first request for it.
 */
export function createOpenApi(config: ServiceConfig): (served: readonly Served[]) => Promise<OpenApiTexts> {
  const made = new Map<readonly Served[], Promise<OpenApiTexts>>();

  return function openApiOf(served) {
    const known = made.get(served) ?? renderDocument(config, served);
    made.set(served, known);
    // Loading the code may succeed the next time.
    known.catch(() => made.delete(served));
    return known;
  };
}

async function renderDocument(config: ServiceConfig, served: readonly Served[]): Promise<OpenApiTexts> {
  const apis = toApis(served);
  const { renderOpenApi } = await import("../openapi/render.ts");
  const { pages, basePath, triggers, metadataFields: metadata, session, apiPage, limits, identityChallenge } = config;
  const routes = toDescribedRoutes(served).filter(({ kind }) => kind !== "api-page" || apiPage !== undefined);
  return renderOpenApi({
    title: pages.branding.name,
    version: VERSION,
    basePath,
    variants: [...new Set(apis.flatMap(variantsOf))],
    routes: routes.map((route) => ({ ...route, access: route.endpoint.access })),
    triggers: [...triggers.keys()],
    maxCommands: limits.maxCommands,
    formActions: config.links === undefined ? FORM_ACTIONS : [...FORM_ACTIONS, SHARE_ACTION],
    formFields: Object.values(FORM_FIELDS).filter((field) => field !== FORM_FIELDS.sender || served.includes("links")),
    metadata,
    announcesSession: session.announce,
    cookieName: session.cookie.name,
    identityChallenge,
    pageFields: Object.keys(pages.fields).filter((name) => pages.fields[name] !== undefined),
    hasCors: config.cors !== undefined,
    hasUploads: served.includes("uploads"),
    hasAnonymous: config.anonymous !== undefined,
    hasKeys: served.includes("keys"),
    hasLinks: served.includes("links"),
    hasTrash: served.includes("trash"),
    redirectsDownloads: config.offload?.type === "presigned",
    hasDigests: config.digests !== undefined,
    hasIdempotency: config.idempotency !== undefined,
    hasWebdav: config.webdav !== undefined && apis.includes("webdav"),
    toStatus,
  });
}

function toDescribedRoutes(served: readonly Served[]): readonly DescribedRoute[] {
  const hasLinks = served.includes("links");
  const rows = ROUTES.filter(
    (row): row is DescribedRoute =>
      row.operation !== undefined && isServed(row, served) && (hasLinks || !LINK_KINDS.includes(row.kind)),
  );
  // Of several rows for a method, only the first one counts.
  return rows.filter((row, index) => !rows.slice(0, index).some((before) => covers(before, row)));
}

function covers(before: Route, { kind, methods }: Route): boolean {
  return before.kind === kind && methods.every((method) => before.methods.includes(method));
}
