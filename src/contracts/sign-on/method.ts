import type { Authenticator } from "../authenticator.ts";
import type { SingleSignOn } from "./single-sign-on.ts";

/** A method by which users log in at another site. */
export type SignOnMethod = Authenticator & { readonly singleSignOn: SingleSignOn };

/** Such methods, by the IDs of their logins. */
export type SignOnMethods = ReadonlyMap<string, SignOnMethod>;
