import { describe, expect, it } from "vitest";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createMemoryKeyValueStore } from "../../../src/stores/memory.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { basic, type CallOptions, createTestService, variants } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { FORM_TYPE, JSON_TYPE, LINKS, pathOf, setOwner } from "./owner-setting.ts";

const anybody = { as: null } as const;
const free = { links: { secret: LINK_SECRET } };
const KEPT = { secret: LINK_SECRET, store: createMemoryKeyValueStore() };

describe("POST /home/__svc__/links (SHARING 3)", () => {
  it("makes a link with all of its defaults", async () => {
    const { create, call } = await setOwner();
    const before = Math.floor(Date.now() / 1000);
    const answer = await create({ path: "/reports/" });
    expect(answer.status).toBe(201);
    const { results } = answer.json<{ results: LinkBody[] }>();
    expect(results).toEqual([
      {
        id: expect.stringMatching(/^[0-9a-f]{32}$/),
        path: "/reports",
        is_directory: true,
        url: expect.stringMatching(/^http:\/\/files\.example\/__svc__\/share\/[\w.-]{60,200}\/$/),
        file_url: null,
        permissions: ["allow-read", "allow-list"],
        created: expect.any(Number),
        expires: expect.any(Number),
        has_password: false,
        uses: 0,
        max_uses: null,
        max_file_bytes: null,
        ask_name: false,
        label: "",
      },
    ]);
    const [link] = results as [LinkBody];
    expect(link.created).toBeGreaterThanOrEqual(before);
    expect(link.expires - link.created).toBe(604_800);
    expect(answer.header("location")).toBe(`${LINKS}/${link.id}`);
    expect(answer.header("cache-control")).toBe("no-store");
    expect((await call("GET", `${pathOf(link.url)}a.csv`, anybody)).text).toBe("1,2,3");
  });

  it("makes a link of all members to a file", async () => {
    const { created, call } = await setOwner();
    const wanted = {
      permissions: ["allow-write", "allow-delete-file", "allow-write"],
      expires_in: 60,
      password: "open sesame",
      max_uses: 7,
      max_file_bytes: 100,
      ask_name: true,
      label: "für Bob",
    };
    const link = await created({ path: "/reports/a.csv", ...wanted });
    expect(link).toMatchObject({
      is_directory: false,
      file_url: `${link.url}a.csv`,
      permissions: ["allow-write", "allow-delete-file"],
      has_password: true,
      uses: 0,
      max_uses: 7,
      max_file_bytes: 100,
      ask_name: true,
      label: "für Bob",
    });
    expect(link.expires - link.created).toBe(60);
    expect((await call("GET", pathOf(link.url), anybody)).status).toBe(401);
  });

  it("answers the three variants, and knows a link to a file and to the root", async () => {
    const { create, created } = await setOwner();
    expect((await created({ path: "/reports/a.csv" })).permissions).toEqual(["allow-read"]);
    expect(await created({ path: "/" })).toMatchObject({ path: "/", is_directory: true });
    for (const variant of variants) {
      const answer = await create({ path: "/reports" }, { variant, ...(variant === "webdav" && { headers: {} }) });
      expect([variant, answer.status]).toEqual([variant, 201]);
      expect(answer.header("location")).toMatch(new RegExp(`^${LINKS}/[0-9a-f]{32}$`));
      const type = variant === "html" ? "text/html; charset=utf-8" : "application/json; charset=utf-8";
      expect(answer.header("content-type")).toBe(type);
    }
  });

  it("takes any login, and none by a link", async () => {
    const { create, login, created } = await setOwner();
    const id = await login();
    expect((await create({ path: "/" }, { ...anybody, headers: { authorization: `session ${id}` } })).status).toBe(201);
    expect((await create({ path: "/" }, anybody)).status).toBe(401);
    const { url } = await created({ path: "/" });
    const below = await create({ path: "/" }, { ...anybody, headers: {} });
    expect(below.status).toBe(401);
    expect(url).toMatch(/share/);
  });

  it("refuses a form of another site (CONTRACT 6.5)", async () => {
    const { send, login, service } = await setOwner();
    const cookie = `SVC_HTTP_SESSION=${await login()}`;
    const evil = { ...anybody, headers: { cookie, origin: "https://evil.example" } };
    expect((await send({ path: "/" }, evil)).status).toBe(403);
    expect((await send({ path: "/" }, { ...anybody, headers: { cookie, origin: "null" } })).status).toBe(403);
    expect(await service.links.list("alice")).toEqual([]);
  });

  it.each<[string, unknown, string]>([
    ["an unknown member", { path: "/", owner: "bob" }, "unknown member"],
    ["no path", {}, "path"],
    ["a path without a slash", { path: "reports" }, "path"],
    ["a path of no text", { path: ["/"] }, "path"],
    ["an unknown permission", { path: "/", permissions: ["allow-rename"] }, "permissions"],
    ["permissions that are no list", { path: "/", permissions: "allow-read" }, "permissions"],
    ["no permission", { path: "/", permissions: [] }, "permissions"],
    ["no second", { path: "/", expires_in: 0 }, "expires_in"],
    ["half a second", { path: "/", expires_in: 0.5 }, "expires_in"],
    ["seconds as a text", { path: "/", expires_in: "60" }, "expires_in"],
    ["an empty password", { path: "/", password: "" }, "password"],
    ["a password of 1,025 bytes", { path: "/", password: `é${"x".repeat(1023)}` }, "password"],
    ["no use", { path: "/", max_uses: 0 }, "max_uses"],
    ["more than a million uses", { path: "/", max_uses: 1_000_001 }, "max_uses"],
    ["no byte", { path: "/", max_file_bytes: 0 }, "max_file_bytes"],
    ["a name that is no answer", { path: "/", ask_name: "yes" }, "ask_name"],
    ["a label of 201 characters", { path: "/", label: "é".repeat(201) }, "label"],
    ["a list", [{ path: "/" }], "no object"],
  ])("refuses %s: 400, and nothing is made", async (_what, body, named) => {
    const { create, service } = await setOwner();
    const answer = await create(body as object);
    expect([answer.status, answer.header("error-code")]).toEqual([400, "link-malformed"]);
    expect(answer.text).toContain(named);
    expect(await service.links.list("alice")).toEqual([]);
  });

  it.each(["", "//", "/a//b", "/../x", "/reports/./a.csv", "/a\u0000", "/a\\b"])(
    "refuses the path %j",
    async (path) => {
      const { create } = await setOwner();
      expect((await create({ path })).status).toBe(400);
    },
  );

  it("refuses other media types, what is no JSON, and what is too large", async () => {
    const { call } = await setOwner();
    const post = (type: string, body: string) =>
      call("POST", LINKS, { variant: "json", headers: { "content-type": type }, body });
    expect((await post("text/plain", "path=/")).status).toBe(415);
    expect((await post("application/json", "{")).status).toBe(400);
    expect((await post("application/json", JSON.stringify({ path: "/", label: "x".repeat(70_000) }))).status).toBe(413);
  });

  it("refuses 403 what the account may not give", async () => {
    const { create } = await setOwner({ alice: { permissions: [["allow-read", "allow-list", "allow-write"]] } });
    const wanted = (body: object) => create({ path: "/reports", ...body });
    expect((await wanted({})).status).toBe(201);
    expect((await wanted({ permissions: ["allow-read", "allow-list", "allow-delete-file"] })).status).toBe(403);
    expect((await wanted({ permissions: ["allow-create-folder"] })).header("error-code")).toBe("link-rights-missing");
    expect((await wanted({ path: "/reports/a.csv", permissions: ["allow-delete-file"] })).status).toBe(403);
    expect((await wanted({ path: "/__svc__" })).status).toBe(403);
    expect((await wanted({ path: "/__svc__/links" })).header("error-code")).toBe("name-reserved");
  });

  it("refuses 403 an account without links, which keeps its list", async () => {
    const { create, send, call } = await setOwner({ alice: { allow_links: false } });
    for (const variant of variants) expect((await create({ path: "/" }, { variant })).status).toBe(403);
    expect((await send({ path: "/" })).header("error-code")).toBe("links-denied");
    expect((await call("GET", `${LINKS}/new?path=/`, { variant: "html" })).status).toBe(403);
    expect((await call("GET", LINKS, { variant: "json" })).json()).toEqual({ content: [] });
  });

  it("needs list on a folder itself, and the rest on some path at all", async () => {
    const { create } = await setOwner({ alice: { permissions: [["allow-full-control"], ["/reports", "allow-read"]] } });
    expect((await create({ path: "/reports" })).status).toBe(403);
    expect((await create({ path: "/reports", permissions: ["allow-write"] })).status).toBe(201);
  });

  it("refuses 404 what is not there, a symbolic link and another account's file", async () => {
    const storage = createMemoryStorage();
    const linked = overrideStorage(storage, {
      stat: async (path) => (path === "/alice/linked" ? undefined : storage.stat(path)),
    });
    const { create } = await setOwner({ storage: linked });
    for (const path of ["/none.txt", "/reports/none/a.csv", "/linked", "/reports/a.csv/b"]) {
      for (const variant of variants) expect([path, (await create({ path }, { variant })).status]).toEqual([path, 404]);
    }
  });

  it("makes a link for the upload of a name that is free, and of no other", async () => {
    const { create, created, call, stored } = await setOwner();
    const upload = { permissions: ["allow-write"] };
    const link = await created({ path: "/reports/new.csv", ...upload });
    expect(link).toMatchObject({ path: "/reports/new.csv", is_directory: false });
    const put = (name: string) => call("PUT", `${pathOf(link.url)}${name}`, { ...anybody, body: "new" });
    expect((await put("other.csv")).status).toBe(403);
    expect((await put("new.csv")).status).toBe(201);
    expect(await stored("/alice/reports/new.csv")).toBe("new");
    expect((await create({ path: "/none/new.csv", ...upload })).status).toBe(404);
    expect((await create({ path: "/reports/free.csv", permissions: ["allow-write", "allow-read"] })).status).toBe(404);
    expect((await create({ path: "/reports/free.csv" })).status).toBe(404);
  });

  it.each<[string, object, string]>([
    ["that lasts too long", { expires_in: 31_536_001 }, "A link may last 31536000 seconds at most."],
    [
      "that removes what it does not show",
      { permissions: ["allow-read", "allow-list", "allow-traverse", "allow-delete-file"].slice(3) },
      "A link that permits deleting must permit listing.",
    ],
  ])("refuses 422 a link %s", async (_what, body, message) => {
    const { create } = await setOwner();
    const answer = await create({ path: "/reports", ...body });
    expect([answer.status, answer.json()]).toEqual([422, { errors: [{ message }] }]);
  });

  it("leaves out what is for folders in a link to a file, and refuses 422 one with nothing else", async () => {
    const { create } = await setOwner();
    for (const permission of ["allow-list", "allow-traverse", "allow-create-folder", "allow-delete-folder"]) {
      const made = await create({ path: "/reports/a.csv", permissions: ["allow-write", permission] });
      expect(made.json()).toMatchObject({ results: [{ permissions: ["allow-write"] }] });
      const answer = await create({ path: "/reports/a.csv", permissions: [permission] });
      expect([answer.status, answer.header("error-code")]).toEqual([422, "link-permission-of-folders"]);
    }
  });

  it("refuses 422 a link that lasts longer than those of the group, and without the password that it needs", async () => {
    const group = { max_link_seconds: 3600, require_link_password: true };
    const { create, created, send } = await setOwner({ group });
    const password = "a password of the link";
    expect((await create({ path: "/", password, expires_in: 3601 })).header("error-code")).toBe("link-lasts-too-long");
    const { created: since, expires } = await created({ path: "/", password });
    expect(expires - since).toBe(3600);
    const without = await create({ path: "/" });
    expect([without.status, without.json()]).toEqual([
      422,
      { errors: [{ message: "A link of this account needs a password." }] },
    ]);
    expect((await send({ path: "/" })).status).toBe(422);
  });

  it("refuses 422 one link more than an account may have, until one has ended", async () => {
    const { create, advance, service } = await setOwner({ links: { ...KEPT, maxPerAccount: 2 } });
    expect((await create({ path: "/", expires_in: 60 })).status).toBe(201);
    expect((await create({ path: "/" })).status).toBe(201);
    const third = await create({ path: "/" });
    expect([third.status, third.json()]).toEqual([422, { errors: [{ message: "The account has 2 links already." }] }]);
    expect((await create({ path: "/" }, { as: "bob" })).status).toBe(201);
    advance(61);
    expect((await create({ path: "/" })).status).toBe(201);
    expect(await service.links.list("alice")).toHaveLength(2);
  });

  it("begins URLs with the public origin, or with the one that the request was sent to", async () => {
    const here = await setOwner();
    expect((await here.created({ path: "/" }, { scheme: "https", host: "other.example:8443" })).url).toMatch(
      /^https:\/\/other\.example:8443\/__svc__/,
    );
    const forwarded = {
      "x-forwarded-host": "evil.example",
      forwarded: "host=evil.example",
      "x-forwarded-proto": "ftp",
    };
    expect((await here.created({ path: "/" }, { headers: forwarded })).url).toMatch(/^http:\/\/files\.example\//);
    for (const host of ["evil.example/x", "a@evil.example", "a b", "evil.example?", ""]) {
      expect((await here.created({ path: "/" }, { headers: { host } })).url, host).toMatch(/^\/__svc__\/share\//);
    }
    const { created } = await setOwner({ publicOrigin: "https://files.example", basePath: "" });
    expect((await created({ path: "/" }, { host: "10.0.0.1:8080" })).url).toMatch(/^https:\/\/files\.example\/__svc__/);
  });
});

describe("links without a store (SHARING 3, 11)", () => {
  it("have no Location, no limit of uses, no list, and cannot be withdrawn", async () => {
    const { create, created, call, send } = await setOwner(free);
    const answer = await create({ path: "/reports" });
    expect([answer.status, answer.header("location")]).toEqual([201, null]);
    const { url, id } = await created({ path: "/reports/a.csv", label: "x" });
    expect((await call("GET", `${pathOf(url)}a.csv`, anybody)).text).toBe("1,2,3");
    const limited = await create({ path: "/reports", max_uses: 3 });
    expect([limited.status, limited.header("error-code")]).toEqual([422, "links-not-kept"]);
    for (const variant of variants) {
      for (const path of [LINKS, `${LINKS}/${id}`]) {
        for (const method of ["GET", "HEAD", "DELETE"]) {
          expect([method, path, (await call(method, path, { variant })).status]).toEqual([method, path, 404]);
        }
      }
      const withdrawal = { variant, headers: FORM_TYPE, body: "action=withdraw" };
      expect((await call("POST", `${LINKS}/${id}`, withdrawal)).status).toBe(404);
    }
    expect((await send({ action: "withdraw-all" })).status).toBe(404);
    const page = await call("GET", `${LINKS}/new?path=/reports`, { variant: "html" });
    expect(page.text).not.toContain("max_uses");
    expect((await send({ path: "/reports" })).text).toContain("it is not shown again");
  });

  it("refuses 422 a link whose token would be too long", async () => {
    const { create } = await setOwner({
      links: { secret: LINK_SECRET },
      files: { [`/alice/${"a".repeat(200)}`]: "x" },
    });
    const answer = await create({ path: `/${"a".repeat(200)}`, label: "ü".repeat(200), password: "p" });
    expect(answer.status).toBe(201);
    const long = Array.from({ length: 8 }, () => "d".repeat(200)).join("/");
    const deep = await setOwner({ links: { secret: LINK_SECRET }, files: { [`/alice/${long}/a`]: "x" } });
    const refused = await deep.create({ path: `/${long}/a` });
    expect([refused.status, refused.json()]).toEqual([422, { errors: [{ message: "The link would be too long." }] }]);
  });
});

describe("GET /home/__svc__/links (SHARING 3.6)", () => {
  it("lists the live links of the account, newest first, with URLs that work", async () => {
    const { created, call, advance } = await setOwner();
    const old = await created({ path: "/reports", expires_in: 30 });
    advance(1);
    const first = await created({ path: "/reports/a.csv", max_uses: 2 });
    advance(1);
    const second = await created({ path: "/" });
    await created({ path: "/" }, { as: "bob" });
    const list = async (options: CallOptions = {}) =>
      (await call("GET", LINKS, { variant: "json", ...options })).json<{ content: LinkBody[] }>().content;
    expect((await list()).map(({ id }) => id)).toEqual([second.id, first.id, old.id]);
    expect((await list({ as: "bob" })).map(({ path }) => path)).toEqual(["/"]);
    await call("GET", `${pathOf(first.url)}a.csv`, anybody);
    advance(40);
    const [newest, used] = await list();
    expect([newest?.id, used]).toEqual([second.id, { ...first, url: used?.url, file_url: used?.file_url, uses: 1 }]);
    expect(used?.url).not.toBe(first.url);
    expect((await call("GET", `${pathOf(used?.url ?? "")}a.csv`, anybody)).text).toBe("1,2,3");
    expect((await call("HEAD", LINKS, { variant: "json" })).status).toBe(200);
    expect((await call("GET", LINKS, { variant: "webdav" })).header("content-type")).toMatch(/json/);
    expect((await call("GET", LINKS, anybody)).status).toBe(401);
  });

  it("tells no other site and no cache of itself (SHARING 9.1)", async () => {
    const { call, created } = await setOwner();
    const { id } = await created({ path: "/" });
    for (const [path, variant] of [
      [LINKS, "json"],
      [LINKS, "html"],
      [`${LINKS}/${id}`, "html"],
      [`${LINKS}/none`, "json"],
      [`${LINKS}/new?path=/`, "html"],
      [`${LINKS}/new`, "html"],
    ] as const) {
      const { headers } = await call("GET", path, { variant });
      const fields = ["referrer-policy", "x-robots-tag", "cache-control"].map((name) => headers.get(name));
      expect([path, ...fields]).toEqual([path, "no-referrer", "noindex, nofollow", "no-store"]);
    }
  });

  it("is 405 for other methods, and unknown below", async () => {
    const { call } = await setOwner();
    const put = await call("PUT", LINKS, { body: "x" });
    expect([put.status, put.header("allow")]).toEqual([405, "GET, HEAD, POST, DELETE, OPTIONS"]);
    expect((await call("POST", `${LINKS}/new`, { variant: "html" })).status).toBe(405);
    for (const path of [`${LINKS}/`, `${LINKS}/a/b`]) {
      expect((await call("GET", path, { undescribed: "it is no folder and no file" })).status).toBe(404);
    }
    expect((await call("OPTIONS", LINKS, anybody)).header("allow")).toBe("GET, HEAD, POST, DELETE, OPTIONS");
  });
});

describe("one link (SHARING 1, 3.6)", () => {
  it("is shown, and withdrawn by DELETE", async () => {
    const { created, call } = await setOwner();
    const link = await created({ path: "/reports/a.csv", label: "for Bob" });
    const path = `${LINKS}/${link.id}`;
    const shown = await call("GET", path, { variant: "json" });
    expect(shown.json()).toEqual({ results: [{ ...link, url: expect.any(String), file_url: expect.any(String) }] });
    expect((await call("HEAD", path, { variant: "webdav" })).status).toBe(200);
    expect((await call("GET", path, { as: "bob", variant: "json" })).status).toBe(404);
    expect((await call("DELETE", path, { as: "bob", variant: "json" })).status).toBe(404);
    expect((await call("DELETE", path)).status).toBe(204);
    for (const variant of variants) {
      expect((await call("GET", path, { variant })).status).toBe(404);
      expect((await call("DELETE", path, { variant })).status).toBe(404);
    }
    const over = await call("GET", `${pathOf(link.url)}a.csv`, { ...anybody, variant: "json" });
    expect([over.status, over.json()]).toEqual([410, { errors: [{ message: "The link was withdrawn." }] }]);
  });

  it.each(variants)("is withdrawn by the form in %s, which leads to the list", async (variant) => {
    const { created, call } = await setOwner();
    const { id } = await created({ path: "/" });
    const post = (body: string, headers: CallOptions["headers"] = FORM_TYPE) =>
      call("POST", `${LINKS}/${id}`, { variant, headers, body });
    expect((await post("action=delete")).status).toBe(400);
    expect((await post("")).status).toBe(400);
    expect((await post("action=withdraw&action=withdraw")).status).toBe(400);
    expect((await post('{"action":"withdraw"}', JSON_TYPE)).status).toBe(415);
    const answer = await post("action=withdraw");
    expect([answer.status, answer.header("location")]).toEqual([303, LINKS]);
    expect((await post("action=withdraw")).status).toBe(404);
  });

  it("is 404 after its time, and for ids that are none", async () => {
    const { created, call, advance } = await setOwner();
    const { id } = await created({ path: "/", expires_in: 10 });
    expect((await call("GET", `${LINKS}/${"0".repeat(32)}`, { variant: "json" })).status).toBe(404);
    expect((await call("GET", `${LINKS}/x`, { variant: "json" })).status).toBe(404);
    advance(11);
    expect((await call("GET", `${LINKS}/${id}`, { variant: "json" })).status).toBe(404);
  });
});

describe("withdrawing all links (SHARING 1)", () => {
  it("ends those of the account alone, by DELETE and by the form", async () => {
    const { created, call, send, events } = await setOwner();
    const [one, two] = [await created({ path: "/" }), await created({ path: "/reports" })];
    const other = await created({ path: "/" }, { as: "bob" });
    expect((await call("DELETE", LINKS)).status).toBe(204);
    for (const { url } of [one, two]) expect((await call("GET", pathOf(url), anybody)).status).toBe(410);
    expect((await call("GET", pathOf(other.url), anybody)).status).toBe(200);
    expect(events.filter(({ id }) => id === 49102)).toHaveLength(2);
    const three = await created({ path: "/" });
    const answer = await send({ action: "withdraw-all" });
    expect([answer.status, answer.header("location")]).toEqual([303, LINKS]);
    expect((await call("GET", pathOf(three.url), anybody)).status).toBe(410);
    expect((await call("DELETE", LINKS)).status).toBe(204);
  });
});

describe("answers below the URL of a link (SHARING 9.1)", () => {
  it("tell no other site of it, also where there is none and for malformed paths", async () => {
    const { created, call } = await setOwner();
    const root = pathOf((await created({ path: "/reports" })).url);
    for (const [path, status] of [
      [root, 200],
      [root.slice(0, -1), 302],
      [`${root}a%00b`, 400],
      [`${root}../x`, 400],
      ["/__svc__/share/x/", 404],
      ["/__svc__/share/%zz/x", 404],
      ["/__svc__/share/", 404],
    ] as const) {
      const answer = await call("GET", path, { ...anybody, variant: "json", undescribed: "some have no path" });
      expect([path, answer.status]).toEqual([path, status]);
      expect([path, answer.header("referrer-policy")]).toEqual([path, "no-referrer"]);
      expect([path, answer.header("x-robots-tag")]).toEqual([path, "noindex, nofollow"]);
    }
  });
});

describe("events of links (SHARING 10)", () => {
  it("report the new and the withdrawn link, without its password", async () => {
    const { created, call, events, log } = await setOwner();
    const { id, expires, url } = await created({
      path: "/reports",
      password: "open sesame",
      max_uses: 3,
      label: "Bob",
    });
    await call("DELETE", `${LINKS}/${id}`);
    const own = events.filter((event) => event.id === 49101 || event.id === 49102);
    expect(own).toMatchObject([
      {
        id: 49101,
        account: { name: "alice" },
        link: { id, label: "Bob" },
        data: {
          path: "/reports",
          real_path: "/alice/reports",
          permissions: ["allow-read", "allow-list"],
          expires,
          has_password: true,
          max_uses: 3,
        },
      },
      { id: 49102, account: { name: "alice" }, link: { id, label: "Bob" }, data: { path: "/reports" } },
    ]);
    const told = `${JSON.stringify(events)}${log.text()}`;
    expect(told).not.toMatch(/sesame|\$scrypt|\$argon/);
    expect(told).not.toContain(url.split("/").at(-2));
  });

  it("is none for a link that was not made", async () => {
    const { create, events } = await setOwner();
    await create({ path: "/none" });
    await create({ path: "/", expires_in: 1e9 });
    expect(events.filter(({ id }) => id === 49101)).toEqual([]);
  });
});

describe("a service without the option links", () => {
  it("has none of these URLs, in no description and on no page", async () => {
    const { call } = await createTestService();
    for (const path of [LINKS, `${LINKS}/new`, `${LINKS}/${"0".repeat(32)}`]) {
      for (const variant of variants) {
        for (const method of ["GET", "HEAD", "POST", "DELETE"]) {
          const unknown = await call(method, "/home/__svc__/nothing", { variant });
          const { status } = await call(method, path, { variant });
          expect([method, path, status]).toEqual([method, path, unknown.status]);
        }
        expect((await call("GET", path, { variant })).status).toBe(404);
      }
    }
    const page = await call("GET", "/home/", { variant: "html" });
    expect(page.text).not.toMatch(/Share|links/);
    const document = await call("GET", "/__svc__/openapi.json", anybody);
    expect(document.text).not.toMatch(/__svc__\/(?:links|share)|share-members|create-link|LinkList|linkPassword/);
  });

  it("is 401 without a login, as any URL below /home/", async () => {
    const { call } = await setOwner();
    const wrong = { ...anybody, headers: { authorization: basic("alice", "wrong") } };
    expect((await call("GET", LINKS, { ...wrong, variant: "json" })).status).toBe(401);
    expect((await call("GET", LINKS, { ...anybody, variant: "html" })).status).toBe(302);
  });
});
