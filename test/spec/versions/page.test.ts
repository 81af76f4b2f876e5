import { describe, expect, it } from "vitest";
import { createVersionsService, versionsOf } from "./setup.ts";

const html = { variant: "html" } as const;
const FORM = { "content-type": "application/x-www-form-urlencoded", origin: "http://files.example" };

describe("the page with the versions of a file", () => {
  it("has a download, Restore and Delete for each version", async () => {
    const { call, put, versions } = await createVersionsService({ "/f/<b>.txt": "first" });
    const url = versionsOf("/f/<b>.txt");
    const empty = await call("GET", url, html);
    expect(empty.text).toContain("There are no earlier versions.");
    await put("/f/%3Cb%3E.txt", "second", "third");
    const { text, header } = await call("GET", url, html);
    expect([header("content-type"), header("cache-control")]).toEqual(["text/html; charset=utf-8", "no-store"]);
    for (const { id } of await versions("/f/<b>.txt")) {
      expect(text).toContain(`href="/home/__svc__/versions/${id}?path=%2Ff%2F%3Cb%3E.txt"`);
      expect(text).toContain(`name="selected-members" value="${id}"`);
    }
    for (const part of [
      "Versions of &lt;b&gt;.txt",
      'href="/home/f/"',
      'href="/home/f/%3Cb%3E.txt"',
      'value="restore-members"',
      'value="purge-members"',
      'aria-label="Restore the version of ',
    ]) {
      expect(text).toContain(part);
    }
    expect(text).not.toContain("<b>");
    // That of the page, which shows times in the zone of the reader.
    expect(text.match(/<script/g)).toHaveLength(1);
    const german = await call("GET", url, { ...html, headers: { "accept-language": "de" } });
    for (const part of ["Versionen von", "Wiederherstellen", "Endgültig löschen", "Herunterladen"]) {
      expect(german.text).toContain(part);
    }
    expect((await call("HEAD", url, html)).header("content-type")).toBe("text/html; charset=utf-8");
  });

  it("restores and deletes without a script", async () => {
    const { call, put, versions, stored } = await createVersionsService({ "/a": "one" });
    await put("/a", "two", "three");
    const url = versionsOf("/a");
    const [two, one] = await versions("/a");
    const send = (...fields: readonly (readonly [string, string | undefined])[]) =>
      call("POST", url, {
        ...html,
        headers: FORM,
        body: new URLSearchParams(fields.map(([name, value]) => [name, value ?? ""])).toString(),
      });
    const restored = await send(["action", "restore-members"], ["selected-members", one?.id]);
    expect([restored.status, restored.header("location")]).toEqual([303, `${url}&done=restored`]);
    expect(await stored("/alice/a")).toBe("one");
    expect((await call("GET", `${url}&done=restored`, html)).text).toContain("The version was restored.");
    const purged = await send(["action", "purge-members"], ["selected-members", two?.id]);
    expect([purged.status, purged.header("location")]).toEqual([303, `${url}&done=purged`]);
    const again = await send(["action", "purge-members"], ["selected-members", two?.id]);
    expect([again.status, again.header("error-code")]).toEqual([404, "not-found"]);
    expect(again.text).toContain("Versions of a");
    for (const fields of [
      [["action", "restore-members"]],
      [["action", "purge-all"]],
      [["selected-members", one?.id]],
    ] as const) {
      expect((await send(...fields)).status).toBe(400);
    }
  });

  it("offers what the permissions of the path allow", async () => {
    const group = { permissions: [["allow-full-control"], ["/shown/*", "allow-read"]] };
    const { call } = await createVersionsService({ "/shown/": "" }, { group });
    for (const body of ["one", "two"]) await call("PUT", "/home/alice/shown/a", { api: "rest", as: "root", body });
    const { text } = await call("GET", versionsOf("/shown/a"), html);
    expect(text).toContain("Download");
    expect(text).not.toMatch(/<button|<form/);
  });

  it("takes no form of another site", async () => {
    const { call, put, versions, stored } = await createVersionsService({ "/a": "one" });
    await put("/a", "two");
    const [one] = await versions("/a");
    const headers = { ...FORM, origin: "http://other.example", "sec-fetch-site": "cross-site" };
    const body = `action=restore-members&selected-members=${one?.id}`;
    expect((await call("POST", versionsOf("/a"), { ...html, headers, body })).status).toBe(403);
    expect(await stored("/alice/a")).toBe("two");
  });

  it("is linked from the row of each file of a folder that can be read", async () => {
    const { call } = await createVersionsService({ "/f/a &.txt": "one", "/b": "b", "/f/g/": "" });
    const page = await call("GET", "/home/f/", html);
    expect(page.text).toContain('href="/home/__svc__/versions?path=%2Ff%2Fa%20%26.txt"');
    expect(page.text.match(/__svc__\/versions/g)).toHaveLength(1);
    expect((await call("GET", "/home/", html)).text).toContain('href="/home/__svc__/versions?path=%2Fb"');
  });
});
