import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { createTestService, type TestServiceOptions } from "../../support/service.ts";

const EVIL = `"><script>alert('1')</script>&amp;`.replace("/", "\u2215");

/** The names in the rows of a folder's page, as they stand in it. */
function namesOf(page: string): readonly string[] {
  return [...page.matchAll(/<tr data-name="([^"]*)"/g)].map(([, name = ""]) => name);
}

async function pageOf(options: TestServiceOptions = {}, path = "/home/", language = "en"): Promise<string> {
  const { call } = await createTestService(options);
  const answer = await call("GET", path, { variant: "html", headers: { "accept-language": language } });
  expect(answer.status).toBe(200);
  return answer.text;
}

/** The page of an account with these permissions. */
function pageFor(permissions: readonly (readonly string[])[], path?: string): Promise<string> {
  const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
  const authentication = createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() });
  return pageOf({ authentication, files: { "/alice/a.txt": "x", "/alice/in/b.txt": "" } }, path);
}

function offersOf(page: string): readonly string[] {
  const offers = { upload: 'id="upload"', folder: 'id="new-folder"', download: 'value="download-members"' };
  const all = { ...offers, delete: 'value="delete-members"', boxes: 'name="selected-members"' };
  return Object.entries(all).flatMap(([name, markup]) => (page.includes(markup) ? [name] : []));
}

describe("the members on a folder's page", () => {
  const times = { b: 3000, a: 1000, c: 2000 };
  const storage = createMemoryStorage();
  const sorted = {
    ...storage,
    async *list(path: string) {
      if (path !== "/alice") return yield* storage.list(path);
      for (const [name, size] of [
        ["b", 10],
        ["z", 0],
        ["a", 10],
        ["y", 0],
        ["c", 9],
      ] as const) {
        const isFolder = name === "z" || name === "y";
        const modified = new Date(isFolder ? (name === "z" ? 1 : 2) : times[name]);
        yield { name, kind: isFolder ? ("folder" as const) : ("file" as const), size, modified };
      }
    },
  };

  it.each([
    ["", "y z a b c"],
    ["?sort=name&order=asc", "y z a b c"],
    ["?sort=name&order=desc", "z y c b a"],
    ["?sort=size", "y z c a b"],
    ["?sort=size&order=desc", "y z a b c"],
    ["?sort=modified&order=asc", "z y a c b"],
    ["?sort=modified&order=desc", "y z b c a"],
    ["?order=desc", "z y c b a"],
  ])("are sorted by %s, folders first", async (query, names) => {
    expect(namesOf(await pageOf({ storage: sorted }, `/home/${query}`)).join(" ")).toBe(names);
  });

  it.each(["?sort=owner&order=down", "?sort=__proto__&order=%ff"])("are sorted by name for %s", async (query) => {
    // What the description does not have, is ignored.
    const page = await pageOf({ storage: sorted, isDescribed: false }, `/home/${query}`);
    expect(namesOf(page).join(" ")).toBe("y z a b c");
  });

  it("are sorted by links, the current one the other way round", async () => {
    const page = await pageOf({ storage: sorted }, "/home/?sort=size&order=asc");
    expect(page).toContain('<th scope="col" class="size" aria-sort="ascending"><a href="?sort=size&amp;order=desc">');
    expect(page).toContain('<th scope="col" class="name"><a href="?sort=name&amp;order=asc">');
    expect(page.match(/aria-sort/g)).toHaveLength(1);
  });

  it("stay in their order in the folders that a page leads to, and after its forms", async () => {
    const files = { "/alice/f/g/a.txt": "x", "/alice/f/b.txt": "" };
    const order = "sort=size&amp;order=desc";
    const page = await pageOf({ files }, "/home/f/?sort=size&order=desc&member=b.txt");
    for (const url of ["../", "./g/", "./"]) expect(page).toContain(`href="${url}?${order}"`);
    expect(page).toContain(`href="?member=b.txt&amp;${order}"`);
    const actions = [...page.matchAll(/<form[^>]* method="post" action="(\.[^"]*)"/g)].map(([, action]) => action);
    expect(actions).toEqual(Array(5).fill(`./?${order}`));
    const plain = await pageOf({ files }, "/home/f/?sort=name&order=asc");
    for (const url of ["../", "./g/"]) expect(plain).toContain(`href="${url}"`);
  });

  it("have a size and a time for people, and exact ones for hover and for the script, in the language of the page", async () => {
    const storage = createMemoryStorage();
    const modified = new Date(Date.UTC(2026, 1, 3, 14, 5, 6, 789));
    const list = async function* () {
      yield { name: "a.bin", kind: "file" as const, size: 1_234_567, modified };
    };
    const english = await pageOf({ storage: { ...storage, list } });
    expect(english).toContain('data-size="1234567" title="1,234,567 bytes">1.23 MB</td>');
    expect(english).toContain('<time datetime="2026-02-03T14:05:06.789Z">Feb 3, 2026');
    const german = await pageOf({ storage: { ...storage, list } }, "/home/", "de");
    expect(german).toMatch(/data-size="1234567" title="1\.234\.567 Byte">1,23\sMB<\/td>/);
    expect(german).toContain("03.02.2026, 14:05</time>");
  });

  it("are chosen by boxes with a label each, escaped, and names are kept apart from the text around (SECURITY 21)", async () => {
    const page = await pageOf({ files: { [`/alice/${EVIL}`]: "x" } });
    const escaped = EVIL.replace(
      /[&<>"']/g,
      (found) => `&${{ "&": "amp", "<": "lt", ">": "gt", '"': "quot", "'": "#39" }[found]};`,
    );
    expect(page).toContain(`<tr data-name="${escaped}" data-kind="file">`);
    expect(page).toContain(`name="selected-members" value="${escaped}" aria-label="Select ${escaped}">`);
    // The name is alone in its cell, which ends what its characters do to the direction of text.
    expect(page).toMatch(/<th scope="row" class="name"><a class="\w+" href="[^"]*">[^<]*<\/a><\/th>/);
    expect(page).toContain(`>${escaped}</a></th>`);
    expect(page.match(/<script/g)).toHaveLength(1);
  });

  it("are none in an empty folder, which says so and what to do", async () => {
    const page = await pageOf({ files: { "/alice/f/": "" } }, "/home/f/");
    expect(page).toContain("This folder is empty.");
    expect(page).toContain("Upload files or create a folder.");
    expect(page).not.toContain("<table");
    expect(page).not.toContain("data-members-action");
    expect(page).toContain('<form id="members"');
  });

  it("are rendered in slices: 10,000 of them are there soon and hold nobody up (SECURITY, figures)", async () => {
    const storage = createMemoryStorage();
    const list = async function* () {
      for (let index = 0; index < 10_000; index++) {
        yield { name: `file ${index}.txt`, kind: "file" as const, size: index * 997, modified: new Date(index * 1e8) };
      }
    };
    const { call } = await createTestService({ storage: { ...storage, list } });
    await call("GET", "/home/", { variant: "html" });
    let longest = 0;
    let last = performance.now();
    const timer = setInterval(() => {
      longest = Math.max(longest, performance.now() - last);
      last = performance.now();
    }, 1);
    const start = performance.now();
    const { text } = await call("GET", "/home/", { variant: "html" });
    const duration = performance.now() - start;
    clearInterval(timer);
    expect(namesOf(text)).toHaveLength(10_000);
    expect(duration).toBeLessThan(5000);
    expect(longest).toBeLessThan(500);
  });
});

describe("the head of a folder's page", () => {
  it("names the folder, and leads to each folder above it, escaped (SECURITY 21)", async () => {
    const page = await pageOf({ files: { [`/alice/${EVIL}/g/h/`]: "" } }, `/home/${encodeURIComponent(EVIL)}/g/h/`);
    expect(page).toMatch(/<h1 title="h"><bdi>h<\/bdi><\/h1>/);
    const crumbs = [...page.matchAll(/<li><a href="((?:\.\.\/)+)" title="[^"]*"><bdi>([^<]*)<\/bdi>/g)].map(
      ([, href, name]) => [href, name],
    );
    expect(crumbs.map(([href]) => href)).toEqual(["../../../", "../../", "../"]);
    expect(crumbs.map(([, name]) => name)).toEqual(["Home", expect.stringContaining("&lt;script&gt;"), "g"]);
  });

  it("hands the texts of the script over in the language of the page", async () => {
    const page = await pageOf({}, "/home/", "de");
    const json = (
      /<main id="folder" data-texts="([^"]*)" data-may="[^"]*"[^>]* data-viewer/.exec(page)?.[1] ?? ""
    ).replaceAll("&quot;", '"');
    expect(JSON.parse(json)).toMatchObject({ cancel: "Abbrechen", deleteOne: "{name} löschen?" });
  });
});

describe("what a folder's page offers", () => {
  const FULL = ["upload", "folder", "download", "delete", "boxes"];

  it.each<readonly [what: string, permissions: readonly (readonly string[])[], offers: readonly string[]]>([
    ["full control", [["allow-full-control"]], FULL],
    ["reading", [["allow-read", "allow-list"]], ["download", "boxes"]],
    ["listing alone", [["allow-list"]], []],
    ["listing and writing", [["allow-list", "allow-write"]], ["upload"]],
    ["making folders", [["allow-list", "allow-create-folder"]], ["folder"]],
    ["deleting files", [["allow-list", "allow-delete-file"]], ["delete", "boxes"]],
    ["deleting folders", [["allow-list", "allow-delete-folder"]], ["delete", "boxes"]],
    [
      "names of one kind",
      [
        ["allow-read", "allow-list"],
        ["*.pdf", "allow-full-control"],
      ],
      ["upload", "folder", "download", "boxes"],
    ],
    [
      "one member, against the rule of the others",
      [["allow-list"], ["/a.txt", "allow-full-control"], ["/*", "allow-list"]],
      ["download", "delete", "boxes"],
    ],
    ["another name than a member has", [["allow-full-control"], ["/member", "allow-list"]], FULL],
    // What may be listed may be copied to another place.
    ["everywhere but here", [["allow-full-control"], ["/*", "allow-list"]], ["boxes"]],
    [
      "of a folder without files to read",
      [["allow-full-control"], ["/a.txt", "allow-list"], ["/in/*", "allow-list"]],
      ["upload", "folder", "delete", "boxes"],
    ],
    [
      "nowhere but in another folder",
      [["allow-list"], ["/other/*", "allow-full-control"]],
      ["upload", "folder", "download", "boxes"],
    ],
  ])("is what permissions allow: %s", async (_what, permissions, offers) => {
    expect(offersOf(await pageFor(permissions))).toEqual(offers);
  });

  it("depends on the folder", async () => {
    const permissions = [
      ["allow-read", "allow-list"],
      ["/in | /in/*", "allow-full-control"],
      ["*", "allow-read", "allow-list"],
    ];
    expect(offersOf(await pageFor(permissions, "/home/in/"))).toEqual(FULL);
    expect(offersOf(await pageFor(permissions, "/home/"))).toEqual(["download", "delete", "boxes"]);
  });

  it("depends on the member where rules deny it something alone", async () => {
    const permissions = [["allow-full-control"], ["/a.txt", "allow-list", "allow-delete-file"]];
    expect(await pageFor(permissions)).toMatch(
      /<tr data-name="a.txt" data-kind="file" data-denied="download move copy">/,
    );
    expect(await pageFor(permissions)).toMatch(/<tr data-name="in" data-kind="folder">/);
    const panel = /<section class="cards member"[\s\S]*?<\/section>/;
    const [shown = ""] = panel.exec(await pageFor(permissions, "/home/?member=a.txt")) ?? [];
    expect([...shown.matchAll(/<button name="action" value="([^"]+)"/g)].map(([, value]) => value)).toEqual([
      "delete-members",
    ]);
    expect(shown).not.toContain("Download");
    expect(await pageFor([["allow-full-control"]])).not.toContain("data-denied");
  });

  it("is sent as forms whose action stands before the files (4.6)", async () => {
    const page = await pageOf({ files: { "/alice/a.txt": "x" } });
    expect(page).toMatch(
      /<form id="upload" method="post" action="\.\/" enctype="multipart\/form-data">\s*<input type="hidden" name="action" value="upload-file">[\s\S]*?<input id="upload-file" type="file" name="upload-file" multiple required>/,
    );
    expect(page).toMatch(
      /<form id="new-folder"[^>]*enctype="multipart\/form-data">\s*<input type="hidden" name="action" value="create-folder">/,
    );
    expect(page).toMatch(/<form id="members" method="post" action="\.\/" enctype="multipart\/form-data">/);
    for (const action of ["download-members", "delete-members"]) {
      expect(page).toMatch(new RegExp(`<button name="action" value="${action}" class="\\w+" data-members-action>`));
    }
    expect(page).toMatch(/<input type="checkbox" id="select-all" aria-label="Select all" hidden>/);
    expect(page).toContain('<section id="transfers" aria-live="polite" hidden></section>');
  });

  it("has the triggers of the account's group, with their labels and styles, escaped (4.6)", async () => {
    const triggers = {
      approve: { label: EVIL, style: "success" as const },
      plain: {},
      theirs: { groups: ["others"] },
      ours: { groups: ["others", "DEFAULT_GROUP"], style: "danger" as const },
      all: { groups: [] },
    };
    const page = await pageOf({ triggers, groups: { others: {} }, files: { "/alice/a.txt": "x" } });
    const buttons = [
      ...page.matchAll(/<button name="action" value="([^"]*)" class="(\w+)" data-members-action>([^<]*)</g),
    ];
    expect(buttons.map(([, name, style]) => `${name} ${style}`)).toEqual([
      "download-members neutral",
      "approve success",
      "plain neutral",
      "ours danger",
      "all neutral",
      "delete-members danger",
      "move-members neutral",
      "copy-members neutral",
    ]);
    expect(buttons[1]?.[3]).toContain("&lt;script&gt;");
    expect(buttons[2]?.[3]).toBe("plain");
  });
});

describe("the message on a folder's page", () => {
  it.each([
    ["uploaded", "The upload is complete."],
    ["folder-created", "The folder was created."],
    ["deleted", "The selected items were deleted."],
    ["renamed", "The item was renamed."],
    ["moved", "The selected items were moved."],
    ["copied", "The selected items were copied."],
    ["password-changed", "The password was changed."],
  ])("is that of the code %s (CONTRACT 4.6)", async (code, message) => {
    expect(await pageOf({}, `/home/?done=${code}`)).toContain(`<p role="status" class="notice success">${message}</p>`);
  });

  it.each(["", "unknown", "__proto__", "constructor", "Uploaded", "%3Cscript%3E", "uploaded%00"])(
    "is none for the code %j: no text of anybody's (CONTRACT 4.6)",
    async (code) => {
      const page = await pageOf({}, `/home/?done=${code}`);
      expect(page).not.toContain('class="notice');
      expect(page.match(/<script/g)).toHaveLength(1);
    },
  );
});
