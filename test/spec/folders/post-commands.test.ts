import { describe, expect, it } from "vitest";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { streamOf } from "../../support/bodies.ts";
import { type Answer, type CallOptions, createTestService, type TestService, variants } from "../../support/service.ts";
import { fillStorage, overrideStorage } from "../../support/storage.ts";

const files = { "/alice/f/a": "x", "/alice/f/b": "x", "/alice/f/sub/deep/c": "x", "/alice/a": "outside" };
const type = "application/json; charset=utf-8";

interface Command {
  readonly command: string;
  readonly target: unknown;
}

function post({ call }: TestService, path: string, body: CallOptions["body"], more: CallOptions = {}): Promise<Answer> {
  return call("POST", path, { body, variant: "json", headers: { "content-type": type }, ...more });
}

function send(test: TestService, commands: readonly Command[], path = "/home/f/"): Promise<Answer> {
  return post(test, path, JSON.stringify({ commands }));
}

const failed = expect.stringMatching(/./);

describe("POST /home/<folder>/ with commands", () => {
  it("deletes a file inside the addressed folder (4.3)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [{ command: "delete", target: "a" }]);
    expect(answer.status).toBe(200);
    expect(await test.stored("/alice/f/a")).toBeUndefined();
    expect(await test.stored("/alice/a")).toBe("outside");
  });

  it("deletes a folder recursively (4.3)", async () => {
    const test = await createTestService({ files });
    expect((await send(test, [{ command: "delete", target: "sub" }])).status).toBe(200);
    expect(await test.storage.stat("/alice/f/sub")).toBeUndefined();
  });

  it("deletes no folder that takes a file's place after the permission was judged (4.3, CONTRACT 4.4)", async () => {
    const memory = createMemoryStorage();
    const storage = overrideStorage(memory, {
      async remove(path, options) {
        await memory.remove(path);
        await fillStorage(memory, { [`${path}/deep/file`]: "new" });
        await memory.remove(path, options);
      },
    });
    const test = await createTestService({ storage, files });
    const answer = await send(test, [{ command: "delete", target: "a" }]);
    expect(answer.json()).toEqual({ errors: [{ target: "a", message: "Not found." }] });
    expect(await test.stored("/alice/f/a/deep/file")).toBe("new");
  });

  it("creates a folder (4.3)", async () => {
    const test = await createTestService({ files });
    expect((await send(test, [{ command: "create-folder", target: "new" }])).status).toBe(200);
    expect((await test.storage.stat("/alice/f/new"))?.kind).toBe("folder");
  });

  it("creates a folder if it is missing, and raises no error when it exists (4.3)", async () => {
    const test = await createTestService({ files });
    const commands = ["new", "new", "sub"].map((target) => ({ command: "create-folder-if-missing", target }));
    expect((await send(test, commands)).status).toBe(200);
    expect((await test.storage.stat("/alice/f/new"))?.kind).toBe("folder");
    expect(await test.stored("/alice/f/sub/deep/c")).toBe("x");
  });

  it("answers 200 with a result for every target in order (4.3, CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [
      { command: "create-folder", target: "z" },
      { command: "delete", target: "a" },
      { command: "create-folder-if-missing", target: "z" },
    ]);
    expect(answer.status).toBe(200);
    expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.header("server-path")).toBe("/f");
    expect(answer.json()).toEqual({
      results: [
        { target: "z", message: null },
        { target: "a", message: null },
        { target: "z", message: null },
      ],
    });
  });

  it("runs them in order (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [
      { command: "delete", target: "sub" },
      { command: "create-folder", target: "sub" },
      { command: "delete", target: "a" },
      { command: "create-folder", target: "a" },
    ]);
    expect(answer.status).toBe(200);
    expect((await test.storage.stat("/alice/f/a"))?.kind).toBe("folder");
    expect(await test.storage.stat("/alice/f/sub/deep")).toBeUndefined();
  });

  it("works in the root (4.3)", async () => {
    const test = await createTestService({ files });
    expect((await send(test, [{ command: "delete", target: "a" }], "/home/")).status).toBe(200);
    expect(await test.stored("/alice/a")).toBeUndefined();
  });

  it("speaks JSON by its Content-Type alone, also without its charset (1.5, 4.3)", async () => {
    const test = await createTestService({ files });
    for (const contentType of [type, "application/json", "APPLICATION/JSON;charset=UTF-8"]) {
      const body = '{"commands":[{"command":"create-folder-if-missing","target":"x"}]}';
      const answer = await test.call("POST", "/home/f/", { body, headers: { "content-type": contentType } });
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
    }
  });
});

describe("commands of which some fail", () => {
  it("answer 422 with an entry for every target in order, message null for successes (4.3)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [
      { command: "delete", target: "missing" },
      { command: "delete", target: "a" },
      { command: "create-folder", target: "sub" },
      { command: "create-folder", target: "new" },
      { command: "create-folder-if-missing", target: "b" },
      { command: "create-folder-if-missing", target: "sub" },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.header("content-type")).toBe("application/json; charset=utf-8");
    expect(answer.json()).toEqual({
      errors: [
        { target: "missing", message: failed },
        { target: "a", message: null },
        { target: "sub", message: failed },
        { target: "new", message: null },
        { target: "b", message: failed },
        { target: "sub", message: null },
      ],
    });
  });

  it("leave the following ones running (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    await send(test, [
      { command: "delete", target: "missing" },
      { command: "create-folder", target: "new" },
    ]);
    expect((await test.storage.stat("/alice/f/new"))?.kind).toBe("folder");
  });

  it("fail twice for a target named twice (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    const command = { command: "delete", target: "a" };
    expect((await send(test, [command, command])).json()).toEqual({
      errors: [
        { target: "a", message: null },
        { target: "a", message: failed },
      ],
    });
  });

  it("compare targets case-sensitively (4.3)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [{ command: "delete", target: "A" }]);
    expect(answer.json()).toEqual({ errors: [{ target: "A", message: failed }] });
    expect(await test.stored("/alice/f/a")).toBe("x");
  });

  it.each([
    "",
    ".",
    "..",
    "../a",
    "sub/deep",
    "/alice/a",
    "a/",
    "sub\\deep",
    "a\0",
    "a\nb",
    "\u007f",
    "\u0085",
    "\ud800",
    "x".repeat(256),
  ])("fail for the badly named target %j alone (CONTRACT 2.2, 4.5)", async (target) => {
    const test = await createTestService({ files });
    for (const command of ["create-folder", "create-folder-if-missing", "delete"]) {
      const answer = await send(test, [
        { command, target },
        { command: "create-folder-if-missing", target: "good" },
      ]);
      expect(answer.status).toBe(422);
      expect(answer.json()).toMatchObject({ errors: [{ message: failed }, { target: "good", message: null }] });
    }
    expect(await test.stored("/alice/a")).toBe("outside");
    expect(await test.stored("/alice/f/sub/deep/c")).toBe("x");
  });

  it("fail for the reserved name at the root alone (CONTRACT 2.3, 4.5)", async () => {
    const test = await createTestService({ files });
    const commands = ["create-folder", "create-folder-if-missing", "delete"].map((command) => ({
      command,
      target: "__svc__",
    }));
    expect((await send(test, commands, "/home/")).json()).toEqual({
      errors: [
        { target: "__svc__", message: failed },
        { target: "__svc__", message: failed },
        { target: "__svc__", message: failed },
      ],
    });
    expect(await test.storage.stat("/alice/__svc__")).toBeUndefined();
    expect((await send(test, commands)).json()).toMatchObject({ results: [{ message: null }, {}, {}] });
  });

  it("take percent signs in targets for themselves (CONTRACT 2.1)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [
      { command: "create-folder", target: "%2e%2e" },
      { command: "create-folder", target: "%61" },
    ]);
    expect(answer.status).toBe(200);
    expect((await test.storage.stat("/alice/f/%61"))?.kind).toBe("folder");
    expect(await test.stored("/alice/f/a")).toBe("x");
  });

  it("tell nothing of the storage's own messages (SECURITY 14)", async () => {
    const base = createMemoryStorage();
    const errors = [new StorageError("denied", "EACCES /srv/secret"), new Error("EIO /srv/secret")];
    const storage = overrideStorage(base, { remove: () => Promise.reject(errors.shift() ?? new Error("/srv/secret")) });
    const test = await createTestService({ storage, files });
    const answer = await send(test, [
      { command: "delete", target: "a" },
      { command: "delete", target: "b" },
      { command: "create-folder", target: "c" },
    ]);
    expect(answer.status).toBe(422);
    expect(answer.text).not.toMatch(/srv|EACCES|EIO|\bat /);
    expect(answer.json()).toEqual({
      errors: [
        { target: "a", message: failed },
        { target: "b", message: failed },
        { target: "c", message: null },
      ],
    });
    expect(test.log.text()).toContain("EIO /srv/secret");
  });
});

describe("commands that are not well formed", () => {
  const good = { command: "delete", target: "a" };

  it.each<readonly [what: string, body: unknown]>([
    ["nothing", ""],
    ["no JSON", "{"],
    ["JSON with a comma too many", '{"commands":[{"command":"delete","target":"a"},]}'],
    ["null", null],
    ["a list", [good]],
    ["a text", "delete"],
    ["no commands", {}],
    ["commands that are no list", { commands: good }],
    ["an empty list of commands", { commands: [] }],
    ["a command that is none", { commands: [good, null] }],
    ["a command that is a text", { commands: [good, "delete"] }],
    ["a command without a target", { commands: [good, { command: "delete" }] }],
    ["a target without a command", { commands: [good, { target: "a" }] }],
    ["an unknown command", { commands: [good, { command: "rename", target: "a" }] }],
    ["a command in upper case", { commands: [good, { command: "Delete", target: "a" }] }],
    ["a command with a blank", { commands: [good, { command: "delete ", target: "a" }] }],
    ["a command of the prototype", { commands: [good, { command: "constructor", target: "a" }] }],
    ["the command __proto__", { commands: [good, { command: "__proto__", target: "a" }] }],
    ["a list of targets", { commands: [good, { command: "delete", target: ["b"] }] }],
    ["an empty list of targets", { commands: [good, { command: "delete", target: [] }] }],
    ["a target that is null", { commands: [good, { command: "delete", target: null }] }],
    ["a target that is a number", { commands: [good, { command: "delete", target: 1 }] }],
    ["an unknown key of a command", { commands: [good, { ...good, force: true }] }],
    ["an unknown key beside the commands", { commands: [good], dryRun: true }],
    ["the key __proto__", '{"commands":[{"command":"delete","target":"a","__proto__":{}}]}'],
    ["1,001 commands", { commands: Array.from({ length: 1001 }, () => good) }],
  ])("answer 400 with the errors body and do nothing: %s (4.3.5, CONTRACT 4.5)", async (_what, content) => {
    const test = await createTestService({ files });
    const body = typeof content === "string" && content !== "delete" ? content : JSON.stringify(content);
    const answer = await post(test, "/home/f/", body);
    expect(answer.status).toBe(400);
    expect(answer.json()).toEqual({ errors: [{ message: failed }] });
    expect(await test.stored("/alice/f/a")).toBe("x");
  });

  it("answer 400 to what is not UTF-8 (1.5)", async () => {
    const test = await createTestService({ files });
    const bytes = new TextEncoder().encode('{"commands":[{"command":"create-folder","target":"?"}]}');
    bytes[bytes.indexOf(0x3f)] = 0xff;
    expect((await post(test, "/home/f/", bytes)).status).toBe(400);
  });

  it("may be 1,000 at most (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    const commands = Array.from({ length: 1000 }, (_, index) => ({ command: "create-folder", target: `n${index}` }));
    const answer = await send(test, commands);
    expect(answer.status).toBe(200);
    expect(answer.json<{ results: unknown[] }>().results).toHaveLength(1000);
  });

  it("are answered 413 over 1 MiB, and not before (CONTRACT 4.5)", async () => {
    const test = await createTestService({ files });
    const toBody = (size: number) => {
      const body = JSON.stringify({ commands: [{ command: "create-folder", target: "x" }] });
      return body + " ".repeat(size - body.length);
    };
    const limit = 1024 * 1024;
    expect((await post(test, "/home/f/", toBody(limit + 1))).status).toBe(413);
    expect((await post(test, "/home/f/", streamOf(toBody(limit + 1)))).status).toBe(413);
    expect(await test.storage.stat("/alice/f/x")).toBeUndefined();
    expect((await post(test, "/home/f/", toBody(limit))).status).toBe(200);
  });

  it("answer 415 to a body of another type, and do nothing (7.1)", async () => {
    const test = await createTestService({ files });
    for (const contentType of ["text/plain", "application/xml", "application/x-www-form-urlencoded"]) {
      const headers = { "content-type": contentType };
      const body = JSON.stringify({ commands: [good] });
      expect((await post(test, "/home/f/", body, { headers })).status).toBe(415);
    }
    expect(await test.stored("/alice/f/a")).toBe("x");
  });
});

describe("commands elsewhere", () => {
  it("are not supported on a file URL: 405 with Allow (4.2)", async () => {
    const test = await createTestService({ files });
    for (const path of ["/home/f/a", "/home/missing"]) {
      const answer = await send(test, [{ command: "delete", target: "a" }], path);
      expect(answer.status).toBe(405);
      expect(answer.header("allow")).toContain("GET");
    }
  });

  it("are answered 404 for a missing folder and a file (7.1, CONTRACT 2.5)", async () => {
    const test = await createTestService({ files });
    for (const path of ["/home/missing/", "/home/f/a/", "/home/__svc__/"]) {
      expect((await send(test, [{ command: "create-folder", target: "x" }], path)).status).toBe(404);
    }
    expect(await test.storage.stat("/alice/missing")).toBeUndefined();
  });

  it("are redirected by 307 from a folder without its trailing / (CONTRACT 2.5)", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [{ command: "delete", target: "a" }], "/home/f");
    expect([answer.status, answer.header("location")]).toEqual([307, "/home/f/"]);
    expect(await test.stored("/alice/f/a")).toBe("x");
  });

  it("need a login in every variant (7.1)", async () => {
    const test = await createTestService({ files });
    const body = JSON.stringify({ commands: [{ command: "delete", target: "a" }] });
    for (const variant of variants) {
      const { status } = await post(test, "/home/f/", body, { as: null, variant, headers: { "content-type": type } });
      expect(status).toBe(variant === "html" ? 302 : 401);
    }
    expect(await test.stored("/alice/f/a")).toBe("x");
  });
});
