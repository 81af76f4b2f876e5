import {
  chmodSync,
  chownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { Request } from "@whatwg-node/fetch";
import { createAccountsFileAuthenticator } from "../../../src/auth/accounts/accounts-file-node.ts";
import { createFileService } from "../../../src/service/service.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { quickHasher } from "../../support/quick-hasher.ts";
import { type Got, QUICK_DISK } from "./environment.ts";
import { watchCalls } from "./failing-calls.ts";

/** The passwords before and after. */
export const PASSWORDS = { former: "the former password", next: "the next password" };

/** An accounts file, and a service that has just started with it. */
export interface AccountsEnvironment {
  readonly root: string;
  /** Changes alice's password, as herself in a session. */
  update(): Promise<Got>;
  /** The status of a login with one of the passwords, when it is time to look for a later version of the file. */
  logIn(password: string): Promise<number>;
  /** What the next start of a service leaves beside the file, a minute later where that is said. */
  restart(isLater: boolean): Promise<readonly string[]>;
}

const PASSING = 2000;
const LONG_AGO = 1e9;
const NOBODY = 65_534;
/** The group may read the file, and other users may not. */
const MODE = 0o640;
const quiet = { info: () => undefined, warn: () => undefined, error: () => undefined };

/** Makes a folder for such environments; what is called below it can be made to fail. */
export function createAccountsFolder(): { readonly root: string; remove(): void } {
  const folder = mkdtempSync(join(QUICK_DISK, "fileferry-errno-"));
  const root = join(folder, "root");
  watchCalls(root);
  return { root, remove: () => rmSync(folder, { recursive: true }) };
}

/** A new file with a leftover beside it, and a service in which alice has a session. */
export async function createAccountsEnvironment(root: string): Promise<AccountsEnvironment> {
  const file = await createFile(root);
  let time = 0;
  const options = { file, passwordHasher: quickHasher, logger: quiet, clock: () => time };
  const authentication = createAccountsFileAuthenticator(options);
  const service = createFileService({ storage: createMemoryStorage(), authentication, logger: quiet });

  async function post(target: string, headers: Record<string, string>, fields: object): Promise<Got> {
    const own = { accept: "application/json", "content-type": "application/json", ...headers };
    const body = JSON.stringify(fields);
    const response = await service.fetch(new Request(`http://x${target}`, { method: "POST", headers: own, body }), {});
    return { status: response.status, headers: response.headers, body: new Uint8Array(await response.arrayBuffer()) };
  }

  const logInWith = (password: string) => post("/__svc__/login", {}, { username: "alice", password });

  async function logIn(password: string): Promise<number> {
    time += PASSING;
    return (await logInWith(password)).status;
  }

  const { body } = await logInWith(PASSWORDS.former);
  const [{ session }] = JSON.parse(String(Buffer.from(body ?? []))).results;
  // Of a process that ended since.
  createLeftover(root);

  function update(): Promise<Got> {
    const fields = { current_password: PASSWORDS.former, new_password: PASSWORDS.next };
    return post("/home/__svc__/password-update", { authorization: `session ${session}` }, fields);
  }

  async function restart(isLater: boolean): Promise<readonly string[]> {
    const names = () => readdirSync(root).filter((name) => name !== "accounts.json");
    if (isLater) for (const name of names()) utimesSync(join(root, name), LONG_AGO, LONG_AGO);
    await createAccountsFileAuthenticator(options).start?.();
    return names();
  }

  return { root, update, logIn, restart };
}

async function createFile(root: string): Promise<string> {
  const file = join(root, "accounts.json");
  rmSync(root, { recursive: true, force: true });
  mkdirSync(root);
  const password = await quickHasher.hash(PASSWORDS.former);
  const others = { username: "bob", password: await quickHasher.hash("bob's own password"), email: "bob@example" };
  writeFileSync(file, JSON.stringify({ accounts: [{ username: "alice", password, uuid: "1" }, others] }));
  chmodSync(file, MODE);
  // What a rewrite keeps, where the process may give files away.
  if (process.getuid?.() === 0) chownSync(file, NOBODY, NOBODY);
  return file;
}

function createLeftover(root: string): void {
  const leftover = join(root, ".accounts.json.01234567-1-1-0000000000000000.tmp");
  writeFileSync(leftover, "{");
  utimesSync(leftover, LONG_AGO, LONG_AGO);
}

/** Which password a file has, once all else in it is as it was; `undefined` where it is not. */
export async function passwordIn(root: string): Promise<keyof typeof PASSWORDS | undefined> {
  const file = join(root, "accounts.json");
  const { accounts } = JSON.parse(readFileSync(file, "utf8"));
  const [alice, bob] = accounts;
  const isKept = accounts.length === 2 && alice.uuid === "1" && bob.email === "bob@example";
  if (!isKept || (statSync(file).mode & 0o777 & ~MODE) !== 0) return undefined;
  if (alice.password === (await quickHasher.hash(PASSWORDS.former))) return "former";
  return alice.password === (await quickHasher.hash(PASSWORDS.next)) ? "next" : undefined;
}
