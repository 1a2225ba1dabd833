import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { Details, Loaded, Table } from "../ui/data";
import { ConfirmDialog, readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Time } from "../ui/text";
import { Permissions, type Changed } from "./Permissions";

const PAGE = 100;
const SHOWN_BYTES = 4096; // of what is no text
type StoredObject = Schemas["Object"];

/** The spaces of objects that the caller may know of. */
export function SpacesScreen() {
  const pages = usePages(["spaces"], (after) =>
    read(api.GET("/api/v1/objects", { params: { query: { after, total: "none", limit: PAGE } } })),
  );
  return (
    <>
      <p>Objects are bytes under a key. A space is private to its maker, unless it has permissions.</p>
      <List pages={pages} items={(page) => page.spaces} empty="There is no space yet.">
        {(spaces) => (
          <Table label="Spaces" head={["Space", "Owner", "Others may", "Exceptions", "Changed"]}>
            {spaces.map(({ space, owner, permissions, updated_at }) => (
              <tr key={space}>
                <th scope="row"><a href={toHref(["space", space])}><Name>{space}</Name></a></th>
                <td><Name>{owner}</Name></td>
                <td>{permissions.default}</td>
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
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["space", id], readForm(event.currentTarget)));
      }}>
        <TextField label="Keys that begin with" name="prefix" initial={prefix} />
        <div className="actions"><button type="submit" className="primary">Filter</button></div>
      </form>
      <List pages={pages} items={(page) => page.objects} isByButton empty="No object’s key fits.">
        {(objects) => <ObjectTable objects={objects} />}
      </List>
      <h2>Who may do what</h2>
      <SpacePermissions id={id} />
    </>
  );
}

function ObjectTable({ objects }: { objects: StoredObject[] }) {
  return (
    <Table label="Objects" head={["Key", "Bytes", "Content type", "Changed", "By", "Expires", "Sensitivity"]}>
      {objects.map(({ space, key, size, content_type, updated_at, created_by, expires_at, sensitivity }) => (
        <tr key={key}>
          <th scope="row"><a href={toHref(["object"], { space, key })}><Name>{key}</Name></a></th>
          <td className="number">{size.toLocaleString()}</td>
          <td><Name>{content_type}</Name></td>
          <td><Time>{updated_at}</Time></td>
          <td><Name>{created_by}</Name></td>
          <td><Time>{expires_at}</Time></td>
          <td>{sensitivity ?? "–"}</td>
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
      {(space) => space === null ? <p className="empty">Nobody has made this space yet, or you may not know of it.</p> : (
        <>
          <p>It belongs to <Name>{space.owner}</Name>, who may do everything in it.</p>
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
  const back = <a href={toHref(["space", space])}>All objects of <Name>{space}</Name></a>;
  if (isDeleted) return <p role="status">The object is deleted. {back}</p>;
  return (
    <>
      <p className="actions">{back}</p>
      <Loaded query={query}>
        {(object) => object === null ? <p className="empty">There is no such object.</p> : (
          <>
            <ObjectDetails object={object} />
            <h2>What it holds</h2>
            {isAsked ? <Bytes space={space} id={id} /> : (
              <button type="button" className="primary" onClick={() => setAsked(true)}>Show what it holds</button>
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
      ["Key", <Name>{object.key}</Name>],
      ["Space", <Name>{object.space}</Name>],
      ["Bytes", object.size.toLocaleString()],
      ["Content type", <Name>{object.content_type}</Name>],
      ["Changed", <><Time>{object.updated_at}</Time> by <Name>{object.created_by}</Name></>],
      ["Version", object.version],
      ["Expires", <Time>{object.expires_at}</Time>],
      ["Sensitivity", object.sensitivity ?? "–"],
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
        ? <p className="notice">It is too large for one answer, or gone: read it over the API.</p>
        : (
          <>
            <LongText label="What it holds" text={renderBytes(object.data)} />
            {object.metadata && Object.keys(object.metadata).length > 0 && (
              <><h3>Metadata</h3><LongText label="Metadata" text={renderValue(object.metadata)} /></>
            )}
          </>
        )}
    </Loaded>
  );
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
    return `No UTF-8 text. The first bytes of ${bytes.length.toLocaleString()}:\n${first}`;
  }
}

function DeleteObject({ object: { space, key, version, size }, onDeleted }: { object: StoredObject; onDeleted: () => void }) {
  const client = useQueryClient();
  const [isAsking, setAsking] = useState(false);
  if (!can(usePrincipal(), "memory.write")) return null;
  return (
    <div className="actions">
      <button type="button" className="danger" onClick={() => setAsking(true)}>Delete…</button>
      {isAsking && (
        <ConfirmDialog title="Delete this object?" action="Delete for good" onClose={() => setAsking(false)} onConfirm={async () => {
          await api.DELETE("/api/v1/objects/{space}/{key}", { params: { path: { space, key }, header: ifMatch(version) } });
          onDeleted();
          void reload(client, "objects");
        }}>
          <p>
            <Name>{key}</Name> in <Name>{space}</Name>, {size.toLocaleString()} bytes, is removed. Nobody can bring it back.
          </p>
        </ConfirmDialog>
      )}
    </div>
  );
}
