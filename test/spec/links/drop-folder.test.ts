import { describe, expect, it } from "vitest";
import { type StorageAdapter, StorageError } from "../../../src/contracts/storage-adapter.ts";
import type { Variant } from "../../../src/http/negotiate.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { uploadsOf } from "../../support/forms.ts";
import { createSlowBody, DROP, openVisits, uploadsIn, type Visits } from "./visits.ts";

const WEBDAV = { webdav: {} } as const;
const LOCK_BODY =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';

const withFolders = { ...DROP, permissions: ["allow-write", "allow-create-folder"] } as const;
const inside = { "inbox/a.csv": "first", "inbox/sub/b.csv": "deep", "inbox/report": "plain" };

async function putAll(visits: Visits, url: string, ...names: readonly string[]): Promise<void> {
  for (const name of names) expect((await visits.visit("PUT", `${url}${name}`, { body: name })).status).toBe(201);
}

const HIDDEN_METHODS = ["GET", "HEAD", "DELETE", "PROPFIND", "PROPPATCH", "COPY", "MOVE", "LOCK", "UNLOCK"];
const PATHS = ["a.csv", "sub", "sub/b.csv", "never/b.csv", "report", "pointer"];

/** Asks for what is there and what is not, each with the answer for a name that is certainly free. */
async function askAll({ visit }: Visits, url: string, method: string, variant: Variant) {
  const headers = {
    ...(method === "COPY" && { destination: `http://files.example${url}copy` }),
    ...(method === "UNLOCK" && { "lock-token": "<opaquelocktoken:x>" }),
  };
  const options = { variant, headers, body: method === "LOCK" ? LOCK_BODY : undefined };
  const answers = [];
  for (const slash of ["", "/"]) {
    const missing = (await visit(method, `${url}never${slash}`, options)).text;
    for (const path of PATHS) {
      const { status, text } = await visit(method, url + path + slash, options);
      answers.push({ path: path + slash, status, text, missing });
    }
  }
  return answers;
}

describe.each(["memory", "disk"] as const)("a drop folder on %s (SHARING 6.2)", (kind) => {
  it("tells nothing of what is in it, by any method", async () => {
    const visits = await openVisits({ kind, inside, ...WEBDAV });
    const { visit } = visits;
    const url = await visits.link(DROP);
    if (kind === "disk") await visits.symlink("inbox/pointer");
    expect((await visit("GET", url, { variant: "json" })).json()).toEqual({ content: [] });
    for (const method of HIDDEN_METHODS) {
      for (const variant of ["json", "webdav", "html"] as const) {
        const answers = await askAll(visits, url, method, variant);
        for (const { path, status, text, missing } of answers) {
          expect([path, status], method).toEqual([path, 403]);
          expect(text, `${method} ${path}`).toBe(missing);
        }
      }
    }
    for (const path of ["?zip", "sub/?zip", "never/?zip"]) expect((await visit("GET", url + path)).status).toBe(403);
    const archive = await visit("GET", url, { headers: { accept: "application/zip" } });
    expect(archive.status).toBe(403);
  });

  it("answers PROPFIND of its root without a member, and without a property that tells of one", async () => {
    const visits = await openVisits({ kind, inside, ...WEBDAV });
    const url = await visits.link(DROP);
    const { status, text } = await visits.visit("PROPFIND", url, { headers: { depth: "1" } });
    expect(status).toBe(207);
    expect(text.match(/<D:href>[^<]*/g)).toEqual([`<D:href>${url}`]);
    expect(text).not.toMatch(/getlastmodified>|a\.csv/);
  });

  it("gives uploads whose name is taken the next free one, and answers as if they had their own", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link(DROP);
    const fresh = await visits.visit("PUT", `${url}new.csv`, { body: "new" });
    for (const name of ["a.csv", "a.csv", "sub", "report", "archive.tar.gz", "archive.tar.gz", ".env", ".env"]) {
      const answer = await visits.visit("PUT", url + name, { body: name });
      expect([answer.status, answer.text]).toEqual([201, ""]);
      expect(answer.header("server-path")).toBe(`/${name}`);
      const names = (headers: Headers) => [...headers.keys()].sort();
      expect(names(answer.headers)).toEqual(names(fresh.headers));
    }
    expect([fresh.header("etag"), fresh.header("last-modified"), fresh.header("location")]).toEqual([null, null, null]);
    expect(await visits.files()).toEqual({
      "inbox/.env": ".env",
      "inbox/.env (2)": ".env",
      "inbox/a.csv": "first",
      "inbox/a (2).csv": "a.csv",
      "inbox/a (3).csv": "a.csv",
      "inbox/archive.tar.gz": "archive.tar.gz",
      "inbox/archive.tar (2).gz": "archive.tar.gz",
      "inbox/new.csv": "new",
      "inbox/report": "plain",
      "inbox/report (2)": "report",
      "inbox/sub (2)": "sub",
      "inbox/sub/b.csv": "deep",
    });
    const paths = uploadsIn(visits.events).slice(2, 4);
    expect(paths).toEqual([
      [40021, "/vault/inbox/a (2).csv"],
      [40017, "/vault/inbox/a (2).csv"],
    ]);
  });

  it("counts to 99, then takes random names", async () => {
    const taken = Array.from({ length: 98 }, (_, index) => [`inbox/a (${index + 2}).csv`, "taken"]);
    const visits = await openVisits({ kind, inside: { "inbox/a.csv": "taken", ...Object.fromEntries(taken) } });
    const url = await visits.link(DROP);
    await putAll(visits, url, "a.csv", "a.csv");
    const added = Object.entries(await visits.files()).filter(([, content]) => content === "a.csv");
    expect(added.length).toBe(2);
    for (const [path] of added) expect(path).toMatch(/^inbox\/a \([0-9a-f]{8}\)\.csv$/);
  });

  it("cuts a long name for the number, so that a taken name is not refused", async () => {
    const name = `${"ü".repeat(125)}.csv`;
    const visits = await openVisits({ kind, inside: { [`inbox/${name}`]: "taken" } });
    const url = await visits.link(DROP);
    await putAll(visits, url, encodeURIComponent(name));
    expect(Object.keys(await visits.files())).toContain(`inbox/${"ü".repeat(123)} (2).csv`);
  });

  it("treats conditions as those of a new file", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link(DROP);
    const put = async (headers: Record<string, string>) =>
      (await visits.visit("PUT", `${url}a.csv`, { body: "x", headers })).status;
    expect(await put({ "if-none-match": "*" })).toBe(201);
    expect(await put({ "if-none-match": '"x"' })).toBe(201);
    expect(await put({ "if-unmodified-since": "Tue, 01 Jan 2008 00:00:00 GMT" })).toBe(201);
    expect(await put({ "if-match": "*" })).toBe(412);
    expect(await put({ "if-match": '"x"' })).toBe(412);
    expect(Object.keys(await visits.files()).filter((path) => path.startsWith("inbox/a"))).toHaveLength(4);
  });

  it("never gives two uploads that run at once one name, and frees names that are not used", async () => {
    const visits = await openVisits({ kind, inside: {} });
    const url = await visits.link(DROP);
    const slow = Array.from({ length: 5 }, createSlowBody);
    const sent = slow.map(({ body }) => visits.visit("PUT", `${url}a.csv`, { body }).catch(() => undefined));
    await Promise.all(slow.map(({ send }, index) => send(`${index}`)));
    await Promise.all(slow.map(({ end, fail }, index) => (index === 1 ? fail() : end())));
    const answers = await Promise.all(sent);
    expect(answers.filter((answer) => answer?.status === 201)).toHaveLength(4);
    const stored = await visits.files();
    expect(Object.values(stored).sort()).toEqual(["0", "2", "3", "4"]);
    await putAll(visits, url, "a.csv");
    expect(Object.keys(await visits.files()).sort()).toEqual(
      ["a.csv", ...[2, 3, 4, 5].map((number) => `a (${number}).csv`)].map((name) => `inbox/${name}`).sort(),
    );
  });

  it("takes forms, with files of one name, and shows the names that were sent", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link(DROP);
    const entries = [
      ["action", "upload-file"],
      ["upload-file", "a.csv", "1"],
      ["upload-file", "image.jpg", "2"],
      ["upload-file", "image.jpg", "3"],
    ] as const;
    const answer = await visits.form(url, entries);
    expect(answer.status).toBe(303);
    const page = await visits.visit("GET", answer.header("location") ?? "", { variant: "html" });
    expect(page.text).toContain("<li><bdi>a.csv</bdi></li><li><bdi>image.jpg</bdi></li><li><bdi>image.jpg</bdi></li>");
    expect(page.text).not.toContain("(2)");
    const stored = await visits.files();
    expect([stored["inbox/a (2).csv"], stored["inbox/image.jpg"], stored["inbox/image (2).jpg"]]).toEqual([
      "1",
      "2",
      "3",
    ]);
    const json = await visits.form(url, entries.slice(0, 2), {
      variant: "json",
      headers: { accept: "application/json" },
    });
    expect(json.json()).toEqual({ results: [{ target: "a.csv", message: null }] });
  });

  it("shows no name from a URL that it has not made", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link(DROP);
    const other = await visits.link(DROP);
    const sent = await visits.form(other, [["action", "upload-file"], ...uploadsOf({ "mine.txt": "x" })]);
    const query = sent.header("location")?.split("?")[1] ?? "";
    for (const asked of ["done=uploaded&sent=a.csv", "done=uploaded&sent=never", query]) {
      const page = await visits.visit("GET", `${url}?${asked}`, { variant: "html" });
      expect(page.text).toContain("The upload is complete.");
      expect(page.text).not.toMatch(/a\.csv|never|mine/);
    }
  });

  it("refuses uploads below its root in the same words, whether the folder is there or not", async () => {
    const visits = await openVisits({ kind, inside });
    const url = await visits.link(DROP);
    const texts = new Set<string>();
    for (const path of ["sub/new.csv", "never/new.csv", "report/new.csv"]) {
      const answer = await visits.visit("PUT", url + path, { body: "x" });
      expect(answer.status).toBe(403);
      texts.add(answer.text);
    }
    for (const path of ["sub/", "never/", "report/"]) {
      const answer = await visits.form(`${url}${path}`, [["action", "upload-file"], ...uploadsOf({ "x.txt": "x" })]);
      expect(answer.status).toBe(403);
      expect((await visits.visit("PUT", url + path)).status).toBe(403);
    }
    expect(texts.size).toBe(1);
    expect(await visits.files()).toEqual({ ...inside });
  });

  it("makes missing parents with allow-create-folder, and folders that are there succeed (SHARING 6.3)", async () => {
    const visits = await openVisits({ kind, inside, ...WEBDAV });
    const url = await visits.link(withFolders);
    await putAll(visits, url, "sub/b.csv", "new/deep/c.csv", "report/d.csv");
    for (const path of ["sub/", "never/", "report/", "sub/", "x/y/z/"])
      expect((await visits.visit("PUT", url + path)).status, path).toBe(201);
    expect((await visits.visit("MKCOL", `${url}sub`)).status).toBe(201);
    const headers = { "content-type": "application/json" };
    const commands = ["create-folder", "create-folder-if-missing"].map((command) => ({ command, target: "sub" }));
    const body = JSON.stringify({ commands });
    expect((await visits.visit("POST", url, { headers, body, variant: "json" })).status).toBe(200);
    expect((await visits.visit("POST", `${url}unknown/`, { headers, body, variant: "json" })).status).toBe(200);
    expect(
      (
        await visits.form(url, [
          ["action", "create-folder"],
          ["new-folder", "sub"],
        ])
      ).status,
    ).toBe(303);
    expect(await visits.files()).toEqual({
      ...inside,
      "inbox/sub/b (2).csv": "sub/b.csv",
      "inbox/new/deep/c.csv": "new/deep/c.csv",
      "inbox/report (2)/d.csv": "report/d.csv",
    });
    const made = visits.events.filter(({ id }) => id === 40010).map(({ data }) => data.path);
    expect(made).toEqual([
      "/vault/inbox/new",
      "/vault/inbox/new/deep",
      "/vault/inbox/report (2)",
      "/vault/inbox/never",
      "/vault/inbox/x",
      "/vault/inbox/x/y",
      "/vault/inbox/x/y/z",
      "/vault/inbox/unknown",
      "/vault/inbox/unknown/sub",
    ]);
  });

  it("obeys the permissions of the account, whatever is there", async () => {
    const settings = { permissions: [["allow-full-control"], ["**/*.exe", "deny-full-control"]] };
    const visits = await openVisits({ kind, inside: { "inbox/x.exe": "x" }, settings });
    const url = await visits.link(withFolders);
    const answers = [];
    for (const path of ["x.exe", "y.exe", "x.exe/f.txt", "y.exe/f.txt", "x.exe/", "y.exe/"]) {
      const { status, text } = await visits.visit("PUT", url + path, path.endsWith("/") ? {} : { body: "x" });
      answers.push(`${status} ${text}`);
    }
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toMatch(/^403/);
  });
});

describe("two processes with one drop folder (SHARING 6.2)", () => {
  it("lose no file: who comes second is told to send it again", async () => {
    const storage = createMemoryStorage();
    const one = await openVisits({ storage });
    const url = await one.link(DROP);
    const racing = overtake(storage, "/homes/hildegards-home/vault/inbox/a.csv");
    const two = await openVisits({ storage: racing });
    const answer = await two.visit("PUT", `${await two.link(DROP)}a.csv`, { body: "second" });
    expect([answer.status, answer.header("retry-after")]).toEqual([503, "1"]);
    expect(await one.files()).toEqual({ "inbox/a.csv": "first" });
    expect((await two.visit("PUT", `${await two.link(DROP)}a.csv`, { body: "second" })).status).toBe(201);
    expect(await one.files()).toEqual({ "inbox/a.csv": "first", "inbox/a (2).csv": "second" });
    expect(url).not.toBe("");
  });
});

/** A storage in which another process writes a file while one at the same path is written. */
function overtake(storage: StorageAdapter, path: string): StorageAdapter {
  let isFirst = true;

  async function* text(content: string): AsyncGenerator<Uint8Array> {
    yield new TextEncoder().encode(content);
  }

  return {
    ...storage,
    async write(target, content, options) {
      if (target !== path || !isFirst) return storage.write(target, content, options);
      isFirst = false;
      await storage.write(target, text("first"));
      for await (const _ of content);
      throw new StorageError("precondition-failed");
    },
  };
}
