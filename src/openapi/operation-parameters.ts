import { isGetOrHead } from "../http/methods.ts";
import type { OpenApiInput } from "./input.ts";
import type { OperationSpec } from "./operation-types.ts";
import { type ParameterName, toParameters } from "./parameters.ts";
import type { OpenApiPath } from "./paths.ts";
import type { ReferenceObject } from "./types.ts";

/** Parameters that HEAD ignores (RFC 9110 14.2). */
const RANGE_PARAMETERS: readonly ParameterName[] = ["range", "ifRange"];
/** Parameters that only pages use. */
const PAGE_PARAMETERS: readonly ParameterName[] = [
  "acceptLanguage",
  "sort",
  "order",
  "member",
  "done",
  "sent",
  "basicLogin",
  "linkPermissions",
];
/** Parameters that only listings as JSON use. */
const LISTING_PARAMETERS: readonly ParameterName[] = ["limit", "cursor", "prefer", "listingIfNoneMatch"];

/** Returns the parameters of a method at a path, as references. */
export function toParameterRefs(
  service: OpenApiInput,
  { parameters = [] }: OperationSpec,
  path: OpenApiPath,
  method: string,
): readonly ReferenceObject[] {
  const available = toParameters(service);
  const hasPages = service.variants.includes("html");
  const hasListings = service.variants.some((variant) => variant !== "html");
  const reading = isGetOrHead(method) ? (path.reading ?? []) : [];
  const own = path.always?.[method] === undefined ? parameters : [];
  const creating = service.hasUploads ? (path.creating?.[method] ?? []) : [];
  const all = [...path.parameters, ...own, ...reading, ...(path.sending?.[method] ?? []), ...creating].filter(
    (name) =>
      available[name] !== undefined &&
      (hasPages || !PAGE_PARAMETERS.includes(name)) &&
      (hasListings || !LISTING_PARAMETERS.includes(name)) &&
      !(method === "HEAD" && RANGE_PARAMETERS.includes(name)),
  );
  return [...new Set(all)].map(toParameterRef);
}

/** Returns the reference to a parameter. */
export function toParameterRef(name: ParameterName): ReferenceObject {
  return { $ref: `#/components/parameters/${name}` };
}
