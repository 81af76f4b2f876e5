import type { Trash, TrashEntry } from "../../contracts/kept/trash.ts";
import { createFailure } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { requireCanonical, useStores } from "./use-stores.ts";

/** The arguments and flags of the commands `fileferry trash`. */
export interface TrashFlags {
  readonly verb: "list" | "restore" | "purge" | "sweep";
  readonly config: string;
  /** The folder of the storage whose entries are listed. */
  readonly path?: string;
  readonly ids?: readonly string[];
  /** Where an entry is restored to. Default: its path. */
  readonly to?: string;
  readonly json?: true;
}

/** Where the command prints, such as `process`. */
interface TrashStreams {
  readonly stdout: Output;
  readonly stderr: Output;
}

/**
 * Runs a command on the trash of a configuration. Rejects with a failure: of status 1 if the storage fails or there is
 * no such entry, of status 2 if a path or the configuration is wrong.
 */
export async function runTrashCommand(flags: TrashFlags, { stdout, stderr }: TrashStreams): Promise<void> {
  const { path, to, config } = flags;
  for (const given of [path, to]) if (given !== undefined) requireCanonical(given);
  await useStores({ config, key: "trash", stderr, toProblem }, async ({ trash }) => {
    if (trash !== undefined) await run(trash, flags, stdout);
  });
}

function toProblem(code: string, message: string): string {
  if (code === "already-exists") return "there is something at the path already: name another one with --to";
  return code === "not-found" ? "there is no such entry" : message;
}

async function run(trash: Trash, { verb, path = "/", ids = [], to, json }: TrashFlags, stdout: Output): Promise<void> {
  switch (verb) {
    case "list":
      for await (const entry of trash.list(path)) stdout.write(json ? `${JSON.stringify(entry)}\n` : toLine(entry));
      return;
    case "restore":
      for (const id of ids) stdout.write(`restored ${escapeText(await trash.restore(id, to))}\n`);
      return;
    case "purge":
      return purge(trash, ids, stdout);
    case "sweep":
      stdout.write(`removed for good: ${await trash.sweep()}\n`);
  }
}

async function purge(trash: Trash, ids: readonly string[], stdout: Output): Promise<void> {
  const missing: string[] = [];
  for (const id of ids) {
    if (await trash.purge(id)) stdout.write(`removed for good ${escapeText(id)}\n`);
    else missing.push(id);
  }
  if (missing.length > 0) {
    throw createFailure(
      1,
      missing.map((id) => `error: there is no entry ${escapeText(id)}`),
    );
  }
}

function toLine({ id, path, kind, size }: TrashEntry): string {
  return `${id}  ${kind === "folder" ? "folder" : `${size} bytes`}  ${escapeText(path)}\n`;
}
