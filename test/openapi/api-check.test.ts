import { describe, expect, it } from "vitest";
import { createApiCheck } from "../support/openapi/api-check.ts";
import type { ApiDocument } from "../support/openapi/document.ts";
import type { ApiExchange } from "../support/openapi/exchange.ts";

const URLENCODED = "application/x-www-form-urlencoded";
const text = { type: "string" };
const errors = {
  description: "x",
  content: { "application/json": { schema: { $ref: "#/components/schemas/Errors" } } },
};
const fixture = {
  openapi: "3.0.3",
  servers: [{ url: "/files" }],
  security: [{ basic: [] }, { cookie: [] }],
  paths: {
    "/home/{path}": {
      parameters: [{ name: "path", in: "path", required: true, schema: text }],
      get: {
        parameters: [
          { name: "Range", in: "header", schema: text },
          { name: "sort", in: "query", schema: { ...text, enum: ["name"] } },
        ],
        responses: {
          401: errors,
          200: {
            headers: { Server: { $ref: "#/components/headers/Server" }, Age: { schema: { type: "integer" } } },
            content: { "*/*": { schema: { ...text, format: "binary" } } },
          },
          404: errors,
          "4XX": { description: "x" },
          default: { description: "x" },
        },
      },
      head: { responses: { 200: { headers: { Server: { required: true, schema: text } } } } },
      "x-additionalOperations": { MKCOL: { responses: { 201: {} } } },
    },
    "/home/{folder}/": {
      post: {
        requestBody: {
          required: true,
          content: {
            "application/json": { schema: { $ref: "#/components/schemas/Commands" } },
            "multipart/form-data": {
              schema: {
                type: "object",
                required: ["action"],
                properties: { action: text, member: { type: "array", items: text } },
              },
            },
          },
        },
        responses: { 200: {}, 404: errors },
      },
    },
    "/__svc__/login": {
      post: {
        security: [],
        requestBody: { content: { [URLENCODED]: { schema: { type: "object", properties: { name: text } } } } },
        responses: { 200: {}, 302: {}, 400: {} },
      },
    },
    "/__svc__/openapi.json": { get: { security: [], responses: { 200: { content: { "application/json": {} } } } } },
  },
  components: {
    headers: { Server: { required: true, schema: text } },
    schemas: {
      Commands: {
        type: "object",
        required: ["commands"],
        additionalProperties: false,
        properties: {
          commands: {
            type: "array",
            items: {
              anyOf: [
                { type: "object", additionalProperties: false, properties: { delete: text } },
                {
                  type: "object",
                  additionalProperties: false,
                  properties: { weight: { type: "number", minimum: 0, exclusiveMinimum: true } },
                },
              ],
            },
          },
        },
      },
      Errors: {
        type: "object",
        required: ["errors"],
        additionalProperties: false,
        properties: {
          errors: { type: "array", items: { type: "object", properties: { message: { ...text, nullable: true } } } },
        },
      },
    },
    securitySchemes: {
      basic: { type: "http", scheme: "basic" },
      cookie: { type: "apiKey", in: "cookie", name: "SESSION" },
    },
  },
} as unknown as ApiDocument;

const basic = { authorization: "Basic YTpi" };
const served: ApiExchange = {
  method: "GET",
  target: "/files/home/a/b.txt",
  requestFields: basic,
  status: 200,
  fields: { server: "x", "content-type": "text/plain", date: "now" },
};
const missing = { ...served, status: 404, fields: { "content-type": "application/json; charset=utf-8" } };
const post = { ...served, method: "POST", target: "/files/home/a/", fields: {} };
const login = { ...post, target: "/files/__svc__/login" };

function problemsOf(exchange: Partial<ApiExchange>, of: ApiExchange = served): readonly string[] {
  const { method, target } = { ...of, ...exchange };
  const problems = createApiCheck(fixture, { vocabulary: ["X-Labels"] }).check({ ...of, ...exchange });
  return problems.map((problem) => problem.replace(`${method} ${target} -> `, ""));
}

function json(value: unknown): Uint8Array {
  return Buffer.from(JSON.stringify(value));
}

function asJson(value: unknown): Partial<ApiExchange> {
  return { requestFields: { ...basic, "content-type": "application/json" }, requestBody: json(value) };
}

describe("an answer compared with a document", () => {
  it("passes where all of it is documented", () => {
    expect(problemsOf({})).toEqual([]);
    expect(problemsOf({ body: json({ errors: [{ message: null }] }) }, missing)).toEqual([]);
  });

  it.each<[what: string, exchange: Partial<ApiExchange>, problem: string]>([
    ["of another status", { status: 206 }, "the status 206 is not documented"],
    ["with another header", { fields: { ...served.fields, etag: '"a"' } }, "200: the header etag is not documented"],
    ["without a header", { fields: { "content-type": "a/b" } }, "200: the header server is required, and not there"],
    [
      "with an odd header",
      { fields: { ...served.fields, age: "old" } },
      "200: the header age: the value must be integer",
    ],
    ["without content", { fields: { server: "x" } }, "200: there is no content where */* is documented"],
    ["of another method", { method: "PUT" }, "PUT of /home/{path} is not documented, and answered 200"],
    ["of another path", { target: "/files/__svc__/x" }, "the path is not documented, and answered 200"],
    ["of another place", { target: "/other/home/a" }, "it is outside of the service, and answered 200"],
    ["with content for HEAD", { method: "HEAD", body: json(1) }, "200: HEAD is answered with content"],
  ])("does not pass where it is %s", (_what, exchange, problem) => {
    expect(problemsOf(exchange)).toEqual([problem]);
  });

  it.each<[what: string, body: Uint8Array, problem: string]>([
    ["no JSON", Buffer.from("{"), "404: the content is no JSON"],
    ["lacks a member", json({}), "404: application/json: the value must have required property 'errors'"],
    [
      "has a member more",
      json({ errors: [], code: 1 }),
      "404: application/json: the value must NOT have additional properties: code",
    ],
    ["has a member of another type", json({ errors: 1 }), "404: application/json: /errors must be array"],
  ])("does not pass where its JSON %s", (_what, body, problem) => {
    expect(problemsOf({ body }, missing)).toEqual([problem]);
  });

  it("does not pass where it has another type", () => {
    expect(problemsOf({ fields: { "content-type": "text/html" } }, missing)).toEqual([
      "404: the type text/html is not documented",
    ]);
  });

  it("passes where a method that is not documented is refused, and a path that is not", () => {
    expect(problemsOf({ method: "PUT", status: 405 })).toEqual([]);
    expect(problemsOf({ method: "PATCH", status: 501 })).toEqual([]);
    expect(problemsOf({ target: "/files/__svc__/x", status: 404 })).toEqual([]);
    expect(problemsOf({ target: "/elsewhere", status: 404 })).toEqual([]);
    expect(problemsOf({ method: "MKCOL", status: 201, fields: {} })).toEqual([]);
  });
});

describe("a request compared with a document", () => {
  it("passes where all of it is documented", () => {
    const { requestFields, requestBody } = asJson({ commands: [{ delete: "a" }, { weight: 1 }] });
    expect(problemsOf({ requestFields: requestFields ?? {}, requestBody }, post)).toEqual([]);
    expect(problemsOf({ target: "/files/home/a?sort=name", requestFields: { cookie: "SESSION=a" } })).toEqual([]);
    expect(problemsOf({ target: "/files/__svc__/openapi.json", requestFields: {}, fields: missing.fields })).toEqual(
      [],
    );
  });

  it.each<[what: string, exchange: Partial<ApiExchange>, problem: string]>([
    ["a header", { requestFields: { ...basic, "if-match": "*" } }, "the header parameter if-match is not documented"],
    ["metadata", { requestFields: { ...basic, "x-labels": "a" } }, "the header parameter x-labels is not documented"],
    ["a query", { target: "/files/home/a?b=c" }, "the query parameter b is not documented"],
    [
      "a value",
      { target: "/files/home/a?sort=x" },
      "the query parameter sort: the value must be equal to one of the allowed values",
    ],
    [
      "a login",
      { requestFields: { authorization: "session 0" } },
      "it was served without any of the documented ways to log in",
    ],
    ["content", { requestBody: json(1) }, "there is content, which is not documented"],
  ])("does not pass where it was served with %s that is not documented", (_what, exchange, problem) => {
    expect(problemsOf(exchange)).toEqual([`the request: ${problem}`]);
  });

  it.each<[what: string, fields: Record<string, string>, isHeld: boolean]>([
    ["varies by them", { vary: "Accept, Accept-Language" }, true],
    ["has one, and forgets to say that it varies", { "content-language": "de" }, true],
    ["has none", {}, false],
  ])("is held to naming languages where its answer %s", (_what, more, isHeld) => {
    const requestFields = { ...basic, "accept-language": "de" };
    const problems = problemsOf({ requestFields, fields: { ...served.fields, ...more } });
    const problem = "the request: the header parameter accept-language is not documented";
    expect(problems.includes(problem)).toBe(isHeld);
  });

  it("may say that a script made it where that changes nothing: where no 401 is documented", () => {
    const more = { "x-requested-with": "XMLHttpRequest" };
    const problem = "the request: the header parameter x-requested-with is not documented";
    expect(problemsOf({ requestFields: { ...basic, ...more } })).toEqual([problem]);
    const { requestFields, requestBody } = asJson({ commands: [] });
    expect(problemsOf({ requestFields: { ...requestFields, ...more }, requestBody }, post)).toEqual([]);
  });

  it("does not pass where its JSON was taken, and is not valid", () => {
    expect(problemsOf(asJson({ commands: 1 }), post)).toEqual([
      "the request: application/json: /commands must be array",
    ]);
    expect(problemsOf(asJson({ commands: [{ weight: 0 }] }), post)).toContainEqual(
      expect.stringContaining("must be > 0"),
    );
    expect(problemsOf({ requestBody: json(1) }, post)).toEqual(["the request: the type of no name is not documented"]);
    expect(problemsOf({}, post)).toEqual(["the request: content is required, and not there"]);
  });

  it("does not pass where its form was taken, and is not valid", () => {
    const body = '--b\r\nContent-Disposition: form-data; name="member"\r\n\r\na\r\n--b--\r\n';
    const form = { requestFields: { ...basic, "content-type": "multipart/form-data; boundary=b" } };
    expect(problemsOf({ ...form, requestBody: Buffer.from(body) }, post)).toEqual([
      "the request: multipart/form-data: the value must have required property 'action'",
    ]);
  });

  it("does not pass where a field of its form was taken that is not documented", () => {
    const part = (name: string) => `--b\r\nContent-Disposition: form-data; name="${name}"\r\n\r\na\r\n`;
    const parts = { requestFields: { ...basic, "content-type": "multipart/form-data; boundary=b" } };
    const requestBody = Buffer.from(`${part("action")}${part("other")}--b--\r\n`);
    expect(problemsOf({ ...parts, requestBody }, post)).toEqual([
      "the request: multipart/form-data: the field other is not documented",
    ]);
    const texts = { requestFields: { "content-type": URLENCODED }, requestBody: Buffer.from("name=a&other=b") };
    const problem = `the request: ${URLENCODED}: the field other is not documented`;
    for (const status of [200, 302]) expect(problemsOf({ ...texts, status }, login)).toEqual([problem]);
    expect(problemsOf({ ...texts, status: 400 }, login)).toEqual([]);
  });

  it("is not looked at where it may have been refused for what is not documented", () => {
    const refused = { ...missing, requestFields: { "if-match": "*" }, target: "/files/home/a?b=c" };
    expect(problemsOf({}, refused)).toEqual([]);
  });

  it("does not pass with what is not documented where it was refused for who asks", () => {
    const refused = { ...missing, status: 401, requestFields: { "if-match": "*" }, target: "/files/home/a?b=c" };
    expect(problemsOf({}, refused)).toEqual([
      "the request: the header parameter if-match is not documented",
      "the request: the query parameter b is not documented",
    ]);
    expect(problemsOf({ requestFields: {}, target: "/files/home/a" }, refused)).toEqual([]);
  });
});

describe("what nobody has shown of a document", () => {
  it("is all of it at first", () => {
    expect(createApiCheck(fixture).unseen()).toEqual(
      expect.arrayContaining([
        "GET /home/{path}: header parameter range",
        "GET /home/{path}: query parameter sort",
        "GET /home/{path}: by basic",
        "GET /home/{path}: by cookie SESSION",
        "GET /home/{path} -> 200 */*",
        "GET /home/{path} -> 200: header age",
        "GET /home/{path} -> 404 application/json",
        "MKCOL /home/{path} -> 201 without content",
        "POST /home/{folder}/: multipart/form-data: action",
        "Commands: commands",
        "Commands: commands[].delete",
        "Commands: commands[].weight",
        "Errors: errors[].message",
      ]),
    );
  });

  it("is what is left by the exchanges", () => {
    const { check, unseen } = createApiCheck(fixture);
    expect(check({ ...served, requestFields: { ...basic, range: "bytes=0-" } })).toEqual([]);
    expect(check({ ...post, ...asJson({ commands: [{ delete: "a" }] }) })).toEqual([]);
    const left = unseen().filter((key) => /^(?:GET \/home\/|Commands)/.test(key));
    expect(left).toEqual([
      "GET /home/{path}: query parameter sort",
      "GET /home/{path}: by cookie SESSION",
      "GET /home/{path} -> 200: header age",
      "GET /home/{path} -> 401 application/json",
      "GET /home/{path} -> 404 application/json",
      "Commands: commands[].weight",
    ]);
  });
});
