import {
  parseResourcePath,
  type ResourcePath,
  toServerPath,
  toStoragePath,
  toUrlPath,
} from "../../../src/account/path.ts";
import { toPathSegments } from "../../../src/contracts/storage-path.ts";
import { toReturnPath } from "../../../src/endpoints/login/return-path.ts";
import { parseTarget } from "../../../src/http/request-target.ts";
import { findRoute, hasRoutes, toAllow } from "../../../src/service/find-route.ts";
import { type ResolvedUrl, resolveUrl } from "../../../src/service/resolve-url.ts";
import { decodeStrictly, expect, expectSame, type FuzzTarget, toBytes } from "../target.ts";

const ORIGIN = "http://files.example";
const BASES: readonly (readonly string[])[] = [[], ["files"], ["a b", "ü"]];

/** A raw request target, as it follows the origin. */
export const target: FuzzTarget = {
  sources: [
    "http/request-target.ts",
    "http/path-segment.ts",
    "account/path.ts",
    "service/resolve-url.ts",
    "service/routes.ts",
    "service/find-route.ts",
    "endpoints/login/return-path.ts",
    "contracts/storage-path.ts",
  ],
  dictionary: [
    "/home/",
    "/home",
    "/__svc__/",
    "__svc__",
    "____svc__",
    "openapi.yaml",
    "openapi.html",
    "assets/x",
    "login",
    "logout",
    "password-update",
    "/files",
    "/a%20b/%C3%BC",
    "%2f",
    "%5c",
    "%2e",
    "%",
    "%c3%a4",
    "%ed%a0%80",
    "%f0%9f%98%80",
    "%ef%bb%bf",
    "%c0%ae",
    "%25",
    "%7f",
    "%c2%80",
    "%3f",
    "%23",
    "+",
    "://",
    "?",
    "#",
    "//",
    "/./",
    "/../",
    "*",
    "@",
    ":80",
  ],
  separators: ["/", "?", "%", "&", "."],
  maxLength: 16 * 1024,
  run,
};

const ADDITIONS = {
  keys: true,
  "sign-on": true,
  links: true,
  quota: true,
  trash: true,
  versions: true,
};

function run(input: string): string {
  const places = BASES.map((base) => {
    const place = resolveUrl(parseTarget(ORIGIN + input), base, ADDITIONS);
    const url = (path: string) => `${base.map((segment) => `/${encodeURIComponent(segment)}`).join("")}${path}`;
    if (place !== undefined) expectRoutes(place.kind);
    if (place !== undefined) expectPlace(place, (path) => resolveUrl(parseTarget(ORIGIN + url(path)), base, ADDITIONS));
    return place;
  });
  if (input.startsWith("/"))
    expectSame(places[0]?.kind ?? null, plainShape(input), "a second reader finds the same place");
  expectReturn(input);
  return places.map((place) => (place ? `${place.kind} ${Math.min(place.path.segments.length, 4)}` : "none")).join();
}

/** What stands below `/home/` is one path, whichever way it is written again. */
function expectPlace({ kind, path }: ResolvedUrl, find: (path: string) => ResolvedUrl | undefined): void {
  if (kind !== "file" && kind !== "folder" && kind !== "password-update") {
    expect(path.segments.length === 0, "a place elsewhere has no path");
    return;
  }
  expect(path.segments.every(isPlainName), "each segment is a name");
  expectSame(find(`/home/${toUrlPath(path)}`), { kind, path }, "the path written again is the same");
  const stored = toStoragePath(path.segments);
  expectSame(toPathSegments(stored), path.segments, "a storage has the same segments");
  const told = toServerPath(path.segments);
  expect(/^\/[!-~]*$/.test(told) && decodeURIComponent(told) === stored, "Server-Path is the path, in ASCII");
}

/** What is allowed at a place is what is answered there. */
function expectRoutes(kind: ResolvedUrl["kind"]): void {
  for (const api of ["rest", "webdav", "browser"] as const) {
    if (!hasRoutes(kind, [api])) continue;
    const allowed = toAllow(kind, [api]).split(", ");
    const isAnswered = (method: string) => method === "OPTIONS" || typeof findRoute(kind, method, [api]) === "object";
    expect(allowed.every(isAnswered), "each method of Allow is answered");
  }
}

function isPlainName(name: string): boolean {
  if (name === "" || name === "." || name === "..") return false;
  return [...name].every((character) => {
    const code = character.codePointAt(0) as number;
    const isControl = code < 0x20 || (code >= 0x7f && code < 0xa0);
    return !isControl && character !== "/" && character !== "\\" && !(code >= 0xd800 && code < 0xe000);
  });
}

/** Where a login leads stays below `/home/`. */
function expectReturn(input: string): void {
  const back = toReturnPath(input, "");
  if (back === undefined) return;
  expect(/^\/home\/[!-~]*$/.test(back) && !/\/\/|\\|\/\.\.?(?:[/?]|$)/.test(back), "a login leads below /home/");
  const [target = "", query] = back.split("?");
  const path = parseResourcePath(target.slice("/home/".length)) as ResourcePath;
  const kept = query === undefined ? "" : `?${new URLSearchParams(query)}`;
  expectSame(`/home/${toUrlPath(path)}${kept}`, back, "and to one place");
}

/** The same by bytes. */
function plainShape(input: string): string | null {
  const isPrintable = !/[^!-~]|#/.test(input);
  const [path = ""] = input.split("?", 1);
  const [, first = "", ...rest] = path.split("/");
  const raw = rest.join("/");
  const name = plainSegment(first);
  if (name === "____svc__" && raw === "openapi.yaml") return isPrintable ? "openapi" : "malformed";
  if (name === "__svc__") return isPrintable ? plainOwnShape(raw) : "malformed";
  if (name !== "" && name !== "home") return null;
  if (!isPrintable) return "malformed";
  if (rest.length === 0) return "start";
  return name === "" ? null : plainHomeShape(raw);
}

function plainOwnShape(raw: string): string {
  const [name = "", member = "", ...more] = raw.split("/");
  if (name === "assets" && member !== "" && more.length === 0) return "asset";
  if (raw === "login" || raw === "logout") return raw;
  if (raw === "openapi.yaml" || raw === "openapi.json") return "openapi";
  return raw === "openapi.html" ? "api-page" : "unknown";
}

function plainHomeShape(raw: string): string {
  const segments = raw.split("/");
  const isFolder = segments.at(-1) === "";
  if (isFolder) segments.pop();
  const names = segments.map(plainSegment);
  if (!names.every((name) => name !== undefined && isPlainName(name))) return "malformed";
  if (isFolder) return "folder";
  return names.join("/") === "__svc__/password-update" && names.length === 2 ? "password-update" : "file";
}

function plainSegment(raw: string): string | undefined {
  if (/%(?![0-9a-f]{2})/i.test(raw) || /[^!-~]/.test(raw)) return undefined;
  const bytes = raw.replace(/%(..)/g, (_, code) => String.fromCharCode(Number.parseInt(code, 16)));
  return decodeStrictly(toBytes(bytes));
}
