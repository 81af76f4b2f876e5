// Links the `fileferry` of this repository into `node_modules`, so that the examples can import it by name.

import { linkPackage } from "../link.mjs";

await linkPackage(import.meta.url);
