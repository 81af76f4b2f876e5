import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { connect } from "node:net";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { text } from "node:stream/consumers";
import { build } from "esbuild";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createEsbuildAssets } from "../../build/assets.ts";
import type { Credentials } from "../../src/contracts/authenticator.ts";
import { createHttpAuthenticator } from "../../src/remote-auth/http-authenticator.ts";
import { type EndpointCaseContext, isPlayable } from "../../src/testing/endpoint/case.ts";
import { endpointCases } from "../../src/testing/endpoint-cases.ts";
import { projectFolder } from "../support/built.ts";
import { createRecordingLogger } from "../support/logger.ts";

const TOKEN = "s3cret";
const PASSWORD = "correct horse battery";
const KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl";
const CONTEXT: Omit<EndpointCaseContext, "url"> = {
  headers: { Authorization: `token ${TOKEN}` },
  account: { username: "alice", password: PASSWORD },
};

let folder: string;
let program: string;
let child: ChildProcess;
let url: string;

/** Bundles the example with the sources of the package: Node 20 runs no TypeScript. */
beforeAll(async () => {
  // Inside the project, so that the packages which stay outside are found.
  const cache = join(projectFolder, "node_modules/.cache/fileferry");
  await mkdir(cache, { recursive: true });
  folder = await mkdtemp(join(cache, "example-"));
  program = join(folder, "endpoint.mjs");
  await build({
    entryPoints: [join(projectFolder, "examples/authentication-endpoint.ts")],
    outfile: program,
    bundle: true,
    plugins: [createEsbuildAssets()],
    format: "esm",
    platform: "node",
    packages: "external",
    alias: { fileferry: join(projectFolder, "src/index.ts"), "fileferry/node": join(projectFolder, "src/node.ts") },
    logLevel: "silent",
  });
  child = spawn(process.execPath, [program], {
    env: { ...process.env, AUTH_TOKEN: TOKEN, PORT: "0" },
    stdio: ["ignore", "pipe", "inherit"],
  });
  for await (const line of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
    url = /^Listening on (\S+)$/.exec(line)?.[1] ?? "";
    break;
  }
}, 60_000);

afterAll(async () => {
  if (child?.exitCode === null) {
    child.kill("SIGKILL");
    await once(child, "close");
  }
  await rm(folder, { recursive: true, force: true });
});

describe("examples/authentication-endpoint.ts", () => {
  for (const each of endpointCases) {
    if (isPlayable(each, { ...CONTEXT, url: "" })) it(`${each.name} (7.2)`, () => each.run({ ...CONTEXT, url }));
  }

  it.each<[string, Pick<Credentials, "type" | "username" | "content">, object]>([
    [
      "a user by the password, with the account's settings",
      { type: "password", username: "alice", content: PASSWORD },
      { outcome: "accepted", account: { email: "alice@example.com" } },
    ],
    [
      "a user by the SSH key, whatever its comment",
      { type: "ssh-key", username: "alice", content: `${KEY} alice@desk` },
      { outcome: "accepted" },
    ],
    [
      "a user who leaves all to the group",
      { type: "password", username: "bob", content: "a quiet night in May" },
      { outcome: "accepted", account: {} },
    ],
    ["no user by another's key", { type: "ssh-key", username: "bob", content: KEY }, { outcome: "rejected" }],
    ["no user by a certificate", { type: "ssl-certificate", username: "bob", content: "PEM" }, { outcome: "rejected" }],
    [
      "no wrong password",
      { type: "password", username: "bob", content: PASSWORD },
      { outcome: "rejected", reason: "credentials", message: "The credentials are wrong." },
    ],
    [
      "nobody whom it does not know",
      { type: "password", username: "constructor", content: PASSWORD },
      { outcome: "unknown", message: "No such user here." },
    ],
  ])("accepts %s, when a service asks (4.7)", async (_case, credentials, verdict) => {
    const headers = `Authorization: token ${TOKEN}`;
    const authenticator = createHttpAuthenticator({ url, headers, logger: createRecordingLogger() });
    expect(await authenticator.authenticate(credentials)).toMatchObject(verdict);
  });

  it("answers 413 to a body that is too large, whether its length is announced or not", async () => {
    const { hostname, port } = new URL(url);
    const head = `POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Type: application/json\r\nAuthorization: token ${TOKEN}\r\n`;
    const content = " ".repeat(300_000);
    for (const rest of [
      `Content-Length: ${content.length}\r\n\r\n${content}`,
      `Transfer-Encoding: chunked\r\n\r\n${content.length.toString(16)}\r\n${content}`,
    ]) {
      const socket = connect(Number(port), hostname);
      socket.write(`${head}${rest}`);
      expect(await text(socket)).toMatch(/^HTTP\/1\.1 413 /);
    }
  });

  it("outlives clients that go away or speak an odd method", async () => {
    const { hostname, port } = new URL(url);
    for (const request of [
      "TRACE / HTTP/1.1\r\nHost: x\r\n\r\n",
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n{",
    ]) {
      const socket = connect(Number(port), hostname);
      socket
        .on("error", () => undefined)
        .resume()
        .end(request);
      await once(socket, "close");
    }
    expect((await fetch(url)).status).toBe(405);
  });

  it("does not start without the secret of the service (5.2)", async () => {
    const { AUTH_TOKEN: _, ...env } = process.env;
    const failing = spawn(process.execPath, [program], { env, stdio: ["ignore", "ignore", "pipe"] });
    const [printed, [status]] = await Promise.all([text(failing.stderr), once(failing, "close")]);
    expect(status).toBe(1);
    expect(printed).toContain("AUTH_TOKEN");
  });

  it("ends on SIGTERM", async () => {
    child.kill("SIGTERM");
    const [status] = await once(child, "close");
    expect(status).toBe(0);
  });
});
