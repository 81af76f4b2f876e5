import { mkdir, readdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { fileEventSchema } from "../../src/schemas/events.ts";
import { ensureBuilt, makeFolder, waitFor } from "../support/built.ts";
import { reportFigure } from "../support/trust.ts";
import {
  type Ask,
  ask,
  contentOf,
  diskOfTest,
  expectRefused,
  fill,
  logIn,
  type Machine,
  namesBelow,
  put,
  type Reply,
  startMachine,
  unfill,
} from "./machine-environment.ts";

const FIRST = "the first password";
const UNCHANGED = "Passwords cannot be changed at the moment.";
const NEXT = "the next password";
/** How many causes of failure were tried, each until the service was well again. */
let causes = 0;

beforeAll(ensureBuilt);
afterAll(() => {
  reportFigure({ row: "Failing machine", what: "causes outside the storage, each with recovery", value: causes });
});

describe("a storage whose folder vanishes", () => {
  it("is answered 503 while sessions and logins go on, and served with the next request once it is back", async () => {
    const machine = await startMachine();
    const root = join(machine.folder, "files");
    expect((await ask(machine, { method: "MKCOL", path: "home/folder/" })).status).toBe(201);
    expect((await put(machine, "folder/file", "former")).status).toBe(201);
    const session = await logIn(machine);
    await rename(root, `${root}-away`);
    const refused: readonly Ask[] = [
      { method: "GET", path: "home/" },
      { method: "GET", path: "home/folder/" },
      { method: "GET", path: "home/folder/file" },
      { method: "PUT", path: "home/folder/file", body: "new" },
      { method: "PUT", path: "home/new", body: "new" },
      { method: "PUT", path: "home/new/" },
      { method: "DELETE", path: "home/folder/file" },
      { method: "DELETE", path: "home/folder/" },
    ];
    for (const request of refused) await expectRefused(machine, request, 503);
    await logIn(machine);
    expect(await readdir(machine.folder), "nothing is made in its place").not.toContain("files");
    await rename(`${root}-away`, root);
    const bySession = { Authorization: `session ${session}` };
    const read = await ask(machine, { method: "GET", path: "home/folder/file", headers: bySession });
    expect([read.status, read.text]).toEqual([200, "former"]);
    expect((await put(machine, "folder/file", "next")).status).toBe(201);
    expect(await namesBelow(root)).toEqual(["folder", "folder/file"]);
    causes += 1;
  });

  it("has an upload that was under way then wholly or not at all, as it was answered", async () => {
    const machine = await startMachine();
    const root = join(machine.folder, "files");
    const parts = Array.from({ length: 8 }, (_, index) => Buffer.alloc(100_000, `part ${index}`));
    async function* content(): AsyncGenerator<Uint8Array> {
      for (const [index, part] of parts.entries()) {
        yield part;
        if (index === 0) await expect.poll(() => namesBelow(root)).toHaveLength(1);
        if (index === 3) await rename(root, `${root}-away`);
      }
    }
    const { status } = await put(machine, "file", content());
    expect([201, 503]).toContain(status);
    await rename(`${root}-away`, root);
    expect(await namesBelow(root)).toEqual(status === 201 ? ["file"] : []);
    if (status === 201) expect(await contentOf(machine, "file")).toBe(Buffer.concat(parts).toString());
    expect((await put(machine, "next", "text")).status).toBe(201);
    causes += 1;
  });

  it("is served from another folder of its name, as of a disk that was mounted again", async () => {
    const machine = await startMachine();
    const root = join(machine.folder, "files");
    await rm(root, { recursive: true });
    await expectRefused(machine, { method: "PUT", path: "home/file", body: "new" }, 503);
    await mkdir(root);
    expect((await put(machine, "file", "new")).status).toBe(201);
    expect(await contentOf(machine, "file")).toBe("new");
    causes += 1;
  });
});

describe("an accounts file", () => {
  it("on a full disk refuses a change of password, keeps the old one and nothing beside it, and makes it when there is space", async ({
    skip,
  }) => {
    const disk = diskOfTest(skip);
    const file = join(disk, "accounts.json");
    await writeFile(file, toAccountsText());
    const machine = await startMachine({ authentication: [{ type: "accounts", file }] });
    const session = await logIn(machine, "alice", FIRST);
    fill(join(disk, "filler"));
    const refused = await changePassword(machine, session);
    expect([refused.status, JSON.parse(refused.text)]).toEqual([503, { errors: [{ message: UNCHANGED }] }]);
    await expect.poll(machine.run.stderr, { message: "the operator learns why" }).toContain("ENOSPC");
    expect(await readFile(file, "utf8")).toBe(toAccountsText());
    await logIn(machine, "alice", FIRST);
    await unfill(join(disk, "filler"));
    expect(await readdir(disk)).toEqual(["accounts.json"]);
    const changed = await changePassword(machine, session);
    expect(changed.status, changed.text).toBe(200);
    await logIn(machine, "alice", NEXT);
    expect(await readdir(disk)).toEqual(["accounts.json"]);
    causes += 1;
  });

  it("that is away lets in those that were known, and is changed when it is back", async () => {
    const file = join(await makeFolder(), "accounts.json");
    await writeFile(file, toAccountsText());
    const machine = await startMachine({ authentication: [{ type: "accounts", file }] });
    const session = await logIn(machine, "alice", FIRST);
    await rename(file, `${file}-away`);
    // Longer than the time for which a result is kept.
    await new Promise((resolve) => setTimeout(resolve, 1100));
    await logIn(machine, "alice", FIRST);
    const bySession = { Authorization: `session ${session}` };
    expect((await ask(machine, { method: "GET", path: "home/", headers: bySession })).status).toBe(200);
    expect((await changePassword(machine, session)).status).toBe(503);
    await rename(`${file}-away`, file);
    expect((await changePassword(machine, session)).status).toBe(200);
    await logIn(machine, "alice", NEXT);
    causes += 1;
  });
});

describe("a file of events on a disk that is full", () => {
  it("holds nothing up: the log says so, and later events are written in whole lines", async ({ skip }) => {
    const disk = diskOfTest(skip);
    const file = join(disk, "events.ndjson");
    const machine = await startMachine({ events: { file } });
    const events = async () => (await readFile(file, "utf8")).split("\n").filter(Boolean);
    expect((await put(machine, "first", "text")).status).toBe(201);
    await expect.poll(async () => (await events()).length).toBeGreaterThan(0);
    fill(join(disk, "filler"));
    // As many as the file's last page cannot take.
    for (let number = 0; number < 30; number += 1) {
      expect((await put(machine, `file-${number}`, "text")).status).toBe(201);
    }
    await waitFor(
      () => machine.run.stderr().includes("Events could not be written to the file.") || undefined,
      machine.run,
    );
    expect(await contentOf(machine, "file-29")).toBe("text");
    await unfill(join(disk, "filler"));
    expect((await put(machine, "last", "text")).status).toBe(201);
    await expect.poll(async () => (await events()).some((line) => line.includes('"/last"'))).toBe(true);
    for (const line of await events()) fileEventSchema.parse(JSON.parse(line));
    causes += 1;
  });
});

function toAccountsText(): string {
  return JSON.stringify({ accounts: [{ username: "alice", password: FIRST, home_folder_path: "/" }] });
}

/** Changes the password of the account from the first to the next one. */
function changePassword(machine: Machine, session: string): Promise<Reply> {
  return ask(machine, {
    method: "POST",
    path: "home/__svc__/password-update",
    headers: { Authorization: `session ${session}`, "Content-Type": "application/json" },
    body: JSON.stringify({ current_password: FIRST, new_password: NEXT }),
  });
}
