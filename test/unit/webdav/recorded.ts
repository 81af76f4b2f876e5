/**
 * Bodies and headers in the form in which real clients send them, written from what is known of their protocols: a
 * parser must read them, whatever else it refuses.
 */

/** `opaquelocktoken:` and a UUID, as the service makes them. */
const TOKEN = "opaquelocktoken:f81d4fae-7dec-11d0-a765-00a0c91e6bf6";

/** A PROPFIND, and the keys that it asks for. */
export const PROPFINDS: Readonly<Record<string, readonly [body: string, keys: readonly string[] | "allprop"]>> = {
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
  "Explorer (MiniRedir), without a body": ["", "allprop"],
  "Office on Windows": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propfind xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:"><D:prop>' +
      "<D:lockdiscovery/><D:supportedlock/><Z:Win32FileAttributes/></D:prop></D:propfind>",
    ["{DAV:}lockdiscovery", "{DAV:}supportedlock", "{urn:schemas-microsoft-com:}Win32FileAttributes"],
  ],
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
  "davfs2 (neon)": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><prop>\n<getetag xmlns="DAV:"/>\n' +
      '<getcontentlength xmlns="DAV:"/>\n<resourcetype xmlns="DAV:"/>\n' +
      '<executable xmlns="http://apache.org/dav/props/"/>\n<getlastmodified xmlns="DAV:"/>\n</prop></propfind>\n',
    [
      "{DAV:}getetag",
      "{DAV:}getcontentlength",
      "{DAV:}resourcetype",
      "{http://apache.org/dav/props/}executable",
      "{DAV:}getlastmodified",
    ],
  ],
  "neon, all properties": [
    '<?xml version="1.0" encoding="utf-8"?>\n<propfind xmlns="DAV:"><allprop/></propfind>\n',
    "allprop",
  ],
  rclone: [
    `<?xml version="1.0" encoding="utf-8"?>
<d:propfind  xmlns:d="DAV:" xmlns:oc="http://owncloud.org/ns" xmlns:nc="http://nextcloud.org/ns">
 <d:prop>
  <d:displayname />
  <d:getlastmodified />
  <d:getcontentlength />
  <d:resourcetype />
  <d:getcontenttype />
  <oc:checksums />
  <oc:permissions />
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
      "{http://owncloud.org/ns}permissions",
    ],
  ],
  LibreOffice: [
    '<?xml version="1.0" encoding="UTF-8"?><propfind xmlns="DAV:"><prop><supportedlock/><lockdiscovery/></prop></propfind>',
    ["{DAV:}supportedlock", "{DAV:}lockdiscovery"],
  ],
};

/** A PROPPATCH, and the keys that it sets. */
export const PROPPATCHES: Readonly<Record<string, readonly [body: string, keys: readonly string[]]>> = {
  "Explorer (MiniRedir)": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:" xmlns:Z="urn:schemas-microsoft-com:">' +
      "<D:set><D:prop><Z:Win32CreationTime>Tue, 05 May 2026 07:08:09 GMT</Z:Win32CreationTime>" +
      "<Z:Win32LastAccessTime>Tue, 05 May 2026 07:08:09 GMT</Z:Win32LastAccessTime>" +
      "<Z:Win32LastModifiedTime>Tue, 05 May 2026 07:08:10 GMT</Z:Win32LastModifiedTime>" +
      "<Z:Win32FileAttributes>00000020</Z:Win32FileAttributes></D:prop></D:set></D:propertyupdate>",
    ["Win32CreationTime", "Win32LastAccessTime", "Win32LastModifiedTime", "Win32FileAttributes"].map(
      (name) => `{urn:schemas-microsoft-com:}${name}`,
    ),
  ],
  "davfs2 (neon), the executable bit": [
    '<?xml version="1.0" encoding="utf-8" ?>\n<D:propertyupdate xmlns:D="DAV:">\n<D:set><D:prop>' +
      '<executable xmlns="http://apache.org/dav/props/">T</executable></D:prop></D:set>\n</D:propertyupdate>\n',
    ["{http://apache.org/dav/props/}executable"],
  ],
  "Cyberduck, the time": [
    '<?xml version="1.0" encoding="UTF-8" standalone="yes"?><D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>' +
      "<D:lastmodified>Tue, 05 May 2026 07:08:09 GMT</D:lastmodified></D:prop></D:set></D:propertyupdate>",
    ["{DAV:}lastmodified"],
  ],
  "litmus, a value with namespaces": [
    '<?xml version="1.0" encoding="utf-8" ?><D:propertyupdate xmlns:D="DAV:"><D:set><D:prop>' +
      '<t:valnspace xmlns:t="http://webdav.org/neon/litmus/"><foo xmlns="bar"/></t:valnspace></D:prop></D:set>' +
      "</D:propertyupdate>",
    ["{http://webdav.org/neon/litmus/}valnspace"],
  ],
  "litmus, no namespace": [
    '<?xml version="1.0" encoding="utf-8" ?><propertyupdate xmlns="DAV:"><set><prop>' +
      '<nonamespace xmlns="">randomvalue</nonamespace></prop></set></propertyupdate>',
    ["{}nonamespace"],
  ],
};

/** A LOCK, the scope that it asks for, and the text of its owner. */
export const LOCKS: Readonly<Record<string, readonly [body: string, scope: string, owner: string]>> = {
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
  "Explorer (MiniRedir)": [
    '<?xml version="1.0" encoding="utf-8" ?><D:lockinfo xmlns:D="DAV:"><D:lockscope><D:exclusive/></D:lockscope>' +
      "<D:locktype><D:write/></D:locktype><D:owner><D:href>DESKTOP-1\\Alice</D:href></D:owner></D:lockinfo>",
    "exclusive",
    "DESKTOP-1\\Alice",
  ],
  Office: [
    '<?xml version="1.0"?>\r\n<a:lockinfo xmlns:a="DAV:"><a:lockscope><a:exclusive/></a:lockscope><a:locktype>' +
      "<a:write/></a:locktype><a:owner><a:href>DOMAIN\\Jürgen &amp; Söhne</a:href></a:owner></a:lockinfo>",
    "exclusive",
    "DOMAIN\\Jürgen & Söhne",
  ],
  "davfs2 (neon)": [
    '<?xml version="1.0" encoding="utf-8"?>\n<lockinfo xmlns=\'DAV:\'>\n <lockscope><exclusive/></lockscope>\n' +
      "<locktype><write/></locktype><owner>davfs2 alice</owner>\n</lockinfo>\n",
    "exclusive",
    "davfs2 alice",
  ],
  "cadaver (neon), shared": [
    '<?xml version="1.0" encoding="utf-8"?>\n<lockinfo xmlns=\'DAV:\'>\n <lockscope><shared/></lockscope>\n' +
      "<locktype><write/></locktype></lockinfo>\n",
    "shared",
    "",
  ],
  LibreOffice: [
    '<?xml version="1.0" encoding="UTF-8"?>\n<lockinfo xmlns="DAV:"><lockscope><exclusive/></lockscope><locktype>' +
      "<write/></locktype><owner><href>http://www.libreoffice.org</href>\nLibreOffice - Alice</owner></lockinfo>\n",
    "exclusive",
    "http://www.libreoffice.org\nLibreOffice - Alice",
  ],
};

/** An `If` header, and what it is made of: the URL of each list, and its conditions. */
export const IFS: Readonly<Record<string, readonly [value: string, lists: readonly (readonly string[])[]]>> = {
  "Finder (WebDAVFS), a PUT": [`(<${TOKEN}>)`, [["", TOKEN]]],
  "Explorer (MiniRedir), a DELETE": [`(<${TOKEN}>)`, [["", TOKEN]]],
  "Office, with the URL": [
    `<https://files.example/home/a%20b.docx> (<${TOKEN}>)`,
    [["https://files.example/home/a%20b.docx", TOKEN]],
  ],
  "neon, the file and its folder": [
    `<http://files.example/home/a.txt> (<${TOKEN}>) <http://files.example/home/> (<opaquelocktoken:2>)`,
    [
      ["http://files.example/home/a.txt", TOKEN],
      ["http://files.example/home/", "opaquelocktoken:2"],
    ],
  ],
  "litmus, an entity-tag and a state that nothing has": [
    `(<${TOKEN}> ["a-1"]) (Not <DAV:no-lock> ["a-1"])`,
    [
      ["", TOKEN, '"a-1"'],
      ["", "!DAV:no-lock", '"a-1"'],
    ],
  ],
  "litmus, a condition that always holds": [
    `(<${TOKEN}>) (Not <DAV:no-lock>)`,
    [
      ["", TOKEN],
      ["", "!DAV:no-lock"],
    ],
  ],
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
