import { attributeCases } from "./storage/attributes.ts";
import type { StorageCase } from "./storage/case.ts";
import { conditionCases } from "./storage/conditions.ts";
import { copyCases } from "./storage/copies.ts";
import { cutWriteCases } from "./storage/cut-writes.ts";
import { linkCases } from "./storage/links.ts";
import { listingCases } from "./storage/listings.ts";
import { moveCases } from "./storage/moves.ts";
import { nameCases } from "./storage/names.ts";
import { pathCases } from "./storage/paths.ts";
import { readingCases } from "./storage/reading.ts";
import { removalCases } from "./storage/removal.ts";
import { writingCases } from "./storage/writing.ts";

/**
 * Every case of the storage contract. Run each one with a new, empty storage:
 *
 * ```ts
 * for (const { name, needs, run } of storageCases) {
 *   it.skipIf(needs && !(needs in context))(name, async () => run({ storage: await createEmptyStorage() }));
 * }
 * ```
 */
export const storageCases: readonly StorageCase[] = [
  ...pathCases,
  ...nameCases,
  ...writingCases,
  ...cutWriteCases,
  ...conditionCases,
  ...readingCases,
  ...listingCases,
  ...removalCases,
  ...copyCases,
  ...moveCases,
  ...attributeCases,
  ...linkCases,
];
