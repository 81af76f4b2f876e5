import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { makeFolder, startServer } from "../support/built.ts";
import { hasRedis, redisNote, startRedis, type TestRedis } from "../support/redis.ts";
import { runInProcess } from "../support/run-in-process.ts";

async function configure(session: object = {}): Promise<string> {
  const config = join(await makeFolder(), "fileferry.json");
  const authentication = [{ type: "accounts", accounts: [{ username: "alice", password: "secret of alice" }] }];
  const storage = { type: "disk", root: await makeFolder() };
  const limits = { loginAttempts: 2 };
  await writeFile(config, JSON.stringify({ listen: { port: 0 }, storage, authentication, limits, ...session }));
  return config;
}

const HINT = "an address with too many failed logins stays locked out: name it by --address";

describe("fileferry unlock", () => {
  it("says with status 2 that only the process that serves knows failed logins in its memory", async () => {
    const config = await configure();
    const result = await runInProcess(["unlock", "alice", "--config", config]);
    expect(result).toMatchObject({ status: 2, stdout: "" });
    expect(result.stderr).toMatch(
      /fileferry\.json: session\.store: is missing: only the process that serves knows failed/,
    );
  });

  it.each([
    ["a name that is none", ["al\u0007ice"], "error: no account can have this name\n"],
    ["an address that is none", ["alice", "--address", "host"], "error: host is not an IP address\n"],
  ])("refuses %s", async (_case, args, stderr) => {
    const result = await runInProcess(["unlock", ...args, "--config", await configure()]);
    expect(result).toEqual({ status: 2, stdout: "", stderr });
  });

  it("says with status 1 that the store cannot be reached", async () => {
    const config = await configure({ session: { store: "redis://127.0.0.1:9" } });
    const result = await runInProcess(["unlock", "alice", "--config", config]);
    expect(result).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/session\.store: Redis at 127\.0\.0\.1:9/),
    });
  });
});

describe.skipIf(!hasRedis && process.env.CI === undefined)(`fileferry unlock with a store${redisNote}`, () => {
  let redis: TestRedis;

  beforeAll(async () => {
    redis = await startRedis();
  });
  afterAll(() => redis?.stop());

  it("lets an account of the running service log in again", async () => {
    const config = await configure({ session: { store: redis.url } });
    const { url } = await startServer(["serve", "--config", config]);
    const ask = async (password: string) => {
      const authorization = `Basic ${btoa(`alice:${password}`)}`;
      return (await fetch(`${url}home/`, { headers: { authorization, accept: "application/json" } })).status;
    };
    for (let count = 0; count < 2; count += 1) expect(await ask("a guess of eve")).toBe(401);
    expect(await ask("secret of alice")).toBe(401);
    const unlock = (...more: readonly string[]) => runInProcess(["unlock", "alice", "--config", config, ...more]);
    expect(await unlock()).toEqual({ status: 0, stdout: "unlock: alice\n", stderr: `warning: ${HINT}\n` });
    expect(await ask("secret of alice")).toBe(401);
    const mistyped = await runInProcess(["unlock", "alcie", "--config", config]);
    expect(mistyped).toEqual({
      status: 1,
      stdout: "",
      stderr: `error: no failed logins of alcie are counted; ${HINT}\n`,
    });
    expect(await unlock("--address", "127.0.0.1")).toMatchObject({ status: 0, stderr: "" });
    expect(await ask("secret of alice")).toBe(200);
    for (let count = 0; count < 2; count += 1) expect(await ask("a guess of eve")).toBe(401);
    expect(await runInProcess(["unlock", "alcie", "--address", "127.0.0.1", "--config", config])).toEqual({
      status: 0,
      stdout: "unlock: alcie\n",
      stderr: "warning: no failed logins of alcie are counted, only those of the address\n",
    });
  });
});
