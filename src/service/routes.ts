import type { Api } from "../contracts/file-service.ts";
import { deletePath } from "../endpoints/delete.ts";
import { getFile } from "../endpoints/files/get-file.ts";
import { putFile } from "../endpoints/files/put-file.ts";
import { reportDownload } from "../endpoints/files/report-download.ts";
import { createFolder } from "../endpoints/folders/create-folder.ts";
import { getFolder } from "../endpoints/folders/get-folder.ts";
import { getQuota } from "../endpoints/folders/get-quota.ts";
import { postFolder } from "../endpoints/folders/post-folder.ts";
import { postKeys } from "../endpoints/keys/create-key.ts";
import { listKeys } from "../endpoints/keys/list-keys.ts";
import { postKey, revokeKey } from "../endpoints/keys/revoke-key.ts";
import { postLinks } from "../endpoints/links/create-link.ts";
import { listLinks, withdrawLinks } from "../endpoints/links/list-links.ts";
import { getNewLinkPage } from "../endpoints/links/new-link-page.ts";
import { postLink, showLink, withdrawLink } from "../endpoints/links/show-link.ts";
import { getAccount } from "../endpoints/login/account-info.ts";
import { getLoginPage, postLogin } from "../endpoints/login/login.ts";
import { postLogout } from "../endpoints/login/logout.ts";
import { getPasswordPage, postPasswordUpdate } from "../endpoints/login/password-update.ts";
import { finishSignOn, startSignOn } from "../endpoints/login/sign-on.ts";
import { getApiPage } from "../endpoints/site/get-api-page.ts";
import { getAsset } from "../endpoints/site/get-asset.ts";
import { getHealth } from "../endpoints/site/get-health.ts";
import { getOpenApi } from "../endpoints/site/get-openapi.ts";
import { folderOnly, redirectHome, redirectToLink } from "../endpoints/trailing-slash.ts";
import { listTrash } from "../endpoints/trash/list-trash.ts";
import { emptyTrash, postTrash } from "../endpoints/trash/post-trash.ts";
import { appendUpload } from "../endpoints/uploads/append-upload.ts";
import { postUpload } from "../endpoints/uploads/create-upload.ts";
import { endUpload } from "../endpoints/uploads/end-upload.ts";
import { listUploads } from "../endpoints/uploads/list-uploads.ts";
import { showUpload } from "../endpoints/uploads/show-upload.ts";
import { refuseMethod } from "../endpoints/uploads/upload-url.ts";
import { getVersion } from "../endpoints/versions/get-version.ts";
import { listVersions } from "../endpoints/versions/list-versions.ts";
import { postVersions } from "../endpoints/versions/post-versions.ts";
import { copyResource, moveResource } from "../endpoints/webdav/copy-and-move.ts";
import { createCollection } from "../endpoints/webdav/create-collection.ts";
import { lockResource, unlockResource } from "../endpoints/webdav/lock.ts";
import { findProperties, findRootProperties } from "../endpoints/webdav/propfind.ts";
import { patchProperties } from "../endpoints/webdav/proppatch.ts";
import { withSubmittedTokens } from "../endpoints/webdav/submitted-tokens.ts";
import type { OperationName } from "../openapi/operations.ts";
import type { AccountEndpoint, OpenEndpoint } from "../request/context.ts";
import type { ResourceKind } from "./resolve-url.ts";

/** What a URL space serves: APIs, the methods that the option `webdav` adds, and what further options add. */
export type Served =
  | Api
  | "webdav-methods"
  | "uploads"
  | "keys"
  | "links"
  | "quota"
  | "trash"
  | "versions"
  | "offload"
  | "sign-on";

/** One row of the URL space: the endpoint for some methods of a kind, and the APIs that have it. */
export interface Route {
  readonly kind: ResourceKind;
  readonly methods: readonly string[];
  readonly apis: readonly Served[];
  readonly endpoint:
    | { readonly access: "open"; run: OpenEndpoint }
    | { readonly access: "account"; run: AccountEndpoint }
    /** For an account that is identified by a session. Other credentials are not accepted. */
    | { readonly access: "session"; run: AccountEndpoint };
  /** Its operation in the OpenAPI document. Without it, the document leaves the methods out. */
  readonly operation?: OperationName;
  /** Set if the methods have a response but are not listed in `Allow`. */
  readonly unlisted?: true;
}

/** The three APIs. */
export const ALL_APIS: readonly Api[] = ["rest", "webdav", "browser"];
/** Methods that the URL of a link without its final `/` redirects, in addition to GET and HEAD. */
const SHARE_METHODS = "PUT DELETE POST MKCOL PATCH PROPFIND PROPPATCH COPY MOVE LOCK UNLOCK";

/**
 * The URL space as one table (section 4 of the service description): each row has methods of one kind of URLs and their
 * endpoint. A new method may also concern `isTransfer`, `withLinkRules`, {@link SHARE_METHODS}, the lists of
 * `http/methods.ts`, and the operations of `openapi/`.
 */
export const ROUTES: readonly Route[] = [
  webdavRoute("start", "PROPFIND", findRootProperties),
  ...(["file", "folder"] as const).flatMap((kind) => [
    webdavRoute(kind, "PROPFIND", findProperties),
    webdavRoute(kind, "PROPPATCH", withSubmittedTokens(patchProperties)),
    webdavRoute(kind, "COPY", withSubmittedTokens(copyResource)),
    webdavRoute(kind, "MOVE", withSubmittedTokens(moveResource)),
    webdavRoute(kind, "LOCK", withSubmittedTokens(lockResource)),
    webdavRoute(kind, "UNLOCK", withSubmittedTokens(unlockResource)),
  ]),
  webdavRoute("file", "MKCOL", withSubmittedTokens(createCollection)),
  route("start", "GET HEAD", ALL_APIS, "start", open(redirectHome)),
  { ...route("start", "PUT DELETE POST MKCOL", ALL_APIS, "startElsewhere", open(redirectHome)), unlisted: true },
  route("file", "GET HEAD", ALL_APIS, "getFile", account(getFile)),
  route("file", "PUT", ["rest", "webdav"], "putFile", account(withSubmittedTokens(putFile))),
  route("file", "DELETE", ["rest", "webdav"], "deleteFile", account(withSubmittedTokens(deletePath))),
  { ...route("file", "POST MKCOL", ALL_APIS, "changeFile", account(folderOnly)), unlisted: true },
  route("folder", "GET HEAD", ALL_APIS, "getFolder", account(getFolder)),
  route("folder", "PUT", ["rest", "webdav"], "createFolder", account(withSubmittedTokens(createFolder))),
  route("folder", "DELETE", ["rest", "webdav"], "deleteFolder", account(withSubmittedTokens(deletePath))),
  route("folder", "MKCOL", ["webdav"], "createFolder", account(withSubmittedTokens(createFolder))),
  route("folder", "POST", ["rest", "browser"], "changeFolder", account(postFolder)),
  { ...uploadRoute("folder", "POST", "createUpload", postUpload), unlisted: true },
  route("login", "GET HEAD", ["browser"], "getLoginPage", open(getLoginPage)),
  route("login", "POST", ["rest", "browser"], "logIn", open(postLogin)),
  route("logout", "POST", ["rest", "browser"], "logOut", open(postLogout)),
  // No HEAD: an answer of the provider counts once.
  route("sign-on", "GET", ["sign-on"], "startSignOn", open(startSignOn)),
  route("sign-on-callback", "GET", ["sign-on"], "finishSignOn", open(finishSignOn)),
  route("password-update", "GET HEAD", ["browser"], "getPasswordPage", session(getPasswordPage)),
  route("password-update", "POST", ["rest", "browser"], "updatePassword", session(postPasswordUpdate)),
  route("account", "GET HEAD", ALL_APIS, "getAccount", account(getAccount)),
  route("quota", "GET HEAD", ["quota"], "getQuota", account(getQuota)),
  route("trash", "GET HEAD", ["trash"], "listTrash", account(listTrash)),
  route("trash", "POST", ["trash"], "changeTrash", account(postTrash)),
  route("trash", "DELETE", ["trash"], "emptyTrash", account(emptyTrash)),
  route("versions", "GET HEAD", ["versions"], "listVersions", account(listVersions)),
  route("versions", "POST", ["versions"], "changeVersions", account(postVersions)),
  route("version", "GET HEAD", ["versions"], "getVersion", account(getVersion)),
  // For the server in front, and not described: to everyone else there is no such URL.
  { kind: "offload", methods: ["POST"], apis: ["offload"], endpoint: open(reportDownload) },
  uploadRoute("upload", "HEAD", "showUpload", showUpload),
  uploadRoute("upload", "PATCH", "appendUpload", appendUpload),
  uploadRoute("upload", "DELETE", "endUpload", endUpload),
  // Only with `X-HTTP-Method-Override`, which names another method.
  uploadRoute("upload", "POST", "overrideUpload", refuseMethod),
  uploadRoute("uploads", "GET HEAD", "listUploads", listUploads),
  route("keys", "GET HEAD", ["keys"], "listKeys", account(listKeys)),
  route("keys", "POST", ["keys"], "createKey", account(postKeys)),
  route("key", "POST", ["keys"], "revokeKeyByForm", account(postKey)),
  route("key", "DELETE", ["keys"], "revokeKey", account(revokeKey)),
  route("links", "GET HEAD", ALL_APIS, "listLinks", account(listLinks)),
  route("links", "POST", ["rest", "browser"], "createLink", account(postLinks)),
  route("links", "DELETE", ["rest", "webdav"], "withdrawLinks", account(withdrawLinks)),
  route("new-link", "GET HEAD", ["browser"], "getNewLinkPage", account(getNewLinkPage)),
  route("link", "GET HEAD", ALL_APIS, "showLink", account(showLink)),
  route("link", "POST", ["rest", "browser"], "postLink", account(postLink)),
  route("link", "DELETE", ["rest", "webdav"], "withdrawLink", account(withdrawLink)),
  route("share", "GET HEAD", ["links"], "share", open(redirectToLink)),
  { ...route("share", SHARE_METHODS, ["links"], "shareElsewhere", open(redirectToLink)), unlisted: true },
  route("health", "GET HEAD", ALL_APIS, "getHealth", open(getHealth)),
  // Every API has its own OpenAPI document and page, and the assets that pages load.
  route("asset", "GET HEAD", ALL_APIS, "getAsset", open(getAsset)),
  route("openapi", "GET HEAD", ALL_APIS, "getOpenApi", open(getOpenApi)),
  route("api-page", "GET HEAD", ALL_APIS, "getApiPage", open(getApiPage)),
];

function route(
  kind: ResourceKind,
  methods: string,
  apis: readonly Served[],
  operation: OperationName,
  endpoint: Route["endpoint"],
): Route {
  return { kind, methods: methods.split(" "), apis, operation, endpoint };
}

function webdavRoute(kind: ResourceKind, methods: string, run: AccountEndpoint): Route {
  return { kind, methods: methods.split(" "), apis: ["webdav-methods"], endpoint: account(run) };
}

function uploadRoute(kind: ResourceKind, methods: string, operation: OperationName, run: AccountEndpoint): Route {
  return { kind, methods: methods.split(" "), apis: ["uploads"], operation, endpoint: account(run) };
}

function open(run: OpenEndpoint): Route["endpoint"] {
  return { access: "open", run };
}

function account(run: AccountEndpoint): Route["endpoint"] {
  return { access: "account", run };
}

function session(run: AccountEndpoint): Route["endpoint"] {
  return { access: "session", run };
}
