import { describe, expect, it } from "vitest";
import { uploadsOf } from "../../support/forms.ts";
import { DROP, openVisits, uploadsIn } from "./visits.ts";

const ASKING = { ...DROP, askName: true } as const;
/** A body that must not be read. */
function createUnread() {
  let isRead = false;
  const body = new ReadableStream<Uint8Array>(
    {
      pull() {
        isRead = true;
        throw new Error("The body was read.");
      },
    },
    { highWaterMark: 0 },
  );
  return { body, isRead: () => isRead };
}

describe("a link that asks for the sender's name (SHARING 6.4)", () => {
  it("stores a PUT under the name of its sender, and tells the owner of it", async () => {
    const visits = await openVisits();
    const url = await visits.link({ ...ASKING, label: "Applications" });
    const headers = { "x-sender": " Ann%20M%C3%BCller " };
    for (const _ of [1, 2]) {
      const answer = await visits.visit("PUT", `${url}cv.pdf`, { headers, body: "cv" });
      expect([answer.status, answer.header("server-path")]).toEqual([201, "/cv.pdf"]);
    }
    expect(await visits.files()).toEqual({ "inbox/Ann Müller - cv.pdf": "cv", "inbox/Ann Müller - cv (2).pdf": "cv" });
    expect(uploadsIn(visits.events).at(-1)).toEqual([40017, "/vault/inbox/Ann Müller - cv (2).pdf"]);
    const [id] = (await visits.service.links.list("hildegard")).map((link) => link.id);
    for (const { link, account } of visits.events.filter(({ id }) => id === 40021 || id === 40017)) {
      expect(link).toEqual({ id, label: "Applications", sender: "Ann Müller" });
      expect(account?.name).toBe("hildegard");
    }
  });

  it.each([
    ["missing", undefined, "The name of the sender is missing."],
    ["empty", "%20", "The name of the sender is missing."],
    ["too long", "x".repeat(101), "The name of the sender is not a valid name of up to 100 characters."],
    ["a path", "a%2Fb", "The name of the sender is not a valid name of up to 100 characters."],
    ["..", "..", "The name of the sender is not a valid name of up to 100 characters."],
    ["with a control character", "a%00b", "The name of the sender is not a valid name of up to 100 characters."],
    ["not percent-encoded", "M\u00fcller", "The name of the sender is not a valid name of up to 100 characters."],
    ["no UTF-8", "M%FCller", "The name of the sender is not a valid name of up to 100 characters."],
  ])("refuses a PUT whose sender is %s, before its body is read", async (_, sender, message) => {
    const visits = await openVisits();
    const url = await visits.link(ASKING);
    const { body, isRead } = createUnread();
    const headers = sender === undefined ? {} : { "x-sender": sender };
    const answer = await visits.visit("PUT", `${url}a.txt`, { variant: "json", headers, body });
    expect([answer.status, answer.json()]).toEqual([400, { errors: [{ message }] }]);
    expect(isRead()).toBe(false);
    expect(await visits.files()).toEqual({});
    expect(uploadsIn(visits.events)).toEqual([]);
  });

  it("takes the longest name, of 100 characters", async () => {
    const visits = await openVisits();
    const url = await visits.link(ASKING);
    const sender = "😀".repeat(40) + "x".repeat(60);
    const headers = { "x-sender": encodeURIComponent(sender) };
    expect((await visits.visit("PUT", `${url}a`, { headers, body: "x" })).status).toBe(201);
    expect(Object.keys(await visits.files())).toEqual([`inbox/${sender} - a`]);
  });

  it("takes a form whose field for the sender comes before its files", async () => {
    const visits = await openVisits();
    const url = await visits.link(ASKING);
    const answer = await visits.form(url, [
      ["action", "upload-file"],
      ["sender", "Bob"],
      ...uploadsOf({ "a.txt": "1", "b.txt": "2" }),
    ]);
    expect(answer.status).toBe(303);
    expect(await visits.files()).toEqual({ "inbox/Bob - a.txt": "1", "inbox/Bob - b.txt": "2" });
    expect(visits.events.find(({ id }) => id === 40017)?.link?.sender).toBe("Bob");
    const plain = await visits.form(url, [
      ["sender", "Bob"],
      ["file", "c.txt", "3"],
    ]);
    expect(plain.status).toBe(303);
  });

  it.each([
    [
      "behind its files",
      [
        ["action", "upload-file"],
        ["upload-file", "a.txt", "1"],
        ["sender", "Bob"],
      ],
    ],
    [
      "behind files that wait for the action",
      [
        ["upload-file", "a.txt", "1"],
        ["sender", "Bob"],
        ["action", "upload-file"],
      ],
    ],
    [
      "missing",
      [
        ["action", "upload-file"],
        ["upload-file", "a.txt", "1"],
      ],
    ],
    [
      "empty",
      [
        ["action", "upload-file"],
        ["sender", ""],
        ["upload-file", "a.txt", "1"],
      ],
    ],
    [
      "a path",
      [
        ["action", "upload-file"],
        ["sender", "a/b"],
        ["upload-file", "a.txt", "1"],
      ],
    ],
  ] as const)("refuses a form whose sender is %s, and shows the form again", async (_, entries) => {
    const visits = await openVisits();
    const url = await visits.link(ASKING);
    const answer = await visits.form(url, entries);
    expect(answer.status).toBe(400);
    expect(answer.text).toMatch(/The name of the sender is/);
    expect(answer.text).toContain('<input id="sender" name="sender"');
    const json = await visits.form(url, entries, { headers: { accept: "application/json" } });
    expect(json.status).toBe(400);
    expect(await visits.files()).toEqual({});
  });

  it("needs no sender for folders, nor for the file of a form's page in another link", async () => {
    const visits = await openVisits();
    const url = await visits.link({ ...ASKING, permissions: ["allow-write", "allow-create-folder"] });
    expect((await visits.visit("PUT", `${url}sub/`)).status).toBe(201);
    const other = await visits.link(DROP);
    const form = await visits.form(other, [
      ["action", "upload-file"],
      ["sender", "Bob"],
      ...uploadsOf({ "a.txt": "1" }),
    ]);
    expect(form.status).toBe(303);
    expect(await visits.files()).toEqual({ "inbox/a.txt": "1" });
  });

  it("names files so in a folder that is shown, too; the file of a link to one file keeps its name", async () => {
    const visits = await openVisits({ inside: { "inbox/Ann - a.txt": "old" } });
    const headers = { "x-sender": "Ann" };
    const shown = await visits.link({
      path: "/vault/inbox",
      permissions: ["allow-list", "allow-write"],
      askName: true,
    });
    expect((await visits.visit("PUT", `${shown}a.txt`, { headers, body: "x" })).status).toBe(403);
    expect((await visits.visit("PUT", `${shown}b.txt`, { headers, body: "x" })).header("etag")).toMatch(/"/);
    const file = await visits.link({ path: "/vault/inbox/one.txt", permissions: ["allow-write"], askName: true });
    expect((await visits.visit("PUT", `${file}one.txt`, { body: "x" })).status).toBe(400);
    expect((await visits.visit("PUT", `${file}one.txt`, { headers, body: "x" })).status).toBe(201);
    expect(Object.keys(await visits.files()).sort()).toEqual([
      "inbox/Ann - a.txt",
      "inbox/Ann - b.txt",
      "inbox/one.txt",
    ]);
    expect(visits.events.at(-1)?.link?.sender).toBe("Ann");
  });
});

describe("copies and locks by a link that asks for the sender's name (SHARING 6.4)", () => {
  const SHOWN = {
    path: "/vault/inbox",
    permissions: ["allow-read", "allow-list", "allow-write", "allow-create-folder"],
    askName: true,
  } as const;
  const inside = { "inbox/a.txt": "a", "inbox/sub/b.txt": "b" };
  const LOCK =
    '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
  const sender = { "x-sender": "Ann" };

  it("locks a free name as the file that its sender gets, and none without a sender", async () => {
    const visits = await openVisits({ inside, webdav: {} });
    const url = await visits.link(SHOWN);
    const nameless = await visits.visit("LOCK", `${url}new.txt`, { body: LOCK });
    expect([nameless.status, nameless.header("error-code")]).toEqual([400, "sender-missing"]);
    expect(await visits.files()).toEqual(inside);
    const locked = await visits.visit("LOCK", `${url}new.txt`, { body: LOCK, headers: sender });
    expect(locked.status).toBe(201);
    expect(locked.text).toContain(`<D:lockroot><D:href>${url}Ann%20-%20new.txt</D:href></D:lockroot>`);
    expect(await visits.files()).toEqual({ ...inside, "inbox/Ann - new.txt": "" });
    const existing = await visits.visit("LOCK", `${url}a.txt`, { body: LOCK });
    expect(existing.status).toBe(200);
    const file = await visits.link({ path: "/vault/one.txt", permissions: ["allow-write"], askName: true });
    expect((await visits.visit("LOCK", `${file}one.txt`, { body: LOCK })).status).toBe(400);
    expect((await visits.visit("LOCK", `${file}one.txt`, { body: LOCK, headers: sender })).status).toBe(201);
  });

  it("copies to a name with the sender, and nothing without one", async () => {
    const visits = await openVisits({ inside, webdav: {} });
    const url = await visits.link(SHOWN);
    const copy = async (from: string, to: string, headers: Record<string, string>) => {
      const destination = `http://files.example${url}${to}`;
      const answer = await visits.visit("COPY", url + from, { headers: { destination, ...headers } });
      return [answer.status, answer.header("error-code") ?? answer.header("location")];
    };
    expect(await copy("a.txt", "copy.txt", {})).toEqual([400, "sender-missing"]);
    expect(await copy("sub/", "copy/", {})).toEqual([400, "sender-missing"]);
    expect(await visits.files()).toEqual(inside);
    expect(await copy("a.txt", "copy.txt", sender)).toEqual([201, `${url}Ann%20-%20copy.txt`]);
    expect(await copy("sub/", "copy/", sender)).toEqual([201, `${url}Ann%20-%20copy/`]);
    expect(await visits.files()).toEqual({
      ...inside,
      "inbox/Ann - copy.txt": "a",
      "inbox/Ann - copy/b.txt": "b",
    });
  });

  it("runs no command of a request that copies without a sender", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link(SHOWN);
    const body = JSON.stringify({
      commands: [
        { command: "create-folder", target: "made" },
        { command: "copy", target: "a.txt", destination: "made/" },
      ],
    });
    const send = (headers: Record<string, string>) =>
      visits.visit("POST", url, {
        variant: "json",
        headers: { "content-type": "application/json", ...headers },
        body,
      });
    const nameless = await send({});
    expect([nameless.status, nameless.header("error-code")]).toEqual([400, "sender-missing"]);
    expect((await visits.owner("GET", "vault/inbox/made/")).status).toBe(404);
    expect((await send(sender)).status).toBe(200);
    expect(await visits.files()).toEqual({ ...inside, "inbox/made/Ann - a.txt": "a" });
  });

  it("copies by a form with the field for the sender, which the page does not offer", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link(SHOWN);
    expect((await visits.visit("GET", url, { variant: "html" })).text).not.toContain('value="copy-members"');
    const entries = [
      ["action", "copy-members"],
      ["selected-members", "a.txt"],
      ["destination", "/sub"],
    ] as const;
    const nameless = await visits.form(url, entries);
    expect([nameless.status, nameless.header("error-code")]).toEqual([400, "sender-missing"]);
    expect(nameless.text).toContain("The name of the sender is missing.");
    expect((await visits.form(url, [...entries, ["sender", "Ann"]])).status).toBe(303);
    expect(await visits.files()).toEqual({ ...inside, "inbox/sub/Ann - a.txt": "a" });
  });
});
