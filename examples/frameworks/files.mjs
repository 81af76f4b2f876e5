import { createAccountsAuthenticator, createFileService } from "fileferry";
import { createNodePasswordHasher } from "fileferry/node";
import { createDiskStorage } from "fileferry/storage/disk";

/** The service that all examples mount below `/files`: a folder on disk, with one account. */
export function createFiles(root) {
  return createFileService({
    basePath: "/files",
    storage: createDiskStorage({ root }),
    authentication: createAccountsAuthenticator({
      accounts: [{ username: "alice", password: "secret", home_folder_path: "/" }],
      passwordHasher: createNodePasswordHasher(),
    }),
  });
}
