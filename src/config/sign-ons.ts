import type { Authenticator } from "../contracts/authenticator.ts";
import { checkOption } from "../contracts/option-error.ts";
import type { SignOnMethod, SignOnMethods } from "../contracts/sign-on/method.ts";
import { hasMethods } from "./checks.ts";

const ID = /^[a-z0-9-]{1,32}$/;

/** Finds the methods by which users log in at another site. @throws OptionError */
export function toSignOns(methods: readonly Authenticator[]): SignOnMethods {
  const able = methods.filter((method): method is SignOnMethod => method.singleSignOn !== undefined);
  for (const { singleSignOn } of able) {
    checkOption(hasMethods(singleSignOn, ["start", "finish"]), "authentication", "with singleSignOn.start and finish");
    const { id, label } = singleSignOn;
    checkOption(ID.test(id), "authentication", "with a singleSignOn.id of lower-case letters, digits and -");
    checkOption(typeof label === "string" && label.trim() !== "", "authentication", "with a singleSignOn.label");
  }
  const byId = new Map(able.map((method) => [method.singleSignOn.id, method]));
  checkOption(byId.size === able.length, "authentication", "a list whose singleSignOn.id differ");
  return byId;
}
