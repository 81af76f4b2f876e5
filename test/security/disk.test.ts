import { appendFileSync, openSync, readSync } from "node:fs";
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, truncate, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { connectWire, eventually, exchange } from "../runtimes/node/raw-client.ts";
import { brokenBody } from "../support/bodies.ts";
import { sendFormForJson } from "../support/forms.ts";
import { AUTHORIZATION, serve } from "../support/served.ts";
import { createTestService, type TestService } from "../support/service.ts";

/*
 * Each test is named after a published failure of another project, and shows that it does not happen here, on a disk
 * (SECURITY 6 to 10).
 */

const OLD = "the former content";
let base: string;
let root: string;
let outside: string;

beforeEach(async () => {
  base = await mkdtemp(join(tmpdir(), "fileferry-advisories-"));
  root = join(base, "root");
  outside = join(base, "outside");
  await mkdir(join(root, "alice/f"), { recursive: true });
  await mkdir(outside);
  await writeFile(join(outside, "secret"), OLD);
});
afterEach(() => rm(base, { recursive: true }));

async function createService(links: "hidden" | "inside" = "inside"): Promise<TestService> {
  return createTestService({ storage: createDiskStorage({ root, links, durability: "rename" }) });
}

describe("links (SECURITY 6)", () => {
  it.each(["hidden", "inside"] as const)(
    "filebrowser CVE-2026-54094: no method goes through a link to outside (links: %s)",
    async (links) => {
      const { call } = await createService(links);
      await symlink(outside, join(root, "alice/out"));
      await symlink(join(outside, "secret"), join(root, "alice/file"));
      for (const target of ["out/secret", "out/new", "out/", "file"]) {
        for (const method of ["GET", "HEAD", "PUT", "MKCOL"]) {
          const body = method === "PUT" && !target.endsWith("/") ? "overwritten" : undefined;
          const answer = await call(method, `/home/${target}`, { variant: "json", body });
          // A link is a name like any other to the one who replaces it.
          if (target === "file" && method === "PUT") continue;
          expect([method, target, Math.floor(answer.status / 100)]).toEqual([method, target, 4]);
          expect(answer.text).not.toContain(OLD);
        }
      }
      const zip = await call("GET", "/home/", { headers: { accept: "application/zip" } });
      expect(zip.text).not.toContain(OLD);
      expect(await readdir(outside)).toEqual(["secret"]);
      expect(await readFile(join(outside, "secret"), "utf8")).toBe(OLD);
    },
  );

  it("filebrowser CVE-2026-55668: a write at a dangling link makes no file where that leads", async () => {
    const { call } = await createService();
    await symlink(join(outside, "made"), join(root, "alice/dangling"));
    await symlink(join(outside, "folder"), join(root, "alice/way"));
    await call("PUT", "/home/dangling", { body: "x" });
    await call("PUT", "/home/way/x", { body: "x" });
    await call("MKCOL", "/home/way/");
    expect(await readdir(outside)).toEqual(["secret"]);
  });

  it("Go os.Root CVE-2026-39822: a link at the end of a path that has a slash is followed no more than another", async () => {
    const { call } = await createService("hidden");
    await symlink(outside, join(root, "alice/out"));
    for (const method of ["GET", "HEAD", "DELETE"]) {
      const answer = await call(method, "/home/out/", { variant: "json" });
      expect([method, answer.status]).toEqual([method, 404]);
    }
    expect(await readdir(outside)).toEqual(["secret"]);
  });
});

describe("writes (SECURITY 7, 8)", () => {
  const head = `PUT /home/alice/f/a HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n`;

  it.each([
    ["SFTPGo issue 2260", "Content-Length: 1000\r\n\r\nonly a part"],
    ["Nextcloud issue 62321", "Transfer-Encoding: chunked\r\n\r\nb\r\nonly a part\r\n"],
  ])("%s: an upload that is cut is not committed, neither whole nor in part", async (_failure, rest) => {
    await writeFile(join(root, "alice/f/a"), OLD);
    const served = await serve(createDiskStorage({ root, durability: "rename" }));
    const client = await connectWire(served.port);
    client.send(head + rest);
    const names = () => readdir(join(root, "alice/f"));
    while ((await names()).length === 1) await new Promise((resolve) => setTimeout(resolve, 5));
    client.socket.end();
    await client.ended();
    await served.close();
    await expect.poll(names).toEqual(["a"]);
    expect(await readFile(join(root, "alice/f/a"), "utf8")).toBe(OLD);
  });

  it("filebrowser CVE-2026-55667: what fails half-way removes what it has made and nothing else", async () => {
    const test = await createService();
    await symlink(outside, join(root, "alice/f/out"));
    await writeFile(join(root, "alice/f/own"), OLD);
    await mkdir(join(root, "alice/f/sub"));
    for (const name of ["out", "sub", "own/below", "out/secret"]) {
      const answer = await test.call("PUT", `/home/f/${name}`, { body: brokenBody("x") }).catch(() => undefined);
      expect(answer?.status ?? 400, name).toBeGreaterThanOrEqual(400);
    }
    await sendFormForJson(test, "/home/f/", [
      ["action", "upload-file"],
      ["upload-file", "sub", "x"],
    ]);
    expect((await readdir(join(root, "alice/f"))).sort()).toEqual(["out", "own", "sub"]);
    expect((await lstat(join(root, "alice/f/out"))).isSymbolicLink()).toBe(true);
    expect(await readdir(outside)).toEqual(["secret"]);
    expect(await readFile(join(root, "alice/f/own"), "utf8")).toBe(OLD);
  });

  it("Tomcat CVE-2025-24813: a partial PUT is refused, and nothing of it is anywhere", async () => {
    const test = await createService();
    await writeFile(join(root, "alice/f/a"), OLD);
    for (const range of ["bytes 0-4/100", "bytes 5-9/*", "bytes */10", "x"]) {
      const answer = await test.call("PUT", "/home/f/a", { body: "parts", headers: { "content-range": range } });
      expect([range, answer.status]).toEqual([range, 400]);
    }
    expect(await readdir(join(root, "alice/f"))).toEqual(["a"]);
    expect(await readFile(join(root, "alice/f/a"), "utf8")).toBe(OLD);
  });
});

describe("readers (SECURITY 9)", () => {
  it("Content-Length of a file that shrinks under its reader: the connection breaks, and nothing fills it up", async () => {
    const size = 64 * 1024 * 1024;
    const path = join(root, "alice/f/log");
    await writeFile(path, "");
    await truncate(path, size);
    const served = await serve(createDiskStorage({ root }));
    const client = await connectWire(served.port);
    client.socket.pause();
    client.send(`GET /home/alice/f/log HTTP/1.1\r\nHost: x\r\nAuthorization: ${AUTHORIZATION}\r\n\r\n`);
    await eventually(() => client.socket.bytesRead > 0 || client.socket.readableLength > 0, "the answer's begin").catch(
      () => undefined,
    );
    await truncate(path, 1024 * 1024);
    client.socket.resume();
    const { text } = await client.ended();
    expect(text).toMatch(new RegExp(`^content-length: ${size}\r$`, "im"));
    expect(text.length).toBeLessThan(size);
    await served.close();
  });

  it("a file that grows under its reader: the answer ends where its length said", async () => {
    const path = join(root, "alice/f/log");
    await writeFile(path, OLD);
    const served = await serve(createDiskStorage({ root }));
    const fields = `Host: x\r\nAuthorization: ${AUTHORIZATION}\r\nConnection: close\r\n\r\n`;
    const asked = exchange(served.port, `GET /home/alice/f/log HTTP/1.1\r\n${fields}`);
    for (let line = 0; line < 100; line += 1) appendFileSync(path, "more");
    const text = await asked;
    const length = Number(/Content-Length: (\d+)/i.exec(text)?.[1]);
    expect(text.split("\r\n\r\n")[1]).toHaveLength(length);
    await served.close();
  });
});

describe("removal (SECURITY 10)", () => {
  it("Removal that follows links, as many a recursive one did: a removal of a folder takes links away, not what they lead to", async () => {
    const { call } = await createService();
    await symlink(outside, join(root, "alice/f/out"));
    await symlink(join(outside, "secret"), join(root, "alice/f/file"));
    const held = openSync(join(outside, "secret"), "r");
    expect((await call("DELETE", "/home/f/")).status).toBe(204);
    expect(await readdir(join(root, "alice"))).toEqual([]);
    expect(await readdir(outside)).toEqual(["secret"]);
    expect(readSync(held, Buffer.alloc(100))).toBe(OLD.length);
  });

  it.each(["hidden", "inside"] as const)(
    "a link goes, never what it leads to, however its removal is asked for (links: %s)",
    async (links) => {
      const test = await createService(links);
      await writeFile(join(root, "alice/f/a"), OLD);
      const deleted = async (path: string) => (await test.call("DELETE", path, { variant: "json" })).status;
      const byCommand = async (target: string) => {
        const commands = [{ command: "delete", target }];
        const headers = { "content-type": "application/json" };
        return (await test.call("POST", "/home/", { headers, body: JSON.stringify({ commands }) })).status;
      };
      const byForm = async (name: string) =>
        sendFormForJson(test, "/home/", [
          ["action", "delete-members"],
          ["selected-members", name],
        ]);
      for (const target of ["f", outside]) {
        const isFollowed = links === "inside" && target === "f";
        for (const name of ["one", "two", "three"]) await symlink(target, join(root, "alice", name));
        expect(await deleted(isFollowed ? "/home/one/" : "/home/one"), target).toBe(204);
        expect(await byCommand("two"), target).toBe(200);
        await byForm("three");
        expect(await readdir(join(root, "alice")), target).toEqual(["f"]);
      }
      await symlink("f/a", join(root, "alice/file"));
      expect(await deleted("/home/file")).toBe(204);
      expect(await readdir(join(root, "alice"))).toEqual(["f"]);
      expect(await readdir(join(root, "alice/f"))).toEqual(["a"]);
      expect(await readdir(outside)).toEqual(["secret"]);
    },
  );
});
