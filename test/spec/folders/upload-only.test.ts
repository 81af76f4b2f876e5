import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import { sendForm, uploadsOf } from "../../support/forms.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { cookieOf, createTestService, type TestService } from "../../support/service.ts";

const WRITE_ONLY = [["allow-write"]] as const;

function createService(
  permissions: readonly (readonly string[])[] = WRITE_ONLY,
  events: FileEvent[] = [],
): Promise<TestService> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
  return createTestService({
    authentication: createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() }),
    files: { "/alice/old.txt": "old", "/alice/in/other.txt": "" },
    onEvent: (event) => void events.push(event),
  });
}

async function logIn({ call }: TestService): Promise<string> {
  const body = "username=alice&password=secret";
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  return cookieOf(await call("POST", "/__svc__/login", { variant: "html", as: null, headers, body }));
}

describe("the page of a folder for an account that may only upload", () => {
  it("has the upload form and no members", async () => {
    const { call } = await createService();
    const page = await call("GET", "/home/", { variant: "html" });
    expect(page.status).toBe(200);
    expect(page.text).toContain('<form id="upload"');
    expect(page.text).not.toContain('<form id="new-folder"');
    expect(page.text).not.toContain("old.txt");
    expect((await call("HEAD", "/home/", { variant: "html" })).status).toBe(200);
    expect((await call("GET", "/home/in/", { variant: "html" })).text).toContain('<form id="upload"');
  });

  it("offers to log out where a session is the cookie's", async () => {
    const test = await createService();
    const headers = { cookie: await logIn(test) };
    const page = await test.call("GET", "/home/", { variant: "html", as: null, headers });
    expect(page.text).toContain('<form method="post" action="/__svc__/logout"');
  });

  it("has the form for folders if that is what the account may create", async () => {
    const { call } = await createService([["allow-create-folder"]]);
    const page = await call("GET", "/home/", { variant: "html" });
    expect(page.text).toContain('<form id="new-folder"');
    expect(page.text).not.toContain('<form id="upload"');
  });

  it("shows what the account has sent, with sizes, up to ten files", async () => {
    const test = await createService();
    const { call } = test;
    const form = [["action", "upload-file"], ...uploadsOf({ "a & b.txt": "12345", "c.txt": "1" })] as const;
    const sent = await sendForm(test, "/home/", form);
    expect(sent.status).toBe(303);
    const page = await call("GET", sent.header("location") ?? "", { variant: "html" });
    expect(page.text).toContain("<p>The upload is complete.</p>");
    expect(page.text).toContain("<li><bdi>a &amp; b.txt</bdi> (5 bytes)</li><li><bdi>c.txt</bdi> (1 byte)</li></ul>");

    const many = Object.fromEntries(Array.from({ length: 12 }, (_, index) => [`${10 + index}`, "x"]));
    const others = await sendForm(test, "/home/", [form[0], ...uploadsOf(many)]);
    const next = (await call("GET", others.header("location") ?? "", { variant: "html" })).text;
    expect(next.match(/<li><bdi>\d+<\/bdi>/g)).toHaveLength(10);
    expect(next).toContain("<li>…</li>");
    expect(next).not.toContain("c.txt");
  });

  it("shows nothing from a link that does not name files of the folder", async () => {
    const { call } = await createService([["allow-write"], ["/old.txt", "deny-full-control"]]);
    for (const name of ["Call%20555-0100", "old.txt", "in", "..", "in%2Fother.txt", "%2Fetc", ""]) {
      const page = await call("GET", `/home/?done=uploaded&sent=${name}`, { variant: "html" });
      expect(page.text).toContain("The upload is complete.");
      expect(page.text).not.toContain("<li>");
    }
  });

  it("keeps the page after a form that failed", async () => {
    const test = await createService();
    const page = await sendForm(test, "/home/", [["action", "delete-members"]]);
    expect(page.status).toBe(400);
    expect(page.text).toContain("Select at least one item.");
    expect(page.text).toContain('<form id="upload"');
  });

  it("is no listing: there are no events of one, and JSON and archives stay 403", async () => {
    const events: FileEvent[] = [];
    const { call } = await createService(WRITE_ONLY, events);
    await call("GET", "/home/", { variant: "html" });
    expect(events.filter(({ id }) => [40006, 40034, 40014].includes(id))).toEqual([]);
    expect((await call("GET", "/home/", { variant: "json" })).status).toBe(403);
    expect((await call("HEAD", "/home/", { variant: "json" })).status).toBe(403);
    expect((await call("GET", "/home/", { headers: { accept: "application/zip" } })).status).toBe(403);
  });

  it("exists only for folders that exist", async () => {
    const { call } = await createService();
    for (const path of ["gone/", "old.txt/", "__svc__/"]) {
      expect((await call("GET", `/home/${path}`, { variant: "html" })).text).not.toContain("<form");
    }
  });

  it("is not there for accounts that may neither list nor create: the page of the error leads out", async () => {
    const test = await createService([["allow-read"]]);
    const headers = { cookie: await logIn(test) };
    const page = await test.call("GET", "/home/", { variant: "html", as: null, headers });
    expect(page.status).toBe(403);
    expect(page.text).toContain('<form method="post" action="/__svc__/logout"');
    expect(page.text).not.toContain("Back to your files");
    expect((await test.call("GET", "/home/", { variant: "html" })).text).not.toContain("logout");
    const inside = await test.call("GET", "/home/in/", { variant: "html" });
    expect([inside.status, inside.text.includes('<a href="/home/">Back to your files</a>')]).toEqual([403, true]);
  });
});
