import { Request } from "@whatwg-node/fetch";
import { parseBoundedJson } from "../../../src/http/bounded-json.ts";
import { isHttpError } from "../../../src/http/http-error.ts";
import { readJsonBody } from "../../../src/http/request-body.ts";
import { decodeStrictly, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";
import { varyJson } from "../vary-json.ts";

const LIMITS = { maxValues: 30, maxMembers: 8, maxNesting: 5 };

/** JSON, of whose size nothing is known. */
export const target: FuzzTarget = {
  sources: ["http/bounded-json.ts"],
  dictionary: [
    '{"a":1,"b":[2,3]}',
    "[1,2,3,4,5,6,7,8]",
    "[[[[[]]]]]",
    '"\\""',
    '"\\\\"',
    '\\"',
    "\\u0022",
    '"__proto__":',
    "{}",
    "[]",
    "[ ]",
    "{",
    "[",
    "]",
    "}",
    ",",
    ":",
    '"',
    "null",
    "-0",
    "1e400",
    "\xef\xbb\xbf",
    " ",
  ],
  separators: [",", "[", "{", '"', ":"],
  maxLength: 1024 * 1024,
  run,
  vary: varyJson,
};

async function run(input: string): Promise<string> {
  const text = decodeStrictly(toBytes(input));
  return `${text === undefined ? "no text" : expectBounded(text)} ${await expectBody(input, text)}`;
}

/** What is taken is what JSON has it mean, and what is not taken holds too much. */
function expectBounded(text: string): string {
  const found = parseBoundedJson(text, LIMITS);
  const plain = parse(text);
  if ("value" in found) expectSame([found.value], plain && [plain.value], "JSON is read as JSON");
  else if (!found.exceedsLimit) expect(plain === undefined, "what is refused as none is no JSON");
  if (plain !== undefined) expect("value" in found === isWithin(text), "the limits of JSON are counted exactly");
  return "value" in found ? typeof found.value : found.problem;
}

function parse(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/** Counts the members of JSON by its tokens. */
function isWithin(text: string): boolean {
  const open: number[] = [];
  let values = 0;
  let isFirst = false;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{},]|[^\s"[\]{},]+/g)) {
    if (isFirst && token !== "]" && token !== "}") {
      open.push((open.pop() ?? 0) + 1);
      values += 1;
    }
    isFirst = token === "[" || token === "{";
    if (isFirst) open.push(0);
    if (token === "]" || token === "}") open.pop();
    if (token === ",") {
      open.push((open.pop() ?? 0) + 1);
      values += 1;
    }
    const isTooMuch = (open.at(-1) ?? 0) > LIMITS.maxMembers || open.length > LIMITS.maxNesting;
    if (values > LIMITS.maxValues || isTooMuch) return false;
  }
  return true;
}

/** As the body of a request, with the limits of the service. */
async function expectBody(input: string, text: string | undefined): Promise<string> {
  const request = new Request("http://files.example/", { method: "POST", body: toBytes(input) });
  try {
    const value = await readJsonBody(request);
    expect(text !== undefined, "a body is UTF-8");
    expectSame([value], [parse(text.replace(/^\ufeff/, ""))?.value], "a body is read as JSON");
    return "taken";
  } catch (error) {
    if (!isHttpError(error) || !["malformed", "too-large"].includes(error.failure)) throw error;
    return error.message;
  }
}
