import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import type { TestService, TestServiceOptions } from "../../support/service.ts";
import { overrideStorage, withLinks } from "../../support/storage.ts";
import { call, createDav, hrefsOf, prop, set, undescribed } from "./calls.ts";

function createFor(
  permissions: NonNullable<AccountSettings["permissions"]>,
  options: TestServiceOptions = {},
): Promise<TestService> {
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/alice", permissions }];
  return createDav({ authentication: createAccountsAuthenticator({ accounts }), ...options });
}

const ALL = '<propfind xmlns="DAV:"><allprop/></propfind>';

describe("the properties of a PROPFIND", () => {
  it("allprop has the live and the dead ones, and those about locks only where something is locked", async () => {
    const test = await createDav();
    await call(test, "PROPPATCH", "/home/a.txt", {}, set('<x:a>1</x:a><b xmlns="">2</b>'));
    for (const body of [undefined, ALL]) {
      const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, body);
      expect(text.match(/(?<=<)(?:\w+:)?\w+(?=[ />])/g)?.slice(5)).toEqual([
        ...["D:resourcetype", "D:getcontentlength", "D:getlastmodified", "D:getetag", "D:getcontenttype"],
        ...["x:a", "b", "D:status"],
      ]);
    }
  });

  it("include adds what allprop leaves out, once, and names what is missing", async () => {
    const test = await createDav();
    await call(test, "PROPPATCH", "/home/a.txt", {}, set("<x:a>1</x:a>"));
    const body =
      '<propfind xmlns="DAV:"><allprop/><include><supportedlock/><getetag/><a xmlns="urn:x"/><none xmlns="urn:x"/></include></propfind>';
    const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, body);
    for (const once of ["<D:supportedlock>", "<D:getetag>", "<x:a "]) expect(text.split(once)).toHaveLength(2);
    expect(text).toContain('<D:prop><x:none xmlns:x="urn:x"/></D:prop><D:status>HTTP/1.1 404 Not Found</D:status>');
    const brief = await call(test, "PROPFIND", "/home/a.txt", { depth: "0", brief: "T" }, body);
    expect(brief.text).not.toContain("404");
  });

  it("propname has the names of the live and the dead ones", async () => {
    const test = await createDav();
    await call(test, "PROPPATCH", "/home/f/", {}, set("<x:a>1</x:a>"));
    const { text } = await call(
      test,
      "PROPFIND",
      "/home/f/",
      { depth: "0" },
      '<propfind xmlns="DAV:"><propname/></propfind>',
    );
    expect(text).toContain(
      '<D:prop><D:resourcetype/><D:getlastmodified/><D:supportedlock/><D:lockdiscovery/><x:a xmlns:x="urn:x"/></D:prop>',
    );
  });

  it("displayname and creationdate are missing until somebody sets them; those of the quota always", async () => {
    const test = await createDav();
    const body = prop("<displayname/><creationdate/><getcontentlanguage/><quota-available-bytes/><quota-used-bytes/>");
    const missing = async () => {
      const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, body);
      return /<D:prop>(?!.*<D:prop>)(.*?)<\/D:prop><D:status>HTTP\/1\.1 404/.exec(text)?.[1]?.match(/(?<=D:)[\w-]+/g);
    };
    expect(await missing()).toHaveLength(5);
    await call(test, "PROPPATCH", "/home/a.txt", {}, set("<d:displayname>A</d:displayname>"));
    expect(await missing()).toHaveLength(4);
    const refused = await call(test, "PROPPATCH", "/home/a.txt", {}, set("<d:quota-used-bytes>1</d:quota-used-bytes>"));
    expect(refused.text).toContain("403");
  });

  it("a hidden file shows resourcetype alone, whatever is asked for", async () => {
    const test = await createFor([["allow-write"]]);
    await test.storage.attributes?.change("/alice/a.txt", { properties: new Map([["{urn:x}a", "<a>secret</a>"]]) });
    for (const body of [ALL, prop("<resourcetype/><getetag/><lockdiscovery/><x:a/>")]) {
      const { text } = await call(test, "PROPFIND", "/home/a.txt", { depth: "0" }, body);
      expect(text).toContain("<D:propstat><D:prop><D:resourcetype/></D:prop><D:status>HTTP/1.1 200 OK");
      expect(text).not.toMatch(/secret|<D:getetag>|activelock/);
    }
  });
});

describe("the members of a PROPFIND", () => {
  it("are not links", async () => {
    const storage = withLinks(createMemoryStorage(), ["/alice/f/link"]);
    const test = await createDav({ storage });
    expect(hrefsOf(await call(test, "PROPFIND", "/home/f/", { depth: "1" }))).not.toContain("/home/f/link");
    expect((await call(test, "PROPFIND", "/home/f/link", { depth: "0" })).status).toBe(404);
  });

  it("are percent-encoded but for what RFC 3986 has in a segment, below a basePath too", async () => {
    const name = "we'ird, (x) [1] %41 é;=@:&!$+*~.txt";
    const test = await createDav({ basePath: "/files%20x" });
    await test.call("PUT", `/files%20x/home/g/${encodeURIComponent(name)}`, { body: "x" });
    const found = hrefsOf(await call(test, "PROPFIND", "/files%20x/home/g/", { depth: "1" }));
    expect(found).toEqual([
      "/files%20x/home/g/",
      "/files%20x/home/g/we'ird,%20(x)%20%5B1%5D%20%2541%20%C3%A9;=@:&amp;!$+*~.txt",
    ]);
    const href = (found[1] ?? "").replace("&amp;", "&");
    expect((await call(test, "PROPFIND", href, { depth: "0" })).status).toBe(207);
    const moved = await call(test, "MOVE", href, { destination: href.replace("we'ird", "weird") });
    expect([moved.status, moved.header("location")]).toEqual([201, href.replace("we'ird", "weird")]);
  });

  it("below a basePath are reached from its own root", async () => {
    const test = await createDav({ basePath: "/files" });
    for (const path of ["/files", "/files/", "/files/home"]) {
      expect(hrefsOf(await call(test, "PROPFIND", path, { depth: "1" }))).toEqual([path, "/files/home/"]);
    }
  });

  it("of infinite depth are shown without those of folders that may not be listed", async () => {
    const permissions = [
      ["allow-list", "allow-read"],
      ["/f/sub", "deny-full-control"],
    ];
    const test = await createFor(permissions, { webdav: { infiniteDepth: true } });
    const found = hrefsOf(await call(test, "PROPFIND", "/home/", { depth: "infinity" }));
    expect(found).toContain("/home/f/sub/");
    expect(found).not.toContain("/home/f/sub/deep.txt");
    expect((await call(test, "PROPFIND", "/home/f/sub/", { depth: "infinity" })).status).toBe(403);
  });

  it.each(["denied", "not-a-folder"] as const)(
    "of infinite depth are shown without those of folders that the storage cannot list: %s",
    async (code) => {
      const inner = createMemoryStorage();
      const storage = overrideStorage(inner, {
        async *list(path) {
          if (path === "/alice/f/sub") throw new StorageError(code);
          yield* inner.list(path);
        },
      });
      const test = await createDav({ storage, webdav: { infiniteDepth: true } });
      const found = hrefsOf(await call(test, "PROPFIND", "/home/", { depth: "infinity" }));
      expect(found).toContain("/home/f/sub/");
      expect(found).not.toContain("/home/f/sub/deep.txt");
      expect(test.log.text().includes("denied")).toBe(code === "denied");
    },
  );

  it("break the connection off if the storage fails in the middle, and the events say so", async () => {
    const inner = createMemoryStorage();
    const storage = overrideStorage(inner, {
      async *list(path) {
        let count = 0;
        for await (const entry of inner.list(path)) {
          count += 1;
          if (count > 15_000) throw new Error("the disk is broken");
          yield entry;
        }
      },
    });
    const events: FileEvent[] = [];
    const test = await createDav({ storage, onEvent: (event) => void events.push(event) });
    for (let index = 0; index < 20_000; index += 1) await inner.createFolder(`/alice/g/${index}`);
    const response = await test.open("PROPFIND", "/home/g/", { headers: { depth: "1" }, undescribed });
    expect(response.status).toBe(207);
    await expect(response.text()).rejects.toThrow();
    expect(events.map(({ id }) => id).filter((id) => id !== 40007)).toEqual([40006, 40014]);
  });
});

describe("the events of a PROPFIND (CONTRACT 8)", () => {
  it.each([
    ["0", []],
    ["1", [40006, 40034]],
    ["infinity", [40006, 40034]],
  ])("of depth %s are %j", async (depth, ids) => {
    const events: FileEvent[] = [];
    const test = await createDav({ webdav: { infiniteDepth: true }, onEvent: (event) => void events.push(event) });
    await call(test, "PROPFIND", "/home/f/", { depth });
    expect(events.map(({ id }) => id).filter((id) => id !== 40007)).toEqual(ids);
  });

  it("of a folder that may not be listed are 40006 and 40014", async () => {
    const events: FileEvent[] = [];
    const test = await createFor([["allow-read"]], { onEvent: (event) => void events.push(event) });
    expect((await call(test, "PROPFIND", "/home/f/", { depth: "1" })).status).toBe(403);
    expect(events.map(({ id }) => id).filter((id) => id !== 40007)).toEqual([40006, 40014]);
  });
});
