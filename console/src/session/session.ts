/**
 * Who is signed in: by a key, which only this module holds, in a variable; or by the session that the one-time link of
 * a local service has opened, which is a cookie that scripts can't read.
 */

import { useSyncExternalStore } from "react";
import type { Schemas } from "../api/client";
import { T } from "../texts";

export type Principal = Schemas["Principal"];
export type Session = { principal?: Principal; notice?: string };

const IDLE_MS = 15 * 60_000;

const MARK = "agent-memory-signed-in";

let apiKey: string | undefined;
let isResumed = false;
let session: Session = {};
let idle: ReturnType<typeof setTimeout> | undefined;
/** Tells the other tabs of this browser that a session has ended. */
const tabs = new BroadcastChannel("agent-memory-session");
tabs.onmessage = () => { if (isResumed) signOut(T.signIn.otherTab); };
const listeners = new Set<() => void>();

function change(next: Session): void {
  session = next;
  for (const listener of listeners) listener();
}

export function getApiKey(): string | undefined {
  return apiKey;
}

/** Use a key for the requests to come; `load` asks the service whose it is. */
export async function signIn(key: string, load: () => Promise<Principal>): Promise<void> {
  apiKey = key;
  try {
    const principal = await load();
    change({ principal });
    restartIdleTimer();
  } catch (error) {
    apiKey = undefined;
    throw error;
  }
}

/** Tell whether the browser may have a session, which outlives a reload. */
export function hasCookie(): boolean {
  return document.cookie.includes(`${MARK}=yes`);
}

/** Use the browser's session; `load` asks the service whose it is. */
export async function resume(load: () => Promise<Principal>): Promise<void> {
  isResumed = true;
  try {
    change({ principal: await load() });
  } catch (error) {
    signOut(T.signIn.resumeFailed);
    throw error;
  }
}

/** Forget the key or the session, and everything that was read with it. */
export function signOut(notice?: string): void {
  apiKey = undefined;
  if (isResumed) endResumed();
  clearTimeout(idle);
  change({ notice });
}

function endResumed(): void {
  isResumed = false;
  tabs.postMessage("ended");
  document.cookie = `${MARK}=; Path=/; Max-Age=0; SameSite=Strict`;
  void fetch("/console/sign-out", { method: "POST", keepalive: true }).catch(() => undefined);
}

function restartIdleTimer(): void {
  clearTimeout(idle);
  if (apiKey === undefined) return;
  idle = setTimeout(() => signOut(T.signIn.idle), IDLE_MS);
}

for (const activity of ["pointerdown", "keydown", "wheel"]) {
  document.addEventListener(activity, restartIdleTimer, { passive: true });
}

export function subscribe(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

export function getSession(): Session {
  return session;
}

export function useSession(): Session {
  return useSyncExternalStore(subscribe, getSession);
}

/** The principal that is signed in; screens are shown to one only. */
export function usePrincipal(): Principal {
  const { principal } = useSession();
  if (principal === undefined) throw new Error("nobody is signed in");
  return principal;
}

export function can(principal: Principal, permission: Principal["permissions"][number]): boolean {
  return principal.permissions.includes(permission);
}
