import type { OpenApiOptions } from "./input-options.ts";
import type { OperationName } from "./operations.ts";
import type { ResourceShape } from "./paths.ts";

/** A row of the service's URL space, as far as the description needs it. */
export interface OpenApiRoute {
  readonly shape: ResourceShape;
  readonly methods: readonly string[];
  readonly operation: OperationName;
  readonly access: "open" | "account" | "session";
}

/** The service that is described. */
export interface OpenApiInput extends OpenApiOptions {
  /** Those of the APIs that are mounted. */
  readonly routes: readonly OpenApiRoute[];
}
