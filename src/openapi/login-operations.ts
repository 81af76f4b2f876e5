import { redirect, TRACE } from "./operation-parts.ts";
import type { OperationSpec } from "./operation-types.ts";

/** The operations of logins, sessions, passwords and the account, by name. */
export const LOGIN_OPERATIONS = {
  getLoginPage: {
    summary: "Show the login page",
    tag: "Login",
    parameters: ["returnTo", "acceptLanguage"],
    responses: [
      {
        status: 200,
        description: "The page.",
        content: ["anyPage"],
      },
    ],
  },
  logIn: {
    summary: "Log in and start a session",
    description:
      "If JSON is preferred, the response has the session ID for `Authorization: session <ID>`. Other clients get the session cookie and a redirect. With two-factor login the right password alone gets 401, `second-factor-required`.",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "login",
    responses: [
      { status: 200, description: "The session.", variants: ["json"], content: ["session"] },
      redirect(302, "The session cookie, and a redirect to the files.", {
        variants: ["webdav", "html"],
        content: ["anyPage"],
        headers: ["Set-Cookie"],
      }),
      { status: 415, description: "The request has a `Content-Encoding`.", headers: ["Accept-Encoding"] },
    ],
    failures: ["malformed", "unauthorized", "denied", "too-large", "unsupported-media-type", "unavailable", "internal"],
  },
  logOut: {
    summary: "Log out and end the session",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [
      { status: 204, description: "The session was closed.", variants: ["json", "webdav"], headers: ["Set-Cookie"] },
      redirect(302, "Redirect to the login page.", { variants: ["html"], headers: ["Set-Cookie"] }),
      {
        status: 401,
        description: "The session had already ended. The response deletes its cookie.",
        variants: ["json", "webdav"],
        content: ["errors"],
        headers: ["Set-Cookie"],
      },
    ],
    failures: ["denied", "unavailable"],
    takesSession: true,
  },
  startSignOn: {
    summary: "Start a login at another site",
    description: "For browsers: a site such as an OpenID Connect provider sends them back to the callback.",
    tag: "Login",
    parameters: ["returnTo", "acceptLanguage", ...TRACE],
    responses: [
      redirect(302, "Redirect to the other site, and a cookie for 10 minutes.", {
        content: ["anyPage"],
        headers: ["Set-Cookie"],
      }),
    ],
    failures: ["malformed", "not-found", "bad-gateway", "unavailable", "internal"],
  },
  finishSignOn: {
    summary: "Finish a login at another site and start a session",
    description: "Needs the cookie of the start. An answer of the other site counts once.",
    tag: "Login",
    parameters: ["signOnState", "signOnCode", "signOnError", "signOnIssuer", "acceptLanguage", ...TRACE],
    responses: [
      {
        status: 200,
        description: "The session cookie, and a page that leads to the files.",
        content: ["anyPage"],
        headers: ["Set-Cookie"],
      },
    ],
    failures: ["denied", "not-found", "bad-gateway", "unavailable", "internal"],
  },
  getPasswordPage: {
    summary: "Show the form to change the password",
    tag: "Login",
    parameters: ["acceptLanguage", ...TRACE],
    responses: [{ status: 200, description: "The form.", content: ["anyPage"] }],
  },
  updatePassword: {
    summary: "Change the account's password",
    description: "All other sessions of the account end.",
    tag: "Login",
    parameters: ["contentEncoding", "acceptLanguage", ...TRACE],
    body: "password",
    responses: [
      {
        status: 200,
        description: "The password was changed.",
        variants: ["json", "webdav"],
        content: ["passwordChanged"],
      },
      redirect(303, "The password was changed: redirect to the files.", { variants: ["html"] }),
      { status: 415, description: "The request has a `Content-Encoding`.", headers: ["Accept-Encoding"] },
    ],
    failures: ["malformed", "too-large", "unsupported-media-type", "unprocessable"],
  },
  getAccount: {
    summary: "Describe the account of the request",
    description: "Who the client is, what it may do in its root folder, and what the service offers.",
    tag: "Login",
    parameters: [...TRACE],
    responses: [{ status: 200, description: "The account.", content: ["accountInfo"] }],
    lacks: ["malformed"],
  },
  getQuota: {
    summary: "Show how much space is used and left",
    description: "The home folder, and each virtual folder with a limit. What uploads have reserved counts as used.",
    tag: "Folders",
    parameters: [...TRACE],
    responses: [{ status: 200, description: "What is used and left.", content: ["quota"] }],
    lacks: ["malformed"],
  },
} as const satisfies Readonly<Record<string, OperationSpec>>;
