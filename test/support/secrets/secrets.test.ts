import { spawn } from "node:child_process";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { takeLeaks } from "./secrets.ts";

it("finds what a client has sent to log in with in what a process prints", async () => {
  const server = createServer((_request, response) => {
    response.writeHead(200, { "Content-Type": "application/json", "Set-Cookie": `SVC=${"ab".repeat(16)}` });
    response.end('{"results":[{"session":"a session of somebody"}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const secrets = [btoa("eve:her own password"), "her own password", "ab".repeat(16), "a session of somebody"];
  const headers = { Authorization: `Basic ${secrets[0]}`, "Content-Type": "application/json" };
  const body = JSON.stringify({ username: "eve", password: "typed at the login" });
  const { port } = server.address() as AddressInfo;
  await fetch(`http://127.0.0.1:${port}/`, { method: "POST", headers, body });
  const printed = [...secrets, "typed at the login"];
  const child = spawn(process.execPath, ["-e", `for (const text of ${JSON.stringify(printed)}) console.error(text)`]);
  child.stdout.resume();
  child.stderr.resume();
  await once(child, "close");
  expect(new Set(takeLeaks().leaked)).toEqual(new Set(printed));
});
