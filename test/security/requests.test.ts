import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { exchange } from "../runtimes/node/raw-client.ts";
import { streamOf } from "../support/bodies.ts";
import { BROWSER_HEADERS, FORM_TYPE, type FormEntry, formOf, sendFormForJson } from "../support/forms.ts";
import { startProcessorTime } from "../support/processor-time.ts";
import { AUTHORIZATION, serve } from "../support/served.ts";
import { createTestService } from "../support/service.ts";
import { overrideStorage } from "../support/storage.ts";

/*
 * Each test is named after a published failure of another project, and shows that its request does no harm here
 * (SECURITY 11 to 15).
 */

/** Sends requests to a real server, each on a connection of its own; their answers' status lines. */
async function sendAll(requests: readonly string[]): Promise<readonly string[]> {
  const storage = createMemoryStorage();
  const served = await serve(storage);
  try {
    const lines: string[] = [];
    for (const request of requests) lines.push((await exchange(served.port, request)).split("\r\n", 1)[0] ?? "");
    const alive = `GET /home/ HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\nConnection: close\r\n\r\n`;
    expect(await exchange(served.port, alive)).toMatch(/^HTTP\/1\.1 200 /);
    return lines;
  } finally {
    await served.close();
  }
}

/** CPU seconds that something takes: others on the machine do not count. */
async function cpuSecondsOf(action: () => Promise<unknown>): Promise<number> {
  const elapsed = startProcessorTime();
  await action();
  return elapsed() / 1000;
}

describe("forms of requests (SECURITY 11)", () => {
  const fields = `Host: x\r\nConnection: close\r\n\r\n`;

  it("srvx CVE-2026-33732: the absolute form of a target goes round no login and no rule", async () => {
    const lines = await sendAll([
      `GET http://x/home/a HTTP/1.1\r\n${fields}`,
      `GET http://evil.example/home/a HTTP/1.1\r\n${fields}`,
      `GET http://x/__svc__/../home/a HTTP/1.1\r\n${fields}`,
      `GET http://x//home/a HTTP/1.1\r\n${fields}`,
    ]);
    for (const line of lines) expect(line).toMatch(/^HTTP\/1\.1 (?:40[0134]|421) /);
  });

  it("srvx issues 191, 206; node-server issues 159, 185: no Host and no target ends the process", async () => {
    const lines = await sendAll([
      "GET /home/ HTTP/1.1\r\nHost: a b\r\nConnection: close\r\n\r\n",
      "GET /home/ HTTP/1.1\r\nHost: [::1\r\nConnection: close\r\n\r\n",
      "GET /home/ HTTP/1.1\r\nHost: x:99999\r\nConnection: close\r\n\r\n",
      "GET /home/ HTTP/1.1\r\nHost: \r\nConnection: close\r\n\r\n",
      "GET /home/ HTTP/1.1\r\nHost: x/../y\r\nConnection: close\r\n\r\n",
      `OPTIONS * HTTP/1.1\r\n${fields}`,
      `GET * HTTP/1.1\r\n${fields}`,
      `GET // HTTP/1.1\r\n${fields}`,
      `GET //// HTTP/1.1\r\n${fields}`,
      `GET /home/#a HTTP/1.1\r\n${fields}`,
      `GET http:// HTTP/1.1\r\n${fields}`,
      `GET /${"a/".repeat(7000)} HTTP/1.1\r\n${fields}`,
      `GET /home/?${"a".repeat(14_000)} HTTP/1.1\r\n${fields}`,
    ]);
    for (const line of lines) expect(line).toMatch(/^HTTP\/1\.[01] [2-4]\d\d /);
  });

  it("webdav-server: %00 and broken percent signs are a bad request, and the process goes on", async () => {
    const lines = await sendAll(
      ["%00", "a%00b", "%", "%2", "%zz", "%ff", "%c0%ae", "%ed%a0%80", "%f5%80%80%80"].map(
        (name) => `GET /home/${name} HTTP/1.1\r\nAuthorization: ${AUTHORIZATION}\r\n${fields}`,
      ),
    );
    for (const line of lines) expect(line).toMatch(/^HTTP\/1\.1 400 /);
  });
});

describe("bodies (SECURITY 12)", () => {
  const files = { "/alice/f/": "" };
  const heads = [
    'Content-Disposition: form-data; name="upload-file"; filename="',
    "Content-Disposition: form-data;",
    "Content-Disposition\u00a0: form-data",
    ": form-data",
    "",
  ];

  it("dicer CVE-2022-24434, multer CVE-2025-47935: a part whose head is broken is refused, and ends nothing", async () => {
    const test = await createTestService({ files });
    for (const head of heads) {
      const body = Buffer.from(`--${FORM_TYPE.split("=")[1]}\r\n${head}\r\n\r\nx\r\n--${FORM_TYPE.split("=")[1]}--`);
      const answer = await test.call("POST", "/home/f/", { headers: BROWSER_HEADERS, body });
      expect([head, Math.floor(answer.status / 100)]).toEqual([head, 4]);
    }
    for (const cut of [5, 60, 150, 200]) {
      const whole = formOf(["action", "upload-file"], ["upload-file", "a", "x"]);
      const body = whole.subarray(0, Math.min(cut, whole.byteLength - 10));
      const answer = await test.call("POST", "/home/f/", { headers: BROWSER_HEADERS, body });
      expect([cut, answer.status]).toEqual([cut, 400]);
    }
    expect(await test.stored("/alice/f/a")).toBeUndefined();
  });

  it.each([
    ["one name of 15,000 quotes", `name="upload-file"; filename="${"\\".repeat(15_000)}`],
    ["15,000 blanks", `name="upload-file";${" ".repeat(15_000)}filename="a"`],
    ["7,000 parameters", `name="upload-file"${";a".repeat(7000)}; filename="a"`],
    ["a name that never ends", `name="upload-file"; filename=${"a;".repeat(7000)}`],
  ])("multiparty CVE-2026-8159: the head of a part takes linear time: %s", async (_what, head) => {
    const test = await createTestService({ files });
    const boundary = FORM_TYPE.split("=")[1];
    const part = `--${boundary}\r\nContent-Disposition: form-data; ${head}\r\n\r\nx\r\n`;
    const body = Buffer.from(`${part.repeat(50)}--${boundary}--\r\n`);
    const seconds = await cpuSecondsOf(() => test.call("POST", "/home/f/", { headers: BROWSER_HEADERS, body }));
    expect(seconds).toBeLessThan(1);
  });

  it("hono CVE-2026-44456: a limit holds for a body that announces no length, or a wrong one", async () => {
    const test = await createTestService({ files, limits: { maxFileBytes: 1000 } });
    const chunks = Array.from({ length: 50 }, () => "x".repeat(100));
    const put = await test.call("PUT", "/home/f/a", { body: streamOf(...chunks) });
    const login = await test.call("POST", "/__svc__/login", {
      as: null,
      headers: { "content-type": "application/json" },
      body: streamOf('{"username":"', ...Array.from({ length: 30_000 }, () => "x".repeat(100)), '"}'),
    });
    expect([put.status, login.status]).toEqual([413, 413]);
    expect(await test.stored("/alice/f/a")).toBeUndefined();
  });
});

describe("keys of clients (SECURITY 13)", () => {
  it("hono GHSA-v8w9-8mx6-g223: names of objects' own members are names like any other", async () => {
    const before = Object.getOwnPropertyNames(Object.prototype);
    const test = await createTestService({ files: { "/alice/f/": "" }, metadataFields: "X-Labels" });
    const names = ["__proto__", "constructor", "prototype", "toString", "__defineGetter__"];
    for (const name of names) {
      const form: FormEntry[] = [
        ["action", "upload-file"],
        [name, "polluted"],
        ["upload-file", name, "x"],
      ];
      await sendFormForJson(test, "/home/f/", form, { undescribed: "fields that nobody reads" });
      expect(await test.stored(`/alice/f/${name}`)).toBe("x");
      await test.call("POST", "/home/f/", {
        variant: "json",
        headers: { "content-type": "application/json" },
        body: `{"commands":[{"command":"${name}","target":"a","__proto__":{"polluted":1}}],"__proto__":{"polluted":1}}`,
        undescribed: "the point is what no description has",
      });
      await test.call("GET", `/home/f/?${name}[polluted]=1&${name}=1`, { undescribed: "queries that nobody reads" });
      const body = JSON.stringify({ username: name, password: name });
      const headers = { "content-type": "application/json" };
      expect((await test.call("POST", "/__svc__/login", { as: null, headers, body })).status).toBe(401);
    }
    const headers = { "x-labels": "__proto__=polluted,constructor=polluted,polluted=1" };
    expect((await test.call("PUT", "/home/f/b", { body: "x", headers })).status).toBe(201);
    expect(({} as { polluted?: unknown }).polluted).toBeUndefined();
    expect(Object.getOwnPropertyNames(Object.prototype)).toEqual(before);
  });
});

describe("failures (SECURITY 14)", () => {
  it("rclone GHSA-gwfq-86j8-7qhv: an unknown failure tells the client an id, and no stack, path or message", async () => {
    const failure = Object.assign(new Error("EIO: at /srv/secret/place"), { code: "EIO", path: "/srv/secret/place" });
    const fail = () => Promise.reject(failure);
    const storage = overrideStorage(createMemoryStorage(), {
      read: fail,
      remove: fail,
      // biome-ignore lint/correctness/useYield: it fails before.
      list: async function* () {
        throw failure;
      },
    });
    const test = await createTestService({ storage });
    for (const [method, target] of [
      ["GET", "/home/a"],
      ["GET", "/home/"],
      ["DELETE", "/home/a"],
    ] as const) {
      for (const variant of ["json", "webdav", "html"] as const) {
        const answer = await test.call(method, target, { variant });
        expect(answer.status).toBeGreaterThanOrEqual(400);
        expect(answer.text + JSON.stringify([...answer.headers])).not.toMatch(/EIO|\/srv|secret|at .*:\d+|\.ts/);
      }
    }
  });
});

describe("ranges and dates (SECURITY 15)", () => {
  const content = "0123456789".repeat(100);

  it("Apache CVE-2011-3192: hundreds of ranges that overlap are answered by the whole at most", async () => {
    const test = await createTestService({ files: { "/alice/a": content } });
    const many = `bytes=0-,${Array.from({ length: 1300 }, (_, index) => `5-${index}`).join(",")}`;
    for (const range of [many, "bytes=0-,0-,0-,0-,0-,0-", `bytes=${"0-0,2-2,".repeat(500)}9-9`]) {
      const answer = await test.call("GET", "/home/a", { headers: { range } });
      expect(answer.bytes.byteLength).toBeLessThan(content.length + 4000);
    }
  });

  it("nginx CVE-2017-7529: numbers beyond any size reach no byte that is not of the file", async () => {
    const test = await createTestService({ files: { "/alice/a": content } });
    for (const range of [
      "bytes=-9223372036854775608",
      "bytes=-18446744073709551615",
      "bytes=9223372036854775807-",
      "bytes=0-18446744073709551616",
      "bytes=-1000,-9223372036854774808",
      "bytes=99999999999999999999999-",
    ]) {
      const answer = await test.call("GET", "/home/a", { headers: { range } });
      expect([range, answer.status]).toEqual([range, expect.toBeOneOf([200, 206, 416])]);
      if (answer.status === 200) expect(answer.text).toBe(content);
      if (answer.status === 206 && !answer.header("content-type")?.startsWith("multipart")) {
        expect(content.endsWith(answer.text) || content.startsWith(answer.text)).toBe(true);
      }
    }
  });
});
