import { beforeAll, describe, expect, it } from "vitest";
import { FORM_TYPE, formOf } from "../support/forms.ts";
import { createApiCheck } from "../support/openapi/api-check.ts";
import type { ApiDocument } from "../support/openapi/document.ts";
import { toFields } from "../support/openapi/exchange.ts";
import { type CallOptions, createTestService, type TestService } from "../support/service.ts";

/** A part of the document that is changed by a test. */
type Part = Record<string, unknown>;

let test: TestService;
let text: string;

beforeAll(async () => {
  test = await createTestService({ files: { "/alice/f/a.txt": "content" } });
  text = (await test.call("GET", "/__svc__/openapi.json", { as: null })).text;
});

/** What a mutation changes: the document, or an answer on its way. */
interface Mutation {
  readonly document?: (document: Part) => void;
  readonly answer?: (response: Response) => Promise<Response>;
}

/** A part of a document by the names on the way to it; references are followed. */
function at(document: Part, ...names: readonly string[]): Part {
  return names.reduce<Part>((part, name) => {
    const next = part[name] as Part;
    if (typeof next?.$ref !== "string") return next;
    return at(document, ...next.$ref.slice(2).split("/"));
  }, document);
}

const URLENCODED = "application/x-www-form-urlencoded";
const LOGIN = "username=alice&password=secret&return=%2Fhome%2Ff%2F";
const UPLOAD = formOf(["action", "upload-file"], ["upload-file", "a.txt", "content"]);

const ASKED: readonly (readonly [method: string, target: string, options?: CallOptions])[] = [
  ["GET", "/home/f/"],
  ["DELETE", "/home/f/none.txt"],
  ["GET", "/__svc__/extra"],
  ["GET", "/home/f/a.txt", { headers: { range: "bytes=0-1" } }],
  ["DELETE", "/home/f/a.txt", { as: null }],
  ["POST", "/home/f/", { headers: { "content-type": FORM_TYPE }, body: UPLOAD }],
  ["POST", "/__svc__/login", { as: null, variant: "html", headers: { "content-type": URLENCODED }, body: LOGIN }],
];

/**
 * A listing, its folder and changes of it, and a login, compared with the document; what is found, and what is left
 * unseen.
 */
async function play({ document: mutate, answer: change }: Mutation = {}) {
  const document = JSON.parse(text) as Part;
  mutate?.(document);
  const { check, unseen } = createApiCheck(document as unknown as ApiDocument);
  const problems: string[] = [];
  for (const [method, target, options] of ASKED) {
    const request = test.request(method, target, { variant: "json", ...options });
    const answered = await test.service.fetch(request);
    const response = method === "GET" && change !== undefined ? await change(answered) : answered;
    const fields = toFields(response.headers);
    const body = new Uint8Array(await response.arrayBuffer());
    const requestFields = toFields(request.headers);
    const requestBody = options?.body === undefined ? undefined : Buffer.from(options.body as string | Uint8Array);
    problems.push(...check({ method, target, requestFields, requestBody, status: response.status, fields, body }));
  }
  return { problems, unseen: unseen() };
}

/** An answer with another status, body or header. */
async function remade(
  response: Response,
  change: { status?: number; text?: string; header?: string },
): Promise<Response> {
  if (response.status !== 200) return response;
  const headers = new Headers([...response.headers]);
  if (change.header !== undefined) headers.set(change.header, "x");
  return new Response(change.text ?? (await response.text()), { status: change.status ?? response.status, headers });
}

describe("the comparison of the service and its description", () => {
  it("finds nothing where both are as they are", async () => {
    expect((await play()).problems).toEqual([]);
  });

  it("finds a status that is gone from the document", async () => {
    const document = (all: Part) => delete at(all, "paths", "/home/{path}", "delete", "responses")["404"];
    expect((await play({ document })).problems).toEqual([
      "DELETE /home/f/none.txt -> the status 404 is not documented",
    ]);
  });

  it("finds a status that only stands there for what others answer", async () => {
    const document = (all: Part) => {
      const responses = at(all, "paths", "/home/{path}", "delete", "responses");
      expect(Object.keys(responses)).toEqual(expect.arrayContaining(["4XX", "default"]));
      for (const status of ["204", "404", "401"]) delete responses[status];
    };
    expect((await play({ document })).problems).toEqual([
      "DELETE /home/f/none.txt -> the status 404 is not documented",
      "DELETE /home/f/a.txt -> the status 401 is not documented",
    ]);
  });

  it("finds a status that the service answers and the document does not have", async () => {
    const { problems } = await play({ answer: (response) => remade(response, { status: 203 }) });
    expect(problems).toEqual(["GET /home/f/ -> the status 203 is not documented"]);
  });

  it("finds a parameter that is gone from the document", async () => {
    const document = (all: Part) => {
      const read = at(all, "paths", "/home/{path}", "get");
      read.parameters = (read.parameters as { $ref: string }[]).filter(({ $ref }) => !$ref.endsWith("/range"));
    };
    expect((await play({ document })).problems).toEqual([
      "GET /home/f/a.txt -> the request: the header parameter range is not documented",
    ]);
  });

  it.each([
    ["/home/{folder}/", "multipart/form-data", "upload-file", "POST /home/f/"],
    ["/__svc__/login", URLENCODED, "return", "POST /__svc__/login"],
  ])("finds a field of the form at %s that is gone from the document", async (path, type, field, asked) => {
    const document = (all: Part) => {
      delete at(all, "paths", path, "post", "requestBody", "content", type, "schema", "properties")[field];
    };
    expect((await play({ document })).problems).toEqual([
      `${asked} -> the request: ${type}: the field ${field} is not documented`,
    ]);
  });

  it("finds a field of a form that the document alone has", async () => {
    const document = (all: Part) => {
      const form = at(all, "paths", "/__svc__/login", "post", "requestBody", "content", URLENCODED, "schema");
      (form.properties as Part).remember = { type: "string" };
    };
    expect((await play({ document })).unseen).toContain(`POST /__svc__/login: ${URLENCODED}: remember`);
  });

  it("finds a way to log in that is gone from the document, and all of them", async () => {
    const document = (security: unknown[]) => (all: Part) => {
      for (const method of ["get", "delete"]) at(all, "paths", "/home/{path}", method).security = security;
    };
    expect((await play({ document: document([{ session: [] }]) })).problems).toEqual([
      "GET /home/f/a.txt -> the request: it was served without any of the documented ways to log in",
    ]);
    expect((await play({ document: document([]) })).problems).toEqual([
      "DELETE /home/f/a.txt -> it wants a login, and none is documented",
    ]);
  });

  it("finds a status that nobody answers", async () => {
    const document = (all: Part) => {
      at(all, "paths", "/home/{folder}/", "get", "responses")["418"] = { description: "A teapot." };
    };
    expect((await play({ document })).unseen).toContain("GET /home/{folder}/ -> 418 without content");
  });

  it("finds a field that has another name in an answer", async () => {
    const answer = async (response: Response) => {
      const renamed = (await response.clone().text()).replace('"size"', '"bytes"');
      return remade(response, { text: renamed });
    };
    // What was found by a search is no answer either, and named as well.
    const { problems } = await play({ answer });
    expect(problems).toContain("GET /home/f/ -> 200: application/json: /content/0 must have required property 'size'");
    expect(problems).toContain(
      "GET /home/f/ -> 200: application/json: /content/0 must NOT have additional properties: bytes",
    );
  });

  it("finds a required field that the document alone has", async () => {
    const document = (all: Part) => {
      const entry = at(all, "components", "schemas", "Listing", "properties", "content", "items");
      (entry.properties as Part).owner = { type: "string" };
      (entry.required as string[]).push("owner");
    };
    const { problems, unseen } = await play({ document });
    expect(problems).toContain("GET /home/f/ -> 200: application/json: /content/0 must have required property 'owner'");
    expect(unseen).toContain("Listing: content[].owner");
  });

  it("finds a field that the document alone has, though it need not be there", async () => {
    const document = (all: Part) => {
      const entry = at(all, "components", "schemas", "Listing", "properties", "content", "items");
      (entry.properties as Part).owner = { type: "string" };
    };
    const { problems, unseen } = await play({ document });
    expect(problems).toEqual([]);
    expect(unseen.filter((key) => key.startsWith("Listing"))).toEqual(["Listing: content[].owner"]);
  });

  it("finds an operation that is gone from the document", async () => {
    const document = (all: Part) => delete at(all, "paths", "/home/{path}").delete;
    expect((await play({ document })).problems).toEqual([
      "DELETE /home/f/none.txt -> DELETE of /home/{path} is not documented, and answered 404",
      "DELETE /home/f/a.txt -> DELETE of /home/{path} is not documented, and answered 401",
    ]);
  });

  it("finds an operation that the document alone has", async () => {
    const document = (all: Part) => {
      at(all, "paths")["/__svc__/extra"] = { get: { responses: { 200: { description: "More." } } } };
    };
    const { problems, unseen } = await play({ document });
    expect(problems).toEqual(["GET /__svc__/extra -> the status 404 is not documented"]);
    expect(unseen).toContain("GET /__svc__/extra -> 200 without content");
  });

  it("finds a header that the document does not have, and one that the answer does not", async () => {
    const more = await play({ answer: (response) => remade(response, { header: "X-More" }) });
    expect(more.problems).toEqual(["GET /home/f/ -> 200: the header x-more is not documented"]);
    const document = (all: Part) => {
      const header = { required: true, schema: { type: "string" } };
      at(all, "paths", "/home/{folder}/", "get", "responses", "200", "headers")["X-More"] = header;
    };
    expect((await play({ document })).problems).toEqual([
      "GET /home/f/ -> 200: the header x-more is required, and not there",
    ]);
  });
});
