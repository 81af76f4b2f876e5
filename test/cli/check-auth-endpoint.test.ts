import { once } from "node:events";
import { readFile } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { endpointCases } from "../../src/testing/endpoint-cases.ts";
import { ensureBuilt, makeFolder, runCommand, startCommand, waitFor } from "../support/built.ts";
import { makeCertificate } from "../support/certificates.ts";
import { ACCOUNT, answer, createHandwrittenEndpoint, type Steps, serveEndpoint } from "../support/endpoint-server.ts";
import { type CommandResult, runInProcess } from "../support/run-in-process.ts";
import { HAS_TERMINAL, runOnTerminal } from "./terminal.ts";

const TOKEN = "token s3cret-token";
const BASIC = `Basic ${btoa("svc:s3cret:basic")}`;
const USER = ["--user", ACCOUNT.username, "--password", ACCOUNT.password];

beforeAll(ensureBuilt, 300_000);

/** Starts an endpoint that stops after the test; returns its URL. */
async function serve(steps: Partial<Steps> | RequestListener = {}): Promise<string> {
  const server = await serveEndpoint(typeof steps === "function" ? steps : createHandwrittenEndpoint(steps));
  onTestFinished(() => server.stop());
  return server.url;
}

function check(...args: string[]): Promise<CommandResult> {
  return runInProcess(["check-auth-endpoint", ...args]);
}

function linesOf(text: string, start: string): string[] {
  return text.split("\n").filter((line) => line.startsWith(start));
}

describe("fileferry check-auth-endpoint", () => {
  it("prints a line for each check and ends with status 0 for an endpoint that is right (4.7)", async () => {
    const url = await serve({ isAuthorized: ({ headers }) => headers.authorization === TOKEN });
    const { status, stdout, stderr } = await check(url, "--header", `Authorization: ${TOKEN}`, ...USER);
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.slice(0, -1).map((line) => line.replace(/ \(\d+ ms\)$/, ""))).toEqual(
      endpointCases.map(({ name }) => `ok   ${name}`),
    );
    expect(lines.at(-1)).toMatch(
      new RegExp(`^${endpointCases.length} ok, 0 failed, 0 skipped; the slowest response took \\d+ ms$`),
    );
    expect(stdout).not.toMatch(/s3cret|Correct-horse/);
  });

  it("skips what needs an account or an authorization, and says so", async () => {
    const { status, stdout } = await check(await serve());
    expect(status).toBe(0);
    const skipped = linesOf(stdout, "skip");
    expect(skipped).toHaveLength(endpointCases.filter(({ needs }) => needs !== undefined).length);
    expect(skipped[0]).toMatch(/^skip accepts the right password with .*: needs --user and --password$/);
    expect(skipped).toContain("skip rejects requests without the service's authorization: needs --header or --basic");
    expect(stdout).toMatch(new RegExp(`, 0 failed, ${skipped.length} skipped; `));
  });

  it("reports what is wrong for each failed check, and ends with status 1", async () => {
    const url = await serve({
      accept: (res) => answer(res, 200, "application/json", '{"account":{"quota":5,"email":null}}'),
      refuse: (res) => answer(res, 500),
    });
    const { status, stdout, stderr } = await check(url, ...USER);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    expect(stdout).toContain("FAIL responds 401 or 403 to an unknown account: password: the response is 500\n");
    expect(stdout).toMatch(/^FAIL accepts the right password with .*account\.quota: unknown key/m);
    expect(stdout).toMatch(/^\d+ ok, [1-9]\d* failed, 2 skipped; /m);
  });

  it.each<[string, Partial<Steps>, string]>([
    [
      "lets anybody in",
      { isRight: () => true },
      "responds 401 or 403 to an unknown account: password: the endpoint accepts unknown accounts",
    ],
    [
      "takes an empty password for the right one",
      { isRight: ({ username, content }) => username === ACCOUNT.username && ["", ACCOUNT.password].includes(content) },
      "does not accept an empty password: an empty password was accepted",
    ],
    [
      "has lost the service's own credentials",
      {
        isAuthorized: () => true,
        accept: (res) => res.writeHead(401, { "WWW-Authenticate": "Basic" }).end(),
      },
      "authorizes the service: the response to the right password is 401 with WWW-Authenticate",
    ],
  ])("names the flaw of an endpoint that %s, and ends with status 1", async (_flaw, steps, line) => {
    const { status, stdout } = await check(await serve(steps), ...USER);
    expect(status).toBe(1);
    expect(linesOf(stdout, `FAIL ${line}`)).toHaveLength(1);
  });

  it("prints a note for allowed but unusual behaviour, and ends with status 0", async () => {
    const refuse: Steps["refuse"] = (res) => res.writeHead(401, { "WWW-Authenticate": "Basic" }).end();
    const { status, stdout } = await check(await serve({ refuse, isContentType: () => true }));
    expect([status, linesOf(stdout, "FAIL")]).toEqual([0, []]);
    expect(linesOf(stdout, "note")).toEqual([
      "note authorizes the service: the response is 401 with WWW-Authenticate: the endpoint may have rejected the service's own authorization; give a known account to find out",
    ]);
    expect(stdout).toMatch(/^\d+ ok, 1 noted, 0 failed, \d+ skipped; /m);
  });

  it("escapes text of the endpoint that could control a terminal", async () => {
    const url = await serve({
      accept: (res) => answer(res, 200, "application/json", '{"account":{"\\u001b[31m\\nok   all is well":5}}'),
    });
    const { stdout } = await check(url, ...USER);
    expect(stdout).not.toMatch(/[^\n -~]/);
    expect(linesOf(stdout, "ok   all is well")).toEqual([]);
    expect(stdout).toContain("all is well");
  });

  it.each([
    ["--basic", ["--basic", "svc:s3cret:basic"]],
    ["--header", ["--header", `Authorization: ${BASIC}`]],
    ["several headers", ["--header", `Authorization:${BASIC}`, "--header", "X-Trace: on"]],
  ])("authenticates itself to the endpoint by %s (5.2)", async (_case, args) => {
    const url = await serve({ isAuthorized: ({ headers }) => headers.authorization === BASIC });
    const { status, stdout } = await check(url, ...args, ...USER);
    expect([status, linesOf(stdout, "FAIL")]).toEqual([0, []]);
    expect(linesOf(stdout, "ok   accepts the right password with")).toHaveLength(1);
  });

  it("reads the password from a pipe", async () => {
    const args = ["check-auth-endpoint", await serve(), "--user", ACCOUNT.username];
    const { status, stdout } = await runCommand(args, `${ACCOUNT.password}\nmore\n`);
    expect([status, linesOf(stdout, "FAIL")]).toEqual([0, []]);
    expect(linesOf(stdout, "ok   accepts the right password with")).toHaveLength(1);
  });

  it.runIf(HAS_TERMINAL)("asks for the password on a terminal without an echo, and prints colours there", async () => {
    const args = ["check-auth-endpoint", await serve(), "--user", ACCOUNT.username];
    const env = { ...process.env, TERM: "xterm", NO_COLOR: "" };
    const { status, shown } = await runOnTerminal(args, ACCOUNT.password, env);
    expect(status).toBe(0);
    expect(shown.startsWith("Password: \r\n\u001b[32mok\u001b[39m   sends a complete response")).toBe(true);
    expect(shown).not.toContain(ACCOUNT.password);
  });

  it("prints each line as its check ends", async () => {
    let asked = 0;
    const url = await serve((_req, res) => {
      asked += 1;
      if (asked === 1) answer(res, 401);
    });
    const run = startCommand(["check-auth-endpoint", url]);
    await waitFor(() => /^ok {3}sends a complete response.*\n/m.exec(run.stdout()) ?? undefined, run);
    expect(run.stdout().trimEnd().split("\n")).toHaveLength(1);
  });
});

describe("fileferry check-auth-endpoint of an endpoint that hangs", () => {
  it("stops after two time-outs in a row, and says so", async () => {
    let asked = 0;
    const url = await serve((_req, res) => {
      asked += 1;
      if (asked === 1) answer(res, 401);
    });
    const { status, stdout, stderr } = await check(url, ...USER, "--timeout", "0.5");
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    const lines = stdout.trimEnd().split("\n");
    expect(lines.slice(1)).toEqual([
      expect.stringMatching(/^FAIL .*: timed out after 0\.5 s$/),
      expect.stringMatching(/^FAIL .*: timed out after 0\.5 s$/),
      "stopped: 2 checks in a row had no response within the time limit",
      expect.stringMatching(new RegExp(`^1 ok, 2 failed, 0 skipped, ${endpointCases.length - 3} not run; `)),
    ]);
  });

  it("goes on after a time-out, when the next check has an answer", async () => {
    const honest = createHandwrittenEndpoint();
    let asked = 0;
    const url = await serve((req, res) => {
      asked += 1;
      if (asked !== 2) honest(req, res);
    });
    const { status, stdout } = await check(url, ...USER, "--timeout", "2");
    expect([status, linesOf(stdout, "FAIL").length]).toEqual([1, 1]);
    expect(stdout).not.toMatch(/stopped|not run/);
  });
});

describe("fileferry check-auth-endpoint of an endpoint that is not there", () => {
  async function expectOneFailure(url: string, reason: RegExp, ...args: string[]): Promise<void> {
    const { status, stdout, stderr } = await check(url, ...USER, ...args);
    expect({ status, stderr }).toEqual({ status: 1, stderr: "" });
    const [failure, sum, ...others] = stdout.trimEnd().split("\n");
    expect(failure).toMatch(/^FAIL sends a complete response within the time limit: no complete response: /);
    expect(failure).toMatch(reason);
    expect(sum).toBe(`0 ok, 1 failed, 0 skipped, ${endpointCases.length - 1} not run`);
    expect(others).toEqual([]);
  }

  it("says once that the connection is refused", async () => {
    const server = await serveEndpoint(() => undefined);
    await server.stop();
    await expectOneFailure(server.url, /connection refused$/);
  });

  it("says once that the host is not known", async () => {
    await expectOneFailure("http://nowhere.invalid/", /host name (?:unknown|lookup failed)$/);
  });

  it("says once that the certificate is not accepted", async () => {
    const { key, cert } = makeCertificate(await makeFolder());
    const server = createServer({ key: await readFile(key), cert: await readFile(cert) });
    await once(server.listen(0, "127.0.0.1"), "listening");
    onTestFinished(() => void server.close());
    const { port } = server.address() as AddressInfo;
    await expectOneFailure(`https://127.0.0.1:${port}/`, /TLS certificate rejected$/);
  });

  it("says once that it took too long", async () => {
    const url = await serve(() => undefined);
    await expectOneFailure(url, /timed out after 0\.3 s$/, "--timeout", "0.3");
  });
});

describe("the flags of fileferry check-auth-endpoint", () => {
  const url = "http://127.0.0.1:9/";

  it.each([
    ["no URL", [], /^error: missing required argument 'url'\n$/],
    ["a URL of another kind", ["ftp://x/"], /^error: [^\n]*url[^\n]*\n$/],
    ["credentials in the URL", ["http://svc:s3cret@x/"], /^error: [^\n]*url[^\n]*credentials[^\n]*\n$/],
    [
      "a header without a colon",
      [url, "--header", "s3cret"],
      /^error: --header \(number 1\): expected 'Name: value'\n$/,
    ],
    [
      "a header twice",
      [url, "--header", "A: s3cret", "--header", "A: 2"],
      /^error: --header \(number 2\): is given twice/,
    ],
    ["a name that is none", [url, "--header", "A B: s3cret"], /^error: [^\n]*headers[^\n]*\n$/],
    ["a value that is none", [url, "--header", "A: s3cret\u0001"], /^error: [^\n]*headers[^\n]*\n$/],
    ["a header of the exchange", [url, "--header", "Host: s3cret"], /^error: [^\n]*headers[^\n]*Host[^\n]*\n$/],
    ["Basic without a colon", [url, "--basic", "s3cret"], /^error: --basic: expected name:password\n$/],
    ["a password without a user", [url, "--password", "s3cret"], /^error: --password needs --user\n$/],
    ["an empty user", [url, "--user", "", "--password", "s3cret"], /^error: --user must not be empty\n$/],
    ["an empty password", [url, "--user", "s3cret", "--password", ""], /^error: --password must not be empty\n$/],
    [
      "a password that is too short to be cut",
      [url, "--user", "s3cret", "--password", "s3c"],
      /^error: --password must have 4 characters or more: [^\n]*\n$/,
    ],
    ["a timeout that is too long", [url, "--timeout", "301"], /^error: [^\n]*timeoutSeconds[^\n]*at most 300\.\n$/],
    ["a timeout that is none", [url, "--timeout", "0"], /^error: [^\n]*expected seconds\n$/],
  ])("end with status 2 and a line that says why for %s", async (_case, args, message) => {
    const { status, stdout, stderr } = await check(...args);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toMatch(message);
    expect(stderr).not.toContain("s3cret");
  });

  it("end with status 2 and a line that says why for a user, and an empty input", async () => {
    const { status, stdout, stderr } = await runCommand(["check-auth-endpoint", url, "--user", "s3cret"]);
    expect({ status, stdout }).toEqual({ status: 2, stdout: "" });
    expect(stderr).toBe("error: the password on standard input must not be empty\n");
  });
});
