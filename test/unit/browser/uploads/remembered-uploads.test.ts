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

describe("remembered uploads of a link (SHARING 9.3)", () => {
  const toLinkUrl = (token: string, id: number): string => `/f%20g/__svc__/share/${token}${toUrl(id).slice(5)}`;

  function openLink(storage: Storage, token: string) {
    return createRememberedUploads(storage, () => NOW, `/f%20g/__svc__/share/${token}/`);
  }

  function ofLink(token: string, id: number, account = "link:1"): RememberedUpload {
    return upload(id, { account, folder: `/f g/__svc__/share/${token}/sub/`, urls: [toLinkUrl(token, id)] });
  }

  it("are stored without its token, and get the one that the page has", () => {
    const storage = createStorage();
    openLink(storage, "first").save(ofLink("first", 1));
    const text = storage.getItem("fileferry-uploads") ?? "";
    expect(text).not.toMatch(/first|share/);
    expect(JSON.parse(text)).toEqual([{ ...ofLink("first", 1), folder: "./sub/", urls: [`.${toUrl(1).slice(5)}`] }]);
    // The same link, with a new token.
    const again = openLink(storage, "second");
    expect(again.list("link:1", "/f g/__svc__/share/second/sub/")).toEqual([ofLink("second", 1)]);
    again.forget([toLinkUrl("second", 1)]);
    expect(storage.length).toBe(0);
  });

  it("are not those of another link or of an account, and stay when these are changed", () => {
    const storage = createStorage();
    const [one, other] = [openLink(storage, "first"), openLink(storage, "other")];
    one.save(ofLink("first", 1));
    other.save(ofLink("other", 2, "link:2"));
    const home = createRememberedUploads(storage, () => NOW);
    home.save(upload(3));
    expect(other.list("link:2", "/f g/__svc__/share/other/sub/")).toEqual([ofLink("other", 2, "link:2")]);
    expect(one.list("link:1", "/f g/__svc__/share/first/sub/")).toEqual([ofLink("first", 1)]);
    expect(home.list("alice", "/home/")).toEqual([upload(3)]);
    expect(storage.getItem("fileferry-uploads")).not.toMatch(/first|other/);
  });
});
