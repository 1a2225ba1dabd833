import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { api, read, type Schemas } from "../api/client";
import { reload } from "../api/reload";
import { usePrincipal } from "../session/session";
import { Problem, Table } from "../ui/data";
import { ChoiceField, ConfirmDialog, readForm, TextField } from "../ui/form";
import { List, usePages } from "../ui/list";
import { Name, Time } from "../ui/text";

const KINDS = { agent: "agent", coordinator: "coordinator", user: "user" };
const PERMISSIONS = {
  "memory.read memory.write": "read and write",
  "memory.read": "read",
  "memory.read memory.write memory.admin": "read, write and administer",
};
type Principal = Schemas["Principal"];
type NewKey = Schemas["NewPrincipal"];
type Act = { kind: "rotate" | "revoke"; id: string };

/** Principals and their keys: create, rotate, revoke. A new key is shown once. */
export function PrincipalsScreen() {
  const client = useQueryClient();
  const [created, setCreated] = useState<NewKey>();
  const [act, setAct] = useState<Act>();
  const show = (made?: NewKey) => {
    setCreated(made);
    void reload(client, "principals");
  };
  const pages = usePages(["principals", "pages"], (after) =>
    read(api.GET("/api/v1/principals", { params: { query: { after, total: "none", limit: 100 } } })),
  );
  return (
    <>
      <NewPrincipalForm onCreated={show} />
      {created && <ShownKey created={created} onClose={() => setCreated(undefined)} />}
      <List pages={pages} items={(page) => page.principals} empty="There is no other principal.">
        {(principals) => <PrincipalTable principals={principals} onAct={setAct} />}
      </List>
      {act && <ActDialog act={act} onClose={() => setAct(undefined)} onDone={show} />}
    </>
  );
}

function NewPrincipalForm({ onCreated }: { onCreated: (made: NewKey) => void }) {
  const create = useMutation({
    mutationFn: (form: Record<string, string>) => read(api.POST("/api/v1/principals", {
      body: {
        id: form.id ?? "",
        kind: form.kind as Principal["kind"],
        permissions: (form.permissions ?? "").split(" ") as Principal["permissions"],
        expires_at: form.expires ? new Date(form.expires).toISOString() : undefined,
      },
    })),
    onSuccess: onCreated,
    gcTime: 0,
  });
  return (
    <form className="filters" onSubmit={(event) => {
      event.preventDefault();
      create.mutate(readForm(event.currentTarget));
    }}>
      <TextField label="New principal’s id" name="id" required />
      <ChoiceField label="Kind" name="kind" options={KINDS} />
      <ChoiceField label="May" name="permissions" options={PERMISSIONS} />
      <TextField label="Until" name="expires" hint="such as 2030-12-31; empty: no end" />
      <div className="actions"><button type="submit" className="primary" disabled={create.isPending}>Create</button></div>
      {create.isError && <Problem error={create.error} />}
    </form>
  );
}

function ShownKey({ created, onClose }: { created: NewKey; onClose: () => void }) {
  return (
    <div className="notice" role="status">
      <p>The key of <Name>{created.id}</Name>. It is shown this once; keep it now.</p>
      <pre tabIndex={0} aria-label="The new key" role="region">{created.api_key}</pre>
      <div className="actions"><button type="button" onClick={onClose}>I have kept it</button></div>
    </div>
  );
}

function PrincipalTable({ principals, onAct }: { principals: Principal[]; onAct: (act: Act) => void }) {
  const caller = usePrincipal();
  return (
    <Table label="Principals" head={["Id", "Kind", "May", "Agent type", "Since", "Until", "Change"]}>
      {principals.map(({ id, kind, permissions, agent_type, created_at, expires_at }) => (
        <tr key={id}>
          <th scope="row"><Name>{id}</Name></th>
          <td>{kind}</td>
          <td>{permissions.map((each) => each.replace("memory.", "")).join(", ")}</td>
          <td>{agent_type ? <Name>{agent_type}</Name> : "–"}</td>
          <td><Time>{created_at}</Time></td>
          <td><Time>{expires_at}</Time></td>
          <td>
            {id === caller.id ? "you" : (
              <span className="actions">
                <button type="button" aria-label={`Rotate the key of ${id}`} onClick={() => onAct({ kind: "rotate", id })}>Rotate…</button>
                <button type="button" className="danger" aria-label={`Revoke ${id}`} onClick={() => onAct({ kind: "revoke", id })}>Revoke…</button>
              </span>
            )}
          </td>
        </tr>
      ))}
    </Table>
  );
}

function ActDialog({ act: { kind, id }, onClose, onDone }: { act: Act; onClose: () => void; onDone: (made?: NewKey) => void }) {
  const params = { path: { id } };
  if (kind === "rotate") return (
    <ConfirmDialog title="Make a new key?" action="Make a new key" onClose={onClose}
      onConfirm={async () => onDone(await read(api.POST("/api/v1/principals/{id}/rotate", { params })))}>
      <p>The present key of <Name>{id}</Name> stops working, within a minute everywhere. Whoever uses it needs the new one.</p>
    </ConfirmDialog>
  );
  return (
    <ConfirmDialog title="Revoke this principal?" action="Revoke" onClose={onClose}
      onConfirm={async () => { await api.DELETE("/api/v1/principals/{id}", { params }); onDone(); }}>
      <p>The key of <Name>{id}</Name> stops working, within a minute everywhere. Its memory stays.</p>
    </ConfirmDialog>
  );
}
