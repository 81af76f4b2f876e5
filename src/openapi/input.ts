import type { DescribedOptions } from "./input-options.ts";
import type { OperationName } from "./operations.ts";
import type { DescribedShape } from "./paths.ts";

/** A row of the service's URL space, as far as the description needs it. */
export interface DescribedRoute {
  readonly shape: DescribedShape;
  readonly methods: readonly string[];
  readonly operation: OperationName;
  readonly access: "open" | "account" | "session";
}

/** The service that is described. */
export interface DescribedService extends DescribedOptions {
  /** Those of the APIs that are mounted. */
  readonly routes: readonly DescribedRoute[];
}
