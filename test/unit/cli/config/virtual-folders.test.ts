import { expect, it } from "vitest";
import { configFileSchema, toGroupSettings } from "../../../../src/cli/config/schema.ts";
import { warnOfMissingFolders } from "../../../../src/cli/config/virtual-folders.ts";
import { StorageError } from "../../../../src/contracts/storage-adapter.ts";
import { createMemoryStorage } from "../../../../src/storage/memory.ts";
import { createRecordingLogger } from "../../../support/logger.ts";

it("warns of a virtual folder that the process may not read, and looks at the others all the same", async () => {
  const cause = Object.assign(new Error("EACCES: permission denied, open '/proc/self/fd/21/closed'"), {
    code: "EACCES",
  });
  const memory = createMemoryStorage();
  const storage = {
    ...memory,
    async stat(path: string) {
      if (path.startsWith("/closed/")) throw new StorageError("denied", cause.message, { cause });
      return memory.stat(path);
    },
  };
  const logger = createRecordingLogger();
  const virtual_folders = [
    ["/a", "/closed/x"],
    ["/b", "/missing"],
  ];
  const accounts = [{ username: "alice", password: "secret", home_folder_path: "/", virtual_folders }];
  const { authentication } = configFileSchema.parse({ authentication: [{ type: "accounts", accounts }] });
  await warnOfMissingFolders(authentication, toGroupSettings(undefined), storage, { logger, toPath: (path) => path });
  expect(logger.entries.map(({ message, details }) => ({ message, ...details }))).toEqual([
    {
      message: "The real folder of a virtual folder cannot be read.",
      folder: "/closed/x",
      account: "alice",
      reason: "permission denied",
    },
    {
      message: "The real folder of a virtual folder is missing. The first upload creates it.",
      folder: "/missing",
      account: "alice",
    },
  ]);
});
