import { describe, expect, it } from "vitest";
import { createApiPage } from "../../../src/api-page.ts";
import { OptionError } from "../../../src/contracts/option-error.ts";
import type { ApiPage } from "../../../src/contracts/pages/api-page.ts";
import { createTestService, type TestServiceOptions, variants } from "../../support/service.ts";

const URL = "/__svc__/openapi.html";
const APIS = ["fetch", "rest", "webdav", "browser"] as const;
const apiPage = createApiPage();

async function openPage(options: TestServiceOptions = {}) {
  const test = await createTestService({ apiPage, ...options });
  const page = await test.call("GET", `${options.basePath ?? ""}${URL}`, { as: null });
  const urls = [...page.text.matchAll(/(?:href|src)="([^"]*\/assets\/[^"]*)"/g)].map(([, url = ""]) => url);
  return { ...test, page, urls };
}

describe("GET /__svc__/openapi.html", () => {
  it("is a page for anybody, under a policy without inline code (1.3, SECURITY 21)", async () => {
    const { page } = await openPage();
    expect(page.status).toBe(200);
    expect(page.header("content-type")).toBe("text/html; charset=utf-8");
    expect(page.header("content-security-policy")).toBe(
      "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; form-action 'none'; base-uri 'none'; frame-ancestors 'none'",
    );
    expect(page.header("x-frame-options")).toBe("DENY");
    expect(page.header("cache-control")).toBe("private, no-cache");
    expect(page.text).not.toMatch(
      /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|\b(?:https?:)?\/\/(?!www\.w3\.org\/2000\/svg)/,
    );
  });

  it.each(APIS)("is there in %s, whatever a client accepts, with all that it loads", async (api) => {
    const { call, urls } = await openPage();
    for (const variant of variants) expect((await call("GET", URL, { as: null, variant, api })).status).toBe(200);
    expect(urls).toHaveLength(5);
    for (const url of urls) expect((await call("GET", url, { as: null, api })).status).toBe(200);
  });

  it("has the fields of its GET on HEAD, and no content", async () => {
    const { call, page } = await openPage();
    const head = await call("HEAD", URL, { as: null });
    expect([head.status, head.bytes.byteLength]).toEqual([200, 0]);
    for (const name of ["content-type", "content-length", "content-security-policy", "content-language"]) {
      expect(head.header(name)).toBe(page.header(name));
    }
  });

  it("takes no other method", async () => {
    const { call } = await openPage();
    for (const method of ["PUT", "POST", "DELETE", "MKCOL"]) {
      const answer = await call(method, URL, { body: "" });
      expect([answer.status, answer.header("allow")]).toEqual([405, "GET, HEAD, OPTIONS"]);
    }
  });

  it("is in the client's language", async () => {
    const { call } = await openPage();
    const german = await call("GET", URL, { as: null, headers: { "accept-language": "de-AT,de;q=0.9" } });
    expect(german.header("content-language")).toBe("de");
    expect(german.header("vary")).toContain("Accept-Language");
    expect(german.text).toContain('<html lang="de"');
    expect(german.text).toContain("Melden Sie sich an");
    expect(german.text).toContain("Benutzername oder Passwort ist falsch.");
  });

  it("stands below the base path, with the description and all that it loads (CONTRACT 2.7)", async () => {
    const { call, page, urls } = await openPage({ basePath: "/files" });
    expect(page.status).toBe(200);
    expect(page.text).toContain('data-service="/files"');
    expect(page.text).toContain('href="/files/__svc__/openapi.json"');
    expect(urls).toHaveLength(5);
    for (const url of urls) {
      expect(url).toMatch(/^\/files\/__svc__\/assets\//);
      expect((await call("GET", url, { as: null })).status).toBe(200);
    }
  });

  it("may be framed by whom the options name, and has their colour", async () => {
    const { page, urls } = await openPage({
      frameAncestors: ["https://intranet.example"],
      branding: { name: "A <b>", accent: "#cc0000" },
    });
    expect(page.header("content-security-policy")).toMatch(
      /form-action 'none'.*frame-ancestors https:\/\/intranet\.example$/,
    );
    expect(page.header("x-frame-options")).toBeNull();
    expect(page.text).toContain("A &lt;b&gt;");
    expect(urls.filter((url) => url.includes("/brand-"))).toHaveLength(1);
  });
});

describe("the files of the page", () => {
  it("are served to anybody, for good, by names that change with them", async () => {
    const { call, urls } = await openPage();
    const hash = "[\\da-f]{16}";
    const expected: readonly [pattern: string, type: string][] = [
      [`swagger-ui-${hash}\\.css`, "text/css; charset=utf-8"],
      [`api-page-${hash}\\.css`, "text/css; charset=utf-8"],
      [`swagger-ui-${hash}\\.js`, "text/javascript; charset=utf-8"],
      [`api-page-${hash}\\.js`, "text/javascript; charset=utf-8"],
      [`swagger-ui-notices-${hash}-${hash}\\.txt`, "text/plain; charset=utf-8"],
    ];
    for (const [index, [pattern, type]] of expected.entries()) {
      const url = urls[index] ?? "";
      expect(url).toMatch(new RegExp(`^/__svc__/assets/${pattern}$`));
      for (const method of ["GET", "HEAD"]) {
        const answer = await call(method, url, { as: null });
        expect([answer.status, answer.header("content-type")]).toEqual([200, type]);
        expect(answer.header("cache-control")).toBe("public, max-age=31536000, immutable");
        expect(answer.header("x-content-type-options")).toBe("nosniff");
        expect(answer.header("vary")).toBe("Accept-Encoding");
        expect(Number(answer.header("content-length"))).toBeGreaterThan(1000);
      }
    }
  });

  it("load nothing from elsewhere, and name no map that is not there", async () => {
    const { call, urls } = await openPage();
    for (const url of urls.slice(0, 4)) {
      const { text } = await call("GET", url, { as: null });
      expect(text).not.toContain("sourceMappingURL");
      if (url.endsWith(".css")) expect(text).not.toMatch(/@import|url\((?!["']?data:)/);
    }
  });

  it("are told of with the notices that their license asks for (Apache-2.0, section 4)", async () => {
    const { call, urls } = await openPage();
    const { text } = await call("GET", urls.at(-1) ?? "", { as: null });
    expect(text).toContain("SmartBear");
    expect(text).toContain("https://www.apache.org/licenses/LICENSE-2.0");
    expect(text).toContain("The MIT License");
  });

  it("are the same bytes for every request", async () => {
    const [one, other] = [await apiPage.load(), await createApiPage().load()];
    expect(one).toBe(other);
  });
});

describe("the option apiPage", () => {
  it("is left out by default: the URL is as any unknown one, in every API", async () => {
    const { call } = await createTestService();
    for (const api of APIS) {
      for (const method of ["GET", "HEAD", "PUT", "POST", "OPTIONS"]) {
        const answers = await Promise.all(
          [URL, "/__svc__/openapi.htm"].map((url) =>
            call(method, url, { as: null, api, body: method === "PUT" ? "x" : undefined }),
          ),
        );
        const [page, unknown] = answers.map(({ status, text, headers }) => ({
          status,
          text,
          allow: headers.get("allow"),
        }));
        expect(page).toEqual(unknown);
        expect(page?.status).toBe(method === "OPTIONS" ? 204 : 404);
      }
    }
  });

  it("loads the viewer when the page or a file is asked for, and not before", async () => {
    let loads = 0;
    const counted: ApiPage = {
      load() {
        loads += 1;
        return apiPage.load();
      },
    };
    const { call } = await createTestService({ apiPage: counted });
    const folder = await call("GET", "/home/", { variant: "html" });
    const [style = ""] = /\/__svc__\/assets\/style-[^"]+/.exec(folder.text) ?? [];
    expect((await call("GET", style, { as: null })).status).toBe(200);
    expect(loads).toBe(0);
    await call("GET", URL, { as: null });
    expect(loads).toBe(1);
  });

  it("answers 404 to files that the viewer has not", async () => {
    const { call } = await openPage();
    for (const name of ["swagger-ui-0000000000000000.js", "swagger-ui.css", "__proto__", "NOTICE"]) {
      const answer = await call("GET", `/__svc__/assets/${name}`, { as: null });
      expect([answer.status, answer.header("cache-control")]).toEqual([404, "private, no-cache"]);
    }
  });

  it("answers 500 when the viewer cannot be loaded, and serves the rest", async () => {
    const broken: ApiPage = { load: () => Promise.reject(new Error("/secret/path is not there")) };
    const { call, log } = await createTestService({ apiPage: broken });
    const answer = await call("GET", URL, { as: null, variant: "html" });
    expect(answer.status).toBe(500);
    expect(answer.text).not.toContain("secret");
    expect(log.text()).toContain("/secret/path");
    expect((await call("GET", "/home/")).status).toBe(200);
  });

  it.each([true, "page", {}, null, { load: 1 }])("is refused when it is %j", async (wrong) => {
    await expect(createTestService({ apiPage: wrong as unknown as ApiPage })).rejects.toThrow(
      new OptionError("apiPage", "what createApiPage makes"),
    );
  });
});
