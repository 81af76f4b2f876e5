import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { PERMISSION_VALUES, type PermissionValue } from "../../../src/index.ts";
import { ROUTES } from "../../../src/service/routes.ts";
import { type Answer, createTestService, type TestService, variants } from "../../support/service.ts";

const files = {
  "/alice/a.txt": "a",
  "/alice/f/b.txt": "b",
  "/alice/f/g/c.txt": "c",
  "/alice/empty/": "",
};

/** A service with one account, alice, of these settings. */
async function createService(settings: AccountSettings): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return createTestService({ files, authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

/** One request of the walk: what it needs, and its status with it and without. */
interface Walk {
  readonly method: string;
  readonly target: string;
  readonly body?: string;
  readonly kind: "file" | "folder";
  /** Any one of these suffices, beside full control; `never` and `always` whatever the account may. */
  readonly needs: readonly PermissionValue[] | "always" | "full control";
  readonly granted: number;
  readonly denied?: number;
}

function command(name: string, target: string): string {
  return JSON.stringify({ commands: [{ command: name, target }] });
}

const LISTING: readonly PermissionValue[] = ["allow-list", "allow-traverse"];

const WALKS: readonly Walk[] = [
  { method: "GET", target: "a.txt", kind: "file", needs: ["allow-read"], granted: 200 },
  { method: "HEAD", target: "a.txt", kind: "file", needs: ["allow-read"], granted: 200 },
  { method: "GET", target: "missing", kind: "file", needs: ["allow-read"], granted: 404 },
  { method: "GET", target: "f", kind: "file", needs: "always", granted: 302 },
  { method: "PUT", target: "new.txt", body: "x", kind: "file", needs: ["allow-write"], granted: 201 },
  { method: "PUT", target: "a.txt", body: "x", kind: "file", needs: ["allow-write"], granted: 201 },
  { method: "PUT", target: "no/new.txt", body: "x", kind: "file", needs: ["allow-write"], granted: 422 },
  { method: "PUT", target: "f", body: "x", kind: "file", needs: "always", granted: 422 },
  { method: "DELETE", target: "a.txt", kind: "file", needs: ["allow-delete-file"], granted: 204 },
  { method: "DELETE", target: "missing", kind: "file", needs: ["allow-delete-file"], granted: 404 },
  { method: "DELETE", target: "f", kind: "file", needs: "always", granted: 307 },
  { method: "POST", target: "a.txt", body: command("delete", "x"), kind: "file", needs: "always", granted: 405 },
  { method: "MKCOL", target: "a.txt", kind: "file", needs: "always", granted: 405 },
  { method: "GET", target: "", kind: "folder", needs: LISTING, granted: 200 },
  { method: "GET", target: "f/", kind: "folder", needs: LISTING, granted: 200 },
  { method: "HEAD", target: "f/", kind: "folder", needs: LISTING, granted: 200 },
  { method: "GET", target: "missing/", kind: "folder", needs: LISTING, granted: 404 },
  { method: "PUT", target: "new/", kind: "folder", needs: ["allow-create-folder"], granted: 201 },
  { method: "PUT", target: "f/", kind: "folder", needs: ["allow-create-folder"], granted: 422 },
  { method: "PUT", target: "no/new/", kind: "folder", needs: ["allow-create-folder"], granted: 422 },
  { method: "MKCOL", target: "new/", kind: "folder", needs: ["allow-create-folder"], granted: 201 },
  { method: "DELETE", target: "empty/", kind: "folder", needs: ["allow-delete-folder"], granted: 204 },
  { method: "DELETE", target: "f/", kind: "folder", needs: "full control", granted: 204 },
  { method: "DELETE", target: "missing/", kind: "folder", needs: ["allow-delete-folder"], granted: 404 },
  ...(
    [
      ["delete", "a.txt", ["allow-delete-file"]],
      ["delete", "empty", ["allow-delete-folder"]],
      ["delete", "f", "full control"],
      ["create-folder", "new", ["allow-create-folder"]],
      ["create-folder-if-missing", "new", ["allow-create-folder"]],
      ["create-folder-if-missing", "f", ["allow-create-folder"]],
    ] as const
  ).map(([name, target, needs]): Walk => {
    return {
      method: "POST",
      target: "",
      body: command(name, target),
      kind: "folder",
      needs,
      granted: 200,
      denied: 422,
    };
  }),
  { method: "DELETE", target: "", kind: "folder", needs: [], granted: 403 },
];

function isGranted({ needs }: Walk, values: readonly PermissionValue[]): boolean {
  if (needs === "always") return true;
  if (values.includes("deny-full-control")) return false;
  if (values.includes("allow-full-control")) return true;
  return needs !== "full control" && needs.some((value) => values.includes(value));
}

function send({ call }: TestService, { method, target, body }: Walk): Promise<Answer> {
  const headers = method === "POST" ? { "content-type": "application/json" } : {};
  return call(method, `/home/${target}`, { variant: "json", body, headers });
}

/** Everything in alice's home, to see that nothing changed. */
async function snapshot({ storage }: TestService, folder = "/alice"): Promise<readonly string[]> {
  const found: string[] = [];
  for await (const { name, kind, size } of storage.list(folder)) {
    found.push(`${folder}/${name} ${kind} ${size}`);
    if (kind === "folder") found.push(...(await snapshot({ storage } as TestService, `${folder}/${name}`)));
  }
  return found.sort();
}

const grants: readonly (readonly PermissionValue[])[] = [
  [],
  ...PERMISSION_VALUES.map((value) => [value]),
  ["allow-full-control", "deny-full-control"],
];

describe("every route of files and folders × every permission value (CONTRACT 7.4)", () => {
  it("is walked", () => {
    const rows = ROUTES.filter(
      ({ kind, apis }) => (kind === "file" || kind === "folder") && !apis.includes("webdav-methods"),
    );
    const wanted = rows.flatMap(({ kind, methods }) => methods.map((method) => `${method} ${kind}`));
    expect([...new Set(WALKS.map(({ method, kind }) => `${method} ${kind}`))].sort()).toEqual(
      [...new Set(wanted)].sort(),
    );
  });

  describe.each(grants.map((values) => [values.join(", ") || "none", values] as const))("%s", (_name, values) => {
    const rows = WALKS.map((walk) => {
      const isAllowed = isGranted(walk, values);
      return [
        walk.method,
        walk.target,
        walk.body ?? "",
        isAllowed ? walk.granted : (walk.denied ?? 403),
        walk,
      ] as const;
    });

    it.each(rows)("%s /home/%s %s is %i", async (_method, _target, _body, status, walk) => {
      const service = await createService({ permissions: [values] });
      const before = await snapshot(service);
      expect((await send(service, walk)).status).toBe(status);
      const changes = isGranted(walk, values) && !["GET", "HEAD"].includes(walk.method) && status < 300;
      if (!changes) expect(await snapshot(service)).toEqual(before);
      expect(service.log.entries.filter(({ level }) => level === "error")).toEqual([]);
    });
  });

  it.each([
    ["webdav", "MKCOL", "/home/new/", 201],
    ["webdav", "PUT", "/home/new", 201],
    ["html", "GET", "/home/f/", 200],
    ["html", "GET", "/home/a.txt", 200],
    ["webdav", "DELETE", "/home/f/", 204],
  ] as const)("in %s %s %s is %i with full control and 403 with none", async (variant, method, target, status) => {
    const mayAll = await createService({});
    expect((await mayAll.call(method, target, { variant })).status).toBe(status);
    const mayNothing = await createService({ permissions: [[]] });
    const answer = await mayNothing.call(method, target, { variant });
    expect(answer.status).toBe(403);
    expect(answer.header("content-type")).toContain(variant === "html" ? "text/html" : "application/json");
  });
});

describe("a listing", () => {
  const namesOf = (answer: Answer) =>
    answer
      .json<{ content: { name: string }[] }>()
      .content.map(({ name }) => name)
      .sort();

  it("shows only folders to allow-traverse (CONTRACT 7.4)", async () => {
    const { call } = await createService({ permissions: [["allow-traverse"]] });
    expect(namesOf(await call("GET", "/home/", { variant: "json" }))).toEqual(["empty", "f"]);
    expect(namesOf(await call("GET", "/home/f/", { variant: "json" }))).toEqual(["g"]);
    expect((await call("GET", "/home/", { variant: "html" })).text).not.toContain("a.txt");
  });

  it("names denied members too (CONTRACT 7.4)", async () => {
    const { call } = await createService({ permissions: [["allow-list"], ["/f | /f/*", "deny-full-control"]] });
    expect(namesOf(await call("GET", "/home/", { variant: "json" }))).toEqual(["a.txt", "empty", "f"]);
    expect((await call("GET", "/home/f/", { variant: "json" })).status).toBe(403);
    expect((await call("GET", "/home/f/g/", { variant: "json" })).status).toBe(403);
  });

  it("goes by the rule of the folder, not by those of its members (CONTRACT 7.4)", async () => {
    const { call } = await createService({ permissions: [[], ["/f", "allow-list"]] });
    expect(namesOf(await call("GET", "/home/f/", { variant: "json" }))).toEqual(["b.txt", "g"]);
    expect((await call("GET", "/home/", { variant: "json" })).status).toBe(403);
  });
});

describe("a path", () => {
  const rules = [["allow-full-control"], ["/F/* | /%66/*", "deny-full-control"]];

  it.each([
    "f/b.txt",
    "%66/b.txt",
    "f/%62.txt",
    "%66%2fb.txt",
    "f//b.txt",
    "./f/b.txt",
    "empty/../f/b.txt",
    "f/./b.txt",
    "f%00/b.txt",
    "f\\b.txt",
  ])("is judged decoded, once: /home/%s gets nobody around a rule (SECURITY 1)", async (target) => {
    const { call, stored } = await createService({ permissions: rules });
    for (const method of ["GET", "PUT", "DELETE"]) {
      const answer = await call(method, `/home/${target}`, { body: method === "PUT" ? "x" : undefined });
      expect([400, 403]).toContain(answer.status);
    }
    expect(await stored("/alice/f/b.txt")).toBe("b");
  });
});

describe("the removal of a folder", () => {
  const remove = ({ call }: TestService) => call("DELETE", "/home/f/", { variant: "json" });

  it.each([
    ["a file deep below", [["allow-full-control"], ["/f/g/c.txt", "deny-full-control"]]],
    ["a file that may only be read", [["allow-full-control"], ["*.txt", "allow-read"]]],
    ["a folder below", [["allow-full-control"], ["/f/g", "allow-delete-file"]]],
    ["the folder itself", [["allow-full-control"], ["/f", "allow-delete-file"]]],
    ["every file, as folders alone may go", [["allow-delete-folder"]]],
  ])("is denied, and removes nothing, for the sake of %s (CONTRACT 4.4)", async (_case, permissions) => {
    const service = await createService({ permissions });
    const before = await snapshot(service);
    expect((await remove(service)).status).toBe(403);
    const answer = await service.call("POST", "/home/", {
      variant: "json",
      headers: { "content-type": "application/json" },
      body: command("delete", "f"),
    });
    expect(answer.status).toBe(422);
    expect(await snapshot(service)).toEqual(before);
  });

  it.each([
    ["everything may go", [["allow-delete-file", "allow-delete-folder"]]],
    ["rules permit everything in it", [[], ["/f | /f/*", "allow-delete-file", "allow-delete-folder"]]],
    ["what is protected lies beside it", [["allow-full-control"], ["/a.txt | /fx*", "deny-full-control"]]],
  ])("removes everything where %s (CONTRACT 4.4)", async (_case, permissions) => {
    const service = await createService({ permissions });
    expect((await remove(service)).status).toBe(204);
    expect(await service.storage.stat("/alice/f")).toBeUndefined();
    expect(await service.stored("/alice/a.txt")).toBe("a");
  });
});

describe("permissions", () => {
  /** A rule of 998 steps that matches no path. */
  const LARGE = ["m/(?:[a-z]?){497}[^a-z/]$/", "allow-list"];

  it("deny with its own text what is too long for large expressions, and what contains it", async () => {
    const service = await createService({ permissions: [["allow-full-control"], LARGE] });
    const folder = `${"a".repeat(200)}/${"b".repeat(200)}`;
    const tooLong = `${folder}/${"c".repeat(200)}`;
    await service.storage.createFolder(`/alice/${"a".repeat(200)}`);
    await service.storage.createFolder(`/alice/${folder}`);
    expect((await service.call("PUT", `/home/${folder}/a.txt`, { body: "x" })).status).toBe(201);
    for (const [method, target] of [
      ["GET", `/home/${tooLong}`],
      ["PUT", `/home/${tooLong}`],
    ] as const) {
      const answer = await service.call(method, target, { variant: "json", body: method === "PUT" ? "x" : undefined });
      const message = "The path is too long for the account's permission rules.";
      expect([answer.status, answer.json()]).toEqual([403, { errors: [{ message }] }]);
    }
    await service.storage.createFolder(`/alice/${tooLong}`);
    expect((await service.call("DELETE", `/home/${folder}/`)).status).toBe(403);
    expect(await service.stored(`/alice/${folder}/a.txt`)).toBe("x");
  });

  it("are the same in every variant and by session as by Basic (7.1)", async () => {
    const service = await createService({ permissions: [["allow-list"]] });
    const session = await service.login("alice");
    for (const variant of variants) {
      for (const headers of [{}, { authorization: `session ${session}` }]) {
        expect((await service.call("GET", "/home/a.txt", { variant, headers })).status).toBe(403);
        expect((await service.call("GET", "/home/", { variant, headers })).status).toBe(200);
      }
    }
  });

  it.each([
    ["an unknown group", { group: "8c4d" }],
    ["an invalid expression", { permissions: [[], ["m/(/", "allow-read"]] }],
    ["too large expressions", { permissions: [[], LARGE, LARGE, LARGE] }],
  ])(
    "that cannot be, for %s, refuse the login like a wrong password, and only the operator learns why (CONTRACT 9.1)",
    async (_case, settings) => {
      const { call, log } = await createService(settings);
      const body = JSON.stringify({ username: "alice", password: "secret" });
      const headers = { "content-type": "application/json" };
      for (const answer of [
        await call("POST", "/__svc__/login", { as: null, variant: "json", headers, body }),
        await call("GET", "/home/", { variant: "json" }),
      ]) {
        expect(answer.status).toBe(401);
        const message = "The user name or password is wrong.";
        expect(answer.json()).toEqual({ errors: [{ message, title: "Unauthorized" }] });
      }
      const warnings = log.entries.filter(({ level, details }) => level === "warn" && "username" in details);
      expect(warnings).toHaveLength(2);
      expect(log.text()).toMatch(
        /group: is not a configured group|permissions\[1\]: the expression is not valid|permissions\[3\]: .* 2000 steps/,
      );
    },
  );
});
