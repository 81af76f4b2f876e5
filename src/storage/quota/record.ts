import type { QuotaUsage } from "../../contracts/quota.ts";
import { type Amount, add, isNothing, NOTHING } from "./amount.ts";

/** The count of a folder, as the store has it. */
export interface CountRecord {
  readonly used: Amount;
  /** When a walk has counted it last, in milliseconds; 0 if none has. */
  readonly countedAt: number;
  /** How many changes have been counted since the record exists. A walk that knows of fewer has missed some. */
  readonly changes: number;
  /** Something was lost: the folder must be counted by a walk. */
  readonly isStale: boolean;
  /** What the uploads in several requests will need, and how often that has changed. */
  readonly uploads: { readonly amount: Amount; readonly changes: number };
  /** What running requests have reserved, one lease for each process. */
  readonly leases: readonly Lease[];
}

/** What one process has reserved. */
export interface Lease {
  readonly process: string;
  readonly amount: Amount;
  /** In milliseconds. After that the process is taken to be lost. */
  readonly expires: number;
}

/** A folder that no walk has counted. */
export const UNCOUNTED: CountRecord = {
  used: NOTHING,
  countedAt: 0,
  changes: 0,
  isStale: true,
  uploads: { amount: NOTHING, changes: 0 },
  leases: [],
};

type Stored = readonly [
  bytes: number,
  files: number,
  countedAt: number,
  changes: number,
  isStale: 0 | 1,
  uploads: readonly [bytes: number, files: number, changes: number],
  leases: readonly (readonly [process: string, bytes: number, files: number, expires: number])[],
];

/** Returns the record as it is now: the lease of a lost process stays, and makes the record stale. */
export function withLostLeases(record: CountRecord, now: number): CountRecord {
  if (record.isStale) return record;
  return record.leases.some(({ expires }) => expires <= now) ? { ...record, isStale: true } : record;
}

/** Parses the text of a record, and returns it as it is now. */
export function parseCount(text: string, now: number): CountRecord {
  const [bytes, files, countedAt, changes, isStale, uploads, leases] = JSON.parse(text) as Stored;
  const record = {
    used: { bytes, files },
    countedAt,
    changes,
    isStale: isStale === 1,
    uploads: { amount: { bytes: uploads[0], files: uploads[1] }, changes: uploads[2] },
    leases: leases.map(([process, bytes, files, expires]) => ({ process, amount: { bytes, files }, expires })),
  };
  return withLostLeases(record, now);
}

/** Returns the text of a record. */
export function toCountText({ used, countedAt, changes, isStale, uploads, leases }: CountRecord): string {
  return JSON.stringify([
    used.bytes,
    used.files,
    countedAt,
    changes,
    isStale ? 1 : 0,
    [uploads.amount.bytes, uploads.amount.files, uploads.changes],
    leases.map(({ process, amount, expires }) => [process, amount.bytes, amount.files, expires] as const),
  ] satisfies Stored);
}

/** Returns the record with more used, or less. It is never below zero, whatever others have changed in the storage. */
export function withUsed(record: CountRecord, change: Amount): CountRecord {
  if (isNothing(change)) return record;
  return { ...record, used: atLeastNothing(add(record.used, change)), changes: record.changes + 1 };
}

/** Returns the record with more reserved for uploads in several requests, or less. */
export function withUploads(record: CountRecord, change: Amount): CountRecord {
  if (isNothing(change)) return record;
  const { amount, changes } = record.uploads;
  return { ...record, uploads: { amount: atLeastNothing(add(amount, change)), changes: changes + 1 } };
}

/** Returns the record with what a process has reserved now, and keeps it for longer. */
export function withLease(record: CountRecord, process: string, amount: Amount, expires: number): CountRecord {
  const leases = record.leases.filter((lease) => lease.process !== process);
  if (!isNothing(amount)) leases.push({ process, amount, expires });
  else if (leases.length === record.leases.length) return record;
  return { ...record, leases };
}

/** Returns the record as one that must be counted. A walk that is on its way may have missed what happened. */
export function asStale(record: CountRecord): CountRecord {
  return { ...record, isStale: true, changes: record.changes + 1 };
}

/** Returns the record as a walk has found it: without the leases of lost processes. */
export function withWalk(record: CountRecord, used: Amount, uploads: Amount, now: number): CountRecord {
  const leases = record.leases.filter(({ expires }) => expires > now);
  return { ...record, used, countedAt: now, isStale: false, uploads: { ...record.uploads, amount: uploads }, leases };
}

/** Returns what clients see of a record. */
export function toUsage({ used, uploads, leases }: CountRecord): QuotaUsage {
  let { bytes, files } = uploads.amount;
  for (const { amount } of leases) {
    bytes += amount.bytes;
    files += amount.files;
  }
  return { bytes: used.bytes, files: used.files, reservedBytes: bytes, reservedFiles: files };
}

function atLeastNothing({ bytes, files }: Amount): Amount {
  return { bytes: Math.max(0, bytes), files: Math.max(0, files) };
}
