import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase } from "./case.ts";
import { firstOf, namesIn, put, readFileText, untouched } from "./content.ts";

const AWKWARD: Readonly<Record<string, readonly string[]>> = {
  "with spaces inside and at both ends": ["a b", " leading", "trailing ", " ", "  "],
  "with dots at both ends": [".hidden", "trailing.", "...", "..a", "a.."],
  "with quotes, brackets and shell characters": [
    `"quoted"`,
    "it's",
    "`a`",
    "$HOME",
    "a;b",
    "a&b",
    "a|b",
    "<a>",
    "*",
    "[a]",
  ],
  "with characters that are special in URLs": [
    "a%20b",
    "%2e%2e",
    "%",
    "a#b",
    "a?b",
    "a+b",
    "a:b",
    "a=b",
    "a@b",
    "~",
    "a,b",
  ],
  "with a backslash": ["a\\b", "..\\a"],
  "that are properties of every object": ["__proto__", "constructor", "toString", "hasOwnProperty"],
  "beyond ASCII": ["grüße.txt", "日本語", "עברית", "emoji 😀👩‍👩‍👧", "\u200b", "\ufeffbom", "\uffff", "\ufffd"],
  "that sort before and after /": ["a", "a-b", "a.b", "a0b", "a!b"],
};

/** Cases about names, which are stored unchanged or rejected. */
export const nameCases: readonly StorageCase[] = [
  ...Object.entries(AWKWARD).map(
    ([kind, names]): StorageCase => ({
      name: `names ${kind} are stored unchanged`,
      async run({ storage }) {
        await storage.createFolder("/names");
        for (const name of names)
          expectEqual((await put(storage, `/names/${name}`, `text of ${name}`)).name, name, "written");
        expectEqual(await namesIn(storage, "/names"), [...names].sort(), "listed");
        for (const name of names) {
          expectEqual((await storage.stat(`/names/${name}`))?.name, name, "found");
          expectEqual(await readFileText(storage, `/names/${name}`), `text of ${name}`, name);
          await storage.remove(`/names/${name}`);
        }
        expectEqual(await namesIn(storage, "/names"), [], "listed in the end");
        for (const name of names) {
          await storage.createFolder(`/names/${name}`);
          await put(storage, `/names/${name}/member`, name);
          expectEqual(await readFileText(storage, `/names/${name}/member`), name, `member of ${name}`);
        }
        await storage.remove("/names");
      },
    }),
  ),
  {
    name: "composed and decomposed forms of a name (NFC, NFD) are two names",
    async run({ storage }) {
      const [composed, decomposed] = ["\u00e9", "e\u0301"];
      await put(storage, `/${composed}`, "composed");
      expectEqual(await storage.stat(`/${decomposed}`), undefined, "the other form");
      await put(storage, `/${decomposed}`, "decomposed");
      expectEqual(await namesIn(storage, "/"), [decomposed, composed], "listed");
      expectEqual(await readFileText(storage, `/${composed}`), "composed", "text");
    },
  },
  {
    name: "upper and lower case of a name are two names",
    async run({ storage }) {
      await put(storage, "/Name", "capital");
      expectEqual(await storage.stat("/name"), undefined, "the other name");
      await put(storage, "/name", "small");
      expectEqual(
        [await readFileText(storage, "/Name"), await readFileText(storage, "/name")],
        ["capital", "small"],
        "texts",
      );
    },
  },
  {
    name: "a name of 255 bytes is stored, also with characters of several bytes",
    async run({ storage }) {
      for (const name of ["n".repeat(255), `${"😀".repeat(63)}abc`, `${"é".repeat(127)}x`]) {
        await put(storage, `/${name}`, "long");
        expectEqual(await readFileText(storage, `/${name}`), "long", "text");
      }
      expectEqual((await namesIn(storage, "/")).length, 3, "members");
    },
  },
  {
    name: "a name of 256 bytes is bad-name for writes and does not exist for other methods",
    async run({ storage }) {
      for (const name of ["n".repeat(256), "😀".repeat(64)]) await expectUnkeepable(storage, name);
    },
  },
  {
    name: "a name that UTF-8 cannot encode, or that contains NUL, is bad-name for writes and does not exist for other methods",
    async run({ storage }) {
      for (const name of ["\ud800", "a\udc00b", "a\0b"]) await expectUnkeepable(storage, name);
    },
  },
];

async function expectUnkeepable(storage: Parameters<StorageCase["run"]>[0]["storage"], name: string): Promise<void> {
  const content = untouched();
  await expectRefusal(storage.write(`/${name}`, content), "bad-name");
  expect(!content.wasTouched(), "content was left alone");
  await expectRefusal(storage.createFolder(`/${name}`), "bad-name");
  expectEqual(await storage.stat(`/${name}`), undefined, "stat");
  await expectRefusal(storage.read(`/${name}`), "not-found");
  await expectRefusal(firstOf(storage, `/${name}`), "not-found");
  await expectRefusal(storage.remove(`/${name}`), "not-found");
  expectEqual(await namesIn(storage, "/"), [], "listed");
}
