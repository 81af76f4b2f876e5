import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { StorageAttributes } from "../../../src/contracts/storage-attributes.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createTestService, type TestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { call, createDav, hrefsOf, prop, set, undescribed } from "./calls.ts";

function createFor(settings: AccountSettings): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return createDav({ authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

describe("without the option webdav", () => {
  it("the methods are 501, and no response has the header DAV", async () => {
    const test = await createTestService({ files: { "/alice/a.txt": "a" } });
    for (const method of ["PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK"]) {
      expect((await call(test, method, "/home/a.txt")).status).toBe(501);
    }
    const options = await test.call("OPTIONS", "/home/");
    expect([options.status, options.header("dav")]).toEqual([204, null]);
  });

  it("rest and browser mounted alone have none of them, with the option too", async () => {
    const { service } = await createDav();
    for (const api of [service.rest, service.browser]) {
      const request = new Request("http://localhost/home/", { method: "PROPFIND", headers: { depth: "0" } });
      expect((await api(request, {})).status).toBe(501);
    }
  });
});

describe("OPTIONS with the option webdav (RFC 4918 10.1)", () => {
  it.each(["/", "/home", "/home/", "/home/f/", "/home/f", "/home/none"])(
    "%s needs no login and has what clients look for",
    async (path) => {
      const test = await createDav();
      const answer = await test.call("OPTIONS", path, { as: null });
      expect([answer.status, answer.header("dav"), answer.header("ms-author-via")]).toEqual([200, "1, 2, 3", "DAV"]);
      expect(answer.header("content-length")).toBe("0");
      expect(answer.header("allow")).toContain("PROPFIND");
    },
  );
});

describe("PROPFIND (RFC 4918 9.1)", () => {
  it("of depth 0 has the properties of a folder, also without the slash of its URL", async () => {
    const test = await createDav();
    for (const path of ["/home/f/", "/home/f"]) {
      const answer = await call(test, "PROPFIND", path, { depth: "0" });
      expect([answer.status, answer.header("content-type")]).toEqual([207, "application/xml; charset=utf-8"]);
      expect(hrefsOf(answer)).toEqual(["/home/f/"]);
      expect(answer.text).toContain("<D:resourcetype><D:collection/></D:resourcetype>");
      expect(answer.header("content-location")).toBe(path.endsWith("/") ? null : "/home/f/");
    }
  });

  it("of depth 1 has the folder first, then its members, percent-encoded as RFC 3986 needs it", async () => {
    const test = await createDav();
    const answer = await call(test, "PROPFIND", "/home/f/", { depth: "1" });
    const [self, ...members] = hrefsOf(answer);
    expect(self).toBe("/home/f/");
    expect(members.sort()).toEqual(["/home/f/b%20&amp;%20c.txt", "/home/f/sub/"]);
    expect(answer.text).toContain("<D:getcontentlength>2</D:getcontentlength>");
    expect(answer.text.endsWith("</D:multistatus>")).toBe(true);
  });

  it("names what is missing with 404, unless a minimal response is preferred", async () => {
    const test = await createDav();
    const body = prop("<getcontentlength/><x:none/>");
    const answer = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, body);
    expect(answer.text).toContain("HTTP/1.1 404 Not Found");
    for (const headers of [{ prefer: "return=minimal" }, { brief: "t" }]) {
      const minimal = await call(test, "PROPFIND", "/home/a.txt", { depth: "0", ...headers }, body);
      expect(minimal.text).not.toContain("404");
    }
  });

  it("is 404 for what is missing, for a file with a slash, and below the reserved name", async () => {
    const test = await createDav();
    for (const path of ["/home/none", "/home/a.txt/", "/home/__svc__/", "/home/a.txt/b"]) {
      expect((await call(test, "PROPFIND", path, { depth: "0" })).status).toBe(404);
    }
  });

  it("of infinite depth is 403 with its condition, unless the option allows it", async () => {
    const test = await createDav();
    for (const headers of [{ depth: "infinity" }, {}]) {
      const answer = await call(test, "PROPFIND", "/home/", headers);
      expect([answer.status, answer.text.includes("<D:propfind-finite-depth/>")]).toEqual([403, true]);
    }
    const deep = await createDav({ webdav: { infiniteDepth: true } });
    const answer = await call(deep, "PROPFIND", "/home/");
    expect(hrefsOf(answer)).toContain("/home/f/sub/deep.txt");
  });

  it("of / and /home shows the home folder", async () => {
    const test = await createDav();
    for (const path of ["/", "/home"]) {
      expect(hrefsOf(await call(test, "PROPFIND", path, { depth: "0" }))).toEqual([path]);
      expect(hrefsOf(await call(test, "PROPFIND", path, { depth: "1" }))).toEqual([path, "/home/"]);
      expect((await call(test, "PROPPATCH", path, {}, set("<x:a/>"))).status).toBe(405);
    }
  });

  it("describes no member before it is sent: a long name may have to be written for each", async () => {
    const memory = createMemoryStorage();
    let described = 0;
    const list = async function* (path: string) {
      yield* memory.list(path);
    };
    const attributes: StorageAttributes = {
      change: (path, changes) => (memory.attributes as StorageAttributes).change(path, changes),
      async properties() {
        described += 1;
        return new Map();
      },
    };
    const test = await createDav({ storage: overrideStorage(memory, { attributes, list }) });
    for (let index = 0; index < 60; index += 1) {
      await test.call("PUT", `/home/g/${index}`, { body: "x" });
      await call(test, "PROPPATCH", `/home/g/${index}`, {}, set("<x:a/>"));
    }
    const body = `<propfind xmlns="DAV:"><prop><n:a xmlns:n='${'"'.repeat(65_000)}'/></prop></propfind>`;
    const headers = { depth: "1", "content-type": "application/xml" };
    const response = await test.open("PROPFIND", "/home/g/", { headers, body, undescribed });
    const reader = (response.body as ReadableStream<Uint8Array>).getReader();
    for (let bytes = 0; bytes < 1_000_000; ) bytes += (await reader.read()).value?.byteLength ?? 0;
    expect(described).toBeGreaterThan(0);
    expect(described).toBeLessThan(10);
    while (!(await reader.read()).done);
    expect(described).toBe(60);
  });

  it("needs a login, by Basic alone", async () => {
    const test = await createDav();
    const answer = await test.call("PROPFIND", "/home/", { as: null, undescribed });
    expect([answer.status, answer.header("www-authenticate")]).toEqual([401, 'basic realm="Web files access"']);
  });

  it("of a member shows its kind to everybody, and the rest to those who may read it", async () => {
    const test = await createFor({ permissions: [["allow-write"]] });
    const answer = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<resourcetype/><getetag/>"));
    expect([answer.status, answer.text.includes("HTTP/1.1 403 Forbidden")]).toEqual([207, true]);
    expect((await call(test, "PROPFIND", "/home/f/", { depth: "1" })).status).toBe(403);
  });

  it("of depth 1 is complete for an account that may only traverse, without what it may not see", async () => {
    const test = await createFor({ permissions: [["allow-traverse"]] });
    await test.storage.attributes?.change("/alice/f", {
      properties: new Map([["{urn:x}a", '<a xmlns="urn:x">secret</a>']]),
    });
    const answer = await call(test, "PROPFIND", "/home/", { depth: "1" });
    expect([...hrefsOf(answer)].sort()).toEqual(["/home/", "/home/f/", "/home/g/"]);
    expect(answer.text).not.toContain("secret");
  });

  it.each([
    ["no XML", "x", 400],
    ["a document type", '<!DOCTYPE a [<!ENTITY b "c">]><propfind xmlns="DAV:"><allprop/></propfind>', 400],
    ["something else", '<lockinfo xmlns="DAV:"/>', 400],
    ["too much", `<propfind xmlns="DAV:"><prop>${"<a/>".repeat(20_000)}</prop></propfind>`, 413],
  ])("refuses %s", async (_, body, status) => {
    const test = await createDav();
    expect((await call(test, "PROPFIND", "/home/", { depth: "0" }, body)).status).toBe(status);
  });
});

describe("PROPPATCH (RFC 4918 9.2)", () => {
  it("keeps a property, which a write, a copy and a move keep too", async () => {
    const test = await createDav();
    const patched = await call(
      test,
      "PROPPATCH",
      "/home/a.txt",
      {},
      set('<x:colour xml:lang="en">r<b>e</b>d</x:colour>'),
    );
    expect([patched.status, patched.text.includes("HTTP/1.1 200 OK")]).toEqual([207, true]);
    await test.call("PUT", "/home/a.txt", { body: "new" });
    await call(test, "COPY", "/home/a.txt", { destination: "/home/copy.txt" });
    await call(test, "MOVE", "/home/a.txt", { destination: "/home/moved.txt" });
    for (const path of ["/home/copy.txt", "/home/moved.txt"]) {
      const { text } = await call(test, "PROPFIND", path, { depth: "0" }, prop("<x:colour/>"));
      expect(text).toMatch(/<x:colour [^>]*>r<b[^>]*>e<\/b>d<\/x:colour>/);
    }
  });

  it("of the prefix xml keeps the response well-formed wherever its name is shown", async () => {
    const test = await createDav();
    const patched = await call(test, "PROPPATCH", "/home/a.txt", {}, set("<xml:a/>"));
    const named = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<xml:b/>"));
    const body = '<propfind xmlns="DAV:"><propname/></propfind>';
    const names = await call(test, "PROPFIND", "/home/", { depth: "1" }, body);
    expect([patched.text, named.text, names.text].map((text) => /<xml:[ab]\/>/.test(text))).toEqual([true, true, true]);
    expect(patched.text + named.text + names.text).not.toContain("XML/1998");
  });

  it("changes nothing if one property is protected", async () => {
    const test = await createDav();
    const answer = await call(test, "PROPPATCH", "/home/a.txt", {}, set("<x:a>1</x:a><d:getetag>2</d:getetag>"));
    expect(answer.text).toContain("<D:cannot-modify-protected-property/>");
    expect(answer.text).toContain("HTTP/1.1 424 Failed Dependency");
    const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, prop("<x:a/>"));
    expect(text).toContain("404");
  });

  it("sets the time of a file, and X-OC-Mtime that of an upload", async () => {
    const test = await createDav();
    const date = "Mon, 01 Jan 2001 00:00:00 GMT";
    await call(test, "PROPPATCH", "/home/a.txt", {}, set(`<d:getlastmodified>${date}</d:getlastmodified>`));
    expect((await test.call("HEAD", "/home/a.txt")).header("last-modified")).toBe(date);
    const put = await test.call("PUT", "/home/new.txt", {
      body: "x",
      headers: { "x-oc-mtime": "978307200" },
      undescribed,
    });
    expect([put.status, put.header("x-oc-mtime"), put.header("last-modified")]).toEqual([201, "accepted", date]);
    const bad = await test.call("PUT", "/home/bad.txt", { body: "x", headers: { "x-oc-mtime": "soon" }, undescribed });
    expect([bad.status, await test.stored("/alice/bad.txt")]).toEqual([400, undefined]);
  });

  it("is 403 without set-attributes, but for what Explorer sets after each upload", async () => {
    const test = await createFor({ permissions: [["allow-write", "allow-read"]] });
    expect((await call(test, "PROPPATCH", "/home/a.txt", {}, set("<x:a>1</x:a>"))).status).toBe(403);
    const explorer = '<z:Win32FileAttributes xmlns:z="urn:schemas-microsoft-com:">00000020</z:Win32FileAttributes>';
    expect((await call(test, "PROPPATCH", "/home/a.txt", {}, set(explorer))).status).toBe(207);
    expect((await call(test, "PROPPATCH", "/home/none", {}, set("<x:a>1</x:a>"))).status).toBe(404);
  });
});

describe("COPY and MOVE (RFC 4918 9.8, 9.9)", () => {
  it("are 201 with Location for a new name, and 204 for a replaced one", async () => {
    const test = await createDav();
    const created = await call(test, "COPY", "/home/a.txt", {
      destination: "http://files.example/home/new%20name.txt",
    });
    expect([created.status, created.header("location")]).toEqual([201, "/home/new%20name.txt"]);
    expect((await call(test, "MOVE", "/home/a.txt", { destination: "/home/new%20name.txt" })).status).toBe(204);
    expect([await test.stored("/alice/new name.txt"), await test.stored("/alice/a.txt")]).toEqual(["a", undefined]);
  });

  it.each([
    ["Overwrite: F and something there", "/home/a.txt", { destination: "/home/g/", overwrite: "F" }, 412],
    ["a missing source", "/home/none", { destination: "/home/x" }, 404],
    ["a missing parent", "/home/a.txt", { destination: "/home/none/x" }, 409],
    ["a parent that is a file", "/home/f/", { destination: "/home/a.txt/x" }, 409],
    ["a file to a new folder's URL", "/home/a.txt", { destination: "/home/new/" }, 409],
    ["itself", "/home/f/", { destination: "/home/f" }, 403],
    ["into itself", "/home/f/", { destination: "/home/f/sub/x" }, 403],
    ["the root", "/home/", { destination: "/home/x/" }, 403],
    ["to the root", "/home/a.txt", { destination: "/home/" }, 403],
    ["below the reserved name", "/home/a.txt", { destination: "/home/__svc__/x" }, 403],
    ["outside of the account", "/home/a.txt", { destination: "/elsewhere" }, 403],
    ["another server", "/home/a.txt", { destination: "http://other.example/home/x" }, 502],
    ["no destination", "/home/a.txt", {}, 400],
    ["a dot segment", "/home/a.txt", { destination: "/home/f/../x" }, 400],
    ["another Overwrite", "/home/a.txt", { destination: "/home/x", overwrite: "yes" }, 400],
    ["a condition that fails", "/home/a.txt", { destination: "/home/x", "if-match": '"other"' }, 412],
  ])("are refused for %s", async (_, path, headers, status) => {
    for (const method of ["COPY", "MOVE"]) {
      const test = await createDav();
      expect((await call(test, method, path, headers as Record<string, string>)).status).toBe(status);
      expect(await test.stored("/alice/a.txt")).toBe("a");
      expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
    }
  });

  it("another server in Destination is a warning for the operator, once a minute", async () => {
    const test = await createDav({ publicOrigin: "https://files.public" });
    const warnings = () => test.log.entries.filter(({ level }) => level === "warn");
    const move = () => call(test, "MOVE", "/home/a.txt", { destination: "http://other.example:80/home/x" });
    for (let count = 0; count < 3; count += 1) expect((await move()).status).toBe(502);
    expect(warnings()).toHaveLength(1);
    expect(JSON.stringify(warnings())).toContain("files.example, files.public");
    test.advance(61);
    await move();
    expect(warnings()).toHaveLength(2);
  });

  it("COPY of depth 0 makes the folder with its properties, and MOVE knows no such depth", async () => {
    const test = await createDav();
    await call(test, "PROPPATCH", "/home/f/", {}, set("<x:a>1</x:a>"));
    expect((await call(test, "COPY", "/home/f", { destination: "/home/h", depth: "0" })).status).toBe(201);
    const copied = await call(test, "PROPFIND", "/home/h/", { depth: "1" }, prop("<x:a/>"));
    expect([hrefsOf(copied), copied.text.includes(">1<")]).toEqual([["/home/h/"], true]);
    expect((await call(test, "MOVE", "/home/f", { destination: "/home/i", depth: "0" })).status).toBe(400);
  });

  it.each([
    ["itself", "/home/f"],
    ["a folder around it", "/home/"],
    ["into itself", "/home/f/sub/x"],
  ])("COPY of depth 0 to %s is 403, and removes nothing", async (_, destination) => {
    const test = await createDav();
    expect((await call(test, "COPY", "/home/f/", { destination, depth: "0" })).status).toBe(403);
    const around = await call(test, "COPY", "/home/f/sub/", { destination: "/home/f/", depth: "0" });
    expect([around.status, await test.stored("/alice/f/sub/deep.txt")]).toEqual([403, "deep"]);
  });

  it.each([
    ["create-folder", ["allow-read", "allow-list", "allow-write", "allow-delete-file", "allow-delete-folder"]],
    ["delete-file", ["allow-read", "allow-list", "allow-create-folder", "allow-delete-folder"]],
    ["list", ["allow-read", "allow-create-folder", "allow-delete-file", "allow-delete-folder"]],
  ] as const)("COPY of depth 0 over a folder is 403 without %s, and removes nothing", async (_, permissions) => {
    const test = await createFor({ permissions: [permissions] });
    const answer = await call(test, "COPY", "/home/g/", { destination: "/home/f/", depth: "0" });
    expect([answer.status, await test.stored("/alice/f/sub/deep.txt")]).toEqual([403, "deep"]);
  });

  it("COPY of depth 0 takes properties along, also for an account that may not set any", async () => {
    const test = await createFor({
      permissions: [["allow-list", "allow-create-folder", "allow-delete-file", "allow-delete-folder"]],
    });
    await test.storage.attributes?.change("/alice/g", {
      properties: new Map([["{urn:x}a", '<x:a xmlns:x="urn:x">1</x:a>']]),
    });
    expect((await call(test, "COPY", "/home/g/", { destination: "/home/f/", depth: "0" })).status).toBe(204);
    const copied = await call(test, "PROPFIND", "/home/f/", { depth: "1" }, prop("<x:a/>"));
    expect([hrefsOf(copied), copied.text.includes(">1<")]).toEqual([["/home/f/"], true]);
  });

  it.each([
    ["a folder to itself", "/home/f/sub/", "/home/short/sub/"],
    ["a file to itself", "/home/f/sub/deep.txt", "/home/short/sub/deep.txt"],
    ["a folder over the one that it is in", "/home/short/sub/", "/home/f/"],
    ["a folder into itself", "/home/f/", "/home/short/x/"],
    ["a folder into a virtual folder in it", "/home/v/", "/home/short/x/"],
  ])("COPY and MOVE of %s by way of a virtual folder are 403, and change nothing", async (_, from, destination) => {
    const virtual_folders = [
      ["/short", "/alice/f"],
      ["/v/w", "/alice/f"],
    ] as const;
    const test = await createFor({ virtual_folders });
    for (const method of ["COPY", "MOVE"]) expect((await call(test, method, from, { destination })).status).toBe(403);
    const all = await call(test, "PROPFIND", "/home/f/", { depth: "1" });
    expect(hrefsOf(all)).toHaveLength(3);
    expect(await test.stored("/alice/f/sub/deep.txt")).toBe("deep");
  });

  it.each(["COPY", "MOVE", "UNLOCK", "MKCOL"])("%s with a body is 415, and changes nothing", async (method) => {
    const test = await createDav();
    const headers = { destination: "/home/x", "lock-token": "<urn:none>" };
    const answer = await call(test, method, method === "MKCOL" ? "/home/x/" : "/home/a.txt", headers, "<x/>");
    expect([answer.status, answer.json()]).toEqual([
      415,
      { errors: [{ message: "This request must have no content." }] },
    ]);
    expect(await test.stored("/alice/x")).toBeUndefined();
  });

  it("refuse requests that a page of another site sends, as PUT does", async () => {
    const test = await createDav();
    const headers = { destination: "/home/x", origin: "https://evil.example" };
    expect((await call(test, "MOVE", "/home/a.txt", headers)).status).toBe(403);
    expect((await call(test, "PROPFIND", "/home/", { depth: "0", origin: "https://evil.example" })).status).toBe(207);
  });
});

describe("folders without the slash of their URL", () => {
  it("are created by MKCOL and removed by DELETE, and the response names the folder", async () => {
    const test = await createDav();
    const made = await call(test, "MKCOL", "/home/new");
    expect([made.status, made.header("content-location")]).toEqual([201, "/home/new/"]);
    expect((await call(test, "MKCOL", "/home/new")).status).toBe(405);
    const removed = await call(test, "DELETE", "/home/f");
    expect([removed.status, removed.header("content-location")]).toEqual([204, "/home/f/"]);
    expect(await test.storage.stat("/alice/f")).toBeUndefined();
  });

  it("redirect clients of the other APIs as before", async () => {
    const test = await createDav();
    expect((await test.call("DELETE", "/home/f", { variant: "json" })).status).toBe(307);
    expect((await test.call("GET", "/home/f", { variant: "webdav" })).status).toBe(302);
  });
});

describe("X-Expected-Entity-Length (Finder)", () => {
  it("above the limit refuses an upload before its body is read, and is a hint only", async () => {
    const test = await createDav({ limits: { maxFileBytes: 10 } });
    const put = async (length: string) => {
      const source: UnderlyingDefaultSource<Uint8Array> = {
        pull(controller) {
          isRead = true;
          controller.enqueue(new Uint8Array(5));
          controller.close();
        },
      };
      const body = new ReadableStream(source, { highWaterMark: 0 });
      let isRead = false;
      const headers = { "x-expected-entity-length": length };
      const { status } = await test.call("PUT", "/home/new", { headers, body, undescribed });
      return [status, isRead];
    };
    expect(await put("11")).toEqual([413, false]);
    expect(await test.stored("/alice/new")).toBe(undefined);
    expect(await put("many")).toEqual([201, true]);
    expect(await put("10")).toEqual([201, true]);
  });
});
