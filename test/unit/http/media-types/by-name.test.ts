import fc from "fast-check";
import mime from "mime";
import otherTypes from "mime/types/other.js";
import standardTypes from "mime/types/standard.js";
import { describe, expect, it } from "vitest";
import { findMediaType, toContentType } from "../../../../src/http/media-types/by-name.ts";

const EXTENSIONS = [standardTypes, otherTypes].flatMap((table) =>
  Object.values(table).flatMap((extensions: readonly string[]) => extensions.map((each) => each.replace("*", ""))),
);

describe("the media type of a file by its name", () => {
  it.each([
    ["a.txt", "text/plain"],
    ["A.TXT", "text/plain"],
    ["a.tar.gz", "application/gzip"],
    ["folder.d/a.json", "application/json"],
    // `mime` takes a name without a dot for an extension, but not the last one of a path.
    ["txt", "text/plain"],
    [".txt", "text/plain"],
    ["folder/txt", undefined],
    ["folder/.txt", undefined],
    ["folder\\.txt", undefined],
    ["a.js", "text/javascript"],
    ["a.mp4", "video/mp4"],
    ["a", undefined],
    ["a.", undefined],
    ["", undefined],
    ["a.constructor", undefined],
  ])("of %j is %s", (name, type) => {
    expect(findMediaType(name)).toBe(type);
    expect(toContentType(name)).toBe(type ?? "application/octet-stream");
  });

  it("is that of mime for every extension that mime knows", () => {
    expect(EXTENSIONS.length).toBeGreaterThan(1000);
    expect(EXTENSIONS.map((each) => findMediaType(`a.${each}`))).toEqual(
      EXTENSIONS.map((each) => mime.getType(`a.${each}`)),
    );
  });

  it("is that of mime for every name", () => {
    const parts = fc.constantFrom("/", "\\", ".", "a", "\n", "txt", "TXT", "\u0130", "\u00e9");
    fc.assert(
      fc.property(
        fc.array(parts).map((each) => each.join("")),
        (name) => {
          expect(findMediaType(name) ?? null).toBe(mime.getType(name));
        },
      ),
    );
  });
});
