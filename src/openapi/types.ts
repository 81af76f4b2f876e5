/*
 * The parts of OpenAPI 3.0.3 that the document uses (1.1, item 3).
 */

/** A schema in the dialect of OpenAPI 3.0, or a reference to one. */
export type SchemaObject = Readonly<Record<string, unknown>>;

/** A reference to a component of the document. */
export interface ReferenceObject {
  readonly $ref: string;
}

export interface MediaTypeObject {
  readonly schema: SchemaObject;
  readonly example?: unknown;
}

export interface HeaderObject {
  readonly description: string;
  readonly required?: boolean;
  readonly schema: SchemaObject;
}

export interface ParameterObject extends HeaderObject {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly example?: unknown;
}

export interface RequestBodyObject {
  readonly description: string;
  readonly required: boolean;
  readonly content: Readonly<Record<string, MediaTypeObject>>;
}

export interface ResponseObject {
  readonly description: string;
  readonly headers?: Readonly<Record<string, HeaderObject | ReferenceObject>>;
  readonly content?: Readonly<Record<string, MediaTypeObject>>;
}

export interface OperationObject {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly ReferenceObject[];
  readonly requestBody?: RequestBodyObject;
  readonly responses: Readonly<Record<string, ResponseObject | ReferenceObject>>;
}

/**
 * The operations of a path by their methods in lower case. `x-additionalOperations` has those of methods that OpenAPI
 * 3.0 does not have, by their names.
 */
export type PathItemObject = Readonly<Record<string, OperationObject | Readonly<Record<string, OperationObject>>>>;

export interface OpenApiDocument {
  readonly openapi: "3.0.3";
  readonly info: {
    readonly title: string;
    readonly version: string;
    readonly description: string;
    readonly license: { readonly name: string; readonly url: string };
  };
  readonly servers: readonly { readonly url: string }[];
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, PathItemObject>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, SchemaObject>>;
    readonly responses: Readonly<Record<string, ResponseObject>>;
    readonly parameters: Readonly<Record<string, ParameterObject>>;
    readonly headers: Readonly<Record<string, HeaderObject>>;
    readonly securitySchemes: Readonly<Record<string, SchemaObject>>;
  };
}
