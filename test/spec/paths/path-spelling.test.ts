import fc from "fast-check";
import JSZip from "jszip";
import { describe, expect, it } from "vitest";
import { createAccountsAuthenticator } from "../../../src/auth/accounts/accounts.ts";
import type { FileEvent } from "../../../src/contracts/events/file-event.ts";
import type { StorageAdapter } from "../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../support/logger.ts";
import { createTestService } from "../../support/service.ts";
import { overrideStorage } from "../../support/storage.ts";
import { amount } from "../../support/trust.ts";

/**
 * Names, each with a way to write its bytes: as they are where a URL may have them, or with percent signs in either
 * case.
 */
const name = fc.oneof(
  fc.constantFrom("a", "private", "b c", "é", "%41", "a+b", "a%2fb", "😀", "..a", "a;b", "a?b", "a#b", "~", "e\u0301"),
  fc
    .string({ unit: "grapheme", minLength: 1, maxLength: 5 })
    .filter((text) => !/[/\\\p{Cc}\p{Cs}]|^\.\.?$/u.test(text)),
);
const segment = fc.tuple(name, fc.infiniteStream(fc.constantFrom("plain", "upper", "lower")));

function write([name, ways]: readonly [string, Iterator<string>]): string {
  return [...Buffer.from(name)]
    .map((byte) => {
      const way = ways.next().value as string;
      const character = String.fromCharCode(byte);
      if (way === "plain" && /[A-Za-z0-9._~!$&'()*+,;=:@-]/.test(character)) return character;
      const digits = byte.toString(16).padStart(2, "0");
      return `%${way === "lower" ? digits : digits.toUpperCase()}`;
    })
    .join("");
}

describe("a target (SECURITY 1)", () => {
  it("is one path for the storage, the permissions, the events, the answer's header, the listing and the archive", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(segment, { minLength: 1, maxLength: 3 }), async (segments) => {
        const names = segments.map(([name]) => name);
        const last = names.at(-1) as string;
        const target = `/home/${segments.map(write).join("/")}`;
        const path = `/${names.join("/")}`;
        const written: string[] = [];
        const memory = createMemoryStorage();
        const storage: StorageAdapter = overrideStorage(memory, {
          write: (at, content, options) => {
            written.push(at);
            return memory.write(at, content, options);
          },
        });
        const events: FileEvent[] = [];
        // Nothing but the path itself may be written, and its folder be listed.
        const exact = `m/^${path.replaceAll(/[.*+?^${}()|[\]\\/]/g, "\\$&")}$/`;
        const permissions = [
          ["allow-list", "allow-create-folder", "allow-read"],
          [exact, "allow-write", "allow-read"],
        ];
        const account = { username: "alice", password: "secret", home_folder_path: "/alice", permissions };
        const test = await createTestService({
          storage,
          authentication: createAccountsAuthenticator({ accounts: [account], logger: createRecordingLogger() }),
          onEvent: (event) => void events.push(event),
        });
        for (let depth = 1; depth < names.length; depth += 1) {
          await memory.createFolder(`/alice/${names.slice(0, depth).join("/")}`);
        }
        const put = await test.call("PUT", target, { body: "x" });
        expect([target, put.status]).toEqual([target, 201]);
        expect(written).toEqual([`/alice${path}`]);
        expect(decodeURIComponent(put.header("server-path") ?? "")).toBe(path);
        const paths = events.flatMap(({ data }) => ("file" in data ? [JSON.stringify(data.file)] : []));
        for (const told of paths) expect(told).toContain(JSON.stringify(path).slice(1, -1));
        const folder = `/home/${segments.slice(0, -1).map(write).join("/")}${names.length > 1 ? "/" : ""}`;
        const { content } = (await test.call("GET", folder, { variant: "json" })).json<{
          content: { name: string }[];
        }>();
        expect(content.map(({ name }) => name)).toEqual([last]);
        const archive = await test.call("GET", folder, { headers: { accept: "application/zip" } });
        const zip = await JSZip.loadAsync(archive.bytes);
        const files = Object.keys(zip.files).filter((name) => !name.endsWith("/"));
        expect(files.map((name) => name.split("/").at(-1))).toEqual([last.replaceAll(/[\\:\p{Cc}]/gu, "_")]);
        expect((await test.call("GET", target)).text).toBe("x");
      }),
      { numRuns: amount({ short: 50, long: 150 }) },
    );
  });
});
