import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { can, usePrincipal } from "../session/session";
import { List, Loaded, Table, usePages } from "../ui/data";
import { ChoiceField, ConfirmDialog, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { Name, Time } from "../ui/text";
import { Explanation } from "./Access";

const ACCESS = { none: "none", read: "read", write: "write", admin: "admin" };
type Namespace = Schemas["Namespace"];
type Access = keyof typeof ACCESS;
type Change = { who?: string; from: string; to: Access }; // without `who`: everybody else

/** The shared namespaces that the caller may know of, and what others may do in them. */
export function NamespacesScreen() {
  return (
    <>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["namespace", readForm(event.currentTarget).namespace ?? ""]));
      }}>
        <TextField label="Namespace" name="namespace" required hint="a name that ends with * sets the default for all that begin so" />
        <div className="actions"><button type="submit">Open</button></div>
      </form>
      <NamespaceTable />
    </>
  );
}

export function NamespaceTable() {
  const pages = usePages(["namespaces"], (after) =>
    read(api.GET("/api/v1/memory/namespaces", { params: { query: { after, total: "none", limit: 50 } } })),
  );
  return (
    <List pages={pages} items={(page) => page.namespaces} empty="There is no namespace yet.">
      {(namespaces) => (
        <Table label="All namespaces" head={["Namespace", "Others may", "Exceptions", "Changed", "See also"]}>
          {namespaces.map(({ namespace, permissions, updated_at }) => (
            <tr key={namespace}>
              <th scope="row"><a href={toHref(["namespace", namespace])}><Name>{namespace}</Name></a></th>
              <td>{permissions.default}</td>
              <td className="number">{permissions.allow.length}</td>
              <td><Time>{updated_at}</Time></td>
              <td>
                <a href={toHref(["memory"], { namespace, memory_type: "semantic" })}>Entries</a>{" "}
                <a href={toHref(["timeline"], { log: "namespace", name: namespace })}>Timeline</a>
              </td>
            </tr>
          ))}
        </Table>
      )}
    </List>
  );
}

/** One namespace: who may do what, and why. */
export function NamespaceScreen({ id, params }: { id: string; params: URLSearchParams }) {
  const caller = usePrincipal();
  const who = params.get("principal") ?? caller.id;
  const query = useQuery({
    queryKey: ["namespace", id],
    queryFn: () => read(api.GET("/api/v1/memory/namespaces/{namespace}", { params: { path: { namespace: id } } })),
  });
  return (
    <>
      <p className="actions">
        <Name>{id}</Name>
        <a href={toHref(["memory"], { namespace: id, memory_type: "semantic" })}>Entries</a>
        <a href={toHref(["timeline"], { log: "namespace", name: id })}>Timeline</a>
      </p>
      <h2>Who may do what</h2>
      <Loaded query={query}>{(found) => <Permissions key={found.version} namespace={found} />}</Loaded>
      <h2>Why may somebody read this?</h2>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["namespace", id], readForm(event.currentTarget)));
      }}>
        <TextField label="Who" name="principal" initial={who} required />
        <div className="actions"><button type="submit">Explain</button></div>
      </form>
      <Explanation question={{ principal: who, kind: "namespace", id }} />
    </>
  );
}

/** The permissions, with fields to change them; what will change is shown before it happens. */
function Permissions({ namespace }: { namespace: Namespace }) {
  const [changes, setChanges] = useState<Change[]>();
  const [isEmpty, setEmpty] = useState(false);
  const { permissions, version, updated_at } = namespace;
  const mayChange = can(usePrincipal(), "memory.write") || can(usePrincipal(), "memory.admin");
  return (
    <form onSubmit={(event) => {
      event.preventDefault();
      const found = readChanges(namespace, readForm(event.currentTarget));
      setEmpty(found.length === 0);
      if (found.length > 0) setChanges(found);
    }}>
      <p>Version {version}, of <Time>{updated_at}</Time>. An access includes those before it: none, read, write, admin.</p>
      <Table label="Permissions" head={["Who", "Access"]}>
        {permissions.allow.map(({ agent, access }, at) => (
          <tr key={agent}>
            <th scope="row"><Name>{agent}</Name></th>
            <td><AccessChoice label={`Access of ${agent}`} name={`allow ${at}`} initial={access} isFixed={!mayChange} /></td>
          </tr>
        ))}
        <tr>
          <th scope="row">everybody else</th>
          <td><AccessChoice label="Access of everybody else" name="default" initial={permissions.default} isFixed={!mayChange} /></td>
        </tr>
      </Table>
      {mayChange && (
        <>
          <div className="filters">
            <TextField label="Somebody else’s id" name="who" />
            <ChoiceField label="Access" name="access" initial="read" options={ACCESS} />
            <div className="actions"><button type="submit" className="primary">Change…</button></div>
          </div>
          {isEmpty && <p role="status">Nothing is changed.</p>}
        </>
      )}
      {changes && <ChangeDialog namespace={namespace} changes={changes} onClose={() => setChanges(undefined)} />}
    </form>
  );
}

type AccessProps = { label: string; name: string; initial: string; isFixed: boolean };

function AccessChoice({ label, name, initial, isFixed }: AccessProps) {
  if (isFixed) return <>{initial}</>;
  return (
    <select name={name} defaultValue={initial} aria-label={label}>
      {Object.keys(ACCESS).map((each) => <option key={each}>{each}</option>)}
    </select>
  );
}

function readChanges({ permissions }: Namespace, form: Record<string, string>): Change[] {
  const listed = permissions.allow.map(({ agent, access }, at) => ({ who: agent, from: access as string, to: form[`allow ${at}`] as Access }));
  const added = form.who ? [{ who: form.who, from: permissions.default as string, to: form.access as Access }] : [];
  const others: Change = { from: permissions.default, to: form.default as Access };
  return [...listed.filter(({ from, to }) => from !== to), ...added, ...(others.from === others.to ? [] : [others])];
}

function ChangeDialog({ namespace: { namespace, version }, changes, onClose }: { namespace: Namespace; changes: Change[]; onClose: () => void }) {
  const client = useQueryClient();
  const change = async () => {
    const others = changes.find(({ who }) => who === undefined)?.to;
    const allow = changes.flatMap(({ who, to }) => (who === undefined ? [] : [{ agent: who, access: to }]));
    await api.PATCH("/api/v1/memory/namespaces/{namespace}", {
      params: { path: { namespace }, header: ifMatch(version) },
      body: { permissions: { default: others, allow } },
    });
    await Promise.all(["namespace", "namespaces", "access"].map((each) => client.invalidateQueries({ queryKey: [each] })));
  };
  return (
    <ConfirmDialog title="Change who may do what?" action="Change" onConfirm={change} onClose={onClose}>
      <p>In <Name>{namespace}</Name>, from now on:</p>
      <ul>
        {changes.map(({ who, from, to }) => (
          <li key={who ?? ""}>{who === undefined ? "everybody else" : <Name>{who}</Name>}: {from} → <strong>{to}</strong></li>
        ))}
      </ul>
      <p>It counts for all entries in it. The audit log keeps who changed it.</p>
    </ConfirmDialog>
  );
}
