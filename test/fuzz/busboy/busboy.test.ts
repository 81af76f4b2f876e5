import { isDeepStrictEqual } from "node:util";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCorpus } from "../corpus.ts";
import { mutate } from "../mutate.ts";
import { createRandom } from "../random.ts";
import { cutLine, toBytes } from "../target.ts";
import { target } from "../targets/multipart.ts";
import { DIFFERENCES, formOf, hasPartBehindEnd } from "./differences.ts";
import { cutInto, forms, unescapeName } from "./forms.ts";
import { type Form, type Reading, readByBusboy, readByFileferry } from "./readings.ts";

const corpus = readCorpus("multipart");
const listed = new Set(DIFFERENCES.flatMap(({ form }) => (typeof form === "string" ? [] : form.corpus)));

async function readByBoth(form: Form): Promise<readonly [fileferry: Reading, busboy: Reading]> {
  return [await readByFileferry(form), await readByBusboy(form)];
}

/** Names without their escapes, and no empty file names: the differences that nearly every form of a browser shows. */
function asBrowsersMean({ parts, isAccepted }: Reading): Reading {
  const meant = parts.map((part) => ({
    ...part,
    name: unescapeName(part.name),
    filename: part.filename ? unescapeName(part.filename) : undefined,
  }));
  return { parts: meant, isAccepted };
}

describe("a form that fileferry and busboy read", () => {
  it("has the same parts for both, however it is written and cut", async () => {
    await fc.assert(
      fc.asyncProperty(forms, async (form) => {
        const [fileferry, busboy] = await readByBoth(form);
        expect(fileferry).toEqual({ parts: form.parts, isAccepted: true });
        expect(asBrowsersMean(busboy)).toEqual(fileferry);
      }),
      { numRuns: 200 },
    );
  });

  it("has the same 1,000 parts for both", async () => {
    const part = '--B\r\nContent-Disposition: form-data; name="a"; filename="b"\r\n\r\n';
    const bytes = toBytes(`${Array.from({ length: 1000 }, (_, index) => `${part}${index}\r\n`).join("")}--B--`);
    const [fileferry, busboy] = await readByBoth({
      type: "multipart/form-data; boundary=B",
      chunks: cutInto(bytes, [4096, 1, 100]),
    });
    expect(busboy).toEqual(fileferry);
    expect(fileferry.parts.map(({ content }) => content)).toEqual(
      Array.from({ length: 1000 }, (_, index) => `${index}`),
    );
  });

  const same = [...corpus].filter(([name]) => !listed.has(name));
  it.each(same)("has the same parts, or none, for both as a hostile one: %s", async (_name, input) => {
    const [type, body] = cutLine(input);
    for (const length of [body.length + 1, 7, 1]) {
      const [fileferry, busboy] = await readByBoth({ type, chunks: cutInto(toBytes(body), [length]) });
      expect(busboy).toEqual(fileferry);
    }
  });

  it("has parts that busboy finds too, or an oddity that is listed, whatever bytes it is made of", async () => {
    const seeds = [...corpus.values()];
    const random = createRandom(1);
    const unlisted: unknown[] = [];
    let read = 0;
    for (let tries = 0; tries < 2500; tries++) {
      const input = mutate(random, random.pick(seeds), random.pick(seeds), target);
      const [type, body] = cutLine(input);
      // Busboy never ends when the chunk of the last boundary has an open part behind it.
      if (hasPartBehindEnd(body)) continue;
      const form = { type, chunks: [toBytes(body)] };
      const fileferry = asBrowsersMean(await readByFileferry(form));
      if (!fileferry.isAccepted) continue;
      read++;
      const busboy = asBrowsersMean(await readByBusboy(form));
      if (isDeepStrictEqual(fileferry, busboy) || DIFFERENCES.some(({ isIn }) => isIn?.(type, body))) continue;
      unlisted.push({ input, fileferry, busboy });
    }
    expect(unlisted).toEqual([]);
    expect(read).toBeGreaterThan(100);
  });
});

describe("a form that fileferry and busboy do not read alike", () => {
  it.each(DIFFERENCES)("is one with $what, which fileferry $fileferry", async (difference) => {
    const [type, body] = formOf(difference);
    const [fileferry, busboy] = await readByBoth({ type, chunks: [toBytes(body)] });
    expect(fileferry.isAccepted).toBe(difference.fileferry === "reads");
    expect(busboy).not.toEqual(fileferry);
    expect(difference.isIn?.(type, body)).not.toBe(false);
  });
});
