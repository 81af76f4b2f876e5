import { toOperation, toOptionsOperation } from "./build-operation.ts";
import { toHeaderFields } from "./headers.ts";
import type { OpenApiInput, OpenApiRoute } from "./input.ts";
import { toParameters } from "./parameters.ts";
import { type OpenApiPath, PATHS } from "./paths.ts";
import { toSchemas } from "./schemas.ts";
import { shareResponses } from "./shared-responses.ts";
import { TAGS } from "./tags.ts";
import type { OpenApiDocument, OperationObject, PathItemObject, SchemaObject } from "./types.ts";

/** The methods of OpenAPI 3.0 that the service has, in the order of the document. */
const METHODS: readonly string[] = ["GET", "HEAD", "PUT", "POST", "PATCH", "DELETE", "OPTIONS"];

const SECURITY_SCHEMES = {
  basic: { type: "http", scheme: "basic", description: "User name and password with every request." },
  session: {
    type: "apiKey",
    in: "header",
    name: "Authorization",
    description: "`session <ID>`, with the session ID from the response to a login.",
  },
} as const satisfies Readonly<Record<string, SchemaObject>>;

/** API keys of accounts, which HTTP Basic takes as a password too. */
const KEY_SCHEMES = {
  key: { type: "http", scheme: "bearer", description: "An API key of an account." },
} as const satisfies Readonly<Record<string, SchemaObject>>;

/** How a request gives the password of a link. */
const LINK_SCHEMES = {
  linkPassword: { type: "http", scheme: "basic", description: "The password of a link, with any user name." },
  linkCookie: {
    type: "apiKey",
    in: "cookie",
    name: "SVC_LINK",
    description: "The cookie that the password of a link sets.",
  },
} as const satisfies Readonly<Record<string, SchemaObject>>;

/** The license of the document and the software; it does not apply to the files of a service. */
const LICENSE = {
  name: "Apache-2.0, for this document and the server software",
  url: "https://www.apache.org/licenses/LICENSE-2.0",
} as const;

const ABOUT = `Files and folders of an account. A URL that ends with \`/\` is a folder; any other URL is a file.

A request uses one of up to three variants, chosen by \`Accept\` and \`Content-Type\`: JSON, WebDAV, or pages for
browsers. All variants do the same; they differ in the status and the format of responses.

The service responds 501 to a method that it implements for no resource, 405 to a method that the URL does not support,
and 404 to an unknown URL. Unsafe requests of browsers must come from the service's own origin or from an accepted one;
others get 403. If the server asks for a client certificate, the client can also log in with one.`;

/**
 * Builds the OpenAPI 3.0.3 document of a service from its routes, its configuration and the schemas that check bodies
 * (1.1, item 3; 9).
 */
export function toDocument(service: OpenApiInput): OpenApiDocument {
  const { title, version, basePath, routes } = service;
  const ids = new Set<string>();
  const kinds = [...new Set(routes.map(({ kind }) => kind))];
  const paths = kinds.flatMap((kind) => {
    const rows = routes.filter((route) => route.kind === kind);
    const all: readonly OpenApiPath[] = PATHS[kind];
    const own = all.filter(({ isLink }) => isLink !== true || service.hasLinks);
    return own.map((path) => [path.path, toPathItem(service, rows, path, ids)] as const);
  });
  const shared = shareResponses(Object.fromEntries(paths));
  const text = JSON.stringify(shared);
  // Only components that the document refers to are included; which these are depends on the configuration.
  const components = {
    schemas: toSchemas(service),
    parameters: toParameters(service),
    headers: toHeaderFields(service),
  };
  const used = Object.entries(components).map(([kind, all]) => {
    const own = Object.entries(all).filter(([name]) => text.includes(`"#/components/${kind}/${name}"`));
    return [kind, Object.fromEntries(own)] as const;
  });
  return {
    openapi: "3.0.3",
    info: { title, version, description: ABOUT, license: LICENSE },
    servers: [{ url: basePath === "" ? "/" : basePath }],
    tags: Object.entries(TAGS)
      .filter(([name]) => name !== "Links" || service.hasLinks)
      .map(([name, description]) => ({ name, description })),
    paths: shared.paths,
    components: {
      ...(Object.fromEntries(used) as Pick<OpenApiDocument["components"], "schemas" | "parameters" | "headers">),
      responses: shared.responses,
      securitySchemes: toSecuritySchemes(service),
    },
  };
}

/** The own login of the host's users comes first, as the service asks the host first. */
function toSecuritySchemes({
  identityChallenge,
  cookieName,
  hasKeys,
  hasLinks,
}: OpenApiInput): Readonly<Record<string, SchemaObject>> {
  const cookie = { type: "apiKey", in: "cookie", name: cookieName, description: "The cookie that a login sets." };
  const own = { ...SECURITY_SCHEMES, cookie, ...(hasKeys && KEY_SCHEMES), ...(hasLinks && LINK_SCHEMES) } as const;
  const [scheme] = identityChallenge?.split(" ", 1) ?? [];
  if (scheme === undefined) return own;
  const description = "Verified by the application that the service is part of.";
  return { identity: { type: "http", scheme: scheme.toLowerCase(), description }, ...own };
}

function toPathItem(
  service: OpenApiInput,
  routes: readonly OpenApiRoute[],
  path: OpenApiPath,
  ids: Set<string>,
): PathItemObject {
  const operations = routes.flatMap((route) =>
    route.methods.map((method) => [method, toOperation(service, route, path, method, ids)] as const),
  );
  const all = new Map<string, OperationObject>([
    ...operations,
    ["OPTIONS", toOptionsOperation(service, path, routes, ids)],
  ]);
  const known = METHODS.flatMap((method) => {
    const operation = all.get(method);
    return operation === undefined ? [] : [[method.toLowerCase(), operation] as const];
  });
  const others = [...all].filter(([method]) => !METHODS.includes(method));
  return {
    ...Object.fromEntries(known),
    ...(others.length > 0 && { "x-additionalOperations": Object.fromEntries(others) }),
  };
}
