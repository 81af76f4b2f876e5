/**
 * Bodies and headers in the form in which real clients send them: a parser must read them, whatever else it refuses.
 * The comment of each entry says where it is from.
 *
 * - "Recorded": the named version of the client sent it to this service, through a proxy that wrote all down.
 * - "Published": others recorded it, and published it where the comment says.
 * - "From knowledge": no recording. It is written from descriptions of the client.
 *
 * Tokens of locks are replaced by {@link TOKEN}, and hosts by those of the tests.
 */

/** `opaquelocktoken:` and a UUID, as the service makes them. */
const TOKEN = "opaquelocktoken:f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

function win32Key(name: string): string {
  return `{urn:schemas-microsoft-com:}${name}`;
}

/** A PROPFIND, and the keys that it asks for. */
export const PROPFINDS: Readonly<Record<string, readonly [body: string, keys: readonly string[] | "allprop"]>> = {
  // Published, whole: swisspol/GCDWebServer, Tests/WebDAV-Finder, 004 (WebDAVFS 3.0.1 of macOS 10.9, 2014). The same is
  // in linagora/twake-drive, tdrive/backend/node/src/services/webdav/web/routes.ts (WebDAVFS 3.0.0 of macOS 14), and in
  // Apple's source of 2026: apple-oss-distributions/webdavfs, mount.tproj/webdav_network.c. That has also the next two,
  // and the LOCK below.
  "Finder (WebDAVFS), of a folder": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:getlastmodified/>
<D:getcontentlength/>
<D:creationdate/>
<D:resourcetype/>
</D:prop>
</D:propfind>
`,
    ["{DAV:}getlastmodified", "{DAV:}getcontentlength", "{DAV:}creationdate", "{DAV:}resourcetype"],
  ],
  // Published, whole: the same, 005.
  "Finder (WebDAVFS), of the quota": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:quota-available-bytes/>
<D:quota-used-bytes/>
<D:quota/>
<D:quotaused/>
</D:prop>
</D:propfind>
`,
    ["{DAV:}quota-available-bytes", "{DAV:}quota-used-bytes", "{DAV:}quota", "{DAV:}quotaused"],
  ],
  // Published, whole: the same, 268, before a folder is removed.
  "Finder (WebDAVFS), of the members' kinds": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:resourcetype/>
</D:prop>
</D:propfind>
`,
    ["{DAV:}resourcetype"],
  ],
  // Published, in Apple's source: of a file of which no response told the time or the entity-tag.
  "Finder (WebDAVFS), of the version": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop>
<D:getlastmodified/>
<D:getetag/>
</D:prop>
</D:propfind>
`,
    ["{DAV:}getlastmodified", "{DAV:}getetag"],
  ],
  // Published, in Apple's source: of a folder, for servers of Apple.
  "Finder (WebDAVFS), of AppleDouble": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:propfind xmlns:D="DAV:">
<D:prop xmlns:A="http://www.apple.com/webdav_fs/props/">
<D:getlastmodified/>
<D:getcontentlength/>
<D:creationdate/>
<D:resourcetype/>
<A:appledoubleheader/>
</D:prop>
</D:propfind>
`,
    [
      "{DAV:}getlastmodified",
      "{DAV:}getcontentlength",
      "{DAV:}creationdate",
      "{DAV:}resourcetype",
      "{http://www.apple.com/webdav_fs/props/}appledoubleheader",
    ],
  ],
  // Published, whole: zetacomponents/Webdav, tests/clients/ie7.php (MiniRedir 5.1.2600, 2010), each PROPFIND.
  "Explorer (MiniRedir), without a body": ["", "allprop"],
  // From knowledge. In the recordings of Office, a PROPFIND has no body.
  "Office on Windows": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propfind xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:prop>' +
      "<D:lockdiscovery/><D:supportedlock/><Z:Win32FileAttributes/></D:prop></D:propfind>",
    ["{DAV:}lockdiscovery", "{DAV:}supportedlock", "{urn:schemas-microsoft-com:}Win32FileAttributes"],
  ],
  // Recorded: gvfs 1.50.3, by a mount, a listing and the information about a file.
  gvfs: [
    `<?xml version="1.0" encoding="utf-8" ?>
 <D:propfind xmlns:D="DAV:">
  <D:prop>
<D:creationdate/>
<D:displayname/>
<D:getcontentlength/>
<D:getcontenttype/>
<D:getetag/>
<D:getlastmodified/>
<D:resourcetype/>
  </D:prop>
 </D:propfind>`,
    [
      "{DAV:}creationdate",
      "{DAV:}displayname",
      "{DAV:}getcontentlength",
      "{DAV:}getcontenttype",
      "{DAV:}getetag",
      "{DAV:}getlastmodified",
      "{DAV:}resourcetype",
    ],
  ],
  // Recorded: gvfs 1.50.3, by a mount, and before a file is written, moved or removed.
  "gvfs, of the kind": [
    `<?xml version="1.0" encoding="utf-8" ?>
 <D:propfind xmlns:D="DAV:">
  <D:prop>
<D:resourcetype/>
<D:getcontentlength/>
  </D:prop>
 </D:propfind>`,
    ["{DAV:}resourcetype", "{DAV:}getcontentlength"],
  ],
  // Recorded: davfs2 1.6.1 with neon 0.32.5, by a mount.
  "davfs2 (neon)": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><prop>\n<resourcetype xmlns="DAV:"/>\n' +
      '<getcontentlength xmlns="DAV:"/>\n<getetag xmlns="DAV:"/>\n<getlastmodified xmlns="DAV:"/>\n' +
      '<executable xmlns="http://apache.org/dav/props/"/>\n</prop></propfind>\n',
    [
      "{DAV:}resourcetype",
      "{DAV:}getcontentlength",
      "{DAV:}getetag",
      "{DAV:}getlastmodified",
      "{http://apache.org/dav/props/}executable",
    ],
  ],
  // Recorded: the same.
  "davfs2 (neon), of the quota": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><prop>\n<quota-available-bytes xmlns="DAV:"/>\n' +
      '<quota-used-bytes xmlns="DAV:"/>\n</prop></propfind>\n',
    ["{DAV:}quota-available-bytes", "{DAV:}quota-used-bytes"],
  ],
  // Recorded: cadaver 0.24 with neon 0.32.5, by `ls`.
  "cadaver (neon)": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><prop>\n<getcontentlength xmlns="DAV:"/>\n' +
      '<getlastmodified xmlns="DAV:"/>\n<executable xmlns="http://apache.org/dav/props/"/>\n' +
      '<resourcetype xmlns="DAV:"/>\n<checked-in xmlns="DAV:"/>\n<checked-out xmlns="DAV:"/>\n</prop></propfind>\n',
    [
      "{DAV:}getcontentlength",
      "{DAV:}getlastmodified",
      "{http://apache.org/dav/props/}executable",
      "{DAV:}resourcetype",
      "{DAV:}checked-in",
      "{DAV:}checked-out",
    ],
  ],
  // Recorded: the same, by `propget` without a name.
  "neon, all properties": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><allprop/></propfind>\n',
    "allprop",
  ],
  // Recorded: rclone 1.60.1 with `vendor=owncloud`. With `vendor=other` it sends no body.
  rclone: [
    `<?xml version="1.0"?>
<d:propfind  xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
 <d:prop>
  <d:displayname />
  <d:getlastmodified />
  <d:getcontentlength />
  <d:resourcetype />
  <d:getcontenttype />
  <oc:checksums />
 </d:prop>
</d:propfind>
`,
    [
      "{DAV:}displayname",
      "{DAV:}getlastmodified",
      "{DAV:}getcontentlength",
      "{DAV:}resourcetype",
      "{DAV:}getcontenttype",
      "{http://owncloud.org/ns}checksums",
    ],
  ],
  // Published, whole: swisspol/GCDWebServer, Tests/WebDAV-Cyberduck, 002 (Cyberduck 4.4.3, 2014).
  Cyberduck: [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><propfind xmlns="DAV:"><allprop/></propfind>',
    "allprop",
  ],
  // Recorded: LibreOffice 7.4.7, before it locks a document.
  LibreOffice: [
    '<?xml version="1.0" encoding="UTF-8"?>\n<propfind xmlns="DAV:"><prop><supportedlock xmlns="DAV:"/></prop></propfind>',
    ["{DAV:}supportedlock"],
  ],
  // Recorded: the same, when it opens a document.
  "LibreOffice, of a document": [
    '<?xml version="1.0" encoding="UTF-8"?>\n<propfind xmlns="DAV:"><prop><resourcetype xmlns="DAV:"/>' +
      '<IsReadOnly xmlns="http://ucb.openoffice.org/dav/props/"/><getcontenttype xmlns="DAV:"/>' +
      '<supportedlock xmlns="DAV:"/></prop></propfind>',
    [
      "{DAV:}resourcetype",
      "{http://ucb.openoffice.org/dav/props/}IsReadOnly",
      "{DAV:}getcontenttype",
      "{DAV:}supportedlock",
    ],
  ],
  // Recorded: the same, of the folder, before it stores a document.
  "LibreOffice, of a folder": [
    '<?xml version="1.0" encoding="UTF-8"?>\n<propfind xmlns="DAV:"><prop>' +
      '<CreatableContentsInfo xmlns="http://ucb.openoffice.org/dav/props/"/></prop></propfind>',
    ["{http://ucb.openoffice.org/dav/props/}CreatableContentsInfo"],
  ],
  // Recorded: the same, after it stored a document.
  "LibreOffice, of the time": [
    '<?xml version="1.0" encoding="UTF-8"?>\n<propfind xmlns="DAV:"><prop><getlastmodified xmlns="DAV:"/></prop></propfind>',
    ["{DAV:}getlastmodified"],
  ],
  // Recorded: the same, after its LOCK of a document that another account had locked was 423.
  "LibreOffice, of locks": [
    '<?xml version="1.0" encoding="UTF-8"?>\n<propfind xmlns="DAV:"><prop><lockdiscovery xmlns="DAV:"/></prop></propfind>',
    ["{DAV:}lockdiscovery"],
  ],
};

/** A PROPPATCH, and the keys that it sets. */
export const PROPPATCHES: Readonly<Record<string, readonly [body: string, keys: readonly string[]]>> = {
  // Published, whole: FriendUPCloud/friendup, core/network/protocol_webdav.c (MiniRedir 10.0.15063, 2017).
  "Explorer (MiniRedir)": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32CreationTime>Mon, 16 Oct 2017 08:55:48 GMT</Z:Win32CreationTime>" +
      "<Z:Win32LastAccessTime>Mon, 16 Oct 2017 08:55:48 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Mon, 16 Oct 2017 08:55:48 GMT</Z:Win32LastModifiedTime>" +
      "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>",
    ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime", "Win32FileAttributes"].map(win32Key),
  ],
  // Published, whole: zetacomponents/Webdav, tests/clients/ie7.php (MiniRedir 5.1.2600, 2010), behind a MKCOL.
  "Explorer (MiniRedir), a folder": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32CreationTime>Mon, 01 Feb 2010 10:07:18 GMT</Z:Win32CreationTime>" +
      "<Z:Win32LastAccessTime>Mon, 01 Feb 2010 10:07:18 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Mon, 01 Feb 2010 10:07:18 GMT</Z:Win32LastModifiedTime>" +
      "<Z:Win32FileAttributes>00000010</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>",
    ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime", "Win32FileAttributes"].map(win32Key),
  ],
  // Published, whole: the same, before the content of a file is stored.
  "Explorer (MiniRedir), the time alone": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32LastModifiedTime>Mon, 15 Aug 2005 15:13:00 GMT</Z:Win32LastModifiedTime></D:prop>" +
      "</D:set></D:propertyupdate>",
    ["Win32LastModifiedTime"].map(win32Key),
  ],
  // Published: a comment of PropPatchHandler.java in milton (MiniRedir 6.0.6001, 2008). Its line breaks are cut.
  "Explorer (MiniRedir), after the content": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32LastAccessTime>Wed, 10 Dec 2008 21:55:22 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Wed, 10 Dec 2008 21:55:22 GMT</Z:Win32LastModifiedTime>" +
      "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>",
    ["Win32LastAccessTime", "Win32LastModifiedTime", "Win32FileAttributes"].map(win32Key),
  ],
  // Published, whole: semantic-machines/veda, source-web/tests/backend/test049-requests.js, 11 (2023).
  "Office, through Explorer": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32LastAccessTime>Wed, 25 Oct 2023 11:48:33 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Wed, 25 Oct 2023 11:48:33 GMT</Z:Win32LastModifiedTime></D:prop></D:set>" +
      "</D:propertyupdate>",
    ["Win32LastAccessTime", "Win32LastModifiedTime"].map(win32Key),
  ],
  // Recorded: davfs2 1.6.1 with neon 0.32.5, by `chmod +x`.
  "davfs2 (neon), the executable bit": [
    '<?xml version="1.0" encoding="utf-8" ?>\n<D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>' +
      '<executable xmlns="http://apache.org/dav/props/">T</executable></D:prop></D:set>\n</D:propertyupdate>\n',
    ["{http://apache.org/dav/props/}executable"],
  ],
  // From knowledge.
  "Cyberduck, the time": [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>' +
      "<D:lastmodified>Tue, 05 May 2026 07:08:09 GMT</D:lastmodified></D:prop></D:set></D:propertyupdate>",
    ["{DAV:}lastmodified"],
  ],
  // Recorded: litmus 0.13.
  "litmus, a value with namespaces": [
    '<?xml version="1.0" encoding="utf-8" ?><propertyupdate xmlns=\'DAV:\'><set><prop>' +
      "<t:valnspace xmlns:t='http://example.com/neon/litmus/'><foo xmlns='http://bar'/></t:valnspace></prop></set>" +
      "</propertyupdate>",
    ["{http://example.com/neon/litmus/}valnspace"],
  ],
  // Recorded: the same.
  "litmus, no namespace": [
    '<?xml version="1.0" encoding="utf-8" ?><propertyupdate xmlns="DAV:"><set><prop>' +
      '<nonamespace xmlns="">randomvalue</nonamespace></prop></set></propertyupdate>',
    ["{}nonamespace"],
  ],
};

/** A LOCK, the scope that it asks for, and the text of its owner. */
export const LOCKS: Readonly<Record<string, readonly [body: string, scope: string, owner: string]>> = {
  // Published, whole: swisspol/GCDWebServer, Tests/WebDAV-Finder, 104 (WebDAVFS 3.0.1 of macOS 10.9, 2014).
  "Finder (WebDAVFS)": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:lockinfo xmlns:D="DAV:">
<D:lockscope><D:exclusive/></D:lockscope>
<D:locktype><D:write/></D:locktype>
<D:owner>
<D:href>http://www.apple.com/webdav_fs/</D:href>
</D:owner>
</D:lockinfo>
`,
    "exclusive",
    "\nhttp://www.apple.com/webdav_fs/\n",
  ],
  // Published, in Apple's source.
  "Finder (WebDAVFS), shared": [
    `<?xml version="1.0" encoding="utf-8"?>
<D:lockinfo xmlns:D="DAV:">
<D:lockscope><D:shared/></D:lockscope>
<D:locktype><D:write/></D:locktype>
<D:owner>
<D:href>http://www.apple.com/webdav_fs/</D:href>
</D:owner>
</D:lockinfo>
`,
    "shared",
    "\nhttp://www.apple.com/webdav_fs/\n",
  ],
  // Published, whole: FriendUPCloud/friendup, core/network/protocol_webdav.c (MiniRedir 10.0.15063, 2017).
  "Explorer (MiniRedir)": [
    '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
      "<D:locktype><D:write/></D:locktype><D:owner><D:href>stefkos</D:href></D:owner></D:lockinfo>",
    "exclusive",
    "stefkos",
  ],
  // Published, whole: semantic-machines/veda, source-web/tests/backend/test049-requests.js, 6 (2023).
  Office: [
    '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
      "<D:locktype><D:write/></D:locktype><D:owner><D:href>SLPK\\optiflos</D:href></D:owner></D:lockinfo>",
    "exclusive",
    "SLPK\\optiflos",
  ],
  // Published, with blanks that the publisher may have added: sabre-io/dav, tests/Sabre/DAV/Locks/MSWordTest.php.
  "Office, indented": [
    `<D:lockinfo xmlns:D="DAV:">
    <D:lockscope>
        <D:exclusive />
    </D:lockscope>
    <D:locktype>
        <D:write />
    </D:locktype>
    <D:owner>
        <D:href>PC-Vista\\User</D:href>
    </D:owner>
</D:lockinfo>`,
    "exclusive",
    "\n        PC-Vista\\User\n    ",
  ],
  // From knowledge.
  "Office, with another prefix": [
    '<?xml version="1.0"?>\r\n<a:lockinfo xmlns:a="DAV:"><a:lockscope><a:exclusive/></a:lockscope><a:locktype>' +
      "<a:write/></a:locktype><a:owner><a:href>DOMAIN\\Jürgen &amp; Söhne</a:href></a:owner></a:lockinfo>",
    "exclusive",
    "DOMAIN\\Jürgen & Söhne",
  ],
  // Recorded: davfs2 1.6.1 with neon 0.32.5.
  "davfs2 (neon)": [
    '<?xml version="1.0" encoding="utf-8"?>\n<lockinfo xmlns=\'DAV:\'>\n <lockscope><exclusive/></lockscope>\n' +
      "<locktype><write/></locktype><owner>alice</owner>\n</lockinfo>\n",
    "exclusive",
    "alice",
  ],
  // Recorded: cadaver 0.24 with neon 0.32.5.
  "cadaver (neon), no owner": [
    '<?xml version="1.0" encoding="utf-8"?>\n<lockinfo xmlns=\'DAV:\'>\n <lockscope><exclusive/></lockscope>\n' +
      "<locktype><write/></locktype></lockinfo>\n",
    "exclusive",
    "",
  ],
  // Recorded: litmus 0.13 with neon 0.32.5.
  "litmus (neon), shared": [
    '<?xml version="1.0" encoding="utf-8"?>\n<lockinfo xmlns=\'DAV:\'>\n <lockscope><shared/></lockscope>\n' +
      "<locktype><write/></locktype><owner>litmus test suite</owner>\n</lockinfo>\n",
    "shared",
    "litmus test suite",
  ],
  // Recorded: LibreOffice 7.4.7, by a user without a name.
  LibreOffice: [
    '<?xml version="1.0" encoding="UTF-8"?>\n<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype>' +
      "<write/></locktype><owner>LibreOffice - </owner></lockinfo>",
    "exclusive",
    "LibreOffice - ",
  ],
};

/** An `If` header, and what it is made of: the URL of each list, and its conditions. */
export const IFS: Readonly<Record<string, readonly [value: string, lists: readonly (readonly string[])[]]>> = {
  // Published, whole: swisspol/GCDWebServer, Tests/WebDAV-Finder, 120. Explorer, LibreOffice and litmus send this too.
  "Finder (WebDAVFS), a PUT": [`(<${TOKEN}>)`, [["", TOKEN]]],
  // From knowledge.
  "Office, with the URL": [
    `<https://files.example/home/a%20b.docx> (<${TOKEN}>)`,
    [["https://files.example/home/a%20b.docx", TOKEN]],
  ],
  // From knowledge. The recordings of davfs2, cadaver and litmus have the first half.
  "neon, the file and its folder": [
    `<http://files.example/home/a.txt> (<${TOKEN}>) <http://files.example/home/> (<opaquelocktoken:2>)`,
    [
      ["http://files.example/home/a.txt", TOKEN],
      ["http://files.example/home/", "opaquelocktoken:2"],
    ],
  ],
  // Recorded: litmus 0.13.
  "litmus, an entity-tag and a state that nothing has": [
    `(<${TOKEN}> ["a-1"]) (Not <DAV:no-lock> ["a-1"])`,
    [
      ["", TOKEN, '"a-1"'],
      ["", "!DAV:no-lock", '"a-1"'],
    ],
  ],
  // Recorded: the same.
  "litmus, a condition that always holds": [
    `(<${TOKEN}>) (Not <DAV:no-lock>)`,
    [
      ["", TOKEN],
      ["", "!DAV:no-lock"],
    ],
  ],
  // An example of the standard, as the next two.
  "RFC 4918 10.4.6": [
    '(<urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2> ["I am an ETag"]) (["I am another ETag"])',
    [
      ["", "urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2", '"I am an ETag"'],
      ["", '"I am another ETag"'],
    ],
  ],
  "RFC 4918 10.4.7": [
    "(Not <urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2> <urn:uuid:58f202ac-22cf-11d1-b12d-002035b29092>)",
    [["", "!urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2", "urn:uuid:58f202ac-22cf-11d1-b12d-002035b29092"]],
  ],
  "RFC 4918 10.4.9": [
    '</resource1> (<urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2> [W/"A weak ETag"]) (["strong ETag"])',
    [
      ["/resource1", "urn:uuid:181d4fae-7d8c-11d0-a765-00a0c91e6bf2", 'W/"A weak ETag"'],
      ["/resource1", '"strong ETag"'],
    ],
  ],
};
