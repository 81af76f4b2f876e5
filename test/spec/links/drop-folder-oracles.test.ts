import { describe, expect, it } from "vitest";
import { uploadsOf } from "../../support/forms.ts";
import { DROP, openVisits, type Visits } from "./visits.ts";

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const withFolders = { ...DROP, permissions: ["allow-write", "allow-create-folder"] } as const;
const inside = { "inbox/a.csv": "first", "inbox/sub/b.csv": "deep", "inbox/report": "plain" };

/** The status and the text of uploads to paths, each sent as a PUT and as a form. */
async function send({ visit, form }: Visits, url: string, paths: readonly string[]): Promise<readonly string[]> {
  const answers = [];
  for (const path of paths) {
    const put = await visit("PUT", url + path, { body: "x", variant: "webdav" });
    const [folder, name] = [path.slice(0, path.lastIndexOf("/") + 1), path.slice(path.lastIndexOf("/") + 1)];
    const json = { headers: { accept: "application/json" }, variant: "json" } as const;
    const sent = await form(url + folder, [["action", "upload-file"], ...uploadsOf({ [name]: "x" })], json);
    answers.push(`${put.status} ${put.text} ${sent.status} ${sent.text.replaceAll(path, "").replaceAll(name, "")}`);
  }
  return answers;
}

describe("locks in a drop folder (SHARING 6.2)", () => {
  it.each(["0", "infinity"])("of a folder (depth %s) do not tell that it is there", async (depth) => {
    const visits = await openVisits({ inside, webdav: {} });
    const url = await visits.link(withFolders);
    expect((await visits.owner("LOCK", "vault/inbox/sub/", { body: LOCK, headers: { depth } })).status).toBe(200);
    const answers = await send(visits, url, ["sub/new.csv", "never/new.csv", "sub/x/new.csv", "never/x/new.csv"]);
    expect(new Set(answers)).toEqual(new Set([answers[0]]));
    expect(answers[0]).toMatch(/^201 /);
    for (const path of ["sub/", "other/", "sub/made/", "other/made/"]) {
      expect((await visits.visit("PUT", url + path)).status, path).toBe(201);
    }
    const stored = Object.keys(await visits.files());
    expect(stored).toContain("inbox/sub (2)/new.csv");
    expect(stored.filter((path) => path.startsWith("inbox/sub/"))).toEqual(["inbox/sub/b.csv"]);
  });

  it.each(["0", "infinity"])("of the linked folder (depth %s) refuse all uploads alike", async (depth) => {
    const visits = await openVisits({ inside, webdav: {} });
    const url = await visits.link(withFolders);
    expect((await visits.owner("LOCK", "vault/inbox/", { body: LOCK, headers: { depth } })).status).toBe(200);
    const answers = await send(visits, url, ["a.csv", "new.csv", "sub/new.csv", "never/new.csv", "report/new.csv"]);
    expect(new Set(answers.map((answer) => answer.replace(/\s+/g, " ")))).toEqual(new Set([answers[0]]));
    expect(answers[0]).toMatch(/^423 /);
    const folders = [];
    for (const path of ["sub/", "never/", "sub/made/"]) {
      folders.push((await visits.visit("PUT", url + path, { variant: "webdav" })).status);
    }
    expect(folders).toEqual([423, 423, 423]);
    expect(await visits.files()).toEqual(inside);
  });

  it("of a file that is there leave uploads of its name as they are", async () => {
    const visits = await openVisits({ inside, webdav: {} });
    const url = await visits.link(DROP);
    expect((await visits.owner("LOCK", "vault/inbox/a.csv", { body: LOCK })).status).toBe(200);
    const answers = await send(visits, url, ["a.csv", "b.csv"]);
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toMatch(/^201 /);
  });
});

describe("permissions of an account that allow only some names (SHARING 6.2)", () => {
  const only = (...rules: readonly (readonly string[])[]) => ({ permissions: [["allow-list"], ...rules] });

  it("do not tell that a file is there: a name that could get no number is refused in any case", async () => {
    const rule = ["/vault/inbox/*", "allow-write", "allow-create-folder"];
    const settings = only(["/vault/inbox/?????*", "allow-list"], rule, ["/vault/inbox", "allow-list", "allow-write"]);
    const visits = await openVisits({ inside: { "inbox/a.c": "first" }, settings });
    const url = await visits.link(DROP);
    const answers = await send(visits, url, ["a.c", "b.c"]);
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toMatch(/^403 /);
    expect(await visits.files()).toEqual({ "inbox/a.c": "first" });
  });

  it("do not tell that a file has the name of a folder", async () => {
    const settings = only(
      ["/vault/inbox/?????*/**", "allow-list"],
      ["/vault/inbox/?????*", "allow-list"],
      ["/vault/inbox/**", "allow-write", "allow-create-folder"],
    );
    const visits = await openVisits({ inside: { "inbox/one": "a file" }, settings });
    const url = await visits.link(withFolders);
    for (const paths of [
      ["one/", "two/"],
      ["one/x/", "two/x/"],
    ]) {
      const statuses = [];
      for (const path of paths) statuses.push((await visits.visit("PUT", url + path)).status);
      expect(statuses).toEqual([403, 403]);
    }
    const answers = await send(visits, url, ["one/x", "two/x"]);
    expect(answers[0]).toBe(answers[1]);
    expect(answers[0]).toMatch(/^403 /);
    expect(await visits.files()).toEqual({ "inbox/one": "a file" });
  });

  it("take uploads whose every name they allow", async () => {
    const settings = only(["/vault/inbox/*.csv", "allow-write"]);
    const visits = await openVisits({ inside: { "inbox/a.csv": "first" }, settings });
    const url = await visits.link(DROP);
    expect((await send(visits, url, ["a.csv", "b.csv"])).map((answer) => answer.slice(0, 3))).toEqual(["201", "201"]);
  });
});
