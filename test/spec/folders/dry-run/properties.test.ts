import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createTestService } from "../../../support/service.ts";

const NAMES = ["a", "b", "d", "e"];
const FILES = { "/alice/a": "1", "/alice/d/a": "2", "/alice/d/d/b": "3", "/alice/e/": "", "/shared/a": "4" };

const name = fc.constantFrom(...NAMES);
const destination = fc
  .tuple(fc.boolean(), fc.array(name, { minLength: 1, maxLength: 3 }), fc.boolean())
  .map(([isAbsolute, path, isFolder]) => `${isAbsolute ? "/" : ""}${path.join("/")}${isFolder ? "/" : ""}`);
const command = fc.oneof(
  fc.record({
    command: fc.constantFrom("delete", "create-folder", "create-folder-if-missing"),
    target: name,
  }),
  fc.record({ command: fc.constantFrom("copy", "move"), target: name, destination, overwrite: fc.boolean() }),
);

/** Permissions of some paths, and a folder of the storage in the account's tree. */
const groups = {
  DEFAULT_GROUP: {
    permissions: [["allow-full-control"], ["*/d/b", "allow-read", "allow-list", "allow-write"]],
    virtual_folders: [["/e/b", "/shared"]],
  },
} as const;

describe("a dry run of any commands", () => {
  it("has the outcomes of the real run after it, and changes nothing", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.array(command, { minLength: 1, maxLength: 10 }),
        fc.constantFrom("/home/", "/home/d/"),
        async (commands, path) => {
          const { call, service } = await createTestService({
            files: FILES,
            groups: groups as never,
            isDescribed: false,
            isWatched: false,
          });
          const send = async (headers: Readonly<Record<string, string>>) => {
            const body = JSON.stringify({ commands });
            const all = { "content-type": "application/json", ...headers };
            const answer = await call("POST", path, { headers: all, body, variant: "json" });
            return [answer.status, answer.text];
          };
          const list = async () => {
            const all: string[] = [];
            for (const folder of ["/home/", "/home/d/", "/home/d/d/", "/home/e/", "/home/e/b/"]) {
              all.push((await call("GET", folder, { variant: "json" })).text);
            }
            return all;
          };
          const before = await list();
          const dry = await send({ prefer: "dry-run" });
          expect(await list()).toEqual(before);
          expect(dry).toEqual(await send({}));
          await service.close();
        },
      ),
      { numRuns: 60 },
    );
  });
});
