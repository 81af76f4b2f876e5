import { describe, expect, it } from "vitest";
import type { FileServiceOptions } from "../../../src/config/options.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { byCookie, type CallOptions, createTestService, type TestServiceOptions } from "../../support/service.ts";

const FORM = { "content-type": "application/x-www-form-urlencoded", accept: "text/html" };
const EVIL = `"><script>alert('1')</script>&amp;`;

/** One request for each page of ours: path, status, and what it takes. */
const pages: readonly (readonly [what: string, method: string, path: string, status: number, options: CallOptions])[] =
  [
    ["login", "GET", "/__svc__/login", 200, { as: null }],
    ["failed login", "POST", "/__svc__/login", 401, { as: null, headers: FORM, body: "username=alice&password=x" }],
    ["login without cookies", "GET", "/home/?login=basic", 401, { as: null, variant: "html" }],
    ["way to the login", "GET", "/home/f/", 302, { as: null, variant: "html" }],
    ["folder", "GET", "/home/f/", 200, { variant: "html" }],
    ["folder, HEAD", "HEAD", "/home/f/", 200, { variant: "html" }],
    ["way to a folder", "GET", "/home/f", 302, { variant: "html" }],
    ["missing", "GET", "/home/missing", 404, { variant: "html" }],
    ["malformed", "GET", "/home/a%2fb", 400, { variant: "html" }],
    ["denied", "PUT", "/home/__svc__/x", 403, { variant: "html", body: "x" }],
    ["password", "GET", "/home/__svc__/password-update", 403, {}],
  ];

async function eachPage(
  options: TestServiceOptions,
  look: (answer: Awaited<ReturnType<Awaited<ReturnType<typeof createTestService>>["call"]>>, what: string) => void,
  headers: Readonly<Record<string, string>> = {},
): Promise<void> {
  const { call, login } = await createTestService({ files: { "/alice/f/a.txt": "x" }, ...options });
  const cookie = byCookie(await login());
  for (const [what, method, path, status, own] of pages) {
    const isPassword = what === "password";
    const answer = await call(method, path, {
      ...own,
      ...(isPassword && { as: null, variant: "html" as const }),
      headers: { ...own.headers, ...headers, ...(isPassword && cookie) },
    });
    expect([what, answer.status]).toEqual([what, status]);
    expect([what, answer.header("content-type")]).toEqual([what, "text/html; charset=utf-8"]);
    look(answer, what);
  }
}

const OWN_SCRIPT = /^<script type="module" src="\/__svc__\/assets\/(?:main|passwords)-[\da-f]{16}\.js"><\/script>$/;

describe("every page", () => {
  it("lets no code run but our own files, and is in no frame (SECURITY 21)", async () => {
    await eachPage({}, (answer) => {
      expect(answer.header("content-security-policy")).toBe(
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
          "media-src 'self'; form-action 'self'; base-uri 'none'; frame-ancestors 'none'",
      );
      expect(answer.header("x-frame-options")).toBe("DENY");
      expect(answer.header("referrer-policy")).toBe("same-origin");
      expect(answer.header("x-content-type-options")).toBe("nosniff");
    });
  });

  it("may be framed by the origins of the option, and by no others (SECURITY 21)", async () => {
    await eachPage({ frameAncestors: ["'self'", "https://intranet.example:8443"] }, (answer) => {
      expect(answer.header("content-security-policy")).toContain(
        "; frame-ancestors 'self' https://intranet.example:8443",
      );
      expect(answer.header("x-frame-options")).toBeNull();
    });
  });

  it("takes a logo from its own origin alone (SECURITY 21)", async () => {
    await eachPage({ branding: { logo: "https://cdn.example/a/logo.svg?x=1&y=2" } }, (answer, what) => {
      expect(answer.header("content-security-policy")).toContain("; img-src 'self' data: https://cdn.example;");
      if (what !== "folder, HEAD") expect(answer.text).toContain('src="https://cdn.example/a/logo.svg?x=1&amp;y=2"');
    });
    await eachPage({ branding: { logo: "/logo.svg" } }, (answer) => {
      expect(answer.header("content-security-policy")).toContain("; img-src 'self' data:;");
    });
  });

  it("holds no code and no style of its own (SECURITY 21)", async () => {
    await eachPage(
      { branding: { name: EVIL, footnote: EVIL, accent: "#c0ffee", logo: "/l.svg?'\"<>" } },
      ({ text }) => {
        for (const [script] of text.matchAll(/<script[\s\S]*?(?:<\/script>|$)/gi)) {
          expect(script).toMatch(OWN_SCRIPT);
        }
        expect(text).not.toMatch(/<style|\sstyle=|\son[a-z]+=|javascript:/i);
      },
    );
  });

  it("has a language, a title with the name of the branding, and its footnote, escaped", async () => {
    await eachPage({ branding: { name: EVIL, footnote: `${EVIL} foot` } }, ({ text, header }, what) => {
      if (what === "folder, HEAD") return;
      const escaped = "&quot;&gt;&lt;script&gt;alert(&#39;1&#39;)&lt;/script&gt;&amp;amp;";
      expect(text).toMatch(/^<!doctype html>\n<html lang="en" dir="ltr">/);
      expect(/<title>([\s\S]*?)<\/title>/.exec(text)?.[1]).toMatch(
        new RegExp(` – ${escaped.replace(/[()]/g, "\\$&")}$`),
      );
      expect(text).toContain(`<p>${escaped} foot</p>`);
      expect(header("content-language")).toBe("en");
    });
  });

  it("is in the language that the browser prefers (RFC 9110 12.5.4)", async () => {
    const check: Parameters<typeof eachPage>[1] = ({ text, header }, what) => {
      expect(header("content-language")).toBe("de");
      expect(header("vary")).toBe("Accept, Authorization, Cookie, Accept-Language");
      if (what !== "folder, HEAD") expect(text).toContain('<html lang="de" dir="ltr">');
      expect(text).not.toMatch(/Log in|Not found|The account|Please|password\b.*was/);
    };
    await eachPage({}, check, { "accept-language": "de-AT,de;q=0.9,en;q=0.5" });
  });
});

describe("an error page", () => {
  it("says what is wrong in the language of the page, and leads home", async () => {
    const { call } = await createTestService({ basePath: "/files" });
    const headers = { "accept-language": "de" };
    const answer = await call("GET", "/files/home/missing", { variant: "html", headers });
    expect(answer.text).toMatch(/<h1>Nicht gefunden<\/h1>\s*<p>Vielleicht wurde es verschoben oder gelöscht\.<\/p>/);
    expect(answer.text).toContain('<a href="/files/home/">Zurück zu Ihren Dateien</a>');
    const json = await call("GET", "/files/home/missing", { variant: "json", headers });
    expect(json.json()).toEqual({ errors: [{ message: "Not found." }] });
    expect(json.header("content-language")).toBeNull();
  });

  it("tells the id of an unknown failure, and nothing else of it (SECURITY 14)", async () => {
    const broken = {
      ...createMemoryStorage(),
      list(): never {
        throw new Error("EIO: /srv/secret");
      },
    };
    const { call, log } = await createTestService({ storage: broken });
    const answer = await call("GET", "/home/", { variant: "html", headers: { "accept-language": "de" } });
    expect(answer.status).toBe(500);
    const id = /Interner Fehler ([\w-]+)\./.exec(answer.text)?.[1] ?? "none";
    expect(log.text()).toContain(id);
    expect(answer.text).not.toContain("secret");
  });
});

describe("the languages", () => {
  it.each<readonly [accepted: string | undefined, language: string]>([
    [undefined, "en"],
    ["", "en"],
    ["*", "en"],
    ["de", "de"],
    ["DE-de", "de"],
    ["fr", "fr"],
    ["fr-CA", "fr"],
    ["es-MX, en;q=0.5", "es"],
    ["ja", "en"],
    ["en;q=0.5, de;q=0.6", "de"],
    ["de;q=0, en", "en"],
    ["pt", "pt-BR"],
    [";;;,,,q=", "en"],
    ["he", "he"],
  ])("answer Accept-Language: %s in %s", async (accepted, language) => {
    const languages = {
      fr: { login: "Se connecter" },
      "pt-br": { login: "Entrar" },
      he: { direction: "rtl" as const },
    };
    const { call } = await createTestService({ languages });
    const headers: Record<string, string> = accepted === undefined ? {} : { "accept-language": accepted };
    const answer = await call("GET", "/__svc__/login", { as: null, headers });
    expect(answer.header("content-language")).toBe(language);
    expect(answer.text).toContain(`<html lang="${language}" dir="${language === "he" ? "rtl" : "ltr"}">`);
  });

  it("are English where those of the options leave a text out, and German where German does", async () => {
    const languages = {
      it: { login: "Accedi", failures: { "url-malformed": "Indirizzo non valido." } },
      "de-AT": { login: "Eini" },
      en: { login: "Sign in" },
    };
    const { call } = await createTestService({ languages });
    const login = async (language: string) =>
      (await call("GET", "/__svc__/login", { as: null, headers: { "accept-language": language } })).text;
    expect(await login("it")).toMatch(/<h1>Accedi<\/h1>[\s\S]*User name/);
    expect(await login("de-AT")).toMatch(/<h1>Eini<\/h1>[\s\S]*Benutzername/);
    expect(await login("ja")).toMatch(/<h1>Sign in<\/h1>[\s\S]*User name/);
    const missing = await call("GET", "/home/a%2fb", { variant: "html", headers: { "accept-language": "it" } });
    expect(missing.text).toContain("Indirizzo non valido.");
  });

  it("escape the texts of the options (SECURITY 21)", async () => {
    const { call } = await createTestService({ languages: { en: { login: EVIL, userName: EVIL } } });
    expect((await call("GET", "/__svc__/login", { as: null })).text).not.toContain("<script>");
  });
});

describe("the options of pages", () => {
  it.each<readonly [option: string, wrong: Readonly<Record<string, unknown>>]>([
    ["branding", { branding: null }],
    ["branding", { branding: [] }],
    ["branding.name", { branding: { name: " " } }],
    ["branding.name", { branding: { name: 1 } }],
    ["branding.logo", { branding: { logo: "http://cdn.example/logo.svg" } }],
    ["branding.logo", { branding: { logo: "//cdn.example/logo.svg" } }],
    ["branding.logo", { branding: { logo: "/\\cdn.example/logo.svg" } }],
    ["branding.logo", { branding: { logo: "javascript:alert(1)" } }],
    ["branding.logo", { branding: { logo: "logo.svg" } }],
    ["branding.accent", { branding: { accent: "red" } }],
    ["branding.accent", { branding: { accent: "#fff" } }],
    ["branding.accent", { branding: { accent: "#123456;}body{display:none" } }],
    ["branding.footnote", { branding: { footnote: {} } }],
    ["languages", { languages: null }],
    ["languages", { languages: "de" }],
    ["languages.x y", { languages: { "x y": {} } }],
    ["languages.fr", { languages: { fr: "Bonjour" } }],
    ["languages.fr.login", { languages: { fr: { login: 1 } } }],
    ["languages.fr.login", { languages: { fr: { login: { a: "b" } } } }],
    ["languages.fr.logni", { languages: { fr: { logni: "Se connecter" } } }],
    ["languages.fr.language", { languages: { fr: { language: "de" } } }],
    ["languages.fr.direction", { languages: { fr: { direction: "up" } } }],
    ["languages.fr.done", { languages: { fr: { done: { uploaded: 1 } } } }],
    ["frameAncestors", { frameAncestors: "https://a.example" }],
    ["frameAncestors", { frameAncestors: ["https://a.example/"] }],
    ["frameAncestors", { frameAncestors: ["https://a.example; script-src *"] }],
    ["frameAncestors", { frameAncestors: ["*"] }],
    ["frameAncestors", { frameAncestors: ["data:"] }],
  ])("throw a TypeError that names %s for %j (DESIGN, style 4)", async (option, wrong) => {
    const made = createTestService(wrong as Partial<FileServiceOptions>);
    await expect(made).rejects.toThrow(TypeError);
    await expect(createTestService(wrong as Partial<FileServiceOptions>)).rejects.toThrow(`The option ${option} `);
  });
});
