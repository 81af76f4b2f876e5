import { fillText } from "../platform/fill-text.ts";
import { type Failure, HttpError, isUnavailable } from "./http-error.ts";

/**
 * Every refusal of the service: its code, which the header `Error-Code` has, the failure that decides on the status,
 * and the English text. `{name}` stands for a value. Translations of the texts go by the code.
 */
const TABLE = {
  // What every API variant has
  "not-found": ["not-found", "Not found."],
  denied: ["denied", "The account's permissions do not allow this."],
  "already-exists": ["already-exists", "A file or folder with that name already exists."],
  "parent-missing": ["parent-missing", "The parent folder does not exist."],
  "not-a-folder": ["wrong-kind", "A file exists where a folder is needed."],
  "not-a-file": ["wrong-kind", "A folder exists where a file is needed."],
  "precondition-failed": ["precondition-failed", "A precondition of the request failed."],
  "range-not-satisfiable": ["range-not-satisfiable", "The range is beyond the end of the file."],
  "too-large": ["too-large", "The file is larger than {max} bytes."],
  internal: ["internal", "Internal error {id}."],
  // Files and folders
  "name-invalid": ["malformed", "This is not a valid name."],
  "destination-invalid": ["malformed", "This is not a valid destination."],
  "name-reserved": ["denied", "This name is reserved."],
  "name-unsupported": ["malformed", "The storage does not support this name."],
  "path-invalid": ["malformed", "The path contains an invalid name."],
  "path-too-long": ["denied", "The path is too long for the account's permission rules."],
  "root-not-movable": ["denied", "The account's root folder cannot be copied, moved or replaced."],
  "paths-overlap": ["denied", "Nothing can be copied or moved to itself, into itself or over a folder around it."],
  "root-not-removable": ["denied", "The account's root folder cannot be removed."],
  "trash-path-taken": ["already-exists", "Something of that name already exists."],
  "folder-not-empty": ["unprocessable", "The folder is not empty."],
  "upload-refused": ["unprocessable", "The upload was refused."],
  "upload-infected": ["unprocessable", "The file has a virus: {name}."],
  "scan-too-large": ["too-large", "The file is too large to be scanned for viruses."],
  "scan-unavailable": ["unavailable", "The file cannot be scanned for viruses at the moment."],
  "trigger-refused": ["unprocessable", "The action was refused."],
  // The storage
  "storage-denied": ["denied", "The storage denied access."],
  "storage-full": ["no-space", "The storage is full."],
  "quota-used-up": ["no-space", "The quota is used up."],
  "storage-too-large": ["too-large", "The content is larger than the storage allows."],
  "storage-unsupported": ["denied", "The storage does not keep this."],
  "storage-unavailable": ["unavailable", "The storage is not available."],
  "length-mismatch": ["malformed", "The content does not have the declared length."],
  // Limits of what happens at the same time
  "too-many-transfers": ["unavailable", "Too many concurrent transfers."],
  "too-many-pages": ["unavailable", "Too many concurrent page requests."],
  "too-many-archives": ["unavailable", "Too many concurrent archives of large folders."],
  "too-many-logins": ["unavailable", "Too many concurrent logins."],
  // Logins and sessions
  "login-required": ["unauthorized", "A login is required."],
  "credentials-wrong": ["unauthorized", "The user name or password is wrong."],
  "second-factor-required": ["unauthorized", "This account also needs a one-time password."],
  "second-factor-wrong": ["unauthorized", "The one-time password or recovery code is wrong, or was used before."],
  "second-factor-throttled": [
    "unauthorized",
    "Too many one-time passwords were wrong today. Use a recovery code, or try again tomorrow.",
  ],
  "session-invalid": ["unauthorized", "The session is invalid or has expired."],
  "session-required": ["unauthorized", "A session is required: log in first."],
  "session-missing": ["unauthorized", "There is no session to end."],
  "login-ended": ["unauthorized", "The login has ended."],
  "authorization-invalid": ["unauthorized", "The Authorization header is not valid."],
  "token-invalid": ["unauthorized", "The token is invalid or has expired."],
  "token-without-account": ["unauthorized", "The token does not belong to an account."],
  "token-keys-unavailable": ["unavailable", "The keys that verify tokens are not available."],
  "key-invalid": ["unauthorized", "The API key is not valid."],
  "key-expired": ["unauthorized", "The API key has expired."],
  "key-required": ["unauthorized", "This account needs an API key in place of the password, except on the login page."],
  "key-denied": ["denied", "An API key does not permit this."],
  "keys-denied": ["denied", "The account may not make or revoke API keys."],
  "key-malformed": ["malformed", "The body does not describe an API key: {problem}."],
  "key-media-type": ["unsupported-media-type", "An API key must be described as a form or as JSON."],
  "keys-unsupported": ["unprocessable", "The API keys of this account cannot be changed here."],
  "too-many-keys": ["unprocessable", "The account has {max} API keys already."],
  "keys-unavailable": ["unavailable", "API keys are not available at the moment."],
  "sign-on-outdated": ["denied", "This login has expired, or was started in another browser. Log in again."],
  "sign-on-denied": ["denied", "The login was cancelled or refused at the other site."],
  "sign-on-without-account": ["denied", "There is no account here for this login."],
  "sign-on-failed": ["bad-gateway", "The other site that you log in at has sent an invalid response."],
  "sign-on-unavailable": ["unavailable", "The other site that you log in at is not available at the moment."],
  "account-unusable": ["denied", "The account cannot be used."],
  "account-lookup-unavailable": ["unavailable", "Accounts cannot be looked up at the moment."],
  "session-store-unavailable": ["unavailable", "The session store is not available."],
  "login-store-unavailable": ["unavailable", "The store of failed logins is not available."],
  "cross-site": ["denied", "The request comes from another site."],
  "cross-site-login": ["denied", "A login must not come from another site."],
  "cross-site-logout": ["denied", "A logout must not come from another site."],
  // Passwords
  "password-change-denied": ["denied", "The account may not change its password."],
  "password-change-unsupported": ["denied", "The account's password cannot be changed here."],
  "password-change-unavailable": ["unavailable", "Passwords cannot be changed at the moment."],
  "password-wrong": ["unprocessable", "The current password is wrong."],
  "password-too-many-bytes": ["unprocessable", "The new password must not be longer than {max} bytes."],
  "password-too-short": ["unprocessable", "The new password must have at least {min} characters."],
  "password-too-long": ["unprocessable", "The new password must not have more than {max} characters."],
  "password-has-control-characters": ["unprocessable", "The new password must not contain control characters."],
  "password-needs-lowercase": ["unprocessable", "The new password must contain a lower-case letter."],
  "password-needs-uppercase": ["unprocessable", "The new password must contain an upper-case letter."],
  "password-needs-digit": ["unprocessable", "The new password must contain a digit."],
  "password-needs-symbol": [
    "unprocessable",
    "The new password must contain a character that is neither a letter nor a digit.",
  ],
  "password-contains-name": ["unprocessable", "The new password must not contain the user name."],
  "password-unchanged": ["unprocessable", "The new password must not be the current one."],
  "password-mismatch": ["unprocessable", "The two new passwords are not the same."],
  "password-guessable": ["unprocessable", "The new password is too easy to guess."],
  // URLs, methods and headers
  "url-malformed": ["malformed", "The URL is malformed."],
  "method-not-allowed": ["method-not-allowed", "The method is not allowed here."],
  "method-not-implemented": ["method-not-implemented", "The method is not implemented."],
  "content-length-invalid": ["malformed", "The Content-Length header is not a number."],
  "content-range-unsupported": ["malformed", "PUT with Content-Range is not supported."],
  "content-encoding-unsupported": ["unsupported-media-type", "Content-Encoding is not supported."],
  "limit-invalid": ["malformed", "The parameter limit is not a number from 1 to {max}."],
  "search-invalid": ["malformed", "The parameter q is not one text of 1 to {max} characters."],
  "cursor-invalid": ["malformed", "The parameter cursor is not one of this service."],
  "cursor-outdated": ["conflict", "The cursor does not belong to this listing. Begin again with the first page."],
  "entity-tags-invalid": ["malformed", "The {header} header is not a list of entity-tags."],
  "client-disconnected": ["malformed", "The client disconnected."],
  "offload-report-malformed": ["malformed", "The report must have the number of bytes in X-Bytes."],
  // Metadata of uploads
  "metadata-missing": ["malformed", "The header {header} is missing."],
  "metadata-key-missing": ["malformed", "The header {header} does not have the key {key}."],
  "metadata-key-unexpected": ["malformed", "The header {header} has an unexpected key."],
  "metadata-not-utf8": ["malformed", "The header {header} is not valid UTF-8."],
  "metadata-malformed": ["malformed", "The header {header} is not a list of key=value items."],
  // Requests of resumable uploads
  "upload-unsupported": ["method-not-implemented", "Uploads in several requests are not supported here."],
  "upload-version-unsupported": ["precondition-failed", "The Tus-Resumable header must be {version}."],
  "upload-method-override-invalid": ["malformed", "The X-HTTP-Method-Override header must be PATCH, DELETE or HEAD."],
  "upload-media-type": ["unsupported-media-type", "The Content-Type must be {type}."],
  "upload-condition-unexpected": ["malformed", "The {header} header is not possible on the URL of an upload."],
  "upload-offset-invalid": ["malformed", "The Upload-Offset header is missing, or not a number of bytes."],
  "upload-complete-invalid": ["malformed", "The Upload-Complete header is missing, or neither ?0 nor ?1."],
  "upload-completed": ["malformed", "The upload is already complete."],
  "upload-length-invalid": ["malformed", "The Upload-Length header is not a number of bytes."],
  "upload-length-missing": [
    "malformed",
    "The request needs either Upload-Length, or Upload-Defer-Length with the value 1.",
  ],
  "upload-length-inconsistent": ["malformed", "The lengths that the client has given for the upload are inconsistent."],
  "upload-too-long": ["too-large", "The content goes beyond the length of the upload."],
  "upload-metadata-invalid": ["malformed", "The Upload-Metadata header is not a list of keys with values in Base64."],
  "upload-metadata-too-large": ["malformed", "The Upload-Metadata header has more than {max} bytes."],
  "upload-name-missing": ["malformed", "The upload has no file name."],
  "upload-disposition-invalid": ["malformed", "The Content-Disposition header is malformed."],
  "upload-checksum-invalid": [
    "malformed",
    "The Upload-Checksum header is malformed, or its algorithm is not supported.",
  ],
  "upload-checksum-mismatch": ["checksum-mismatch", "The content does not match its checksum."],
  "upload-digest-invalid": ["malformed", "The {header} header is malformed."],
  "upload-digest-mismatch": ["malformed", "The content does not match its digest."],
  "digests-unsupported": ["method-not-implemented", "Digests of content are not supported here."],
  "upload-concat-invalid": ["malformed", "The Upload-Concat header must be partial, or final with 1 to {max} URLs."],
  "upload-concat-content": ["denied", "A request that joins uploads must have no content."],
  "upload-parts-invalid": ["malformed", "The parts must be complete partial uploads of this account."],
  "upload-joined": ["denied", "A joined upload takes no content."],
  "upload-protocol-mismatch": ["malformed", "The upload was created by another protocol."],
  "upload-fields-too-large": ["malformed", "The header fields of the upload have more than {max} bytes in total."],
  "upload-append-too-large": ["too-large", "The content of one request must have at most {max} bytes."],
  "too-many-uploads": [
    "no-space",
    "The account has {max} unfinished uploads already. Complete or end some of them first.",
  ],
  "upload-bytes-exceeded": [
    "no-space",
    "The unfinished uploads of the account have more than {max} bytes in total. Complete or end some of them first.",
  ],
  // Requests that are repeated
  "idempotency-key-invalid": ["malformed", "The Idempotency-Key header must have 1 to 255 visible ASCII characters."],
  "idempotency-key-reused": ["unprocessable", "The Idempotency-Key was used for another request."],
  "idempotency-running": ["conflict", "The first request with this Idempotency-Key is still running."],
  "idempotency-answer-not-kept": [
    "conflict",
    "The request with this Idempotency-Key has run, but its response was too large to be kept.",
  ],
  "idempotency-store-unavailable": ["unavailable", "The store of responses is not available."],
  // Bodies
  "body-incomplete": ["malformed", "The request's body is incomplete."],
  "body-too-large": ["too-large", "The body is larger than {max} bytes."],
  "body-too-complex": ["malformed", "The body has too many values, or they are nested too deeply."],
  "body-not-json": ["malformed", "The body is not valid JSON."],
  "body-not-utf8": ["malformed", "The body is not valid UTF-8."],
  "body-unexpected": ["unsupported-media-type", "This request must have no content."],
  "body-already-read": ["internal", "The request's body was read before it reached the service."],
  "commands-malformed": ["malformed", "The body is not a list of commands with at most {max} targets in total."],
  "login-malformed": ["malformed", "The body must contain a username and a password."],
  "login-form-malformed": ["malformed", "The form must contain a username and a password."],
  "login-media-type": ["unsupported-media-type", "A login must be sent as a form or as JSON."],
  "password-change-malformed": [
    "malformed",
    "The body must contain current_password and new_password, a form perhaps repeated_password, and nothing else.",
  ],
  "password-change-media-type": ["unsupported-media-type", "A password change must be sent as a form or as JSON."],
  "folder-post-media-type": [
    "unsupported-media-type",
    "A POST to a folder must be application/json or multipart/form-data.",
  ],
  // WebDAV
  "xml-media-type": ["unsupported-media-type", "The body must be application/xml or text/xml."],
  "xml-not-unicode": ["malformed", "The XML must be in UTF-8, or in UTF-16 with a byte order mark."],
  "xml-document-type": ["malformed", "The XML must not have a document type."],
  "xml-too-complex": ["malformed", "The XML has too many elements, or they are nested too deeply."],
  "xml-malformed": ["malformed", "The XML is not well-formed."],
  "propfind-malformed": ["malformed", "The XML is not the body of a PROPFIND."],
  "proppatch-malformed": ["malformed", "The XML is not the body of a PROPPATCH."],
  "properties-too-large": ["no-space", "The properties have more than {max} bytes in total."],
  locked: ["locked", "Somebody is working on this."],
  "lock-conflict": ["locked", "Somebody else has a lock on this."],
  "lock-missing": ["conflict", "There is no such lock here."],
  "lock-of-other": ["denied", "The lock belongs to another account."],
  "lock-over-virtual-folder": [
    "denied",
    "A folder with a virtual folder in it cannot be locked with everything in it.",
  ],
  "lock-too-deep": ["denied", "Nothing below {max} levels of folders can be locked."],
  "lock-refresh-unnamed": ["malformed", "The If header must name the lock to refresh."],
  "too-many-locks": ["no-space", "The account has {max} locks already."],
  "locks-too-large": ["no-space", "The locks of the account take up too much space."],
  "too-many-shared-locks": ["no-space", "There are {max} shared locks already."],
  "lock-store-unavailable": ["unavailable", "The store of locks is not available."],
  "lock-malformed": ["malformed", "The XML is not the body of a LOCK."],
  "lock-unsupported": ["unprocessable", "A lock must be for writing, and either exclusive or shared."],
  "lock-owner-too-large": ["too-large", "The owner of the lock has more than {max} bytes."],
  "lock-token-missing": ["malformed", "The Lock-Token header is missing."],
  "lock-token-invalid": ["malformed", "The Lock-Token header is not the token of a lock."],
  "depth-invalid": ["malformed", "The Depth header is not valid for this method."],
  "overwrite-invalid": ["malformed", "The Overwrite header must be T or F."],
  "destination-header-missing": ["malformed", "The Destination header is missing."],
  "destination-header-invalid": ["malformed", "The Destination header is not a valid URL."],
  "destination-outside": ["denied", "The destination is not a file or folder of the account."],
  "destination-elsewhere": ["bad-gateway", "The destination is on another server."],
  "if-invalid": ["malformed", "The If header is malformed, or has too many conditions."],
  "modified-time-invalid": ["malformed", "The X-OC-Mtime header is not a time in seconds since 1970."],
  // Resumable uploads
  "upload-offset-mismatch": ["offset-mismatch", "The upload continues at another offset."],
  "upload-in-use": ["locked", "The upload is in use."],
  "upload-gone": ["gone", "The upload has expired."],
  // Links
  "link-expired": ["gone", "The link has expired."],
  "link-withdrawn": ["gone", "The link was withdrawn."],
  "link-invalid": ["gone", "The link is no longer valid."],
  "link-used-up": ["gone", "The link has been used up."],
  "link-password-missing": ["unauthorized", "The link needs its password."],
  "link-password-wrong": ["unauthorized", "The password of the link is wrong."],
  "link-password-malformed": ["malformed", "The form must contain a password."],
  "link-denied": ["denied", "The link does not permit this."],
  "link-replacement-denied": ["denied", "The link does not permit replacing a file."],
  "link-one-file": ["malformed", "The link takes a single file."],
  "link-action-unsupported": ["malformed", "A link does not have this action."],
  "drop-name-taken": ["unavailable", "Another file got this name at the same moment. Send the file again."],
  "link-prefetch": ["denied", "A link with limited uses is not opened in advance."],
  "link-store-unavailable": ["unavailable", "The store of links is not available."],
  "sender-missing": ["malformed", "The name of the sender is missing."],
  "sender-invalid": ["malformed", "The name of the sender is not a valid name of up to {max} characters."],
  "link-malformed": ["malformed", "The body does not describe a link: {problem}."],
  "link-media-type": ["unsupported-media-type", "A link must be described as a form or as JSON."],
  "trash-media-type": ["unsupported-media-type", "Commands of the trash must be sent as JSON or as a form."],
  "versions-media-type": ["unsupported-media-type", "Commands on versions must be sent as JSON or as a form."],
  "link-form-media-type": ["unsupported-media-type", "This action must be sent as a form."],
  "links-denied": ["denied", "The account may not make links."],
  "link-rights-missing": ["denied", "The account itself may not do what the link is to permit."],
  "links-unsupported": ["unprocessable", "The service has no links."],
  "links-not-kept": ["unprocessable", "The service does not keep links, so it cannot list, withdraw or count them."],
  "link-too-long": ["unprocessable", "The link would be too long."],
  "link-lasts-too-long": ["unprocessable", "A link may last {max} seconds at most."],
  "link-needs-password": ["unprocessable", "A link of this account needs a password."],
  "link-removal-unlisted": ["unprocessable", "A link that permits deleting must permit listing."],
  "link-permission-of-folders": ["unprocessable", "A link to a file needs a permission that is for files."],
  "link-name-invalid": ["unprocessable", "This is not a valid name."],
  "too-many-links": ["unprocessable", "The account has {max} links already."],
  // Forms
  "items-missing": ["malformed", "Select at least one item."],
  "files-missing": ["malformed", "Select at least one file."],
  "share-one-item": ["malformed", "Select exactly one item to share."],
  "new-name-missing": ["malformed", "Select one item and enter its new name."],
  "destination-missing": ["malformed", "Enter one destination folder."],
  "folder-name-missing": ["malformed", "Enter the name of one new folder."],
  "form-action-missing": ["malformed", 'The form has no field "action".'],
  "form-action-unknown": ["malformed", "The form's action is unknown."],
  "form-action-repeated": ["malformed", "The form has more than one action."],
  "form-action-not-upload": ["malformed", "The form's action is not an upload."],
  "form-file-repeated": ["malformed", "The form has another file with this name."],
  "form-file-unexpected": [
    "malformed",
    'The form has a file in a field that takes no files. Send files in the field "file".',
  ],
  "form-text-unexpected": ["malformed", "The form has text in a field for files."],
  "form-field-not-utf8": ["malformed", "The form has a field that is not valid UTF-8."],
  "form-too-many-files": ["malformed", "The form has more than {max} files before its action."],
  "form-too-many-parts": ["malformed", "The form has more than {max} parts."],
  "form-too-many-fields": ["malformed", "The form has more than {max} fields."],
  "form-too-many-names": ["malformed", "The form lists more than {max} items."],
  "form-fields-too-large": ["too-large", "The form's fields have more than {max} bytes."],
  "form-part-headers-too-large": ["malformed", "The form has a part with headers of more than {max} bytes."],
  "form-part-headers-malformed": ["malformed", "The form has a part with malformed headers."],
  "form-part-headers-not-utf8": ["malformed", "The form has a part whose headers are not valid UTF-8."],
  "form-part-disposition-invalid": ["malformed", "The form has a part without a valid Content-Disposition."],
  "form-part-name-missing": ["malformed", "The form has a part without a name."],
  "form-part-filename-extended": ["malformed", "The form has a part with a filename* parameter (RFC 7578 4.2)."],
  "form-part-encoded": ["malformed", "The form has a part with a Content-Transfer-Encoding."],
  "form-part-skipped": ["malformed", "The part was skipped."],
  "form-boundary-invalid": ["malformed", "The form has no valid boundary."],
  "form-boundary-followed-by-text": ["malformed", "The form has unexpected text after a boundary."],
  "form-incomplete": ["malformed", "The form is incomplete: it ends before its last boundary."],
} as const satisfies Readonly<Record<string, readonly [Failure, text: string]>>;

/** The code of a refusal of the service. An error of the host may have another code. */
export type ErrorCode = keyof typeof TABLE;

/** The table of errors: the failure and the English text of each code. */
export const ERRORS: Readonly<Record<ErrorCode, readonly [failure: Failure, text: string]>> = TABLE;

/** The values of a text's placeholders, by their names. */
export type ErrorValues = Readonly<Record<string, string | number>>;

/** The code of a response about several errors with different codes. */
export const SEVERAL_ERRORS = "several";

/** The code of a response about one or more errors. */
export function toCommonCode(errors: readonly Pick<HttpError, "code">[]): string {
  const [code, ...others] = new Set(errors.map((error) => error.code));
  return code === undefined || others.length > 0 ? SEVERAL_ERRORS : code;
}

/** What an error has besides its code. */
export interface ErrorDetails extends ErrorOptions {
  /** They fill the placeholders of the text. */
  readonly values?: ErrorValues;
  /** Header fields of the response. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Makes an error of the table. */
export function createError(code: ErrorCode, { values = {}, headers, ...options }: ErrorDetails = {}): HttpError {
  const [failure, text] = ERRORS[code];
  return new HttpError(failure, fillText(text, values), headers, { ...options, code, values });
}

/** Makes an error of the table that asks the client to send the request again after a second. */
export function createRetryError(code: ErrorCode, cause?: unknown): HttpError {
  return createError(code, { headers: { "Retry-After": "1" }, cause });
}

/**
 * Runs work. @throws what the work throws if `isPassedOn` accepts it, by default an HttpError `unavailable`; else
 * {@link createRetryError} of the code.
 */
export async function orRetryError<T>(
  code: ErrorCode,
  work: () => Promise<T>,
  isPassedOn: (cause: unknown) => boolean = isUnavailable,
): Promise<T> {
  try {
    return await work();
  } catch (cause) {
    throw isPassedOn(cause) ? cause : createRetryError(code, cause);
  }
}

/**
 * Makes the error of a refusal by a function of the host, in the host's own words. Of an error that the function has
 * thrown, a code of its own stays. Its failure does not: a 401, for example, would be wrong for this request. Only the
 * failures of `kept` stay, with the header fields of their errors.
 */
export function toHostRefusal(
  refusal: ErrorCode,
  message: string,
  cause?: HttpError,
  kept: readonly Failure[] = [],
): HttpError {
  if (cause !== undefined && kept.includes(cause.failure)) {
    const { failure, headers, code, values } = cause;
    return new HttpError(failure, message, headers, { code, values, cause });
  }
  const isOwnCode = cause !== undefined && cause.code !== cause.failure;
  const { code, values } = isOwnCode ? cause : { code: refusal };
  return new HttpError(ERRORS[refusal][0], message, {}, { code, values, cause });
}
