import type { Failure } from "../http/http-error.ts";
import type { ParameterName } from "./parameters.ts";

/** A URL of a shape, as the document has it. */
export interface OpenApiPath {
  readonly path: string;
  /** What the names of its operations end in, where its shape has several. */
  readonly suffix: string;
  readonly parameters: readonly ParameterName[];
  /** Parameters that this URL alone has, on reading. */
  readonly reading?: readonly ParameterName[];
  /** The representations that it has of those that its operations may have. Default: all. */
  readonly type?: string;
  /** How methods fail here that are served elsewhere: a root is there, and stays. */
  readonly always?: Readonly<Record<string, readonly Failure[]>>;
}

function only(path: string, suffix = "", parameters: readonly ParameterName[] = []): OpenApiPath {
  return { path, suffix, parameters };
}

const OF_ROOT = {
  PUT: ["already-exists", "unsupported-media-type"],
  MKCOL: ["already-exists", "unsupported-media-type"],
  DELETE: ["denied"],
} as const;

/** The URLs of every shape of the URL space. */
export const PATHS = {
  entry: [only("/"), only("/home", "ByName")],
  file: [only("/home/{path}", "", ["path"])],
  folder: [
    { ...only("/home/", "OfRoot"), reading: ["basicLogin", "returnTo"], always: OF_ROOT },
    only("/home/{folder}/", "", ["folder"]),
  ],
  asset: [only("/__svc__/assets/{name}", "", ["asset"])],
  login: [only("/__svc__/login")],
  logout: [only("/__svc__/logout")],
  "password-update": [only("/home/__svc__/password-update")],
  "api-page": [only("/__svc__/openapi.html")],
  description: [
    { ...only("/__svc__/openapi.yaml"), type: "application/yaml" },
    { ...only("/____svc__/openapi.yaml", "AtFirstPlace"), type: "application/yaml" },
    { ...only("/__svc__/openapi.json", "AsJson"), type: "application/json" },
  ],
} as const satisfies Readonly<Record<string, readonly OpenApiPath[]>>;

/** A shape of URLs that is described: one of the service's that is none does not compile. */
export type ResourceShape = keyof typeof PATHS;
