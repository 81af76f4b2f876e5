import * as z from "zod";
import { OPERATIONS } from "../contracts/account.ts";

/** The JSON response of `GET /home/__svc__/account`: who a client is, and what it may do. */
export const accountInfoSchema = z.strictObject({
  name: z.string(),
  groups: z.array(z.string()),
  /** How this request was identified. */
  login: z.enum(["basic", "bearer", "session", "cookie", "certificate", "identity"]),
  /** How a request can be identified, in addition to client certificates. */
  logins: z.array(z.enum(["basic", "bearer", "session", "cookie", "identity"])),
  /** What the account may do in its root folder, with members of some names at least. */
  permissions: z.array(z.enum(OPERATIONS)),
  /** The size limit of a file in bytes; `null`: none. */
  maxFileBytes: z.int().positive().nullable(),
  capabilities: z.strictObject({
    /** Folders can be downloaded as ZIP archives. */
    archive: z.boolean(),
    passwordChange: z.boolean(),
    /** The home folder's URL can be mounted by WebDAV clients. */
    webdav: z.boolean(),
    /** The triggers that the account may run. */
    triggers: z.array(z.string()),
  }),
});

export type AccountInfo = z.infer<typeof accountInfoSchema>;
