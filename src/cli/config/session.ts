import * as z from "zod";
import { parseSharedStore } from "../shared-store.ts";
import { checkByFactory, checkByService } from "./option-checks.ts";

/** The sessions of the service. {@link checkCookie} checks the cookie. */
export const sessionSchema = z.strictObject({
  idleSeconds: z
    .number()
    .superRefine(checkByService((idleSeconds) => ({ session: { idleSeconds } })))
    .exactOptional(),
  maxSeconds: z
    .number()
    .superRefine(checkByService((maxSeconds) => ({ session: { maxSeconds } })))
    .exactOptional(),
  maxPerAccount: z
    .number()
    .superRefine(checkByService((maxPerAccount) => ({ session: { maxPerAccount } })))
    .exactOptional(),
  announce: z.boolean().exactOptional(),
  // Which paths are possible depends on the base path.
  cookie: z.strictObject({ name: z.string().exactOptional(), path: z.string().exactOptional() }).exactOptional(),
  store: z
    .string()
    .superRefine(checkByFactory((store) => void parseSharedStore(store)))
    .exactOptional(),
});

/** Members of a configuration that decide about the session cookie. */
interface CookieMembers {
  readonly basePath?: string;
  readonly session?: z.infer<typeof sessionSchema>;
}

/** Checks the session cookie. Which paths are possible depends on the base path. */
export const checkCookie = checkByService<CookieMembers>(
  ({ basePath = "", session }) => ({ basePath, session: { cookie: session?.cookie ?? {} } }),
  0,
);
