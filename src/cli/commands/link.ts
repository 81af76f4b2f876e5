import type { FileService } from "../../contracts/file-service.ts";
import type { Link, LinkPermission } from "../../contracts/links.ts";
import { toLinkBody } from "../../endpoints/links/describe-link.ts";
import { type HttpError, isHttpError } from "../../http/http-error.ts";
import { createFileService } from "../../service/service.ts";
import type { ServeSettings } from "../config/serve-settings.ts";
import { readWithoutServer } from "../config/without-server.ts";
import { createFailure } from "../failure.ts";
import { escapeText, type Output } from "../log/terminal.ts";
import { type Input, readPassword } from "../password-input.ts";
import { openStores } from "../stores.ts";
import { toTerminalQrCode } from "../terminal-qr-code.ts";

/** The flags of `link create <path>`. */
export interface CreateFlags {
  readonly path: string;
  readonly config: string;
  readonly account: string;
  readonly permission: readonly LinkPermission[];
  /** Seconds. */
  readonly expires?: number;
  readonly maxUses?: number;
  readonly maxFileBytes?: number;
  /** Whether a password is read from the input. */
  readonly password?: true;
  readonly askName?: true;
  readonly label?: string;
  readonly origin?: string;
  readonly qr?: true;
  readonly json?: true;
}

/** The flags of `link list`. */
export interface ListFlags {
  readonly config: string;
  readonly account: string;
  readonly json?: true;
}

/** The flags of `link revoke <id>`. */
export interface RevokeFlags {
  readonly id: string;
  readonly config: string;
}

/** Where the command reads and prints, such as `process`. */
export interface Streams {
  readonly stdin: Input;
  readonly stdout: Output;
  readonly stderr: Output;
}

/**
 * Makes a link (SHARING 11.4) and prints its URL. Rejects with a failure: of status 1 if the link is refused, of status
 * 2 if a flag or the configuration is wrong.
 */
export async function createLink(flags: CreateFlags, { stdin, stdout, stderr }: Streams): Promise<void> {
  const { path, account: username, permission, expires, maxUses, maxFileBytes, askName, label } = flags;
  if (flags.qr && flags.json) throw createFailure(2, ["error: --qr cannot be used together with --json"]);
  const settings = await readWithoutServer(flags.config, stderr, flags.origin);
  requireSharedLinks(settings, flags.config);
  if (!settings.service.publicOrigin) {
    throw createFailure(2, ["error: link create needs --origin, or publicOrigin in the configuration"]);
  }
  if (settings.hasOwnStorage) {
    throw createFailure(2, [`${flags.config}: storage: no other process has the files of a storage in memory`]);
  }
  const password = flags.password && (await readPassword(stdin, stderr));
  const link = await withLinks(settings, username, (links) =>
    links.create({
      username,
      path,
      ...(permission.length > 0 && { permissions: permission }),
      ...(expires !== undefined && { expiresIn: expires }),
      ...(password !== undefined && { password }),
      ...(maxUses !== undefined && { maxUses }),
      ...(maxFileBytes !== undefined && { maxFileBytes }),
      ...(askName && { askName }),
      ...(label !== undefined && { label }),
    }),
  );
  if (flags.json) return print(stdout, JSON.stringify(toLinkBody(link)));
  const url = link.url ?? "";
  print(stdout, url);
  if (flags.qr) print(stdout, await toTerminalQrCode(url, stdout));
}

/**
 * Prints the links of an account, newest first: a line with ID, path and facts for each, or JSON as the service has it.
 * Rejects as {@link createLink} does.
 */
export async function printLinks({ config, account, json }: ListFlags, { stdout, stderr }: Streams): Promise<void> {
  const settings = await readWithoutServer(config, stderr);
  requireSharedLinks(settings, config);
  const links = await withLinks(settings, account, (all) => all.list(account));
  if (json) return print(stdout, JSON.stringify({ content: links.map(toLinkBody) }));
  for (const link of links) print(stdout, toLine(link));
}

/** Withdraws a link. Rejects with status 1 if there is none with this ID, else as {@link createLink} does. */
export async function revokeLink({ id, config }: RevokeFlags, { stderr }: Streams): Promise<void> {
  const settings = await readWithoutServer(config, stderr);
  requireSharedLinks(settings, config);
  const wasLive = await withLinks(settings, undefined, (links) => links.revoke(id));
  if (!wasLive) throw createFailure(1, [`error: there is no link with the ID ${escapeText(id)}`]);
}

/** Throws a failure of status 2 if the running service cannot know the links of this process. */
function requireSharedLinks({ service, hasOwnLinks }: ServeSettings, file: string): void {
  if (service.links === undefined) throw createFailure(2, [`${file}: links: is missing`]);
  if (!hasOwnLinks) return;
  const reason = "only the process that serves knows links in memory; redis://, rediss:// or sqlite:// share them";
  throw createFailure(2, [`${file}: links.store: ${reason}`]);
}

/** Runs work on the links of the configuration, and closes what it has opened. */
async function withLinks<T>(
  settings: ServeSettings,
  username: string | undefined,
  work: (links: FileService["links"]) => Promise<T>,
): Promise<T> {
  const { sinks = [], ...others } = settings;
  const closers: (() => unknown)[] = [() => Promise.all(sinks.map((sink) => sink.close()))];
  try {
    // Sessions and locks are not asked.
    const { sessionStore: _sessions, lockStore: _locks, ...own } = others;
    const service = createFileService(await openStores(own, closers));
    closers.push(service.close);
    return await work(service.links);
  } catch (error) {
    throw isHttpError(error) ? toFailure(error, username, settings) : error;
  } finally {
    for (const close of closers.reverse()) await close();
  }
}

function toFailure(error: HttpError, username: string | undefined, { service }: ServeSettings): Error {
  if (error.code !== "account-unusable" || username === undefined) {
    return createFailure(error.failure === "malformed" ? 2 : 1, [`error: ${error.message}`]);
  }
  const isExternal = [service.authentication].flat().some(({ lookup }) => lookup === undefined);
  const hint = isExternal ? "; accounts of an external method are known at their login alone" : "";
  return createFailure(1, [`error: the configuration has no usable account ${escapeText(username)}${hint}`]);
}

/** The URL is left out: it is the link. */
function toLine(link: Link): string {
  const { id, path, isFolder, permissions, expires, hasPassword, uses, maxUses, label } = link;
  const facts = [
    permissions.join(" "),
    `until ${expires.toISOString().slice(0, 19)}Z`,
    ...(maxUses === undefined ? [] : [`${uses} of ${maxUses} uses`]),
    ...(hasPassword ? ["password"] : []),
    ...(label === "" ? [] : [escapeText(label)]),
  ];
  return `${id}  ${escapeText(path)}${isFolder && path !== "/" ? "/" : ""}  ${facts.join(", ")}`;
}

function print(output: Output, text: string): void {
  output.write(`${text}\n`);
}
