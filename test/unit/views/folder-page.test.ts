import { describe, expect, it } from "vitest";
import { createError } from "../../../src/http/errors.ts";
import { HttpError } from "../../../src/http/http-error.ts";
import { type FolderPage, streamFolderPage } from "../../../src/views/folder-page.ts";
import { renderNavigation } from "../../../src/views/navigation.ts";
import { GERMAN } from "../../../src/views/texts/german.ts";

const context = {
  texts: GERMAN,
  root: "/home/",
  config: { basePath: "", pages: { branding: { name: "Files" }, brandStyle: undefined, fields: {} } },
};

const folder: FolderPage = {
  segments: ["f"],
  members: [],
  order: { key: "name", isDescending: false },
  actions: { upload: true, createFolder: true, download: true, delete: true, move: true, copy: true, triggers: [] },
  downloadLimits: { names: 10_000, bytes: 1_048_560 },
  commandLimits: { maxCommands: 1000, maxJsonBytes: 1_048_576 },
};

function render(change: Partial<FolderPage>): Promise<string> {
  return new Response(streamFolderPage(context, { ...folder, ...change })).text();
}

describe("the page of a folder", () => {
  it("shows the problem of each member of a form, translated and escaped", async () => {
    const page = await render({
      done: "uploaded",
      problems: [
        { target: "<b>.txt", error: createError("storage-full") },
        { error: createError("items-missing") },
        { target: "c", error: new HttpError("denied", "<i>Ask Bob.</i>") },
      ],
    });
    expect(page).toContain('<div role="alert" class="notice problem"><p>Einige Einträge sind fehlgeschlagen:</p><ul>');
    expect(page).toContain("<li><bdi>&lt;b&gt;.txt</bdi>: Der Speicher ist voll.</li>");
    expect(page).toContain("<li>Wählen Sie mindestens einen Eintrag aus.</li>");
    expect(page).toContain("<li><bdi>c</bdi>: &lt;i&gt;Ask Bob.&lt;/i&gt;</li>");
    expect(page).not.toContain('role="status"');
  });

  it("shows no heading about failed items when no member was selected", async () => {
    const page = await render({ problems: [{ error: createError("items-missing") }] });
    expect(page).toContain(
      '<div role="alert" class="notice problem"><ul><li>Wählen Sie mindestens einen Eintrag aus.</li></ul></div>',
    );
  });

  it("has no list of members, and no hint at an empty folder, when members cannot be listed", async () => {
    const page = await render({ members: undefined, problems: [{ error: createError("storage-full") }] });
    expect(page).toContain("Der Speicher ist voll.");
    expect(page).not.toContain("Dieser Ordner ist leer");
    expect(page).toContain('<form id="members"');
  });

  it("escapes the account's name", async () => {
    expect(String(renderNavigation(GERMAN, "<alice>", {}))).toContain("<bdi>&lt;alice&gt;</bdi>");
  });

  it("renders only what is read: a reader that stops ends it", async () => {
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

  it("continues after a first part as large as a chunk, such as with a long problem", async () => {
    const members = ["a", "b"].map((name) => ({ name, kind: "file" as const, size: 1, modified: 0 }));
    const problems = Array.from({ length: 300 }, (_, index) => ({
      target: `${index}${"<".repeat(300)}`,
      error: createError("items-missing"),
    }));
    let page = "";
    let chunks = 0;
    for await (const chunk of streamFolderPage(context, { ...folder, members, problems })) {
      page += new TextDecoder().decode(chunk);
      chunks += 1;
      if (chunks > 20) break;
    }
    expect(page.length).toBeGreaterThan(200_000);
    expect(page.match(/<!doctype/g)).toHaveLength(1);
    expect(page.match(/<tr data-name=/g)).toHaveLength(2);
    expect(page.endsWith("</html>\n")).toBe(true);
  });

  it("shortens the target of a problem if it is longer than a name", async () => {
    const page = await render({ problems: [{ target: "x".repeat(1_000_000), error: createError("items-missing") }] });
    expect(page).toContain(`<bdi>${"x".repeat(255)}…</bdi>`);
    expect(page.length).toBeLessThan(50_000);
  });

  it("has the home and the nearest folders in the breadcrumbs of a path with thousands of folders", async () => {
    const segments = Array.from({ length: 4000 }, (_, index) => `f${index}`);
    const page = await render({ segments });
    expect(page).toContain(`<li><a href="${"../".repeat(4000)}" title="Start"><bdi>`);
    expect(page).toContain(`<li>…</li><li><a href="${"../".repeat(5)}" title="f3994"><bdi>f3994</bdi></a></li>`);
    expect(page).toContain('<a href="../" title="f3998"><bdi>f3998</bdi></a>');
    expect(page.length).toBeLessThan(50_000);
  });

  it("is rendered in chunks of about 65,536 characters for any names of members", async () => {
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
