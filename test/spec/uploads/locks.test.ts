import { describe, expect, it } from "vitest";
import { createUploadService, DRAFT_CONTENT, type UploadTestService } from "./calls.ts";

const LOCK =
  '<D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope><D:locktype><D:write/></D:locktype></D:lockinfo>';
const undescribed = "OpenAPI has no LOCK";

/** Locks a file; returns the token. */
async function lock({ call }: UploadTestService, target: string, as: "alice" | "root" = "alice"): Promise<string> {
  const headers = { "content-type": "application/xml" };
  const answer = await call("LOCK", target, { headers, body: LOCK, as, undescribed });
  const token = answer.header("lock-token");
  if (token === null) throw new Error(`No lock: ${answer.status} ${answer.text}`);
  return token;
}

const last = { "upload-offset": "0", "upload-complete": "?1", "content-type": DRAFT_CONTENT };

describe("uploads and locks of WebDAV clients", () => {
  it("need the token of a lock at creation, which is kept for the completion (R 14.1)", async () => {
    const service = await createUploadService({ webdav: {}, files: { "/alice/a": "old" } });
    const { tus, patch, stored } = service;
    const token = await lock(service, "/home/a");
    const headers = { "upload-length": "3" };
    const refused = await tus("POST", "/home/a", headers);
    expect([refused.status, refused.header("error-code")]).toEqual([423, "locked"]);
    const created = await tus("POST", "/home/a", { ...headers, if: `(${token})` }, { undescribed });
    expect(created.status).toBe(201);
    expect((await patch(created.header("location") ?? "", 0, "abc")).status).toBe(204);
    expect(await stored("/alice/a")).toBe("abc");
  });

  it("wait for a lock that somebody else took meanwhile: 423, and the upload stays (R 14.1)", async () => {
    const service = await createUploadService({ webdav: {}, files: { "/alice/a": "old" } });
    const { createByDraft, createByTus, draft, patch, call, stored, tus } = service;
    const url = await createByDraft("/home/a");
    const byTus = await createByTus("a", { "upload-length": "3" });
    const token = await lock(service, "/home/alice/a", "root");
    const refused = await draft("PATCH", url, last, { body: "abc" });
    expect([refused.status, refused.header("upload-complete")]).toEqual([423, "?0"]);
    expect((await patch(byTus, 0, "def")).status).toBe(423);
    const shown = await tus("HEAD", byTus);
    expect([shown.status, shown.header("upload-offset")]).toEqual([423, null]);
    expect(await stored("/alice/a")).toBe("old");
    await call("UNLOCK", "/home/alice/a", { headers: { "lock-token": token }, as: "root", undescribed });
    expect((await draft("PATCH", url, { ...last, "upload-offset": "3" })).status).toBe(201);
    expect(await stored("/alice/a")).toBe("abc");
    expect((await patch(byTus, 3, "")).status).toBe(204);
    expect(await stored("/alice/a")).toBe("def");
  });

  it("refuse `If` on the URL of an upload with 400 (R 14.1)", async () => {
    const { createByTus, tus } = await createUploadService({ webdav: {} });
    const url = await createByTus("a", { "upload-length": "3" });
    expect((await tus("HEAD", url, { if: "(<opaquelocktoken:x>)" }, { undescribed })).status).toBe(400);
  });
});
