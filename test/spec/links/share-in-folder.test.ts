import { describe, expect, it } from "vitest";
import type { LinkBody } from "../../../src/schemas/links.ts";
import { type FormEntry, sendForm } from "../../support/forms.ts";
import { type Answer, type CallOptions, createTestService } from "../../support/service.ts";
import { JSON_TYPE, LINKS, type OwnerSetting, pathOf, setOwner } from "./owner-setting.ts";

const anybody = { as: null } as const;

/** Sends commands to a folder. */
function command(
  { call }: Pick<OwnerSetting, "call">,
  commands: unknown,
  options: CallOptions & { folder?: string } = {},
) {
  const { folder = "/home/reports/", ...own } = options;
  return call("POST", folder, { variant: "json", headers: JSON_TYPE, body: JSON.stringify({ commands }), ...own });
}

interface Outcome {
  readonly target: string;
  readonly message: string | null;
  readonly link?: LinkBody;
}

const resultsOf = (answer: Answer): readonly Outcome[] => answer.json<{ results: Outcome[] }>().results;
const errorsOf = (answer: Answer): readonly Outcome[] => answer.json<{ errors: Outcome[] }>().errors;

describe("the command create-link (SHARING 3.5)", () => {
  it("makes a link to each target, as the options say", async () => {
    const setting = await setOwner();
    const options = { permissions: ["allow-read"], expires_in: 60, label: "x" };
    const answer = await command(setting, [
      { command: "create-link", target: "a.csv" },
      { command: "create-link", target: ["a.csv", "2018"], options },
    ]);
    expect(answer.status).toBe(200);
    expect(resultsOf(answer).map(({ target, message, link }) => [target, message, link?.path, link?.label])).toEqual([
      ["a.csv", null, "/reports/a.csv", ""],
      ["a.csv", null, "/reports/a.csv", "x"],
      ["2018", null, "/reports/2018", "x"],
    ]);
    const [, , folder] = resultsOf(answer);
    const url = `${pathOf(folder?.link?.url ?? "")}b.csv`;
    expect((await setting.call("GET", url, anybody)).text).toBe("4,5,6");
    expect(setting.events.filter(({ id }) => id === 49101)).toHaveLength(3);
  });

  it("runs among others, whose entries have no link", async () => {
    const setting = await setOwner();
    const answer = await command(setting, [
      { command: "create-folder", target: "new" },
      { command: "create-link", target: "new", options: { permissions: ["allow-write"] } },
    ]);
    expect(resultsOf(answer)[0]).toEqual({ target: "new", message: null });
    expect(resultsOf(answer)[1]?.link?.permissions).toEqual(["allow-write"]);
  });

  it("has a refusal and a name that is none as that target's failure: 422", async () => {
    const setting = await setOwner();
    const answer = await command(setting, [
      { command: "create-link", target: ["none", "a.csv", "..", "a/b"] },
      { command: "create-link", target: "a.csv", options: { expires_in: 1e9 } },
    ]);
    expect(answer.status).toBe(422);
    expect(errorsOf(answer).map(({ target, message, link }) => [target, message, link?.path])).toEqual([
      ["none", "Not found.", undefined],
      ["a.csv", null, "/reports/a.csv"],
      ["..", "This is not a valid name.", undefined],
      ["a/b", "This is not a valid name.", undefined],
      ["a.csv", "A link may last 31536000 seconds at most.", undefined],
    ]);
    const reserved = await command(setting, [{ command: "create-link", target: "__svc__" }], { folder: "/home/" });
    expect([reserved.status, reserved.header("error-code")]).toEqual([422, "name-reserved"]);
    const denied = await setOwner({ alice: { allow_links: false } });
    const refused = await command(denied, [{ command: "create-link", target: "a.csv" }]);
    expect([refused.status, refused.header("error-code")]).toEqual([422, "links-denied"]);
  });

  it.each<[string, object]>([
    ["a path among its options", { target: "a.csv", options: { path: "/" } }],
    ["an unknown option", { target: "a.csv", options: { expires: 1 } }],
    ["a wrong value", { target: "a.csv", options: { password: "" } }],
    ["an unknown permission", { target: "a.csv", options: { permissions: ["allow-rename"] } }],
    ["an unknown member", { target: "a.csv", destination: "b.csv" }],
    ["no target", {}],
    ["an empty list", { target: [] }],
  ])("with %s is malformed: 400, and nothing is done", async (_what, members) => {
    const setting = await setOwner();
    const answer = await command(setting, [
      { command: "create-folder", target: "new" },
      { command: "create-link", ...members },
    ]);
    expect([answer.status, answer.header("error-code")]).toEqual([400, "commands-malformed"]);
    expect(await setting.storage.stat("/alice/reports/new")).toBeUndefined();
    expect(await setting.service.links.list("alice")).toEqual([]);
  });

  it("is unknown without the option links", async () => {
    const test = await createTestService({ files: { "/alice/reports/a.csv": "x" } });
    const answer = await command(test, [{ command: "create-link", target: "a.csv" }]);
    expect([answer.status, answer.header("error-code")]).toEqual([400, "commands-malformed"]);
  });
});

describe("the form action share-members (SHARING 3.5)", () => {
  const share = (...names: readonly string[]): readonly FormEntry[] => [
    ["action", "share-members"],
    ...names.map((name): FormEntry => ["selected-members", name]),
  ];

  it("leads to the page for a new link to the one selected member", async () => {
    const setting = await setOwner({ files: { "/alice/reports/ä & b+c.csv": "x" } });
    const answer = await sendForm(setting, "/home/reports/", share("ä & b+c.csv"));
    const location = `${LINKS}/new?path=${encodeURIComponent("/reports/ä & b+c.csv")}`;
    expect([answer.status, answer.header("location")]).toEqual([303, location]);
    const page = await setting.call("GET", location, { variant: "html" });
    expect(page.text).toContain("<h1>Share ä &amp; b+c.csv</h1>");
    const folder = await sendForm(setting, "/home/", share("reports"), { headers: { accept: "application/json" } });
    expect([folder.status, folder.header("location")]).toEqual([303, `${LINKS}/new?path=%2Freports`]);
  });

  it("is 400 for none and for several, with the folder's page", async () => {
    const setting = await setOwner();
    for (const names of [[], ["a.csv", "2018"], ["a/b"]]) {
      const answer = await sendForm(setting, "/home/reports/", share(...names));
      expect([names, answer.status]).toEqual([names, 400]);
    }
    const several = await sendForm(setting, "/home/reports/", share("a.csv", "2018"));
    expect(several.text).toContain("Select exactly one item to share.");
    expect(several.header("error-code")).toBe("share-one-item");
  });

  it("is unknown without the option links", async () => {
    const test = await createTestService({ files: { "/alice/reports/a.csv": "x" } });
    const undescribed = "its action is of a service with links";
    const answer = await sendForm(test, "/home/reports/", share("a.csv"), { undescribed });
    expect([answer.status, answer.header("error-code")]).toEqual([400, "form-action-unknown"]);
  });
});

describe("the page of a folder (SHARING 3.5)", () => {
  it("leads to the page for a link to itself, to the selected member, and to the list", async () => {
    const { call } = await setOwner();
    const { text } = await call("GET", "/home/reports/", { variant: "html" });
    expect(text).toMatch(/href="[^"]*\/links\/new\?path=%2Freports" aria-label="Share this folder">.*Share<\/a>/);
    expect(text).toContain(`<button name="action" value="share-members"`);
    expect(text).toContain(`<a href="${LINKS}">Links</a>`);
    expect((await call("GET", "/home/", { variant: "html" })).text).toContain(`${LINKS}/new?path=%2F"`);
  });

  it("shows nothing of it to an account without links, and below a link", async () => {
    const denied = await setOwner({ alice: { allow_links: false } });
    expect((await denied.call("GET", "/home/", { variant: "html" })).text).not.toMatch(/share|__svc__\/links/i);
    const { call, created } = await setOwner();
    const { url } = await created({ path: "/reports", permissions: ["allow-read", "allow-list", "allow-write"] });
    const { text } = await call("GET", pathOf(url), { ...anybody, variant: "html" });
    expect(text).not.toMatch(/share-members|__svc__\/links/);
  });

  it("has no list where links are not kept", async () => {
    const { call } = await setOwner({ links: { secret: "a secret of the tests, 32 characters or more" } });
    const { text } = await call("GET", "/home/", { variant: "html" });
    expect(text).toContain(`${LINKS}/new?path=%2F"`);
    expect(text).not.toContain(`<a href="${LINKS}">`);
  });
});

describe("the options of the browser's forms and commands", () => {
  it.each(["create-link", "share-members"])("refuse a trigger with the name %s", async (name) => {
    await expect(createTestService({ triggers: { [name]: {} } })).rejects.toThrow(`triggers.${name}`);
  });

  it("list the command and the action in the description alone where the service has links", async () => {
    const { call } = await setOwner();
    const { text } = await call("GET", "/__svc__/openapi.json", anybody);
    for (const name of ["create-link", "share-members", "/__svc__/share/{token}/{path}", "linkPassword"]) {
      expect(text).toContain(name);
    }
  });
});
