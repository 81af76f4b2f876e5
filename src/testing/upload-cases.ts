import { appendingCases } from "./uploads/appending.ts";
import type { UploadCase } from "./uploads/case.ts";
import { completionCases } from "./uploads/completion.ts";
import { partCases } from "./uploads/parts.ts";

/**
 * Every case of the contract of uploads (`StorageAdapter.uploads`). Run each one with a new, empty storage:
 *
 * ```ts
 * for (const { name, needs, run } of uploadCases) {
 *   it.skipIf(needs && !(needs in context))(name, async () => run({ storage: await createEmptyStorage() }));
 * }
 * ```
 */
export const uploadCases: readonly UploadCase[] = [...appendingCases, ...completionCases, ...partCases];
