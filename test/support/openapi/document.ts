/** A schema of OpenAPI 3.0, with the fields that are read here. The validator knows the others. */
export interface ApiSchema {
  readonly $ref?: string;
  readonly type?: string;
  readonly nullable?: boolean;
  readonly properties?: Readonly<Record<string, ApiSchema>>;
  readonly items?: ApiSchema;
  readonly allOf?: readonly ApiSchema[];
  readonly anyOf?: readonly ApiSchema[];
  readonly oneOf?: readonly ApiSchema[];
}

/** An object in place, or a reference to one below `components`. */
type OrRef<T> = T | { readonly $ref: string };

export type ApiContent = Readonly<Record<string, { readonly schema?: ApiSchema }>>;

export interface ApiHeader {
  readonly required?: boolean;
  readonly schema?: ApiSchema;
}

export interface ApiParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header" | "cookie";
  readonly required?: boolean;
  readonly schema?: ApiSchema;
}

export interface ApiResponse {
  readonly headers?: Readonly<Record<string, OrRef<ApiHeader>>>;
  readonly content?: ApiContent;
}

export interface ApiRequestBody {
  readonly required?: boolean;
  readonly content: ApiContent;
}

/** The names of the schemes that one way to log in needs together. */
type SecurityNeed = Readonly<Record<string, readonly string[]>>;

interface ApiOperation {
  readonly parameters?: readonly OrRef<ApiParameter>[];
  readonly requestBody?: OrRef<ApiRequestBody>;
  readonly responses: Readonly<Record<string, OrRef<ApiResponse>>>;
  readonly security?: readonly SecurityNeed[];
}

export interface SecurityScheme {
  readonly type: string;
  readonly scheme?: string;
  readonly in?: string;
  readonly name?: string;
}

type ApiPathItem = Readonly<Record<string, unknown>> & { readonly parameters?: readonly OrRef<ApiParameter>[] };

/** An OpenAPI 3.0 document, with the fields that are read here. */
export interface ApiDocument {
  readonly openapi: string;
  readonly servers?: readonly { readonly url: string }[];
  readonly paths: Readonly<Record<string, ApiPathItem>>;
  readonly security?: readonly SecurityNeed[];
  readonly components?: {
    readonly schemas?: Readonly<Record<string, ApiSchema>>;
    readonly securitySchemes?: Readonly<Record<string, SecurityScheme>>;
  };
}

/** An operation with its references resolved. */
export interface Operation {
  /** Its name in messages, such as `GET /home/{path}`. */
  readonly name: string;
  readonly template: string;
  readonly method: string;
  readonly parameters: readonly ApiParameter[];
  readonly requestBody: ApiRequestBody | undefined;
  readonly responses: ReadonlyMap<string, { readonly headers: ReadonlyMap<string, ApiHeader>; content: ApiContent }>;
  /** The ways to log in, each with the schemes that it needs. Empty if the operation needs no login. */
  readonly security: readonly (readonly SecurityScheme[])[];
}

/** The methods that OpenAPI 3.0 knows. Others are described by an extension, by their names. */
const METHODS = ["get", "put", "post", "delete", "options", "head", "patch", "trace"];
const OTHERS = "x-additionalOperations";

/** The operations of a document, by their names. */
export function toOperations(document: ApiDocument): ReadonlyMap<string, Operation> {
  const operations = Object.entries(document.paths).flatMap(([template, item]) =>
    [...Object.entries(item), ...Object.entries((item[OTHERS] ?? {}) as object)]
      .filter(([key]) => METHODS.includes(key) || /^[A-Z]+$/.test(key))
      .map(([key, operation]) => toOperation(document, template, key.toUpperCase(), item, operation as ApiOperation)),
  );
  return new Map(operations.map((operation) => [operation.name, operation]));
}

function toOperation(
  document: ApiDocument,
  template: string,
  method: string,
  item: ApiPathItem,
  operation: ApiOperation,
): Operation {
  // Only exact statuses: `default` would cover every answer.
  const own = Object.entries(operation.responses).filter(([status]) => /^\d{3}$/.test(status));
  const responses = own.map(([status, found]) => {
    const { headers = {}, content = {} } = resolve<ApiResponse>(document, found);
    const fields = Object.entries(headers).map(([name, header]) => {
      return [name.toLowerCase(), resolve<ApiHeader>(document, header)] as const;
    });
    return [status, { headers: new Map(fields), content }] as const;
  });
  const { requestBody, security = document.security ?? [] } = operation;
  const schemes = document.components?.securitySchemes ?? {};
  return {
    name: `${method} ${template}`,
    template,
    method,
    parameters: [...(item.parameters ?? []), ...(operation.parameters ?? [])].map((parameter) =>
      resolve<ApiParameter>(document, parameter),
    ),
    requestBody: requestBody && resolve<ApiRequestBody>(document, requestBody),
    responses: new Map(responses),
    security: security.map((need) => Object.keys(need).map((name) => schemes[name] ?? { type: "unknown" })),
  };
}

/** Resolves a reference. Returns anything else as it is. */
export function resolve<T extends object>(document: ApiDocument, found: OrRef<T>): T {
  if (!("$ref" in found) || typeof found.$ref !== "string") return found as T;
  const segments = found.$ref.replace(/^#\//, "").split("/");
  const names = segments.map((segment) => segment.replaceAll("~1", "/").replaceAll("~0", "~"));
  const value = names.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], document);
  if (value === undefined) throw new Error(`Nothing stands at ${found.$ref}.`);
  return resolve<T>(document, value as OrRef<T>);
}
