import { describe, expect, it } from "vitest";
import { HttpError } from "../../src/http/http-error.ts";
import { type CallOptions, createTestService, variants } from "../support/service.ts";

const files = { "/alice/folder/a.txt": "a", "/alice/a.txt": "top" };
const json = { "content-type": "application/json" };
const elsewhere = { origin: "https://evil.example" };

const rows: readonly (readonly [code: string, method: string, path: string, options: CallOptions])[] = [
  ["not-found", "GET", "/home/missing", {}],
  ["already-exists", "MKCOL", "/home/folder/", {}],
  ["parent-missing", "PUT", "/home/no/x", { body: "x" }],
  ["not-a-file", "PUT", "/home/folder", { body: "x" }],
  ["precondition-failed", "PUT", "/home/a.txt", { body: "x", headers: { "if-none-match": "*" } }],
  ["name-reserved", "PUT", "/home/__svc__", { body: "x" }],
  ["cross-site", "PUT", "/home/x", { body: "x", headers: elsewhere }],
  ["url-malformed", "GET", "/home/a%2fb", {}],
  ["method-not-allowed", "POST", "/home/a.txt", {}],
  ["method-not-implemented", "PATCH", "/home/a.txt", {}],
  ["authorization-invalid", "PUT", "/home/x", { as: null, headers: { authorization: "Digest x" } }],
];

describe("the header Error-Code", () => {
  it.each(rows)("is %s for %s %s in every variant", async (code, method, path, options) => {
    const { call } = await createTestService({ files });
    for (const variant of variants) {
      const answer = await call(method, path, { ...options, variant });
      expect([variant, answer.header("error-code")]).toEqual([variant, code]);
      expect(answer.status).toBeGreaterThanOrEqual(400);
    }
  });

  it("is in no answer of success, and in no redirect", async () => {
    const { call } = await createTestService({ files });
    for (const [method, path] of [
      ["GET", "/home/"],
      ["PUT", "/home/new"],
      ["GET", "/home"],
      ["OPTIONS", "/home/"],
    ] as const) {
      const answer = await call(method, path);
      expect([path, answer.header("error-code")]).toEqual([path, null]);
    }
  });

  it("of several commands is the one that all failed with, or several", async () => {
    const { call } = await createTestService({ files });
    const run = async (...targets: readonly string[]) => {
      const commands = targets.map((target) => ({ command: "delete", target }));
      const answer = await call("POST", "/home/", { headers: json, body: JSON.stringify({ commands }) });
      return answer.header("error-code");
    };
    expect(await run("missing", "no")).toBe("not-found");
    expect(await run("missing", "a/b")).toBe("several");
  });

  it("of a refused upload is the code that the host has given, or upload-refused", async () => {
    const refusals: readonly [code: string, refuse: () => string | undefined][] = [
      ["upload-refused", () => "Not today."],
      [
        "upload-refused",
        () => {
          throw new HttpError("unauthorized", "Not today.");
        },
      ],
      [
        "virus-found",
        () => {
          throw new HttpError("denied", "A virus.", {}, { code: "virus-found" });
        },
      ],
    ];
    for (const [code, beforeCommit] of refusals) {
      const { call } = await createTestService({ files, beforeCommit });
      const answer = await call("PUT", "/home/x", { body: "x" });
      expect([answer.status, answer.header("error-code")]).toEqual([422, code]);
    }
  });

  it("of a trigger is the code that the host has given, or trigger-refused", async () => {
    const triggers = {
      plain: {
        run: () => {
          throw new HttpError("denied", "No.");
        },
      },
      own: {
        run: () => {
          throw new HttpError("denied", "No.", {}, { code: "out-of-stock" });
        },
      },
      broken: {
        run: () => {
          throw new Error("secret");
        },
      },
    };
    const { call } = await createTestService({ files, triggers });
    const codes = ["plain", "own", "broken"].map(async (command) => {
      const body = JSON.stringify({ commands: [{ command, target: "a.txt" }] });
      return (await call("POST", "/home/", { headers: json, body })).header("error-code");
    });
    expect(await Promise.all(codes)).toEqual(["trigger-refused", "out-of-stock", "internal"]);
  });

  it("translates an error of the host on a page, by the host's code", async () => {
    const languages = { fr: { failures: { "virus-found": "Virus : {name}." } } };
    const beforeCommit = () => {
      throw new HttpError("denied", "A virus: x.", {}, { code: "virus-found", values: { name: "x" } });
    };
    const { call } = await createTestService({ files, beforeCommit, languages });
    const answer = await call("PUT", "/home/x", { variant: "html", headers: { "accept-language": "fr" }, body: "x" });
    expect(answer.text).toContain("Virus : x.");
  });
});

describe("the messages of errors in JSON", () => {
  const german = { accept: "application/json", "accept-language": "de" };
  const script = { ...german, "x-messages": "translated" };
  const again = { commands: [{ command: "create-folder", target: "folder" }] };

  it("are English, and in the language of the page for its script", async () => {
    const languages = { de: { failures: { "not-found": "Gibt es nicht." } } };
    const { call } = await createTestService({ files, languages });
    const messageOf = async (headers: Readonly<Record<string, string>>, method: string, path: string) => {
      const sent = method === "POST" ? { headers: { ...headers, ...json }, body: JSON.stringify(again) } : { headers };
      const { errors } = (await call(method, path, sent)).json<{ errors: readonly { message: string }[] }>();
      return errors.map(({ message }) => message);
    };
    expect(await messageOf(german, "POST", "/home/")).toEqual(["A file or folder with that name already exists."]);
    expect(await messageOf(script, "POST", "/home/")).toEqual([
      "Eine Datei oder ein Ordner mit diesem Namen ist bereits vorhanden.",
    ]);
    expect(await messageOf(german, "GET", "/home/missing")).toEqual(["Not found."]);
    expect(await messageOf(script, "GET", "/home/missing")).toEqual(["Gibt es nicht."]);
  });

  it("vary with the language for the script, if there can be one", async () => {
    const { call } = await createTestService({ files });
    const varyOf = async (method: string, headers: Readonly<Record<string, string>>) =>
      (await call(method, "/home/missing", { headers })).header("vary");
    expect(await varyOf("GET", script)).toContain("Accept-Language");
    expect(await varyOf("GET", german)).not.toContain("Accept-Language");
    expect(await varyOf("OPTIONS", script)).not.toContain("Accept-Language");
  });
});
