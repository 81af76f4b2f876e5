import { createServer, type IncomingMessage } from "node:http";
import { describe, expect, it } from "vitest";
import type { Connection } from "../../../src/contracts/connection.ts";
import type { RequestHandler } from "../../../src/contracts/file-service.ts";
import { createHandler } from "../../../src/http/reply-handler.ts";
import { toPeer } from "../../../src/runtimes/client-identity.ts";
import { toNodeListener, toNodeMiddleware } from "../../../src/runtimes/node.ts";
import { connectWire, delay, exchange, listen, PlainResponse as Response, serve, stubService } from "./setup.ts";

/** The requests that reach the service, and a port to send some to. */
async function record(): Promise<{ seen: Request[]; connections: Connection[]; port: number }> {
  const seen: Request[] = [];
  const connections: Connection[] = [];
  const { port } = await serve((request, connection) => {
    seen.push(request);
    connections.push(connection);
    return new Response("ok");
  });
  return { seen, connections, port };
}

async function urlOf(
  target: string,
  host = "files.example:8080",
): Promise<{ url: string | undefined; answer: string }> {
  const { seen, port } = await record();
  const answer = await exchange(port, `GET ${target} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
  return { url: seen[0]?.url, answer };
}

describe("the URL on Node", () => {
  it.each([
    ["/home/a%2e%2e/b", "http://files.example:8080/home/a%2e%2e/b"],
    ["/home/../etc", "http://files.example:8080/home/../etc"],
    ["//evil.example/home/", "http://files.example:8080//evil.example/home/"],
    ["/home//a", "http://files.example:8080/home//a"],
    ["/home/a?b=c%20d", "http://files.example:8080/home/a?b=c%20d"],
    ["/home/\\..\\a", "http://files.example:8080/home/\\..\\a"],
  ])("keeps the raw target %s", async (target, url) => {
    expect((await urlOf(target)).url).toBe(url);
  });

  it.each([
    ["http://x/home/", "http://x/home/"],
    ["HTTPS://x:1/home/a?q", "http://x:1/home/a?q"],
    ["http://x", "http://x/"],
    ["http://x?q", "http://x/?q"],
    ["http://u:p@x/home/", "http://localhost/home/"],
    ["http:///home/", "http://localhost/home/"],
  ])("keeps the path of the absolute form %s (RFC 9112, 3.2.2)", async (target, url) => {
    expect((await urlOf(target)).url).toBe(url);
  });

  it.each([
    "a b",
    "x:99999",
    "x/y",
    "x?y",
    "x#y",
    "u@x",
    "[::1",
    "[zz]",
    "x:8a",
    "1.2.3.999",
    "é",
    "..",
    "<script>",
    "a@b/../c",
    "a\r\nHost: b",
    "a\r\nHost: a",
  ])("lets no Host that is none, or two, through: 400 for %j (RFC 9112, 3.2)", async (host) => {
    for (const target of ["/home/", "http://x/home/"]) {
      const { url, answer } = await urlOf(target, host);
      expect(url).toBeUndefined();
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
    }
  });

  it.each(["x", "x:80", "x:", "127.0.0.1:1", "[::1]:8080", "a_b.example"])("takes the host %s", async (host) => {
    expect((await urlOf("/home/", host)).url).toBe(`http://${host}/home/`);
  });

  it("takes localhost where HTTP/1.0 names no host, and where the name is empty", async () => {
    const { seen, port } = await record();
    await exchange(port, "GET /home/ HTTP/1.0\r\n\r\n");
    await exchange(port, "GET /home/ HTTP/1.1\r\nHost:\r\nConnection: close\r\n\r\n");
    expect(seen.map(({ url }) => url)).toEqual(["http://localhost/home/", "http://localhost/home/"]);
  });

  it("takes each request's own host on one connection", async () => {
    const { seen, port } = await record();
    const client = await connectWire(port);
    for (const host of ["a", "b", "b", "a"]) client.send(`GET /home/ HTTP/1.1\r\nHost: ${host}\r\n\r\n`);
    await client.until(/(ok[\s\S]*){4}/);
    expect(seen.map(({ url }) => url)).toEqual(["a", "b", "b", "a"].map((host) => `http://${host}/home/`));
  });

  it("is / for OPTIONS *", async () => {
    const { seen, port } = await record();
    await exchange(port, "OPTIONS * HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(seen.map(({ url, method }) => [method, url])).toEqual([["OPTIONS", "http://x/"]]);
  });

  it.each(["*", "/home/a#b", "#", "home/", "x:443", "ftp://x/home/", "/home/\u007f", "/home/é", "/a b"])(
    "answers 400 to the target %j and stays alive",
    async (target) => {
      const { url, answer } = await urlOf(target);
      expect(url).toBeUndefined();
      expect(answer).toMatch(/^HTTP\/1\.1 400 Bad Request\r\n/);
      expect(answer).not.toMatch(/Error|node:|\.ts/);
    },
  );

  it("answers an endless target", async () => {
    expect((await urlOf(`/home/${"a".repeat(200_000)}`)).answer).toMatch(/^HTTP\/1\.1 431 /);
    expect((await urlOf(`/home/${"%2e%2e/".repeat(2000)}`)).answer).toMatch(/^HTTP\/1\.1 200 /);
  });
});

describe("methods and headers on Node", () => {
  it.each(["TRACE", "PROPFIND", "MKCOL", "PATCH", "QUERY", "M-SEARCH", "PURGE", "LINK"])(
    "passes %s on",
    async (method) => {
      const { seen, port } = await record();
      const answer = await exchange(port, `${method} /home/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
      if (method === "QUERY") expect(answer).toMatch(/^HTTP\/1\.1 (200|400) /);
      else expect(seen.map((request) => request.method)).toEqual([method]);
    },
  );

  it("answers CONNECT with 501", async () => {
    const { port } = await record();
    expect(await exchange(port, "CONNECT x:443 HTTP/1.1\r\nHost: x\r\n\r\n")).toMatch(/^HTTP\/1\.1 501 /);
  });

  it("answers a request for an upgrade as if it did not ask", async () => {
    const { port } = await record();
    const text = "GET /home/ HTTP/1.1\r\nHost: x\r\nConnection: upgrade\r\nUpgrade: websocket\r\n\r\n";
    const client = await connectWire(port);
    client.send(text);
    expect(await client.until("ok")).toMatch(/^HTTP\/1\.1 200 /);
  });

  it("loses no header: repeated ones are joined, also those of which Node keeps one", async () => {
    const { seen, port } = await record();
    const lines = ["Host: x", "Authorization: Basic a", "Authorization: Basic b", "X-A: 1", "x-a: 2", "Cookie: a=1"];
    lines.push("Cookie: b=2", "constructor: c", "Connection: close");
    await exchange(port, `GET /home/ HTTP/1.1\r\n${lines.join("\r\n")}\r\n\r\n`);
    const { headers } = seen[0] as Request;
    expect(headers.get("authorization")).toBe("Basic a, Basic b");
    expect(headers.get("X-A")).toBe("1, 2");
    expect(headers.get("cookie")).toBe("a=1; b=2");
    expect(headers.get("constructor")).toBe("c");
    expect(headers.get("range")).toBeNull();
  });

  describe("after a middleware", () => {
    const SENT = ["Host: x", "X-User: mallory", "Authorization: a", "X-Role: a", "Authorization: b", "X-Role: b"];

    /** The headers of a request that a middleware changes before the service gets it. */
    async function change(middleware: (headers: IncomingMessage["headers"]) => void, sent = SENT): Promise<Headers> {
      const seen: Headers[] = [];
      const service = stubService(({ headers }) => {
        seen.push(headers);
        return new Response("ok");
      });
      const files = toNodeMiddleware(service);
      const server = createServer((req, res) => {
        middleware(req.headers);
        files(req, res, () => res.end());
      });
      await exchange(await listen(server), `GET /home/ HTTP/1.0\r\n${sent.join("\r\n")}\r\n\r\n`);
      return seen[0] as Headers;
    }

    it.each<[what: string, remove: (headers: IncomingMessage["headers"]) => void]>([
      ["deleted", (headers) => delete headers["x-user"]],
      [
        "set to undefined",
        (headers) => {
          headers["x-user"] = undefined;
        },
      ],
    ])("lack a field that it has %s", async (_what, remove) => {
      for (const sent of [SENT, SENT.slice(0, 3)]) {
        const headers = await change(remove, sent);
        expect(headers.get("x-user")).toBeNull();
        expect([...headers.keys()]).not.toContain("x-user");
      }
    });

    it("lack a repeated field that it has deleted", async () => {
      const headers = await change((given) => {
        delete given.authorization;
        delete given["x-role"];
      });
      expect([headers.get("authorization"), headers.get("x-role")]).toEqual([null, null]);
    });

    it("have a field that it has added, and both lines of a repeated one", async () => {
      for (const sent of [SENT.toSpliced(1, 1), ["Host: x", "Authorization: a", "Authorization: b"]]) {
        const headers = await change((given) => {
          given["x-user"] = "alice";
        }, sent);
        expect(headers.get("x-user")).toBe("alice");
        expect(headers.get("authorization")).toBe("a, b");
      }
    });

    it("have both lines of a repeated field, however many others it has added", async () => {
      const sent = ["Host: x", "Authorization: a", "Authorization: b", "X-User: mallory"];
      const headers = await change((given) => {
        delete given["x-user"];
        given["x-request-id"] = "1";
        given["x-user"] = "alice";
      }, sent);
      expect([headers.get("authorization"), headers.get("x-user")]).toEqual(["a, b", "alice"]);
    });

    it("have a repeated field as it has replaced it", async () => {
      const headers = await change((given) => {
        given.authorization = "c";
        given["x-role"] = "a";
      });
      expect([headers.get("authorization"), headers.get("x-role")]).toEqual(["c", "a"]);
    });
  });

  it("has no body where the request announces none", async () => {
    const { seen, port } = await record();
    for (const method of ["GET", "HEAD", "PUT", "DELETE"]) {
      await exchange(port, `${method} /home/ HTTP/1.1\r\nHost: x\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`);
      await exchange(port, `${method} /home/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n`);
    }
    expect(seen.map(({ body }) => body)).toEqual(Array(8).fill(null));
  });

  it("answers 400 to HTTP that the parser refuses", async () => {
    const { seen, port } = await record();
    expect(await exchange(port, "NONSENSE\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    expect(await exchange(port, "GET /home/ HTTP/1.1\r\n\r\n")).toMatch(/^HTTP\/1\.1 400 /);
    const both = "Content-Length: 3\r\nTransfer-Encoding: chunked";
    expect(await exchange(port, `PUT /home/ HTTP/1.1\r\nHost: x\r\n${both}\r\n\r\n`)).toMatch(/^HTTP\/1\.1 400 /);
    expect(seen).toEqual([]);
  });
});

describe("the peer on Node", () => {
  it("is the socket's remote end", async () => {
    const { connections, port } = await record();
    const client = await connectWire(port);
    client.send("GET /home/ HTTP/1.1\r\nHost: x\r\n\r\n");
    await client.until("ok");
    expect(connections[0]?.peer).toEqual({
      address: "127.0.0.1",
      port: client.socket.localPort,
      family: "IPv4",
      protocol: "TCP",
    });
    expect(connections[0]?.isSecure).toBeUndefined();
    expect(connections[0]?.clientCertificate).toBeUndefined();
  });

  it("is IPv4 also where a dual-stack socket maps it", async () => {
    const connections: Connection[] = [];
    const service = stubService((_request, connection) => {
      connections.push(connection);
      return new Response("ok");
    });
    const port = await listen(createServer(toNodeListener(service)), "::");
    await exchange(port, "GET /home/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(connections[0]?.peer).toMatchObject({ address: "127.0.0.1", family: "IPv4" });
  });

  it.each([
    ["::ffff:1.2.3.4", "1.2.3.4", "IPv4"],
    ["::FFFF:1.2.3.4", "1.2.3.4", "IPv4"],
    ["fe80::1%eth0", "fe80::1", "IPv6"],
    ["2001:db8::1", "2001:db8::1", "IPv6"],
  ])("of %s is %s", (address, expected, family) => {
    expect(toPeer(address, 5)).toEqual({ address: expected, port: 5, family, protocol: "TCP" });
  });

  it("is absent where the socket has no address", () => {
    expect(toPeer(undefined, undefined)).toBeUndefined();
  });

  it("has no waitUntil: Node keeps running by itself, and the service needs not gather what it tells", async () => {
    const { port } = await serve((_request, connection) => new Response(String("waitUntil" in connection)));
    expect(await exchange(port, "GET /home/ HTTP/1.0\r\n\r\n")).toMatch(/false$/);
  });
});

describe("toNodeMiddleware", () => {
  /** Connect in a nutshell: strips the mount path, keeps the whole in originalUrl, has a last handler. */
  async function connectApp(mount: string, seen: Request[]): Promise<number> {
    const service = stubService((request) => {
      seen.push(request);
      return new Response("ours");
    });
    const middleware = toNodeMiddleware(service);
    const server = createServer((req, res) => {
      Object.assign(req, { originalUrl: req.url, url: req.url?.slice(mount.length) || "/" });
      res.setHeader("X-Powered-By", "Connect");
      middleware(req, res, (error) => {
        const chunks: Buffer[] = [];
        req.on("data", (chunk: Buffer) => chunks.push(chunk));
        req.on("end", () => {
          res.end(`next ${error} ${res.headersSent} ${JSON.stringify(req.headers)} ${Buffer.concat(chunks)}`);
        });
      });
    });
    return listen(server);
  }

  it("answers what the service claims, with the whole URL", async () => {
    const seen: Request[] = [];
    const port = await connectApp("/home", seen);
    const answer = await exchange(port, "GET /home/a%20b?c HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
    expect(answer).toMatch(/^HTTP\/1\.1 200 [\s\S]*X-Powered-By: Connect[\s\S]*ours$/);
    expect(seen[0]?.url).toBe("http://x/home/a%20b?c");
  });

  it.each(["/other", "/other#x"])("passes the others on untouched: %s", async (target) => {
    const seen: Request[] = [];
    const port = await connectApp("", seen);
    const head = "Host: x\r\nConnection: close\r\nContent-Length: 5";
    const answer = await exchange(port, `POST ${target} HTTP/1.1\r\n${head}\r\n\r\nhello`);
    expect(answer).toContain('next undefined false {"host":"x","connection":"close","content-length":"5"} hello');
    expect(seen).toEqual([]);
  });

  it("passes on a request that it cannot judge", async () => {
    const service = stubService(() => new Response("ours"));
    const broken = { ...service, handles: () => JSON.parse("{") as boolean };
    const middleware = toNodeMiddleware(broken);
    const port = await listen(createServer((req, res) => middleware(req, res, () => res.end("next"))));
    expect(await exchange(port, "GET / HTTP/1.0\r\n\r\n")).toMatch(/next$/);
  });

  it.each<[what: string, before: (req: IncomingMessage, go: () => void) => void]>([
    ["read the beginning of", (req, go) => req.once("data", () => go())],
    [
      "asked for texts in place of bytes of",
      (req, go) => {
        req.setEncoding("utf8");
        go();
      },
    ],
  ])("gives nobody the rest of a body that somebody has %s", async (_what, before) => {
    const outcome: string[] = [];
    const service = stubService(async (request) => {
      outcome.push(await request.text().catch((error: Error) => error.message));
      return new Response("ours");
    });
    const middleware = toNodeMiddleware(service);
    const server = createServer((req, res) => before(req, () => middleware(req, res, () => res.end())));
    const client = await connectWire(await listen(server));
    client.send(
      "PUT /home/a HTTP/1.1\r\nHost: h\r\nConnection: close\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n",
    );
    await delay(50);
    client.send("5\r\nworld\r\n0\r\n\r\n");
    expect((await client.ended()).text).toMatch(/ours$/);
    expect(outcome).toEqual([expect.stringContaining("was read before it reached the service")]);
  });

  it("does not wait for a body that a parser before it has eaten", async () => {
    const outcome: string[] = [];
    const service = stubService(async (request) => {
      await request.text().catch((error: Error) => outcome.push(error.message));
      return new Response("ours");
    });
    const middleware = toNodeMiddleware(service);
    const server = createServer((req, res) => {
      req.resume().on("end", () => middleware(req, res, () => res.end()));
    });
    const port = await listen(server);
    await exchange(port, "PUT /home/a HTTP/1.0\r\nContent-Length: 5\r\n\r\nhello");
    expect(outcome).toEqual([
      "The request's body was read before it reached the service: mount the service before body parsers",
    ]);
  });
});

describe("toNodeListener", () => {
  it("serves one variant alone", async () => {
    const service = {
      ...stubService(() => new Response("all")),
      webdav: createHandler(async () => new Response("webdav")),
    };
    const port = await listen(createServer(toNodeListener(service, { api: "webdav" })));
    expect(await exchange(port, "GET / HTTP/1.0\r\n\r\n")).toMatch(/webdav$/);
  });

  it("serves any handler of requests, which learns of the connection", async () => {
    const handler = async (request: Request, { peer }: Connection) =>
      new globalThis.Response(`${request.method} ${new URL(request.url).pathname} from ${peer?.address}`);
    const port = await listen(createServer(toNodeListener(handler)));
    expect(await exchange(port, "GET /auth HTTP/1.0\r\n\r\n")).toMatch(/GET \/auth from 127\.0\.0\.1\b/);
    expect(() => toNodeListener(handler, { api: "rest" })).toThrow(/^The option api /);
  });

  it("answers 500, blank, for a service that breaks its word", async () => {
    const service = stubService(() => new Response("never"));
    const broken: RequestHandler[] = [
      () => Promise.reject(new Error("secret")),
      () => JSON.parse("{"),
      async () => undefined as unknown as globalThis.Response,
      createHandler(async () => new Response("x", { status: 101 })),
      createHandler(async () => ({ status: 200, headers: [["x-a", "a\nb"]], body: "x" })),
    ];
    for (const fetch of broken) {
      const port = await listen(createServer(toNodeListener({ ...service, fetch })));
      const answer = await exchange(port, "GET /home/ HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
      expect(answer).toMatch(/^HTTP\/1\.1 500 Internal Server Error\r\n[\s\S]*\r\n\r\n$/);
      expect(answer).toMatch(/Content-Length: 0\r\n/);
      expect(answer).not.toContain("secret");
    }
  });

  it("leaves an answer alone that the host has given meanwhile", async () => {
    const listener = toNodeListener(stubService(() => new Response("ours")));
    const server = createServer((req, res) => {
      listener(req, res);
      res.end("theirs");
    });
    expect(await exchange(await listen(server), "GET / HTTP/1.0\r\n\r\n")).toMatch(/\r\n\r\ntheirs$/);
  });

  it("refuses wrong options when it is mounted", () => {
    const service = stubService(() => new Response("all"));
    for (const wrong of [Number.NaN, -1, null, "", "1"]) {
      expect(() => toNodeListener(service, { lingerSeconds: wrong as number })).toThrow("lingerSeconds");
    }
    expect(() => toNodeListener(service, { api: "soap" as "rest" })).toThrow(TypeError);
  });
});
