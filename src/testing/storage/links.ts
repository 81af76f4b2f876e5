import { expect, expectEqual, expectRefusal } from "../expectations.ts";
import type { StorageCase, StorageCaseContext } from "./case.ts";
import { firstOf, namesIn, put, readFileText, untouched } from "./content.ts";

/** Cases about links, which are reported and replaced, never followed. */
export const linkCases: readonly StorageCase[] = [
  {
    name: "links: stat and list report a link, of size 0 and without a tag",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        await link(context, `/to-${to}`, to);
        const entry = await context.storage.stat(`/to-${to}`);
        expectEqual([entry?.name, entry?.kind, entry?.size, entry?.etag], [`to-${to}`, "link", 0, undefined], "entry");
      }
      for await (const { name, kind } of context.storage.list("/")) expectEqual(kind, "link", name);
      expectEqual(await namesIn(context.storage, "/"), ["to-file", "to-folder"], "members");
    },
  },
  {
    name: "links: not-found for read, not-a-folder for list",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        await link(context, `/to-${to}`, to);
        await expectRefusal(context.storage.read(`/to-${to}`), "not-found");
        await expectRefusal(firstOf(context.storage, `/to-${to}`), "not-a-folder");
      }
    },
  },
  {
    name: "links: nothing is found, created or removed below a link",
    needs: "makeLink",
    async run(context) {
      const { storage } = context;
      const target = await link(context, "/link", "folder");
      expectEqual(await storage.stat("/link/inside.txt"), undefined, "stat");
      await expectRefusal(storage.read("/link/inside.txt"), "not-found");
      await expectRefusal(firstOf(storage, "/link/deeper"), "not-found");
      await expectRefusal(storage.remove("/link/inside.txt"), "not-found");
      const content = untouched();
      await expectRefusal(storage.write("/link/inside.txt", content), "not-a-folder");
      expect(!content.wasTouched(), "content was left alone");
      await expectRefusal(storage.createFolder("/link/new"), "not-a-folder");
      expectEqual(await target.readText(), "target", "target");
    },
  },
  {
    name: "links: remove removes the link, not its target",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        const target = await link(context, `/to-${to}`, to);
        await context.storage.remove(`/to-${to}`);
        expectEqual(await context.storage.stat(`/to-${to}`), undefined, "stat");
        expectEqual(await target.readText(), "target", "target");
      }
    },
  },
  {
    name: "links: remove with a kind treats every link as a file, also one to a folder",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        const target = await link(context, `/to-${to}`, to);
        await expectRefusal(context.storage.remove(`/to-${to}`, { kind: "folder" }), "not-found");
        expectEqual((await context.storage.stat(`/to-${to}`))?.kind, "link", "kind");
        await context.storage.remove(`/to-${to}`, { kind: "file" });
        expectEqual(await context.storage.stat(`/to-${to}`), undefined, "stat");
        expectEqual(await target.readText(), "target", "target");
      }
    },
  },
  {
    name: "links: removing a folder removes the links in it, not their targets",
    needs: "makeLink",
    async run(context) {
      await context.storage.createFolder("/folder");
      const targets = [await link(context, "/folder/a", "file"), await link(context, "/folder/b", "folder")];
      await context.storage.remove("/folder");
      expectEqual(await namesIn(context.storage, "/"), [], "members");
      for (const target of targets) expectEqual(await target.readText(), "target", "target");
    },
  },
  {
    name: "links: write replaces the link with a file and does not change its target",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        const target = await link(context, `/to-${to}`, to);
        const entry = await put(context.storage, `/to-${to}`, "new");
        expectEqual([entry.kind, (await context.storage.stat(`/to-${to}`))?.kind], ["file", "file"], "kinds");
        expectEqual(
          [await readFileText(context.storage, `/to-${to}`), await target.readText()],
          ["new", "target"],
          "texts",
        );
      }
    },
  },
  {
    name: "links: conditions treat a link as a missing file",
    needs: "makeLink",
    async run(context) {
      const target = await link(context, "/link", "file");
      await expectRefusal(put(context.storage, "/link", "new", { ifMatch: "*" }), "precondition-failed");
      await put(context.storage, "/link", "new", { ifNoneMatch: "*" });
      expectEqual([await readFileText(context.storage, "/link"), await target.readText()], ["new", "target"], "texts");
    },
  },
  {
    name: "links: already-exists for createFolder",
    needs: "makeLink",
    async run(context) {
      for (const to of ["file", "folder"] as const) {
        await link(context, `/to-${to}`, to);
        await expectRefusal(context.storage.createFolder(`/to-${to}`), "already-exists");
      }
    },
  },
];

function link({ makeLink }: StorageCaseContext, ...link: Parameters<NonNullable<StorageCaseContext["makeLink"]>>) {
  if (makeLink === undefined) throw new Error("This case needs makeLink.");
  return makeLink(...link);
}
