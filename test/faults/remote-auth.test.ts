import { execFile } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { promisify } from "node:util";
import { build } from "esbuild";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { CREDENTIAL_TYPES } from "../../src/contracts/authenticator.ts";
import { createHttpAuthenticator } from "../../src/remote-auth/http-authenticator.ts";
import { MAX_MESSAGE_BYTES } from "../../src/schemas/remote-auth.ts";
import { projectFolder } from "../support/built.ts";
import { hasOpenssl, makeCertificate, NEW_KEY, runOpenssl } from "../support/certificates.ts";
import { createRecordingLogger } from "../support/logger.ts";
import {
  type Answering,
  answerWith,
  createAsked,
  type RemoteServer,
  SUCCESS,
  serveRemote,
  toClose,
} from "../unit/remote-auth/remote-server.ts";

const unhandled: unknown[] = [];
const keep = (reason: unknown): void => void unhandled.push(reason);
beforeAll(() => void process.on("unhandledRejection", keep));
afterAll(() => void process.off("unhandledRejection", keep));

const opened: { close(): Promise<void> }[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each.close();
  await new Promise((resolve) => setImmediate(resolve));
  expect(unhandled).toEqual([]);
});

/** Serves until the test ends, which waits for the last connection to be closed. */
async function serve(...parameters: Parameters<typeof serveRemote>): Promise<RemoteServer> {
  const remote = await serveRemote(...parameters);
  opened.push(remote);
  return remote;
}

/** A server below HTTP: it answers the bytes of a request with what it likes. Answers its URL. */
async function serveRaw(answer: (socket: Socket) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    socket.once("data", () => answer(socket));
  });
  opened.push({ close: toClose(server) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/auth`;
}

/** Asks a URL that gives no answer: the next one, which needs no time, is asked, and this one suspended. */
async function expectNoAnswer(
  url: string,
  details: string | RegExp,
  options: { readonly timeoutSeconds?: number } = {},
): Promise<void> {
  const next = "https://next.invalid/auth";
  const order: string[] = [];
  const send: typeof fetch = async (input, init) => {
    order.push(String(input));
    return input === next ? new Response(null, { status: 204 }) : fetch(input, init);
  };
  const asked = createAsked({ url: [url, next], fetch: send, ...options });
  const expected = typeof details === "string" ? details : expect.stringMatching(details);
  expect(await asked.ask()).toMatchObject({ outcome: "accepted", audit: { url: next } });
  expect(order).toEqual([url, next]);
  expect(asked.events).toMatchObject([{ id: 40042, data: { url, details: expected, suspended: 300 } }]);
  const alone = await createAsked({ url, ...options }).ask();
  expect(alone).toMatchObject({ outcome: "rejected", reason: "unavailable" });
  expect(alone.audit).toEqual({ problems: [expect.stringContaining(`${url}: `)] });
}

/** How long after its deadline an answer may come on a machine that is busy. */
const patience = 5000;

describe("a URL of createHttpAuthenticator that fails (7.2, CONTRACT 9.2)", () => {
  it("refuses the connection", async () => {
    const { origin, close } = await serveRemote();
    await close();
    await expectNoAnswer(`${origin}/auth`, "connection refused");
  });

  it("has a name that nobody knows", async () => {
    // RFC 6761 6.4. "Cannot be looked up" where no resolver answers, which may take its time.
    await expectNoAnswer("http://name.invalid/auth", /^host name (?:unknown|lookup failed)$/);
  }, 120_000);

  it("resets the connection before an answer", async () => {
    await expectNoAnswer(await serveRaw((socket) => socket.resetAndDestroy()), "connection closed early");
  });

  it("closes the connection before an answer", async () => {
    await expectNoAnswer(await serveRaw((socket) => socket.end()), "connection closed early");
  });

  it.each([
    ["in the status line", "HTTP/1.1 20"],
    ["in the head", "HTTP/1.1 200 OK\r\nContent-Type: appl"],
    [
      "in a body with a length",
      'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 20\r\n\r\n{"account"',
    ],
    [
      "in the length of a chunk",
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
    ],
    ["in a 401", "HTTP/1.1 401 Unauthorized\r\nContent-Length: 20\r\n\r\nno such"],
    ["in a 403", "HTTP/1.1 403 Forbidden\r\nContent-Length: 20\r\n\r\nno such"],
    ["in a 500", "HTTP/1.1 500 Oops\r\nContent-Length: 20\r\n\r\nno such"],
  ])("breaks off midway, %s: what came is no answer", async (_where, text) => {
    await expectNoAnswer(
      await serveRaw((socket) => socket.end(text)),
      /^(?:connection closed early|no response|no HTTP response)$/,
    );
  });

  it("resets the connection midway through the body", async () => {
    const url = await serveRaw((socket) => {
      socket.write("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{");
      setTimeout(() => socket.resetAndDestroy(), 20);
    });
    await expectNoAnswer(url, "connection closed early");
  });

  it("does not speak HTTP", async () => {
    await expectNoAnswer(await serveRaw((socket) => socket.end("SSH-2.0-OpenSSH_9.2\r\n")), "no HTTP response");
  });

  it("sends no head in time", async () => {
    await expectNoAnswer((await serve(() => undefined)).url, "timed out after 0.05 s", { timeoutSeconds: 0.05 });
  });

  it("sends a head, and no body in time", async () => {
    const stall: Answering = (response) =>
      response.writeHead(200, { "content-type": "application/json" }).flushHeaders();
    await expectNoAnswer((await serve(stall)).url, "timed out after 0.05 s", { timeoutSeconds: 0.05 });
  });

  it.each([200, 401, 403, 500])(
    "sends the body of a %i byte by byte: every byte would be in time, the whole is not",
    async (status) => {
      const drip: Answering = (response) => {
        response.writeHead(status, { "content-type": "application/json" });
        const timer = setInterval(() => response.write(" "), 5);
        response.on("close", () => clearInterval(timer));
      };
      const begun = performance.now();
      await expectNoAnswer((await serve(drip)).url, "timed out after 0.06 s", { timeoutSeconds: 0.06 });
      expect(performance.now() - begun).toBeLessThan(patience);
    },
  );

  it("gives each URL its own time", async () => {
    const { url } = await serve((response) => void setTimeout(() => response.writeHead(204).end(), 60));
    const first = "https://auth.invalid/auth";
    const send: typeof fetch = (input, init) => (input === first ? new Promise(() => undefined) : fetch(input, init));
    const asked = createAsked({ url: [first, url], timeoutSeconds: 0.5, fetch: send });
    expect(await asked.ask()).toMatchObject({ outcome: "accepted", audit: { url } });
  });
});

describe.each(CREDENTIAL_TYPES)("a %s, of which the endpoint says nothing that counts", (type) => {
  const cut = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 14\r\n\r\n{"account"';
  const closed = async (): Promise<string> => {
    const { url, close } = await serveRemote();
    await close();
    return url;
  };

  it.each<readonly [string, () => Promise<string>, string]>([
    ["refused connection", closed, "connection refused"],
    ["connection reset at once", () => serveRaw((socket) => socket.resetAndDestroy()), "connection closed early"],
    [
      "connection reset midway",
      () =>
        serveRaw((socket) => {
          socket.write(cut);
          setTimeout(() => socket.resetAndDestroy(), 20);
        }),
      "connection closed early",
    ],
    ["time that is over", async () => (await serve(() => undefined)).url, "timed out after 0.1 s"],
  ])("is disallowed, and unavailable, on a %s (7.2)", async (_what, open, details) => {
    const url = await open();
    const asked = createAsked({ url, timeoutSeconds: details.startsWith("timed") ? 0.1 : 30 });
    expect(await asked.ask({ type, content: "s3cret" })).toEqual({
      outcome: "rejected",
      reason: "unavailable",
      audit: { problems: [`${url}: ${details}`] },
    });
    expect(asked.events).toMatchObject([{ id: 40042, data: { url, details } }]);
    expect(asked.log.text()).not.toContain("s3cret");
  });

  it.each([
    ["bad JSON", '{"account":{', "the body is not JSON"],
    ["an unknown key", '{"account":{"quota":5}}', "account.quota: unknown key"],
    ["a member of the wrong type", '{"account":{"email":5}}', "account.email: expected string, received number"],
  ])("is disallowed, as a failure, on a 200 with %s (7.2)", async (_what, body, problem) => {
    const { url } = await serve(answerWith(200, body));
    const asked = createAsked({ url });
    expect(await asked.ask({ type, content: "s3cret" })).toEqual({
      outcome: "rejected",
      reason: "failure",
      audit: { url, status: 200, problems: [problem] },
    });
    expect(asked.events).toEqual([]);
    expect(asked.log.entries).toMatchObject([{ level: "error", details: { problems: [problem] } }]);
  });
});

describe("the size of an answer (SECURITY 23)", () => {
  const head = '{"account":{"email":"';
  const tail = '"}}';
  const toFit = (bytes: number): string => head + "x".repeat(bytes - head.length - tail.length) + tail;
  const json = { "content-type": "application/json" };
  const inOne = (body: string): Answering => answerWith(200, body);
  const inChunks = (body: string): Answering => {
    return (response) => {
      response.writeHead(200, json);
      for (let at = 0; at < body.length; at += 10_000) response.write(body.slice(at, at + 10_000));
      response.end();
    };
  };

  it.each([
    ["of a length that is known", inOne],
    ["in chunks", inChunks],
  ])("may be 1 MiB exactly, %s", async (_how, send) => {
    const { url } = await serve(send(toFit(MAX_MESSAGE_BYTES)));
    const verdict = await createAsked({ url }).ask();
    expect(verdict.outcome).toBe("accepted");
    expect(JSON.stringify({ account: verdict.account })).toHaveLength(MAX_MESSAGE_BYTES);
  });

  it.each([
    ["of a length that is known", inOne],
    ["in chunks", inChunks],
  ])("is refused one byte above it, %s", async (_how, send) => {
    const { url } = await serve(send(toFit(MAX_MESSAGE_BYTES + 1)));
    expect(await createAsked({ url }).ask()).toEqual({
      outcome: "rejected",
      reason: "failure",
      audit: { url, status: 200, problems: ["the body is larger than 1 MiB"] },
    });
  });

  it("is counted while it comes: one without end is cut off at once", async () => {
    let closed = false;
    const endless: Answering = (response) => {
      response.writeHead(200, json);
      const more = (): void => {
        while (response.write(Buffer.alloc(65_536, " ")));
      };
      response.on("drain", more).on("close", () => {
        closed = true;
      });
      more();
    };
    const { url, close } = await serveRemote(endless);
    expect((await createAsked({ url }).ask()).audit.problems).toEqual(["the body is larger than 1 MiB"]);
    await close();
    await expect.poll(() => closed).toBe(true);
  });

  it("may come in pieces of a byte each", async () => {
    const body = toFit(20_000);
    const url = await serveRaw((socket) => {
      const chunks = [...body].map((byte) => `1\r\n${byte}\r\n`).join("");
      socket.end(
        `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${chunks}0\r\n\r\n`,
      );
    });
    expect((await createAsked({ url }).ask()).outcome).toBe("accepted");
  });

  it("ends with the connection where nothing else says it", async () => {
    const url = await serveRaw((socket) => socket.end("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n{}"));
    expect((await createAsked({ url }).ask()).outcome).toBe("accepted");
  });

  it("does not matter where the answer is encoded: no byte of it is read", async () => {
    const stall: Answering = (response) =>
      response.writeHead(200, { ...json, "content-encoding": "gzip" }).flushHeaders();
    const { url } = await serve(stall);
    expect((await createAsked({ url }).ask()).audit.problems).toEqual([expect.stringContaining("Content-Encoding")]);
  });
});

describe("a hostile or broken fetch", () => {
  const never = new Promise<never>(() => undefined);
  const url = "https://auth.invalid/auth";
  /** A body that counts how often it was cancelled. */
  const bodyOf = (
    source: UnderlyingDefaultSource<Uint8Array>,
  ): { body: ReadableStream<Uint8Array>; cancelled: () => number } => {
    let count = 0;
    const cancel = (): void => {
      count += 1;
    };
    return { body: new ReadableStream({ ...source, cancel }), cancelled: () => count };
  };

  it("does not outlive the deadline by ignoring its signal", async () => {
    const asked = createAsked({ url, fetch: () => never, timeoutSeconds: 0.05 });
    const begun = performance.now();
    expect((await asked.ask()).audit.problems).toEqual([`${url}: timed out after 0.05 s`]);
    expect(performance.now() - begun).toBeLessThan(patience);
  });

  it("does not outlive it by a body that never ends either, which is cancelled", async () => {
    const { body, cancelled } = bodyOf({ pull: () => never });
    const asked = createAsked({ url, fetch: async () => new Response(body), timeoutSeconds: 0.05 });
    expect((await asked.ask()).audit.problems).toEqual([`${url}: timed out after 0.05 s`]);
    expect(cancelled()).toBe(1);
  });

  it("has a response that comes too late cancelled", async () => {
    const { body, cancelled } = bodyOf({ pull: () => never });
    const late = async (): Promise<Response> => {
      await new Promise((resolve) => setTimeout(resolve, 60));
      return new Response(body);
    };
    await createAsked({ url, fetch: late, timeoutSeconds: 0.02 }).ask();
    await expect.poll(cancelled).toBe(1);
  });

  it("may reject too late", async () => {
    const late = (): Promise<Response> => new Promise((_, reject) => setTimeout(() => reject(new Error("late")), 60));
    await createAsked({ url, fetch: late, timeoutSeconds: 0.02 }).ask();
    await new Promise((resolve) => setTimeout(resolve, 80));
    expect(unhandled).toEqual([]);
  });

  it("has a body that is too large cancelled", async () => {
    const { body, cancelled } = bodyOf({ pull: (controller) => controller.enqueue(new Uint8Array(500_000)) });
    const asked = createAsked({
      url,
      fetch: async () => new Response(body, { headers: { "content-type": "application/json" } }),
    });
    expect((await asked.ask()).audit.problems).toEqual(["the body is larger than 1 MiB"]);
    expect(cancelled()).toBe(1);
  });

  it("has an encoded body cancelled, unread", async () => {
    const { body, cancelled } = bodyOf({ pull: () => never });
    const asked = createAsked({
      url,
      fetch: async () => new Response(body, { headers: { "content-encoding": "br" } }),
    });
    expect((await asked.ask()).audit.problems).toEqual([expect.stringContaining("Content-Encoding")]);
    expect(cancelled()).toBe(1);
  });

  it("may give a redirect that shows nothing of itself, as browsers do: it is not followed", async () => {
    const opaque = { status: 0, type: "opaqueredirect", headers: new Headers(), body: null } as Response;
    const verdict = await createAsked({ url, fetch: async () => opaque }).ask();
    expect(verdict).toEqual({
      outcome: "rejected",
      reason: "failure",
      audit: { url, status: 0, problems: ["the response is a redirect, and redirects are not followed"] },
    });
  });

  const circular = Object.assign(new Error("SECRET"), { cause: undefined as unknown });
  circular.cause = circular;
  it.each<readonly [string, () => unknown, string]>([
    [
      "throws at once",
      () => {
        throw new Error("SECRET");
      },
      "no response",
    ],
    ["rejects with nothing", () => Promise.reject(undefined), "no response"],
    ["rejects with an error that is its own cause", () => Promise.reject(circular), "no response"],
    ["resolves with nothing", async () => undefined, "no response"],
    ["resolves with a thing that is no response", async () => ({ status: 204 }), "no response"],
    [
      "has a body that breaks",
      async () => new Response(bodyOf({ pull: () => Promise.reject(new Error("SECRET")) }).body),
      "no response",
    ],
    [
      "tried several addresses",
      () => Promise.reject(new TypeError("x", { cause: new AggregateError([{ code: "EHOSTUNREACH" }]) })),
      "host unreachable",
    ],
    [
      "got what is no HTTP, and an error without a code, as the package undici makes it",
      () =>
        Promise.reject(new TypeError("x", { cause: Object.assign(new Error("SECRET"), { name: "HTTPParserError" }) })),
      "no HTTP response",
    ],
    ["waited for the connection", () => Promise.reject({ cause: { code: "UND_ERR_CONNECT_TIMEOUT" } }), "timed out"],
  ])("%s: that is no answer", async (_what, fetch, details) => {
    const verdict = await createAsked({ url, fetch: fetch as unknown as typeof globalThis.fetch }).ask();
    expect(verdict).toEqual({
      outcome: "rejected",
      reason: "unavailable",
      audit: { problems: [`${url}: ${details}`] },
    });
  });

  it("leaves no timer behind when the answer has come", async () => {
    const timers = (): number => process.getActiveResourcesInfo().filter((name) => name === "Timeout").length;
    const before = timers();
    const asked = createAsked({ url, fetch: async () => new Response(null, { status: 204 }), timeoutSeconds: 300 });
    await asked.ask();
    expect(timers()).toBe(before);
  });
});

describe("many logins at the same time", () => {
  it("are each judged by their own answer", async () => {
    const remote = await serve((response, request) => {
      const { username } = JSON.parse(request.body.toString("utf8")).credentials;
      const email = JSON.stringify({ account: { email: username } });
      setTimeout(() => response.writeHead(200, { "content-type": "application/json" }).end(email), Math.random() * 20);
    });
    const asked = createAsked({ url: remote.url });
    const names = Array.from({ length: 100 }, (_, index) => `user-${index}`);
    const verdicts = await Promise.all(names.map((username) => asked.ask({ username })));
    expect(verdicts.map(({ account }) => account)).toEqual(names.map((email) => ({ email })));
  });
});

/** Makes an authority and what it has signed, in a folder: `<name>.key` and `<name>.crt` of each. */
function makeCertificates(folder: string): void {
  makeCertificate(folder, { subject: "/CN=fileferry tests", key: "ca.key", cert: "ca.crt" });
  const ca = ["[ca]", "default_ca=own", "[own]", "database=index", "new_certs_dir=.", "rand_serial=yes"];
  const more = [
    "default_md=sha256",
    "policy=any",
    "copy_extensions=copy",
    "unique_subject=no",
    "[any]",
    "commonName=supplied",
  ];
  writeFileSync(join(folder, "ca.conf"), `${[...ca, ...more].join("\n")}\n`);
  writeFileSync(join(folder, "index"), "");
  const made = {
    good: ["IP:127.0.0.1", "20200101000000Z", "20491231235959Z"],
    expired: ["IP:127.0.0.1", "20200101000000Z", "20200102000000Z"],
    elsewhere: ["DNS:auth.example,IP:127.0.0.2", "20200101000000Z", "20491231235959Z"],
  } as const;
  for (const [name, [host, from, to]] of Object.entries(made)) {
    const names = ["-subj", "/CN=127.0.0.1", "-addext", `subjectAltName=${host}`];
    runOpenssl(folder, "req", ...NEW_KEY, ...names, "-keyout", `${name}.key`, "-out", `${name}.csr`);
    const files = ["-cert", "ca.crt", "-keyfile", "ca.key", "-in", `${name}.csr`, "-out", `${name}.crt`];
    runOpenssl(folder, "ca", "-batch", "-notext", "-config", "ca.conf", "-startdate", from, "-enddate", to, ...files);
  }
}

describe.skipIf(!hasOpenssl())("a URL of createHttpAuthenticator over TLS (openssl makes the certificates)", () => {
  let folder = "";
  beforeAll(async () => {
    // Inside the project, so that the packages which stay outside of the bundle are found.
    const cache = join(projectFolder, "node_modules/.cache/fileferry");
    mkdirSync(cache, { recursive: true });
    folder = mkdtempSync(join(cache, "remote-auth-"));
    makeCertificates(folder);
    const contents = `
      import { createHttpAuthenticator } from "./src/remote-auth/http-authenticator.ts";
      const silent = { info() {}, warn() {}, error() {} };
      const authenticator = createHttpAuthenticator({ url: process.argv[2], testAtStart: false, logger: silent });
      const verdict = await authenticator.authenticate({ type: "password", username: "alice", content: "secret" });
      console.log(JSON.stringify(verdict));`;
    await build({
      stdin: { contents, resolveDir: projectFolder },
      outfile: join(folder, "ask.mjs"),
      bundle: true,
      format: "esm",
      platform: "node",
      packages: "external",
      logLevel: "silent",
    });
  });
  afterAll(() => rmSync(folder, { recursive: true }));

  const serveTls = (name: string): Promise<RemoteServer> =>
    serve(SUCCESS, { key: readFileSync(join(folder, `${name}.key`)), cert: readFileSync(join(folder, `${name}.crt`)) });

  /** Asks in a process of its own, which trusts the authority: Node takes one for its fetch at the start alone. */
  async function askTrusting(url: string): Promise<unknown> {
    const env = { ...process.env, NODE_EXTRA_CA_CERTS: join(folder, "ca.crt") };
    const { stdout } = await promisify(execFile)(process.execPath, [join(folder, "ask.mjs"), url], { env });
    return JSON.parse(stdout);
  }

  it("is asked when its certificate is valid, of a known authority and of its host", async () => {
    const { url } = await serveTls("good");
    expect(await askTrusting(url)).toEqual({ outcome: "accepted", account: {}, audit: { url, status: 204 } });
  });

  it.each([
    ["has expired", "expired"],
    ["is another host's", "elsewhere"],
  ])("is not asked when its certificate %s, though of a known authority", async (_flaw, name) => {
    const { url, requests } = await serveTls(name);
    const audit = { problems: [`${url}: TLS certificate rejected`] };
    expect(await askTrusting(url)).toEqual({ outcome: "rejected", reason: "unavailable", audit });
    expect(requests).toEqual([]);
  });

  it("is not asked when its certificate is not one of a known authority", async () => {
    const remote = await serveTls("good");
    await expectNoAnswer(remote.url, "TLS certificate rejected");
    expect(remote.requests).toEqual([]);
  });

  it("is not asked when it speaks plain HTTP", async () => {
    const remote = await serve(SUCCESS);
    await expectNoAnswer(remote.url.replace("http:", "https:"), "TLS handshake failed");
    expect(remote.requests).toEqual([]);
  });
});

describe("an endpoint that sends back what it got, and no HTTP", () => {
  it("brings neither the password nor the service's own secret into the log or an event", async () => {
    const echo = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.pipe(socket);
    });
    echo.listen(0, "127.0.0.1");
    await once(echo, "listening");
    const logger = createRecordingLogger();
    const events: unknown[] = [];
    const authenticator = createHttpAuthenticator({
      url: `http://127.0.0.1:${(echo.address() as AddressInfo).port}/auth`,
      headers: "Authorization: token SERVICE-SECRET",
      testAtStart: false,
      logger,
      onEvent: (event) => events.push(event),
    });
    const verdict = await authenticator.authenticate({ type: "password", username: "alice", content: "USER-SECRET" });
    echo.close();
    expect(verdict).toMatchObject({ outcome: "rejected", reason: "unavailable" });
    const told = logger.text() + JSON.stringify([events, verdict]);
    expect(told).toContain("no HTTP response");
    expect(told).not.toMatch(/SERVICE-SECRET|USER-SECRET/);
  });
});

describe("the time to answer", () => {
  it("of a name that an earlier method knows is about that of one which the endpoint is asked about (SECURITY 17)", async () => {
    const { url } = await serve(async (response) => {
      await new Promise((resolve) => setTimeout(resolve, 100));
      response.writeHead(401).end();
    });
    const remote = createHttpAuthenticator({ url, testAtStart: false, logger: createRecordingLogger() });
    await remote.authenticate({ type: "password", username: "nobody", content: "x" });
    const begun = performance.now();
    await remote.equalizeTiming?.({ type: "password", username: "alice", content: "wrong" });
    expect(performance.now() - begun).toBeGreaterThan(90);
  });
});
