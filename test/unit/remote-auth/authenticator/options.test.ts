import { describe, expect, it } from "vitest";
import { OptionError } from "../../../../src/contracts/option-error.ts";
import type { HttpAuthenticatorOptions } from "../../../../src/remote-auth/authenticator/options.ts";
import { createHttpAuthenticator } from "../../../../src/remote-auth/http-authenticator.ts";
import { createRecordingLogger } from "../../../support/logger.ts";
import { startProcessorTime } from "../../../support/processor-time.ts";
import { areMutants } from "../../../support/timed.ts";

const url = "https://auth.example/check";
const logger = createRecordingLogger();

/** Options that are refused, by the name that the error has. */
const wrong: readonly (readonly [option: string, what: string, options: object])[] = [
  ["url", "missing", { url: undefined }],
  ["url", "empty", { url: "" }],
  ["url", "an empty list", { url: [] }],
  ["url", "no text", { url: 1 }],
  ["url[1]", "a comma too many", { url: `${url}, ` }],
  ["url[0]", "not a text in a list", { url: [1, url] }],
  ["url", "no URL", { url: "SECRET" }],
  ["url", "a URL without host", { url: "https://" }],
  ["url", "a URL that lacks a slash", { url: "https:/SECRET/auth" }],
  ["url", "of another scheme", { url: "ftp://SECRET/" }],
  ["url", "a URL with a blank", { url: "https://a.example/SECRET b" }],
  ["url", "a URL with a line feed", { url: ["https://a.example/SECRET\n"] }],
  ["url", "a URL with a backslash", { url: "https:\\\\a.example\\SECRET" }],
  ["url", "a URL with a name", { url: "https://SECRET@a.example/" }],
  ["url", "a URL with a password", { url: "https://:SECRET@a.example/" }],
  ["url", "a URL with a fragment", { url: `${url}#SECRET` }],
  ["url", "a URL with an empty fragment", { url: `${url}#` }],
  ["url", "the same URL twice", { url: [url, url] }],
  ["username", "no text", { username: 1 }],
  ["username", "with a colon", { username: "SECRET:x" }],
  ["username", "with a line feed", { username: "SECRET\n" }],
  ["username", "with a lone surrogate", { username: "SECRET\ud800" }],
  ["password", "no text", { username: "u", password: null }],
  ["password", "with a control character", { username: "u", password: "SECRET\u0000" }],
  ["password", "without a username", { password: "SECRET" }],
  ["headers", "no text", { headers: 1 }],
  ["headers", "a list", { headers: ["X-Key: SECRET"] }],
  ["headers", "null", { headers: null }],
  ["headers", "a line without colon", { headers: "X-Key SECRET" }],
  ["headers", "a line without name", { headers: ": SECRET" }],
  ["headers", "a name with a blank", { headers: "X Key: SECRET" }],
  ["headers", "a name before a blank", { headers: "X-Key : SECRET" }],
  ["headers", "a folded line", { headers: "X-Key: SECRET\n SECRET: x" }],
  ["headers", "a bare carriage return", { headers: "X-Key: SECRET\rX-Other: SECRET" }],
  ["headers", "a value that is not ASCII", { headers: "X-Key: SECRETé" }],
  ["headers", "an empty value", { headers: "X-Key:  " }],
  ["headers", "a value with a line feed", { headers: { "X-Key": "SECRET\r\nHost: x" } }],
  ["headers", "a value that is no text", { headers: { "X-Key": 1 } }],
  ["headers", "a name that is no token", { headers: { "SECRET:": "x" } }],
  ["headers", "a name twice", { headers: "X-Key: SECRET\nx-key: SECRET" }],
  ["server", "null", { server: null }],
  ["server", "no UUID", { server: { uuid: "1" } }],
  ["creator", "null", { creator: null }],
  ["creator", "text", { creator: "SECRET" }],
  ["creator.uuid", "no UUID", { creator: { uuid: "SECRET" } }],
  ["creator.type", "empty", { creator: { type: "" } }],
  ["creator.type", "no text", { creator: { type: 1 } }],
  ["creator.type", "a word and more", { creator: { type: "https SECRET" } }],
  ["creator.type", "a word after a blank", { creator: { type: " SECRET" } }],
  ["timeoutSeconds", "0", { timeoutSeconds: 0 }],
  ["timeoutSeconds", "negative", { timeoutSeconds: -1 }],
  ["timeoutSeconds", "more than the fetch of Node waits", { timeoutSeconds: 301 }],
  ["timeoutSeconds", "not a number", { timeoutSeconds: Number.NaN }],
  ["timeoutSeconds", "text", { timeoutSeconds: "30" }],
  ["suspendSeconds", "negative", { suspendSeconds: -1 }],
  ["suspendSeconds", "endless", { suspendSeconds: Number.POSITIVE_INFINITY }],
  ["testAtStart", "text", { testAtStart: "yes" }],
  ["fetch", "no function", { fetch: {} }],
  ["clock", "no function", { clock: 1 }],
  ["logger", "without methods", { logger: {} }],
  ["logger", "without a method for warnings", { logger: { ...logger, warn: undefined } }],
  ["logger", "null", { logger: null }],
  ["onEvent", "no function", { onEvent: [] }],
];

const ownFields = ["Host", "content-length", "Content-Type", "Transfer-Encoding", "Connection", "Accept-Encoding"];

describe("createHttpAuthenticator", () => {
  it.each(wrong)("refuses an option %s that is %s, without quoting it", (option, _what, options) => {
    const create = () => createHttpAuthenticator({ url, logger, ...options } as HttpAuthenticatorOptions);
    expect(create).toThrow(OptionError);
    expect(create).toThrow(new RegExp(`^The option ${option.replace(/[[\].]/g, "\\$&")} must `));
    expect(create).not.toThrow(/SECRET/);
  });

  it.each(["urls", "user", "Headers", "timeout", "type", "authorize"])(
    "refuses the option %s, which is not known",
    (name) => {
      const create = () => createHttpAuthenticator({ url, logger, [name]: "SECRET" });
      expect(create).toThrow(new OptionError(name, "left out: it is not a known option"));
    },
  );

  it("takes every option that there is, and undefined for none", () => {
    const all: Required<HttpAuthenticatorOptions> = {
      url,
      username: "u",
      password: "p",
      headers: { "X-Key": "1" },
      server: { uuid: "cc5c804d-0a3c-4c4c-b651-eba6fc3b5902" },
      creator: { uuid: "DFF314A6-C594-48DC-8E34-5270FD6CB635", type: "ssh" },
      timeoutSeconds: 300,
      suspendSeconds: 0,
      testAtStart: false,
      fetch,
      clock: Date.now,
      logger,
      onEvent: () => undefined,
    };
    createHttpAuthenticator(all);
    const none = Object.fromEntries(Object.keys(all).map((name) => [name, undefined]));
    createHttpAuthenticator({ ...none, url });
  });

  it.each([undefined, null])("needs options, which %s is not", (none) => {
    expect(() => createHttpAuthenticator(none as never)).toThrow(new OptionError("url", "given"));
  });

  it.each([
    ["testAtStart must be true or false", { testAtStart: 1 }],
    ["server must be an object with a UUID as uuid", { server: {} }],
    ["creator must be an object", { creator: null }],
    ["creator.uuid must be a UUID", { creator: { uuid: "" } }],
    ["creator.type must be a word such as https", { creator: { type: "" } }],
    ["onEvent must be a function", { onEvent: {} }],
    ["logger must be an object with info, warn and error", { logger: {} }],
  ])("says what is asked for: the option %s", (text, options) => {
    const create = () => createHttpAuthenticator({ url, logger, ...options } as HttpAuthenticatorOptions);
    expect(create).toThrow(OptionError);
    expect(create).toThrow(`The option ${text}.`);
  });

  it.each([...ownFields, "Expect", "Accept", "TE", "Upgrade", "Range"])(
    "refuses the header field %s, of the exchange itself (4.7)",
    (name) => {
      expect(() => createHttpAuthenticator({ url, logger, headers: `X-Key: 1\n${name}: SECRET` })).toThrow(
        `The option headers must be without ${name}, which every request sets itself.`,
      );
    },
  );

  it("names the line of a header that it does not understand, as the whole line may be a secret (5.2)", () => {
    expect(() => createHttpAuthenticator({ url, logger, headers: "X-A: 1\n\nSECRET" })).toThrow(
      'The option headers must be "Name: value" on each line, which line 3 is not.',
    );
  });

  it.skipIf(areMutants)("reads a hostile option in linear time", () => {
    const elapsed = startProcessorTime();
    for (const text of [`X: ${" \t".repeat(100_000)}é`, ":".repeat(200_000), `${"\r".repeat(200_000)}x`]) {
      expect(() => createHttpAuthenticator({ url, logger, headers: text })).toThrow(TypeError);
    }
    expect(elapsed()).toBeLessThan(1000);
  });

  it("is a method named http that changes no passwords", () => {
    const authenticator = createHttpAuthenticator({ url, logger });
    expect(authenticator.name).toBe("http");
    expect(Object.keys(authenticator).sort()).toEqual(["authenticate", "equalizeTiming", "name", "start"]);
  });

  it("warns once when passwords would travel in clear, and shows no query", () => {
    const log = createRecordingLogger();
    createHttpAuthenticator({
      url: "http://a.example/x?key=SECRET, https://b.example/, http://127.evil.example/, http://10.0.0.1/",
      logger: log,
    });
    expect(log.entries).toEqual([
      {
        level: "warn",
        message: "Passwords are sent unencrypted to the authentication endpoint: use an https URL.",
        details: { urls: ["http://a.example/x", "http://127.evil.example/", "http://10.0.0.1/"] },
      },
    ]);
  });

  it.each(["http://localhost/", "http://auth.localhost:81/", "http://127.0.0.1:8080/", "http://[::1]/", url])(
    "warns of nothing for %s",
    (loopback) => {
      const log = createRecordingLogger();
      createHttpAuthenticator({ url: loopback, logger: log });
      expect(log.entries).toEqual([]);
    },
  );
});
