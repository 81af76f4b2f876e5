import { readFile } from "node:fs/promises";
import type { Page } from "playwright-core";
import { expect, it } from "vitest";
import { readZip } from "../unit/archive/read-zip.ts";
import { describeInChromium, eventually } from "./chromium.ts";
import { chooseAction, closeDialog, logIn, makeFolder, openFullSite, openSite, rowOf, type Site } from "./site.ts";

const DEEP =
  "Projects of 2026/Customers and their contracts/North, sales and marketing/Letters of the second half of the year";
const NESTED = Array.from({ length: 12 }, (_, level) => `folder of level ${level}`).join("/");
const FILES = { "reports/inner.txt": "x", "a.txt": "a", "b.txt": "b", "Café.jpg": "x" };
const LOCALES = ["en-GB", "de-DE", "fr-FR", "es-ES"];
const SIZES = [
  ["a desktop", { viewport: { width: 1280, height: 800 } }, 200, 36],
  ["a phone", { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }, 220, 48],
] as const;

describeInChromium("the files of a folder", (chromium) => {
  it.each(SIZES)("come first on %s, with what they are in all", async (_, options, limit, height) => {
    const site = await openFullSite({ files: { ...FILES, [`${DEEP}/letter.txt`]: "x" } });
    const { page, expectNoComplaints } = await chromium.open(options);
    await logIn(page, site);
    const box = await page.locator("tbody tr").first().boundingBox();
    expect(box?.y).toBeLessThan(limit);
    expect(box?.height).toBeGreaterThanOrEqual(height);
    expect(box?.height).toBeLessThan(height + 8);
    expect(await page.locator(".summary").textContent()).toBe("5 items, 3 bytes");
    await page.goto(`${site.home}reports/`);
    expect((await page.locator("tbody tr").first().boundingBox())?.y).toBeLessThan(limit);
    await page.getByRole("link", { name: "Up to Home" }).click();
    await rowOf(page, "a.txt").waitFor();
    await page.goto(`${site.home}${DEEP}/`);
    expect((await page.locator("tbody tr").first().boundingBox())?.y).toBeLessThan(limit);
    await expectVisitorsSeeFiles(page, site, limit);
    expectNoComplaints();
    const { page: plain } = await chromium.open({ ...options, javaScriptEnabled: false });
    await logIn(plain, site);
    for (const path of ["", "reports/", `${DEEP}/`]) {
      await plain.goto(site.home + path);
      expect((await plain.locator("tbody tr").first().boundingBox())?.y, path).toBeLessThan(limit);
    }
  });

  it("have names of any direction below each other on a phone", async () => {
    const site = await openSite({ files: { "a.txt": "a", "עברית.txt": "b" } });
    const { page } = await chromium.open(SIZES[1][1]);
    await logIn(page, site);
    const starts = await page.locator("tbody th a").evaluateAll((links) =>
      links.map((link) => {
        const text = document.createRange();
        text.selectNodeContents(link);
        return Math.round(text.getBoundingClientRect().left);
      }),
    );
    expect(new Set(starts).size).toBe(1);
  });

  it("come first for visitors with a small phone, in German", async () => {
    const site = await openFullSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({
      ...SIZES[1][1],
      locale: "de-DE",
      viewport: { width: 360, height: 740 },
    });
    await expectVisitorsSeeFiles(page, site, SIZES[1][2]);
    expectNoComplaints();
  });

  it("have the bar of a selection in one line on a phone, in German, without what only the menu has", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open({
      ...SIZES[1][1],
      locale: "de-DE",
      viewport: { width: 390, height: 740 },
    });
    await logIn(page, site);
    await page.locator("#select-all").click();
    const bar = page.locator("#members .selected");
    expect((await bar.boundingBox())?.height).toBeLessThan(64);
    expect(await bar.getByRole("button", { name: "Endgültig löschen" }).count()).toBe(0);
    await rowOf(page, "a.txt").getByRole("link", { name: "Aktionen" }).click();
    await page.getByRole("menuitem", { name: "Endgültig löschen" }).waitFor();
    expectNoComplaints();
  });

  it.each(LOCALES)("have the bar of a selected file in one line on a desktop, %s", async (locale) => {
    const site = await openFullSite({ files: FILES });
    const { page } = await chromium.open({ viewport: { width: 1280, height: 740 }, locale });
    await logIn(page, site);
    await rowOf(page, "a.txt").locator("input").check();
    expect((await page.locator("#members .selected").boundingBox())?.height).toBeLessThan(64);
  });

  it.each(LOCALES)("need no sideways scrolling at 320 px and at 200 percent zoom, %s", async (locale) => {
    const long = `${"A name as long as names are in the offices of this world ".repeat(3)}.txt`;
    const gone = `Gone: ${long}`;
    const site = await openFullSite({
      files: { ...FILES, [long]: "x", [gone]: "x", [`${NESTED}/x.txt`]: "x" },
      triggers: { approve: { label: "Approve" } },
    });
    const { id } = await site.links.create({ username: "alice", path: `/${long}`, label: long });
    const path = encodeURIComponent(`/${long}`);
    const pages = ["trash", "keys", "links", `links/${id}`, `links/new?path=${path}`, `versions?path=${path}`];
    for (const width of [320, 640]) {
      const { page } = await chromium.open({ locale, viewport: { width, height: 480 } });
      await logIn(page, site);
      if (width === 320) await fillTrashAndKeys(page, site, gone, long);
      for (const one of [
        ...pages.map((name) => `__svc__/${name}`),
        "nothing/",
        `?member=${encodeURIComponent(long)}`,
      ]) {
        await page.goto(site.home + one);
        await expectFits(page, one);
      }
      await page.goto(`${site.home}${NESTED}/`);
      await expectFits(page, "deep path");
      // All of the breadcrumbs are in sight.
      expect(await page.locator(".crumbs ol").evaluate((list) => list.scrollWidth - list.clientWidth)).toBe(0);
      await page.goto(site.home);
      await page.keyboard.press("?");
      await expectDialogFits(page, "keyboard shortcuts");
      await rowOf(page, long)
        .getByRole("link", { name: /^(?:Actions|Aktionen|Acciones) / })
        .click();
      await page.getByRole("menuitem", { name: /Properties|Eigenschaften|Propriétés|Propiedades/ }).click();
      await expectDialogFits(page, "properties");
      await page.locator("#select-all").click();
      await expectFits(page, "selection");
      await page.locator('button[value="move-members"]').click();
      await expectDialogFits(page, "choice of a folder");
      await rowOf(page, long).locator("th a").focus();
      await page.keyboard.press("Shift+F10");
      await page.keyboard.press("End");
      await page.keyboard.press("Enter");
      await expectDialogFits(page, "question");
      // The bar of actions is in sight, whatever the length of the list.
      const bar = await page.locator(".selected").boundingBox();
      expect((bar?.y ?? 0) + (bar?.height ?? 999)).toBeLessThanOrEqual(480);
    }
  });

  it("are filtered as the user types, with what is hidden not selected any more", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.locator("#select-all").click();
    await page.getByRole("searchbox", { name: "Filter" }).fill("CAFE");
    expect(await page.locator("tbody tr:visible").count()).toBe(1);
    expect(await page.locator(".count").textContent()).toBe("1 selected, 1 byte");
    await eventually(() => page.locator(".announcer").textContent()).toBe("1 of 4 items match.");
    await page.getByRole("searchbox").fill("none");
    await page.getByText("No item has this text in its name.").waitFor();
    await page.getByRole("searchbox").press("Escape");
    expect(await page.locator("tbody tr:visible").count()).toBe(4);
    expectNoComplaints();
  });

  it("are renamed and described from the menu of the selection's bar, and several are deleted from it", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const menu = page.locator(".selected").getByRole("button", { name: "Actions" });
    const item = (name: string) => page.getByRole("menuitem", { name });
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await menu.click();
    await page.getByRole("menu", { name: "Actions for a.txt" }).waitFor();
    await page.keyboard.press("Escape");
    expect(await menu.evaluate((button) => button === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await item("Properties").click();
    await page.getByRole("dialog", { name: "a.txt" }).getByRole("button", { name: "Close" }).click();
    await menu.click();
    await item("Rename").click();
    await page.getByRole("textbox", { name: "New name" }).fill("z.txt");
    await page.keyboard.press("Enter");
    await rowOf(page, "z.txt").waitFor();
    await rowOf(page, "b.txt").getByRole("checkbox").check();
    await rowOf(page, "Café.jpg").getByRole("checkbox").check();
    await menu.click();
    await page.getByRole("menu", { name: "2 selected" }).waitFor();
    expect(await item("Rename").count()).toBe(0);
    await item("Delete").click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await eventually(() => page.locator("tbody tr").count()).toBe(2);
    expectNoComplaints();
  });

  it("stand in higher rows if the user chooses so, also on the next page", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await page.locator("#more > summary").click();
    await page.getByRole("radio", { name: "Comfortable" }).check();
    const height = async () => (await page.locator("tbody tr").first().boundingBox())?.height;
    expect(await height()).toBe(48);
    await page.goto(`${site.home}reports/`);
    expect(await height()).toBe(48);
    expectNoComplaints();
  });

  it.each([true, false])("are downloaded as one archive, with a script: %s", async (javaScriptEnabled) => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled });
    await logIn(page, site);
    await page.locator("#more > summary").click();
    const download = page.waitForEvent("download");
    await page.getByRole("link", { name: "Download all" }).click();
    const bytes = await readFile(await (await download).path());
    expect(["a.txt", "b.txt", "reports/inner.txt"].every((name) => bytes.includes(name))).toBe(true);
    expectNoComplaints();
  });

  it("are downloaded as an archive from the menu of their folder", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const download = page.waitForEvent("download");
    await chooseAction(page, "reports", "Download as ZIP");
    const entries = await readZip(await readFile(await (await download).path()));
    expect(entries.map(({ name }) => name)).toContain("reports/inner.txt");
    expectNoComplaints();
  });

  it.each([
    [
      "fr-FR",
      "Accueil",
      "4 éléments",
      ["Filtrer", "Nouveau dossier", "Envoyer"],
      ["Nom", "Taille", "Modifié"],
      "4 sélectionné(s)",
    ],
    [
      "es-ES",
      "Inicio",
      "4 elementos",
      ["Filtrar", "Carpeta nueva", "Subir"],
      ["Nombre", "Tamaño", "Modificado"],
      "4 seleccionado(s)",
    ],
  ] as const)(
    "are described in the language of the browser, %s",
    async (locale, home, items, tools, columns, selected) => {
      const site = await openSite({ files: FILES });
      const { page, expectNoComplaints } = await chromium.open({ locale });
      await logIn(page, site);
      expect(await page.locator("html").getAttribute("lang")).toBe(locale.slice(0, 2));
      expect(await page.locator("h1").textContent()).toBe(home);
      expect(await page.locator(".summary").textContent()).toMatch(RegExp(`^${items}, 3\\s`));
      const [filter, folder, upload] = tools;
      await page.getByRole("searchbox", { name: filter, exact: true }).waitFor();
      expect(await page.locator("#create > summary").textContent()).toBe(folder);
      expect(await page.locator("#send > summary").textContent()).toBe(upload);
      expect(await page.locator("thead :is(.name, .size, .modified) a").allTextContents()).toEqual(columns);
      await page.locator("#select-all").click();
      const count = await page.locator(".count").textContent();
      expect(count?.split(/\s(?=\S+$)/)[0]).toBe(`${selected}, 3`);
      await page.locator("#select-all").click();
      const menu = locale === "fr-FR" ? "Actions pour a.txt" : "Acciones para a.txt";
      await page.getByRole("link", { name: menu }).click();
      const labels = locale === "fr-FR" ? ["Ouvrir", "Renommer", "Supprimer"] : ["Abrir", "Cambiar nombre", "Eliminar"];
      expect(await page.getByRole("menuitem").allTextContents()).toEqual(expect.arrayContaining(labels));
      expectNoComplaints();
    },
  );

  it("go to the trash without a question, and come back by Restore, which does not list the trash", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    const methods: string[] = [];
    page.on("request", (request) => {
      if (request.url().endsWith("/__svc__/trash")) methods.push(request.method());
    });
    await logIn(page, site);
    await chooseAction(page, "reports", "Delete");
    await rowOf(page, "reports").waitFor({ state: "detached" });
    await page.getByRole("button", { name: "Restore" }).click();
    await rowOf(page, "reports").waitFor();
    expect(await site.content("reports/inner.txt")).toBe("x");
    await page.locator("#select-all").click();
    await page.getByRole("group").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByText("This folder is empty.").waitFor();
    await page.getByRole("button", { name: "Restore" }).click();
    await eventually(() => page.locator("tbody tr").count()).toBe(4);
    expect(methods).toEqual(["POST", "POST"]);
    await chooseAction(page, "b.txt", "Delete for good");
    await page.getByRole("dialog", { name: "Delete b.txt?" }).getByRole("button", { name: "Delete" }).click();
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    expect(await page.getByRole("button", { name: "Restore" }).count()).toBe(0);
    await page.locator("#select-all").click();
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("Shift+F10");
    await page.getByRole("menu", { name: "3 selected" }).getByRole("menuitem", { name: "Delete for good" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByText("This folder is empty.").waitFor();
    expect(await page.getByRole("button", { name: "Restore" }).count()).toBe(0);
    expectNoComplaints();
  });

  it("lead to the trash after a deletion without a script, or are deleted for good", async () => {
    const site = await openSite({ files: FILES, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open({ javaScriptEnabled: false });
    await logIn(page, site);
    await rowOf(page, "b.txt").getByRole("link", { name: "Actions for" }).click();
    await page.locator(".member").getByRole("button", { name: "Delete", exact: true }).click();
    await page.getByRole("status").getByRole("link", { name: "Trash" }).click();
    await page.getByRole("checkbox", { name: "b.txt" }).check();
    await page.getByRole("button", { name: "Restore" }).click();
    await eventually(() => site.content("b.txt")).toBe("b");
    await page.goto(site.home);
    await page.getByRole("checkbox", { name: "a.txt" }).check();
    await page.getByRole("group").getByRole("button", { name: "Delete for good" }).click();
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    await rowOf(page, "b.txt").getByRole("link", { name: "Actions for" }).click();
    await page.locator(".member").getByRole("button", { name: "Delete for good" }).click();
    await rowOf(page, "b.txt").waitFor({ state: "detached" });
    await page.goto(`${site.home}__svc__/trash`);
    await page.getByText("The trash is empty.").waitFor();
    expectNoComplaints();
  });

  it("that went to the trash come back by Restore, though others could not be deleted", async () => {
    const permissions = [["allow-full-control"], ["/b.txt", "allow-read", "allow-list"]] as const;
    const site = await openSite({ files: FILES, hasTrash: true, groups: { DEFAULT_GROUP: { permissions } } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    await rowOf(page, "a.txt").getByRole("checkbox").check();
    await rowOf(page, "b.txt").getByRole("checkbox").check();
    await page.keyboard.press("Delete");
    await rowOf(page, "a.txt").waitFor({ state: "detached" });
    expect(await page.getByRole("alert").textContent()).toMatch(/^b\.txt: .+/);
    await page.getByRole("button", { name: "Restore" }).click();
    await rowOf(page, "a.txt").waitFor();
    expect(await site.content("a.txt")).toBe("a");
    expectNoComplaints(/status of 422/);
  });

  it("stay sorted as they are in the folders that are opened, and after forms", async () => {
    const site = await openSite({ files: FILES });
    const { page, expectNoComplaints } = await chromium.open();
    const order = "?sort=size&order=asc";
    await logIn(page, site);
    await page.locator("th.size a").click();
    await page.waitForURL(site.home + order);
    await rowOf(page, "reports").locator("th a").click();
    await page.waitForURL(`${site.home}reports/${order}`);
    await rowOf(page, "inner.txt").waitFor();
    await page.keyboard.press("Backspace");
    await page.waitForURL(site.home + order);
    const { page: plain } = await chromium.open({ javaScriptEnabled: false });
    await logIn(plain, site);
    await plain.goto(site.home + order);
    await makeFolder(plain, "made");
    await plain.waitForURL(`${site.home}${order}&done=folder-created`);
    expectNoComplaints();
  });

  it("have in their menus what the account may do", async () => {
    const permissions = [["allow-list", "allow-read", "allow-delete-file"]] as const;
    const site = await openSite({ files: FILES, groups: { DEFAULT_GROUP: { permissions } } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const itemsOf = async (name: string) => {
      await rowOf(page, name).getByRole("link", { name: "Actions for" }).click();
      const items = await page.getByRole("menuitem").allTextContents();
      await page.keyboard.press("Escape");
      return items;
    };
    expect(await itemsOf("a.txt")).toEqual(["Open", "Download", "Properties", "Delete"]);
    expect(await itemsOf("reports")).toEqual(["Open", "Download as ZIP", "Properties"]);
    await chooseAction(page, "a.txt", "Properties");
    expect(await page.getByRole("dialog", { name: "a.txt" }).textContent()).toContain("1 byte");
    await page.keyboard.press("Escape");
    expect(await page.locator("#send, #create").count()).toBe(0);
    expectNoComplaints();
  });

  it("are left alone by a range and a held key where the user does not see or mean them", async () => {
    const files = Object.fromEntries(["a1", "a2", "b1", "b2", "b3"].map((name) => [`${name}.txt`, name]));
    const site = await openSite({ files, hasTrash: true });
    const { page, expectNoComplaints } = await chromium.open();
    const namesOf = () => page.locator("tr[data-name] th a").allTextContents();
    await logIn(page, site);
    await page.locator("#filter").fill("2");
    await page.getByRole("checkbox", { name: "a2.txt" }).click();
    await page.getByRole("checkbox", { name: "b2.txt" }).click({ modifiers: ["Shift"] });
    expect(await page.locator(".selected .count").textContent()).toMatch(/^2 selected/);
    await page.locator(`[value="delete-members"]`).click();
    await eventually(namesOf).toEqual(["a1.txt", "b1.txt", "b3.txt"]);
    await page.locator("#filter").fill("");
    await rowOf(page, "a1.txt").locator("th a").focus();
    await page.keyboard.down("Delete");
    for (let times = 0; times < 5; times += 1) await page.keyboard.down("Delete");
    await page.keyboard.up("Delete");
    await eventually(namesOf).toEqual(["b1.txt", "b3.txt"]);
    await page.getByRole("button", { name: "Restore" }).click();
    await eventually(namesOf).toEqual(["a1.txt", "a2.txt", "b1.txt", "b2.txt", "b3.txt"]);
    expectNoComplaints();
  });

  it("offer no action that a rule denies on them alone, in menus, by keys and for a selection", async () => {
    const permissions = [
      ["allow-full-control"],
      ["/a.txt", "allow-read"],
      ["/b.txt", "allow-list", "allow-rename"],
      ["/d.txt", "allow-list"],
      ["/e.txt", "allow-list"],
    ];
    const files = { "a.txt": "a", "b.txt": "b", "c.txt": "c", "d.txt": "d", "e.txt": "e" };
    const site = await openSite({ files, groups: { DEFAULT_GROUP: { permissions } } });
    const { page, expectNoComplaints } = await chromium.open();
    await logIn(page, site);
    const bar = page.locator(".selected");
    const offersOf = async (...names: string[]) => {
      for (const name of names) await page.getByRole("checkbox", { name }).check();
      const offers = await bar.getByRole("button").filter({ visible: true }).allTextContents();
      await page.keyboard.press("Escape");
      return offers.slice(1).map((offer) => offer.trim());
    };
    expect(await offersOf("a.txt")).toEqual(["Download as ZIP", "Copy", "⋯"]);
    expect(await offersOf("b.txt")).toEqual(["Move", "⋯"]);
    expect(await offersOf("a.txt", "b.txt")).toEqual(["Download as ZIP", "Move", "Copy", "⋯"]);
    expect(await offersOf("a.txt", "c.txt")).toEqual(["Download as ZIP", "Delete", "Move", "Copy", "⋯"]);
    // The menu of one item has its properties, that of several would have nothing.
    expect(await offersOf("d.txt")).toEqual(["⋯"]);
    expect(await offersOf("d.txt", "e.txt")).toEqual([]);
    expect(await offersOf("d.txt", "e.txt", "b.txt")).toEqual(["Move", "⋯"]);
    await rowOf(page, "a.txt").getByRole("link", { name: "Actions for" }).click();
    expect(await page.getByRole("menuitem").allTextContents()).toEqual(["Open", "Download", "Copy…", "Properties"]);
    await page.keyboard.press("Escape");
    await rowOf(page, "a.txt").locator("th a").focus();
    await page.keyboard.press("F2");
    await page.keyboard.press("Delete");
    expect(await page.locator("dialog, tr input:not([type=checkbox])").count()).toBe(0);
    // Nothing is lost of the page by a click on what must not be read.
    await rowOf(page, "b.txt").locator("th a").click();
    await page.getByRole("alert").getByText("403").waitFor();
    const { page: plain } = await chromium.open({ javaScriptEnabled: false });
    await logIn(plain, site);
    await rowOf(plain, "b.txt").getByRole("link", { name: "Actions for" }).click();
    const panel = plain.locator(".member");
    await eventually(() => panel.getByRole("button").allTextContents()).toEqual(["Rename", "Move"]);
    await eventually(() => panel.getByRole("link").allTextContents()).toEqual(["Close"]);
    expectNoComplaints();
  });
});

/** Fails if the page, or a dialog on it, is wider than its place. */
async function expectFits(page: Page, name: string): Promise<void> {
  const wide = await page.evaluate(() =>
    [document.documentElement, ...document.querySelectorAll("dialog")]
      .filter((one) => one.scrollWidth > one.clientWidth || one.getBoundingClientRect().right > innerWidth)
      .map(({ localName }) => localName),
  );
  expect(wide, name).toEqual([]);
}

/** The same for a dialog, which is closed then. */
async function expectDialogFits(page: Page, name: string): Promise<void> {
  await page.getByRole("dialog").waitFor();
  await expectFits(page, name);
  await closeDialog(page);
}

/** Puts a file into the trash, and makes an API key for another one. */
async function fillTrashAndKeys(page: Page, site: Site, gone: string, other: string): Promise<void> {
  await rowOf(page, gone).locator("th a").focus();
  await page.keyboard.press("Delete");
  await rowOf(page, gone).waitFor({ state: "detached" });
  await page.goto(`${site.home}__svc__/keys`);
  await page.locator("#label").fill(other);
  await page.locator("#path").fill(`/${other}`);
  await page.locator("main button.primary").click();
  await page.locator("#key").waitFor();
  await expectFits(page, "new key");
}

/** Opens links to a folder with few and with all rights, and to a folder in it. */
async function expectVisitorsSeeFiles(page: Page, site: Site, limit: number): Promise<void> {
  const reading = ["allow-read", "allow-list"] as const;
  const all = [...reading, "allow-write", "allow-create-folder", "allow-delete-file"] as const;
  for (const permissions of [reading, all]) {
    const { urlPath } = await site.links.create({ username: "alice", path: "/", permissions });
    for (const path of [urlPath, `${urlPath}reports/`]) {
      await page.goto(site.origin + path);
      await page.locator(".link-line time").click({ trial: true });
      expect((await page.locator("tbody tr").first().boundingBox())?.y, path).toBeLessThan(limit);
    }
    expect(await page.locator(".tools > #download-all").isVisible()).toBe(permissions === reading);
  }
}
