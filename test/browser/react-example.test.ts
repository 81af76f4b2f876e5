import { execFile } from "node:child_process";
import { once } from "node:events";
import { existsSync, rmSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { promisify } from "node:util";
import type { CDPSession, Page } from "playwright-core";
import ts from "typescript";
import { beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { ensureBuilt, makeFolder, projectFolder, startServer } from "../support/built.ts";
import { type Chromium, describeInChromium, eventually, type WatchedPage } from "./chromium.ts";
import { dropFiles } from "./site.ts";

const exampleFolder = join(projectFolder, "examples/react");
const vite = join(exampleFolder, "node_modules/vite/bin/vite.js");
const MIB = 1024 ** 2;

/** Why the example cannot be tried here; in continuous integration that is a failure. */
function findMissing(): string | undefined {
  if (existsSync(vite)) return undefined;
  const reason = "examples/react has no node_modules: npm ci --prefix examples/react --ignore-scripts";
  if (process.env.CI) throw new Error(reason);
  return reason;
}

const missing = findMissing();
const title = `examples/react${missing === undefined ? "" : `, not run: ${missing}`}`;

/** The example's page on its origin, the built service on another one, and the folder of the account `demo`. */
interface Example extends WatchedPage {
  readonly folder: string;
  readonly service: string;
}

async function openExample(chromium: Chromium): Promise<Example> {
  const root = await makeFolder();
  const folder = join(root, "files/demo");
  await mkdir(join(folder, "reports/2026 100%"), { recursive: true });
  await mkdir(join(folder, "read-only"));
  await writeFile(join(folder, "notes.txt"), "old");
  await writeFile(join(folder, "reports/q1.csv"), "quarter");
  const served = { url: "" };
  const origin = await servePage(served);
  const { url } = await startServer(["serve", "--config", await writeConfiguration(root, origin), "--quiet"]);
  const service = url.replace(/\/$/, "");
  served.url = service;
  const watched = await chromium.open();
  await watched.page.goto(origin);
  return { ...watched, folder, service };
}

/** The example's own configuration, with the test's folder and origin, and a folder that the account may only read. */
async function writeConfiguration(root: string, origin: string): Promise<string> {
  const own = JSON.parse(await readFile(join(exampleFolder, "fileferry.json"), "utf8"));
  const permissions = [["allow-full-control"], ["/read-only/*", "allow-list", "allow-read"]];
  const file = join(root, "fileferry.json");
  const configuration = {
    ...own,
    listen: { port: 0 },
    storage: { ...own.storage, root: "files" },
    groups: { DEFAULT_GROUP: { permissions } },
    cors: { origins: [origin] },
    acceptedOrigins: [origin],
  };
  await writeFile(file, JSON.stringify(configuration));
  return file;
}

/** Stands in the page that is built once for the service of each test. */
const SERVICE = "http://service.example";

let built: Promise<string> | undefined;

/** Builds the page with React's checks of development, such as the strict mode; it is there as long as this process. */
async function buildPage(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "fileferry-react-"));
  process.once("exit", () => rmSync(folder, { recursive: true, force: true }));
  const env = { ...process.env, NODE_ENV: "development", VITE_SERVICE: SERVICE };
  const args = [vite, "build", "--mode", "development", "--outDir", folder, "--emptyOutDir"];
  await promisify(execFile)(process.execPath, args, { cwd: exampleFolder, env });
  return folder;
}

const TYPES: Readonly<Record<string, string>> = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css" };

/** Serves the page until the test ends, as it is built for a service. */
async function servePage(service: { readonly url: string }): Promise<string> {
  built ??= buildPage();
  const folder = await built;
  const server = createServer(async ({ url = "/" }, response) => {
    const path = url === "/" ? "/index.html" : url;
    const content = (await readFile(join(folder, path), "utf8")).replaceAll(SERVICE, service.url);
    response.writeHead(200, { "content-type": TYPES[extname(path)] ?? "text/plain" }).end(content);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => void server.close());
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

async function logIn(page: Page, password = "demo"): Promise<void> {
  await page.getByLabel("User name").fill("demo");
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Log in" }).click();
}

/** Chooses files in the form of the page. */
async function choose(page: Page, name: string, content: string | Buffer): Promise<void> {
  const buffer = Buffer.from(content);
  await page.getByLabel("Choose files").setInputFiles({ name, mimeType: "text/plain", buffer });
}

const names = (page: Page) => page.locator("tbody td:first-child").allTextContents();
const alerts = (page: Page) => page.getByRole("alert").allTextContents();
const uploadRow = (page: Page, name: string) =>
  page.getByRole("region", { name: "Uploads" }).locator("li", { hasText: name });

/** Limits how fast the page sends. */
/** Whether a file has the bytes of an upload that is not complete. */
const isBytes = (name: string) => name.startsWith(".fileferry-upload-");
const isReserved = (name: string) => name.startsWith(".fileferry-");

async function limitUploads(page: Page, uploadThroughput: number): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const conditions = { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput };
  await session.send("Network.emulateNetworkConditions", conditions);
}

/** Counts the password dialogs that the browser would open. */
async function countDialogs(session: CDPSession): Promise<() => number> {
  let count = 0;
  // A request may have ended by itself meanwhile.
  const ignore = (): void => undefined;
  await session.send("Fetch.enable", { handleAuthRequests: true });
  session.on("Fetch.requestPaused", ({ requestId }) => {
    session.send("Fetch.continueRequest", { requestId }).catch(ignore);
  });
  session.on("Fetch.authRequired", ({ requestId }) => {
    count++;
    const authChallengeResponse = { response: "CancelAuth" } as const;
    session.send("Fetch.continueWithAuth", { requestId, authChallengeResponse }).catch(ignore);
  });
  return () => count;
}

describe.skipIf(missing !== undefined)(title, () => {
  beforeAll(() => ensureBuilt(), 300_000);

  it("compiles with its own settings", () => {
    const { config } = ts.readConfigFile(join(exampleFolder, "tsconfig.json"), ts.sys.readFile);
    const { options, fileNames, errors } = ts.parseJsonConfigFileContent(config, ts.sys, exampleFolder);
    expect({ strict: options.strict, errors }).toEqual({ strict: true, errors: [] });
    expect(fileNames.length).toBeGreaterThan(5);
    const program = ts.createProgram(fileNames, options);
    const found = ts.getPreEmitDiagnostics(program).map(({ file, messageText }) => {
      return `${file?.fileName ?? ""} ${ts.flattenDiagnosticMessageText(messageText, "\n")}`;
    });
    expect(found).toEqual([]);
  });

  describeInChromium("in a page of another origin", (chromium) => {
    it("refuses a wrong password by a text, without the browser's dialog", async () => {
      const { page, context, expectNoComplaints } = await openExample(chromium);
      const dialogs = await countDialogs(await context.newCDPSession(page));
      await logIn(page, "wrong");
      await eventually(() => alerts(page)).toEqual(["The user name or the password is wrong."]);
      expect(dialogs()).toBe(0);
      await logIn(page);
      await eventually(() => names(page)).toContain("notes.txt");
      expectNoComplaints(/status of 401/);
    });

    it("lists folders, goes through them by links and back, and downloads a file", async () => {
      const { page, expectNoComplaints } = await openExample(chromium);
      await logIn(page);
      await eventually(() => names(page)).toEqual(["read-only/", "reports/", "notes.txt"]);
      await page.getByRole("link", { name: "reports/" }).click();
      await eventually(() => names(page)).toEqual(["2026 100%/", "q1.csv"]);
      await page.getByRole("link", { name: "2026 100%/" }).click();
      await page.getByText("There are no files here.").waitFor();
      const breadcrumbs = page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link");
      await eventually(() => breadcrumbs.allTextContents()).toEqual(["Files", "reports", "2026 100%"]);
      await page.goBack();
      await eventually(() => names(page)).toEqual(["2026 100%/", "q1.csv"]);
      const downloading = page.waitForEvent("download");
      await page.getByRole("button", { name: "q1.csv" }).click();
      const download = await downloading;
      expect(download.suggestedFilename()).toBe("q1.csv");
      expect(await readFile(await download.path(), "utf8")).toBe("quarter");
      await breadcrumbs.first().click();
      await eventually(() => names(page)).toEqual(["read-only/", "reports/", "notes.txt"]);
      expectNoComplaints();
    });

    it("uploads with progress, also what is dropped, and lists it", async () => {
      const { page, folder, expectNoComplaints } = await openExample(chromium);
      await logIn(page);
      await eventually(() => names(page)).toContain("notes.txt");
      await limitUploads(page, 4 * MIB);
      await choose(page, "large.bin", Buffer.alloc(6 * MIB));
      const progress = page.getByRole("progressbar", { name: "Progress of large.bin" });
      const share = () => progress.evaluate((bar: HTMLProgressElement) => bar.position, undefined, { timeout: 1000 });
      await eventually(async () => {
        const now = await share();
        return now > 0 && now < 1;
      }).toBe(true);
      await uploadRow(page, "large.bin").getByText("Done").waitFor();
      await dropFiles(page, [{ name: "dropped.txt", content: "hello" }]);
      await uploadRow(page, "dropped.txt").getByText("Done").waitFor();
      await eventually(() => page.getByRole("status").textContent()).toBe("2 of 2 files uploaded");
      await eventually(() => names(page)).toEqual(["read-only/", "reports/", "dropped.txt", "large.bin", "notes.txt"]);
      expect((await readFile(join(folder, "large.bin"))).length).toBe(6 * MIB);
      expect(await readFile(join(folder, "dropped.txt"), "utf8")).toBe("hello");
      expectNoComplaints();
    });

    it("says by the code why an upload failed, and replaces a file if the user wants", async () => {
      const { page, folder, expectNoComplaints } = await openExample(chromium);
      await logIn(page);
      await eventually(() => names(page)).toContain("notes.txt");
      await choose(page, "notes.txt", "new");
      await eventually(() => alerts(page)).toEqual(["A file with this name already exists."]);
      expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("old");
      await page.getByRole("button", { name: "Replace: notes.txt" }).click();
      await uploadRow(page, "notes.txt").getByText("Done").waitFor();
      expect(await readFile(join(folder, "notes.txt"), "utf8")).toBe("new");
      await page.getByRole("link", { name: "read-only/" }).click();
      await page.getByText("There are no files here.").waitFor();
      await choose(page, "a.txt", "a");
      await eventually(() => alerts(page)).toEqual(["You are not allowed to do this."]);
      expect(await readdir(join(folder, "read-only"))).toEqual([]);
      expectNoComplaints(/status of (?:403|412)/);
    });

    it("aborts an upload by its button, which leaves nothing, and by the logout, which makes no file", async () => {
      const { page, folder, expectNoComplaints } = await openExample(chromium);
      const before = (await readdir(folder)).sort();
      await logIn(page);
      await eventually(() => names(page)).toContain("notes.txt");
      await limitUploads(page, MIB);
      await choose(page, "large.bin", Buffer.alloc(20 * MIB));
      await page.getByRole("button", { name: "Abort large.bin" }).click();
      await uploadRow(page, "large.bin").getByText("Aborted").waitFor();
      await eventually(async () => (await readdir(folder)).filter(isBytes)).toEqual([]);
      const isSending = page.waitForRequest((request) => request.method() === "PATCH");
      await page.getByRole("button", { name: "Try again: large.bin" }).click();
      await isSending;
      const isAborted = page.waitForEvent("requestfailed", (request) => request.method() === "PATCH");
      await page.getByRole("button", { name: "Log out" }).click();
      await isAborted;
      await page.getByRole("heading", { name: "Log in" }).waitFor();
      // The upload itself ends when it expires: without the session it cannot be discarded.
      await eventually(async () => (await readdir(folder)).filter((name) => !isReserved(name)).sort()).toEqual(before);
      expectNoComplaints(/status of 401/);
    });

    it("says that the session has ended, or that the service cannot be reached", async () => {
      const { page, service } = await openExample(chromium);
      await logIn(page);
      await eventually(() => names(page)).toContain("notes.txt");
      await page.route(`${service}/**`, (route) => {
        const authorization = "session 00000000000000000000000000000000";
        return route.continue({ headers: { ...route.request().headers(), authorization } });
      });
      await choose(page, "a.txt", "a");
      await eventually(() => alerts(page)).toContain("Your session has ended. Please log in again.");
      await page.unroute(`${service}/**`);
      await page.route(`${service}/**`, (route) => route.abort());
      await choose(page, "b.txt", "b");
      await eventually(() => alerts(page)).toContain("The service cannot be reached, or the file cannot be read.");
    });
  });
});
