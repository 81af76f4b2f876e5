import * as z from "zod";

// Most schemas of the command parse one value: compiling them is no faster, and takes 2 MB.
z.config({ jitless: true });
