import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { StrictMode } from "react";
import { createRoot } from "react-dom/client";
import { App } from "./App";
import { ApiError } from "./api/client";
import { getSession, subscribe } from "./session/session";
import "./style.css";

const RETRIED = new Set([0, 429, 502, 503, 504]);

const client = new QueryClient({
  defaultOptions: {
    queries: {
      retry: (failures, error) => failures < 2 && error instanceof ApiError && RETRIED.has(error.status),
      refetchOnWindowFocus: false,
      staleTime: 5_000,
    },
  },
});

subscribe(() => {
  if (getSession().principal === undefined) client.clear(); // what was read goes with the key
});

const root = document.getElementById("root");
if (root) {
  createRoot(root).render(
    <StrictMode>
      <QueryClientProvider client={client}><App /></QueryClientProvider>
    </StrictMode>,
  );
}
