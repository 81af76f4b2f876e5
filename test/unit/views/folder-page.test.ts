import { describe, expect, it } from "vitest";
import { type FolderPage, streamFolderPage } from "../../../src/views/folder-page.ts";
import { GERMAN } from "../../../src/views/texts-german.ts";

const context = {
  texts: GERMAN,
  config: { basePath: "", pages: { branding: { name: "Files" }, brandStyle: undefined, fields: {} } },
};

const folder: FolderPage = {
  segments: ["f"],
  members: [],
  order: { key: "name", isDescending: false },
  actions: { upload: true, createFolder: true, download: true, delete: true, triggers: [] },
  username: "<alice>",
  links: {},
};

function render(change: Partial<FolderPage>): Promise<string> {
  return new Response(streamFolderPage(context, { ...folder, ...change })).text();
}

describe("the page of a folder", () => {
  it("tells what went wrong with a form, member by member, in its language and escaped", async () => {
    const page = await render({
      done: "uploaded",
      problems: [
        { target: "<b>.txt", message: "The storage is full." },
        { message: "Nothing is selected." },
        { target: "c", message: "<i>Ask Bob.</i>" },
      ],
    });
    expect(page).toContain('<div role="alert" class="notice problem"><p>Nicht alles hat geklappt:</p><ul>');
    expect(page).toContain("<li><bdi>&lt;b&gt;.txt</bdi>: Der Speicher ist voll.</li>");
    expect(page).toContain("<li>Es ist nichts ausgewählt.</li>");
    expect(page).toContain("<li><bdi>c</bdi>: &lt;i&gt;Ask Bob.&lt;/i&gt;</li>");
    expect(page).not.toContain('role="status"');
  });

  it("does not say that something worked where nothing was chosen", async () => {
    const page = await render({ problems: [{ message: "Nothing is selected." }] });
    expect(page).toContain(
      '<div role="alert" class="notice problem"><ul><li>Es ist nichts ausgewählt.</li></ul></div>',
    );
  });

  it("is there without members where they cannot be listed: not as if the folder were empty", async () => {
    const page = await render({ members: undefined, problems: [{ message: "The storage is full." }] });
    expect(page).toContain("Der Speicher ist voll.");
    expect(page).not.toContain("leer");
    expect(page).toContain('<form id="members"');
  });

  it("escapes the account's name", async () => {
    expect(await render({})).toContain("<bdi>&lt;alice&gt;</bdi>");
  });

  it("renders no more than is taken: a reader that stops ends it", async () => {
    const modified = 0;
    const members = Array.from({ length: 1000 }, (_, index) => {
      return { name: String(index), kind: "file" as const, size: 1, modified };
    });
    const reader = streamFolderPage(context, { ...folder, members }).getReader();
    const { value } = await reader.read();
    const text = new TextDecoder().decode(value);
    expect(text).toContain("<!doctype html>");
    const rows = text.match(/<tr data-name=/g)?.length ?? 0;
    expect(rows).toBeGreaterThan(50);
    expect(rows).toBeLessThan(300);
    expect(text).not.toContain("</html>");
    await reader.cancel();
  });

  it("is rendered in pieces of some 64 KiB, whatever its members are called", async () => {
    const members = Array.from({ length: 300 }, (_, index) => {
      return { name: `${index}${'"'.repeat(250)}`, kind: "file" as const, size: 1, modified: 0 };
    });
    const rows: number[] = [];
    for await (const chunk of streamFolderPage(context, { ...folder, members })) {
      expect(chunk.byteLength).toBeLessThan(80_000);
      rows.push(new TextDecoder().decode(chunk).match(/<tr data-name=/g)?.length ?? 0);
    }
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.reduce((sum, count) => sum + count)).toBe(300);
  });
});
