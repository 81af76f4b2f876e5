import type { StorageAdapter } from "../../src/contracts/storage-adapter.ts";
import { createQuotaStorage } from "../../src/storage/quota.ts";
import type { StorageCase } from "../../src/testing/storage/case.ts";
import { amount } from "../support/trust.ts";

/** Promises of exact moves that a bucket or container keeps for the copies and moves of one process. */
export const KEPT_IN_ONE_PROCESS = [
  "copy: of several parallel copies to one new name exactly one succeeds",
  "move: of several parallel movers of one file or folder exactly one succeeds, and the others are not-found",
  "move: of several parallel movers to one new name exactly one succeeds, and the others keep their source",
];
/** A bucket or container has no links, its moves are copies, and it sets all times itself. */
export const LACKING: readonly StorageCase["needs"][] = ["makeLink", "exactMoves", "times"];
/** Thousands of requests, one after the other. */
export const PATIENCE_MS = 300_000;

/** Whether also those cases are tried that take minutes: in the long run only. */
export const areAll = amount({ short: 0, long: 1 }) === 1;

/** Whether a case takes no minute in a store of objects. */
export function isEveryday({ name }: StorageCase): boolean {
  return areAll || !/10,000|300 levels/.test(name);
}

/** Counts all that is stored, under limits that no case reaches. */
export function withQuota(storage: StorageAdapter): StorageAdapter {
  return createQuotaStorage(storage, { folders: [{ path: "/", bytes: 2 ** 50, files: 2 ** 30 }] });
}

/** Whether a case is about what a quota changes, and takes no minute. All of them are tried in the long run only. */
export function isOfQuotas({ name }: StorageCase): boolean {
  const isChange = /^(?:write|copy|move|remove)|remov|replac|overwr|writers/.test(name);
  return areAll || (isChange && !/10,000|2,000|1,000|300 levels|parallel movers/.test(name));
}

/** Whether a case is about what a bucket or container can do. */
export function isForBuckets({ name, needs }: StorageCase): boolean {
  return KEPT_IN_ONE_PROCESS.includes(name) || !LACKING.includes(needs);
}
