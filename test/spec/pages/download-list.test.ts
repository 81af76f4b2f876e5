import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { type FormEntry, sendForm, sendFormForJson } from "../../support/forms.ts";
import { createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { readByJsZip, readZip } from "../../unit/archive/read-zip.ts";

const NAMES = Array.from({ length: 1600 }, (_, index) => `file ${index} é.txt`);
const files = { ...Object.fromEntries(NAMES.map((name) => [`/alice/f/${name}`, name])), "/alice/f/sub/b": "b" };

/** A form that downloads the members of a list. */
function toForm(names: readonly string[], ...more: readonly FormEntry[]): readonly FormEntry[] {
  return [["action", "download-members"], ["download-list", names.join("/")], ...more];
}

describe("the field download-list", () => {
  it("downloads 1,500 of 1,601 members, which are more than a form can have parts", async () => {
    const test = await createTestService({ files });
    const chosen = NAMES.slice(50, 1549);
    const answer = await sendForm(test, "/home/f/", toForm([...chosen, "sub"]));
    expect([answer.status, answer.header("content-length")]).toEqual([200, `${answer.bytes.byteLength}`]);
    const entries = readZip(answer.bytes);
    expect(entries.map(({ name }) => name).sort()).toEqual([...chosen, "sub/", "sub/b"].sort());
    expect((await readByJsZip(answer.bytes)).get(chosen[0] ?? "")?.toString()).toBe(chosen[0]);
  });

  it("adds to the selected members, each of them once", async () => {
    const test = await createTestService({ files });
    const [a = "", b = "", c = ""] = NAMES;
    const form = toForm([b, "", c, a, b, ""], ["selected-members", a], ["download-list", "sub"]);
    const entries = readZip((await sendForm(test, "/home/f/", form)).bytes);
    expect(entries.map(({ name }) => name)).toEqual([a, b, c, "sub/", "sub/b"]);
  });

  it("has an error for each member that cannot be in the archive, in the order of the list", async () => {
    const permissions = [["allow-full-control"], ["/f/file 3*", "allow-list"]];
    const test = await createTestService({ files, groups: { DEFAULT_GROUP: { permissions } } });
    const answer = await sendFormForJson(test, "/home/f/", toForm([...NAMES, "missing", "..", "a\\b"]));
    const { errors } = answer.json<{ errors: readonly { target: string; message: string | null }[] }>();
    expect(answer.status).toBe(422);
    expect(errors.map(({ target }) => target)).toEqual([...NAMES, "missing", "..", "a\\b"]);
    const failed = errors.filter(({ message }) => message !== null);
    expect(failed).toHaveLength(NAMES.filter((name) => name.startsWith("file 3")).length + 3);
    expect(failed.slice(-3).map(({ message }) => message)).toEqual([
      "Not found.",
      "This is not a valid name.",
      "This is not a valid name.",
    ]);
  });

  it("is no list for other actions, and one without names selects nothing", async () => {
    const test = await createTestService({ files: { "/alice/f/a": "a" } });
    for (const action of ["delete-members", "copy-members", "upload-file"]) {
      const form: readonly FormEntry[] = [
        ["download-list", "a"],
        ["action", action],
        ["destination", "/"],
      ];
      expect((await sendForm(test, "/home/f/", form)).status).toBe(400);
    }
    expect((await sendForm(test, "/home/f/", toForm(["", ""]))).status).toBe(400);
    expect(await test.stored("/alice/f/a")).toBe("a");
  });

  it("has 10,000 names at most, and counts among the fields, which have 1 MiB together", async () => {
    const test = await createTestService({ files: { "/alice/f/a": "a" } });
    const most = await sendForm(test, "/home/f/", toForm(Array.from({ length: 10_000 }, () => "a")));
    expect(most.status).toBe(200);
    const more = await sendFormForJson(test, "/home/f/", toForm(Array.from({ length: 10_001 }, () => "a")));
    expect([more.status, more.header("error-code")]).toEqual([400, "form-too-many-names"]);
    const twice = toForm(["a"], ["download-list", Array.from({ length: 10_000 }, () => "a").join("/")]);
    expect((await sendForm(test, "/home/f/", twice)).status).toBe(400);
    expect((await sendForm(test, "/home/f/", toForm(["x".repeat(1_048_576)]))).status).toBe(413);
  });

  it("counts in the memory for pages and archives before any member is looked at", async () => {
    let looks = 0;
    const inner = createMemoryStorage();
    const storage = overrideStorage(inner, {
      stat: (path) => {
        if (path.startsWith("/alice/f/")) looks += 1;
        return inner.stat(path);
      },
    });
    const large = { "/alice/f/large": new Uint8Array(8 * 1024 * 1024) };
    const test = await createTestService({
      storage,
      files: { ...files, ...large },
      limits: { pageBytesPerAccount: 1_000_000 },
    });
    const held = await test.open("GET", "/home/f/?zip");
    looks = 0;
    const answer = await sendFormForJson(test, "/home/f/", toForm(NAMES));
    expect([answer.status, looks]).toEqual([503, 0]);
    await held.body?.cancel();
    expect((await sendForm(test, "/home/f/", toForm(NAMES))).status).toBe(200);
  });
});
