import { describe, expect, it } from "vitest";
import type { NewLink } from "../../../src/contracts/links.ts";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { StorageUploads } from "../../../src/contracts/storage-uploads.ts";
import type { Upload } from "../../../src/contracts/upload.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createR2Storage } from "../../../src/storage/r2.ts";
import type { Answer } from "../../support/service.ts";
import { createMemoryBucket } from "../../unit/storage/r2-bucket.ts";
import { base64 } from "../uploads/calls.ts";
import { DROP, openVisits, uploadsIn, type VisitOptions, type Visits } from "./visits.ts";

const MEBIBYTE = 1024 ** 2;
const TUS = { "tus-resumable": "1.0.0" } as const;
const DRAFT = { "upload-draft-interop-version": "8" } as const;
const CONTENT = { tus: "application/offset+octet-stream", draft: "application/partial-upload" } as const;
const SHOWN: Partial<NewLink> = { path: "/vault/inbox", permissions: ["allow-read", "allow-list", "allow-write"] };

type Protocol = "tus" | "draft";

interface Uploads extends Visits {
  readonly url: string;
  /** Creates an upload of five bytes, without content; returns the answer. */
  create(protocol: Protocol, url: string, name: string, headers?: Readonly<Record<string, string>>): Promise<Answer>;
  /** Sends content that completes an upload. */
  complete(protocol: Protocol, upload: string, offset: number, body: string): Promise<Answer>;
  show(protocol: Protocol, upload: string): Promise<Answer>;
}

async function open(wanted: Partial<NewLink> = SHOWN, options: VisitOptions = {}): Promise<Uploads> {
  const visits = await openVisits(options);
  const { visit } = visits;
  return {
    ...visits,
    url: await visits.link(wanted),
    create(protocol, url, name, headers = {}) {
      if (protocol === "draft") {
        const fields = { ...DRAFT, "upload-complete": "?0", "upload-length": "5", ...headers };
        return visit("PUT", url + name, { headers: fields });
      }
      const metadata = { "upload-length": "5", "upload-metadata": `filename ${base64(name)}` };
      return visit("POST", url, { headers: { ...TUS, ...metadata, ...headers } });
    },
    complete(protocol, upload, offset, body) {
      const own = protocol === "tus" ? TUS : { ...DRAFT, "upload-complete": "?1" };
      const headers = { ...own, "upload-offset": `${offset}`, "content-type": CONTENT[protocol] };
      return visit("PATCH", upload, { headers, body });
    },
    show: (protocol, upload) => visit("HEAD", upload, { headers: protocol === "tus" ? TUS : DRAFT }),
  };
}

describe.each([
  ["tus", "memory"],
  ["draft", "memory"],
  ["tus", "disk"],
  ["draft", "disk"],
] as const)("an upload in several requests by a link, by %s on %s (SHARING 6.6)", (protocol, kind) => {
  const start = (wanted: Partial<NewLink> = SHOWN, options: VisitOptions = {}) => open(wanted, { kind, ...options });

  it("has its URL below the link, and becomes a file there", async () => {
    const { url, create, complete, show, files, events, visit } = await start();
    const created = await create(protocol, url, "a.txt");
    const upload = created.header("location") ?? "";
    expect(created.status).toBe(201);
    expect(upload.slice(url.length)).toMatch(/^__svc__\/uploads\/[0-9a-f]{32}$/);
    expect(created.header("server-path")).toBe("/a.txt");
    expect((await show(protocol, upload)).header("upload-offset")).toBe("0");
    const listed = await visit("GET", `${url}__svc__/uploads/`);
    expect(listed.json()).toMatchObject({ uploads: [{ url: upload, path: "/a.txt", offset: 0, length: 5 }] });
    const done = await complete(protocol, upload, 0, "12345");
    expect(done.status).toBe(protocol === "tus" ? 204 : 201);
    expect(done.header("etag")).toMatch(/"/);
    expect((await show(protocol, upload)).header("content-location")).toBe(`${url}a.txt`);
    expect(await files()).toEqual({ "inbox/a.txt": "12345" });
    expect(uploadsIn(events)).toEqual([
      [40021, "/vault/inbox/a.txt"],
      [40017, "/vault/inbox/a.txt"],
    ]);
    for (const { link, account } of events) expect([link?.label, account?.name]).toEqual(["", "hildegard"]);
  });

  it("exists for its link alone", async () => {
    const { url, create, show, link, visit, owner, complete } = await start();
    const upload = (await create(protocol, url, "a.txt")).header("location") ?? "";
    const id = upload.slice(upload.lastIndexOf("/") + 1);
    const other = await link(SHOWN);
    for (const stranger of [`${other}__svc__/uploads/${id}`]) {
      expect((await show(protocol, stranger)).status).toBe(404);
      expect((await complete(protocol, stranger, 0, "12345")).status).toBe(404);
      expect((await visit("DELETE", stranger, { headers: protocol === "tus" ? TUS : DRAFT })).status).toBe(404);
    }
    expect((await owner("HEAD", `__svc__/uploads/${id}`)).status).toBe(404);
    expect((await owner("GET", "__svc__/uploads/")).json()).toEqual({ uploads: [] });
    expect((await visit("GET", `${other}__svc__/uploads/`)).json()).toEqual({ uploads: [] });
    expect((await show(protocol, upload)).status).toBe(protocol === "tus" ? 200 : 204);
  });

  it("needs the right at its creation and at its completion", async () => {
    const reading = await start({ path: "/vault/inbox" });
    expect((await reading.create(protocol, reading.url, "a.txt")).status).toBe(403);
    const { url, create, service, complete, files } = await start();
    const upload = (await create(protocol, url, "a.txt")).header("location") ?? "";
    await service.links.revokeAll("hildegard");
    expect((await complete(protocol, upload, 0, "12345")).status).toBe(410);
    expect(await files()).toEqual({});
  });

  it("is stored in a drop folder under a name that is free when it is complete, and tells nothing of it", async () => {
    const seen: Pick<Upload, "path" | "size">[] = [];
    const decide = async ({ path, size }: Upload) => void seen.push({ path, size });
    const { url, create, complete, show, files, events, visit } = await start(DROP, {
      inside: { "inbox/a.txt": "first" },
      beforeCommit: { decide },
    });
    const fresh = await create(protocol, url, "new.txt");
    const [one, two] = [await create(protocol, url, "a.txt"), await create(protocol, url, "a.txt")];
    const names = (answer: Answer) => [...answer.headers.keys()].sort();
    expect(names(one)).toEqual(names(fresh));
    const uploads = [fresh, one, two].map((created) => created.header("location") ?? "");
    const done = [];
    for (const upload of uploads) done.push(await complete(protocol, upload, 0, "12345"));
    for (const answer of done) {
      expect(names(answer)).toEqual(names(done[0] as Answer));
      expect([answer.header("etag"), answer.header("last-modified")]).toEqual([null, null]);
    }
    for (const upload of uploads) {
      const shown = await show(protocol, upload);
      expect([shown.header("content-location"), shown.header("etag")]).toEqual([null, null]);
      expect(shown.header("upload-complete")).toBe("?1");
    }
    expect((await visit("GET", `${url}__svc__/uploads/`)).status).toBe(404);
    expect(await files()).toEqual({
      "inbox/a.txt": "first",
      ...{ "inbox/a (2).txt": "12345", "inbox/a (3).txt": "12345", "inbox/new.txt": "12345" },
    });
    expect(uploadsIn(events)).toEqual([
      [40021, "/vault/inbox/new.txt"],
      [40021, "/vault/inbox/a.txt"],
      [40021, "/vault/inbox/a.txt"],
      [40017, "/vault/inbox/new.txt"],
      [40017, "/vault/inbox/a (2).txt"],
      [40017, "/vault/inbox/a (3).txt"],
    ]);
    expect(events.at(-1)?.data.real_path).toMatch(/\/vault\/inbox\/a \(3\)\.txt$/);
    expect(seen.map(({ path }) => path)).toEqual([
      "/vault/inbox/new.txt",
      "/vault/inbox/a (2).txt",
      "/vault/inbox/a (3).txt",
    ]);
  });

  it("makes the folders that a drop folder may make", async () => {
    const wanted = { ...DROP, permissions: ["allow-write", "allow-create-folder"] as const };
    const { url, create, complete, files } = await start(wanted, { inside: { "inbox/taken": "x" } });
    for (const folder of ["sub/", "taken/"]) {
      const upload = (await create(protocol, `${url}${folder}`, "a.txt")).header("location") ?? "";
      expect((await complete(protocol, upload, 0, "12345")).status).toBeLessThan(300);
    }
    expect(await files()).toEqual({
      ...{ "inbox/taken": "x", "inbox/sub/a.txt": "12345", "inbox/taken (2)/a.txt": "12345" },
    });
    const flat = await start(DROP);
    for (const folder of ["sub/", "never/"])
      expect((await flat.create(protocol, flat.url + folder, "a.txt")).status).toBe(403);
  });

  it("asks for the sender at its creation, and remembers it", async () => {
    const { url, create, complete, files, events } = await start({ ...DROP, askName: true });
    expect((await create(protocol, url, "a.txt")).status).toBe(400);
    const created = await create(protocol, url, "a.txt", { "x-sender": "Ann" });
    expect((await complete(protocol, created.header("location") ?? "", 0, "12345")).status).toBeLessThan(300);
    expect(await files()).toEqual({ "inbox/Ann - a.txt": "12345" });
    expect(events.filter(({ id }) => id === 40017).map(({ link }) => link?.sender)).toEqual(["Ann"]);
  });

  it("takes one use at its creation, which lets it go on, and gives it back when it ends without a file", async () => {
    const limited = { ...SHOWN, maxUses: 1, expiresIn: 9_999_999 };
    const { url, create, complete, show, visit, link, service, advance } = await start(limited);
    const uses = async () => (await service.links.list("hildegard")).map((one) => one.uses);
    const begin = async (at = url) => (await create(protocol, at, "a.txt")).header("location") ?? "";
    const first = await begin();
    expect(await uses()).toEqual([1]);
    expect((await create(protocol, url, "b.txt")).status).toBe(410);
    expect((await visit("DELETE", first, { headers: protocol === "tus" ? TUS : DRAFT })).status).toBe(204);
    expect(await uses()).toEqual([0]);
    const last = await begin();
    expect((await show(protocol, last)).header("upload-offset")).toBe("0");
    expect((await complete(protocol, last, 0, "12345")).status).toBeLessThan(300);
    expect((await visit("GET", `${url}a.txt`)).status).toBe(410);
    const unfinished = await link({ ...limited, path: "/vault" });
    await begin(unfinished);
    expect([...(await uses())].sort()).toEqual([1, 1]);
    advance(8 * 86_400);
    // A sweep that the last creation has started may be first.
    await service.sweep();
    await expect.poll(async () => [...(await uses())].sort()).toEqual([0, 1]);
  });

  it("is ended by the sweep with an event that has the account and the link", async () => {
    const { url, create, service, advance, events } = await start({
      ...DROP,
      label: "Inbox",
      askName: true,
      expiresIn: 10_000_000,
    });
    await create(protocol, url, "a.txt", { "x-sender": "Ann" });
    advance(8 * 86_400);
    await service.sweep();
    const [id] = (await service.links.list("hildegard")).map((link) => link.id);
    await expect.poll(() => uploadsIn(events).at(-1)).toEqual([40022, "/vault/inbox/Ann - a.txt"]);
    const ended = events.at(-1);
    expect(ended?.account).toMatchObject({ name: "hildegard" });
    expect(ended?.link).toEqual({ id, label: "Inbox", sender: "Ann" });
  });
});

/** Completes the upload behind the back of a service, just before its storage discards it, as another process does. */
function completedByAnother(inner: StorageAdapter, isCompleted: () => boolean): StorageAdapter {
  const uploads = inner.uploads as StorageUploads;
  const discard: StorageUploads["discard"] = async (key) => {
    if (isCompleted()) await uploads.complete(key);
    return uploads.discard(key);
  };
  return { ...inner, uploads: { ...uploads, discard } };
}

describe("an upload that another process completes while it is discarded (SHARING 7.3)", () => {
  it.each(["DELETE", "a sweep"])("keeps its use, because its file stays: %s", async (way) => {
    let isCompleted = false;
    const storage = completedByAnother(createMemoryStorage(), () => isCompleted);
    const limited = { ...SHOWN, maxUses: 1, expiresIn: 9_999_999 };
    const { url, create, visit, service, advance, files, events } = await open(limited, { storage });
    const headers = { ...DRAFT, "upload-complete": "?0", "upload-length": "5" };
    const created = await visit("PUT", `${url}a.txt`, { headers, body: "12345" });
    const upload = created.header("location") ?? "";
    isCompleted = true;
    if (way === "DELETE") expect((await visit("DELETE", upload, { headers: DRAFT })).status).toBe(204);
    else {
      advance(8 * 86_400);
      await service.sweep();
    }
    expect((await service.links.list("hildegard")).map((one) => one.uses)).toEqual([1]);
    expect(await files()).toEqual({ "inbox/a.txt": "12345" });
    // The process that has completed it emits the event.
    expect(uploadsIn(events)).toEqual([[40021, "/vault/inbox/a.txt"]]);
    expect((await create("draft", url, "b.txt")).status).toBe(410);
  });
});

describe("a name that is too long (SHARING 6.2, 6.4)", () => {
  it.each(["tus", "draft"] as const)("is refused at the creation of an upload to a drop folder, by %s", async (by) => {
    const { url, create, files, visit } = await open({ ...DROP, askName: true });
    const sender = { "x-sender": "A".repeat(20) };
    const name = `${"n".repeat(240)}.txt`;
    const put = await visit("PUT", url + name, { headers: sender, body: "12345" });
    const refused = await create(by, url, name, sender);
    expect([refused.status, refused.header("error-code")]).toEqual([put.status, put.header("error-code")]);
    expect(refused.header("error-code")).toBe("name-unsupported");
    expect((await create(by, url, `${"n".repeat(220)}.txt`, sender)).status).toBe(201);
    expect(await files()).toEqual({});
  });

  it("ends the upload if only the storage knows, at its completion", async () => {
    const inner = createMemoryStorage();
    const uploads = inner.uploads as StorageUploads;
    const complete: StorageUploads["complete"] = async () => {
      throw new StorageError("bad-name");
    };
    const {
      url,
      create,
      complete: send,
      show,
      events,
    } = await open(DROP, {
      storage: { ...inner, uploads: { ...uploads, complete } },
    });
    const upload = (await create("draft", url, "nul.txt")).header("location") ?? "";
    expect((await send("draft", upload, 0, "12345")).header("error-code")).toBe("name-unsupported");
    expect((await show("draft", upload)).status).toBe(404);
    expect(uploadsIn(events).at(-1)).toEqual([40022, "/vault/inbox/nul.txt"]);
  });
});

describe("uploads by a link (SHARING 6.6)", () => {
  it.each(["tus", "draft"] as const)("reach a drop folder of a bucket in several parts, by %s", async (protocol) => {
    const storage = createR2Storage(createMemoryBucket().bucket, { partBytes: 5 * MEBIBYTE });
    const { url, create, complete, files } = await open(DROP, { storage, inside: { "inbox/a.txt": "first" } });
    const upload =
      (await create(protocol, url, "a.txt", { "upload-length": `${11 * MEBIBYTE}` })).header("location") ?? "";
    const text = "0123456789abcdef".repeat((11 * MEBIBYTE) / 16);
    expect((await complete(protocol, upload, 0, text)).status).toBeLessThan(300);
    const { "inbox/a (2).txt": stored, ...others } = await files();
    expect(stored === text).toBe(true);
    expect(others).toEqual({ "inbox/a.txt": "first" });
  });

  it("are joined in a drop folder under a free name, and take one use", async () => {
    const { url, visit, files, events, service } = await open(
      { ...DROP, maxUses: 2 },
      { inside: { "inbox/a.txt": "first" } },
    );
    const parts = [];
    for (const body of ["12", "34"]) {
      const headers = { ...TUS, "upload-length": "2", "upload-concat": "partial", "content-type": CONTENT.tus };
      parts.push((await visit("POST", url, { headers, body })).header("location"));
    }
    const headers = {
      ...TUS,
      "upload-concat": `final;${parts.join(" ")}`,
      "upload-metadata": `filename ${base64("a.txt")}`,
    };
    const joined = await visit("POST", url, { headers });
    expect([joined.status, joined.header("etag"), joined.header("server-path")]).toEqual([201, null, "/"]);
    expect(await files()).toEqual({ "inbox/a.txt": "first", "inbox/a (2).txt": "1234" });
    expect(uploadsIn(events)).toEqual([
      [40021, "/vault/inbox/a (2).txt"],
      [40017, "/vault/inbox/a (2).txt"],
    ]);
    expect((await service.links.list("hildegard"))[0]?.uses).toBe(1);
    const shown = await visit("HEAD", joined.header("location") ?? "", { headers: TUS });
    expect([shown.status, shown.header("content-location"), shown.header("server-path")]).toEqual([
      200,
      null,
      expect.stringMatching(/^\/__svc__\/uploads\//),
    ]);
  });

  it("count for themselves: they take none of the account's", async () => {
    const { url, create, owner } = await open(SHOWN, { limits: { uploadsPerAccount: 1 } });
    expect((await create("draft", url, "a.txt")).status).toBe(201);
    expect((await create("draft", url, "b.txt")).status).toBe(507);
    const own = await owner("PUT", "c.txt", { headers: { ...DRAFT, "upload-complete": "?0" } });
    expect(own.status).toBe(201);
  });

  it("get the next name if another process takes the first one at the same moment", async () => {
    const storage = createMemoryStorage();
    const own = storage.uploads as StorageUploads;
    let isFirst = true;
    const complete: StorageUploads["complete"] = async (key, options) => {
      const content = new Blob(["theirs"]).stream();
      if (isFirst) await storage.write("/homes/hildegards-home/vault/inbox/a.txt", content);
      isFirst = false;
      return own.complete(key, options);
    };
    const one = await open(DROP, { storage: { ...storage, uploads: { ...own, complete } } });
    const upload = (await one.create("draft", one.url, "a.txt")).header("location") ?? "";
    expect((await one.complete("draft", upload, 0, "12345")).status).toBe(201);
    expect(await one.files()).toEqual({ "inbox/a.txt": "theirs", "inbox/a (2).txt": "12345" });
  });
});

describe("parts of a file that a link sends (SHARING 6.6)", () => {
  it("are joined by their URLs, of which nothing is kept that opens the link", async () => {
    const storage = createMemoryStorage();
    const { url, visit, show, files } = await open(SHOWN, { storage });
    const parts = [];
    for (const body of ["ab", "c"]) {
      const sent = { "upload-length": `${body.length}`, "upload-concat": "partial", "content-type": CONTENT.tus };
      parts.push((await visit("POST", url, { headers: { ...TUS, ...sent }, body })).header("location") ?? "");
    }
    const concat = `final;${parts[0]} http://files.example${parts[1]}`;
    const headers = { ...TUS, "upload-concat": concat, "upload-metadata": `filename ${base64("a.txt")}` };
    const joined = await visit("POST", url, { headers });
    expect([joined.status, await files()]).toEqual([201, { "inbox/a.txt": "abc" }]);
    const notes: string[] = [];
    for await (const { note } of storage.uploads?.list() ?? []) notes.push(note);
    const token = url.split("/").at(-2) ?? "";
    expect([notes.length, notes.join().includes(token)]).toEqual([1, false]);
    expect(notes.join()).toContain("final;");
    expect((await show("tus", joined.header("location") ?? "")).header("upload-concat")).toBe(concat);
  });
});
