import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { parse } from "yaml";
import { toOperations } from "../../../src/openapi/shared-responses.ts";
import type { OpenApiDocument, OperationObject } from "../../../src/openapi/types.ts";
import { FORM_ACTIONS } from "../../../src/uploads/form.ts";
import { projectFolder } from "../../support/built.ts";
import { type CallOptions, createTestService, type TestServiceOptions } from "../../support/service.ts";

const ANYBODY: CallOptions = { as: null };

async function describeService(options: TestServiceOptions = {}, own: CallOptions = {}): Promise<OpenApiDocument> {
  const { call } = await createTestService(options);
  const answer = await call("GET", `${options.basePath ?? ""}/__svc__/openapi.json`, { ...ANYBODY, ...own });
  expect([answer.status, answer.header("content-type")]).toEqual([200, "application/json; charset=utf-8"]);
  return answer.json();
}

const schemaOf = (document: OpenApiDocument, name: string): string => JSON.stringify(document.components.schemas[name]);

describe("GET of the OpenAPI description", () => {
  it("is YAML of version 3.0.3 at both of its places, for anybody (1.3, 9, CONTRACT 2.9)", async () => {
    const { call } = await createTestService();
    const [one, other] = await Promise.all(
      ["/____svc__/openapi.yaml", "/__svc__/openapi.yaml"].map((path) => call("GET", path, ANYBODY)),
    );
    expect([one?.status, one?.header("content-type")]).toEqual([200, "application/yaml; charset=utf-8"]);
    expect(other?.text).toBe(one?.text);
    expect(parse(one?.text ?? "")).toMatchObject({ openapi: "3.0.3" });
  });

  it("says the same as JSON", async () => {
    const { call } = await createTestService();
    const yaml = await call("GET", "/__svc__/openapi.yaml", ANYBODY);
    expect(parse(yaml.text)).toEqual(await describeService());
  });

  it("has the header fields alone by HEAD, and no other method", async () => {
    const { call } = await createTestService();
    const head = await call("HEAD", "/____svc__/openapi.yaml", ANYBODY);
    expect([head.status, head.text]).toEqual([200, ""]);
    const put = await call("PUT", "/__svc__/openapi.json", { ...ANYBODY, body: "{}" });
    expect([put.status, put.header("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
  });

  it("takes nothing else below its first name for the service's own (CONTRACT 2.7)", async () => {
    const { call, service, request } = await createTestService();
    for (const path of ["/____svc__/", "/____svc__/openapi.json", "/____svc__/login", "/____svc__/openapi.yaml/"]) {
      expect([path, (await call("GET", path, ANYBODY)).status, service.handles(request("GET", path))]).toEqual([
        path,
        404,
        false,
      ]);
    }
    expect(service.handles(request("GET", "/____svc__/openapi.yaml"))).toBe(true);
  });

  it("names the methods that OpenAPI has no place for, where the service has them", async () => {
    const all = "PROPFIND, PROPPATCH, COPY, MOVE, LOCK, UNLOCK";
    expect(JSON.stringify(await describeService({ webdav: {} }))).toContain(all);
    expect(JSON.stringify(await describeService())).not.toContain(all);
  });

  it("says the same to readers of YAML 1.1, whatever triggers are called", async () => {
    const names = ["on", "off", "yes", "no", "1_000", "0b1", "2018-11-13", "true", "1e3"];
    const { call } = await createTestService({ triggers: Object.fromEntries(names.map((name) => [name, {}])) });
    const { text } = await call("GET", "/__svc__/openapi.yaml", ANYBODY);
    expect(parse(text, { version: "1.1" })).toEqual(parse(text));
    expect(text).toContain("- 'on'");
  });

  it("is made once, whoever asks and however often", async () => {
    const { call } = await createTestService();
    const answers = await Promise.all(Array.from({ length: 5 }, () => call("GET", "/__svc__/openapi.yaml", ANYBODY)));
    expect(new Set(answers.map(({ text }) => text)).size).toBe(1);
  });
});

describe("the OpenAPI description", () => {
  it("has every method of every URL, with a name of its own each (9)", async () => {
    const { paths } = await describeService();
    expect(Object.fromEntries(Object.entries(paths).map(([path, item]) => [path, Object.keys(item)]))).toEqual({
      "/": ["get", "head", "put", "post", "delete", "options", "x-additionalOperations"],
      "/home": ["get", "head", "put", "post", "delete", "options", "x-additionalOperations"],
      "/home/{path}": ["get", "head", "put", "post", "delete", "options", "x-additionalOperations"],
      "/home/": ["get", "head", "put", "post", "delete", "options", "x-additionalOperations"],
      "/home/{folder}/": ["get", "head", "put", "post", "delete", "options", "x-additionalOperations"],
      "/__svc__/assets/{name}": ["get", "head", "options"],
      "/__svc__/health": ["get", "head", "options"],
      "/__svc__/login": ["get", "head", "post", "options"],
      "/__svc__/logout": ["post", "options"],
      "/home/__svc__/password-update": ["get", "head", "post", "options"],
      "/home/__svc__/account": ["get", "head", "options"],
      "/home/__svc__/uploads/": ["get", "head", "options"],
      "/home/__svc__/uploads/{id}": ["head", "post", "patch", "delete", "options"],
      "/__svc__/openapi.yaml": ["get", "head", "options"],
      "/____svc__/openapi.yaml": ["get", "head", "options"],
      "/__svc__/openapi.json": ["get", "head", "options"],
    });
    const ids = JSON.stringify(paths).match(/"operationId":"[^"]+"/g) ?? [];
    expect(ids.length).toBeGreaterThan(50);
    expect(new Set(ids).size).toBe(ids.length);
    expect(paths["/__svc__/openapi.json"]?.get).toMatchObject({ operationId: expect.stringMatching(/^getOpenApi/) });
  });

  it("names the service and the path below which it stands", async () => {
    const document = await describeService({ basePath: "/files/here", branding: { name: "Archive of ours" } });
    expect(document.info.title).toBe("Archive of ours");
    expect(document.servers).toEqual([{ url: "/files/here" }]);
    expect((await describeService()).servers).toEqual([{ url: "/" }]);
  });

  it("has the license of the package, and says what it is of", async () => {
    const { license } = JSON.parse(await readFile(join(projectFolder, "package.json"), "utf8"));
    expect((await describeService()).info.license).toEqual({
      name: `${license}, for this document and the server software`,
      url: "https://www.apache.org/licenses/LICENSE-2.0",
    });
  });

  it("says of every operation that others may answer before the service does", async () => {
    const { paths } = await describeService();
    const responses = Object.values(paths)
      .flatMap(toOperations)
      .map((operation) => Object.keys(operation.responses));
    expect(responses.length).toBeGreaterThan(50);
    expect(responses.filter((statuses) => !statuses.includes("4XX") || !statuses.includes("default"))).toEqual([]);
  });

  it("has the fields of forms that are read, with an example of each text", async () => {
    const { paths } = await describeService({ basePath: "/files" });
    const formOf = (path: string, type: string) => {
      const operation = paths[path]?.post as OperationObject | undefined;
      return operation?.requestBody?.content[type]?.schema;
    };
    expect(formOf("/home/{folder}/", "multipart/form-data")?.properties).toEqual({
      action: { type: "string", enum: FORM_ACTIONS },
      "new-folder": { type: "string", example: "example" },
      "upload-file": { type: "array", items: { type: "string", format: "binary" }, example: [] },
      file: { type: "array", items: { type: "string", format: "binary" }, example: [] },
      "selected-members": { type: "array", items: { type: "string" }, example: [] },
      "download-list": { type: "array", items: { type: "string" }, example: [] },
      "new-name": { type: "string", example: "example" },
      destination: { type: "string", example: "example" },
    });
    expect(formOf("/__svc__/login", "application/x-www-form-urlencoded")).toMatchObject({
      properties: { username: { example: "maria" }, return: { type: "string", example: "/files/home/" } },
      required: ["username", "password"],
    });
    const update = formOf("/home/__svc__/password-update", "application/x-www-form-urlencoded");
    expect(update).toMatchObject({ additionalProperties: false, required: ["current_password", "new_password"] });
  });

  it("names the header of metadata where there is one, and its keys", async () => {
    const { paths, components } = await describeService({
      metadataFields: "X-Labels required\ntag required\nproject-* optional",
    });
    expect(components.parameters.metadata).toMatchObject({ name: "X-Labels", in: "header", required: true });
    expect(components.parameters.metadata?.description).toContain("`tag` (required), `project-*` (optional)");
    expect(components.parameters.formMetadata?.required).toBeUndefined();
    expect(JSON.stringify(paths["/home/{path}"]?.put)).toContain("#/components/parameters/metadata");
    expect(Object.keys((await describeService()).components.parameters)).not.toContain("metadata");
  });

  it("has sessions among the challenges where they are announced (CONTRACT 6.2)", async () => {
    const challengesOf = async (announce: boolean) =>
      (await describeService({ session: { announce } })).components.headers["WWW-Authenticate"]?.description;
    expect(await challengesOf(true)).toContain("`session`");
    expect(await challengesOf(false)).not.toContain("`session`");
  });

  it("names the triggers among commands and actions", async () => {
    const document = await describeService({ triggers: { approve: { label: "Approve" }, reject: {} } });
    expect(schemaOf(document, "CommandsRequest")).toContain('"enum":["approve","reject"]');
    expect(JSON.stringify(document.paths["/home/"]?.post)).toContain('"copy-members","approve","reject"]');
    expect(schemaOf(await describeService(), "CommandsRequest")).not.toContain("approve");
  });

  it.each([
    ["rest", ["/__svc__/login", "/__svc__/logout"], "text/html"],
    ["webdav", [], "text/html"],
    ["browser", ["/__svc__/login", "/__svc__/assets/{name}"], "CommandErrors"],
  ] as const)("is of the %s API alone where that is mounted alone", async (api, has, lacks) => {
    const { paths } = await describeService({}, { api });
    expect(Object.keys(paths)).toEqual(expect.arrayContaining([...has, "/home/{path}", "/__svc__/openapi.json"]));
    expect(Object.keys(paths).includes("/__svc__/logout")).toBe(api !== "webdav");
    expect(JSON.stringify(paths)).not.toContain(lacks);
    expect(Object.hasOwn(paths["/home/{folder}/"]?.["x-additionalOperations"] ?? {}, "MKCOL")).toBe(api === "webdav");
  });

  it("tells of no secret and of nothing inside", async () => {
    const document = JSON.stringify(await describeService({ groups: { staff: { home_folder_path: "/inside" } } }));
    for (const inside of ["alice", "toor", "hunter2", "/inside", "staff"]) {
      expect(document).not.toContain(inside);
    }
  });
});
