import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import type { WireAnswer } from "./client.ts";

const JSON_API = { Accept: "application/json" };
/** The origin that the example lists. */
const LISTED = "https://app.example";
/** Origins that resemble it. */
const OTHERS = ["https://evil.example", `${LISTED}.evil.example`, "https://APP.example", `${LISTED}:8443`, "null"];
const PREFLIGHT = { "Access-Control-Request-Method": "PUT", "Access-Control-Request-Headers": "authorization" };

/** The fields of the CORS protocol, by name, and whether caches know that the response depends on the origin. */
function corsOf({ fields, header }: WireAnswer): readonly [fields: readonly string[], varies: boolean] {
  const names = Object.keys(fields).filter((name) => name.startsWith("access-control-"));
  return [names.sort(), /\bOrigin\b/i.test(header("vary") ?? "")];
}

const READABLE = ["access-control-allow-origin", "access-control-expose-headers"];
const ALLOWED = ["access-control-allow-headers", "access-control-allow-methods", ...READABLE, "access-control-max-age"];

/** Scripts of other origins (the CORS protocol of the Fetch standard). */
export const corsCases: readonly WireCase[] = [
  wireCase(
    "a preflight of a listed origin allows the methods of the URL, without a login",
    async ({ call, folder }) => {
      const answer = await call("OPTIONS", `${folder}a`, { as: null, headers: { Origin: LISTED, ...PREFLIGHT } });
      expect([answer.status, answer.bytes.length]).toEqual([200, 0]);
      expect(corsOf(answer)).toEqual([ALLOWED, true]);
      expect(answer.header("access-control-allow-origin")).toBe(LISTED);
      expect(answer.header("access-control-allow-methods")).toBe(answer.header("allow"));
      expect(answer.header("access-control-allow-headers")).toMatch(/\bAuthorization\b.*, X-Labels$/i);
    },
  ),
  wireCase("a script of a listed origin reads responses and refusals, never with credentials", async (environment) => {
    const { call, folder, put } = environment;
    await put("a", "x");
    const tag = (await call("HEAD", `${folder}a`)).header("etag") ?? "";
    for (const [path, status, as, headers] of [
      ["a", 200, "alice", {}],
      ["a", 304, "alice", { "If-None-Match": tag }],
      ["missing", 404, "alice", {}],
      ["a", 401, null, {}],
    ] as const) {
      const answer = await call("GET", folder + path, { as, headers: { ...JSON_API, ...headers, Origin: LISTED } });
      expect([answer.status, ...corsOf(answer)]).toEqual([status, READABLE, true]);
      expect(answer.header("access-control-allow-origin")).toBe(LISTED);
    }
  }),
  wireCase("a script of any other origin gets no field of CORS, and no other status", async ({ call, folder, put }) => {
    await put("a", "x");
    for (const Origin of OTHERS) {
      const answer = await call("GET", `${folder}a`, { headers: { ...JSON_API, Origin } });
      expect([Origin, answer.status, ...corsOf(answer)]).toEqual([Origin, 200, [], true]);
      const preflight = await call("OPTIONS", `${folder}a`, { as: null, headers: { Origin, ...PREFLIGHT } });
      expect([Origin, preflight.status, ...corsOf(preflight)]).toEqual([Origin, 200, [], true]);
    }
  }),
];
