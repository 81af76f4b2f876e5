import { once } from "node:events";
import { truncate, writeFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  type FrameworkHost,
  findMissing,
  frameworksFolder,
  prepareFrameworks,
  startScript,
} from "../../support/frameworks.ts";
import { BASIC } from "./client.ts";

const missing = findMissing();

interface FileEvent {
  readonly id: number;
  readonly data: { readonly path?: string; readonly total_read?: number };
  readonly account?: { readonly peer?: object };
}

/** A service whose events are printed, a line each, mounted by what `listener` makes of it. */
function script(listener: string): string {
  return `
    import { once } from "node:events";
    import { createServer } from "node:http";
    import { createServerAdapter } from "@whatwg-node/server";
    import { createFileService, createAccountsAuthenticator } from "fileferry";
    import { createNodePasswordHasher } from "fileferry/node";
    import { createDiskStorage } from "fileferry/storage/disk";
    import { createListener } from ${JSON.stringify(join(frameworksFolder, "whatwg-server.mjs"))};
    const files = createFileService({
      basePath: "/files",
      storage: createDiskStorage({ root: process.argv[1] }),
      authentication: createAccountsAuthenticator({
        accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }],
        passwordHasher: createNodePasswordHasher(),
      }),
      onEvent: (event) => console.log("Event " + JSON.stringify(event)),
    });
    const server = createServer(${listener}).listen(0, "127.0.0.1");
    await once(server, "listening");
    console.log("Listening on " + server.address().port);`;
}

const LISTENERS = { "as in the example": "createListener(files)", "as it is": "createServerAdapter(files.fetch)" };

describe.skipIf(missing !== undefined).each(Object.entries(LISTENERS))("a service in the adapter, %s", (name, text) => {
  let host: FrameworkHost;

  beforeAll(async () => {
    await prepareFrameworks();
    host = await startScript("whatwg-server", script(text));
  }, 300_000);

  afterAll(() => host?.stop());

  function eventsOf(path: string): readonly FileEvent[] {
    const lines = [...host.log().matchAll(/^Event (.*)$/gm)].map(([, line = ""]) => JSON.parse(line) as FileEvent);
    return lines.filter(({ data }) => data.path === path);
  }

  /** Begins a download of 64 MB; the port of the client's, once its first bytes have come. */
  async function leaveDownload(path: string): Promise<number | undefined> {
    await writeFile(join(host.root, path), "");
    await truncate(join(host.root, path), 64 * 1024 * 1024);
    const request = httpRequest(`${host.origin}/files/home${path}`, { headers: { authorization: BASIC } });
    request.on("error", () => undefined).end();
    const [response] = await once(request, "response");
    await once(response, "data");
    response.pause();
    const port = request.socket?.localPort;
    request.destroy();
    return port;
  }

  it("tells of a client that leaves during a download, and of what it was sent", async () => {
    await leaveDownload("/left");
    await expect.poll(() => eventsOf("/left").map(({ id }) => id), { timeout: 5000 }).toEqual([40004, 40018]);
    const [, { data }] = eventsOf("/left") as [FileEvent, FileEvent];
    expect(data.total_read).toBeGreaterThan(0);
    expect(data.total_read).toBeLessThan(64 * 1024 * 1024);
  });

  it("knows the client's address where it is told the socket", async () => {
    const port = await leaveDownload("/seen");
    await expect.poll(() => eventsOf("/seen").length, { timeout: 5000 }).toBeGreaterThan(0);
    const peer = { address: "127.0.0.1", port, family: "IPv4", protocol: "TCP" };
    expect(eventsOf("/seen")[0]?.account?.peer).toEqual(name === "as it is" ? undefined : peer);
  });

  it.each([
    ["/files/home/%zz", "h"],
    ["/files/home/", "["],
    ["/files/home/", "a b"],
    ["/files/home/", "h/files/home/x?y=#"],
    ["http://h/files/../x", "h"],
    ["/api/hello", "["],
    ["*", "h"],
    ["//", ""],
  ])("answers %s at the host %j with an error that is no stack trace", async (target, hostName) => {
    const socket = connect(host.port, "127.0.0.1");
    let text = "";
    socket.setEncoding("latin1").on("data", (chunk) => {
      text += chunk;
    });
    socket.write(
      `GET ${target} HTTP/1.1\r\nHost: ${hostName}\r\nAccept: application/json\r\nConnection: close\r\n\r\n`,
    );
    await once(socket, "close");
    expect(text).toMatch(/^HTTP\/1\.1 40[014] /);
    expect(text).not.toMatch(/Error|\bat /);
  });
});
