import { once } from "node:events";
import { readFileSync } from "node:fs";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { type IncomingMessage, request } from "node:http";
import { connect } from "node:net";
import { dirname, join } from "node:path";
import { text } from "node:stream/consumers";
import { pathToFileURL } from "node:url";
import { beforeAll, describe, expect, it } from "vitest";
import { parse } from "yaml";
import { createFormat, findFormatProblem, type LogFormat, type LoggedRequest } from "../../src/cli/log/format.ts";
import { type CommandRun, ensureBuilt, makeFolder, projectFolder, startServer, waitFor } from "../support/built.ts";
import { ALICE, configure } from "./configure.ts";
import { FORMATS, logRefusedLogins, REFUSED } from "./fail2ban/refused-logins.ts";

beforeAll(ensureBuilt);

const ID = "[0-9a-f]{8}-[0-9a-f-]{27}";

async function serve(format: string, members: object = {}): Promise<CommandRun & { url: string }> {
  const config = await configure({ storage: { type: "memory" }, ...members });
  return startServer(["serve", "--config", config, "--log-format", format]);
}

/** Waits for the lines of requests with a text. */
function lineWith(run: CommandRun, found: RegExp): Promise<string> {
  return waitFor(
    () =>
      run
        .stderr()
        .split("\n")
        .slice(0, -1)
        .find((line) => found.test(line)),
    run,
  );
}

async function upload(url: string, id?: string): Promise<Response> {
  const headers = { ...ALICE, "User-Agent": 'agent "1"', ...(id !== undefined && { "X-Request-Id": id }) };
  return fetch(`${url}home/a.txt`, { method: "PUT", headers, body: "12345" });
}

describe("the formats of the request log", () => {
  it("has time, address, account, agent, identifier, content and duration as text", async () => {
    const run = await serve("text");
    const response = await upload(run.url, "from-the-proxy.1");
    expect(response.headers.get("x-request-id")).toBe("from-the-proxy.1");
    const time = "\\d{4}-\\d\\d-\\d\\dT[\\d:.]{12}Z";
    const what = `PUT /home/a\\.txt 201 ${(await response.text()).length} B \\d+ ms, 5 B in`;
    expect(await lineWith(run, /PUT/)).toMatch(
      new RegExp(`^${time} 127\\.0\\.0\\.1 alice ${what} "agent \\\\x221\\\\x22" from-the-proxy\\.1$`),
    );
  });

  it("has them as JSON", async () => {
    const run = await serve("json");
    const response = await upload(run.url);
    expect(response.headers.get("x-request-id")).toMatch(new RegExp(`^${ID}$`));
    expect(JSON.parse(await lineWith(run, /"PUT"/))).toMatchObject({
      message: "request",
      address: "127.0.0.1",
      account: "alice",
      agent: 'agent "1"',
      id: response.headers.get("x-request-id"),
      received: 5,
      status: 201,
    });
    const text = await (await fetch(`${run.url}home/a.txt`, { headers: ALICE })).text();
    expect(JSON.parse(await lineWith(run, /"GET".*a\.txt/))).toMatchObject({ sent: text.length, received: 0 });
  });

  it("counts the content alone as sent: no 100 Continue, and no framing of a response without a length", async () => {
    const root = await makeFolder();
    const names = Array.from({ length: 1000 }, (_, index) => `a file with a rather long name ${index}.txt`);
    await mkdir(join(root, "alice"));
    await Promise.all(names.map((name) => writeFile(join(root, "alice", name), "")));
    const run = await serve("json", { storage: { type: "disk", root } });
    const headers = { ...ALICE, Expect: "100-continue", "Content-Length": 5 };
    const sending = request(`${run.url}home/b.txt`, { method: "PUT", headers });
    const responded = once(sending, "response") as Promise<[IncomingMessage]>;
    await once(sending, "continue");
    sending.end("12345");
    const [response] = await responded;
    const { length } = await text(response);
    expect(JSON.parse(await lineWith(run, /"PUT"/))).toMatchObject({ status: 201, sent: length, received: 5 });

    const listing = await fetch(`${run.url}home/`, { headers: { ...ALICE, "Accept-Encoding": "identity" } });
    expect(listing.headers.has("content-length")).toBe(false);
    const { byteLength } = await listing.arrayBuffer();
    expect(byteLength).toBeGreaterThan(65_536);
    const logged = JSON.parse(await lineWith(run, /"path":"\/home\/"/));
    expect(logged).toMatchObject({ status: 200, sent: byteLength, received: 0 });
    expect(logged.bytes).toBeGreaterThan(byteLength);
  });

  it("has the identifier of the trace, and a span of it if OpenTelemetry is set up", async () => {
    const plain = await serve("json");
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    await fetch(`${plain.url}home/`, { headers: { ...ALICE, traceparent } });
    expect(JSON.parse(await lineWith(plain, /"path":"\/home\/"/))).toMatchObject({
      trace_id: "0af7651916cd43dd8448eb211c80319c",
    });

    const asText = await serve("text");
    await fetch(`${asText.url}home/`, { headers: { ...ALICE, traceparent, "X-Request-Id": "x" } });
    expect(await lineWith(asText, /GET \/home\//)).toMatch(/" x trace=0af7651916cd43dd8448eb211c80319c$/);

    const config = await configure({ storage: { type: "memory" } });
    const spans = join(dirname(config), "spans.ndjson");
    const setUp = `--import ${pathToFileURL(join(projectFolder, "test/support/telemetry.mjs"))}`;
    const by = ["env", `NODE_OPTIONS=${setUp}`, `SPANS_FILE=${spans}`];
    const run = await startServer(["serve", "--config", config, "--log-format", "$request_method $trace_id"], by);
    await (await fetch(`${run.url}home/`, { headers: ALICE })).text();
    const [, traceId] = /^GET ([0-9a-f]{32})$/.exec(await lineWith(run, /^GET /)) ?? [];
    const span = JSON.parse(await readFile(spans, "utf8"));
    expect(span).toMatchObject({ name: "GET", traceId, attributes: { "url.path": "/home/", "user.name": "alice" } });
  });

  it("has them as web servers do", async () => {
    const run = await serve("combined");
    await upload(run.url, "x");
    const date = "\\[\\d\\d/[A-Z][a-z]{2}/\\d{4}:\\d\\d:\\d\\d:\\d\\d \\+0000\\]";
    const request = '"PUT /home/a\\.txt HTTP/1\\.1" 201 \\d+ "-" "agent \\\\x221\\\\x22" x 5 \\d+\\.\\d{3}';
    expect(await lineWith(run, /PUT/)).toMatch(new RegExp(`^127\\.0\\.0\\.1 - alice ${date} ${request}$`));
  });

  it("has the trace after the line of web servers by the format string of the documentation", async () => {
    const page = await readFile(join(projectFolder, "docs/command.md"), "utf8");
    const [, block = ""] = /```yaml\n(log:\n[^`]*)```/.exec(page) ?? [];
    const { format } = parse(block).log;
    expect(findFormatProblem(format)).toBeUndefined();
    const logged: LoggedRequest = {
      ...{ time: new Date(0), address: "192.0.2.1", account: "alice", id: "x", trace: "0af7651916cd43dd" },
      ...{ method: "GET", path: "/home/", protocol: "HTTP/1.1", status: 200, bytes: 300, sent: 100, received: 1 },
      ...{ milliseconds: 5, aborted: false, header: (name) => `the ${name}` },
    };
    expect(createFormat(format)(logged)).toBe(`${createFormat("combined")(logged)} 0af7651916cd43dd`);
  });

  it("has what a format string names, and the client behind a proxy", async () => {
    const format = `$remote_addr|$\{remote_user}|$status|$http_x_labels|$http_absent|$request_uri`;
    const run = await serve(format, { clientForwardedHeader: "X-Forwarded-For" });
    const headers = { ...ALICE, "X-Forwarded-For": "192.0.2.7", "X-Labels": "/__svc__/share/abcdefghijklmnopqrstu/x" };
    await fetch(`${run.url}home/?zip`, { headers });
    expect(await lineWith(run, /192/)).toBe("192.0.2.7|alice|200|/__svc__/share/*/x|-|/home/");
  });

  it.each([
    ["xml", "must be text, json, combined, or a text"],
    ["$http_authorization", "must not show $http_authorization, which may be a secret"],
    ["$status $HTTP_Cookie", "must not show $http_cookie"],
    [`$\{http_x_api_key}`, "must not show $http_x_api_key"],
    ["$http_x_auth_token", "must not show"],
    ["$http_x_amzn_oidc_data", "must not show"],
    ["$http_cf_access_jwt_assertion", "must not show"],
    ["$remote_address", "has the unknown variable $remote_address"],
    ["$", "has the unknown variable $"],
    ["$constructor", "has the unknown variable $constructor"],
    ["$status\n", "must be one line"],
  ])("refuses the format %j", (format, problem) => {
    expect(findFormatProblem(format)).toContain(problem);
  });

  it.each([
    ["https://files.example/home/?q=secret#part", "https://files.example/home/"],
    [
      "https://alice:secret@files.example/__svc__/share/abcdefghijklmnopqrstu/x?a",
      "https://files.example/__svc__/share/*/x",
    ],
    ["/home/a@b?secret", "/home/a@b"],
  ])("leaves secrets of the URL %s out", (url, shown) => {
    const request = { header: () => url } as unknown as LoggedRequest;
    for (const name of ["http_referer", "HTTP_Destination"]) {
      expect(createFormat(`$\{${name}}` as LogFormat)(request)).toBe(shown);
    }
  });

  it("checks that of a configuration", async () => {
    const { runInProcess } = await import("../support/run-in-process.ts");
    const config = await configure({ storage: { type: "memory" }, log: { format: "$http_cookie" } });
    const { status, stderr } = await runInProcess(["serve", "--config", config]);
    expect([status, stderr]).toEqual([2, expect.stringContaining("log.format: must not show $http_cookie")]);
    expect(await runInProcess(["serve", "x", "--log-format", "xml"])).toMatchObject({ status: 2 });
  });
});

describe("a client", () => {
  it.each(["a b", "a\tb", "x".repeat(129), "ä", '"', "a,b"])("cannot choose the identifier %j", async (id) => {
    const run = await serve("json");
    const { hostname, port } = new URL(run.url);
    const socket = connect(Number(port), hostname);
    socket.write(`GET /__svc__/health HTTP/1.1\r\nHost: x\r\nX-Request-Id: ${id}\r\nConnection: close\r\n\r\n`);
    expect(await text(socket)).toMatch(new RegExp(`\r\nX-Request-Id: ${ID}\r\n`));
  });

  const forged = 'x" 200 1 "-" \\ \x1b[31m\u0085\r\n127.0.0.1 - root';

  it.each<LogFormat>(["combined", '$remote_user "$http_user_agent" "$request"'])(
    "cannot forge a line by the format %s",
    (format) => {
      const line = createFormat(format)({
        time: new Date(0),
        address: forged,
        account: forged,
        id: forged,
        method: forged,
        path: forged,
        protocol: forged,
        bytes: 1,
        sent: 1,
        received: 1,
        milliseconds: 1,
        aborted: false,
        header: () => forged,
      });
      expect(line).toMatch(/^[ -~]+$/);
      // As many quotation marks as the format has: the forged ones are escaped.
      expect(line.split('"').length - 1).toBe(format === "combined" ? 6 : 4);
      expect(line).not.toContain(" - root - ");
    },
  );
});

describe("the filter of fail2ban", () => {
  /** The expressions of the filter for JavaScript: Python's names of groups differ. */
  function readFilter(): readonly RegExp[] {
    const filter = readFileSync(join(projectFolder, "examples/fail2ban/fileferry.conf"), "utf8");
    const find = (expression: RegExp): string => expression.exec(filter)?.[1] ?? "";
    const login = find(/^_login = (.*)$/m).replaceAll("%(_text)s", find(/^_text = (.*)$/m));
    const lines = find(/^failregex = (.*(?:\n +.*)*)$/m).split(/\n +/);
    const toExpression = (line: string): string =>
      line.replace("%(_login)s", login).replace("<HOST>", "(?<host>[\\w.:]+)");
    return lines.map((line) => new RegExp(toExpression(line)));
  }

  it.each(FORMATS)(
    "finds refused logins and wrong API keys, and nothing that clients make up, in the format %s",
    async (format) => {
      const lines = (await logRefusedLogins(format)).split("\n");
      const filter = readFilter();
      expect(filter).toHaveLength(2);
      const hosts = lines.flatMap((line) => filter.flatMap((each) => each.exec(line)?.groups?.host ?? []));
      expect(hosts).toEqual(REFUSED);
    },
  );

  it("could not be deceived in the format text by an expression without anchors either", async () => {
    const lines = (await logRefusedLogins("text")).split("\n");
    const requests = lines.filter((line) => /^\d{4}-/.test(line));
    expect(requests.filter((line) => line.includes("203.0.113.66")).length).toBeGreaterThan(10);
    // Only the quotation marks around the agent are real.
    for (const line of requests) expect(line.split('"')).toHaveLength(3);
  });
});
