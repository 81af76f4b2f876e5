/** Why a text is refused before it is parsed. */
export type XmlProblem = "malformed" | "document-type" | "too-complex";

/** Limits of the elements of a text. */
export interface XmlScanLimits {
  readonly maxElements: number;
  readonly maxDepth: number;
}

/** What can end a tag, or begin a quoted value in it. */
const TAG_SIGN = /[<>"']/g;

/**
 * Counts the elements of an XML text and their levels, without parsing it, and looks for a document type. The parser
 * calls itself for each level and skips document types, so both must be known first. Takes linear time.
 */
export function findXmlProblem(text: string, { maxElements, maxDepth }: XmlScanLimits): XmlProblem | undefined {
  let elements = 0;
  let depth = 0;
  for (let at = text.indexOf("<"); at >= 0; ) {
    const end = findEnd(text, at);
    if (typeof end !== "number") return end;
    const next = text[at + 1];
    if (next === "/") depth--;
    else if (next !== "!" && next !== "?") {
      elements++;
      const isEmpty = text[end - 2] === "/";
      if (elements > maxElements || depth + 1 > maxDepth) return "too-complex";
      if (!isEmpty) depth++;
    }
    at = text.indexOf("<", end);
  }
  return undefined;
}

/** The index after the tag, comment, CDATA section or processing instruction that begins at `at`. */
function findEnd(text: string, at: number): number | XmlProblem {
  if (text.startsWith("<?", at)) return after(text, "?>", at + 2);
  if (text.startsWith("<!--", at)) return after(text, "-->", at + 4);
  if (text.startsWith("<![CDATA[", at)) return after(text, "]]>", at + 9);
  if (text.startsWith("<!", at)) return "document-type";
  return findTagEnd(text, at + 1);
}

function after(text: string, sign: string, from: number): number | XmlProblem {
  const index = text.indexOf(sign, from);
  return index < 0 ? "malformed" : index + sign.length;
}

/** The index after the `>` of a tag: quoted values may have that character, too. */
function findTagEnd(text: string, from: number): number | XmlProblem {
  for (let at = from; ; ) {
    TAG_SIGN.lastIndex = at;
    const sign = TAG_SIGN.exec(text)?.[0];
    if (sign === undefined || sign === "<") return "malformed";
    if (sign === ">") return TAG_SIGN.lastIndex;
    const end = after(text, sign, TAG_SIGN.lastIndex);
    if (typeof end !== "number") return end;
    at = end;
  }
}
