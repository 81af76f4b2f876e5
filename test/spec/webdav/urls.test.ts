import { describe, expect, it } from "vitest";
import type { TestService } from "../../support/service.ts";
import { call, createDav, undescribed } from "./calls.ts";

const LOCK_BODY = `<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>`;

async function tokenOf(test: TestService, path: string): Promise<string> {
  return (await call(test, "LOCK", path, {}, LOCK_BODY)).header("lock-token") ?? "";
}

describe("/ and /home with the option webdav", () => {
  it.each(["MKCOL", "DELETE", "PUT", "POST", "COPY", "MOVE", "LOCK", "UNLOCK", "PROPPATCH"])(
    "%s is 405: WebDAV clients follow no redirect",
    async (method) => {
      const test = await createDav();
      for (const path of ["/", "/home"]) {
        const answer = await test.call(method, path, {
          undescribed: /^(?:MKCOL|DELETE|PUT|POST)$/.test(method) ? undefined : undescribed,
        });
        expect([answer.status, answer.header("allow")]).toEqual([405, "PROPFIND, GET, HEAD, OPTIONS"]);
      }
    },
  );

  it("other clients, and GET, are redirected as before", async () => {
    const test = await createDav();
    for (const variant of ["json", "html"] as const) {
      expect((await test.call("DELETE", "/home", { variant })).status).toBe(307);
    }
    expect((await test.call("GET", "/", { variant: "webdav" })).status).toBe(302);
    const without = await createDav({ webdav: undefined } as object);
    expect((await without.call("DELETE", "/home", { variant: "webdav" })).status).toBe(307);
  });
});

describe("a folder's URL without its slash", () => {
  it("is the folder for all six methods, and Content-Location has the slash", async () => {
    const test = await createDav();
    const locations: unknown[] = [];
    const send = async (method: string, headers: Record<string, string> = {}, body?: string) => {
      const answer = await call(test, method, "/home/f", headers, body);
      locations.push([method, answer.status, answer.header("content-location")]);
      return answer;
    };
    await send("PROPFIND", { depth: "1" });
    await send(
      "PROPPATCH",
      {},
      `<propertyupdate xmlns="DAV:"><set><prop><a xmlns="urn:x">1</a></prop></set></propertyupdate>`,
    );
    const token = (await send("LOCK", {}, LOCK_BODY)).header("lock-token") ?? "";
    await send("LOCK", { if: `(${token})` });
    await send("UNLOCK", { "lock-token": token });
    await send("COPY", { destination: "/home/h" });
    await send("COPY", { destination: "/home/h" });
    await send("MOVE", { destination: "/home/h" });
    expect(locations).toEqual(
      [
        ["PROPFIND", 207],
        ["PROPPATCH", 207],
        ["LOCK", 200],
        ["LOCK", 200],
        ["UNLOCK", 204],
        ["COPY", 201],
        ["COPY", 204],
        ["MOVE", 204],
      ].map((row) => [...row, "/home/f/"]),
    );
  });

  it("has MKCOL in Allow, which creates it", async () => {
    const test = await createDav();
    const { headers } = await test.call("OPTIONS", "/home/new", { as: null });
    expect(headers.get("allow")).toBe(
      "PROPFIND, PROPPATCH, COPY, MOVE, LOCK, UNLOCK, MKCOL, GET, HEAD, PUT, DELETE, OPTIONS",
    );
    expect((await call(test, "MKCOL", "/home/new")).status).toBe(201);
  });

  it("is percent-encoded in the Content-Location of DELETE as in other responses", async () => {
    const test = await createDav();
    expect((await call(test, "MKCOL", "/home/a,b%20(1)")).header("content-location")).toBe("/home/a,b%20(1)/");
    expect((await call(test, "DELETE", "/home/a,b%20(1)")).header("content-location")).toBe("/home/a,b%20(1)/");
  });
});

describe("a file's URL with a slash", () => {
  it("is 404 for all six methods", async () => {
    const test = await createDav();
    const token = await tokenOf(test, "/home/a.txt");
    const requests: readonly (readonly [string, Record<string, string>, string?])[] = [
      ["PROPFIND", { depth: "0" }],
      ["PROPPATCH", {}, `<propertyupdate xmlns="DAV:"><set><prop/></set></propertyupdate>`],
      ["COPY", { destination: "/home/b.txt" }],
      ["MOVE", { destination: "/home/b.txt" }],
      ["LOCK", {}, LOCK_BODY],
      ["LOCK", { if: `(${token})` }],
      ["UNLOCK", { "lock-token": token }],
    ];
    for (const [method, headers, body] of requests) {
      expect([method, (await call(test, method, "/home/a.txt/", headers, body)).status]).toEqual([method, 404]);
    }
    expect((await call(test, "PUT", "/home/a.txt", {}, "x")).status).toBe(423);
  });
});

describe("the reserved name", () => {
  it("is 404 as a folder, and 403 for what would be created there", async () => {
    const test = await createDav();
    const token = await tokenOf(test, "/home/a.txt");
    expect((await call(test, "UNLOCK", "/home/__svc__/", { "lock-token": token })).status).toBe(404);
    expect((await call(test, "LOCK", "/home/__svc__/", {}, LOCK_BODY)).status).toBe(404);
    for (const path of ["/home/__svc__", "/home/__svc__/x"]) {
      expect((await call(test, "LOCK", path, {}, LOCK_BODY)).status).toBe(403);
    }
    expect(await test.storage.stat("/alice/__svc__")).toBeUndefined();
  });
});

describe("Depth and bodies", () => {
  it("Depth has no meaning on a file, and is compared without case", async () => {
    const test = await createDav();
    expect((await call(test, "PROPFIND", "/home/a.txt", { depth: "7" })).status).toBe(207);
    expect((await call(test, "COPY", "/home/a.txt", { depth: "1", destination: "/home/b.txt" })).status).toBe(201);
    expect((await call(test, "MOVE", "/home/b.txt", { depth: "0", destination: "/home/c.txt" })).status).toBe(201);
    expect((await call(test, "LOCK", "/home/a.txt", { depth: "1" }, LOCK_BODY)).status).toBe(200);
    expect((await call(test, "LOCK", "/home/new.txt", { depth: "1" }, LOCK_BODY)).status).toBe(201);
    expect((await call(test, "DELETE", "/home/c.txt", { depth: "0" })).status).toBe(204);
    expect((await call(test, "LOCK", "/home/f/", { depth: "Infinity" }, LOCK_BODY)).status).toBe(200);
  });

  it.each([
    ["PROPFIND", "2"],
    ["COPY", "1"],
    ["MOVE", "0"],
    ["LOCK", "1"],
    ["DELETE", "0"],
  ])("%s of a folder with Depth: %s is 400", async (method, depth) => {
    const test = await createDav();
    const body = method === "LOCK" ? LOCK_BODY : undefined;
    for (const path of ["/home/f/", "/home/f"]) {
      expect((await call(test, method, path, { depth, destination: "/home/h/" }, body)).status).toBe(400);
    }
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it.each(["COPY", "MOVE", "UNLOCK", "DELETE"])("a %s with a body is 415", async (method) => {
    const test = await createDav();
    for (const path of ["/home/f/", "/home/f", "/home/a.txt"]) {
      const answer = await call(test, method, path, { destination: "/home/h" }, "x");
      expect([answer.status, answer.header("error-code")]).toEqual([415, "body-unexpected"]);
    }
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it.each(["DELETE", "UNLOCK", "COPY", "MOVE", "MKCOL"])(
    "a %s with an empty body of unknown length is like one without, as Deno has it",
    async (method) => {
      const test = await createDav({ requestClass: Request });
      const token = await tokenOf(test, "/home/f");
      const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.close() });
      const headers = { destination: "/home/h", "lock-token": token, if: `</home/f/> (${token})` };
      const path = method === "MKCOL" ? "/home/f/new" : "/home/f";
      expect((await test.call(method, path, { headers, body, undescribed })).status).toBeLessThan(300);
    },
  );

  it("a DELETE of JSON clients, and of a service without the option, is as before", async () => {
    const options = { headers: { depth: "0" }, body: "x", undescribed };
    const test = await createDav();
    expect((await test.call("DELETE", "/home/f/", { ...options, variant: "json" })).status).toBe(204);
    const without = await createDav({ webdav: undefined } as object);
    expect((await without.call("DELETE", "/home/f/", { ...options, variant: "webdav" })).status).toBe(204);
  });
});
