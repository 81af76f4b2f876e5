import type { OpenApiOptions } from "./input-options.ts";
import type { OperationName } from "./operations.ts";
import type { DocumentedKind } from "./paths.ts";

/** A row of the service's routes, with the data that the document needs. */
export interface OpenApiRoute {
  readonly kind: DocumentedKind;
  readonly methods: readonly string[];
  readonly operation: OperationName;
  readonly access: "open" | "account" | "session";
}

/** The service that the document describes. */
export interface OpenApiInput extends OpenApiOptions {
  /** The routes of the mounted APIs. */
  readonly routes: readonly OpenApiRoute[];
}
