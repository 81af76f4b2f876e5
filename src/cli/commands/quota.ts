import type { Quota, QuotaLimit, QuotaUsage } from "../../contracts/quota.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { requireCanonical, useStores } from "./use-stores.ts";

/** The flags of `quota show` and `quota recount`. */
export interface QuotaFlags {
  /** A folder of the storage. Absent: those of the configuration, or the root if it has none. */
  readonly path: string | undefined;
  readonly config: string;
  readonly json?: true;
}

/** Where the command prints, such as `process`. */
interface QuotaStreams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/**
 * Prints how much is in folders of the storage, with `recount` after a walk: a line for each, or JSON. Rejects with a
 * failure: of status 1 if the storage or the store fails, of status 2 if the path or the configuration is wrong.
 */
export async function printQuota(
  verb: "usage" | "recount",
  { path, config, json }: QuotaFlags,
  { stdout, stderr }: QuotaStreams,
): Promise<void> {
  if (path !== undefined) requireCanonical(path);
  const part = { config, key: "quota", stderr, toProblem: (_code: string, message: string) => message } as const;
  await useStores(part, async ({ quota }) => {
    if (quota === undefined) return;
    const folders: FolderCount[] = [];
    for (const limit of toFolders(quota, path)) folders.push({ limit, usage: await quota[verb](limit.path) });
    stdout.write(json ? `${JSON.stringify({ results: folders.map(toBody) })}\n` : folders.map(toLine).join(""));
  });
}

function toFolders({ folders }: Quota, path: string | undefined): readonly QuotaLimit[] {
  if (path === undefined) return folders.length > 0 ? folders : [{ path: "/" }];
  return [folders.find((limit) => limit.path === path) ?? { path }];
}

/** A folder with its limit, if it has one. */
interface FolderCount {
  readonly limit: QuotaLimit;
  readonly usage: QuotaUsage;
}

function toBody({ limit, usage }: FolderCount): object {
  return {
    path: limit.path,
    used_bytes: usage.bytes,
    reserved_bytes: usage.reservedBytes,
    limit_bytes: limit.bytes ?? null,
    used_files: usage.files,
    reserved_files: usage.reservedFiles,
    limit_files: limit.files ?? null,
  };
}

function toLine({ limit, usage }: FolderCount): string {
  const bytes = `${toAmount(usage.bytes, limit.bytes)} bytes`;
  const files = `${toAmount(usage.files, limit.files)} files`;
  const reserved = usage.reservedBytes > 0 ? `, ${usage.reservedBytes} bytes reserved` : "";
  return `${escapeText(limit.path)}  ${bytes}, ${files}${reserved}\n`;
}

function toAmount(used: number, limit: number | undefined): string {
  return limit === undefined ? `${used}` : `${used} of ${limit}`;
}
