import { LOCKS, PROPFINDS, PROPPATCHES } from "./recorded.ts";

/**
 * What a client sends, in its order. Each name says whether it was recorded with this service, or published by others,
 * as in {@link PROPFINDS}; a comment says where it was published.
 *
 * Cut from all of them: `Host`, `Connection`, `Content-Length`, `Accept-Encoding`, and the credentials. Requests that
 * a client only repeats are left out. Paths are below the folder of the test.
 */
export interface RecordedSequence {
  readonly name: string;
  /** What each of its requests has. */
  readonly headers: Readonly<Record<string, string>>;
  /** What is in the folder before, by the name as in a URL. Names with a slash at their end are folders. */
  readonly files?: Readonly<Record<string, string>>;
  readonly steps: readonly RecordedStep[];
  /** What is in the folder at the end. */
  readonly left: readonly string[];
}

/**
 * A request, and what its client needs of the response. In requests stand `{origin}`, `{folder}` with its slash,
 * `{self}` without it, and of the responses so far the last `{token}` of a lock, `{etag}` and `{modified}`.
 */
export type RecordedStep = readonly [request: string, status: number, needs?: RecordedNeeds];

export interface RecordedNeeds {
  /** The client sends no credentials of its own accord. */
  readonly isAnonymous?: boolean;
  readonly headers?: Readonly<Record<string, string>>;
  /** Texts of the body. */
  readonly has?: readonly string[];
  readonly hasNot?: readonly string[];
}

const DAV = { DAV: "1, 2, 3" };
const CLASS_2 = { isAnonymous: true, headers: { ...DAV, "MS-Author-Via": "DAV", "Content-Length": "0" } };
const CHALLENGE = { isAnonymous: true, headers: { "WWW-Authenticate": 'basic realm="Web files access"' } };
const FOLDER = { has: ["<D:collection/>"] };
/** All properties could be set. */
const ALL_SET = { has: ["HTTP/1.1 200 OK"], hasNot: ["HTTP/1.1 4", "HTTP/1.1 5"] };

/** A body of the tables. */
export function bodyOf(recorded: Readonly<Record<string, readonly [string, ...unknown[]]>>, client: string): string {
  const [body] = recorded[client] ?? [];
  if (body === undefined) throw new Error(`Nothing is recorded of ${client}`);
  return body;
}

function propfind(target: string, headers: string, client: string): string {
  return `PROPFIND ${target}\n${headers}\n\n${bodyOf(PROPFINDS, client)}`;
}

const FINDER_XML = "Content-Type: text/xml";
const ofFinder = (target: string, depth = "0", what = "of a folder") =>
  propfind(target, `${FINDER_XML}\nDepth: ${depth}`, `Finder (WebDAVFS), ${what}`);
const FINDER_LOCK =
  'LOCK {folder}Test%20File.txt\nContent-Type: text/xml; charset="utf-8"\nDepth: 0\nTimeout: Second-600\n\n' +
  bodyOf(LOCKS, "Finder (WebDAVFS)");
const FINDER_UNLOCK = "UNLOCK {folder}Test%20File.txt\nLock-Token: <{token}>";
const FINDER_GRANTED = { headers: { "Lock-Token": "<{token}>" }, has: ["Second-600", "<D:exclusive/>"] };

/**
 * swisspol/GCDWebServer, Tests/WebDAV-Finder (macOS 10.9, 2014): 001 to 012, 100 to 130, and what is not alike of the
 * rest. Cut: the headers `X-GCDWebServer-…`, which the recorder added. It refused names that begin with a dot, so what
 * Finder stores behind the first request of them is not in it.
 */
const FINDER = { "User-Agent": "WebDAVFS/3.0.1 (03018000) Darwin/13.1.0 (x86_64)", Accept: "*/*" };

const finder: readonly RecordedSequence[] = [
  {
    name: "Finder mounts a folder (published)",
    headers: FINDER,
    steps: [
      ["OPTIONS {folder}\nUser-Agent: WebDAVLib/1.3", 200, CLASS_2],
      ["OPTIONS {folder}", 200, CLASS_2],
      [ofFinder("{folder}"), 207, FOLDER],
      [ofFinder("{folder}", "0", "of the quota"), 207, { has: ["quota-available-bytes"] }],
      [ofFinder("{folder}", "1"), 207, FOLDER],
      [ofFinder("{folder}._."), 404],
      [ofFinder("{folder}.metadata_never_index_unless_rootfs"), 404],
      [ofFinder("{folder}.DS_Store"), 404],
      ["PUT {folder}.DS_Store", 201],
    ],
    left: [".DS_Store"],
  },
  {
    name: "Finder copies a file into a folder, under locks (published)",
    headers: FINDER,
    steps: [
      [ofFinder("{folder}Test%20File.txt"), 404],
      ["PUT {folder}Test%20File.txt", 201],
      [ofFinder("{folder}._Test%20File.txt"), 404],
      [FINDER_LOCK, 200, FINDER_GRANTED],
      [FINDER_UNLOCK, 204],
      [FINDER_LOCK, 200, FINDER_GRANTED],
      [FINDER_UNLOCK, 204],
      ["PUT {folder}._Test%20File.txt", 201],
      [ofFinder("{folder}", "1"), 207, { has: ["{folder}Test%20File.txt"] }],
      [ofFinder("{folder}Test%20File.txt"), 207, { has: ["<D:getcontentlength>0<"] }],
      ["DELETE {folder}Test%20File.txt", 204],
      [ofFinder("{folder}Test%20File.txt"), 404],
      ["PUT {folder}Test%20File.txt", 201],
      [FINDER_LOCK, 200, FINDER_GRANTED],
      [
        "PUT {folder}Test%20File.txt\nX-Expected-Entity-Length: 21\nIf: (<{token}>)\nTransfer-Encoding: Chunked\n\n" +
          "Nothing to see here!\n",
        201,
      ],
      [FINDER_UNLOCK, 204],
      [FINDER_LOCK, 200, FINDER_GRANTED],
      [FINDER_UNLOCK, 204],
      [ofFinder("{folder}", "1"), 207, { has: ["<D:getcontentlength>21<"] }],
      ["GET {folder}Test%20File.txt", 200, { has: ["Nothing to see here!\n"] }],
    ],
    left: ["._Test File.txt", "Test File.txt"],
  },
  {
    name: "Finder renames files and folders, and removes them (published)",
    headers: FINDER,
    files: { "capable_green_ipad_l.png": "png", "PDF%20Reports/": "", "PDF%20Reports/a.pdf": "pdf" },
    steps: [
      ["MOVE {folder}capable_green_ipad_l.png\nDestination: {origin}{folder}Green%20iPad.png", 201],
      [ofFinder("{folder}capable_green_ipad_l.png"), 404],
      ["MOVE {folder}PDF%20Reports/\nDestination: {origin}{folder}Apple%20Reports", 201],
      ["MKCOL {folder}untitled%20folder", 201],
      ["MOVE {folder}untitled%20folder/\nDestination: {origin}{folder}Backup", 201],
      ["DELETE {folder}Green%20iPad.png", 204],
      [ofFinder("{folder}Apple%20Reports/", "1", "of the members' kinds"), 207, { has: ["Apple%20Reports/a.pdf<"] }],
      ["DELETE {folder}Apple%20Reports/", 204],
    ],
    left: ["Backup"],
  },
  {
    // apple-oss-distributions/webdavfs, mount.tproj/webdav_network.c: network_lock, network_rename and network_delete
    // (2026). It is the client's source, not a recording.
    name: "Finder refreshes a lock, and renames and removes a locked file (published, as source)",
    headers: FINDER,
    files: { "Test%20File.txt": "content" },
    steps: [
      [FINDER_LOCK, 200, FINDER_GRANTED],
      [
        "LOCK {folder}Test%20File.txt\nContent-Type: text/xml\nDepth: 0\nTimeout: Second-600\nIf: (<{token}>)",
        200,
        { has: ["{token}", "Second-600"] },
      ],
      ["MOVE {folder}Test%20File.txt\nDestination: {origin}{folder}b.txt\nIf: (<{token}>)", 201],
      ["MOVE {folder}b.txt\nDestination: {origin}{folder}Test%20File.txt", 201],
      [FINDER_LOCK, 200, FINDER_GRANTED],
      ["DELETE {folder}Test%20File.txt\nIf: (<{token}>)", 204],
    ],
    left: [],
  },
];

const WINDOWS_XML = 'Cache-Control: no-cache\nPragma: no-cache\nContent-Type: text/xml; charset="utf-8"';
const ofExplorer = (target: string, depth = "0") => `PROPFIND ${target}\nDepth: ${depth}`;
const setByExplorer = (target: string, client: string) =>
  `PROPPATCH ${target}\n${WINDOWS_XML}\nIf: (<{token}>)\n\n${bodyOf(PROPPATCHES, client)}`;
/** It has no `Depth`. */
const EXPLORER_LOCK = `LOCK {folder}~%24test.docx\n${WINDOWS_XML}\nTimeout: Second-3600\n\n${bodyOf(LOCKS, "Explorer (MiniRedir)")}`;

const explorer: readonly RecordedSequence[] = [
  {
    // The first request: MaulingMonkey/notes, programming/formats/http1.md (10.0.19045). PROPFIND, MKCOL, PROPPATCH,
    // GET and DELETE: zetacomponents/Webdav, tests/clients/ie7.php (5.1.2600, 2010). The MOVE: FriendUPCloud/friendup,
    // core/network/protocol_webdav.c (10.0.15063, 2017). Each is whole; that they follow each other is from knowledge.
    name: "Explorer walks down from the root, makes a folder, and meets no redirect (published)",
    headers: { "User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.19045", translate: "f" },
    files: { "file.txt": "content" },
    steps: [
      ["OPTIONS /", 200, CLASS_2],
      [ofExplorer("/"), 207, FOLDER],
      [ofExplorer("/home"), 207, FOLDER],
      [ofExplorer("{self}"), 207, { ...FOLDER, headers: { "Content-Location": "{folder}" } }],
      [ofExplorer("{self}", "1"), 207, { has: ["{folder}file.txt"] }],
      ["GET {folder}file.txt\nPragma: no-cache", 200, { has: ["content"] }],
      ["MKCOL {folder}Neuer%20Ordner\nPragma: no-cache", 201],
      [
        'PROPPATCH {folder}Neuer%20Ordner\nPragma: no-cache\nContent-Type: text/xml; charset="utf-8"\n\n' +
          bodyOf(PROPPATCHES, "Explorer (MiniRedir), a folder"),
        207,
        ALL_SET,
      ],
      ["MOVE {folder}Neuer%20Ordner\nDestination: {origin}{folder}newdir\nOverwrite: F", 201],
      [ofExplorer("{folder}newdir"), 207, FOLDER],
      ["DELETE {folder}file.txt\nPragma: no-cache", 204],
      ["DELETE {folder}newdir\nPragma: no-cache", 204],
    ],
    left: [],
  },
  {
    // The order to the first UNLOCK: mar10/wsgidav, issue 112 (2018). The rest of the order, and the name, which is
    // that of Word's owner file on a drive: OpenMarshal/npm-WebDAV-Server, issue 37 (2018). The headers of LOCK:
    // swisspol/GCDWebServer, issue 319 (6.1.7601, 2017), whose body is cut behind its first element. Those of
    // PROPPATCH, with `If`: a comment of PropPatchHandler.java in milton (6.0.6001, 2008). Bodies: as in the tables.
    // The content and its `If`, which cs3org/reva, pull request 4972, describes, and `Lock-Token` are cut in all.
    name: "Explorer saves a file under a lock, and sets its times twice (published)",
    headers: { "User-Agent": "Microsoft-WebDAV-MiniRedir/10.0.15063", translate: "f" },
    steps: [
      [ofExplorer("{folder}~%24test.docx"), 404],
      ["PUT {folder}~%24test.docx\nPragma: no-cache", 201],
      [EXPLORER_LOCK, 200, { headers: { "Lock-Token": "<{token}>" }, has: ["Second-3600"] }],
      [setByExplorer("{folder}~%24test.docx", "Explorer (MiniRedir)"), 207, ALL_SET],
      ["HEAD {folder}~%24test.docx", 200],
      ["PUT {folder}~%24test.docx\nPragma: no-cache\nIf: (<{token}>)\n\nowner", 201],
      [setByExplorer("{folder}~%24test.docx", "Explorer (MiniRedir), after the content"), 207, ALL_SET],
      ["UNLOCK {folder}~%24test.docx\nLock-Token: <{token}>", 204],
      [ofExplorer("{folder}~%24test.docx"), 207, { has: ["<D:getcontentlength>5<"] }],
      [EXPLORER_LOCK, 200, { headers: { "Lock-Token": "<{token}>" } }],
      ["GET {folder}~%24test.docx", 200, { has: ["owner"] }],
      ["UNLOCK {folder}~%24test.docx\nLock-Token: <{token}>", 204],
    ],
    left: ["~$test.docx"],
  },
];

const office: RecordedSequence = {
  // The order, the headers of LOCK and PROPPATCH, and all bodies: semantic-machines/veda, 1 to 13 of
  // source-web/tests/backend/test049-requests.js (2023), in which tokens are cut. The token in `If` of the refresh, and
  // in `Lock-Token` of the PUT: sabre-io/dav, issue 980 (Word 2016, 2017). The GET, with its empty `Bearer`:
  // mikedeboer/jsDAV, issue 129 (Word 2016). The first HEAD: a page of Microsoft about its Office Existence Discovery
  // Protocol (2008). `If` of PROPPATCH is from knowledge.
  name: "Word edits a document of a link, and stores it with the token in Lock-Token (published)",
  headers: { "User-Agent": "Microsoft Office Word 2014", "X-Office-Major-Version": "16" },
  files: { "test.docx": "one" },
  steps: [
    ["OPTIONS {folder}\nUser-Agent: Microsoft Office Protocol Discovery", 200, CLASS_2],
    ["HEAD {folder}test.docx\nUser-Agent: Microsoft Office Existence Discovery\nPragma: no-cache", 200],
    ["OPTIONS {self}\ntranslate: f", 200, CLASS_2],
    ["PROPFIND {self}\nDepth: 0\ntranslate: f", 207, FOLDER],
    ["PROPFIND {folder}test.docx\nDepth: 0\ntranslate: f", 207, { has: ["<D:getetag>"] }],
    [
      `LOCK {folder}test.docx\n${WINDOWS_XML}\ntranslate: f\nTimeout: Second-3600\n\n${bodyOf(LOCKS, "Office")}`,
      200,
      { headers: { "Lock-Token": "<{token}>" }, has: ["SLPK\\optiflos", "Second-3600"] },
    ],
    [
      'GET {folder}test.docx\nContent-Type: text/xml; charset="utf-8"\nAuthorization: Bearer\n' +
        "X-MS-CookieUri-Requested: t\nX-FeatureVersion: 1\nDepth: 0\ntranslate: f\nX-IDCRL_ACCEPTED: t",
      401,
      { isAnonymous: true, headers: { "WWW-Authenticate": 'basic realm="Web files access", session' } },
    ],
    ['GET {folder}test.docx\nContent-Type: text/xml; charset="utf-8"\nDepth: 0\ntranslate: f', 200, { has: ["one"] }],
    [
      "LOCK {folder}test.docx\nCache-Control: no-cache\nPragma: no-cache\ntranslate: f\nTimeout: Second-3600\n" +
        "If: (<{token}>)",
      200,
      { has: ["{token}"] },
    ],
    ["HEAD {folder}test.docx", 200],
    ["PUT {folder}test.docx\nLock-Token: <{token}>\n\ntwo", 201],
    [setByExplorer("{folder}test.docx", "Office, through Explorer"), 207, ALL_SET],
    ["HEAD {folder}test.docx", 200],
    ["UNLOCK {folder}test.docx\nCache-Control: no-cache\nPragma: no-cache\ntranslate: f\nLock-Token: <{token}>", 204],
  ],
  left: ["test.docx"],
};

const GVFS_XML = "Content-Type: application/xml";
const ofGvfs = (target: string, depth: string) =>
  propfind(target, `${GVFS_XML}\nDepth: ${depth}\nApply-To-Redirect-Ref: T`, "gvfs");
const kindByGvfs = (target: string, depth: string) =>
  propfind(target, `${GVFS_XML}\nDepth: ${depth}`, "gvfs, of the kind");
const GVFS_FILE = "{folder}drawer/a%20b%20%C3%A4%23%25.txt";

/** The folder that it mounted was `/home`: it asks the folder, and those above it, in this way. */
const gvfs: RecordedSequence = {
  name: "gvfs 1.50.3 mounts, stores, lists, renames, copies, moves and removes (recorded)",
  headers: { "User-Agent": "gvfs/1.50.3", "Accept-Language": "en" },
  steps: [
    ["OPTIONS {self}", 200, CLASS_2],
    [kindByGvfs("{self}", "1"), 401, CHALLENGE],
    [kindByGvfs("{self}", "1"), 207, { ...FOLDER, headers: { "Content-Location": "{folder}" } }],
    ["OPTIONS /home", 200, { headers: DAV }],
    [kindByGvfs("/home", "1"), 207, FOLDER],
    ["OPTIONS /", 200, { headers: DAV }],
    [kindByGvfs("/", "1"), 207, FOLDER],
    [ofGvfs("{folder}", "1"), 207, FOLDER],
    ["MKCOL {folder}drawer/", 201],
    [kindByGvfs(GVFS_FILE, "0"), 404],
    [`PUT ${GVFS_FILE}\nOverwrite: T\n\ncontent\n`, 201],
    [ofGvfs("{folder}drawer/", "1"), 207, { has: [`<D:href>${GVFS_FILE}</D:href>`] }],
    [`GET ${GVFS_FILE}`, 200, { has: ["content\n"] }],
    [`MOVE ${GVFS_FILE}\nDestination: {origin}{folder}drawer/c%20100%25%20%23%C3%BC.txt\nOverwrite: F`, 201],
    [
      "COPY {folder}drawer/c%20100%25%20%23%C3%BC.txt\nDestination: {origin}{folder}drawer/copied.txt\nOverwrite: T",
      201,
    ],
    ["MOVE {folder}drawer\nDestination: {origin}{folder}two%20words\nOverwrite: F", 201],
    ["MOVE {folder}two%20words/copied.txt\nDestination: {origin}{folder}moved.txt\nOverwrite: T", 201],
    ["PUT {folder}moved.txt\n\nsecond\n", 201],
    ["GET {folder}moved.txt", 200, { has: ["second\n"] }],
    ["MOVE {folder}two%20words\nDestination: {origin}{folder}three\nOverwrite: T", 201],
    ["DELETE {folder}moved.txt", 204],
    ["DELETE {folder}three/c%20100%25%20%23%C3%BC.txt", 204],
    [ofGvfs("{folder}three", "0"), 207, FOLDER],
    ["DELETE {folder}three", 204],
  ],
  left: [],
};

const NEON_XML = "Content-Type: application/xml";

const davfs2: RecordedSequence = {
  name: "davfs2 1.6.1 locks a new file, stores it, makes it executable, moves and removes it (recorded)",
  headers: { "User-Agent": "davfs2/1.6.1 neon/0.32.5", TE: "trailers" },
  steps: [
    ["OPTIONS {folder}", 200, CLASS_2],
    [propfind("{folder}", `${NEON_XML}\nDepth: 1`, "davfs2 (neon)"), 401, CHALLENGE],
    [propfind("{folder}", `${NEON_XML}\nDepth: 1`, "davfs2 (neon)"), 207, FOLDER],
    [propfind("{folder}", `${NEON_XML}\nDepth: 0`, "davfs2 (neon), of the quota"), 207],
    [
      `LOCK {folder}new.txt\n${NEON_XML}\nDepth: 0\nTimeout: Second-1800\n\n${bodyOf(LOCKS, "davfs2 (neon)")}`,
      201,
      { headers: { "Lock-Token": "<{token}>" }, has: ["Second-1800"] },
    ],
    ["HEAD {folder}new.txt", 200],
    ["PUT {folder}new.txt\nIf-Match: {etag}\nIf: <{origin}{folder}new.txt> (<{token}>)\n\nhello\n", 201],
    ["UNLOCK {folder}new.txt\nLock-Token: <{token}>", 204],
    [
      `PROPPATCH {folder}new.txt\n${NEON_XML}\n\n${bodyOf(PROPPATCHES, "davfs2 (neon), the executable bit")}`,
      207,
      ALL_SET,
    ],
    ["GET {folder}new.txt\nIf-None-Match: {etag}\nIf-Modified-Since: {modified}", 304],
    [
      propfind("{folder}", `${NEON_XML}\nDepth: 1`, "davfs2 (neon)"),
      207,
      { has: ['<executable xmlns="http://apache.org/dav/props/">T</executable>'] },
    ],
    ["MKCOL {folder}folder/", 201],
    ["MOVE {folder}new.txt\nDestination: {origin}{folder}folder/moved.txt\nOverwrite: T", 201],
    ["DELETE {folder}folder/moved.txt", 204],
  ],
  left: ["folder"],
};

const ODT = "{folder}letter%20%c3%a4.odt";
const ofLibreOffice = (target: string, client: string) =>
  propfind(target, "Content-Type: application/xml\nDepth: 0", client);

const libreOffice: RecordedSequence = {
  name: "LibreOffice 7.4.7 saves a new document, refreshes its lock, and opens it again (recorded)",
  headers: { "User-Agent": "LibreOffice 7.4.7.2 denylistedbackend/7.88.1 GnuTLS/3.7.9", Accept: "*/*" },
  steps: [
    [`OPTIONS ${ODT}`, 200, CLASS_2],
    [ofLibreOffice(ODT, "LibreOffice"), 401, CHALLENGE],
    [ofLibreOffice(ODT, "LibreOffice"), 404],
    [
      `LOCK ${ODT}\nContent-Type: application/xml\nDepth: 0\nTimeout: Second-180\n\n${bodyOf(LOCKS, "LibreOffice")}`,
      201,
      { headers: { "Lock-Token": "<{token}>" }, has: ["Second-180", "LibreOffice - "] },
    ],
    [ofLibreOffice(ODT, "LibreOffice, of a document"), 207, { has: ["<D:lockentry>"] }],
    [`HEAD ${ODT}`, 200],
    ["OPTIONS {folder}", 200, { headers: DAV }],
    [ofLibreOffice("{folder}", "LibreOffice, of a folder"), 207],
    ["HEAD {folder}", 200],
    [`PUT ${ODT}\nIf: (<{token}>)\n\nfirst text`, 201],
    [ofLibreOffice(ODT, "LibreOffice, of the time"), 207, { has: ["<D:getlastmodified>"] }],
    [`LOCK ${ODT}\nTimeout: Second-180\nIf: (<{token}>)`, 200, { has: ["{token}", "Second-180"] }],
    [`PUT ${ODT}\nIf: (<{token}>)\n\nsecond text`, 201],
    [`UNLOCK ${ODT}\nLock-Token: <{token}>`, 204],
    [`GET ${ODT}`, 200, { has: ["second text"] }],
  ],
  left: ["letter ä.odt"],
};

const transmitAndCyberduck: readonly RecordedSequence[] = [
  {
    // swisspol/GCDWebServer, Tests/WebDAV-Cyberduck, of 001 to 033 what is not alike (Cyberduck 4.4.3, 2014).
    name: "Cyberduck lists, copies, moves and removes (published)",
    headers: { "User-Agent": "Cyberduck/4.4.3 (Mac OS X/10.9.2) (x86_64)" },
    files: { "Copy.txt": "content" },
    steps: [
      ["HEAD {folder}", 200],
      [propfind("{folder}", "Depth: 1\nContent-Type: text/xml; charset=utf-8", "Cyberduck"), 207, FOLDER],
      ["HEAD {folder}Copy%20%284%3A11%3A14%2C%209%3A52%20PM%29.txt", 404],
      [
        "COPY {folder}Copy.txt\nDestination: {origin}{folder}Copy%20%284%3A11%3A14%2C%209%3A52%20PM%29.txt\n" +
          "Overwrite: T",
        201,
      ],
      [
        "MOVE {folder}Copy%20%284%3A11%3A14%2C%209%3A52%20PM%29.txt\nDestination: {origin}{folder}Test.txt\nOverwrite: T",
        201,
      ],
      ["PUT {folder}Test%20File.txt\nContent-Type: text/plain\n\nNothing to see here!\n", 201],
      ["MKCOL {folder}Text%20Files/", 201],
      ["MOVE {folder}Test.txt\nDestination: {origin}{folder}Text%20Files/Test.txt\nOverwrite: T", 201],
      ["DELETE {folder}Text%20Files/Test.txt", 204],
      ["DELETE {folder}Text%20Files/", 204],
    ],
    left: ["Copy.txt", "Test File.txt"],
  },
  {
    // The same, Tests/WebDAV-Transmit, 011 to 014 (Transmit 4.4.6, 2014), with another content.
    name: "Transmit saves a file by another one, which takes its place (published)",
    headers: { "User-Agent": "Transmit/4.4.6 neon/0.29.3", TE: "trailers" },
    files: { "Copy.txt": "old" },
    steps: [
      ["GET {folder}Copy.txt", 200, { has: ["old"] }],
      ["PUT {folder}Copy_safe_save_215004.txt\n\nnew", 201],
      ["DELETE {folder}Copy.txt", 204],
      ["MOVE {folder}Copy_safe_save_215004.txt\nDestination: {origin}{folder}Copy.txt\nOverwrite: T", 201],
      ["GET {folder}Copy.txt", 200, { has: ["new"] }],
    ],
    left: ["Copy.txt"],
  },
];

export const SEQUENCES: readonly RecordedSequence[] = [
  ...finder,
  ...explorer,
  office,
  gvfs,
  davfs2,
  libreOffice,
  ...transmitAndCyberduck,
];
