import { mkdir, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, startServer, waitFor } from "../support/built.ts";
import { findFreePort } from "../support/nginx.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "../support/oidc/provider.ts";
import { runInProcess } from "../support/run-in-process.ts";
import { configure } from "./configure.ts";

beforeAll(ensureBuilt);

/** What a browser sends back of the cookies of an answer; deleted ones are left out. */
function toCookies({ headers }: Response): string {
  const kept = headers.getSetCookie().filter((line) => !/Max-Age=0/.test(line));
  return kept.map((line) => line.split(";", 1)[0]).join("; ");
}

describe("a method of type oidc of a configuration", () => {
  async function open() {
    const port = await findFreePort();
    const callback = `http://127.0.0.1:${port}/__svc__/oidc/example/callback`;
    const provider = await startProvider([callback]);
    onTestFinished(() => provider.close());
    const root = await makeFolder();
    await mkdir(join(root, "team"));
    await writeFile(join(root, "team/a.txt"), "of the team");
    const config = await configure({
      listen: { port },
      storage: { type: "disk", root },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how groups spell it.
      groups: { team: { home_folder_path: "${SHARED}/team" } },
      authentication: [
        { type: "accounts", accounts: [{ username: "backup", password: "secret of backup" }] },
        {
          type: "oidc",
          issuer: provider.issuer,
          clientId: CLIENT_ID,
          // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how configurations name a variable.
          clientSecret: "${TEST_CLIENT_SECRET}",
          id: "example",
          label: "Example ID",
          nameClaim: "preferred_username",
          groups: { staff: "team" },
        },
      ],
    });
    const run = await startServer(["serve", "--config", config], ["env", `TEST_CLIENT_SECRET=${CLIENT_SECRET}`]);
    const get = (target: string, cookie = "") => {
      const headers = { accept: "text/html", ...(cookie !== "" && { cookie }) };
      return fetch(new URL(target, run.url), { redirect: "manual", headers });
    };
    async function logIn(): Promise<Response> {
      const started = await get("/__svc__/oidc/example/start?return=/home/a.txt");
      expect(started.status).toBe(302);
      const location = started.headers.get("location") ?? "";
      expect(new URL(location).searchParams.get("redirect_uri")).toBe(callback);
      return get(await provider.visit(location), toCookies(started));
    }
    return { provider, run, get, logIn };
  }

  it("logs users of the provider in, with the name and group of their claims", async () => {
    const { run, get, logIn } = await open();
    const page = await (await get("/__svc__/login?return=/home/a.txt")).text();
    expect(page).toContain("Log in with Example ID");
    expect(page).toContain(`name="password"`);

    const done = await logIn();
    expect([done.status, await done.text()]).toEqual([200, expect.stringContaining(`content="0; url=/home/a.txt"`)]);
    const file = await get("/home/a.txt", toCookies(done));
    expect([file.status, await file.text()]).toEqual([200, "of the team"]);
    await waitFor(() => / ann GET \/home\/a\.txt 200 /.exec(run.stderr()) ?? undefined, run);
    expect(run.stderr()).not.toContain(CLIENT_SECRET);
  });

  it("refuses users in none of its groups, and those who cancel", async () => {
    const { provider, get, logIn } = await open();
    provider.user = "u-3";
    const outsider = await logIn();
    expect([outsider.status, outsider.headers.get("error-code")]).toEqual([403, "sign-on-without-account"]);
    expect(toCookies(outsider)).toBe("");
    provider.user = undefined;
    const cancelled = await logIn();
    expect([cancelled.status, cancelled.headers.get("error-code")]).toEqual([403, "sign-on-denied"]);
    expect((await get("/home/a.txt", toCookies(cancelled))).status).toBe(302);
  });
});

describe("fileferry doctor with a method of type oidc", () => {
  const toConfig = (issuer: string) =>
    configure({
      storage: { type: "memory" },
      authentication: [{ type: "oidc", issuer, clientId: CLIENT_ID, clientSecret: CLIENT_SECRET, timeoutSeconds: 1 }],
    });

  async function diagnose(issuer: string): Promise<{ status: number; line: string | undefined }> {
    const { status, stdout } = await runInProcess(["doctor", "--config", await toConfig(issuer)]);
    return { status, line: stdout.split("\n").find((line) => line.includes("authentication[0]")) };
  }

  /** A server that answers with this text, or not at all. */
  async function serve(status: number, text?: string): Promise<string> {
    const server: Server = createServer((_request, response) => {
      response.writeHead(status, { "Content-Type": "application/json" });
      if (text !== undefined) response.end(text);
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  it("asks the provider", async () => {
    const provider = await startProvider([]);
    onTestFinished(() => provider.close());
    const { issuer } = provider;
    expect(await diagnose(issuer)).toEqual({ status: 0, line: `ok: authentication[0]: oidc, ${issuer} answers` });
  });

  it("says why a provider does not answer as it should, which check does not ask", async () => {
    const closed = `http://127.0.0.1:${await findFreePort()}`;
    for (const [issuer, reason] of [
      [closed, "the connection was refused"],
      ["https://127.0.0.1:1", "bad port"],
      [await serve(404, ""), "answers with the status 404"],
      [await serve(200, "{"), "its configuration is not valid JSON"],
      [await serve(200, "{}"), "its configuration is not valid"],
      [await serve(200, '{ "issuer": "https://other.example" }'), "its configuration names another issuer"],
      [await serve(200), "no response in time"],
    ] as const) {
      const line = expect.stringContaining(`error: authentication[0]: oidc, ${issuer}: ${reason}: check issuer`);
      expect(await diagnose(issuer)).toEqual({ status: 1, line });
      expect(await runInProcess(["check", "--config", await toConfig(issuer)])).toMatchObject({ status: 0 });
    }
  });
});
