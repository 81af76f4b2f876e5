import { gunzipSync } from "node:zlib";
import { describe, expect, it } from "vitest";
import { createTestService, type TestServiceOptions } from "../../support/service.ts";

async function linksOf(options: TestServiceOptions = {}) {
  const test = await createTestService(options);
  const { text } = await test.call("GET", `${options.basePath ?? ""}/home/`, { variant: "html" });
  const urls = [...text.matchAll(/(?:href|src)="([^"]*\/assets\/[^"]*)"/g)].map(([, url = ""]) => url);
  return { ...test, urls };
}

describe("GET /__svc__/assets/<name>", () => {
  it("serves what the pages load to anybody, for good (SECURITY 21)", async () => {
    const { call, urls } = await linksOf();
    expect(urls).toEqual([
      expect.stringMatching(/^\/__svc__\/assets\/style-[\da-f]{16}\.css$/),
      expect.stringMatching(/^\/__svc__\/assets\/main-[\da-f]{16}\.js$/),
    ]);
    const types = ["text/css; charset=utf-8", "text/javascript; charset=utf-8"];
    for (const [index, url] of urls.entries()) {
      for (const method of ["GET", "HEAD"]) {
        const answer = await call(method, url, { as: null, headers: { accept: "text/css,*/*;q=0.1" } });
        expect([answer.status, answer.header("content-type")]).toEqual([200, types[index]]);
        expect(answer.header("cache-control")).toBe("public, max-age=31536000, immutable");
        expect(answer.header("x-content-type-options")).toBe("nosniff");
        // A cookie that comes or goes must not make it be loaded again.
        expect(answer.header("vary")).toBe("Accept-Encoding");
        expect(Number(answer.header("content-length"))).toBeGreaterThan(100);
      }
    }
  });

  it("compresses what a client accepts by gzip, and says by what field the response differs", async () => {
    const { urls, service } = await linksOf();
    const [, script = ""] = urls;
    const ask = (accepted: string, method = "GET") =>
      service.fetch(new Request(`http://localhost${script}`, { method, headers: { "Accept-Encoding": accepted } }));
    const plain = await (await ask("identity")).text();
    for (const accepted of ["gzip", "gzip, deflate, br, zstd", "*", "identity;q=0.5, gzip;q=0.9"]) {
      const zipped = await ask(accepted);
      const bytes = Buffer.from(await zipped.arrayBuffer());
      expect([accepted, zipped.headers.get("content-encoding")]).toEqual([accepted, "gzip"]);
      expect(zipped.headers.get("content-length")).toBe(`${bytes.byteLength}`);
      expect(bytes.byteLength).toBeLessThan(plain.length / 2);
      expect(gunzipSync(bytes).toString()).toBe(plain);
      const head = await ask(accepted, "HEAD");
      expect(head.headers.get("content-length")).toBe(`${bytes.byteLength}`);
      expect(head.headers.get("content-encoding")).toBe("gzip");
    }
    for (const accepted of ["", "br", "gzip;q=0", "identity, gzip;q=0.1", "x".repeat(5000)]) {
      const answer = await ask(accepted);
      expect([accepted, answer.headers.get("content-encoding")]).toEqual([accepted, null]);
      expect(answer.headers.get("vary")).toBe("Accept-Encoding");
      expect(await answer.text()).toBe(plain);
    }
  });

  it("serves the login page a small script of its own", async () => {
    const { call } = await linksOf();
    const login = await call("GET", "/__svc__/login", { as: null, variant: "html" });
    const scripts = [...login.text.matchAll(/<script[^>]* src="([^"]*)"/g)].map(([, url = ""]) => url);
    expect(scripts).toEqual([expect.stringMatching(/^\/__svc__\/assets\/passwords-[\da-f]{16}\.js$/)]);
    const script = await call("GET", scripts[0] ?? "", { as: null });
    expect([script.status, script.header("content-type")]).toEqual([200, "text/javascript; charset=utf-8"]);
    expect(script.bytes.byteLength).toBeLessThan(2000);
  });

  it("serves a script in two parts, of which the page names the second, and a style that loads nothing", async () => {
    const { call, urls } = await linksOf();
    const [, viewer = ""] = /data-viewer="([^"]*)"/.exec((await call("GET", "/home/", { variant: "html" })).text) ?? [];
    const second = await call("GET", viewer, { as: null });
    expect(second.header("content-type")).toBe("text/javascript; charset=utf-8");
    expect(second.header("cache-control")).toBe("public, max-age=31536000, immutable");
    expect(second.text).not.toMatch(/\bimport\b\s*[{"'(*]/);
    const [style, script] = await Promise.all(urls.map(async (url) => (await call("GET", url, { as: null })).text));
    expect(script).not.toMatch(/\bimport\b\s*(?:[{"'*]|\(["'`])/);
    expect(script?.match(/\bimport\(/g)).toHaveLength(1);
    const icons = /url\("data:image\/svg\+xml,[^"]*"\)/g;
    expect(style?.replaceAll(icons, "")).not.toMatch(/@import|url\(|:\/\//);
    expect(style).toContain("prefers-color-scheme:dark");
  });

  it("stands below the base path (CONTRACT 2.7)", async () => {
    const { call, urls } = await linksOf({ basePath: "/files" });
    expect(urls).toHaveLength(2);
    for (const url of urls) {
      expect(url).toMatch(/^\/files\/__svc__\/assets\//);
      expect((await call("GET", url, { as: null })).status).toBe(200);
    }
  });

  it.each([
    "style.css",
    "style-0000000000000000.css",
    "main.js",
    "..%2fmain.js",
    "brand-.css",
    "__proto__",
    "constructor",
  ])("answers 404 to %s, kept by nobody", async (name) => {
    const { call } = await createTestService();
    const answer = await call("GET", `/__svc__/assets/${name}`, { as: null });
    expect([404, 400]).toContain(answer.status);
    expect(answer.header("cache-control")).toBe("private, no-cache");
  });

  it("is there for GET and HEAD alone", async () => {
    const { call, urls } = await linksOf();
    const answer = await call("PUT", urls[0] ?? "", { body: "x" });
    expect([answer.status, answer.header("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    expect(answer.header("cache-control")).toBe("private, no-cache");
  });

  it("is a part of each API alone: so is the page of the API, which may load them", async () => {
    const { call, urls } = await linksOf();
    for (const api of ["rest", "webdav", "browser"] as const) {
      expect((await call("GET", urls[0] ?? "", { as: null, api })).status).toBe(200);
    }
  });
});

describe("the accent colour", () => {
  it("comes in a stylesheet of its own, whose name changes with it", async () => {
    const [red, blue] = [
      await linksOf({ branding: { accent: "#cc0000" } }),
      await linksOf({ branding: { accent: "#0000CC" } }),
    ];
    expect(red.urls).toHaveLength(3);
    expect(red.urls[1]).toMatch(/\/brand-[\da-f]{16}\.css$/);
    expect(blue.urls[1]).not.toBe(red.urls[1]);
    const answer = await red.call("GET", red.urls[1] ?? "", { as: null });
    expect(answer.header("content-type")).toBe("text/css; charset=utf-8");
    expect(answer.header("cache-control")).toContain("immutable");
    expect(answer.text).toContain("--accent:#");
    expect((await blue.call("GET", red.urls[1] ?? "", { as: null })).status).toBe(404);
  });

  it.each(["#ffffff", "#000000", "#ffff00", "#0000ff", "#00ff88", "#777777", "#fedcba"])(
    "%s can be read in light and in dark (WCAG AA)",
    async (accent) => {
      const { call, urls } = await linksOf({ branding: { accent } });
      const { text } = await call("GET", urls[1] ?? "", { as: null });
      const [light = "", dark = ""] = [...text.matchAll(/--accent:(#[\da-f]{6})/g)].map(([, color = ""]) => color);
      for (const ground of ["#ffffff", "#f5f7fa", "#eef1f5"]) expect(contrast(light, ground)).toBeGreaterThan(4.5);
      for (const ground of ["#12161c", "#1a2028", "#262c36"]) expect(contrast(dark, ground)).toBeGreaterThan(4.5);
      // What stands on the buttons.
      expect(contrast("#ffffff", light)).toBeGreaterThan(4.5);
      expect(contrast("#0d1520", dark)).toBeGreaterThan(4.5);
    },
  );
});

/** As WCAG 2.2 has it. */
function contrast(one: string, other: string): number {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function luminance(color: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const share = Number.parseInt(color.slice(at, at + 2), 16) / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
