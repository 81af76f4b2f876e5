import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import type { Server } from "node:http";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createNodeServer } from "../../../src/runtimes/node/server.ts";
import { createFuzzEnvironment, SECRET } from "../environment.ts";
import { expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";

const environment = createFuzzEnvironment();
const AUTHORIZATION = `Authorization: Basic ${Buffer.from("alice:secret").toString("base64")}\r\n`;
const HOST = "Host: files.example\r\n";
/**
 * A server that waits for more than the client will ever send is ended after so long; inputs end their side, so nothing
 * does.
 */
const PATIENCE = 3000;

/** All bytes that come over a connection. */
export const target: FuzzTarget = {
  sources: [
    "service/service.ts",
    "service/resolve-url.ts",
    "service/routes.ts",
    "service/find-route.ts",
    "runtimes/node.ts",
    "runtimes/node/request.ts",
    "runtimes/node/lingering-close.ts",
    "runtimes/node/protocol-errors.ts",
    "runtimes/node/request-body.ts",
    "runtimes/node/response.ts",
    "request/errors.ts",
    "endpoints/files/get-file.ts",
    "endpoints/folders/get-folder.ts",
    "endpoints/files/put-file.ts",
    "endpoints/folders/post-form.ts",
    "endpoints/delete.ts",
    "endpoints/folders/create-folder.ts",
    "endpoints/trailing-slash.ts",
    "http/byteranges.ts",
  ],
  dictionary: [
    AUTHORIZATION,
    HOST,
    "GET /home/f/ HTTP/1.1\r\n",
    "GET /home/big.bin HTTP/1.1\r\n",
    "HEAD /home/f/a.txt HTTP/1.1\r\n",
    "PUT /home/f/new.txt HTTP/1.1\r\n",
    "DELETE /home/f/sub/ HTTP/1.1\r\n",
    "MKCOL /home/f/made/ HTTP/1.0\r\n",
    "POST /home/f/ HTTP/1.1\r\n",
    "OPTIONS * HTTP/1.1\r\n",
    "/bob/secret.txt",
    "/home/../bob/secret.txt",
    "%2e%2e%2fbob%2fsecret.txt",
    "http://files.example/home/f/",
    "Content-Length: 5\r\n",
    "Transfer-Encoding: chunked\r\n",
    "5\r\nhello\r\n0\r\n\r\n",
    "Connection: close\r\n",
    "Connection: upgrade\r\nUpgrade: websocket\r\n",
    "Expect: 100-continue\r\n",
    "Range: bytes=0-3,100-200\r\n",
    "If-Match: *\r\n",
    "If-None-Match: *\r\n",
    "Content-Range: bytes 0-1/2\r\n",
    "Accept: application/json\r\n",
    "Accept: text/html\r\n",
    "Accept: application/zip\r\n",
    "Content-Type: application/json\r\n",
    "Content-Type: multipart/form-data; boundary=B\r\n",
    '--B\r\nContent-Disposition: form-data; name="action"\r\n\r\ndownload-members\r\n--B--\r\n',
    "X-Labels: project=a\r\n",
    "Origin: https://evil.example\r\n",
    "Sec-Fetch-Site: cross-site\r\n",
    "\r\n\r\n",
    "\r\n",
    "\n",
    " ",
    "HTTP/1.1",
    "HTTP/2.0",
  ],
  separators: ["\r\n", " ", ":", "/", "\r\n\r\n"],
  maxLength: 32 * 1024,
  run,
  close: () => removeFolder(),
};

/** A socket in a folder: ports would run out. */
let listening: Promise<string> | undefined;
let removeFolder = (): void => undefined;

async function listen(): Promise<string> {
  const server = createNodeServer(environment.service) as Server;
  const folder = mkdtempSync(join(tmpdir(), "fileferry-fuzz-"));
  removeFolder = () => rmSync(folder, { recursive: true, force: true });
  const path = process.platform === "win32" ? `\\\\.\\pipe\\fuzz-${process.pid}` : join(folder, "socket");
  server.listen(path);
  await once(server, "listening");
  server.unref();
  return path;
}

async function run(input: string): Promise<string> {
  listening ??= listen();
  await environment.reset();
  const answers = readAnswers(await exchange(await listening, toBytes(input)));
  expectSame(environment.failures().length, 0, "nothing is reported");
  const requests = input.split("HTTP/").length + input.split("\n").length;
  expect(answers.length <= requests, "no request has two answers");
  for (const { status, head, body } of answers) {
    expect(status < 500 || status === 501 || status === 505, `it is answered, not ${status}`);
    expect(/^[\t -~\r\n]*$/.test(head), "a head is ASCII");
    expect(!body.includes(SECRET), "nobody sees what is another's");
    expect(!/\n\s+at |node:internal|[/]src[/]/.test(body), "nobody sees where our code stands");
  }
  const secret = await environment.storage().read("/bob/secret.txt");
  expect((await new Response(secret.body).text()) === SECRET, "nobody changes what is another's");
  return answers
    .map(({ status }) => status)
    .slice(0, 3)
    .join();
}

/** Sends all of it, ends its side, and takes what comes. */
async function exchange(path: string, bytes: Uint8Array): Promise<string> {
  const socket = connect({ path, allowHalfOpen: true });
  let received = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    received += chunk;
  });
  socket.on("end", () => socket.destroy());
  socket.on("error", () => undefined);
  let isLate = false;
  socket.setTimeout(PATIENCE, () => {
    isLate = true;
    socket.destroy();
  });
  const closed = once(socket, "close");
  socket.end(bytes);
  await closed;
  expect(!isLate, `a connection ends when the client's side has: ${JSON.stringify(received.slice(0, 200))}`);
  return received;
}

interface WireAnswer {
  readonly status: number;
  readonly head: string;
  readonly body: string;
}

/** The answers one behind the other, each as long as it says itself (RFC 9112 6.3). */
function readAnswers(received: string): readonly WireAnswer[] {
  const answers: WireAnswer[] = [];
  for (let at = 0; at < received.length; ) {
    const end = received.indexOf("\r\n\r\n", at);
    expect(end >= 0, `an answer has a head: ${JSON.stringify(received.slice(at, at + 200))}`);
    const head = received.slice(at, end + 2);
    const [, digits] = /^HTTP\/1\.1 (\d{3}) [ -~]*\r\n(?:[\w-]+: [ -~]*\r\n)*$/.exec(head) ?? [];
    expect(digits !== undefined, `an answer begins with its status and fields: ${JSON.stringify(head.slice(0, 300))}`);
    const [body, next] = readBody(received, end + 4, head, Number(digits));
    answers.push({ status: Number(digits), head, body });
    at = next;
  }
  return answers;
}

function readBody(received: string, from: number, head: string, status: number): readonly [body: string, next: number] {
  const field = (name: string) => new RegExp(`\\n${name}: (.*)\\r`, "i").exec(head)?.[1];
  if (status < 200 || status === 204 || status === 304) return ["", from];
  if (/chunked/i.test(field("transfer-encoding") ?? "")) return readChunks(received, from);
  const length = field("content-length");
  // Of an answer to HEAD there is no body, whatever it says: what follows is an answer, or nothing.
  if (received.startsWith("HTTP/1.1 ", from) || from === received.length) return ["", from];
  const next = length === undefined ? received.length : from + Number(length);
  expect(next <= received.length, "a body is as long as it says");
  return [received.slice(from, next), next];
}

function readChunks(received: string, from: number): readonly [body: string, next: number] {
  if (received.startsWith("HTTP/1.1 ", from)) return ["", from];
  let body = "";
  for (let at = from; ; ) {
    const line = received.indexOf("\r\n", at);
    const size = Number.parseInt(received.slice(at, line), 16);
    expect(line >= 0 && !Number.isNaN(size) && line + size + 4 <= received.length, "a body comes to its end");
    body += received.slice(line + 2, line + 2 + size);
    at = line + 2 + size + 2;
    if (size === 0) return [body, at];
  }
}
