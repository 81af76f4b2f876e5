import { describe, expect, it } from "vitest";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { mountStorage } from "../../../src/storage/mount.ts";
import { mountTrash } from "../../../src/storage/mount-trash.ts";
import { createTrashStorage } from "../../../src/storage/trash.ts";
import { sendForm } from "../../support/forms.ts";
import { createTestService } from "../../support/service.ts";
import { fillStorage } from "../../support/storage.ts";
import { createTrashService, TRASH } from "./setup.ts";

const html = { variant: "html" } as const;
const FORM = { "content-type": "application/x-www-form-urlencoded", origin: "http://files.example" };

describe("the page of the trash", () => {
  it("shows what was removed, with Restore and Delete", async () => {
    const test = await createTrashService({ "/alice/<b>.txt": "12345", "/alice/folder/b": "b" });
    const { call, entries } = test;
    expect((await call("GET", TRASH, html)).text).toContain("The trash is empty.");
    for (const path of ["%3Cb%3E.txt", "folder/"]) await call("DELETE", `/home/${path}`, { api: "rest" });
    const { text, header } = await call("GET", TRASH, html);
    expect(header("content-type")).toBe("text/html; charset=utf-8");
    for (const id of Object.values(await entries())) expect(text).toContain(`value="${id}"`);
    for (const part of ["&lt;b&gt;.txt", 'value="restore-members"', 'value="purge-members"', "Delete for good"]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("<b>");
    const german = await call("GET", TRASH, { ...html, headers: { "accept-language": "de" } });
    for (const part of ["Papierkorb", "Wiederherstellen", "Endgültig löschen"]) expect(german.text).toContain(part);
    expect((await call("HEAD", TRASH, html)).header("content-type")).toBe("text/html; charset=utf-8");
  });

  it("restores and deletes without a script", async () => {
    const { call, entries, stored } = await createTrashService({ "/alice/a": "a", "/alice/b": "b", "/alice/c": "c" });
    for (const name of ["a", "b", "c"]) await call("DELETE", `/home/${name}`, { api: "rest" });
    const ids = await entries();
    const send = (fields: readonly (readonly [string, string])[]) =>
      call("POST", TRASH, {
        ...html,
        headers: FORM,
        body: new URLSearchParams(fields.map(([a, b]) => [a, b])).toString(),
      });
    const restored = await send([
      ["action", "restore-members"],
      ["selected-members", ids["/a"] ?? ""],
    ]);
    expect([restored.status, restored.header("location")]).toEqual([303, `${TRASH}?done=restored`]);
    expect(await stored("/alice/a")).toBe("a");
    expect((await call("GET", `${TRASH}?done=restored`, html)).text).toContain("The selected items were restored.");
    const purged = await send([
      ["action", "purge-members"],
      ["selected-members", ids["/b"] ?? ""],
    ]);
    expect(purged.header("location")).toBe(`${TRASH}?done=purged`);
    await call("PUT", "/home/c", { api: "rest", body: "new" });
    const failed = await send([
      ["action", "restore-members"],
      ["selected-members", ids["/c"] ?? ""],
    ]);
    expect([failed.status, failed.header("error-code")]).toEqual([400, "trash-path-taken"]);
    expect(failed.text).toContain("Something of that name already exists.");
    expect((await send([["action", "restore-members"]])).status).toBe(400);
    expect((await send([["action", "other"]])).status).toBe(400);
    expect((await send([["action", "purge-all"]])).header("location")).toBe(`${TRASH}?done=emptied`);
    expect(await entries()).toEqual({});
  });

  it("takes no form of another site", async () => {
    const { call, entries } = await createTrashService({ "/alice/a": "a" });
    await call("DELETE", "/home/a", { api: "rest" });
    const headers = { ...FORM, origin: "http://other.example", "sec-fetch-site": "cross-site" };
    const answer = await call("POST", TRASH, { ...html, headers, body: "action=purge-all" });
    expect(answer.status).toBe(403);
    expect(Object.keys(await entries())).toEqual(["/a"]);
  });

  it("has a link on the page of a folder, next to a button that deletes for good", async () => {
    const test = await createTrashService({ "/alice/a": "a", "/alice/b": "b" });
    const { text } = await test.call("GET", "/home/", html);
    expect(text).toContain(`href="${TRASH}"`);
    expect(text).toContain('value="purge-members"');
    const sent = await sendForm(test, "/home/", [
      ["action", "purge-members"],
      ["selected-members", "a"],
    ]);
    expect(sent.status).toBe(303);
    await sendForm(test, "/home/", [
      ["action", "delete-members"],
      ["selected-members", "b"],
    ]);
    expect(Object.keys(await test.entries())).toEqual(["/b"]);
  });

  it("is not for a folder of a storage without a trash, in a tree of several", async () => {
    const own = createTrashStorage(createMemoryStorage());
    const archive = createMemoryStorage();
    await fillStorage(own, { "/alice/a": "a", "/alice/b": "b" });
    await fillStorage(archive, { "/c": "c", "/d": "d" });
    const test = await createTestService({
      storage: mountStorage({ "/": own, "/alice/archive": archive }),
      trash: mountTrash({ "/": own.trash, "/alice/archive": undefined }),
    });

    async function look(url: string, member: string) {
      const { text } = await test.call("GET", url, html);
      const offered = /data-may="([^"]*)"/.exec(text)?.[1]?.split(" ");
      const hasButton = text.includes('value="purge-members"');
      const sent = await sendForm(test, url, [
        ["action", "delete-members"],
        ["selected-members", member],
      ]);
      const { pathname, search } = new URL(sent.header("location") ?? "", `http://files.example${url}`);
      const after = await test.call("GET", pathname + search, html);
      const [message = ""] = /<p role="status".*?<\/p>/.exec(after.text) ?? [];
      return { purges: offered?.includes("purge"), hasButton, leadsToTrash: message.includes(TRASH) };
    }

    expect(await look("/home/", "a")).toEqual({ purges: true, hasButton: true, leadsToTrash: true });
    const isGone = { purges: false, hasButton: false, leadsToTrash: false };
    expect(await look("/home/archive/", "c")).toEqual(isGone);
  });
});
