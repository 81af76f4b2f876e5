import { describe, expect, it } from "vitest";
import { type Answer, type CallOptions, variants } from "../../support/service.ts";
import { LINKS, type OwnerSetting, pathOf, setOwner } from "./owner-setting.ts";

const anybody = { as: null } as const;

/** Opens the page with the form for a link to a path. */
function openForm({ call }: OwnerSetting, path: string, options: CallOptions = {}): Promise<Answer> {
  return call("GET", `${LINKS}/new?path=${encodeURIComponent(path)}`, { variant: "html", ...options });
}

/** The values of the permissions' boxes, and whether they are checked. */
function boxesOf({ text }: Answer): readonly (readonly [string, boolean])[] {
  const boxes = text.matchAll(/<input type="checkbox"[^>]*name="permissions" value="([\w-]+)"([^>]*)>/g);
  return [...boxes].map(([, value = "", rest = ""]) => [value, /\bchecked\b/.test(rest)] as const);
}

/** The value of an element of the page. */
function textOf({ text }: Answer, id: string): string | undefined {
  return new RegExp(`<input id="${id}"[^>]*\\bvalue="([^"]*)"`).exec(text)?.[1];
}

/** The option of a field that is selected. */
function selectedOf({ text }: Answer, id: string): string | undefined {
  const [, options = ""] = new RegExp(`<select id="${id}"[^>]*>(.*?)</select>`).exec(text) ?? [];
  return /<option value="(\d+)" selected>/.exec(options)?.[1];
}

function alertOf({ text }: Answer): string | undefined {
  return /<p role="alert"[^>]*>([^<]*)</.exec(text)?.[1];
}

describe("the page for a new link (SHARING 1)", () => {
  it("offers what a folder can give, in plain words, and proposals for it", async () => {
    const setting = await setOwner();
    const page = await openForm(setting, "/reports/");
    expect(page.status).toBe(200);
    expect(page.text).toContain("<h1>Share reports</h1>");
    expect(boxesOf(page)).toEqual([
      ["allow-read", true],
      ["allow-list", true],
      ["allow-traverse", false],
      ["allow-write", false],
      ["allow-create-folder", false],
      ["allow-delete-file", false],
      ["allow-delete-folder", false],
    ]);
    expect(selectedOf(page, "expires_in")).toBe("604800");
    const [, drop = ""] = /href="([^"]*)"[^>]*>Only send files in</.exec(page.text) ?? [];
    const dropped = await setting.call("GET", drop.replaceAll("&amp;", "&"), { variant: "html" });
    expect(boxesOf(dropped).filter(([, isChecked]) => isChecked)).toEqual([["allow-write", true]]);
    expect(dropped.text).toMatch(/aria-current="true">Only send files in</);
    expect((await setting.call("HEAD", `${LINKS}/new?path=/`, { variant: "html" })).status).toBe(200);
  });

  it("offers of a file what a file can give, and of an account what it may give", async () => {
    const permissions = [["allow-read", "allow-write", "allow-list"]];
    const setting = await setOwner({ alice: { permissions } });
    expect(boxesOf(await openForm(setting, "/reports/a.csv"))).toEqual([
      ["allow-read", true],
      ["allow-write", false],
    ]);
    expect(boxesOf(await openForm(setting, "/")).map(([value]) => value)).toEqual([
      "allow-read",
      "allow-list",
      "allow-traverse",
      "allow-write",
    ]);
    const nothing = await setOwner({ alice: { permissions: [["deny-full-control"]] } });
    expect((await openForm(nothing, "/reports/a.csv")).status).toBe(403);
  });

  it("limits the time to that of the account, and asks for the password that it needs", async () => {
    const setting = await setOwner({ group: { max_link_seconds: 90_000, require_link_password: true } });
    const page = await openForm(setting, "/reports");
    expect([...page.text.matchAll(/<option value="(\d{4,6})"/g)].map(([, seconds]) => seconds)).toEqual([
      "86400",
      "90000",
    ]);
    expect(page.text).toContain(">25 hours</option>");
    expect(page.text).toMatch(/<input id="password"[^>]* required/);
  });

  it("is a page in every variant, in German too, and 400, 403 or 404 for paths that have none", async () => {
    const setting = await setOwner();
    for (const variant of variants) {
      expect((await openForm(setting, "/reports", { variant })).header("content-type")).toMatch(/^text\/html/);
      expect((await openForm(setting, "/none", { variant })).status).toBe(404);
      expect((await openForm(setting, "/__svc__", { variant })).status).toBe(403);
      for (const path of ["", "reports", "/a//b", "/../x"]) {
        expect([path, (await openForm(setting, path, { variant })).status]).toEqual([path, 400]);
      }
    }
    expect((await setting.call("GET", `${LINKS}/new?path=/`, { api: "rest" })).status).toBe(404);
    const german = await openForm(setting, "/reports", { headers: { "accept-language": "de" } });
    expect(german.text).toContain("reports teilen</h1>");
    expect(german.text).toContain("Dateien herunterladen");
  });
});

describe("the form for a new link (SHARING 3)", () => {
  it("makes a link as JSON does, from texts; what is empty is not given", async () => {
    const { send, call, service } = await setOwner();
    const answer = await send([
      ["path", "/reports"],
      ["permissions", "allow-read"],
      ["permissions", "allow-list"],
      ["permissions", "allow-write"],
      ["expires_in", "86400"],
      ["password", ""],
      ["label", "for <b>Bob</b>"],
      ["max_uses", "3"],
      ["max_file_bytes", ""],
      ["ask_name", "true"],
    ]);
    expect(answer.status).toBe(201);
    const [link] = await service.links.list("alice");
    expect(link).toMatchObject({
      path: "/reports",
      permissions: ["allow-read", "allow-list", "allow-write"],
      hasPassword: false,
      label: "for <b>Bob</b>",
      maxUses: 3,
      askName: true,
    });
    expect(link).not.toHaveProperty("maxFileBytes");
    expect(answer.header("location")).toBe(`${LINKS}/${link?.id}`);
    const url = textOf(answer, "url") ?? "";
    expect(answer.text).toMatch(/<input id="url" value="[^"]+" readonly/);
    expect(answer.text).toMatch(/<button type="button" data-copy="url"[^>]* hidden>Copy</);
    expect(answer.text).toMatch(/<svg class="qr" role="img" aria-label="QR code of the link"/);
    expect(answer.text).toContain("for &lt;b&gt;Bob&lt;/b&gt;");
    expect((await call("GET", `${pathOf(url)}a.csv`, anybody)).text).toBe("1,2,3");
  });

  it("is answered as JSON to a client that prefers it, without a choice of permissions too", async () => {
    const { send } = await setOwner();
    const answer = await send({ path: "/reports/a.csv", password: "x" }, { variant: "json" });
    expect(answer.status).toBe(201);
    expect(answer.json()).toMatchObject({ results: [{ permissions: ["allow-read"], has_password: true }] });
    expect((await send({ path: "/none" }, { variant: "json" })).json()).toEqual({
      errors: [{ message: "Not found." }],
    });
  });

  it("shows the file's own URL", async () => {
    const { send, call } = await setOwner();
    const answer = await send({ path: "/reports/a.csv" });
    expect((await call("GET", pathOf(textOf(answer, "file-url") ?? ""), anybody)).text).toBe("1,2,3");
  });

  it("shows the page again with what was entered, but the password", async () => {
    const setting = await setOwner();
    const answer = await setting.send([
      ["path", "/reports"],
      ["permissions", "allow-write"],
      ["expires_in", "99999999999"],
      ["password", "open sesame"],
      ["label", `"Bob"`],
      ["max_uses", "12"],
      ["max_file_bytes", "100000000"],
      ["ask_name", "true"],
    ]);
    expect([answer.status, answer.header("error-code")]).toEqual([422, "link-lasts-too-long"]);
    expect(alertOf(answer)).toBe("A link may last 31536000 seconds at most.");
    expect(boxesOf(answer).filter(([, isChecked]) => isChecked)).toEqual([["allow-write", true]]);
    expect(textOf(answer, "label")).toBe("&quot;Bob&quot;");
    expect(textOf(answer, "max_uses")).toBe("12");
    expect(selectedOf(answer, "max_file_bytes")).toBe("100000000");
    expect(answer.text).toMatch(/<input type="checkbox" id="ask_name"[^>]* checked/);
    expect(answer.text).toMatch(/<details open>/);
    expect(answer.text).not.toContain("sesame");
    expect(await setting.service.links.list("alice")).toEqual([]);
    const german = await setting.send(
      { path: "/reports", expires_in: "99999999999" },
      { headers: { "accept-language": "de" } },
    );
    expect(alertOf(german)).toBe("Ein Link darf höchstens 31536000 Sekunden gelten.");
  });

  it.each<[string, readonly (readonly [string, string])[]]>([
    [
      "an unknown field",
      [
        ["path", "/reports"],
        ["owner", "bob"],
      ],
    ],
    [
      "a field twice",
      [
        ["path", "/reports"],
        ["label", "a"],
        ["label", "b"],
      ],
    ],
    [
      "an unknown action",
      [
        ["path", "/reports"],
        ["action", "create"],
      ],
    ],
    [
      "a number that is none",
      [
        ["path", "/reports"],
        ["max_uses", "1e3"],
      ],
    ],
    [
      "a negative number",
      [
        ["path", "/reports"],
        ["expires_in", "-1"],
      ],
    ],
    [
      "an unknown permission",
      [
        ["path", "/reports"],
        ["permissions", "allow-rename"],
      ],
    ],
    [
      "a box with another value",
      [
        ["path", "/reports"],
        ["ask_name", "yes"],
      ],
    ],
  ])("with %s is refused: 400, and the event of a bad request", async (_what, fields) => {
    const { send, events } = await setOwner();
    const answer = await send(fields);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain("<h1>Share reports</h1>");
    expect(alertOf(answer)).not.toBe("");
    expect(events.some(({ id }) => id === 40019)).toBe(true);
    expect((await send(fields, { variant: "json" })).status).toBe(400);
  });

  it("is an error page for a path that has no form", async () => {
    const { send } = await setOwner();
    for (const [path, status] of [
      ["/none", 404],
      ["reports", 400],
      ["", 400],
      ["/__svc__/x", 403],
    ] as const) {
      const answer = await send({ path });
      expect([path, answer.status]).toEqual([path, status]);
      expect(answer.text).not.toContain("<form");
    }
  });
});

describe("the list as a page (SHARING 3.6)", () => {
  it("has each link with its URL, and the forms that withdraw one and all", async () => {
    const { created, call } = await setOwner();
    const empty = await call("GET", LINKS, { variant: "html" });
    expect(empty.text).toContain("There are no links.");
    const link = await created({ path: "/reports", label: "<Bob>", password: "x", max_uses: 5 });
    const { text } = await call("GET", LINKS, { variant: "html" });
    expect(text).toContain(`<a href="${LINKS}/${link.id}"><bdi>/reports</bdi></a>`);
    expect(text).toContain("&lt;Bob&gt;");
    expect(text).toContain("With a password");
    expect(text).toContain("0 of 5");
    expect(text).toMatch(
      new RegExp(`<input id="url-${link.id}" value="http://files\\.example/__svc__/share/[^"]+/" readonly`),
    );
    expect(text).toContain(`<form method="post" action="${LINKS}/${link.id}"><button name="action" value="withdraw"`);
    expect(text).toContain(`<button name="action" value="withdraw-all"`);
    const shown = await call("GET", `${LINKS}/${link.id}`, { variant: "html" });
    expect(shown.text).toMatch(/<svg class="qr"/);
    expect(shown.text).toContain("5");
  });
});
