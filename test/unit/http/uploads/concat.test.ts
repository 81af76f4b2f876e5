import { describe, expect, it } from "vitest";
import { readConcat } from "../../../../src/http/uploads/concat.ts";
import { refusalOf, toRequest } from "./refusals.ts";

const concatOf = (value: string) => readConcat(toRequest("POST", { "Upload-Concat": value }));

describe("Upload-Concat (R 3.13)", () => {
  it("may be absent, or partial", () => {
    expect(readConcat(toRequest("POST", {}))).toBeUndefined();
    expect(concatOf("partial")).toEqual({ kind: "partial" });
  });

  it.each<[value: string, paths: readonly string[]]>([
    ["final;/home/__svc__/uploads/a", ["/home/__svc__/uploads/a"]],
    ["final;/a /b /a", ["/a", "/b", "/a"]],
    ["final;https://other.example:8443/a?x=1#y http://files.example", ["/a", "/"]],
    ["final;a ../b ?c //host/d", ["/home/folder/a", "/home/b", "/home/folder/", "/d"]],
    ["final;/%2e%2e/a%2Fb", ["/a%2Fb"]],
  ])("%s names paths", (value, paths) => {
    expect(concatOf(value)).toEqual({ kind: "final", value, paths });
  });

  it.each([
    "",
    "Partial",
    "partial;",
    "partial, partial",
    "final",
    "final;",
    "final; /a",
    "final;/a  /b",
    "final:/a",
    "final;http://",
  ])("is not %j", async (value) => {
    expect(await refusalOf(() => concatOf(value))).toBe("400 upload-concat-invalid");
  });

  it("joins at most a thousand uploads", async () => {
    const paths = Array.from({ length: 1000 }, (_, index) => `/${index}`);
    expect(concatOf(`final;${paths.join(" ")}`)).toMatchObject({ paths });
    expect(await refusalOf(() => concatOf(`final;${paths.join(" ")} /x`))).toBe("400 upload-concat-invalid");
  });
});
