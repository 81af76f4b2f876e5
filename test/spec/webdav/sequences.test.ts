import { describe, it } from "vitest";
import { playSequence } from "../../support/webdav-sequence.ts";
import { SEQUENCES } from "../../unit/webdav/recorded-sequences.ts";
import { createDav } from "./calls.ts";

describe("the requests of a client, in its order", () => {
  it.each(SEQUENCES.map((sequence) => [sequence.name, sequence] as const))(
    "succeed, and their responses have what it needs: %s",
    async (_, sequence) => {
      const { call, storage } = await createDav({ files: { "/alice/f/": "" } });
      await playSequence(sequence, {
        origin: "http://files.example",
        folder: "/home/f/",
        call: (method, target, { chunked: _chunked, ...options }) => call(method, target, options),
        async names() {
          const names: string[] = [];
          for await (const { name } of storage.list("/alice/f")) names.push(name);
          return names;
        },
      });
    },
  );
});
