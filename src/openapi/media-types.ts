import type { Variant } from "../http/negotiate.ts";
import { type SchemaName, toSchemaRef } from "./schemas.ts";
import type { MediaTypeObject } from "./types.ts";

/** A representation that a response can have. */
export interface ContentSpec extends MediaTypeObject {
  readonly type: string;
  /** The variants that use it. Default: all. */
  readonly variants?: readonly Variant[];
}

const JSON_VARIANTS: readonly Variant[] = ["json", "webdav"];
const SESSION = "8f14e45fceea167a5a36dedd4bea2543";

const LINK = {
  id: "0b9f3f5f2c9d4c1e8b7a6d5c4b3a2918",
  path: "/reports",
  is_directory: true,
  url: "https://files.example/__svc__/share/f2a81c0d.sEcReT/",
  file_url: null,
  permissions: ["allow-read", "allow-list"],
  created: 1542117600,
  expires: 1542722400,
  has_password: false,
  uses: 0,
  max_uses: null,
  max_file_bytes: null,
  ask_name: false,
  label: "",
};

const KEY = {
  id: "5f2b8c0d9e714a63",
  label: "backup",
  permissions: ["allow-read", "allow-list"],
  path: "/reports",
  created: 1542117600,
  expires: 1549893600,
};

function json(name: SchemaName, example: unknown, variants: readonly Variant[] = JSON_VARIANTS): ContentSpec {
  return { ...anyJson(name, example), variants };
}

/** JSON in every variant, as in responses to commands. */
function anyJson(name: SchemaName, example: unknown): ContentSpec {
  return { type: "application/json", schema: toSchemaRef(name), example };
}

function bytes(type: string): ContentSpec {
  return { type, schema: { type: "string", format: "binary" } };
}

function text(type: string): ContentSpec {
  return { type, schema: { type: "string" } };
}

/** The representations of responses. */
export const CONTENTS = {
  file: bytes("*/*"),
  parts: bytes("multipart/byteranges"),
  archive: bytes("application/zip"),
  page: { ...text("text/html"), variants: ["html"] },
  /** For URLs that are pages in every variant. */
  anyPage: text("text/html"),
  listing: json("Listing", {
    content: [
      { name: "2018", is_directory: true, modified: 1542117600, size: 0 },
      { name: "q1.csv", is_directory: false, modified: 1542117600.123, size: 52311 },
    ],
  }),
  search: json("Search", {
    content: [{ name: "q1.csv", is_directory: false, modified: 1542117600.123, size: 52311, path: "2018/q1.csv" }],
    truncated: false,
  }),
  session: json("LoginResponse", { results: [{ session: SESSION }] }, ["json"]),
  accountInfo: anyJson("AccountInfo", {
    name: "maria",
    groups: ["editors"],
    login: "session",
    logins: ["basic", "session", "cookie"],
    permissions: ["read", "list", "traverse", "create-folder", "write"],
    maxFileBytes: null,
    capabilities: { archive: true, passwordChange: true, webdav: false, triggers: ["publish"] },
  }),
  quota: anyJson("Quota", {
    results: [
      {
        path: "/",
        used_bytes: 734003200,
        limit_bytes: 1073741824,
        available_bytes: 339738624,
        used_files: 1250,
        limit_files: null,
        available_files: null,
      },
    ],
  }),
  trash: json("TrashList", {
    content: [
      {
        id: "20181113T142000123Z-3f5a9c0e7b1d2468",
        path: "/reports/q1.csv",
        name: "q1.csv",
        is_directory: false,
        size: 52311,
        removed: 1542118800.123,
      },
    ],
  }),
  versions: json("VersionList", {
    content: [{ id: "20181113T142000123Z-3f5a9c0e7b1d2468", modified: 1542117600.123, size: 52311 }],
  }),
  uploads: anyJson("UploadList", {
    uploads: [
      {
        url: "/home/__svc__/uploads/8a1fd0c2b7c34ef5a3c6a0e1b2d3f405",
        path: "/reports/q1.csv",
        offset: 8388608,
        length: 52428800,
        created: 1542117600,
        expires: 1542204000,
      },
    ],
  }),
  keyList: json("KeyList", { content: [KEY] }),
  key: json("KeyResults", { results: [{ ...KEY, key: "ff_5f2b8c0d9e714a63_b1c7d2e4f6a809135f2b8c0d9e714a63" }] }),
  linkList: json("LinkList", { content: [LINK] }),
  link: json("LinkResults", { results: [LINK] }),
  /** Errors that the draft of resumable uploads has a problem type for (RFC 9457). */
  problem: { ...text("application/problem+json"), variants: ["json", "webdav"] },
  passwordChanged: json("PasswordUpdateResponse", { results: [{ message: "The password was changed." }] }),
  commandResults: anyJson("CommandResults", { results: [{ target: "2019", message: null }] }),
  commandErrors: anyJson("CommandErrors", {
    errors: [
      { target: "2019", message: null },
      { target: "old.csv", message: "Not found." },
    ],
  }),
  errors: json("Errors", { errors: [{ message: "Not found." }] }),
  /** What locks refuse, in the variant of WebDAV (RFC 4918 16). */
  lockErrors: { ...text("application/xml"), variants: ["webdav"] },
  style: text("text/css"),
  script: text("text/javascript"),
  notices: text("text/plain"),
  yaml: text("application/yaml"),
  document: { type: "application/json", schema: { type: "object" } },
} as const satisfies Readonly<Record<string, ContentSpec>>;

/** One of {@link CONTENTS}. */
export type ContentName = keyof typeof CONTENTS;
