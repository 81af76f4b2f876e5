import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import { type FormEntry, sendForm } from "../../support/forms.ts";
import { type Answer, createTestService, type TestService } from "../../support/service.ts";

const files = { "/alice/a.txt": "a", "/alice/b.txt": "b", "/alice/f/in.txt": "in", "/alice/f/a.txt": "other" };

function createFor(permissions: AccountSettings["permissions"] = [["allow-full-control"]]): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
  return createTestService({ files, authentication: createAccountsAuthenticator({ accounts: [account] }) });
}

const rename = (name: string, newName: string): readonly FormEntry[] => [
  ["action", "rename-member"],
  ["selected-members", name],
  ["new-name", newName],
];

function transfer(action: string, destination: string, ...names: readonly string[]): readonly FormEntry[] {
  const members = names.map((name): FormEntry => ["selected-members", name]);
  return [["action", action], ...members, ["destination", destination]];
}

/** What the page says of the form. */
function problemsOf({ text }: Answer): readonly string[] {
  const [, list = ""] = /role="alert"[^>]*>(?:<p>[^<]*<\/p>)?<ul>([\s\S]*?)<\/ul>/.exec(text) ?? [];
  return [...list.matchAll(/<li>([\s\S]*?)<\/li>/g)].map(([, item = ""]) => item.replace(/<[^>]*>/g, ""));
}

describe("the form rename-member (CONTRACT 4.6)", () => {
  it("renames a file or a folder and redirects", async () => {
    const test = await createFor();
    const answer = await sendForm(test, "/home/", rename("a.txt", "c d.txt"));
    expect([answer.status, answer.header("location")]).toEqual([303, "/home/?done=renamed"]);
    expect([await test.stored("/alice/c d.txt"), await test.stored("/alice/a.txt")]).toEqual(["a", undefined]);
    expect((await sendForm(test, "/home/", rename("f", "g"))).status).toBe(303);
    expect(await test.stored("/alice/g/in.txt")).toBe("in");
  });

  it.each<[string, readonly FormEntry[], number, string]>([
    ["over a file", rename("a.txt", "b.txt"), 400, "a.txt: A file or folder with that name already exists."],
    ["to a path", rename("a.txt", "f/x"), 400, "a.txt: This is not a valid name."],
    ["to nothing", rename("a.txt", ""), 400, "a.txt: This is not a valid name."],
    ["to a dot segment", rename("a.txt", ".."), 400, "a.txt: This is not a valid name."],
    ["of nothing", rename("none", "x"), 404, "none: Not found."],
    ["to the reserved name", rename("a.txt", "__svc__"), 403, "a.txt: This name is reserved."],
    ["without a new name", rename("a.txt", "x").slice(0, 2), 400, "Select one item and enter its new name."],
    [
      "of two",
      [...rename("a.txt", "x"), ["selected-members", "b.txt"]],
      400,
      "Select one item and enter its new name.",
    ],
  ])("%s is refused, and the page has the form with what was entered", async (_, form, status, problem) => {
    const test = await createFor();
    const answer = await sendForm(test, "/home/", form);
    expect([answer.status, problemsOf(answer)]).toEqual([status, [problem]]);
    expect(answer.text).toContain('<form id="rename"');
    const typed = form.find(([field]) => field === "new-name")?.[1];
    if (typed !== undefined && status !== 404) expect(answer.text).toContain(`name="new-name" value="${typed}"`);
    expect(await test.stored("/alice/a.txt")).toBe("a");
  });

  it("needs the permission, and is refused from another site", async () => {
    const test = await createFor([["allow-full-control"], ["/b.txt", "allow-list", "allow-read"]]);
    expect((await sendForm(test, "/home/", rename("b.txt", "x"))).status).toBe(403);
    const origin = { headers: { origin: "https://evil.example", "sec-fetch-site": "cross-site" } };
    expect((await sendForm(test, "/home/", rename("a.txt", "x"), origin)).status).toBe(403);
    expect(await test.stored("/alice/a.txt")).toBe("a");
  });
});

describe.each([
  ["move-members", "moved"],
  ["copy-members", "copied"],
] as const)("the form %s (CONTRACT 4.6)", (action, done) => {
  it.each(["/f", "/f/", "f", "f/"])("takes the members to the folder %s, and redirects", async (destination) => {
    const test = await createFor();
    await test.storage.remove("/alice/f/a.txt");
    const answer = await sendForm(test, "/home/", transfer(action, destination, "a.txt", "b.txt"));
    expect([answer.status, answer.header("location")]).toEqual([303, `/home/?done=${done}`]);
    expect([await test.stored("/alice/f/a.txt"), await test.stored("/alice/f/b.txt")]).toEqual(["a", "b"]);
    expect(await test.stored("/alice/a.txt")).toBe(action === "move-members" ? undefined : "a");
  });

  it("never replaces anything: the others are done, and what was chosen and entered stays", async () => {
    const test = await createFor();
    const answer = await sendForm(test, "/home/", transfer(action, "/f", "a.txt", "b.txt"));
    expect([answer.status, problemsOf(answer)]).toEqual([
      400,
      ["a.txt: A file or folder with that name already exists."],
    ]);
    expect([await test.stored("/alice/f/a.txt"), await test.stored("/alice/f/b.txt")]).toEqual(["other", "b"]);
    expect(answer.text).toContain('name="destination" value="/f"');
    expect(answer.text).toMatch(/value="a\.txt" aria-label="[^"]*" checked>/);
  });

  it.each([
    ["/none", 400, "a.txt: The parent folder does not exist."],
    ["/f/in.txt", 400, "a.txt: A file exists where a folder is needed."],
    ["/f/../g", 400, "a.txt: This is not a valid destination."],
    ["/__svc__", 403, "a.txt: This name is reserved."],
    ["", 400, "Enter one destination folder."],
  ])("to %j is %i", async (destination, status, problem) => {
    const test = await createFor();
    const answer = await sendForm(test, "/home/", transfer(action, destination, "a.txt"));
    expect([answer.status, problemsOf(answer)]).toEqual([status, [problem]]);
    expect(await test.stored("/alice/a.txt")).toBe("a");
  });
});

describe("what the page offers (WEBDAV 8)", () => {
  const page = async (test: TestService, path = "/home/") => (await test.call("GET", path, { variant: "html" })).text;

  it("renaming and moving with rename, copying with read and write", async () => {
    const all = await page(await createFor());
    expect(all).toContain('<a href="?member=a.txt" aria-label="Actions for a.txt"></a>');
    expect(all).toContain('value="move-members"');
    expect(all).toContain('value="copy-members"');
    const reader = await page(await createFor([["allow-list", "allow-read"]]));
    expect(reader).not.toMatch(/rename-member|move-members|copy-members|name="destination"/);
    const copier = await page(await createFor([["allow-list", "allow-read", "allow-write"]]));
    expect([copier.includes("copy-members"), copier.includes("move-members")]).toEqual([true, false]);
    const mover = await page(await createFor([["allow-list", "allow-rename"]]));
    expect([mover.includes("copy-members"), mover.includes("move-members")]).toEqual([false, true]);
  });

  it("a form without a script for the member that a row links to", async () => {
    const test = await createFor();
    const text = await page(test, "/home/?member=a.txt");
    expect(text).toContain('<input type="hidden" name="selected-members" value="a.txt">');
    expect(text).toContain("1 byte (1 byte)");
    expect(text).toContain('<input id="member-destination" name="destination"');
    expect(text).toContain('<label for="new-name">New name of a.txt</label>');
    expect(await page(test, "/home/?member=Your%20account%20is%20locked")).not.toContain("locked");
    await test.call("PUT", "/home/%3Cb%3E", { body: "x" });
    expect(await page(test, "/home/?member=%3Cb%3E")).toContain("New name of &lt;b&gt;");
    expect(await page(test, "/home/?member=a%2Fb")).not.toContain('id="rename"');
    const reader = await createFor([["allow-list", "allow-read"]]);
    expect(await page(reader, "/home/?member=a.txt")).not.toContain('id="rename"');
  });

  it("in German too", async () => {
    const test = await createFor();
    const headers = { "accept-language": "de" };
    const { text } = await test.call("GET", "/home/?member=a.txt", { variant: "html", headers });
    for (const part of ["Aktionen für a.txt", "Neuer Name von a.txt", "In den Ordner", ">Verschieben<", ">Kopieren<"]) {
      expect(text).toContain(part);
    }
  });

  it("takes few bytes for each member", async () => {
    const many = Object.fromEntries(Array.from({ length: 200 }, (_, index) => [`/alice/file-${1000 + index}.txt`, ""]));
    const test = await createTestService({ files: many });
    const bytes = (await page(test)).length;
    const rows = (await page(test)).match(/<td class="more">.*?<\/td>/g) ?? [];
    expect(rows).toHaveLength(200);
    expect(rows.join("").length / 200).toBeLessThan(110);
    expect(bytes / 200).toBeLessThan(800);
  });
});
