import { stayOnDrops } from "../drops.ts";
import { enhancePasswords } from "./fields.ts";

// The script of the pages that ask for passwords. They work without it.
stayOnDrops();
enhancePasswords(document);
