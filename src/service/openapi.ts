import type { ServiceConfig } from "../config/service-config.ts";
import { VERSION } from "../config/version.ts";
import type { Description } from "../openapi/render.ts";
import { toStatus } from "../request/errors.ts";
import { FORM_ACTIONS, FORM_FIELDS } from "../uploads/form.ts";
import { type Api, routesOfApis, toOnlyVariant } from "./routes.ts";

/**
 * Makes the OpenAPI documents of a service (9), one for each set of APIs. A document is made, and its code is loaded,
 * at the first request for it.
 */
export function createOpenApi(config: ServiceConfig): (apis: readonly Api[]) => Promise<Description> {
  const made = new Map<readonly Api[], Promise<Description>>();

  return function describe(apis) {
    const known = made.get(apis) ?? toDescription(config, apis);
    made.set(apis, known);
    // Loading the code may succeed the next time.
    known.catch(() => made.delete(apis));
    return known;
  };
}

async function toDescription(config: ServiceConfig, apis: readonly Api[]): Promise<Description> {
  const { describe } = await import("../openapi/render.ts");
  const { pages, basePath, triggers, metadataFields: metadata, session, apiPage, limits } = config;
  const routes = routesOfApis(apis).filter(({ shape }) => shape !== "api-page" || apiPage !== undefined);
  return describe({
    title: pages.branding.name,
    version: VERSION,
    basePath,
    variants: apis.map(toOnlyVariant),
    routes: routes.map((route) => ({ ...route, access: route.endpoint.access })),
    triggers: [...triggers.keys()],
    maxCommands: limits.maxCommands,
    formActions: FORM_ACTIONS,
    formFields: Object.values(FORM_FIELDS),
    metadata,
    announcesSession: session.announce,
    pageFields: Object.keys(pages.fields).filter((name) => pages.fields[name] !== undefined),
    toStatus,
  });
}
