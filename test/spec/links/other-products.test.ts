import { describe, expect, it } from "vitest";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { AccountLookup, Authenticator } from "../../../src/contracts/authenticator.ts";
import { basic } from "../../support/service.ts";
import { openVisits } from "./visits.ts";

const INSIDE = { "inbox/plan.txt": "0123456789" } as const;
const PASSWORD = "open sesame";
const toAccount = (permission: "allow-full-control" | "allow-list"): AccountSettings => ({
  home_folder_path: "/homes/hildegards-home",
  permissions: [[permission]],
});
const withPassword = { authorization: basic("x", PASSWORD) };

describe("what went wrong with links in other products", () => {
  it("is no second URL that opens a link with a password", async () => {
    const { link, visit, service } = await openVisits({ inside: INSIDE, webdav: {} });
    const url = await link({ path: "/vault/inbox", password: PASSWORD });
    const paths = [
      "",
      "?zip",
      "plan.txt",
      "plan.txt?download",
      "__svc__/uploads/",
      "__svc__/share",
      "PLAN.TXT",
      ".//plan.txt",
    ];
    for (const path of paths) {
      for (const method of ["GET", "HEAD", "OPTIONS", "PROPFIND", "POST", "PUT"]) {
        const { status, text } = await visit(method, url + path);
        expect([404, 405, 401].includes(status) || method === "OPTIONS", `${method} ${path}: ${status}`).toBe(true);
        expect(text, `${method} ${path}`).not.toMatch(/plan\.txt<|0123/);
      }
    }
    const [made] = await service.links.list("hildegard");
    expect((await visit("GET", `/share/${made?.id}/plan.txt`)).status).toBe(404);
    expect((await visit("GET", `${url}plan.txt`, { headers: withPassword })).text).toBe("0123456789");
  });

  it("is no name that is shown before the password", async () => {
    const { link, visit } = await openVisits({ inside: INSIDE });
    const [folder, file] = [
      await link({ path: "/vault/inbox", password: PASSWORD, label: "Salaries" }),
      await link({ path: "/vault/inbox/plan.txt", password: PASSWORD, label: "Salaries" }),
    ];
    for (const url of [folder, file]) {
      for (const variant of ["html", "json"] as const) {
        const asked = await visit("GET", url, { variant });
        expect(asked.status).toBe(401);
        expect(`${[...asked.headers].join("\n")}${asked.text}`).not.toMatch(/inbox|plan|Salaries/);
      }
    }
  });

  it("is no link for one download that is used up by HEAD, a preview or the ranges of one download", async () => {
    const { link, visit, service } = await openVisits({ inside: INSIDE });
    const url = await link({ path: "/vault/inbox/plan.txt", maxUses: 1 });
    const uses = async () => (await service.links.list("hildegard")).map((one) => one.uses);
    expect((await visit("HEAD", `${url}plan.txt`)).status).toBe(200);
    // Messengers and mail scanners look at the page, not at the file.
    expect((await visit("GET", url, { variant: "html" })).status).toBe(200);
    expect((await visit("GET", `${url}plan.txt`, { headers: { "if-none-match": "*" } })).status).toBe(304);
    expect(await uses()).toEqual([0]);
    const answer = await visit("GET", `${url}plan.txt`, { headers: { range: "bytes=0-1" } });
    expect([answer.status, answer.text]).toEqual([200, "0123456789"]);
    expect((await visit("GET", `${url}plan.txt`)).status).toBe(410);
  });

  it("is no link that outlives the rights of its account, or the account", async () => {
    let lookup: AccountLookup = { outcome: "found", account: toAccount("allow-full-control") };
    const authentication: Authenticator = {
      name: "changing",
      authenticate: async () => ({ outcome: "unknown" }),
      lookup: async () => lookup,
    };
    const { link, visit } = await openVisits({ inside: INSIDE, authentication });
    const file = `${await link({ path: "/vault/inbox", permissions: ["allow-read"] })}plan.txt`;
    expect((await visit("GET", file)).status).toBe(200);
    lookup = { outcome: "found", account: toAccount("allow-list") };
    expect((await visit("GET", file)).status).toBe(403);
    lookup = { outcome: "unknown" };
    expect((await visit("GET", file)).status).toBe(410);
  });

  it("is no hash of a password in JSON", async () => {
    const { link, owner } = await openVisits({ inside: INSIDE });
    await link({ path: "/vault/inbox", password: PASSWORD });
    const listed = await owner("GET", "__svc__/links", { variant: "json" });
    expect(listed.json()).toMatchObject({ content: [{ has_password: true }] });
    expect(listed.text).not.toMatch(/scrypt|pbkdf2|argon|\$|hash|salt|open sesame/i);
  });
});
