import { z } from "zod";

/**
 * The configuration of an account (2.4), closed: an unknown member is an error, and so is a member that is null.
 * Parsed values are `AccountSettings`.
 */
export const accountSettingsSchema = z.strictObject({
  home_folder_path: z
    .string()
    .refine(isAbsolutePath, 'must be an absolute path without "//", ".", "..", a backslash or control characters')
    .exactOptional(),
  uuid: z.string().min(1, "must not be empty").exactOptional(),
  email: z.string().exactOptional(),
  create_home_folder: z.boolean().exactOptional(),
});

function isAbsolutePath(path: string): boolean {
  if (path === "/") return true;
  if (!path.startsWith("/") || /[\\\p{Cc}]/u.test(path)) return false;
  const segments = path.slice(1).split("/");
  return segments.every((segment) => segment !== "" && segment !== "." && segment !== "..");
}
