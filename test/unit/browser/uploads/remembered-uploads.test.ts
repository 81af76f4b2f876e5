import { describe, expect, it } from "vitest";
import { createRememberedUploads, type RememberedUpload } from "../../../../src/browser/uploads/remembered-uploads.ts";

const NOW = 1_000_000;

function createStorage(): Storage {
  const items = new Map<string, string>();
  return {
    getItem: (key) => items.get(key) ?? null,
    setItem: (key, value) => void items.set(key, value),
    removeItem: (key) => void items.delete(key),
    clear: () => items.clear(),
    key: (index) => [...items.keys()][index] ?? null,
    get length() {
      return items.size;
    },
  };
}

const toUrl = (id: number): string => `/home/__svc__/uploads/${id.toString(16).padStart(32, "0")}`;

function upload(id: number, own: Partial<RememberedUpload> = {}): RememberedUpload {
  return {
    ...{ account: "alice", folder: "/home/", name: `${id}.bin`, size: 100, modified: 5, urls: [toUrl(id)] },
    ...{ expires: NOW + 1, mayReplace: false, ...own },
  };
}

function open() {
  const storage = createStorage();
  return { storage, remembered: createRememberedUploads(storage, () => NOW) };
}

describe("remembered uploads", () => {
  it("are found by account, folder, name, size and time of the file (R 11.4)", () => {
    const { remembered } = open();
    const one = upload(1);
    remembered.save(one);
    expect(remembered.find(one)).toEqual(one);
    for (const other of [{ account: "bob" }, { folder: "/home/a/" }, { name: "x" }, { size: 99 }, { modified: 6 }]) {
      expect(remembered.find({ ...one, ...other })).toBeUndefined();
    }
  });

  it("are listed for one account and one folder", () => {
    const { remembered } = open();
    for (const own of [{}, { account: "bob" }, { folder: "/home/a/" }]) remembered.save(upload(1, own));
    expect(remembered.list("alice", "/home/a/")).toEqual([upload(1, { folder: "/home/a/" })]);
  });

  it("are seen by another page of the browser, which has what was saved and nothing more", () => {
    const { storage, remembered } = open();
    remembered.save(upload(1));
    expect(createRememberedUploads(storage, () => NOW).list("alice", "/home/")).toEqual([upload(1)]);
    expect(JSON.parse(storage.getItem(storage.key(0) ?? "") ?? "")).toEqual([upload(1)]);
  });

  it("are at most a hundred, the newest (R 11.4)", () => {
    const { remembered } = open();
    for (let id = 0; id < 105; id++) remembered.save(upload(id));
    const names = remembered.list("alice", "/home/").map(({ name }) => name);
    expect(names.length).toBe(100);
    expect([names[0], names.at(-1)]).toEqual(["5.bin", "104.bin"]);
  });

  it("end when the service forgets them", () => {
    const { storage, remembered } = open();
    remembered.save(upload(1));
    expect(createRememberedUploads(storage, () => NOW + 1).list("alice", "/home/")).toEqual([]);
  });

  it("take the place of others with their name, which are told, but not of themselves", () => {
    const { remembered } = open();
    expect(remembered.save(upload(1))).toEqual([]);
    expect(remembered.save(upload(1, { expires: NOW + 9 }))).toEqual([]);
    const changed = upload(1, { size: 200, urls: [toUrl(2)] });
    expect(remembered.save(changed)).toEqual([upload(1, { expires: NOW + 9 })]);
    expect(remembered.list("alice", "/home/")).toEqual([changed]);
  });

  it("are forgotten by their URLs, all at a log-out, and leave nothing behind", () => {
    const { storage, remembered } = open();
    for (const id of [1, 2, 3]) remembered.save(upload(id));
    remembered.forget([toUrl(2)]);
    expect(remembered.list("alice", "/home/").map(({ name }) => name)).toEqual(["1.bin", "3.bin"]);
    remembered.clear();
    expect(storage.length).toBe(0);
  });

  it.each([
    ["no JSON", "{"],
    ["no list", "{}"],
    ["other things", `[1, null, {}, ${JSON.stringify({ ...upload(1), size: "1" })}]`],
    ["no URLs", JSON.stringify([upload(1, { urls: [] })])],
    ["a URL of another origin", JSON.stringify([upload(1, { urls: [`https://evil.example${toUrl(1)}`] })])],
    ["a URL without a scheme", JSON.stringify([upload(1, { urls: [`//evil.example${toUrl(1)}`] })])],
    ["the URL of a file", JSON.stringify([upload(1, { urls: ["/home/a.txt"] })])],
  ])("are none where the storage has %s", (_name, text) => {
    const { storage, remembered } = open();
    remembered.save(upload(1));
    storage.setItem(storage.key(0) ?? "", text);
    expect(remembered.list("alice", "/home/")).toEqual([]);
    expect(remembered.find(upload(1))).toBeUndefined();
    remembered.save(upload(2));
    expect(remembered.list("alice", "/home/")).toEqual([upload(2)]);
  });

  it("are none in a browser without a storage, or with a full one", () => {
    const none = createRememberedUploads(undefined, () => NOW);
    expect(none.save(upload(1))).toEqual([]);
    expect(none.list("alice", "/home/")).toEqual([]);
    const full = createStorage();
    full.setItem = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const remembered = createRememberedUploads(full, () => NOW);
    expect(remembered.save(upload(1))).toEqual([]);
    expect(remembered.list("alice", "/home/")).toEqual([]);
  });
});
