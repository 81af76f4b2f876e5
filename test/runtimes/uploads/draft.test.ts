import { describe, expect, it } from "vitest";
import { CUTS, FILE_BYTES, openBrokenLink } from "../../support/links/broken-link.ts";
import { AUTHORIZATION } from "../../support/served.ts";
import { uploadByDraft } from "./draft-client.ts";

describe("a client of the draft over a link that is cut", () => {
  it.each(["8", "7", "6", "5"])("uploads with version %s, told of the URL by a 104 (R 4.1, 4.2)", async (interop) => {
    const link = await openBrokenLink();
    const upload = await uploadByDraft({
      url: `${link.proxy.origin}/home/content.bin`,
      file: link.file,
      size: FILE_BYTES,
      authorization: AUTHORIZATION,
      interop,
    });
    expect(upload).toMatchObject({ status: 201, headers: { "upload-complete": "?1", etag: expect.any(String) } });
    expect(upload.location).toMatch(/\/home\/__svc__\/uploads\/[0-9a-f]{32}$/);
    expect(upload.offsets).toHaveLength(CUTS);
    expect(upload.offsets).toEqual(upload.offsets.toSorted((one, other) => one - other));
    expect(upload.offsets.at(-1)).toBeGreaterThan(0);
    await link.expectArrived("content.bin", `a client of the draft, version ${interop}`);
  });
});
