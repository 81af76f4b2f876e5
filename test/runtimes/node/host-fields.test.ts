import { createServer, get, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { RequestHandler } from "../../../src/contracts/file-service.ts";
import { toNodeListener } from "../../../src/runtimes/node.ts";
import { listen } from "./setup.ts";

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
