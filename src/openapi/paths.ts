import type { ParameterName } from "./parameters.ts";

/** A URL of a shape, as the document has it. */
export interface DescribedPath {
  readonly path: string;
  /** What the names of its operations end in, where its shape has several. */
  readonly suffix: string;
  readonly parameters: readonly ParameterName[];
  /** Parameters that this URL alone has, on reading. */
  readonly reading?: readonly ParameterName[];
  /** The representations that it has of those that its operations may have. Default: all. */
  readonly type?: string;
}

function only(path: string, suffix = "", parameters: readonly ParameterName[] = []): DescribedPath {
  return { path, suffix, parameters };
}

/** The URLs of every shape of the URL space. */
export const PATHS: Readonly<Record<string, readonly DescribedPath[]>> = {
  entry: [only("/"), only("/home", "ByName")],
  file: [only("/home/{path}", "", ["path"])],
  folder: [
    { ...only("/home/", "OfRoot"), reading: ["basicLogin", "returnTo"] },
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
};
