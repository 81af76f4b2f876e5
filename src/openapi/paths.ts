import type { Failure } from "../http/http-error.ts";
import type { ParameterName } from "./parameters.ts";

/** A path of the document. Several paths can have one kind. */
export interface OpenApiPath {
  readonly path: string;
  /** The suffix of its operation IDs, which distinguishes the paths of one kind. */
  readonly suffix: string;
  readonly parameters: readonly ParameterName[];
  /** Additional parameters of GET and HEAD at this path only. */
  readonly reading?: readonly ParameterName[];
  /** The only media type that responses have at this path. Default: all that the operations have. */
  readonly type?: string;
  /**
   * For each method that always fails at this path: its failures. The root, for example, always exists and cannot be
   * removed.
   */
  readonly always?: Readonly<Record<string, readonly Failure[]>>;
  /** Parameters by method. */
  readonly sending?: Readonly<Record<string, readonly ParameterName[]>>;
  /** Parameters by method that only services with resumable uploads have. */
  readonly creating?: Readonly<Record<string, readonly ParameterName[]>>;
  /** Whether it is below the URL of a link, which takes the place of a login. Only services with links have it. */
  readonly isLink?: true;
}

function only(path: string, suffix = "", parameters: readonly ParameterName[] = []): OpenApiPath {
  return { path, suffix, parameters };
}

function ofLink(path: string, suffix: string, parameters: readonly ParameterName[]): OpenApiPath {
  return { ...only(`/__svc__/share/{token}${path}`, suffix, ["token", ...parameters]), isLink: true };
}

const OF_ROOT = {
  PUT: ["already-exists", "unsupported-media-type"],
  MKCOL: ["already-exists", "unsupported-media-type"],
  DELETE: ["denied"],
} as const;

/** The paths of each kind of resource. */
export const PATHS = {
  start: [only("/"), only("/home", "ByName")],
  file: [
    { ...only("/home/{path}", "", ["path"]), sending: { DELETE: ["permanent"] } },
    { ...ofLink("/{path}", "OfLink", ["path"]), sending: { PUT: ["sender"] }, creating: { POST: ["sender"] } },
  ],
  folder: [
    { ...only("/home/", "OfRoot"), reading: ["zip", "basicLogin", "returnTo"], always: OF_ROOT },
    { ...only("/home/{folder}/", "", ["folder"]), reading: ["zip"], sending: { DELETE: ["permanent"] } },
    { ...ofLink("/", "OfLinkRoot", []), reading: ["zip"], sending: { POST: ["sender"] }, always: OF_ROOT },
    { ...ofLink("/{folder}/", "OfLink", ["folder"]), reading: ["zip"], sending: { POST: ["sender"] } },
  ],
  health: [only("/__svc__/health")],
  asset: [only("/__svc__/assets/{name}", "", ["asset"])],
  login: [only("/__svc__/login")],
  logout: [only("/__svc__/logout")],
  "sign-on": [only("/__svc__/oidc/{id}/start", "", ["signOnId"])],
  "sign-on-callback": [only("/__svc__/oidc/{id}/callback", "", ["signOnId"])],
  "password-update": [only("/home/__svc__/password-update")],
  account: [only("/home/__svc__/account")],
  quota: [only("/home/__svc__/quota")],
  trash: [only("/home/__svc__/trash")],
  versions: [only("/home/__svc__/versions", "", ["versionedPath"])],
  version: [only("/home/__svc__/versions/{id}", "", ["versionId", "versionedPath"])],
  upload: [
    only("/home/__svc__/uploads/{id}", "", ["uploadId"]),
    ofLink("/__svc__/uploads/{id}", "OfLink", ["uploadId"]),
  ],
  uploads: [only("/home/__svc__/uploads/"), ofLink("/__svc__/uploads/", "OfLink", [])],
  share: [ofLink("", "", [])],
  keys: [only("/home/__svc__/keys")],
  key: [only("/home/__svc__/keys/{id}", "", ["keyId"])],
  links: [only("/home/__svc__/links")],
  "new-link": [only("/home/__svc__/links/new")],
  link: [only("/home/__svc__/links/{id}", "", ["linkId"])],
  "api-page": [only("/__svc__/openapi.html")],
  openapi: [
    { ...only("/__svc__/openapi.yaml"), type: "application/yaml" },
    { ...only("/____svc__/openapi.yaml", "AtFirstPlace"), type: "application/yaml" },
    { ...only("/__svc__/openapi.json", "AsJson"), type: "application/json" },
  ],
} as const satisfies Readonly<Record<string, readonly OpenApiPath[]>>;

/** A kind of resource in the document. A route of the service with another kind does not compile. */
export type DocumentedKind = keyof typeof PATHS;
