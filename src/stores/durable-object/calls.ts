/** A call of the store, as JSON in the body of a request to an object. */
export type StoreCall =
  | { readonly method: "get" | "delete"; readonly key: string }
  | { readonly method: "set"; readonly key: string; readonly value: unknown; readonly ttlMilliseconds: number }
  | {
      readonly method: "replace";
      readonly key: string;
      readonly expected: string | undefined;
      readonly next: string | undefined;
      readonly ttlMilliseconds: number;
    };

/** The body of the response. */
export interface StoreResult {
  /** What the call resolves with; absent for `undefined`. */
  readonly result?: unknown;
}
