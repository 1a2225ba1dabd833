import { defineConfig } from "vite";

export default defineConfig({
  base: "/console/",
  logLevel: "warn",
  build: {
    outDir: "../functions/api/console",
    emptyOutDir: true,
    // the page's policy bars data: addresses and inline code
    assetsInlineLimit: 0,
    modulePreload: { polyfill: false },
    target: "es2023",
    rollupOptions: {
      onwarn(warning, warn) {
        // TanStack Query marks its modules for React's server components
        if (warning.code !== "MODULE_LEVEL_DIRECTIVE") warn(warning);
      },
    },
  },
});
