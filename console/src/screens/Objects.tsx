import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { parseValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { T, toWord } from "../texts";
import { Details, Loaded, Table } from "../ui/data";
import { FilterBar } from "../ui/filters";
import { ConfirmDialog } from "../ui/form";
import { List, usePages } from "../ui/list";
import { toHref } from "../ui/location";
import { Readable } from "../ui/memory";
import { LongText, Name, Sentence, Time } from "../ui/text";
import { Permissions, type Changed } from "./Permissions";

const PAGE = 100;
const SHOWN_BYTES = 4096; // of what is no text
type StoredObject = Schemas["ObjectHead"];

/** The spaces of objects that the caller may know of. */
export function SpacesScreen() {
  const pages = usePages(["spaces"], (after) =>
    read(api.GET("/api/v1/objects", { params: { query: { after, total: "none", limit: PAGE } } })),
  );
  return (
    <>
      <p className="hint">{T.objects.intro}</p>
      <List pages={pages} items={(page) => page.spaces} empty={T.objects.none}>
        {(spaces) => (
          <Table label={T.objects.spaces} head={[T.terms.space, T.terms.owner, T.objects.others, T.objects.exceptions, T.terms.changed]}>
            {spaces.map(({ space, owner, permissions, updated_at }) => (
              <tr key={space}>
                <th scope="row"><a href={toHref(["space", space])}><Name>{space}</Name></a></th>
                <td><Name>{owner}</Name></td>
                <td>{toWord(permissions.default)}</td>
                <td className="number">{permissions.allow.length}</td>
                <td><Time>{updated_at}</Time></td>
              </tr>
            ))}
          </Table>
        )}
      </List>
    </>
  );
}

/** A space: its objects by key, without what they hold, and who may use it. */
export function SpaceScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const prefix = params.get("prefix") ?? undefined;
  const pages = usePages(["objects", id, prefix], (after) =>
    read(api.GET("/api/v1/objects/{space}", { params: { path: { space: id }, query: { prefix, after, values: "omit", limit: PAGE } } })),
  );
  return (
    <>
      <p className="subject"><Name>{id}</Name></p>
      <FilterBar path={["space", id]} params={params} filters={{ "starts-with": { param: "prefix" } }} />
      <List pages={pages} items={(page) => page.objects} isByButton empty={T.objects.noneMatch}>
        {(objects) => <ObjectTable objects={objects} />}
      </List>
      <h2>{T.objects.permissions}</h2>
      <SpacePermissions id={id} />
    </>
  );
}

function ObjectTable({ objects }: { objects: StoredObject[] }) {
  return (
    <Table label={T.objects.files} head={[T.terms.key, T.terms.bytes, T.terms.contentType, T.terms.changed, T.terms.by, T.terms.expires, T.terms.sensitivity]}>
      {objects.map(({ space, key, size, content_type, updated_at, created_by, expires_at, sensitivity }) => (
        <tr key={key}>
          <th scope="row"><a href={toHref(["object"], { space, key })}><Name>{key}</Name></a></th>
          <td className="number">{size.toLocaleString()}</td>
          <td><Name>{content_type}</Name></td>
          <td><Time>{updated_at}</Time></td>
          <td><Name>{created_by}</Name></td>
          <td><Time>{expires_at}</Time></td>
          <td>{toWord(sensitivity ?? T.terms.nothing)}</td>
        </tr>
      ))}
    </Table>
  );
}

function SpacePermissions({ id }: { id: string }) {
  const client = useQueryClient();
  const query = useQuery({ queryKey: ["spaces", "permissions", id], queryFn: () => findSpace(id) });
  const change = async (version: number, permissions: Changed) => {
    await api.PATCH("/api/v1/objects/{space}", {
      params: { path: { space: id }, header: ifMatch(version) },
      body: { permissions },
    });
    await reload(client, "spaces");
  };
  return (
    <Loaded query={query}>
      {(space) => space === null ? <p className="empty">{T.objects.noSpace}</p> : (
        <>
          <p className="hint"><Sentence text={T.objects.owned} of={{ owner: <Name>{space.owner}</Name> }} /></p>
          <Permissions key={space.version} name={id} shared={space} change={(permissions) => change(space.version, permissions)} />
        </>
      )}
    </Loaded>
  );
}

/** Find a space among those that the caller may know of. */
async function findSpace(id: string): Promise<Schemas["Space"] | null> {
  let after: string | undefined;
  do {
    const page = await read(api.GET("/api/v1/objects", { params: { query: { after, total: "none", limit: 1000 } } }));
    const found = page.spaces.find(({ space }) => space === id);
    if (found) return found;
    after = page.next;
  } while (after !== undefined);
  return null;
}

/** One object; what it holds is fetched when somebody asks for it. */
export function ObjectScreen({ params }: { params: URLSearchParams }) {
  const space = params.get("space") ?? "";
  const id = params.get("key") ?? "";
  const [isAsked, setAsked] = useState(false);
  const [isDeleted, setDeleted] = useState(false);
  const query = useQuery({
    queryKey: ["object", space, id],
    queryFn: async () => {
      const params = { path: { space }, query: { prefix: id, values: "omit" as const, limit: 1 } };
      const { objects } = await read(api.GET("/api/v1/objects/{space}", { params }));
      return objects.find(({ key }) => key === id) ?? null;
    },
    enabled: !isDeleted,
  });
  const back = <a href={toHref(["space", space])}><Sentence text={T.objects.back} of={{ space: <Name>{space}</Name> }} /></a>;
  if (isDeleted) return <p role="status">{T.objects.deleted} {back}</p>;
  return (
    <>
      <p className="actions">{back}</p>
      <Loaded query={query}>
        {(object) => object === null ? <p className="empty">{T.objects.missing}</p> : (
          <>
            <ObjectDetails object={object} />
            <h2>{T.objects.content}</h2>
            {isAsked ? <Bytes space={space} id={id} /> : (
              <button type="button" className="primary" onClick={() => setAsked(true)}>{T.objects.show}</button>
            )}
            <DeleteObject object={object} onDeleted={() => setDeleted(true)} />
          </>
        )}
      </Loaded>
    </>
  );
}

function ObjectDetails({ object }: { object: StoredObject }) {
  return (
    <Details rows={[
      [T.terms.key, <Name>{object.key}</Name>],
      [T.terms.space, <Name>{object.space}</Name>],
      [T.terms.bytes, object.size.toLocaleString()],
      [T.terms.contentType, <Name>{object.content_type}</Name>],
      [T.terms.changed, <Sentence text={T.terms.timeBy} of={{ time: <Time>{object.updated_at}</Time>, who: <Name>{object.created_by}</Name> }} />],
      [T.terms.version, object.version],
      [T.terms.expires, <Time>{object.expires_at}</Time>],
      [T.terms.sensitivity, toWord(object.sensitivity ?? T.terms.nothing)],
    ]} />
  );
}

function Bytes({ space, id }: { space: string; id: string }) {
  const query = useQuery({
    queryKey: ["bytes", space, id],
    queryFn: () => read(api.POST("/api/v1/objects/{space}/read", { params: { path: { space } }, body: { keys: [id] } })),
    gcTime: 0,
  });
  return (
    <Loaded query={query}>
      {({ objects: [object] }) => object === undefined
        ? <p className="notice">{T.objects.tooLarge}</p>
        : (
          <>
            <Content bytes={object.data} />
            {object.metadata && Object.keys(object.metadata).length > 0 && (
              <><h3>{T.objects.metadata}</h3><Readable label={T.objects.metadata} value={object.metadata} /></>
            )}
          </>
        )}
    </Loaded>
  );
}

function Content({ bytes }: { bytes: string }) {
  const text = renderBytes(bytes);
  const value = parseJson(text);
  return value === undefined ? <LongText label={T.objects.content} text={text} /> : <Readable label={T.objects.content} value={value} />;
}

/** Parse a JSON object or array; undefined for any other text. */
function parseJson(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined;
  try {
    return parseValue(text);
  } catch {
    return undefined;
  }
}

/** Render bytes: text as text, whatever its type is said to be; of all else the first bytes. */
function renderBytes(base64: string): string {
  const binary = atob(base64);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const first = [...bytes.subarray(0, SHOWN_BYTES)].map((each) => each.toString(16).padStart(2, "0")).join(" ");
    return `${T.objects.binary(bytes.length)}\n${first}`;
  }
}

function DeleteObject({ object: { space, key, version, size }, onDeleted }: { object: StoredObject; onDeleted: () => void }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  if (!can(usePrincipal(), "memory.write")) return null;
  return (
    <div className="actions">
      <button type="button" className="danger" onClick={() => setAsking(true)}>{T.actions.delete}</button>
      {isAsking && (
        <ConfirmDialog title={T.objects.deleteTitle} action={T.actions.deleteNow} onClose={() => setAsking(false)} onConfirm={async () => {
          await api.DELETE("/api/v1/objects/{space}/{key}", { params: { path: { space, key }, header: ifMatch(version) } });
          onDeleted();
          void reload(client, "objects");
        }}>
          <p>
            <Sentence text={T.objects.deleteWarning} of={{ key: <Name>{key}</Name>, space: <Name>{space}</Name>, size: size.toLocaleString() }} />
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
