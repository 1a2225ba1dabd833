/** The visitor's location: the fragment of the address, which is never sent to the service. */

import { useSyncExternalStore } from "react";

export type Location = { path: string[]; params: URLSearchParams };

function subscribe(listener: () => void): () => void {
  window.addEventListener("hashchange", listener);
  return () => window.removeEventListener("hashchange", listener);
}

export function useLocation(): Location {
  const hash = useSyncExternalStore(subscribe, () => window.location.hash);
  const [path = "", query = ""] = hash.replace(/^#\/?/, "").split(/\?(.*)/s);
  return { path: path.split("/").map(decode), params: new URLSearchParams(query) };
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** Make the address of a screen; parameters without a value are left out. */
export function toHref(path: string[], params: Record<string, string | undefined> = {}): string {
  const query = new URLSearchParams();
  for (const [name, value] of Object.entries(params)) if (value) query.set(name, value);
  return `#/${path.map(encodeURIComponent).join("/")}${query.size > 0 ? `?${query}` : ""}`;
}

export function goTo(href: string): void {
  window.location.hash = href;
}
