import { gzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { FORM_TYPE, formOf } from "../../support/forms.ts";
import { createTestService, variants } from "../../support/service.ts";

const JSON_TYPE = "application/json";
const URLENCODED = "application/x-www-form-urlencoded";
const COMMANDS = '{"commands":[{"command":"create-folder","target":"new"}]}';

const BODIES: readonly (readonly [what: string, method: string, target: string, type: string, body: string])[] = [
  ["a file", "PUT", "/home/new", "text/plain", "content"],
  ["commands", "POST", "/home/", JSON_TYPE, COMMANDS],
  [
    "a form",
    "POST",
    "/home/",
    FORM_TYPE,
    Buffer.from(formOf(["action", "create-folder"], ["new-folder", "new"])).toString(),
  ],
  ["a login in JSON", "POST", "/__svc__/login", JSON_TYPE, '{"username":"alice","password":"secret"}'],
  ["a login by form", "POST", "/__svc__/login", URLENCODED, "username=alice&password=secret"],
];

describe("coded content (RFC 9110 8.4)", () => {
  it.each(BODIES)(
    "is answered 415 with what is taken, and nothing is done, as %s",
    async (_what, method, target, type, body) => {
      const { call, storage } = await createTestService();
      for (const variant of variants) {
        for (const coding of ["gzip", "br", "gzip, identity", "IDENTITY, gzip"]) {
          const headers = { "content-type": type, "content-encoding": coding };
          const answer = await call(method, target, { variant, headers, body: gzipSync(body), undescribed: "coded" });
          expect(answer.status).toBe(415);
          expect(answer.header("accept-encoding")).toBe("identity");
        }
      }
      expect(await storage.stat("/alice/new")).toBeUndefined();
    },
  );

  it.each(BODIES)("may be said to be none, as %s", async (_what, method, target, type, body) => {
    const { call } = await createTestService();
    const headers = { "content-type": type, "content-encoding": "Identity" };
    const answer = await call(method, target, { variant: "json", headers, body, undescribed: "in capitals" });
    expect(answer.status).toBeLessThan(400);
  });
});
