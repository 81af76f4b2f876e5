import { describe, expect, it } from "vitest";
import { uploadsOf } from "../../support/forms.ts";
import { DROP, openVisits, type Visits } from "./visits.ts";

const inside = { "inbox/a.txt": "a", "inbox/sub/b.txt": "b", "inbox/sub/deeper/": "", "empty/": "" };
const GERMAN = { "accept-language": "de" } as const;

/** A page of a link. None of them leads to a login, to the account, or out of the link. */
async function getPage(visits: Visits, url: string, headers: Readonly<Record<string, string>> = {}): Promise<string> {
  const root = url.split("/").slice(0, 4).join("/");
  const answer = await visits.visit("GET", url, { variant: "html", headers });
  expect(answer.status).toBe(200);
  expect(answer.text).not.toMatch(/\/home\/|logout|__svc__\/login|password-update|class="account"/);
  expect(answer.text).toContain(`<a class="brand" href="${root}/">`);
  return answer.text;
}

function headingOf(page: string): string {
  return /<h1[^>]*>(.*?)<\/h1>/.exec(page)?.[1] ?? "";
}

describe("the page of a folder link (SHARING 9.2)", () => {
  it("has the folder's name, its members, all of it as a ZIP, and when the link ends", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ path: "/vault/inbox", expiresIn: 3600 });
    const [link] = await visits.service.links.list("hildegard");
    const page = await getPage(visits, url);
    expect(headingOf(page)).toBe("<bdi>inbox</bdi>");
    expect(page).toContain("<title>inbox – Files</title>");
    expect([...page.matchAll(/data-name="([^"]*)"/g)].map(([, name]) => name)).toEqual(["sub", "a.txt"]);
    expect(page).toMatch(/<a href="\?zip" id="download-all" class="button">.*<span>Download all<\/span><\/a>/);
    expect(page).toMatch(/>Available until <time [^>]+>[^<]+ UTC<\/time>/);
    expect(page).toContain(`<time datetime="${link?.expires.toISOString()}" `);
    expect(page).not.toMatch(/id="upload"|id="new-folder"|value="delete-members"/);
    const zip = await visits.visit("GET", `${url}?zip`, { variant: "html" });
    expect(zip.header("content-disposition")).toContain('filename="inbox.zip"');
    expect(zip.text).toContain("sub/b.txt");
  });

  it("leads no higher than to the link's folder", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ path: "/vault/inbox" });
    expect(await getPage(visits, url)).not.toContain("crumbs");
    const page = await getPage(visits, `${url}sub/deeper/`);
    expect(
      [...page.matchAll(/<li><a href="([^"]*)" title="[^"]*"><bdi>([^<]*)/g)].map(([, href, name]) => [href, name]),
    ).toEqual([
      ["../../", "inbox"],
      ["../", "sub"],
    ]);
    expect(headingOf(page)).toBe("<bdi>deeper</bdi>");
    expect(page).not.toContain("?zip");
  });

  it("has the actions that the link has, as forms", async () => {
    const visits = await openVisits({ inside });
    const permissions = ["allow-list", "allow-write", "allow-create-folder", "allow-delete-file"] as const;
    const page = await getPage(
      visits,
      await visits.link({ path: "/vault/inbox", permissions, maxFileBytes: 2_000_000 }),
    );
    expect(page).toContain('<form id="upload" method="post" action="./" enctype="multipart/form-data">');
    expect(page).toContain("Each file may have up to 2 MB.");
    expect(page).toContain('id="new-folder"');
    expect(page).toContain('value="delete-members"');
    expect(page).not.toMatch(/download-members|copy-members|move-members|\?zip|id="sender"/);
  });

  it("speaks German", async () => {
    const visits = await openVisits({ inside });
    const page = await getPage(visits, await visits.link({ path: "/vault/inbox" }), GERMAN);
    expect(page).toContain('lang="de"');
    expect(page).toContain(">Alles herunterladen</span></a>");
    expect(page).toMatch(/>Verfügbar bis <time [^>]+>[^<]+ UTC<\/time>/);
  });

  it("to all files of an account has a name that tells nothing", async () => {
    const settings = { permissions: [["allow-full-control"], ["/vault", "deny-full-control"]] };
    const visits = await openVisits({ settings });
    const { urlPath } = await visits.service.links.create({ username: "hildegard", path: "/" });
    const answer = await visits.call("GET", `${urlPath}?zip`, { as: null });
    expect(answer.header("content-disposition")).toContain('filename="files.zip"');
    const page = await visits.call("GET", urlPath, { as: null, variant: "html" });
    expect(headingOf(page.text)).toBe("<bdi>Home</bdi>");
    expect(page.text).not.toContain("hildegard");
  });
});

describe("the page of a file link (SHARING 9.2)", () => {
  it("has the file's name, its size, and a button that downloads it", async () => {
    const visits = await openVisits({ inside: { "inbox/a & b.txt": "x".repeat(1500) } });
    const url = await visits.link({ path: "/vault/inbox/a & b.txt" });
    const page = await getPage(visits, url);
    expect(headingOf(page)).toBe("<bdi>a &amp; b.txt</bdi>");
    expect(page).toContain('<a class="button primary wide" href="./a%20%26%20b.txt" download>Download</a>');
    expect(page).toMatch(/<data value="1500" title="1,500 bytes">1\.5 kB<\/data>/);
    expect(page).toMatch(/Available until/);
    expect(page).not.toMatch(/<form|inbox/);
    const german = await getPage(visits, url, GERMAN);
    expect(german).toContain("download>Herunterladen</a>");
    const file = await visits.visit("GET", `${url}a%20%26%20b.txt`, { variant: "html" });
    expect(file.header("content-disposition")).toMatch(/^attachment/);
  });

  it("has a form where the file may be uploaded", async () => {
    const visits = await openVisits({ inside });
    const writing = await visits.link({ path: "/vault/inbox/new.txt", permissions: ["allow-write"], askName: true });
    const form = await getPage(visits, writing);
    expect(form).toContain('<input id="sender" name="sender"');
    expect(form).toMatch(/<input id="upload-file" type="file" name="upload-file" required>/);
    expect(form).not.toContain("download>");
    const permissions = ["allow-read", "allow-write", "allow-delete-file"] as const;
    const both = await getPage(visits, await visits.link({ path: "/vault/inbox/a.txt", permissions }));
    expect(both).toMatch(/download>Download<\/a>[\s\S]*type="file"/);
    const reading = await getPage(
      visits,
      await visits.link({ path: "/vault/inbox/a.txt", permissions: ["allow-read", "allow-write"] }),
    );
    expect(reading).not.toContain('type="file"');
  });

  it("is not found when the file is gone", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ path: "/vault/inbox/a.txt" });
    expect((await visits.owner("DELETE", "vault/inbox/a.txt")).status).toBe(204);
    for (const method of ["GET", "HEAD"])
      expect((await visits.visit(method, url, { variant: "html" })).status).toBe(404);
  });
});

describe("the page of a drop folder (SHARING 9.2)", () => {
  it("has nothing but the form, the limit of a file, and when the link ends", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ ...DROP, askName: true, maxFileBytes: 5_000_000_000 });
    const page = await getPage(visits, url);
    expect(headingOf(page)).toBe("<bdi>inbox</bdi>");
    expect(page).toContain("You can send files here. They are not shown to anyone who has this link.");
    expect(page).toContain("Each file may have up to 5 GB.");
    // The name comes before the files: the service asks for it first.
    expect(page).toMatch(/name="action" value="upload-file">[\s\S]*name="sender"[\s\S]*name="upload-file"/);
    // A token has random letters.
    const shown = page.replaceAll(/share\/[^/"]+/g, "");
    expect(shown).not.toMatch(/a\.txt|sub|<table|class="empty"|\?zip|id="new-folder"/);
    const german = await getPage(visits, url, GERMAN);
    expect(german).toContain(">Ihr Name</label>");
    expect(german).toMatch(/Jede Datei darf bis zu 5\sGB groß sein\./);
  });

  it("keeps the sender's name when a file of the form fails", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ ...DROP, askName: true, maxFileBytes: 3 });
    const entries = [["action", "upload-file"], ["sender", 'Ann "A"'], ...uploadsOf({ "x.txt": "too large" })] as const;
    const failed = await visits.form(url, entries);
    expect(failed.status).toBe(413);
    expect(failed.text).toContain('name="sender" value="Ann &quot;A&quot;"');
  });
});

describe("the other pages of a link", () => {
  it("asks for the password, and says when it is wrong, in two languages", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ path: "/vault/inbox", password: "open sesame" });
    const asked = await visits.visit("GET", `${url}sub/`, { variant: "html" });
    expect(asked.status).toBe(401);
    expect(asked.text).toContain(`<form method="post" action="${url}">`);
    expect(asked.text).toContain("The person who sent you the link knows it.");
    expect(asked.text).not.toMatch(/inbox|role="alert"|\/home\//);
    const headers = { "content-type": "application/x-www-form-urlencoded", ...GERMAN };
    const wrong = await visits.visit("POST", url, { variant: "html", headers, body: "password=wrong" });
    expect(wrong.text).toContain("Das Passwort des Links ist falsch.");
    expect(wrong.text).toMatch(/aria-invalid="true" aria-describedby="problem"/);
    expect(wrong.text).not.toMatch(/inbox|\/home\//);
  });

  it("lead back to the link from an error, and nowhere once it is over", async () => {
    const visits = await openVisits({ inside });
    const url = await visits.link({ path: "/vault/inbox", expiresIn: 60 });
    const missing = await visits.visit("GET", `${url}never.txt`, { variant: "html" });
    expect(missing.status).toBe(404);
    expect(missing.text).toContain(`<a href="${url}">Back to the start page</a>`);
    expect(missing.text).not.toContain("/home/");
    const denied = await visits.visit("GET", await visits.link(DROP).then((drop) => `${drop}x`), { variant: "html" });
    expect(denied.text).toContain("The link does not permit this.");
    visits.advance(61);
    const over = await visits.visit("GET", url, { variant: "html", headers: GERMAN });
    expect(over.status).toBe(410);
    expect(over.text).toContain("Der Link ist abgelaufen.");
    expect(over.text).not.toMatch(/<p><a|\/home\//);
  });

  it("are as any unknown page for a token that is none", async () => {
    const visits = await openVisits({ inside });
    const forged = await visits.visit("GET", "/__svc__/share/never/a.txt", { variant: "html" });
    const unknown = await visits.visit("GET", "/__svc__/never", { variant: "html" });
    expect([forged.status, forged.text]).toEqual([404, unknown.text]);
  });
});
