/** `client.objects`: bytes of any size, under a key in a space. */

import { ConnectionFailedError, MemoryConflictError, MemoryNotFoundError } from "./errors.js";
import type { Paging, Pages } from "./pages.js";
import { Resource, type Schemas, toPath, toRules } from "./resource.js";
import type { NamespaceAccess } from "./administration.js";

export type ObjectHead = Schemas["ObjectHead"];
export type Space = Schemas["Space"];

export interface PutObjectOptions {
  contentType?: string;
  /** Up to 2 KB of JSON. */
  metadata?: Record<string, unknown>;
  /** Seconds, or an ISO 8601 duration. */
  ttl?: number | string;
  sensitivity?: ObjectHead["sensitivity"];
  /** Replace only this version. */
  version?: number;
  /** Store it only if the key has no object. */
  onlyNew?: boolean;
}

export interface StoredObject {
  data: Uint8Array;
  contentType: string;
  version: number;
  metadata: Record<string, unknown>;
}

const AT_ONCE = 100;
const READS = 5;
const MOST_IN_REQUEST = 4_194_304;

/**
 * Objects and their spaces.
 *
 * `agents/AGENT/NAME` is a private space of that principal. Any other name has no slash, and is shared.
 */
export class Objects extends Resource {
  /** Store an object; return its version. */
  async put(
    space: string,
    key: string,
    data: Uint8Array | string,
    options: PutObjectOptions = {},
  ): Promise<number> {
    const content = typeof data === "string" ? new TextEncoder().encode(data) : data;
    const isLarge = content.byteLength > MOST_IN_REQUEST;
    const { contentType = "application/octet-stream", metadata, ttl, sensitivity, version, onlyNew } = options;
    const given = {
      "X-Object-Upload": isLarge ? await this.#upload(space, content, sensitivity) : undefined,
      "Content-Type": contentType,
      "X-Object-Metadata": metadata === undefined ? undefined : escapeAscii(JSON.stringify(metadata)),
      "X-Object-TTL": ttl === undefined ? undefined : String(ttl),
      "X-Object-Sensitivity": sensitivity ?? undefined,
      "If-Match": version === undefined ? undefined : String(version),
      "If-None-Match": onlyNew ? "*" : undefined,
    };
    const headers = Object.fromEntries(Object.entries(given).flatMap(([k, v]) => (v === undefined ? [] : [[k, v]])));
    const body = isLarge ? new Uint8Array() : content;
    const stored = await this.http.send<ObjectHead>("PUT", inSpace(space, key), { content: body, headers });
    return stored.version;
  }

  async #upload(space: string, data: Uint8Array, sensitivity: unknown): Promise<string> {
    const body = { size: data.byteLength, ...(sensitivity === undefined ? {} : { sensitivity }) };
    const upload = await this.send<Schemas["ObjectUpload"]>("POST", `${inSpace(space)}/uploads`, body);
    const sent = await this.http.transfer("PUT", upload.url, data, upload.headers);
    if (!sent.ok && sent.status !== 412) throw refusedByStorage(sent.status);
    return upload.upload_id;
  }

  /** Return an object with its bytes; undefined if there is none. */
  async get(space: string, key: string): Promise<StoredObject | undefined> {
    for (let attempt = 0; attempt < READS; attempt += 1) {
      try {
        const { data, headers, location } = await this.http.getBytes(inSpace(space, key));
        if (location === undefined) return toStored(data, headers);
        const elsewhere = await this.http.transfer("GET", location);
        if (elsewhere.ok) return toStored(new Uint8Array(await elsewhere.arrayBuffer()), headers);
        if (elsewhere.status !== 404) throw refusedByStorage(elsewhere.status);
      } catch (error) {
        if (error instanceof MemoryNotFoundError) return undefined;
        throw error;
      }
    }
    throw new MemoryConflictError("the object changes faster than it can be read; try again");
  }

  /** Return the bytes of the objects that exist, by key. */
  async getMany(space: string, keys: readonly string[]): Promise<Map<string, Uint8Array>> {
    const found = new Map<string, Uint8Array>();
    let rest = [...new Set(keys)];
    while (rest.length > 0) {
      const asked = rest.slice(0, AT_ONCE);
      const page = await this.send<Schemas["Objects"]>("POST", `${inSpace(space)}/read`, { keys: asked });
      for (const { key, data } of page.objects) found.set(key, fromBase64(data ?? ""));
      for (const key of page.too_large) {
        const large = await this.get(space, key);
        if (large !== undefined) found.set(key, large.data);
      }
      rest = [...page.unread, ...rest.slice(AT_ONCE)];
    }
    return found;
  }

  /** Delete an object; return true if it existed. */
  async delete(space: string, key: string, version?: number): Promise<boolean> {
    return this.remove(inSpace(space, key), version);
  }

  /** Delete the objects whose keys begin with a prefix; return their number. */
  async deleteAll(space: string, prefix: string): Promise<number> {
    let deleted = 0;
    for (;;) {
      const query = { prefix };
      const answer = await this.http.send<Schemas["DeletedObjects"]>("DELETE", inSpace(space), { query });
      deleted += answer.deleted;
      if (answer.complete) return deleted;
    }
  }

  /** List the spaces that the caller may use. */
  listSpaces(paging: Paging = {}): Pages<Space> {
    return this.pages("/api/v1/objects", "spaces", paging);
  }

  /** List the objects whose keys begin with a prefix, by key. */
  list(space: string, prefix = "", paging: Paging = {}): Pages<ObjectHead> {
    return this.pages(inSpace(space), "objects", paging, { prefix });
  }

  /** Rename an object; return its version. */
  async rename(space: string, key: string, newKey: string, { overwrite = false } = {}): Promise<number> {
    const body = { from: key, to: newKey, overwrite };
    return (await this.send<ObjectHead>("POST", `${inSpace(space)}/rename`, body)).version;
  }

  /** Change the permissions of a space; return them. */
  async share(
    space: string,
    access?: Record<string, NamespaceAccess>,
    defaultAccess?: NamespaceAccess,
  ): Promise<Space["permissions"]> {
    const permissions = {
      ...(defaultAccess === undefined ? {} : { default: defaultAccess }),
      ...(access === undefined ? {} : { allow: toRules(access) }),
    };
    return (await this.send<Space>("PATCH", inSpace(space), { permissions })).permissions;
  }
}

/** Return the path of a space, or of an object in it. */
function inSpace(space: string, ...key: string[]): string {
  const parts = space.split("/");
  const [first = "", owner = "", name = ""] = parts;
  if (parts.length === 1) return toPath("/api/v1/objects", first, ...key);
  if (parts.length !== 3 || first !== "agents") {
    throw new TypeError("name a space `reports`, or `agents/AGENT/reports`");
  }
  return toPath(`${toPath("/api/v1/agents", decodeURIComponent(owner))}/objects`, name, ...key);
}

function toStored(data: Uint8Array, headers: Headers): StoredObject {
  return {
    data,
    contentType: headers.get("content-type") ?? "application/octet-stream",
    version: Number(headers.get("etag")?.replace(/\D/g, "")),
    metadata: JSON.parse(headers.get("x-object-metadata") ?? "{}") as Record<string, unknown>,
  };
}

function refusedByStorage(status: number): ConnectionFailedError {
  return new ConnectionFailedError(`the storage of large objects answered HTTP ${status}`);
}

/** Headers hold ASCII only. */
function escapeAscii(text: string): string {
  return text.replace(/[^\x20-\x7e]/g, (each) => `\\u${each.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function fromBase64(text: string): Uint8Array {
  return Uint8Array.from(atob(text), (each) => each.charCodeAt(0));
}
