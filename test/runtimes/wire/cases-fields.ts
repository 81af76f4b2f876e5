import { expect } from "vitest";
import { type WireCase, wireCase } from "./case.ts";
import { basic } from "./client.ts";

const ALICE = `Host: x\r\nAuthorization: ${basic("alice")}\r\n`;
const OLD = "the old content";
/** Four bytes each: more than the numbers of fields that servers keep, within the bytes that they take. */
const MANY = "x:\r\n".repeat(2500);

/** Rows: what follows the header fields, what is sent as the content, and what the file may then contain. */
const HIDDEN: readonly (readonly [name: string, fields: string, sent: string, outcomes: readonly string[]])[] = [
  ["Content-Length", `${MANY}Content-Length: 5\r\n`, "hello", ["hello", OLD]],
  ["Transfer-Encoding", `${MANY}Transfer-Encoding: chunked\r\n`, "5\r\nhello\r\n0\r\n\r\n", ["hello", OLD]],
  ["If-None-Match", `Content-Length: 5\r\n${MANY}If-None-Match: *\r\n`, "hello", [OLD]],
  [
    "Origin",
    `Content-Length: 5\r\n${MANY}Sec-Fetch-Site: cross-site\r\nOrigin: http://elsewhere.example\r\n`,
    "hello",
    [OLD],
  ],
];

/**
 * Requests of thousands of fields, all of which count: those that a server drops could be a length, a condition or an
 * origin.
 */
export const fieldCases: readonly WireCase[] = HIDDEN.map(([name, fields, sent, outcomes]) =>
  wireCase(`2,500 fields in front of ${name}: the request is refused, or served with it`, async (environment) => {
    const { folder, put, open, names, call } = environment;
    await put("a", OLD);
    const connection = await open();
    connection.send(`PUT ${folder}a HTTP/1.1\r\n${ALICE}${fields}\r\n${sent}`);
    const answer = await Promise.any([connection.until(/^HTTP\/1\.1 [2-5]\d\d /), connection.ended()]);
    const { text } = await call("GET", `${folder}a`);
    expect(outcomes).toContain(text);
    // What is answered is what was done.
    expect(/^HTTP\/1\.1 2/.test(answer)).toBe(text === "hello");
    expect(await names()).toEqual(["a"]);
  }),
);
