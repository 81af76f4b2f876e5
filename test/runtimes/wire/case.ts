import type { WireEnvironment } from "./client.ts";

/** What every runtime does over its own socket. */
export interface WireCase {
  /** A sentence, unique in the list. */
  readonly name: string;
  /** Rejects where it is not so. */
  run(environment: WireEnvironment): Promise<void>;
}

/** A case of the list, by its sentence. */
export function wireCase(name: string, run: WireCase["run"]): WireCase {
  return { name, run };
}
