import { createServer, get, type IncomingMessage, type ServerResponse } from "node:http";
import { describe, expect, it } from "vitest";
import type { RequestHandler } from "../../../src/contracts/file-service.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import { exchange, listen, stubService } from "./setup.ts";

/** Sends a request to a server whose host sets fields before it calls the service. */
async function ask(hostFields: Readonly<Record<string, string | string[]>>, handler: RequestHandler) {
  const listener = toNodeListener(handler);
  const server = createServer((req, res) => {
    for (const [name, value] of Object.entries(hostFields)) res.setHeader(name, value);
    listener(req, res);
  });
  const port = await listen(server);
  const response = await new Promise<IncomingMessage>((resolve, reject) => {
    get({ port, headers: { connection: "close" } }, resolve).on("error", reject);
  });
  let text = "";
  for await (const chunk of response) text += chunk;
  return { headers: response.headers, fields: response.headersDistinct, text };
}

/** The ways in which a response is sent. */
const BODIES: Readonly<Record<string, () => BodyInit | null>> = {
  "a text": () => "text",
  "no content": () => null,
  "a stream": () => new Blob(["text"]).stream(),
};

describe.each(Object.entries(BODIES))("fields that the host has set before a response with %s", (what, toBody) => {
  const respond: RequestHandler = async () => {
    const headers = new Headers({ Vary: "Accept", "Content-Type": "text/plain", "X-Frame-Options": "DENY" });
    headers.append("Set-Cookie", "service=1");
    headers.append("WWW-Authenticate", 'basic realm="a"');
    headers.append("WWW-Authenticate", "session");
    return new Response(toBody(), { status: what === "no content" ? 204 : 200, headers });
  };

  it("stay: cookies and Vary", async () => {
    const { fields, text } = await ask({ "Set-Cookie": ["host=1", "other=2"], vary: "Origin" }, respond);
    expect(fields["set-cookie"]).toEqual(["host=1", "other=2", "service=1"]);
    expect(fields.vary?.join(", ")).toBe("Origin, Accept");
    expect(text).toBe(what === "no content" ? "" : "text");
  });

  it("stay if the service does not set them", async () => {
    const { headers } = await ask({ "X-Powered-By": "Host", "set-cookie": "host=1" }, async () => {
      return new Response(toBody(), { status: what === "no content" ? 204 : 200 });
    });
    expect(headers).toMatchObject({ "x-powered-by": "Host", "set-cookie": ["host=1"] });
  });

  it("are replaced otherwise, and no field of the service is lost", async () => {
    const { fields } = await ask({ "x-frame-options": "SAMEORIGIN", "content-type": "x/y" }, respond);
    expect(fields["x-frame-options"]).toEqual(["DENY"]);
    expect(fields["content-type"]).toEqual(["text/plain"]);
    expect(fields["www-authenticate"]?.join(", ")).toBe('basic realm="a", session');
  });
});

describe("a middleware that has replaced writeHead", () => {
  /** What on-headers does before 1.1.0: it sets the fields itself, and takes any list for one of pairs. */
  function onHeaders(res: ServerResponse, listener: () => void): void {
    const writeHead = res.writeHead.bind(res);
    res.writeHead = (status: number, ...rest: unknown[]) => {
      res.statusCode = status;
      for (const [name, value] of rest.find(Array.isArray) ?? []) res.setHeader(name, value);
      listener();
      return writeHead(status);
    };
  }

  const respond: RequestHandler = async () => {
    const headers = new Headers({ "Content-Type": "text/plain" });
    headers.append("Set-Cookie", "a=1");
    headers.append("Set-Cookie", "b=2");
    return new Response("text", { status: 401, headers });
  };

  async function send(handler: RequestHandler, prepare: (res: ServerResponse) => void): Promise<string> {
    const listener = toNodeListener({ ...stubService(() => new Response()), fetch: handler });
    const server = createServer((req, res) => {
      prepare(res);
      listener(req, res);
    });
    return exchange(await listen(server), "GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  }

  it("gets every field, and a text where there is one value", async () => {
    const seen: unknown[] = [];
    const answer = await send(respond, (res) => {
      onHeaders(res, () => seen.push(res.getHeader("content-type"), res.getHeader("set-cookie")));
    });
    expect(answer).toMatch(/^HTTP\/1\.1 401 Unauthorized\r\n[\s\S]*\r\n4\r\ntext\r\n0\r\n\r\n$/);
    expect(seen).toEqual(["text/plain", ["a=1", "b=2"]]);
  });

  it("gets the blank 500 of a service that breaks its word", async () => {
    const broken: RequestHandler = () => Promise.reject(new Error("secret"));
    const answer = await send(broken, (res) => onHeaders(res, () => undefined));
    expect(answer).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n[\s\S]*Content-Length: 0\r\n[\s\S]*\r\n\r\n$/);
  });

  it.each<[what: string, toBody: () => BodyInit]>([
    ["a text", () => "text"],
    ["a stream", () => new Blob(["text"]).stream()],
  ])("costs its connection if it throws, with %s", async (_what, toBody) => {
    const answer = await send(
      async () => new Response(toBody()),
      (res) => {
        res.writeHead = () => {
          throw new Error("broken");
        };
      },
    );
    expect(answer).toBe("");
  });
});
