import type { Api } from "../contracts/file-service.ts";
import type { Variant } from "../http/negotiate.ts";
import type { ResolvedUrl, ResourceKind } from "./resolve-url.ts";
import { ALL_APIS, ROUTES, type Route, type Served } from "./routes.ts";

const ROUTES_OF_KINDS: ReadonlyMap<ResolvedUrl["kind"], readonly Route[]> = new Map(
  ROUTES.map(({ kind }) => [kind, ROUTES.filter((row) => row.kind === kind)]),
);

/** The route for a method and kind. Otherwise, whether the service implements the method elsewhere or not at all. */
export function findRoute(
  kind: ResourceKind,
  method: string,
  served: readonly Served[],
): Route | "not-implemented" | "not-allowed" {
  const route = routesOf(kind).find((row) => row.methods.includes(method) && isServed(row, served));
  return route ?? (isImplemented(method, served) ? "not-allowed" : "not-implemented");
}

/** Whether any of what is served has routes for a kind. */
export function hasRoutes(kind: ResolvedUrl["kind"], served: readonly Served[]): kind is ResourceKind {
  return routesOf(kind).some((row) => isServed(row, served));
}

/** The value of `Allow` for a kind (RFC 9110 10.2.1), without the methods in `without`. */
export function toAllow(kind: ResolvedUrl["kind"], served: readonly Served[], without: readonly string[] = []): string {
  const rows = routesOf(kind).filter((row) => row.unlisted !== true && isServed(row, served));
  const methods = [...rows.flatMap((row) => row.methods), "OPTIONS"];
  return methods.filter((method) => !without.includes(method)).join(", ");
}

/** The APIs among what a URL space serves. */
export function toApis(served: readonly Served[]): readonly Api[] {
  return ALL_APIS.filter((api) => served.includes(api));
}

/** The variants that an API has. The first one is that of every request to the API alone, but for scripts of pages. */
export function variantsOf(api: Api): readonly [Variant, ...Variant[]] {
  return api === "rest" ? ["json"] : api === "browser" ? ["html", "json"] : [api];
}

/** Whether a URL space has a row. */
export function isServed({ apis }: Route, served: readonly Served[]): boolean {
  return apis.some((api) => served.includes(api));
}

function routesOf(kind: ResolvedUrl["kind"]): readonly Route[] {
  return ROUTES_OF_KINDS.get(kind) ?? [];
}

/**
 * Whether at least one resource implements a method. Other methods get 501 (CONTRACT 1). Only URLs of uploads have
 * PATCH, which gets 501 everywhere else (RESUMABLE 1.7).
 */
function isImplemented(method: string, served: readonly Served[]): boolean {
  if (method === "OPTIONS") return true;
  const known = [...ALL_APIS, ...served];
  return ROUTES.some(
    (row) => row.kind !== "upload" && row.kind !== "share" && row.methods.includes(method) && isServed(row, known),
  );
}
