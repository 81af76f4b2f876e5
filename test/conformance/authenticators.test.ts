import { scryptSync } from "node:crypto";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../src/auth/accounts/accounts.ts";
import { createAccountsFileAuthenticator } from "../../src/auth/accounts/accounts-file-node.ts";
import { createAuthenticationChain } from "../../src/auth/chain.ts";
import type { Authenticator } from "../../src/contracts/authenticator.ts";
import { createHttpAuthenticator } from "../../src/remote-auth/http-authenticator.ts";
import { authenticatorCases } from "../../src/testing/authenticator-cases.ts";
import { createRecordingLogger } from "../support/logger.ts";
import {
  type Answering,
  answerWith,
  type RemoteServer,
  SUCCESS,
  serveRemote,
} from "../unit/remote-auth/remote-server.ts";

/** Of "password", at a cost that suits tests. */
const phc = `$scrypt$ln=4,r=8,p=1$${toBase64("somesalt")}$${toBase64(scryptSync("password", "somesalt", 32, { N: 16, r: 8, p: 1 }))}`;
const settings = { home_folder_path: "/home of alice", uuid: "u-1", email: "", create_home_folder: true };
const ownSettings = { group: "staff", permissions: [["allow-read"]], max_file_bytes: 5, allow_links: false };
const hashed = [{ username: "alice", password: phc, ...settings, ...ownSettings }];
const plain = [{ username: "alice", password: "password" }];

const folder = mkdtempSync(join(tmpdir(), "fileferry-authenticators-"));
const file = join(folder, "accounts.json");
writeFileSync(file, JSON.stringify({ accounts: hashed }));
afterAll(() => rmSync(folder, { recursive: true }));

const known = { username: "alice", password: "password", unknownUsername: "carol" };

const ours: Record<string, Authenticator> = {
  "accounts in code": createAccountsAuthenticator({ accounts: hashed }),
  "accounts in code, plain text": createAccountsAuthenticator({ accounts: plain }),
  "accounts in a file": createAccountsFileAuthenticator({ file }),
};

describe.each(Object.entries(ours))("the authenticator cases × %s", (_name, authenticator) => {
  it.each(authenticatorCases)("$name", ({ run }) => run({ ...known, authenticator }));
});

describe("the authenticator cases × a chain of them", () => {
  const others = createAccountsAuthenticator({ accounts: [{ username: "bob", password: "password" }] });
  const { lookup: _lookup, ...chain } = createAuthenticationChain([others, ...Object.values(ours)]);
  const isCurrent = async (...version: [string, string]) => (await chain.isCurrent(...version)) === true;
  const authenticator = { name: "chain", ...chain, isCurrent };
  it.each(authenticatorCases)("$name", ({ run }) => run({ ...known, authenticator }));
});

describe.each([
  ["its wrong passwords rejected", 403, "rejected"],
  ["its wrong passwords handed on", 401, "unknown"],
] as const)("the authenticator cases × an external endpoint, %s", (_name, status, onWrongPassword) => {
  let remote: RemoteServer;
  let authenticator: Authenticator;

  /** An endpoint that has the one account. */
  const judge: Answering = (response, request, message) => {
    const { type, username, content } = JSON.parse(request.body.toString("utf8")).credentials;
    const isKnown = type === "password" && username === "alice";
    const isRight = isKnown && content === "password";
    const accepted = answerWith(200, JSON.stringify({ account: settings }));
    const answer = isRight ? accepted : answerWith(isKnown ? status : 401);
    answer(response, request, message);
  };

  beforeAll(async () => {
    remote = await serveRemote(judge);
    const down = await serveRemote(SUCCESS);
    await down.close();
    const logger = createRecordingLogger();
    authenticator = createHttpAuthenticator({ url: [down.url, remote.url], logger });
    await authenticator.start?.();
  });
  afterAll(() => remote.close());

  it.each(authenticatorCases)("$name", ({ run }) => run({ ...known, authenticator, onWrongPassword }));
});

describe("the authenticator cases fail", () => {
  const good = createAccountsAuthenticator({ accounts: plain });
  const account = {};
  const broken: Record<string, Authenticator["authenticate"]> = {
    "one that lets everybody in": async () => ({ outcome: "accepted", account }),
    "one that lets nobody in": async () => ({ outcome: "rejected" }),
    "one that trims names": (given) => good.authenticate({ ...given, username: given.username.trim() }),
    "one that trims passwords": (given) => good.authenticate({ ...given, content: given.content.trim() }),
    "one that cuts passwords at NUL": (given) =>
      good.authenticate({ ...given, content: given.content.split("\0")[0] ?? "" }),
    "one that takes any type for a password": (given) => good.authenticate({ ...given, type: "password" }),
    "one that gives unknown members": async (given) => {
      const verdict = await good.authenticate(given);
      return verdict.outcome === "accepted" ? { ...verdict, account: { quota: 1 } as object } : verdict;
    },
    "one that gives no verdict": async () => undefined as never,
  };

  it.each(Object.entries(broken))("%s", async (_name, authenticate) => {
    const runs = authenticatorCases.map(({ run }) =>
      run({ ...known, authenticator: { name: "broken", authenticate } }),
    );
    const results = await Promise.allSettled(runs);
    expect(results.some(({ status }) => status === "rejected")).toBe(true);
  });
});

function toBase64(bytes: string | Buffer): string {
  return Buffer.from(bytes).toString("base64").replaceAll("=", "");
}
