/** The calls of the API, typed by its OpenAPI document. */

import createClient from "openapi-fetch";
import { getApiKey, getSession, signOut } from "../session/session";
import { T } from "../texts";
import { parseDocument } from "./json";
import type { components, paths } from "./schema";

export type Schemas = components["schemas"];

/** An answer that isn't a success; status 0 says that there was no answer. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly errors: { field: string; message: string }[] = [],
  ) {
    super(message);
  }
}

async function send(request: Request): Promise<Response> {
  const key = getApiKey();
  if (key !== undefined) request.headers.set("x-api-key", key);
  let response: Response;
  try {
    const credentials = key === undefined ? "same-origin" : "omit"; // the session of a one-time link is a cookie
    response = await fetch(request, { cache: "no-store", credentials, redirect: "error" });
  } catch {
    throw new ApiError(0, "UNREACHABLE", T.service.unreachable);
  }
  const text = await response.text();
  if (!response.ok) throw toError(response.status, text, key);
  const headers = new Headers(response.headers);
  headers.set("content-length", String(text.length)); // so that the client calls json()
  const answer = new Response(text === "" ? null : text, { status: response.status, headers });
  answer.json = async () => parseDocument(text);
  return answer;
}

function toError(status: number, text: string, key: string | undefined): ApiError {
  if (status === 401 && key === getApiKey() && (key ?? getSession().principal) !== undefined) {
    signOut(key === undefined ? T.signIn.ended : T.signIn.wrongKey);
  }
  try {
    const problem = JSON.parse(text) as Schemas["Problem"];
    return new ApiError(status, problem.code, problem.message, problem.errors);
  } catch {
    return new ApiError(status, "UNREADABLE", T.service.status(status));
  }
}

export const api = createClient<paths>({ fetch: send });

/** Return the document of a call; what isn't a success has been thrown. */
export async function read<T>(call: Promise<{ data?: T }>): Promise<T> {
  return (await call).data as T;
}

/** Make the If-Match header of a version. */
export function ifMatch(version: number): { "If-Match": string } {
  return { "If-Match": `"${version}"` };
}
