import type { ServiceConfig } from "../config/service-config.ts";
import { VERSION } from "../config/version.ts";
import type { OpenApiTexts } from "../openapi/render.ts";
import { toStatus } from "../request/errors.ts";
import { FORM_ACTIONS, FORM_FIELDS, SHARE_ACTION } from "../uploads/form.ts";
import { routesOfApis, type Served, toApis, toOnlyVariant } from "./routes.ts";

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
  const routes = routesOfApis(served).filter(({ kind }) => kind !== "api-page" || apiPage !== undefined);
  return renderOpenApi({
    title: pages.branding.name,
    version: VERSION,
    basePath,
    variants: apis.map(toOnlyVariant),
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
