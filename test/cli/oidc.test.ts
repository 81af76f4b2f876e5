import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, startServer, waitFor } from "../support/built.ts";
import { findFreePort } from "../support/nginx.ts";
import { CLIENT_ID, CLIENT_SECRET, startProvider } from "../support/oidc/provider.ts";
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
