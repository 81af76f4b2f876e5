import { once } from "node:events";
import { connect } from "node:net";
import { join } from "node:path";
import { createAccountsAuthenticator } from "fileferry";
import ssh2 from "ssh2";
import { afterAll, beforeAll, describe, expect, it, onTestFinished, vi } from "vitest";
import { createRecordingLogger } from "../../support/logger.ts";
import { connectRaw, findMissingTool, makeKey, runSftp } from "./client.ts";
import { COMPONENT, createSftpEnvironment, type SftpEnvironment } from "./environment.ts";

const missing = findMissingTool();
const title =
  missing === undefined
    ? "a login to examples/sftp-server.ts"
    : `a login to examples/sftp-server.ts, not run: there is no ${missing} here`;
let environment: SftpEnvironment;

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(async () => {
    environment = await createSftpEnvironment();
  }, 60_000);

  afterAll(async () => {
    await environment?.close();
  });

  it("asks the endpoint about the key that has signed, as authorized_keys has it (2.3)", async () => {
    environment.asked.length = 0;
    expect(await environment.run("pwd")).toMatchObject({ status: 0, stdout: expect.stringContaining(": /\n") });
    expect(environment.asked).toEqual([
      {
        type: "ssh-key",
        username: "alice",
        content: environment.key.publicKey,
        peer: { address: "127.0.0.1", port: expect.any(Number), family: "IPv4", protocol: "TCP" },
        creator: { uuid: COMPONENT, type: "ssh" },
      },
    ]);
  });

  it("takes the second key when the first one is nobody's", async () => {
    const { status } = await runSftp(
      environment.local,
      { ...environment.access, keys: [environment.stranger.path, environment.key.path] },
      ["pwd"],
    );
    expect(status).toBe(0);
  });

  it.each(["rsa", "ecdsa"])("takes keys of type %s too", async (type) => {
    const other = makeKey(join(environment.local, `${type}_key`), type);
    environment.asked.length = 0;
    await runSftp(environment.local, { ...environment.access, keys: [other.path] }, ["pwd"]);
    expect(environment.asked.map(({ content }) => content)).toEqual([other.publicKey]);
  });

  it("by a key that is nobody's is refused", async () => {
    const { status, stderr } = await runSftp(
      environment.local,
      { ...environment.access, keys: [environment.stranger.path] },
      ["pwd"],
    );
    expect({ status, stderr }).toEqual({ status: 255, stderr: expect.stringContaining("Permission denied") });
  });

  it("by password is that of the accounts", async () => {
    const byPassword = { port: environment.access.port, username: "bob", password: "hunter2" };
    expect((await runSftp(environment.local, byPassword, ["pwd"])).status).toBe(0);
    const { status, stderr } = await runSftp(environment.local, { ...byPassword, password: "wrong" }, ["pwd"]);
    expect({ status, stderr }).toEqual({ status: 255, stderr: expect.stringContaining("Permission denied") });
  });

  it("says of every key that it may be tried, and asks nobody about one that has not signed", async () => {
    // That it is asked to sign follows on the acceptance alone.
    expect(await tryAgent(environment.stranger.publicKey, undefined)).toBe(1);
    expect(environment.asked).toEqual([]);
  });

  it("by a right key with a wrong signature is refused, and nobody is asked", async () => {
    expect(await tryAgent(environment.key.publicKey, Buffer.alloc(64, 1))).toBe(1);
    expect(environment.asked).toEqual([]);
  });

  it("that fails too often ends the connection", async () => {
    const port = await environment.startAnother({ maxFailures: 2 });
    const client = new ssh2.Client();
    const attempts = vi.fn();
    client.on("error", () => undefined);
    client.connect({
      host: "127.0.0.1",
      port,
      username: "bob",
      authHandler: (_methods, _partial, next) => {
        attempts();
        next({ type: "password", username: "bob", password: "wrong" });
      },
    });
    await new Promise<void>((resolve) => client.on("close", () => resolve()));
    expect(attempts.mock.calls.length).toBeLessThanOrEqual(3);
  });

  it("that does not come ends the connection, also one that says nothing", async () => {
    const port = await environment.startAnother({ loginSeconds: 0.3 });
    const silent = connect(port, "127.0.0.1").on("error", () => undefined);
    silent.resume();
    await once(silent, "close");
  });

  it("to an account that cannot be used is refused, and the log knows why", async () => {
    const accounts = [{ username: "bob", password: "hunter2", group: "nobody" }];
    const logger = createRecordingLogger();
    const port = await environment.startAnother({
      authentication: [createAccountsAuthenticator({ accounts, logger })],
      logger,
    });
    await expect(connectRaw({ port, username: "bob", password: "hunter2" })).rejects.toThrow(/authentication/);
    expect(logger.text()).toContain("group: is not a configured group");
  });
});

/** Logs alice in with an agent that signs like this, or not at all, and has to fail; how often it was asked to sign. */
async function tryAgent(publicKey: string, signature: Buffer | undefined): Promise<number> {
  environment.asked.length = 0;
  const client = new ssh2.Client();
  const [onReady, onSign] = [vi.fn(() => void client.end()), vi.fn()];
  const agent: InstanceType<typeof ssh2.BaseAgent> = Object.assign(Object.create(ssh2.BaseAgent.prototype), {
    getIdentities: (done: (error: Error | null, keys: string[]) => void) => done(null, [publicKey]),
    sign: (...args: unknown[]) => {
      onSign();
      const done = args.findLast((arg) => typeof arg === "function") as (error: Error | null, bytes?: Buffer) => void;
      done(signature === undefined ? new Error("This agent signs nothing.") : null, signature);
    },
  });
  client.on("error", () => undefined).on("ready", onReady);
  client.connect({ host: "127.0.0.1", port: environment.access.port, username: "alice", agent });
  onTestFinished(() => void client.end());
  await new Promise<void>((resolve) => client.on("close", () => resolve()));
  expect(onReady).not.toHaveBeenCalled();
  return onSign.mock.calls.length;
}
