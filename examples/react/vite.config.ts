import react from "@vitejs/plugin-react";
import { defineConfig } from "vite";

/** The package that this repository builds. An application of yours installs it, and needs neither `alias` nor `fs`. */
const fileferry = new URL("../../dist", import.meta.url).pathname;

export default defineConfig({
  plugins: [react()],
  resolve: { alias: { fileferry }, dedupe: ["react"] },
  // The origin that fileferry.json lists.
  server: { host: "127.0.0.1", port: 5173, strictPort: true, fs: { allow: [".", fileferry] } },
});
