import { expect } from "vitest";
import {
  type CallOptions,
  createTestService,
  type TestService,
  type TestServiceOptions,
} from "../../support/service.ts";
import { readZip } from "../../unit/archive/read-zip.ts";

/** The client of the requests. */
export const PEER = { address: "192.0.2.1", port: 4711, family: "IPv4", protocol: "TCP" } as const;

/** A response for a large folder whose members count for `limits.pageBytesPerAccount`. */
export interface LargeResponse {
  readonly request: CallOptions;
  readonly files: Readonly<Record<string, string>>;
  /** What `/home/large/` counts, in bytes. */
  readonly bytes: number;
  /** The limit: an account may have a large folder and a small one at a time. */
  readonly limit: number;
  /** Reads the response, and returns how many members it shows. */
  countMembers(response: Response): Promise<number>;
}

const LARGE_COUNT = 2500;
const ZIP = { accept: "application/zip" };

const LARGE_FILES = {
  ...filesIn("/alice/large", LARGE_COUNT),
  ...filesIn("/bob/large", LARGE_COUNT),
};

/** A page: it counts 512 KiB, and for each member 300 bytes and two for each code unit of its name. */
export const PAGE: LargeResponse = {
  request: { variant: "html" },
  files: { ...LARGE_FILES, ...filesIn("/alice/small", 1000) },
  bytes: 524_288 + sumOf("", (length) => 300 + 2 * (length - 1)),
  limit: 2_200_000,
  countMembers: async (response) => (await response.text()).match(/<tr data-name=/g)?.length ?? 0,
};

const ARCHIVE_BYTES = 65_536 + sumOf("/large", (length) => 397 + 3 * length);

/** An archive: it counts 64 KiB, and for each member 400 bytes and three for each of its path. */
export const ARCHIVE: LargeResponse = {
  request: { headers: ZIP },
  files: {
    ...LARGE_FILES,
    ...filesIn("/alice/small", 100),
    // A file that fills the first part of an archive, which is not compressed, and a folder that is listed after it.
    "/alice/tree/first.jpg": "x".repeat(100_000),
    ...filesIn("/alice/tree/rest", LARGE_COUNT),
  },
  bytes: ARCHIVE_BYTES,
  limit: ARCHIVE_BYTES + 200_000,
  // The first entry is the folder itself.
  countMembers: async (response) => readZip(Buffer.from(await response.arrayBuffer())).length - 1,
};

/** A service with a large folder for two accounts, and the limit of `of`. */
export function createCounted(of: LargeResponse, options: TestServiceOptions = {}): Promise<TestService> {
  const limits = { pageBytesPerAccount: of.limit, ...options.limits };
  return createTestService({ files: of.files, ...options, limits });
}

/** Starts a response of which nothing is read. */
export async function begin(
  of: LargeResponse,
  { open }: TestService,
  target = "/home/large/",
  options: CallOptions = {},
): Promise<Response> {
  const response = await open("GET", target, { ...of.request, connection: { peer: PEER }, ...options });
  expect(response.status).toBe(200);
  return response;
}

/** Requests a response, cancels its body, and returns its status. */
export async function statusOf(
  of: LargeResponse,
  { open }: TestService,
  target = "/home/large/",
  options: CallOptions = {},
): Promise<number> {
  const response = await open("GET", target, { ...of.request, connection: { peer: PEER }, ...options });
  await response.body?.cancel();
  return response.status;
}

/** Empty files in a folder, by their storage paths. */
function filesIn(folder: string, count: number): Record<string, string> {
  return Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/${index}.txt`, ""]));
}

function sumOf(folder: string, bytesOf: (pathLength: number) => number): number {
  return Object.keys(filesIn(folder, LARGE_COUNT)).reduce((sum, { length }) => sum + bytesOf(length), 0);
}
