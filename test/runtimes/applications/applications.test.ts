import { existsSync } from "node:fs";
import { mkdtemp, readFile, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest";
import { ensureBuilt, projectFolder } from "../../support/built.ts";
import { findFreePort } from "../../support/nginx.ts";
import { startExample } from "../start-example.ts";
import { type Browser, createBrowser } from "./browser.ts";

const applicationsFolder = join(projectFolder, "examples/applications");

/** Why they cannot be tried here; in continuous integration that is a failure. */
function findMissing(): string | undefined {
  if (existsSync(join(applicationsFolder, "node_modules/express-session"))) return undefined;
  const reason = "examples/applications has no node_modules: npm ci --prefix examples/applications";
  if (process.env.CI) throw new Error(reason);
  return reason;
}

const missing = findMissing();
if (missing !== undefined) process.stderr.write(`The applications are not tested: ${missing}\n`);

/** Starts an application before all tests of a suite, and ends it after them. */
function useApplication(name: string): { readonly browser: Browser; readonly root: string } {
  let root = "";
  let application: Awaited<ReturnType<typeof startExample>>;
  let browser: Browser;
  beforeAll(async () => {
    await ensureBuilt();
    root = await mkdtemp(join(tmpdir(), "fileferry-application-"));
    application = await startExample(`node examples/applications/run.mjs ${name} ${root} ${await findFreePort()}`, {});
  }, 300_000);
  beforeEach(() => {
    browser = createBrowser(application.url);
  });
  afterAll(async () => {
    await application?.stop();
    await rm(root, { recursive: true, force: true });
  });
  return {
    get browser() {
      return browser;
    },
    get root() {
      return root;
    },
  };
}

function logIn({ send }: Browser, path: string, username: string, password: string): Promise<Response> {
  return send("POST", path, { body: new URLSearchParams({ username, password }) });
}

describe.skipIf(missing !== undefined).each(["express-sessions", "passport"])(
  "an application with users of its own: %s",
  (name) => {
    const test = useApplication(name);

    it("shows its users their files without a second login", async () => {
      const { browser, root } = test;
      await logIn(browser, "/login", "alice", "secret");
      const page = await browser.send("GET", "/files/home/");
      expect(page.status).toBe(200);
      expect(await page.text()).toContain("<bdi>alice</bdi>");
      expect((await browser.send("PUT", "/files/home/a.txt", { body: "of alice" })).status).toBe(201);
      expect(await readFile(join(root, "alice", "a.txt"), "utf8")).toBe("of alice");
      expect(browser.cookieNames()).toEqual(["connect.sid"]);
      const account = await browser.send("GET", "/files/home/__svc__/account");
      expect(await account.json()).toMatchObject({ name: "alice" });
    });

    it("keeps the files of its users apart", async () => {
      const { browser, root } = test;
      await logIn(browser, "/login", "bob", "hunter2");
      await browser.send("PUT", "/files/home/b.txt", { body: "of bob" });
      expect(await readFile(join(root, "bob", "b.txt"), "utf8")).toBe("of bob");
      expect((await browser.send("GET", "/files/home/a.txt")).status).toBe(404);
    });

    it("does not believe a header", async () => {
      const { browser } = test;
      await logIn(browser, "/login", "bob", "hunter2");
      for (const headers of [
        { "x-user": "alice", "x-forwarded-user": "alice", "remote-user": "alice" },
        { authorization: `Basic ${btoa("alice:secret")}` },
        { authorization: "Bearer alice" },
        { authorization: "session alice" },
      ]) {
        const account = await browser.send("GET", "/files/home/__svc__/account", { headers });
        expect(await account.json()).toMatchObject({ name: "bob" });
        const stranger = await createBrowser(browser.origin).send("GET", "/files/home/", { headers });
        expect([stranger.status, stranger.headers.get("location")]).toEqual([303, "/"]);
      }
    });

    it("lets no page of another site change files", async () => {
      const { browser } = test;
      await logIn(browser, "/login", "alice", "secret");
      const headers = { origin: "https://evil.example", "sec-fetch-site": "cross-site" };
      const attack = await browser.send("PUT", "/files/home/evil.txt", { headers, body: "x" });
      expect([attack.status, attack.headers.get("error-code")]).toEqual([403, "cross-site"]);
    });

    it("shows no files after its logout", async () => {
      const { browser } = test;
      expect((await logIn(browser, "/login", "alice", "wrong")).status).toBe(401);
      expect((await browser.send("GET", "/files/home/")).status).toBe(303);
      await logIn(browser, "/login", "alice", "secret");
      expect((await browser.send("GET", "/files/home/")).status).toBe(200);
      await browser.send("POST", "/logout");
      expect((await browser.send("GET", "/files/home/")).status).toBe(303);
    });
  },
);

/** How the users of an application log in and out by its library. */
interface Logins {
  logIn(browser: Browser): Promise<unknown>;
  logOut(browser: Browser): Promise<unknown>;
}

const BETTER_AUTH: Logins = {
  logIn: ({ origin, send }) =>
    send("POST", "/api/auth/sign-up/email", {
      headers: { origin, "content-type": "application/json" },
      body: JSON.stringify({ name: "Alice", email: `${crypto.randomUUID()}@example.com`, password: "a long secret" }),
    }),
  logOut: ({ origin, send }) =>
    send("POST", "/api/auth/sign-out", { headers: { origin, "content-type": "application/json" }, body: "{}" }),
};

async function sendToAuthJs({ send }: Browser, path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const { csrfToken } = (await (await send("GET", "/auth/csrf")).json()) as { csrfToken: string };
  await send("POST", path, { body: new URLSearchParams({ ...fields, csrfToken }) });
}

const AUTH_JS: Logins = {
  logIn: (browser) => sendToAuthJs(browser, "/auth/callback/credentials", { username: "alice", password: "secret" }),
  logOut: (browser) => sendToAuthJs(browser, "/auth/signout", {}),
};

describe.skipIf(missing !== undefined).each([
  ["better-auth", BETTER_AUTH],
  ["auth-js", AUTH_JS],
] as const)("an application with the library %s", (name, { logIn, logOut }) => {
  const test = useApplication(name);

  it("shows its users their files, from their login to their logout", async () => {
    const { browser, root } = test;
    const isShown = async (): Promise<boolean> => (await browser.send("GET", "/files/home/")).status === 200;
    expect(await isShown()).toBe(false);
    await logIn(browser);
    expect(await isShown()).toBe(true);
    expect((await browser.send("PUT", "/files/home/a.txt", { body: "of alice" })).status).toBe(201);
    const account = await browser.send("GET", "/files/home/__svc__/account");
    const { name: username } = (await account.json()) as { name: string };
    expect(await readFile(join(root, username, "a.txt"), "utf8")).toBe("of alice");
    await logOut(browser);
    expect(await isShown()).toBe(false);
  });

  it("does not believe a cookie that the library has not made", async () => {
    const { browser } = test;
    await logIn(browser);
    for (const cookie of [
      "better-auth.session_token=alice; authjs.session-token=alice",
      "better-auth.session_token=alice.c2lnbmF0dXJl; authjs.session-token=eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.",
    ]) {
      const stranger = await createBrowser(browser.origin).send("GET", "/files/home/", { headers: { cookie } });
      expect([stranger.status, stranger.headers.get("location")]).toEqual([302, expect.stringContaining("/login?")]);
    }
  });
});

describe.skipIf(missing !== undefined)("two services of one application", () => {
  const test = useApplication("two-services");

  async function nameAt({ send }: Browser, base: string): Promise<unknown> {
    const response = await send("GET", `/${base}/home/__svc__/account`, { headers: { accept: "application/json" } });
    return response.ok ? ((await response.json()) as { name: string }).name : response.status;
  }

  it("keep each other's sessions", async () => {
    const { browser } = test;
    expect((await logIn(browser, "/a/__svc__/login", "alice", "secret")).status).toBe(302);
    expect(await nameAt(browser, "b")).toBe(401);
    expect((await logIn(browser, "/b/__svc__/login", "bob", "secret")).status).toBe(302);
    expect([await nameAt(browser, "a"), await nameAt(browser, "b")]).toEqual(["alice", "bob"]);
    await browser.send("POST", "/a/__svc__/logout");
    expect([await nameAt(browser, "a"), await nameAt(browser, "b")]).toEqual([401, "bob"]);
  });

  it("keep the cookie and the headers of the application", async () => {
    const { browser } = test;
    const login = await logIn(browser, "/a/__svc__/login", "alice", "secret");
    expect(login.headers.getSetCookie()).toEqual([
      "theme=dark; Path=/; SameSite=Lax",
      expect.stringMatching(/^SVC_HTTP_SESSION=\w+; Path=\/a; HttpOnly; SameSite=strict$/),
    ]);
    for (const path of ["/a/home/", "/a/home/none.txt", "/b/home/", "/"]) {
      const { headers } = await browser.send("GET", path);
      expect([headers.get("x-app"), headers.get("vary")]).toEqual(["demo", expect.stringContaining("X-Theme")]);
      expect(headers.getSetCookie()).toContain("theme=dark; Path=/; SameSite=Lax");
    }
    expect((await browser.send("GET", "/a/home/")).headers.get("vary")).toMatch(/^X-Theme, Accept,.* Cookie/);
  });
});
