import { mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { LinkOptions } from "../../../src/config/links.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { NewLink } from "../../../src/contracts/links.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { BROWSER_HEADERS, type FormEntry, formOf } from "../../support/forms.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import {
  type Answer,
  basic,
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";

/** The account of the links. Visitors must not see its name, its home, nor the folder above what a link leads to. */
export const OWNER = "hildegard";
const HOME = "/homes/hildegards-home";
const ABOVE = "vault";
const SECRETS = new RegExp(`${OWNER}|hildegards-home|homes|${ABOVE}`, "i");

/** What tests look at of an event. */
export interface SeenEvent {
  readonly id: number;
  readonly data: Readonly<Record<string, unknown>>;
  readonly account?: { readonly name: string };
  readonly link?: { readonly id: string; readonly label: string; readonly sender?: string };
}

/** A service with links, and what visitors and the owner do. */
export interface Visits extends TestService {
  readonly events: readonly SeenEvent[];
  /** Makes a link to something in the folder `vault`. Returns the path of its URL. */
  link(wanted: Partial<NewLink>): Promise<string>;
  /** Sends a request as a visitor. No answer may reveal whose files they are. */
  visit(method: string, target: string, options?: CallOptions): Promise<Answer>;
  /** Sends a form as a browser of a visitor does. */
  form(target: string, entries: readonly FormEntry[], options?: CallOptions): Promise<Answer>;
  /** Sends a request as the owner, to a path below `/home/`. */
  owner(method: string, path: string, options?: CallOptions): Promise<Answer>;
  /** The contents of all files in the folder `vault`, by their paths in it. */
  files(): Promise<Readonly<Record<string, string>>>;
  /** Makes a symlink in the folder `vault`. */
  symlink(name: string): Promise<void>;
}

/** What a service for visits has of its own. */
export interface VisitOptions extends TestServiceOptions {
  /** What is in the folder `vault`, by path. */
  readonly inside?: Readonly<Record<string, string>>;
  readonly own?: Partial<LinkOptions>;
  readonly settings?: AccountSettings;
  readonly kind?: "memory" | "disk";
}

/** A folder link that shows nothing. */
export const DROP: Partial<NewLink> = { path: "/vault/inbox", permissions: ["allow-write"] };

export async function openVisits(options: VisitOptions = {}): Promise<Visits> {
  const { inside = {}, own, settings, kind = "memory", ...others } = options;
  const root = kind === "disk" ? await mkdtemp(join(tmpdir(), "fileferry-links-")) : undefined;
  if (root !== undefined) onTestFinished(() => rm(root, { recursive: true, force: true }));
  const storage = others.storage ?? (root === undefined ? createMemoryStorage() : createDiskStorage({ root }));
  const accounts = [{ username: OWNER, password: "secret of hers", home_folder_path: HOME, ...settings }];
  const folder = `${HOME}/${ABOVE}`;
  const paths = Object.entries({ "inbox/": "", ...inside }).map(([path, content]) => [`${folder}/${path}`, content]);
  const events: SeenEvent[] = [];
  const created = await createTestService({
    authentication: createAccountsAuthenticator({ accounts, logger: createRecordingLogger() }),
    isDescribed: others.webdav === undefined,
    ...others,
    storage,
    files: Object.fromEntries(paths) as Record<string, string>,
    links: { secret: "a secret of the tests, 32 characters or more", store: createMemoryKeyValueStore(), ...own },
    onEvent: [(event: object) => void events.push(event as unknown as SeenEvent), others.onEvent ?? []].flat(),
  });

  async function visit(method: string, target: string, call: CallOptions = {}): Promise<Answer> {
    const answer = await created.call(method, target, { as: null, ...call });
    expect(`${[...answer.headers].join("\n")}\n${answer.text}`).not.toMatch(SECRETS);
    return answer;
  }

  return {
    ...created,
    events,
    visit,
    async link(wanted) {
      return (await created.service.links.create({ username: OWNER, path: `/${ABOVE}`, ...wanted })).urlPath;
    },
    form: (target, entries, call = {}) =>
      visit("POST", target, { body: formOf(...entries), ...call, headers: { ...BROWSER_HEADERS, ...call.headers } }),
    owner: (method, path, call = {}) =>
      created.call(method, `/home/${path}`, {
        as: null,
        ...call,
        headers: { authorization: basic(OWNER, "secret of hers"), ...call.headers },
      }),
    files: () => readAll(storage, folder),
    symlink: (name) => symlink("/etc/passwd", join(root ?? "", folder, name)),
  };
}

async function readAll(storage: StorageAdapter, top: string): Promise<Record<string, string>> {
  const found: Record<string, string> = {};

  async function read(folder: string): Promise<void> {
    for await (const { name, kind } of storage.list(folder)) {
      const path = `${folder}/${name}`;
      if (kind === "folder") await read(path);
      else if (kind === "link") found[path.slice(top.length + 1)] = "-> a link";
      else found[path.slice(top.length + 1)] = await new Response((await storage.read(path)).body).text();
    }
  }

  await read(top);
  return found;
}

/** A body that arrives when the test lets it, and ends or breaks. */
export function createSlowBody() {
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>();
  const writer = writable.getWriter();
  return {
    body: readable as ReadableStream<Uint8Array>,
    send: (text: string) => writer.write(new TextEncoder().encode(text)),
    end: () => writer.close(),
    fail: () => writer.abort(new Error("The connection broke.")),
  };
}

/** The ids and stored paths of the events of uploads. */
export function uploadsIn(events: readonly SeenEvent[]): readonly (readonly [number, unknown])[] {
  return events.filter(({ id }) => [40017, 40021, 40022].includes(id)).map(({ id, data }) => [id, data.path]);
}
