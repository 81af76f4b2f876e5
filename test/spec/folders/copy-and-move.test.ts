import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type Answer, createTestService, type TestService } from "../../support/service.ts";
import { fillStorage, withLinks } from "../../support/storage.ts";

const files = {
  "/alice/f/a.txt": "a",
  "/alice/f/sub/b.txt": "b",
  "/alice/f/sub/deep/c.txt": "c",
  "/alice/g/": "",
  "/alice/g/a.txt": "other",
  "/alice/top.txt": "top",
};

interface Transfer {
  readonly command: string;
  readonly target: unknown;
  readonly [key: string]: unknown;
}

function send({ call }: TestService, commands: readonly Transfer[], path = "/home/f/"): Promise<Answer> {
  const headers = { "content-type": "application/json" };
  return call("POST", path, { body: JSON.stringify({ commands }), variant: "json", headers });
}

async function messageOf(test: TestService, command: Transfer, path?: string): Promise<string | null | undefined> {
  const { results, errors } = (await send(test, [command], path)).json<{
    results?: readonly { message: string | null }[];
    errors?: readonly { message: string | null }[];
  }>();
  return (results ?? errors)?.[0]?.message;
}

/** A service for an account with these settings. */
function createFor(settings: AccountSettings): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", ...settings };
  return createTestService({ files, authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

describe("POST /home/<folder>/ with the commands move and copy", () => {
  it("move a file to a new name in the addressed folder", async () => {
    const test = await createTestService({ files });
    const answer = await send(test, [{ command: "move", target: "a.txt", destination: "new.txt" }]);
    expect([answer.status, answer.json()]).toEqual([200, { results: [{ target: "a.txt", message: null }] }]);
    expect([await test.stored("/alice/f/new.txt"), await test.stored("/alice/f/a.txt")]).toEqual(["a", undefined]);
  });

  it("copy a file, and the original stays", async () => {
    const test = await createTestService({ files });
    expect((await send(test, [{ command: "copy", target: "a.txt", destination: "sub/a.txt" }])).status).toBe(200);
    expect([await test.stored("/alice/f/sub/a.txt"), await test.stored("/alice/f/a.txt")]).toEqual(["a", "a"]);
  });

  it("move and copy a folder with everything in it", async () => {
    const test = await createTestService({ files });
    const commands = [
      { command: "copy", target: "sub", destination: "/g/copy" },
      { command: "move", target: "sub", destination: "/g/moved" },
    ];
    expect((await send(test, commands)).status).toBe(200);
    expect([await test.stored("/alice/g/copy/deep/c.txt"), await test.stored("/alice/g/moved/b.txt")]).toEqual([
      "c",
      "b",
    ]);
    expect(await test.storage.stat("/alice/f/sub")).toBeUndefined();
  });

  it.each([
    ["from the addressed folder", "sub/x.txt", "/alice/f/sub/x.txt"],
    ["with a leading slash from the account's root", "/x.txt", "/alice/x.txt"],
    ["with a slash at its end into that folder, under the same name", "sub/", "/alice/f/sub/a.txt"],
    ["that is the root folder", "/", "/alice/a.txt"],
    ["decoded, so that percent signs are part of names", "100%41.txt", "/alice/f/100%41.txt"],
  ])("take a destination %s", async (_, destination, path) => {
    const test = await createTestService({ files });
    expect(await messageOf(test, { command: "copy", target: "a.txt", destination })).toBeNull();
    expect(await test.stored(path)).toBe("a");
  });

  it.each(["", "..", "../x", "/../x", "a/./b", "a//b", "//", "a\\b", "a\u0000b", "a\nb", "sub/.."])(
    "refuse the destination %j, and do nothing",
    async (destination) => {
      for (const command of ["move", "copy"]) {
        const test = await createTestService({ files });
        const answer = await send(test, [{ command, target: "a.txt", destination }]);
        expect([answer.status, answer.header("error-code")]).toEqual([422, "destination-invalid"]);
        expect(await test.stored("/alice/f/a.txt")).toBe("a");
      }
    },
  );

  it("replace something only with overwrite", async () => {
    for (const command of ["move", "copy"]) {
      const test = await createTestService({ files });
      const message = "A file or folder with that name already exists.";
      expect(await messageOf(test, { command, target: "a.txt", destination: "/g/" })).toBe(message);
      expect(await messageOf(test, { command, target: "a.txt", destination: "/g/", overwrite: false })).toBe(message);
      expect(await messageOf(test, { command, target: "a.txt", destination: "/g" })).toBe(message);
      expect(await test.stored("/alice/g/a.txt")).toBe("other");
      expect(await messageOf(test, { command, target: "a.txt", destination: "/g/", overwrite: true })).toBeNull();
      expect(await test.stored("/alice/g/a.txt")).toBe("a");
    }
  });

  it("report each failure with its message and its code, and go on", async () => {
    const test = await createTestService({ files });
    const commands = [
      { command: "move", target: "none", destination: "x" },
      { command: "copy", target: "a.txt", destination: "none/x" },
      { command: "copy", target: "a.txt", destination: "/top.txt/x" },
      { command: "move", target: "sub", destination: "sub/deep/sub" },
      { command: "move", target: "a.txt", destination: "a.txt" },
      { command: "copy", target: "a.txt", destination: "/__svc__/x" },
      { command: "copy", target: "../top.txt", destination: "x" },
      { command: "copy", target: "a.txt", destination: "done.txt" },
    ];
    const answer = await send(test, commands);
    expect(answer.status).toBe(422);
    expect(answer.json<{ errors: { message: string | null }[] }>().errors.map(({ message }) => message)).toEqual([
      "Not found.",
      "The parent folder does not exist.",
      "A file exists where a folder is needed.",
      "Nothing can be copied or moved to itself, into itself or over a folder around it.",
      "Nothing can be copied or moved to itself, into itself or over a folder around it.",
      "This name is reserved.",
      "This is not a valid name.",
      null,
    ]);
    expect(await test.stored("/alice/f/done.txt")).toBe("a");
  });

  it("are malformed without a destination, or with another type or key, and then nothing is done", async () => {
    const test = await createTestService({ files });
    const good = { command: "copy", target: "a.txt", destination: "copied.txt" };
    for (const bad of [
      { command: "move", target: "a.txt" },
      { command: "move", target: ["a.txt"], destination: "x" },
      { command: "move", target: "a.txt", destination: 1 },
      { command: "move", target: "a.txt", destination: "x", overwrite: "yes" },
      { command: "move", target: "a.txt", destination: "x", more: true },
      { command: "delete", target: "a.txt", destination: "x" },
      { command: "rename", target: "a.txt", destination: "x" },
    ]) {
      expect((await send(test, [good, bad])).status).toBe(400);
    }
    expect(await test.stored("/alice/f/copied.txt")).toBeUndefined();
  });

  it("do not see links, and a copied folder leaves them out", async () => {
    const memory = createMemoryStorage();
    await fillStorage(memory, files);
    const storage = withLinks(memory, ["/alice/f/link"]);
    const test = await createTestService({ storage });
    for (const command of ["move", "copy"]) {
      expect(await messageOf(test, { command, target: "link", destination: "x" })).toBe("Not found.");
    }
  });
});

describe("the permissions of a copy and a move", () => {
  const DENIED = "The account's permissions do not allow this.";

  it.each([
    ["copy", ["allow-read", "allow-list", "allow-write", "allow-create-folder"]],
    ["move", ["allow-rename"]],
  ])("%s of a folder needs %j and nothing else", async (command, values) => {
    const enough = await createFor({ permissions: [values] });
    expect(await messageOf(enough, { command, target: "sub", destination: "/g/new" })).toBeNull();
    for (const missing of values) {
      const test = await createFor({ permissions: [values.filter((value) => value !== missing)] });
      expect(await messageOf(test, { command, target: "sub", destination: "/g/new" })).toBe(DENIED);
      expect(await test.stored("/alice/f/sub/deep/c.txt")).toBe("c");
      expect(await test.storage.stat("/alice/g/new")).toBeUndefined();
    }
  });

  it.each([
    ["a file deep in the source", "/f/sub/deep/c.txt"],
    ["a folder in the source", "/f/sub/deep"],
    ["the new place of a file", "/g/new/b.txt"],
    ["the new place of the folder", "/g/new"],
  ])("are checked on both whole trees before anything is done: %s", async (_, path) => {
    for (const command of ["move", "copy"]) {
      const test = await createFor({ permissions: [["allow-full-control"], [path, "deny-full-control"]] });
      expect(await messageOf(test, { command, target: "sub", destination: "/g/new" })).toBe(DENIED);
      expect(await test.stored("/alice/f/sub/deep/c.txt")).toBe("c");
      expect(await test.storage.stat("/alice/g/new")).toBeUndefined();
    }
  });

  it("include the removal of everything that is replaced", async () => {
    const rules = [["allow-full-control"], ["/f/sub/deep/*", "allow-read"]];
    for (const command of ["move", "copy"]) {
      const test = await createFor({ permissions: rules });
      const transfer = { command, target: "g", destination: "/f/sub", overwrite: true };
      expect(await messageOf(test, transfer, "/home/")).toBe(DENIED);
      expect(await test.stored("/alice/f/sub/deep/c.txt")).toBe("c");
      expect(await test.stored("/alice/g/a.txt")).toBe("other");
    }
  });

  it("refuse the copy of a file above the account's size limit, also deep in a folder", async () => {
    const account = { username: "alice", password: "secret", home_folder_path: "/alice" };
    const authentication = createAccountsAuthenticator({ accounts: [account] });
    const test = await createTestService({ files, authentication, limits: { maxFileBytes: 3 } });
    await fillStorage(test.storage, { "/alice/f/sub/deep/large.txt": "four" });
    expect(await messageOf(test, { command: "copy", target: "sub", destination: "/g/new" })).toBe(
      "The file is larger than 3 bytes.",
    );
    expect(await test.storage.stat("/alice/g/new")).toBeUndefined();
    expect(await messageOf(test, { command: "move", target: "sub", destination: "/g/new" })).toBeNull();
  });

  it("never move, copy or replace a virtual folder or a folder around one, but what is in it", async () => {
    const test = await createFor({ virtual_folders: [["/f/way/shared", "/shared"]] });
    await fillStorage(test.storage, { "/shared/s.txt": "s" });
    for (const target of ["way", "shared"]) {
      const from = target === "way" ? "/home/f/" : "/home/f/way/";
      const moved = await send(test, [{ command: "move", target, destination: "/g/x" }], from);
      expect([moved.status, moved.header("error-code")]).toEqual([422, "storage-denied"]);
    }
    const replaced = await send(test, [{ command: "move", target: "a.txt", destination: "way", overwrite: true }]);
    expect([replaced.status, replaced.header("error-code")]).toEqual([422, "storage-denied"]);
    expect(await messageOf(test, { command: "copy", target: "way", destination: "/g/x" })).toBeNull();
    expect(await test.stored("/alice/g/x/shared/s.txt")).toBe("s");
    expect(
      await messageOf(test, { command: "move", target: "s.txt", destination: "/f/" }, "/home/f/way/shared/"),
    ).toBeNull();
    expect([await test.stored("/alice/f/s.txt"), await test.stored("/shared/s.txt")]).toEqual(["s", undefined]);
  });
});

describe("the events of a copy and a move", () => {
  it("have one for a tree, with both paths and whether something was replaced, or the reason", async () => {
    const events: FileEvent[] = [];
    const test = await createTestService({ files, onEvent: (event) => events.push(event) });
    await send(test, [
      { command: "copy", target: "sub", destination: "/g/new" },
      { command: "move", target: "a.txt", destination: "/g/", overwrite: true },
      { command: "move", target: "none", destination: "x" },
      { command: "copy", target: "none", destination: "x" },
    ]);
    const seen = events.filter(({ id }) => id >= 40_055).map(({ id, data }) => [id, data]);
    const toNone = {
      path: "/f/none",
      real_path: "/alice/f/none",
      destination: "/f/x",
      destination_real_path: "/alice/f/x",
    };
    expect(seen).toEqual([
      [
        49001,
        {
          path: "/f/sub",
          real_path: "/alice/f/sub",
          destination: "/g/new",
          destination_real_path: "/alice/g/new",
          replaced: false,
        },
      ],
      [
        40055,
        {
          path: "/f/a.txt",
          real_path: "/alice/f/a.txt",
          destination: "/g/a.txt",
          destination_real_path: "/alice/g/a.txt",
          replaced: true,
        },
      ],
      [40056, { ...toNone, details: "Not found." }],
      [49002, { ...toNone, details: "Not found." }],
    ]);
  });
});
