import { once } from "node:events";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import type { Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Page } from "playwright-core";
import { onTestFinished } from "vitest";
import type { FileServiceOptions } from "../../src/config/options.ts";
import type { FileService } from "../../src/contracts/file-service.ts";
import { createFileService } from "../../src/index.ts";
import { closeNodeServer, createAccountsFileAuthenticator, createNodeServer } from "../../src/node.ts";
import { createDiskStorage } from "../../src/storage/disk.ts";
import { createMemoryStorage } from "../../src/storage/memory.ts";
import { createTrashStorage } from "../../src/storage/trash.ts";
import { createVersionsStorage } from "../../src/storage/versions.ts";
import { createMemoryKeyValueStore } from "../../src/stores/memory.ts";
import { LINK_SECRET } from "../support/links.ts";
import { createRecordingLogger } from "../support/logger.ts";
import { standBetween } from "../support/openapi/between.ts";
import { quickHasher } from "../support/quick-hasher.ts";
import { watchSecrets } from "../support/secrets/secrets.ts";
import { fillStorage } from "../support/storage.ts";

/**
 * A service on a disk of its own, as a browser meets it. Its one account is alice, whose password is {@link PASSWORD}.
 */
export interface Site {
  readonly origin: string;
  /** The URL of alice's root folder. */
  readonly home: string;
  readonly server: Server;
  /** The links of the service, if it has any. */
  readonly links: FileService["links"];
  /** Where alice's files are. */
  readonly folder: string;
  /**
   * Everything below a folder of the disk, temporary files too; folders end in `/`. Empty folders of uploads are left
   * out.
   */
  list(): Promise<string[]>;
  content(path: string): Promise<string>;
  /** Lets time pass for the service. */
  advance(seconds: number): void;
  close(): Promise<void>;
}

export const PASSWORD = "correct horse battery";

/** What a site may have of its own. */
export interface SiteOptions extends Partial<FileServiceOptions> {
  /** What is there at first: contents by path, folders end in `/`. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /**
   * Whether cookies reach the browser. Without them it is as one that refuses them; Chromium's own setting would hold
   * back Basic credentials too. Default: true.
   */
  readonly cookies?: boolean;
  /** Whether the browser's API is served alone. Default: false. */
  readonly browserAlone?: boolean;
  /** Whether what is deleted goes to a trash. Default: false. */
  readonly hasTrash?: boolean;
}

/** Starts a site, gone after the test. */
export async function openSite(options: SiteOptions = {}): Promise<Site> {
  const site = await startSite(options);
  onTestFinished(() => site.close());
  return site;
}

/** Starts a site in memory with a trash, links and versions: each of its files has been replaced once. */
export async function openFullSite({ files = {}, ...own }: SiteOptions = {}): Promise<Site> {
  const versioned = createVersionsStorage(createMemoryStorage());
  const storage = createTrashStorage(versioned);
  for (const [path, content] of Object.entries(files)) {
    for (const one of ["what was there before", content]) await fillStorage(storage, { [`/${path}`]: one });
  }
  const links = { secret: LINK_SECRET, passwordHasher: quickHasher, store: createMemoryKeyValueStore() };
  return openSite({ storage, trash: storage.trash, versions: versioned.versions, links, ...own });
}

/** Starts a site, to be closed by the caller. */
export async function startSite({
  files = {},
  cookies = true,
  browserAlone = false,
  hasTrash = false,
  ...own
}: SiteOptions = {}): Promise<Site> {
  const place = await mkdtemp(join(tmpdir(), "fileferry-browser-"));
  const folder = join(place, "storage");
  await mkdir(folder);
  for (const [path, content] of Object.entries(files)) {
    const target = join(folder, path);
    await mkdir(path.endsWith("/") ? target : dirname(target), { recursive: true });
    if (!path.endsWith("/")) await writeFile(target, content);
  }
  const accounts = [{ username: "alice", password: PASSWORD, home_folder_path: "/" }];
  const file = join(place, "accounts.json");
  await writeFile(file, JSON.stringify({ accounts }));
  const logger = createRecordingLogger();
  let passed = 0;
  // No page shows whether a change would survive a power failure, and flushing takes most of the time of thousands.
  const disk = createDiskStorage({ root: folder, durability: "rename" });
  const storage = createTrashStorage(disk);
  const service = createFileService({
    ...(hasTrash ? { storage, trash: storage.trash } : { storage: disk }),
    authentication: createAccountsFileAuthenticator({ file, passwordHasher: quickHasher, logger }),
    groups: { DEFAULT_GROUP: { allow_own_password_change: true } },
    logger,
    clock: () => Date.now() + passed,
    ...own,
    onEvent: [watchSecrets(logger), own.onEvent ?? []].flat(),
  });
  await service.start();
  const fetch = browserAlone ? service.browser : service.fetch;
  const server = createNodeServer({ ...service, fetch: cookies ? fetch : dropCookies(fetch) });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  standBetween(port, { drops: cookies ? [] : ["set-cookie"] });
  const origin = `http://127.0.0.1:${port}`;
  return {
    origin,
    home: `${origin}${own.basePath ?? ""}/home/`,
    server,
    links: service.links,
    folder,
    list: () => listFolder(folder),
    content: (path) => readFile(join(folder, path), "utf8"),
    advance(seconds) {
      passed += seconds * 1000;
    },
    async close() {
      server.closeAllConnections();
      await closeNodeServer(server);
      await rm(place, { recursive: true, force: true });
    },
  };
}

function dropCookies(fetch: FileService["fetch"]): FileService["fetch"] {
  return async (request, connection) => {
    const response = await fetch(request, connection);
    response.headers.delete("set-cookie");
    return response;
  };
}

async function listFolder(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  return entries
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1) + (entry.isDirectory() ? "/" : ""))
    .filter((path) => !/^\.fileferry-uploads\.tmp\/(?:.*\/)?$/.test(path))
    .sort();
}

/** Logs in as the form does, without opening it, and opens the root folder. */
export async function logIn(page: Page, site: Site, password = PASSWORD): Promise<void> {
  const form = { username: "alice", password, return: new URL(site.home).pathname };
  const headers = { Accept: "text/html", Origin: site.origin };
  await page.request.post(new URL("../__svc__/login", site.home).href, { form, headers, maxRedirects: 0 });
  await page.goto(site.home);
  await page.waitForSelector("main#folder");
}

/** Logs in by the form, and so opens the root folder. */
export async function logInByForm(page: Page, site: Site, password = PASSWORD): Promise<void> {
  await page.goto(site.home);
  await page.fill('input[name="username"]', "alice");
  await page.fill('input[name="password"]', password);
  await page.press('input[name="password"]', "Enter");
  await page.waitForSelector("main#folder");
  // The scripts of the page are deferred: they have run then.
  await page.waitForLoadState("domcontentloaded");
}

/** Makes a folder by the field that the bar opens. */
export async function makeFolder(page: Page, name: string): Promise<void> {
  const field = page.locator('input[name="new-folder"]');
  if (!(await field.isVisible())) await page.locator("#create > summary").click();
  await field.fill(name);
  await field.press("Enter");
}

/** Opens the menu for what concerns the account. */
export async function openAccountMenu(page: Page): Promise<void> {
  await page.locator("#account > summary").click();
}

/** Opens the menu of a row, or the panel that it links to, and chooses one of its actions. */
export async function chooseAction(page: Page, name: string, action: string): Promise<void> {
  await rowOf(page, name).getByRole("link", { name: "Actions for" }).click();
  await page.getByRole("menuitem", { name: action, exact: true }).click();
}

/** Drops files on the page, or on an element of it, made in it. */
export async function dropFiles(
  page: Page,
  files: readonly { name: string; content: string }[],
  target = "main",
): Promise<void> {
  const transfer = await page.evaluateHandle((made) => {
    const data = new DataTransfer();
    for (const { name, content } of made) data.items.add(new File([content], name));
    return data;
  }, files);
  await page.dispatchEvent(target, "dragenter", { dataTransfer: transfer });
  await page.dispatchEvent(target, "dragover", { dataTransfer: transfer });
  await page.dispatchEvent(target, "drop", { dataTransfer: transfer });
}

/** Drops files and folders of the disk on the page, as a user does. */
export async function dropFromDisk(page: Page, paths: readonly string[]): Promise<void> {
  const session = await page.context().newCDPSession(page);
  const data = { items: [], files: [...paths], dragOperationsMask: 1 };
  const send = (type: "dragEnter" | "dragOver" | "drop") =>
    session.send("Input.dispatchDragEvent", { type, x: 200, y: 200, data });
  const accepted = await page.evaluateHandle(() => {
    const seen = { here: false };
    addEventListener("dragover", (event) => {
      seen.here ||= event.defaultPrevented;
    });
    return seen;
  });
  await send("dragEnter");
  // A drop counts only where the page has accepted what is above it.
  for (let tries = 0; tries < 100 && !(await accepted.jsonValue()).here; tries += 1) await send("dragOver");
  await send("dragOver");
  await send("drop");
  await session.detach();
}

/** Closes a dialog by Escape. Until it is gone, and not only hidden, the page waits for its answer. */
export async function closeDialog(page: Page): Promise<void> {
  await page.keyboard.press("Escape");
  await page.locator("dialog").waitFor({ state: "detached" });
}

/** Closes the viewer by Escape. Until the browser has gone back in its history, the page opens no other file. */
export async function closeViewer(page: Page): Promise<void> {
  await closeDialog(page);
  await page.waitForFunction(() => {
    const { navigation } = globalThis as unknown as { readonly navigation: { readonly canGoForward: boolean } };
    return navigation.canGoForward;
  });
}

/** Runs an action on members, and waits until they have come anew. */
export async function untilRefreshed(page: Page, act: () => Promise<void> | undefined): Promise<void> {
  const refreshed = await page.evaluateHandle(() => {
    const done = new Promise<void>((resolve) => {
      addEventListener("members-replaced", () => resolve(), { once: true });
    });
    return { done };
  });
  await act();
  await refreshed.evaluate(({ done }) => done);
}

/** The row of an upload. */
export function transferOf(page: Page, name: string): ReturnType<Page["locator"]> {
  return page.locator(".transfer").filter({ has: page.getByText(name, { exact: true }) });
}

/** The row of a member in the table. */
export function rowOf(page: Page, name: string): ReturnType<Page["locator"]> {
  return page.locator(`tr[data-name="${name.replaceAll('"', '\\"')}"]`);
}

/** Presses Tab until the element has the focus, as far as a page's worth of stops. */
export async function tabTo(page: Page, selector: string): Promise<void> {
  for (let stops = 0; stops < 60; stops++) {
    if (await page.locator(selector).evaluate((target) => target === document.activeElement)) return;
    await page.keyboard.press("Tab");
  }
  throw new Error(`The keyboard does not reach ${selector}.`);
}
