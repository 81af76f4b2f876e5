import type { Authenticator } from "../../src/contracts/authenticator.ts";
import type { KeyValueStore } from "../../src/contracts/key-value-store.ts";
import type { ApiPageFile } from "../../src/contracts/pages/api-page.ts";
import { type StorageAdapter, StorageError, type StorageErrorCode } from "../../src/contracts/storage-adapter.ts";
import { HttpError } from "../../src/http/http-error.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { createTestService, type TestService, type TestServiceOptions } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

/** All options that a description depends on. */
export const DESCRIBED_OPTIONS = {
  metadataFields: { header: "X-Labels", keys: [{ name: "project" }, { name: "tag-*" }] },
  triggers: {
    publish: {
      label: "Publish",
      run(_context: unknown, [member]: readonly { readonly kind: string }[]) {
        if (member?.kind !== "file") throw new HttpError("unprocessable", "Only files can be published.");
      },
    },
  },
} as const;

const VIEWER: readonly ApiPageFile[] = (["style", "script", "notices"] as const).map((type) => ({
  type,
  name: `viewer-${type}.1`,
  bytes: new TextEncoder().encode(type),
}));

/** What a broken storage throws: a refusal of its own, or something unknown. */
export type Breakage = StorageErrorCode | "unknown";

/** A service that has everything its description can contain, and that can be broken. */
export interface DriftEnvironment extends TestService {
  /** Breaks the storage, or repairs it. With `isForWriting`, reading still works. */
  break(breakage: Breakage | undefined, isForWriting?: boolean): void;
  /** Puts everything back to where it was at first, except sessions. */
  reset(): Promise<void>;
  /** Makes the next `login` start a new session. Until then it returns the last one of the account. */
  forgetSessions(): void;
  /** Breaks the store of sessions, or repairs it. */
  breakSessions(isBroken: boolean): void;
  /** Breaks the viewer of the interactive page, or repairs it. */
  breakViewer(isBroken: boolean): void;
}

/** The accounts: root may do everything, bob nothing; carol is rejected with something for clients to read. */
function createKeeper(): Authenticator {
  const passwords = new Map([
    ["alice", "secret"],
    ["bob", "hunter2"],
    ["root", "toor"],
  ]);
  return {
    name: "keeper",
    async authenticate({ username, content }) {
      if (username === "carol") return { outcome: "rejected", message: "Ask us.", publicResponse: { phone: 1 } };
      if (passwords.get(username) !== content) return { outcome: "rejected" };
      return { outcome: "accepted", account: username === "bob" ? { group: "nobodies" } : {} };
    },
    async lookup(username) {
      if (!passwords.has(username)) return { outcome: "unknown" };
      return { outcome: "found", account: username === "bob" ? { group: "nobodies" } : {} };
    },
    async updatePassword({ username, currentPassword }) {
      return { outcome: passwords.get(username) === currentPassword ? "updated" : "wrong-password" };
    },
  };
}

function overrideStore(store: KeyValueStore, isBroken: () => boolean): KeyValueStore {
  const refuse = () => Promise.reject(new Error("The store is gone."));
  return {
    get: (key) => (isBroken() ? refuse() : store.get(key)),
    set: (key, value, ttl) => (isBroken() ? refuse() : store.set(key, value, ttl)),
    delete: (key) => (isBroken() ? refuse() : store.delete(key)),
  };
}

const CONTENT = new TextEncoder().encode("0123456789".repeat(500));

async function* toContent(): AsyncGenerator<Uint8Array> {
  yield CONTENT;
}

/** `own`: further options of the service, such as links. */
export async function createDriftEnvironment(own: Pick<TestServiceOptions, "links"> = {}): Promise<DriftEnvironment> {
  const base = createMemoryStorage();
  let broken: Breakage | undefined;
  let isForWriting = false;
  let areSessionsBroken = false;
  let isViewerBroken = false;
  const sessions = new Map<string, string>();

  async function load(): Promise<readonly ApiPageFile[]> {
    if (isViewerBroken) throw new Error("The viewer is gone.");
    return VIEWER;
  }

  function fail(writes: boolean): void {
    if (broken === undefined || (isForWriting && !writes)) return;
    throw broken === "unknown" ? new Error("what is this?") : new StorageError(broken, "broken");
  }

  const storage: StorageAdapter = overrideStorage(base, {
    listingTag: async (path) => base.listingTag?.(path),
    async *list(path) {
      fail(false);
      yield* base.list(path);
    },
    async read(path, range) {
      fail(false);
      return base.read(path, range);
    },
    async stat(path) {
      fail(false);
      return base.stat(path);
    },
    async write(path, content, options) {
      fail(true);
      return base.write(path, content, options);
    },
    async createFolder(path) {
      fail(true);
      return base.createFolder(path);
    },
    async remove(path) {
      fail(true);
      return base.remove(path);
    },
  });
  const test = await createTestService({
    ...DESCRIBED_OPTIONS,
    storage,
    authentication: createKeeper(),
    groups: {
      DEFAULT_GROUP: { allow_own_password_change: true },
      nobodies: { allow_own_password_change: false, permissions: [["deny-full-control"]] },
    },
    publicError: true,
    apiPage: { load },
    // A login looks at all sessions of its account, and the newest one is enough.
    session: {
      store: overrideStore(createMemoryKeyValueStore({ clock: Date.now }), () => areSessionsBroken),
      maxPerAccount: 2,
    },
    beforeCommit: ({ path }) => (path.endsWith("refused.txt") ? "It is refused." : undefined),
    limits: { maxFileBytes: 1000 },
    ...own,
    files: { "/bob/": "" },
  });

  return {
    ...test,
    async login(as = "alice") {
      const session = sessions.get(as) ?? (await test.login(as));
      sessions.set(as, session);
      return session;
    },
    forgetSessions: () => sessions.clear(),
    break(breakage, writing = false) {
      broken = breakage;
      isForWriting = writing;
    },
    breakViewer(isBroken) {
      isViewerBroken = isBroken;
    },
    breakSessions(isBroken) {
      areSessionsBroken = isBroken;
    },
    async reset() {
      broken = undefined;
      for (const path of ["/alice/f", "/alice/a.txt", "/alice/c.txt", "/alice/new", "/alice/new.txt"]) {
        if ((await base.stat(path)) !== undefined) await base.remove(path);
      }
      await base.createFolder("/alice/f");
      for (const path of ["/alice/f/b.txt", "/alice/f/c.txt", "/alice/a.txt"]) {
        await base.write(path, toContent());
      }
    },
  };
}
