import { describe, expect, it } from "vitest";
import { createError } from "../../../../src/http/errors.ts";
import { HttpError } from "../../../../src/http/http-error.ts";
import {
  RESUMPTION_STATUS,
  toResumptionFields,
  toUploadExpires,
  toUploadFeatureFields,
  toUploadLimit,
} from "../../../../src/http/uploads/fields.ts";
import { PROBLEM_MEDIA_TYPE, toUploadProblemBody } from "../../../../src/http/uploads/problems.ts";

describe("Upload-Limit (R 4.6)", () => {
  it("has the limits that there are", () => {
    expect(toUploadLimit({ maxBytes: 100, maxAppendBytes: 10, secondsLeft: 60 })).toBe(
      "max-size=100, max-append-size=10, max-age=60",
    );
    expect(toUploadLimit({ secondsLeft: 59.9 }, 8)).toBe("max-age=59");
    expect(toUploadLimit({ secondsLeft: -5 }, 7)).toBe("max-age=0");
    expect(toUploadLimit({ maxBytes: Number.MAX_SAFE_INTEGER })).toBe("max-size=999999999999999");
  });

  it("says so if there is none", () => {
    expect(toUploadLimit({})).toBe("min-size=0");
    expect(toUploadLimit({ maxBytes: undefined, maxAppendBytes: undefined })).toBe("min-size=0");
  });

  it("had another name for the age until version 6", () => {
    for (const version of [5, 6] as const) expect(toUploadLimit({ secondsLeft: 60 }, version)).toBe("expires=60");
  });
});

it("Upload-Expires is a date of HTTP", () => {
  expect(toUploadExpires(new Date(Date.UTC(2014, 5, 25, 16)))).toBe("Wed, 25 Jun 2014 16:00:00 GMT");
});

describe("the features that clients find out about (R 10.1, 3.1)", () => {
  it("are those of a service with all of them", () => {
    expect(toUploadFeatureFields({ canJoin: true, maxBytes: 100, maxAppendBytes: 10 })).toEqual({
      "Tus-Resumable": "1.0.0",
      "Tus-Version": "1.0.0",
      "Tus-Extension":
        "creation,creation-with-upload,creation-defer-length,termination,expiration,checksum,concatenation",
      "Tus-Max-Size": "100",
      "Tus-Checksum-Algorithm": "sha1,sha256,sha512,md5",
      "Accept-Patch": "application/partial-upload",
      "Upload-Limit": "max-size=100, max-append-size=10",
    });
  });

  it("are fewer without limits, joining and digests", () => {
    expect(toUploadFeatureFields({ canJoin: false }, [])).toEqual({
      "Tus-Resumable": "1.0.0",
      "Tus-Version": "1.0.0",
      "Tus-Extension": "creation,creation-with-upload,creation-defer-length,termination,expiration",
      "Tus-Max-Size": undefined,
      "Tus-Checksum-Algorithm": undefined,
      "Accept-Patch": "application/partial-upload",
      "Upload-Limit": "min-size=0",
    });
  });
});

it("an interim response names the upload, its limits and the client's version (R 4.1, 4.2)", () => {
  expect(RESUMPTION_STATUS).toBe(104);
  expect(toResumptionFields("/u", { secondsLeft: 60 }, 6)).toEqual({
    Location: "/u",
    "Upload-Limit": "expires=60",
    "Upload-Draft-Interop-Version": "6",
  });
  expect(toResumptionFields("/u", {}, undefined)).toEqual({ Location: "/u", "Upload-Limit": "min-size=0" });
});

describe("the body of a problem (R 4.9)", () => {
  const TYPES = "https://iana.org/assignments/http-problem-types#";

  it("tells the offsets", () => {
    const values = { expected: 12_500_000, provided: 25_000_000 };
    const error = new HttpError("offset-mismatch", "Another offset.", {}, { code: "upload-offset-mismatch", values });
    expect(toUploadProblemBody(error)).toEqual({
      type: `${TYPES}mismatching-upload-offset`,
      title: "offset from request does not match offset of resource",
      "expected-offset": 12_500_000,
      "provided-offset": 25_000_000,
      errors: [{ message: "Another offset." }],
    });
    const unknown = new HttpError("offset-mismatch", "Another offset.", {}, { code: "upload-offset-mismatch" });
    expect(Object.keys(toUploadProblemBody(unknown) ?? {})).toEqual(["type", "title", "errors"]);
  });

  it("tells lengths from completed uploads", () => {
    expect(PROBLEM_MEDIA_TYPE).toBe("application/problem+json");
    expect(toUploadProblemBody(createError("upload-length-inconsistent"))).toMatchObject({
      type: `${TYPES}inconsistent-upload-length`,
      errors: [{ message: expect.stringMatching(/inconsistent/) }],
    });
    expect(toUploadProblemBody(createError("upload-completed"))).toMatchObject({ type: `${TYPES}completed-upload` });
    expect(toUploadProblemBody(createError("not-found"))).toBeUndefined();
  });
});
