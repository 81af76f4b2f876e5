/**
 * A service that is the same on every runtime. The servers in `node/`, `deno/`, `bun/` and `workers/` mount it.
 */
import {
  type ApiPage,
  type Authenticator,
  createAccountsAuthenticator,
  createFileService,
  createPasswordHasher,
  type FileEvent,
  type FileService,
  HttpError,
  type KeyValueStore,
  type PasswordHasher,
  type StorageAdapter,
} from "fileferry";
import { createVersionsStorage } from "fileferry/storage/versions";
import { createMemoryKeyValueStore } from "fileferry/stores/memory";

/** What differs between the runtimes. */
export interface ExampleOptions {
  readonly storage: StorageAdapter;
  /** Gets every event. */
  readonly onEvent: (event: FileEvent) => void;
  /** Default: a hasher in JavaScript, for every runtime. */
  readonly hasher?: PasswordHasher;
  /** Where sessions are stored. Default: the memory of the process, where failed logins always are. */
  readonly sessions?: KeyValueStore;
  /** The interactive page of the API. Default: there is none. */
  readonly apiPage?: ApiPage;
}

/** Who knows it can open the files of all accounts. */
export const LINKS_SECRET = "the secret of an example, which anybody can read";

export function createExampleService(options: ExampleOptions): FileService {
  const { onEvent: tell, hasher = createPasswordHasher(), sessions = createMemoryKeyValueStore(), apiPage } = options;
  const accounts = createAccountsAuthenticator({
    // Passwords as they are, for trying out: `fileferry hash-password` makes what should stand here.
    accounts: [
      {
        username: "alice",
        password: "secret",
        home_folder_path: "/alice",
        permissions: [["allow-full-control"], ["/locked | /locked/*", "allow-read", "allow-list"]],
        virtual_folders: [["/public", "/public"]],
      },
      { username: "guest", password: "guest", home_folder_path: "/alice", permissions: [["allow-read", "allow-list"]] },
    ],
    logger: quiet,
  });
  const storage = createVersionsStorage(options.storage);
  return createFileService({
    storage,
    versions: storage.versions,
    authentication: [accounts, createMembers("carol", "first password", hasher)],
    groups: { members: { allow_own_password_change: true } },
    metadataFields: { header: "X-Labels", keys: [{ name: "project" }, { name: "tag-*" }] },
    session: { store: sessions },
    cors: { origins: ["https://app.example"] },
    limits: { maxFileBytes: 4 * 1024 ** 3, loginStore: createMemoryKeyValueStore() },
    // Locks are in the memory of the process, too: several of them need a store that they share.
    webdav: {},
    digests: {},
    // For trying out: the secret of a real service is random, and comes from its environment.
    links: { secret: LINKS_SECRET, store: createMemoryKeyValueStore(), passwordHasher: hasher },
    triggers: {
      publish: {
        label: "Publish",
        run(_context, [member]) {
          if (member?.kind !== "file") throw new HttpError("unprocessable", "Only files can be published.");
        },
      },
    },
    ...(apiPage !== undefined && { apiPage }),
    onEvent: tell,
    logger: quiet,
  });
}

/**
 * A method of authentication of one's own, with an account that may change its password; here it is forgotten when the
 * process ends.
 */
function createMembers(name: string, initialPassword: string, hasher: PasswordHasher): Authenticator {
  let hash: Promise<string> | undefined;

  async function isRight(password: string): Promise<boolean> {
    hash ??= hasher.hash(initialPassword);
    return hasher.verify(password, await hash);
  }

  return {
    name: "members",
    async authenticate({ type, username, content }) {
      if (type !== "password") return { outcome: "unknown" };
      // Verified also for other names, so that the time does not reveal which exist.
      const matches = await isRight(content);
      if (username !== name) return { outcome: "unknown" };
      return matches ? { outcome: "accepted", account: { group: "members" } } : { outcome: "rejected" };
    },
    async updatePassword({ username, currentPassword, newPassword, beforeChange }) {
      if (username !== name) return { outcome: "unknown" };
      if (!(await isRight(currentPassword))) return { outcome: "wrong-password" };
      const next = await hasher.hash(newPassword);
      await beforeChange?.();
      hash = Promise.resolve(next);
      return { outcome: "updated" };
    },
  };
}

/** Errors alone. */
const quiet = {
  info: () => undefined,
  warn: () => undefined,
  error(details: Readonly<Record<string, unknown>>, message: string): void {
    // biome-ignore lint/suspicious/noConsole: every runtime has this method.
    console.error(message, details);
  },
};
