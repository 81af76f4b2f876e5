import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Request } from "@whatwg-node/fetch";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createFileService } from "../../../src/service/service.ts";
import { changeGuard, readGuard } from "../../../src/storage/disk/latency-guard.ts";
import { createDiskStorage } from "../../../src/storage/disk.ts";
import { basic } from "../../support/service.ts";
import { openDescriptors, struck, watchCalls } from "./failing-calls.ts";
import type { Operation } from "./operations.ts";

/** What is on the disk: of each path the content, or `/` for a folder. */
export type State = ReadonlyMap<string, string>;

/** What a client got. */
export interface Got {
  readonly status: number;
  readonly headers: Headers;
  /** `undefined` where it broke off. */
  readonly body: Uint8Array | undefined;
}

/** A service on a folder of a disk, which is put into its first state again and again. */
export interface Environment {
  readonly root: string;
  /** Ends when the storage has looked for leftovers of ended processes, as it does when it begins. */
  settle(): Promise<void>;
  reset(): void;
  /** Has the service make its calls at once, or in other threads. */
  setPace(isQuick: boolean): void;
  send(operation: Pick<Operation, "method" | "target" | "headers" | "body" | "as">): Promise<Got>;
  /** What a client could find, and how many unfinished files and folders are beside it. */
  look(): { readonly state: State; readonly unfinished: number };
  /** Returns how many entries the log has got since the last call. */
  takeTold(): number;
  remove(): void;
}

const SHARED_MEMORY = "/dev/shm";
/** Where folders are made: in memory where there is such a disk. Its `fsync` takes no time. */
export const QUICK_DISK = existsSync(SHARED_MEMORY) ? SHARED_MEMORY : tmpdir();
const NOBODY = 65_534;
const PASSWORDS = { alice: "secret", bob: "hunter2" };

const FILES: Readonly<Record<string, string>> = {
  file: "former content",
  "tree/a": "content of a",
  "tree/b": "content of b",
  "tree/inner/c": "content of c",
  "other/d": "content of d",
  "long/large": "large ".repeat(33_000),
};

/** Makes one. */
export function createEnvironment(): Environment {
  const folder = mkdtempSync(join(QUICK_DISK, "fileferry-errno-"));
  const root = join(folder, "root");
  let told = 0;
  const tell = () => {
    told += 1;
  };
  const logger = { info: () => undefined, warn: tell, error: tell };
  reset();
  const owner = { create_home_folder_owner: String(process.getuid?.() ?? 0) };
  const accounts = [
    { username: "alice", password: PASSWORDS.alice, home_folder_path: "/" },
    { username: "bob", password: PASSWORDS.bob, home_folder_path: "/bob", ...owner },
  ];
  const authentication = createAccountsAuthenticator({ accounts, logger: { ...logger, warn: () => undefined } });
  watchCalls(root);
  // Each request is a first login: it makes a home folder that is missing.
  const options = { authentication, logger, basicCacheSeconds: 0, webdav: {} };
  const service = createFileService({ storage: createDiskStorage({ root }), ...options });

  async function settle(): Promise<void> {
    for (let seen = -1; seen !== struck().counts.get("closedir") || openDescriptors() > 0; ) {
      seen = struck().counts.get("closedir") ?? 0;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }

  function reset(): void {
    rmSync(root, { recursive: true, force: true });
    for (const path of ["tree/inner", "other", "long"]) mkdirSync(join(root, path), { recursive: true });
    for (const [path, content] of Object.entries(FILES)) writeFileSync(join(root, path), content);
    // What an overwrite keeps: another one's permissions, and where the process may give files away another owner.
    chmodSync(join(root, "file"), 0o604);
    if (process.getuid?.() === 0) chownSync(join(root, "file"), NOBODY, NOBODY);
    for (const path of [...Object.keys(FILES), "tree/inner", "tree", "other", "long", ""])
      utimesSync(join(root, path), 1e9, 1e9);
  }

  async function send({ method, target, headers = {}, body, as }: Parameters<Environment["send"]>[0]) {
    const content = body?.();
    const length = content instanceof Uint8Array ? { "content-length": String(content.byteLength) } : {};
    const request = new Request(`http://files.example${target}`, {
      method,
      headers: { authorization: basic(as ?? "alice", PASSWORDS[as ?? "alice"]), ...length, ...headers },
      ...(content !== undefined && { body: content as BodyInit, duplex: "half" }),
    });
    const response = await service.fetch(request, {});
    const read = response.arrayBuffer().then(
      (bytes) => new Uint8Array(bytes),
      () => undefined,
    );
    return { status: response.status, headers: response.headers, body: await read };
  }

  function look() {
    const state = new Map<string, string>();
    let unfinished = 0;
    for (const path of readdirSync(root, { recursive: true, encoding: "utf8" })) {
      const isFolder = lstatSync(join(root, path)).isDirectory();
      if (/(^|\/)\.fileferry-/.test(path)) unfinished += 1;
      else state.set(path, isFolder ? "/" : readFileSync(join(root, path), "latin1"));
    }
    return { state, unfinished };
  }

  function setPace(isQuick: boolean): void {
    for (const guard of [readGuard, changeGuard]) guard.isFast = () => isQuick;
  }

  function takeTold(): number {
    const before = told;
    told = 0;
    return before;
  }

  const remove = () => rmSync(folder, { recursive: true });
  return { root, settle, reset, setPace, send, look, takeTold, remove };
}
