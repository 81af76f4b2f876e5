import { describe, expect, it } from "vitest";
import { DONE_CODES } from "../../../src/contracts/pages/texts.ts";
import { StorageError } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { recordedBody } from "../../support/bodies.ts";
import { BOUNDARY, BROWSER_HEADERS, type FormEntry, formOf, sendForm, sendFormForJson } from "../../support/forms.ts";
import { byCookie, bySession, createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";

const files = { "/alice/f/a": "x", "/alice/f/b": "x", "/alice/f/sub/deep/c": "x", "/alice/a": "outside" };
const failed = expect.stringMatching(/./);

/** The members of a folder that were selected. */
function selected(...names: readonly string[]): readonly FormEntry[] {
  return names.map((name) => ["selected-members", name] as const);
}

const createFolder: readonly FormEntry[] = [
  ["action", "create-folder"],
  ["new-folder", "new"],
];
const deleteA: readonly FormEntry[] = [["action", "delete-members"], ...selected("a")];
const upload: readonly FormEntry[] = [
  ["action", "upload-file"],
  ["upload-file", "u.txt", "content"],
];

describe("POST /home/<folder>/ with a form", () => {
  it("creates a folder and goes back to the listing (4.6, CONTRACT 4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", createFolder);
    expect([answer.status, answer.header("location")]).toEqual([303, "/home/f/?done=folder-created"]);
    expect(answer.header("server-path")).toBe("/f");
    expect((await test.storage.stat("/alice/f/new"))?.kind).toBe("folder");
  });

  it("deletes the selected members, folders recursively (4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", [["action", "delete-members"], ...selected("a", "sub")]);
    expect([answer.status, answer.header("location")]).toEqual([303, "/home/f/?done=deleted"]);
    expect(await test.stored("/alice/f/a")).toBeUndefined();
    expect(await test.storage.stat("/alice/f/sub")).toBeUndefined();
    expect(await test.stored("/alice/f/b")).toBe("x");
    expect(await test.stored("/alice/a")).toBe("outside");
  });

  it("stores the content of uploaded files (4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", [...upload, ["upload-file", "a", "overwritten"]]);
    expect([answer.status, answer.header("location")]).toEqual([303, "/home/f/?done=uploaded"]);
    expect(await test.stored("/alice/f/u.txt")).toBe("content");
    expect(await test.stored("/alice/f/a")).toBe("overwritten");
  });

  it("answers the selected members as a ZIP archive (4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", [["action", "download-members"], ...selected("a", "sub", "a")]);
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/zip"]);
    expect(new TextDecoder().decode(answer.bytes.subarray(0, 4))).toBe("PK\x03\x04");
    expect(answer.text).toContain("sub/deep/c");
    expect(answer.text).not.toContain("f/sub");
  });

  it("takes the action before and after everything else (4.6)", async () => {
    for (const entries of [createFolder, deleteA, upload]) {
      const test = await createTestService({ files });
      expect((await sendForm(test, "/home/f/", entries)).status).toBe(303);
      const other = await createTestService({ files });
      expect((await sendForm(other, "/home/f/", [...entries].reverse())).status).toBe(303);
      for (const path of ["/alice/f/a", "/alice/f/u.txt"]) {
        expect(await other.stored(path)).toBe(await test.stored(path));
      }
      expect((await other.storage.stat("/alice/f/new"))?.kind).toBe((await test.storage.stat("/alice/f/new"))?.kind);
    }
  });

  it("tells what was done by a code of a closed list in the query, and keeps the rest of it (CONTRACT 4.6)", async () => {
    const ofForms = ["folder-created", "uploaded", "deleted", "renamed", "moved", "copied"];
    expect(DONE_CODES).toEqual([...ofForms, "password-changed", "triggered"]);
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/?sort=size&done=uploaded&x=%0d%0a", deleteA, {
      undescribed: "the query of a form is kept for the page behind it, whatever it is",
    });
    expect(answer.header("location")).toBe("/home/f/?sort=size&done=deleted&x=%0D%0A");
  });

  it("goes back to folders of any name below any base (CONTRACT 2.7)", async () => {
    const test = await createTestService({ basePath: "/base", files: { "/alice/ü %/a": "x" } });
    const answer = await sendForm(test, "/base/home/%C3%BC%20%25/", deleteA);
    expect(answer.header("location")).toBe("/base/home/%C3%BC%20%25/?done=deleted");
    const atRoot = await sendForm(test, "/base/home/", createFolder);
    expect(atRoot.header("location")).toBe("/base/home/?done=folder-created");
  });

  it("needs neither cookie nor script: Basic credentials, a cookie and a session do (4.6, 5.1)", async () => {
    const test = await createTestService({ files });
    const id = await test.login();
    for (const headers of [byCookie(id), bySession(id)]) {
      expect((await sendForm(test, "/home/f/", upload, { as: null, headers })).status).toBe(303);
    }
    expect((await sendForm(test, "/home/f/", upload)).status).toBe(303);
    expect((await sendForm(test, "/home/f/", upload, { as: null })).status).toBe(302);
  });

  it("is refused from another site, before its body is read (CONTRACT 6.5)", async () => {
    const test = await createTestService({ files });
    const id = await test.login();
    const body = recordedBody(new TextDecoder().decode(formOf(...deleteA)));
    const headers = {
      ...BROWSER_HEADERS,
      ...byCookie(id),
      "sec-fetch-site": "cross-site",
      origin: "https://evil.example",
    };
    const answer = await test.call("POST", "/home/f/", { as: null, headers, body: body.stream });
    expect([answer.status, body.pulls()]).toEqual([403, 0]);
    expect(await test.stored("/alice/f/a")).toBe("x");
  });
});

describe("a form that asks for JSON", () => {
  it("gets the results of POST commands, one for each target (CONTRACT 4.6)", async () => {
    const test = await createTestService({ files });
    const created = await sendFormForJson(test, "/home/f/", createFolder);
    expect([created.status, created.json()]).toEqual([200, { results: [{ target: "new", message: null }] }]);
    const stored = await sendFormForJson(test, "/home/f/", [...upload, ["upload-file", "v.txt", ""]]);
    expect(stored.json()).toEqual({
      results: [
        { target: "u.txt", message: null },
        { target: "v.txt", message: null },
      ],
    });
    const deleted = await sendFormForJson(test, "/home/f/", [["action", "delete-members"], ...selected("a", "b")]);
    expect(deleted.json()).toEqual({
      results: [
        { target: "a", message: null },
        { target: "b", message: null },
      ],
    });
  });

  it("gets 422 with the errors of POST commands when some have failed (CONTRACT 4.6)", async () => {
    const test = await createTestService({ files });
    for (const action of ["download-members", "delete-members"]) {
      const entries: readonly FormEntry[] = [["action", action], ...selected("missing", "b", "../a")];
      const answer = await sendFormForJson(test, "/home/f/", entries);
      expect([answer.status, answer.header("content-type")]).toEqual([422, "application/json; charset=utf-8"]);
      expect(answer.json()).toEqual({
        errors: [
          { target: "missing", message: failed },
          { target: "b", message: null },
          { target: "../a", message: failed },
        ],
      });
    }
  });

  it("gets the archive as well (4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendFormForJson(test, "/home/f/", [["action", "download-members"], ...selected("a")]);
    expect([answer.status, answer.header("content-type")]).toEqual([200, "application/zip"]);
  });

  it("gets 400 with the errors body when nothing is asked for (7.1)", async () => {
    const test = await createTestService({ files });
    for (const action of ["create-folder", "upload-file", "delete-members", "download-members"]) {
      const answer = await sendFormForJson(test, "/home/f/", [["action", action]]);
      expect([answer.status, answer.json()]).toEqual([400, { errors: [{ message: failed }] }]);
    }
  });
});

describe("a form of which some fails", () => {
  it("is answered with the folder's page, which names what has failed, and does the rest (CONTRACT 4.6)", async () => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", [["action", "delete-members"], ...selected("<b>", "a", "no")]);
    expect([answer.status, answer.header("content-type")]).toEqual([404, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("Not found.");
    expect(answer.text).toContain("&lt;b&gt;");
    expect(answer.text).not.toContain("<b>");
    expect(answer.text).toContain("sub");
    expect(await test.stored("/alice/f/a")).toBeUndefined();
  });

  it.each<readonly [what: string, entries: readonly FormEntry[], status: number]>([
    [
      "a folder that exists",
      [
        ["action", "create-folder"],
        ["new-folder", "sub"],
      ],
      400,
    ],
    [
      "a folder without a name",
      [
        ["action", "create-folder"],
        ["new-folder", ""],
      ],
      400,
    ],
    [
      "a folder with a path for a name",
      [
        ["action", "create-folder"],
        ["new-folder", "x/y"],
      ],
      400,
    ],
    [
      "a folder's name in place of a file's",
      [
        ["action", "upload-file"],
        ["upload-file", "sub", "x"],
      ],
      400,
    ],
    ["members that are not there", [["action", "delete-members"], ...selected("m", "n")], 404],
    ["a download of what is not there", [["action", "download-members"], ...selected("a", "m")], 404],
    ["members that fail for different reasons", [["action", "delete-members"], ...selected("m", "..")], 400],
    ["nothing selected to delete", [["action", "delete-members"]], 400],
    ["nothing selected to download", [["action", "download-members"]], 400],
    ["no new folder", [["action", "create-folder"]], 400],
    [
      "two new folders",
      [
        ["action", "create-folder"],
        ["new-folder", "x"],
        ["new-folder", "y"],
      ],
      400,
    ],
    ["no file", [["action", "upload-file"]], 400],
    [
      "an empty file input",
      [
        ["action", "upload-file"],
        ["upload-file", "", ""],
      ],
      400,
    ],
  ])("has the status of a browser's failure: %s (CONTRACT 1, 4.6)", async (_what, entries, status) => {
    const test = await createTestService({ files });
    const answer = await sendForm(test, "/home/f/", entries);
    expect([answer.status, answer.header("content-type")]).toEqual([status, "text/html; charset=utf-8"]);
    expect(answer.text).toContain("sub");
    expect(await test.stored("/alice/f/a")).toBe("x");
    for (const name of ["x", "y"]) expect(await test.storage.stat(`/alice/f/${name}`)).toBeUndefined();
  });

  it("is refused for members that the permissions deny, one by one (CONTRACT 7.4)", async () => {
    const permissions = [
      ["allow-full-control"],
      ["/f/a*", "allow-read"],
      ["/f/hidden | /f/secret", "deny-full-control"],
    ];
    const groups = { DEFAULT_GROUP: { permissions } };
    const test = await createTestService({
      files: { ...files, "/alice/f/a2": "x", "/alice/f/b2": "x", "/alice/f/hidden": "x", "/alice/f/secret/": "" },
      groups,
    });
    const deleted = await sendForm(test, "/home/f/", [["action", "delete-members"], ...selected("a", "b")]);
    expect(deleted.status).toBe(403);
    expect([await test.stored("/alice/f/a"), await test.stored("/alice/f/b")]).toEqual(["x", undefined]);
    const uploaded = await sendFormForJson(test, "/home/f/", [
      ["action", "upload-file"],
      ["upload-file", "a2", "new"],
      ["upload-file", "ok", "new"],
    ]);
    expect(uploaded.json()).toEqual({
      errors: [
        { target: "a2", message: failed },
        { target: "ok", message: null },
      ],
    });
    expect([await test.stored("/alice/f/a2"), await test.stored("/alice/f/ok")]).toEqual(["x", "new"]);
    const folder: readonly FormEntry[] = [
      ["action", "create-folder"],
      ["new-folder", "a3"],
    ];
    expect((await sendForm(test, "/home/f/", folder)).status).toBe(403);
    const download: readonly FormEntry[] = [["action", "download-members"], ...selected("hidden", "secret", "b2")];
    expect((await sendFormForJson(test, "/home/f/", download)).json()).toEqual({
      errors: [
        { target: "hidden", message: failed },
        { target: "secret", message: failed },
        { target: "b2", message: null },
      ],
    });
    expect((await sendForm(test, "/home/f/", download)).status).toBe(403);
  });

  it("is refused for the reserved name at the root (CONTRACT 2.3)", async () => {
    const test = await createTestService({ files });
    for (const entries of [
      [
        ["action", "create-folder"],
        ["new-folder", "__svc__"],
      ],
      [
        ["action", "upload-file"],
        ["upload-file", "__svc__", "x"],
      ],
      [["action", "delete-members"], ...selected("__svc__")],
    ] as (readonly FormEntry[])[]) {
      expect((await sendForm(test, "/home/", entries)).status).toBe(403);
    }
    expect(await test.storage.stat("/alice/__svc__")).toBeUndefined();
  });

  it("has the status of a full and of a failing storage, and tells nothing of its own messages (CONTRACT 1, SECURITY 14)", async () => {
    for (const [code, status] of [
      ["no-space", 507],
      ["unavailable", 503],
      ["too-large", 413],
    ] as const) {
      const base = createMemoryStorage();
      const write = () => Promise.reject(new StorageError(code, "/srv/secret"));
      const test = await createTestService({ storage: base, files });
      const failing = await createTestService({ storage: overrideStorage(base, { write }) });
      const answer = await sendForm(failing, "/home/f/", upload);
      expect(answer.status).toBe(status);
      expect(answer.text).not.toContain("srv");
      expect(await test.stored("/alice/f/u.txt")).toBeUndefined();
    }
  });
});

describe("a form that makes no sense", () => {
  it.each<readonly [what: string, entries: readonly FormEntry[]]>([
    ["nothing in it", []],
    ["no action", [["new-folder", "x"], ...selected("a")]],
    ["an unknown action", [["action", "rename"], ...selected("a")]],
    ["an action in upper case", [["action", "Delete-Members"], ...selected("a")]],
    ["a command of JSON for an action", [["action", "delete"], ...selected("a")]],
    ["an action of the prototype", [["action", "constructor"], ...selected("a")]],
    ["an empty action", [["action", ""], ...selected("a")]],
    ["two actions", [...deleteA, ["action", "delete-members"]]],
    ["a file for an action", [["action", "delete-members", "x"], ...selected("a")]],
    ["a file for a member", [...deleteA, ["selected-members", "b", "x"]]],
    [
      "a text in place of a file",
      [
        ["action", "upload-file"],
        ["upload-file", "x"],
      ],
    ],
    [
      "a file in a field of another name",
      [
        ["attachment", "x", "content"],
        ["action", "upload-file"],
        ["upload-file", "x", "y"],
      ],
    ],
  ])("is answered 400, and nothing is done: %s (7.1)", async (_what, entries) => {
    const test = await createTestService({ files });
    const json = await sendFormForJson(test, "/home/f/", entries);
    expect([json.status, json.json()]).toEqual([400, { errors: [{ message: failed }] }]);
    const page = await sendForm(test, "/home/f/", entries);
    expect([page.status, page.header("content-type")]).toEqual([400, "text/html; charset=utf-8"]);
    expect([await test.stored("/alice/f/a"), await test.stored("/alice/f/x")]).toEqual(["x", undefined]);
  });

  it("may hold fields that its action does not need, and unknown ones: a page may have one form for all", async () => {
    const test = await createTestService({ files });
    const entries: readonly FormEntry[] = [
      ["_charset_", "UTF-8"],
      ["new-folder", ""],
      ["upload-file", "", ""],
      ["upload-file", "u.txt", "not now"],
      ["another", "", ""],
      ...selected("a"),
      ["action", "delete-members"],
    ];
    const answer = await sendForm(test, "/home/f/", entries, { undescribed: "it has fields that nobody reads" });
    expect(answer.status).toBe(303);
    expect([await test.stored("/alice/f/a"), await test.stored("/alice/f/u.txt")]).toEqual([undefined, undefined]);
  });

  it("is answered 400 without a boundary, or cut (7.1)", async () => {
    const test = await createTestService({ files });
    const body = formOf(...deleteA);
    const headers = { ...BROWSER_HEADERS, "content-type": "multipart/form-data" };
    expect((await test.call("POST", "/home/f/", { body, headers })).status).toBe(400);
    const cut = body.subarray(0, -BOUNDARY.length);
    expect((await test.call("POST", "/home/f/", { body: cut, headers: BROWSER_HEADERS })).status).toBe(400);
    expect((await test.call("POST", "/home/f/", { headers: BROWSER_HEADERS })).status).toBe(400);
    expect(await test.stored("/alice/f/a")).toBe("x");
  });

  it("is answered 400 for a name that is not UTF-8", async () => {
    const test = await createTestService({ files });
    const body = formOf(["action", "create-folder"], ["new-folder", "?"]);
    body[body.indexOf(0x3f)] = 0xff;
    expect((await test.call("POST", "/home/f/", { body, headers: BROWSER_HEADERS })).status).toBe(400);
  });

  it("is answered 413 when its fields hold more than 1 MiB together, and not before", async () => {
    const test = await createTestService({ files });
    const limit = 1024 * 1024;
    const entries = (size: number): readonly FormEntry[] => [
      ["other", "x".repeat(size - 20 - "delete-members".length)],
      ["action", "delete-members"],
      ["selected-members", "a".padEnd(20, "x")],
    ];
    expect((await sendForm(test, "/home/f/", entries(limit + 1))).status).toBe(413);
    expect((await sendForm(test, "/home/f/", entries(limit))).status).toBe(404);
  });

  it("is answered 400 with more than 1,000 parts or a head over 16 KiB (SECURITY 12)", async () => {
    const test = await createTestService({ files });
    const names = Array.from({ length: 999 }, (_, index) => `n${index}`);
    const most = await sendFormForJson(test, "/home/f/", [["action", "delete-members"], ...selected(...names)]);
    expect(most.json<{ errors: unknown[] }>().errors).toHaveLength(999);
    expect((await sendForm(test, "/home/f/", [...deleteA, ...selected(...names)])).status).toBe(400);
    expect((await sendForm(test, "/home/f/", [["x".repeat(17_000), ""], ...deleteA])).status).toBe(400);
  });

  it("is answered 415 when it is coded (RFC 9110 8.4)", async () => {
    const test = await createTestService({ files });
    expect((await sendForm(test, "/home/f/", deleteA, { headers: { "content-encoding": "gzip" } })).status).toBe(415);
  });
});

describe("a form elsewhere", () => {
  it("is answered 404 for a missing folder and a file, before its body is read (7.1, CONTRACT 2.5)", async () => {
    const test = await createTestService({ files });
    for (const path of ["/home/missing/", "/home/f/a/", "/home/__svc__/"]) {
      const body = recordedBody("--");
      const answer = await test.call("POST", path, { headers: BROWSER_HEADERS, body: body.stream });
      expect([answer.status, body.pulls()]).toEqual([404, 0]);
    }
  });

  it("is not supported on a file URL: 405 (4.2)", async () => {
    const test = await createTestService({ files });
    expect((await sendForm(test, "/home/f/a", deleteA)).status).toBe(405);
    expect((await sendForm(test, "/home/f", deleteA)).status).toBe(307);
  });

  it("works where the browser API is mounted alone, and answers JSON where the REST API is (1.1)", async () => {
    const test = await createTestService({ files });
    expect((await sendForm(test, "/home/f/", createFolder, { api: "browser" })).status).toBe(303);
    expect((await sendForm(test, "/home/f/", deleteA, { api: "rest" })).json()).toEqual({
      results: [{ target: "a", message: null }],
    });
    expect((await sendForm(test, "/home/f/", deleteA, { api: "webdav" })).status).toBe(405);
  });
});
