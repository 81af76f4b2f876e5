import { createBoundedMap } from "../platform/bounded-map.ts";

/** Numbers and bytes of uploads. */
export interface UploadAmount {
  readonly count: number;
  readonly bytes: number;
}

/**
 * What accounts may create before their uploads are counted again. Counting is slow: thousands of small files have an
 * upload each, and finished uploads are known for a while. After each count, an account may create some uploads
 * without a new count.
 */
export interface UploadAllowances {
  /** Takes an upload from the allowance of an account. False: it is used up, and the uploads must be counted. */
  take(account: string, bytes: number): boolean;
  /** Sets the allowance of an account to a share of what its limits leave, as counted just now. */
  give(account: string, left: UploadAmount): void;
}

/** Each process counts on its own. Up to eight processes stay within the limits together. */
const SHARE = 1 / 8;
const MAX_AGE_SECONDS = 10;
const MAX_ACCOUNTS = 1000;

interface Allowance {
  count: number;
  bytes: number;
  readonly until: number;
}

/** Creates the allowances of a service. `clock` is in milliseconds. */
export function createUploadAllowances(clock: () => number): UploadAllowances {
  const allowances = createBoundedMap<string, Allowance>(MAX_ACCOUNTS);

  function take(account: string, bytes: number): boolean {
    const left = allowances.get(account);
    if (left === undefined || left.count < 1 || left.bytes < bytes || clock() > left.until) return false;
    left.count -= 1;
    left.bytes -= bytes;
    return true;
  }

  function give(account: string, { count, bytes }: UploadAmount): void {
    allowances.set(account, { count: count * SHARE, bytes: bytes * SHARE, until: clock() + 1000 * MAX_AGE_SECONDS });
  }

  return { take, give };
}
