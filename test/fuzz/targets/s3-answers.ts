import { type StorageEntry, StorageError } from "../../../src/contracts/storage-adapter.ts";
import {
  isSuccessful,
  type OpenedResponse,
  type StoreResponse,
} from "../../../src/storage/object-store/http/client.ts";
import { parseResponse } from "../../../src/storage/object-store/http/xml.ts";
import {
  createListedMarker,
  type ListPage,
  listObjectMembers,
} from "../../../src/storage/object-store/member-pages.ts";
import type { S3Client } from "../../../src/storage/s3/client.ts";
import { codeOf, isMissing } from "../../../src/storage/s3/errors.ts";
import { listPage } from "../../../src/storage/s3/list.ts";
import { cutLine, decodeStrictly, expect, type FuzzTarget, toBytes } from "../target.ts";

const FOLDER = "home/";

/** A line with the status of a store's answer, and its XML. */
export const target: FuzzTarget = {
  sources: [
    "storage/s3/list.ts",
    "storage/object-store/member-pages.ts",
    "storage/s3/errors.ts",
    "storage/object-store/http/xml.ts",
    "storage/s3/entries.ts",
  ],
  dictionary: [
    "200\n",
    "404\n",
    "<ListBucketResult>",
    "</ListBucketResult>",
    "<EncodingType>url</EncodingType>",
    "<IsTruncated>true</IsTruncated><NextContinuationToken>x</NextContinuationToken>",
    "<Contents><Key>home/a.txt</Key><Size>5</Size><LastModified>2026-05-05T07:08:09.123Z</LastModified><ETag>&quot;x&quot;</ETag></Contents>",
    "<CommonPrefixes><Prefix>home/sub/</Prefix></CommonPrefixes>",
    "<Size>-1</Size>",
    "<Size></Size>",
    "home/.fileferry-properties/",
    "home/../",
    "home/..",
    "home/a/b",
    "home/",
    "%2F",
    "%zz",
    "+",
    "<Error><Code>NoSuchKey</Code></Error>",
    "<!DOCTYPE x [<!ENTITY a 'b'>]>",
    "&a;",
    "&#0;",
    "&#x110000;",
    "<![CDATA[x]]>",
    "<?xml version='1.0'?>",
    "<!-- -->",
    "xmlns='http://s3.amazonaws.com/doc/2006-03-01/'",
    "<a>",
    "</a>",
    "<",
    "&",
  ],
  separators: ["<", ">", "/", "\n", "&"],
  maxLength: 64 * 1024,
  run,
};

async function run(input: string): Promise<string> {
  const [line, xml] = cutLine(input);
  const text = decodeStrictly(toBytes(xml)) ?? xml;
  const answer: StoreResponse = {
    status: Number(/^\d{3}$/.exec(line)?.[0] ?? 200),
    headers: new Headers(),
    text,
    attempts: 1,
  };
  const code = codeOf(answer);
  expect(/^[\w.-]{0,64}$/.test(code), "a code may stand in a log");
  isMissing(answer);
  let calls = 0;
  const call = async (): Promise<OpenedResponse> => {
    calls += 1;
    // The next page is the same one: that must not go on for ever.
    expect(calls < 7, "a listing ends");
    return { ...answer, body: undefined };
  };
  try {
    const entries: StorageEntry[] = [];
    const client = { call } as unknown as S3Client;
    const pageOf: ListPage = (request) => listPage(client, request);
    const members = listObjectMembers(pageOf, FOLDER, new Date(0), (signal) =>
      createListedMarker(pageOf, FOLDER, { signal }),
    );
    for await (const page of members) entries.push(...(page ?? []));
    expect(isSuccessful(answer) && parseResponse(text)?.name === "ListBucketResult", "only a listing lists");
    for (const entry of entries) expectEntry(entry, text);
    return `${Math.min(entries.length, 3)} ${code !== ""}`;
  } catch (error) {
    if (!(error instanceof StorageError)) throw error;
    return `${error.code} ${code !== ""}`;
  }
}

function expectEntry({ name, kind, size, modified, etag }: StorageEntry, text: string): void {
  expect(name !== "" && name !== "." && name !== ".." && !/[/\0]/.test(name), "a member has a name");
  expect(kind === "file" || kind === "folder", "and is a file or a folder");
  expect(Number.isSafeInteger(size) && size >= 0, "of a size");
  expect(!Number.isNaN(modified.getTime()), "and of a time");
  expect(etag === undefined || etag.endsWith('"'), "an entity-tag has its quotes");
  expect(text.includes("Contents") || text.includes("CommonPrefixes"), "and is in the listing");
}
