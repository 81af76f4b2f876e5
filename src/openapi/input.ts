import type { OpenApiOptions } from "./input-options.ts";
import type { OperationName } from "./operations.ts";
import type { ResourceShape } from "./paths.ts";

/** A row of the service's routes, with the data that the document needs. */
export interface OpenApiRoute {
  readonly shape: ResourceShape;
  readonly methods: readonly string[];
  readonly operation: OperationName;
  readonly access: "open" | "account" | "session";
}

/** The service that the document describes. */
export interface OpenApiInput extends OpenApiOptions {
  /** The routes of the mounted APIs. */
  readonly routes: readonly OpenApiRoute[];
}
