import { describe, expect, it } from "vitest";
import {
  asksForResumption,
  findCreationProtocol,
  readInteropVersion,
  requireCompleteContent,
  toUploadMethod,
} from "../../../../src/http/uploads/protocol.ts";
import type { UploadProtocol } from "../../../../src/http/uploads/request-types.ts";
import { readUploadAccess, readUploadAppend } from "../../../../src/http/uploads/requests.ts";
import { errorOf, refusalOf, toRequest } from "./refusals.ts";

const TUS = { "Tus-Resumable": "1.0.0" };
const JSON_TYPE = "application/json";

describe("a request belongs to a protocol (R 2.1)", () => {
  it.each<
    [method: string, url: "file" | "folder", headers: Record<string, string>, expected: UploadProtocol | undefined]
  >([
    ["POST", "folder", TUS, "tus"],
    ["POST", "file", TUS, "tus"],
    ["POST", "folder", { "Tus-Resumable": "" }, "tus"],
    ["POST", "folder", { ...TUS, "Upload-Complete": "?0", "Content-Type": JSON_TYPE }, "tus"],
    ["PUT", "file", TUS, undefined],
    ["PUT", "file", { "Upload-Complete": "?1" }, "draft"],
    ["PUT", "file", { "Upload-Complete": "?0" }, "draft"],
    ["PUT", "file", { "Upload-Complete": "?1", "Content-Type": JSON_TYPE }, "draft"],
    ["POST", "file", { "Upload-Complete": "?1", "Content-Type": JSON_TYPE }, "draft"],
    ["POST", "folder", { "Upload-Complete": "?1", "Content-Type": "text/plain" }, "draft"],
    ["PUT", "folder", { "Upload-Complete": "?0" }, undefined],
    ["GET", "file", { ...TUS, "Upload-Complete": "?1" }, undefined],
    ["DELETE", "file", { ...TUS, "Upload-Complete": "?1" }, undefined],
    ["PUT", "file", {}, undefined],
    ["POST", "folder", {}, undefined],
  ])("%s to a %s with %j: %s", (method, url, headers, expected) => {
    expect(findCreationProtocol({ method, headers: new Headers(headers) }, url === "folder")).toBe(expected);
  });

  it.each([JSON_TYPE, "multipart/form-data; boundary=x", "application/x-www-form-urlencoded", "Application/JSON;a=b"])(
    "and %s with Upload-Complete: ?1 to a folder stays a command or a form",
    (type) => {
      const protocolOf = (complete: string) => {
        const headers = new Headers({ "Upload-Complete": complete, "Content-Type": type });
        return findCreationProtocol({ method: "POST", headers }, true);
      };
      expect([protocolOf("?1"), protocolOf("?0")]).toEqual([undefined, "draft"]);
    },
  );

  it.each(["?2", "1", "true", "", "?1, ?1"])("and Upload-Complete: %j is ignored (R 2.3)", (value) => {
    expect(findCreationProtocol({ method: "PUT", headers: new Headers({ "Upload-Complete": value }) }, false)).toBe(
      undefined,
    );
  });

  it.each([
    ["5", "draft"],
    ["6", "draft"],
    ["7", "draft"],
    ["8", "draft"],
    ["3", undefined],
    ["4", undefined],
    ["9", undefined],
    ["0", undefined],
    ["eight", "draft"],
    ["8, 8", "draft"],
  ])("and with version %s of the draft it is %s (R 4.1)", (version, expected) => {
    const headers = new Headers({ "Upload-Complete": "?1", "Upload-Draft-Interop-Version": version });
    expect(findCreationProtocol({ method: "PUT", headers }, false)).toBe(expected);
    const isKnown = ["5", "6", "7", "8"].includes(version);
    expect(readInteropVersion(headers)).toBe(isKnown ? Number(version) : undefined);
  });
});

describe("the version of tus (R 3.12)", () => {
  it.each(["0.2.2", "1.0", "1.0.0, 1.0.0", "", "2.0.0"])("is not %j: 412 names the one that is", async (version) => {
    const headers = { "Tus-Resumable": version, "Content-Type": "text/plain" };
    for (const read of [readUploadAppend, readUploadAccess]) {
      const error = await errorOf(() => read(toRequest("PATCH", headers)));
      expect([error?.code, error?.failure]).toEqual(["upload-version-unsupported", "precondition-failed"]);
      expect(error?.headers).toEqual({ "Tus-Version": "1.0.0" });
    }
  });

  it("is required with content of tus, and of no other request to an upload", async () => {
    const type = { "Content-Type": "application/offset+octet-stream; a=b" };
    expect(await refusalOf(() => readUploadAppend(toRequest("PATCH", type)))).toBe("412 upload-version-unsupported");
    expect(readUploadAccess(toRequest("DELETE", type)).protocol).toBe("draft");
    expect(readUploadAccess(toRequest("HEAD", { "Upload-Draft-Interop-Version": "6" }))).toEqual({
      protocol: "draft",
      interop: 6,
    });
    expect(readUploadAccess(toRequest("HEAD", TUS))).toEqual({ protocol: "tus" });
  });
});

describe("X-HTTP-Method-Override (R 2.4)", () => {
  const methodOf = (method: string, headers: HeadersInit) => toUploadMethod({ method, headers: new Headers(headers) });

  it.each(["PATCH", "DELETE", "HEAD"])("stands for %s in a POST of tus", (value) => {
    expect(methodOf("POST", { ...TUS, "X-HTTP-Method-Override": value })).toBe(value);
  });

  it.each(["patch", "PUT", "POST", "GET", "", "PATCH, PATCH"])("is 400 with %j", async (value) => {
    const headers = { ...TUS, "X-HTTP-Method-Override": value };
    expect(await refusalOf(() => methodOf("POST", headers))).toBe("400 upload-method-override-invalid");
  });

  it("has no meaning in any other request", () => {
    expect(methodOf("POST", { "X-HTTP-Method-Override": "DELETE" })).toBe("POST");
    expect(methodOf("HEAD", { ...TUS, "X-HTTP-Method-Override": "DELETE" })).toBe("HEAD");
    expect(methodOf("POST", TUS)).toBe("POST");
  });
});

describe("conditions on an upload (R 5.3, 14.1)", () => {
  it.each(["If-Match", "If-None-Match", "If-Unmodified-Since", "If"])("are 400: %s", async (name) => {
    for (const [read, headers] of [
      [readUploadAccess, TUS],
      [readUploadAppend, { ...TUS, "Content-Type": "application/offset+octet-stream", "Upload-Offset": "0" }],
      [
        readUploadAppend,
        { "Content-Type": "application/partial-upload", "Upload-Offset": "0", "Upload-Complete": "?1" },
      ],
    ] as const) {
      const error = await errorOf(() => read(toRequest("PATCH", { ...headers, [name]: "*" })));
      expect([error?.code, error?.values]).toEqual(["upload-condition-unexpected", { header: name }]);
    }
  });
});

describe("an upload that can be resumed is made for a complete PUT (R 4.2)", () => {
  const asks = (headers: Record<string, string>) =>
    asksForResumption(
      new Headers({ "Upload-Complete": "?1", "Upload-Draft-Interop-Version": "8", ...headers } as HeadersInit),
    );

  it.each([
    {},
    { "Content-Length": "1048576" },
    { "Upload-Length": "2000000" },
    { "Upload-Draft-Interop-Version": "5" },
  ])("with %j", (headers) => {
    expect(asks(headers as Record<string, string>)).toBe(true);
  });

  it.each([
    { "Content-Length": "1048575" },
    { "Content-Length": "0" },
    { "Content-Length": "many" },
    { "Upload-Length": "5" },
    { "Upload-Complete": "?0" },
    { "Upload-Complete": "yes" },
    { "Upload-Draft-Interop-Version": "4" },
    { "Upload-Draft-Interop-Version": "9" },
    { "Upload-Draft-Interop-Version": "none" },
  ])("but not with %j", (headers) => {
    expect(asks(headers as Record<string, string>)).toBe(false);
  });
});

it("a part of a file is no plain request (R 1.6)", async () => {
  const require = (value: string) => requireCompleteContent(new Headers({ "Upload-Complete": value }));
  expect(await refusalOf(() => require("?0"))).toBe("501 upload-unsupported");
  for (const value of ["?1", "0", ""]) expect(await refusalOf(() => require(value))).toBeUndefined();
});
