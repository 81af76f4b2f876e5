import type { StorageCase } from "./storage-case.ts";
import { conditionCases } from "./storage-cases-conditions.ts";
import { linkCases } from "./storage-cases-links.ts";
import { nameCases } from "./storage-cases-names.ts";
import { placeCases } from "./storage-cases-places.ts";
import { readingCases } from "./storage-cases-reading.ts";
import { removalCases } from "./storage-cases-removal.ts";
import { transferCases } from "./storage-cases-transfers.ts";
import { writingCases } from "./storage-cases-writing.ts";

/**
 * Every case of the storage contract. Run each one against a new, empty storage:
 *
 * ```ts
 * for (const { name, needs, run } of storageCases) {
 *   it.skipIf(needs && !(needs in context))(name, async () => run({ storage: await createEmptyStorage() }));
 * }
 * ```
 */
export const storageCases: readonly StorageCase[] = [
  ...placeCases,
  ...nameCases,
  ...writingCases,
  ...transferCases,
  ...conditionCases,
  ...readingCases,
  ...removalCases,
  ...linkCases,
];
