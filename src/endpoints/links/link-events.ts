import type { AccountFiles } from "../../account/files.ts";
import { toStoragePath } from "../../account/path.ts";
import type { LinkRecord } from "../../sharing/record.ts";

/** Event 49101. */
export function toLinkCreated(record: LinkRecord, files: Pick<AccountFiles, "realPathOf">) {
  const { path, permissions, expires, passwordHash, maxUses } = record;
  const data = {
    path: toStoragePath(path),
    real_path: files.realPathOf(path),
    permissions,
    expires,
    has_password: passwordHash !== undefined,
    max_uses: maxUses ?? null,
  };
  return { id: 49101, data } as const;
}

/** Event 49102. */
export function toLinkWithdrawn({ path }: LinkRecord) {
  return { id: 49102, data: { path: toStoragePath(path) } } as const;
}
