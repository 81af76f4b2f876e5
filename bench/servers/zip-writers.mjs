// Each as its documentation has it, without compression. Loaded when asked for, so that a process has one of them only.
import { once } from "node:events";
import { createReadStream, openAsBlob } from "node:fs";
import { Readable, Writable } from "node:stream";
import { pipeline } from "node:stream/promises";

export const writers = {
  async yazl() {
    const { default: yazl } = await import("yazl");
    return (files, response) => {
      const zip = new yazl.ZipFile();
      for (const { name, path } of files) zip.addFile(path, name, { compress: false });
      zip.end();
      return pipeline(zip.outputStream, response);
    };
  },

  async archiver() {
    const { ZipArchive } = await import("archiver");
    return (files, response) => {
      const archive = new ZipArchive({ store: true });
      for (const { name, path } of files) archive.file(path, { name });
      archive.finalize();
      return pipeline(archive, response);
    };
  },

  async "client-zip"() {
    const { makeZip } = await import("client-zip");
    async function* toEntries(files) {
      for (const { name, path } of files) yield { name, lastModified: new Date(), input: await openAsBlob(path) };
    }
    return (files, response) => pipeline(Readable.fromWeb(makeZip(toEntries(files))), response);
  },

  async fflate() {
    const { Zip, ZipPassThrough } = await import("fflate");
    return async (files, response) => {
      const zip = new Zip((error, piece, isLast) => {
        if (error) return response.destroy(error);
        response.write(piece);
        if (isLast) response.end();
      });
      for (const { name, path } of files) {
        const entry = new ZipPassThrough(name);
        zip.add(entry);
        for await (const piece of createReadStream(path)) {
          entry.push(piece);
          if (response.writableNeedDrain) await once(response, "drain");
        }
        entry.push(new Uint8Array(0), true);
      }
      zip.end();
    };
  },

  async jszip() {
    const { default: JSZip } = await import("jszip");
    return (files, response) => {
      const zip = new JSZip();
      for (const { name, path } of files) zip.file(name, createReadStream(path));
      const stream = zip.generateNodeStream({ streamFiles: true, compression: "STORE" });
      return pipeline(stream, response);
    };
  },

  async "zip.js"() {
    const { configure, ZipWriter } = await import("@zip.js/zip.js");
    configure({ useWebWorkers: false });
    return async (files, response) => {
      const zip = new ZipWriter(Writable.toWeb(response), { level: 0 });
      for (const { name, path } of files) await zip.add(name, Readable.toWeb(createReadStream(path)));
      await zip.close();
    };
  },
};
