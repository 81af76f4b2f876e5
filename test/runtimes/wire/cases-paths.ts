import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { OUTSIDE } from "./client.ts";

const JSON_API = { Accept: "application/json" };

/** Names that are kept byte for byte, as they stand in a URL, and what the header `Server-Path` makes of them. */
const NAMES: readonly (readonly [written: string, name: string])[] = [
  ["a%20b.txt", "a b.txt"],
  ["gr%C3%BC%C3%9Fe", "grüße"],
  ["gru%CC%88n", "gru\u0308n"],
  ["%E2%98%83%F0%9F%90%9F", "☃🐟"],
  ["50%25", "50%"],
  ["a+b", "a+b"],
  ["%3Fquery%23fragment", "?query#fragment"],
  ["a%3Bb%3A%2A%22", 'a;b:*"'],
  ["...", "..."],
  ["%20", " "],
  ["constructor", "constructor"],
];

/** What is no path: 400, and nothing is made. */
const REFUSED: readonly string[] = [
  "a%2Fb",
  "a%5Cb",
  "a%00b",
  "a%0Ab",
  "a%7Fb",
  "a%zz",
  "a%",
  "%FF",
  "%C0%AE",
  "%ED%A0%80",
  "a//b",
];

/** Ways out of the folder. */
const CLIMBS: readonly string[] = ["../x", "%2e%2e/x", ".%2E/x", "./x", "%2e/x"];

/** Ways to the file outside from a folder in a home, however the dots and slashes are written and however far up. */
const WAYS_OUT: readonly string[] = ["../../", "%2e%2e/", ".%2E/", "..%2F", "..%5C", "%2e%2e%2f", "..;/"].flatMap(
  (climb) => [1, 2, 3].map((levels) => `${climb.repeat(levels)}${OUTSIDE.path}`),
);

/** What is elsewhere, with the status of GET. */
const ELSEWHERE: readonly (readonly [target: string, status: number])[] = [
  ["/elsewhere", 404],
  ["/homeless/", 404],
  ["/__svc__/", 404],
  ["/__svc__/nothing", 404],
  ["/__svc__/assets/nothing.js", 404],
  ["/home/__svc__/", 404],
];

/** The URL space (CONTRACT 1, 2). */
export const pathCases: readonly WireCase[] = [
  ...NAMES.map(([written, name]) =>
    wireCase(`the name ${written} is kept`, async ({ call, folder, names }) => {
      const put = await call("PUT", folder + written, { body: "x" });
      expect(put.status).toBe(201);
      const path = `${folder.slice(5)}${name}`;
      expect(decodeURIComponent(put.header("server-path") ?? "")).toBe(path);
      expect((await call("GET", folder + written)).text).toBe("x");
      expect(await names()).toEqual([name]);
    }),
  ),
  ...REFUSED.map((written) =>
    wireCase(`the path ${written} is 400`, async ({ call, folder, names }) => {
      expect((await call("PUT", folder + written, { headers: JSON_API, body: "x" })).status).toBe(400);
      expect((await call("GET", folder + written, { headers: JSON_API })).status).toBe(400);
      expect(await names()).toEqual([]);
    }),
  ),
  ...CLIMBS.map((written) =>
    wireCase(`the path ${written} is 400, and is not resolved`, async ({ call, folder, names }) => {
      expect((await call("PUT", `${folder}${written}`, { headers: JSON_API, body: "x" })).status).toBe(400);
      expect(await names()).toEqual([]);
    }),
  ),
  ...WAYS_OUT.map((written) =>
    wireCase(`the path ${written} leads out of no account`, async ({ call, folder }) => {
      const undescribed = "some runtimes resolve it first, to what is outside of the service";
      for (const as of ["alice", "guest"]) {
        const answer = await call("GET", `${folder}${written}`, { as, headers: JSON_API, undescribed });
        expect([400, 404]).toContain(answer.status);
        expect(answer.text).not.toContain(OUTSIDE.content);
      }
    }),
  ),
  wireCase("a name of 255 bytes is kept, one of 256 is 400", async ({ call, folder, names }) => {
    const name = "n".repeat(255);
    expect((await call("PUT", folder + name, { body: "x" })).status).toBe(201);
    expect((await call("PUT", `${folder}${name}n`, { headers: JSON_API, body: "x" })).status).toBe(400);
    expect(await names()).toEqual([name]);
  }),
  ...ELSEWHERE.map(([target, status]) =>
    wireCase(`GET ${target} is ${status}`, async ({ call }) => {
      expect((await call("GET", target, { headers: JSON_API })).status).toBe(status);
    }),
  ),
  ...["/", "/home"].map((target) =>
    wireCase(`GET ${target} leads to /home/`, async ({ call }) => {
      const answer = await call("GET", target, { as: null });
      expect([answer.status, answer.header("location")]).toEqual([302, "/home/"]);
    }),
  ),
  wireCase("the reserved name cannot be made", async ({ call }) => {
    expect((await call("PUT", "/home/__svc__/", { headers: JSON_API })).status).toBe(403);
    expect((await call("PUT", "/home/__svc__/a", { headers: JSON_API, body: "x" })).status).toBe(403);
  }),
  wireCase("OPTIONS has no content but Allow, also for who has no credentials", async ({ call, folder }) => {
    for (const target of [folder, `${folder}a`, `${folder}none/`, "/__svc__/login"]) {
      const answer = await call("OPTIONS", target, { as: null });
      expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
      expect(answer.header("allow")).toContain("OPTIONS");
    }
  }),
  ...["PATCH", "REPORT", "SEARCH", "ACL"].map((method) =>
    wireCase(`${method} is 501`, async ({ call, folder }) => {
      expect((await call(method, folder)).status).toBe(501);
    }),
  ),
  wireCase("a method that nobody knows is 501 or ends the connection, and does nothing", async (environment) => {
    const { open, folder, names } = environment;
    const connection = await open();
    connection.send(`FROB ${folder}a HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    const text = await connection.ended();
    if (text !== "") expect(text).toMatch(/^HTTP\/1\.1 (?:400|501) /);
    expect(await names()).toEqual([]);
  }),
  wireCase("DELETE of the login is 405 with Allow", async ({ call }) => {
    const answer = await call("DELETE", "/__svc__/login", { headers: JSON_API });
    expect([answer.status, answer.header("allow")]).toEqual([405, "GET, HEAD, POST, OPTIONS"]);
  }),
  wireCase("a query that is none of ours is passed over", async ({ call, folder, put }) => {
    await put("a", "x");
    expect((await call("GET", `${folder}a?b=/../c&%zz`, { undescribed: "it is ignored" })).text).toBe("x");
  }),
];
