import { once } from "node:events";
import { readFile, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { request } from "node:https";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { json, text } from "node:stream/consumers";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, runCommand, startServer, waitFor } from "../support/built.ts";
import { makeCertificate, NEW_KEY, runOpenssl } from "../support/certificates.ts";

const SERVER = "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902";
const COMPONENT = "dff314a6-c594-48dc-8e34-5270fd6cb635";
const TOKEN = "token 3f9c-not-for-any-log";

interface Asked {
  readonly headers: IncomingMessage["headers"];
  readonly body: {
    readonly credentials: { readonly username: string; readonly content: string; readonly type: string };
  };
}

beforeAll(ensureBuilt, 300_000);

/** A remote endpoint that knows alice, with `secret`; the requests that it got, but for the test of the start. */
async function startEndpoint(): Promise<{ url: string; asked: Asked[] }> {
  const asked: Asked[] = [];
  const server = createServer((req, res) => void answer(req, res));

  async function answer(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const body = (await json(req)) as Asked["body"];
    const { username, content, type } = body.credentials;
    if (username === "alice") asked.push({ headers: req.headers, body });
    if (username !== "alice") res.writeHead(401, { "content-type": "text/plain" }).end("Who?");
    else if (type === "password" && content !== "secret") {
      const rejection = { code: 7, message: "Locked.", extra: "audit only", public_response: { hint: "call us" } };
      res.writeHead(403, { "content-type": "application/json" }).end(JSON.stringify(rejection));
    } else {
      const account = { home_folder_path: "/teams/alice", permissions: [["allow-list", "allow-read"]] };
      res.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ account }));
    }
  }

  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`, asked };
}

async function writeConfig(method: object, more: object = {}): Promise<string> {
  const folder = await makeFolder();
  const config = {
    listen: { port: 0 },
    storage: { type: "memory" },
    server: { uuid: SERVER },
    component: { uuid: COMPONENT },
    authentication: [
      { type: "accounts", accounts: [{ username: "bob", password: "hunter2" }] },
      { type: "http", headers: `Authorization: ${TOKEN}`, ...method },
    ],
    ...more,
  };
  const file = join(folder, "fileferry.json");
  await writeFile(file, JSON.stringify(config));
  return file;
}

function login(url: string, username: string, password: string): Promise<Response> {
  const headers = { "content-type": "application/json" };
  return fetch(`${url}__svc__/login`, { method: "POST", headers, body: JSON.stringify({ username, password }) });
}

describe("fileferry serve with an external method", () => {
  it("asks the endpoint with the body of the spec, and uses the account that it answers (2.3, 2.4, 4.7)", async () => {
    const { url, asked } = await startEndpoint();
    const { url: service } = await startServer(["serve", "--config", await writeConfig({ url })]);
    const answer = await login(service, "alice", "secret");
    expect(answer.status).toBe(200);
    const [{ session }] = ((await answer.json()) as { results: [{ session: string }] }).results;
    const put = await fetch(`${service}home/x`, {
      method: "PUT",
      body: "x",
      headers: { authorization: `session ${session}` },
    });
    expect(put.status).toBe(403);

    expect(asked).toHaveLength(1);
    expect(asked[0]?.headers).toMatchObject({
      authorization: TOKEN,
      "content-type": "application/json; charset=utf-8",
    });
    expect(asked[0]?.body).toEqual({
      credentials: {
        type: "password",
        username: "alice",
        content: "secret",
        peer: { address: "127.0.0.1", port: expect.any(Number), family: "IPv4", protocol: "TCP" },
        creator: { uuid: COMPONENT, type: "http" },
      },
      server: { uuid: SERVER },
    });
  });

  it("asks it for accounts alone that the methods before do not know (7.2)", async () => {
    const { url, asked } = await startEndpoint();
    const { url: service } = await startServer(["serve", "--config", await writeConfig({ url })]);
    expect((await login(service, "bob", "hunter2")).status).toBe(200);
    expect((await login(service, "bob", "wrong")).status).toBe(401);
    expect((await login(service, "carol", "secret")).status).toBe(401);
    expect(asked).toEqual([]);
  });

  it.each([
    [false, { message: "The user name or password is wrong." }],
    [true, { message: "Locked.", response: { hint: "call us" } }],
  ])("with publicError %s tells a rejected client what that shows (7.2)", async (publicError, error) => {
    const { url } = await startEndpoint();
    const run = await startServer(["serve", "--config", await writeConfig({ url }, { publicError })]);
    const answer = await login(run.url, "alice", "wrong");
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({ errors: [{ ...error, title: "Unauthorized" }] });
    expect(run.stderr()).not.toMatch(/audit only|wrong"|3f9c/);
  });

  it("hands over a client certificate, as PEM (5.2, CONTRACT 6.7)", async () => {
    const { url, asked } = await startEndpoint();
    const folder = await makeCertificates();
    const tls = { key: join(folder, "server.key"), cert: join(folder, "server.crt"), ca: join(folder, "ca.crt") };
    const config = await writeConfig({ url }, { listen: { port: 0, tls } });
    const { url: service } = await startServer(["serve", "--config", config]);
    const [key, cert] = await Promise.all([
      readFile(join(folder, "alice.key")),
      readFile(join(folder, "alice.crt"), "utf8"),
    ]);
    const status = await new Promise((resolve, reject) => {
      const options = { key, cert, rejectUnauthorized: false, headers: { accept: "application/json" } };
      request(`${service}home/`, options, (res) => text(res).then(() => resolve(res.statusCode), reject))
        .on("error", reject)
        .end();
    });
    expect(status).toBe(200);
    expect(asked[0]?.body).toMatchObject({
      credentials: {
        type: "ssl-certificate",
        username: "alice",
        content: cert,
        creator: { uuid: COMPONENT, type: "https" },
      },
    });
  });

  it("does not start when no URL answers: status 1, and a line that says why (CONTRACT 9.3)", async () => {
    const closed = await findClosedPort();
    const file = await writeConfig({ url: `http://127.0.0.1:${closed}/auth?key=3f9c` });
    const { status, stdout, stderr } = await runCommand(["serve", "--config", file]);
    expect({ status, stdout }).toEqual({ status: 1, stdout: "" });
    expect(stderr).toMatch(/^error: [^\n]*http:\/\/127\.0\.0\.1:\d+\/auth[^\n]*connection refused[^\n]*\n$/m);
    expect(stderr).not.toContain("3f9c");
  });

  it("starts all the same with testAtStart false; a login then fails, and the log says why (CONTRACT 9.3)", async () => {
    const closed = await findClosedPort();
    const file = await writeConfig({ url: `http://127.0.0.1:${closed}/auth`, testAtStart: false });
    const run = await startServer(["serve", "--config", file]);
    const answer = await login(run.url, "alice", "secret");
    expect(answer.status).toBe(401);
    expect(await answer.json()).toEqual({
      errors: [{ message: "The user name or password is wrong.", title: "Unauthorized" }],
    });
    await waitFor(() => /"reason":"unavailable"/.exec(run.stderr()) ?? undefined, run);
    expect(run.stderr()).toMatch(/connection refused/);
    expect(run.stderr()).not.toContain("secret");
  });
});

/** Returns a port on which nothing listens. */
async function findClosedPort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  await once(server, "close");
  return port;
}

/** A server's certificate, and alice's by an authority. */
async function makeCertificates(): Promise<string> {
  const folder = await makeFolder();
  makeCertificate(folder, { key: "server.key", cert: "server.crt" });
  makeCertificate(folder, { subject: "/CN=authority", key: "ca.key", cert: "ca.crt" });
  runOpenssl(folder, "req", ...NEW_KEY, "-subj", "/CN=alice", "-keyout", "alice.key", "-out", "alice.csr");
  const authority = ["-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial"];
  runOpenssl(folder, "x509", "-req", "-in", "alice.csr", ...authority, "-days", "2", "-out", "alice.crt");
  return folder;
}
