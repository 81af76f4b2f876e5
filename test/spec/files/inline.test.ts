import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { AccountSettings } from "../../../src/contracts/account.ts";
import type { FileEvent } from "../../../src/index.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createVersionsStorage } from "../../../src/storage/versions.ts";
import { LINK_SECRET } from "../../support/links.ts";
import { createTestService } from "../../support/service.ts";

const NO_SCRIPT = "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

/** The headers for a file that browsers may show, by its name. */
const SHOWN: readonly (readonly [name: string, type: string, policy: string])[] = [
  ["a.png", "image/png", `sandbox; ${NO_SCRIPT}; img-src 'self'`],
  ["a.JPG", "image/jpeg", `sandbox; ${NO_SCRIPT}; img-src 'self'`],
  ["a.gif", "image/gif", `sandbox; ${NO_SCRIPT}; img-src 'self'`],
  ["a.webp", "image/webp", `sandbox; ${NO_SCRIPT}; img-src 'self'`],
  ["a.avif", "image/avif", `sandbox; ${NO_SCRIPT}; img-src 'self'`],
  ["a.mp3", "audio/mpeg", `${NO_SCRIPT}; media-src 'self'`],
  ["a.opus", "audio/ogg", `${NO_SCRIPT}; media-src 'self'`],
  ["a.mp4", "video/mp4", `${NO_SCRIPT}; media-src 'self'`],
  ["a.webm", "video/webm", `${NO_SCRIPT}; media-src 'self'`],
  ["a.pdf", "application/pdf", `${NO_SCRIPT}; object-src 'self'`],
  ["a.txt", "text/plain; charset=utf-8", `sandbox; ${NO_SCRIPT}`],
  ["a.html", "text/plain; charset=utf-8", `sandbox; ${NO_SCRIPT}`],
  ["a.js", "text/plain; charset=utf-8", `sandbox; ${NO_SCRIPT}`],
  ["a.svg.xml", "text/plain; charset=utf-8", `sandbox; ${NO_SCRIPT}`],
];

/** What is saved even so. */
const SAVED = [
  "a.zip",
  "a.swf",
  "a.mht",
  "a.xht",
  "a.svgz",
  "a.wasm",
  "a.xsl",
  "a",
  "a.",
  "png",
  "a.__proto__",
  "a.docx",
];

describe("GET /home/<path>?inline", () => {
  it.each(SHOWN)("shows %s as what its name says, whatever is in it (CONTRACT 3.2)", async (name, type, policy) => {
    const { call } = await createTestService({ files: { [`/alice/${name}`]: "<script>alert(1)</script>" } });
    for (const method of ["GET", "HEAD"]) {
      const answer = await call(method, `/home/${name}?inline`);
      expect(answer.status).toBe(200);
      expect(answer.header("content-type")).toBe(type);
      expect(answer.header("content-security-policy")).toBe(policy);
      expect(answer.header("content-disposition")).toBe(`inline; filename="${name}"; filename*=UTF-8''${name}`);
      expect(answer.header("x-content-type-options")).toBe("nosniff");
      expect(answer.header("cross-origin-resource-policy")).toBe("same-origin");
      expect(answer.header("cache-control")).toBe("private, no-cache");
    }
  });

  it.each(SAVED)("saves %s, with the headers of any download", async (name) => {
    const { call } = await createTestService({ files: { [`/alice/${name}`]: "x" } });
    const [shown, saved] = [await call("GET", `/home/${name}?inline=1`), await call("GET", `/home/${name}`)];
    for (const field of ["content-type", "content-disposition", "content-security-policy"]) {
      expect(shown.header(field)).toBe(saved.header(field));
    }
    expect(shown.header("content-disposition")).toMatch(/^attachment; /);
  });

  it("lets pages embed an SVG as an image, and opens none as a page", async () => {
    const { call } = await createTestService({ files: { "/alice/a.svg": "<svg/>" } });
    const answer = await call("GET", "/home/a.svg?inline");
    expect(answer.header("content-type")).toBe("image/svg+xml");
    expect(answer.header("content-disposition")).toMatch(/^attachment; /);
    expect(answer.header("content-security-policy")).toBe(`sandbox; ${NO_SCRIPT}; img-src data:`);
  });

  it("has conditions, ranges and names as any download", async () => {
    const content = "0123456789".repeat(100);
    const { call } = await createTestService({ files: { "/alice/é.txt": content } });
    const target = "/home/%C3%A9.txt?inline";
    const complete = await call("GET", target);
    expect(complete.text).toBe(content);
    expect(complete.header("content-disposition")).toBe("inline; filename=\"_.txt\"; filename*=UTF-8''%C3%A9.txt");
    const etag = complete.header("etag") ?? "";
    expect((await call("GET", target, { headers: { "if-none-match": etag } })).status).toBe(304);
    expect((await call("GET", target, { headers: { "if-match": '"other"' } })).status).toBe(412);
    const part = await call("GET", target, { headers: { range: "bytes=2-4" } });
    expect([part.status, part.text, part.header("content-range")]).toEqual([206, "234", "bytes 2-4/1000"]);
    expect(part.header("content-type")).toBe("text/plain; charset=utf-8");
    const parts = await call("GET", target, { headers: { range: "bytes=0-1,500-501" } });
    expect(parts.status).toBe(206);
    expect(parts.text).toContain("text/plain; charset=utf-8");
    expect((await call("GET", target, { headers: { range: "bytes=2000-" } })).status).toBe(416);
  });

  it("has its policy in every part, of a version, and below a link", async () => {
    const storage = createVersionsStorage(createMemoryStorage());
    const { call } = await createTestService({ storage, versions: storage.versions, links: { secret: LINK_SECRET } });
    for (const body of ["<script>1</script>", "<script>22</script>"]) {
      await call("PUT", "/home/a.html", { api: "rest", body });
    }
    const versions = await call("GET", "/home/__svc__/versions?path=%2Fa.html", { api: "rest" });
    const [version] = versions.json<{ content: { id: string }[] }>().content;
    const made = await call("POST", "/home/__svc__/links", {
      variant: "json",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ path: "/a.html" }),
    });
    const [link] = made.json<{ results: { file_url: string }[] }>().results;
    const ofLink = new URL(link?.file_url ?? "").pathname;
    const ofVersion = `/home/__svc__/versions/${version?.id}?path=%2Fa.html&inline`;
    const ranges = ["bytes=0-8", "bytes=0-3", "bytes=0-1,9-9"];
    for (const target of ["/home/a.html?inline", `${ofLink}?inline`, ofVersion]) {
      for (const range of ranges) {
        const shown = await call("GET", target, { headers: { range } });
        expect([target, shown.status]).toEqual([target, 206]);
        expect(shown.header("content-type")).toMatch(
          /^(?:text\/plain; charset=utf-8|multipart\/byteranges; boundary=.*)$/,
        );
        expect(shown.header("content-security-policy")).toBe(`sandbox; ${NO_SCRIPT}`);
        expect(shown.header("x-content-type-options")).toBe("nosniff");
      }
    }
  });

  it("needs the permission to read, and emits the events of a download", async () => {
    const events: FileEvent[] = [];
    const account = { username: "alice", password: "secret", home_folder_path: "/alice" };
    const permissions: AccountSettings["permissions"] = [["allow-full-control"], ["/b.png", "deny-full-control"]];
    const { call } = await createTestService({
      files: { "/alice/a.png": "x", "/alice/b.png": "x" },
      authentication: createAccountsAuthenticator({ accounts: [{ ...account, permissions }] }),
      onEvent: (event) => void events.push(event),
    });
    await call("HEAD", "/home/a.png");
    events.splice(0);
    await call("GET", "/home/a.png");
    const saved = events.splice(0).map(({ id }) => id);
    expect((await call("GET", "/home/a.png?inline")).status).toBe(200);
    expect(events.map(({ id }) => id)).toEqual(saved);
    expect((await call("GET", "/home/b.png?inline", { variant: "json" })).status).toBe(403);
    expect((await call("GET", "/home/a.png?inline", { as: null, variant: "json" })).status).toBe(401);
    expect((await call("GET", "/home/none.png?inline", { variant: "json" })).status).toBe(404);
    expect((await call("GET", "/home/?inline", { variant: "json", undescribed: "not of folders" })).status).toBe(200);
  });

  it("is sent by the service where others are redirected to a store: a page embeds nothing of another origin", async () => {
    const { call } = await createTestService({
      files: { "/alice/a.png": "x", "/alice/a.zip": "x" },
      offload: { type: "presigned", minBytes: 0, presign: async () => "https://store.example/a" },
    });
    expect((await call("GET", "/home/a.png", { variant: "json" })).status).toBe(307);
    expect((await call("GET", "/home/a.png?inline", { variant: "json" })).status).toBe(200);
  });
});
