import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { api, ifMatch, read, type Schemas } from "../api/client";
import { renderValue } from "../api/json";
import { reload } from "../api/reload";
import { can, usePrincipal } from "../session/session";
import { Details, Loaded } from "../ui/data";
import { ChoiceField, ConfirmDialog, Field, readForm, TextField } from "../ui/form";
import { goTo, toHref } from "../ui/location";
import { LongText, Name, Tags, Time } from "../ui/text";
import { usePrincipals } from "./choices";

const LIMITS = {
  max_working_memory_per_task: "Working entries of a task, at most",
  max_episodic_memory_per_agent: "Episodic entries of an agent, at most",
} as const;
const NAMESPACES = {
  allowed_semantic_namespaces: "Shared namespaces that are allowed",
  denied_semantic_namespaces: "Shared namespaces that are denied",
} as const;
const ARCHIVE = { "": "as the task says", true: "always", false: "not required" };
const OWN = [...Object.keys(LIMITS), ...Object.keys(NAMESPACES), "memory_archive_required"];
type Stored = Schemas["CoordinatorGuardrails"];
type Change = { name: string; label: string; from: unknown; to: unknown };

/** What bounds a coordinator, its tasks and who works on them. */
export function GuardrailsScreen({ params }: { params: URLSearchParams }) {
  const caller = usePrincipal();
  const id = params.get("coordinator_id") ?? (caller.kind === "coordinator" ? caller.id : "");
  const coordinators = usePrincipals().filter(({ kind }) => kind === "coordinator").map((each) => each.id);
  return (
    <>
      <p>Guardrails bind a coordinator, its tasks and who is assigned to one. They stop reads and writes, and remove nothing.</p>
      <form className="filters" onSubmit={(event) => {
        event.preventDefault();
        goTo(toHref(["guardrails"], readForm(event.currentTarget)));
      }}>
        <TextField label="Coordinator" name="coordinator_id" initial={id} options={coordinators} required />
        <div className="actions"><button type="submit" className="primary">Show guardrails</button></div>
      </form>
      {coordinators.length > 0 && (
        <p className="actions">
          {coordinators.map((each) => <a key={each} href={toHref(["guardrails"], { coordinator_id: each })}><Name>{each}</Name></a>)}
        </p>
      )}
      {id && <CoordinatorGuardrails id={id} />}
    </>
  );
}

function CoordinatorGuardrails({ id }: { id: string }) {
  const isAdmin = can(usePrincipal(), "memory.admin");
  const query = useQuery({
    queryKey: ["guardrails", id],
    queryFn: () => read(api.GET("/api/v1/coordinators/{coordinator_id}/guardrails", { params: { path: { coordinator_id: id } } })),
  });
  return (
    <Loaded query={query}>
      {(found) => (
        <>
          <h2>Of <Name>{id}</Name></h2>
          <GuardrailDetails found={found} />
          {isAdmin ? <GuardrailsForm key={found.version} id={id} found={found} />
            : <p>With <code>memory.admin</code> they can be changed.</p>}
        </>
      )}
    </Loaded>
  );
}

function GuardrailDetails({ found: { guardrails, version, updated_at } }: { found: Stored }) {
  const others = Object.entries(guardrails).filter(([name]) => !OWN.includes(name));
  return (
    <>
      <Details rows={[
        ...Object.entries(LIMITS).map(([name, label]) => [label, guardrails[name as keyof typeof LIMITS]?.toLocaleString() ?? "no limit"] as [string, string]),
        ...Object.entries(NAMESPACES).map(([name, label]) => {
          const listed = guardrails[name as keyof typeof NAMESPACES];
          return [label, listed?.length ? <Tags tags={listed} /> : name.startsWith("allowed") && !listed ? "all" : "none"] as [string, ReactNode];
        }),
        ["Memory is archived at a task’s end", ARCHIVE[String(guardrails.memory_archive_required ?? "") as keyof typeof ARCHIVE]],
        ["Version", version === 0 ? "none are set" : <>{version}, of <Time>{updated_at}</Time></>],
      ]} />
      {others.length > 0 && <><h3>Others, which memory doesn&rsquo;t use</h3><LongText label="Other guardrails" text={renderValue(Object.fromEntries(others))} /></>}
    </>
  );
}

function GuardrailsForm({ id, found }: { id: string; found: Stored }) {
  const client = useQueryClient();
  const [changes, setChanges] = useState<Change[]>();
  const [isEmpty, setEmpty] = useState(false);
  const { guardrails } = found;
  const change = async () => {
    await api.PATCH("/api/v1/coordinators/{coordinator_id}/guardrails", {
      params: { path: { coordinator_id: id }, header: ifMatch(found.version) },
      body: { guardrails: Object.fromEntries(changes!.map(({ name, to }) => [name, to])) },
    });
    await reload(client, "guardrails");
  };
  return (
    <form aria-label="Change the guardrails" onSubmit={(event) => {
      event.preventDefault();
      const asked = readChanges(found, readForm(event.currentTarget));
      setEmpty(asked.length === 0);
      if (asked.length > 0) setChanges(asked);
    }}>
      <div className="filters">
        {Object.entries(LIMITS).map(([name, label]) => (
          <TextField key={name} label={label} name={name} hint="a number; empty: no limit" pattern="[0-9]*"
            initial={String(guardrails[name as keyof typeof LIMITS] ?? "")} />
        ))}
        {Object.entries(NAMESPACES).map(([name, label]) => (
          <Field key={name} label={label} hint="one a line; billing.* for all that begin so">
            {(field, hint) => (
              <textarea id={field} name={name} rows={3} spellCheck={false} aria-describedby={hint}
                defaultValue={guardrails[name as keyof typeof NAMESPACES]?.join("\n") ?? ""} />
            )}
          </Field>
        ))}
        <ChoiceField label="Archive at a task’s end" name="memory_archive_required" options={ARCHIVE}
          initial={String(guardrails.memory_archive_required ?? "")} />
      </div>
      <div className="actions"><button type="submit" className="primary">Change…</button></div>
      {isEmpty && <p role="status">Nothing is changed.</p>}
      {changes && (
        <ConfirmDialog title="Change these guardrails?" action="Change" onConfirm={change} onClose={() => setChanges(undefined)}>
          <p>For <Name>{id}</Name>, all its open tasks and who is assigned to one, from now on:</p>
          <ul>
            {changes.map(({ name, label, from, to }) => (
              <li key={name}>{label}: <Name>{JSON.stringify(from)}</Name> → <strong><Name>{JSON.stringify(to)}</Name></strong></li>
            ))}
          </ul>
        </ConfirmDialog>
      )}
    </form>
  );
}

/** Read from a form what differs from the guardrails; null takes one away. */
function readChanges({ guardrails }: Stored, form: Record<string, string>): Change[] {
  const lines = (text: string | undefined) => (text ?? "").split(/\r?\n/).filter((line) => line !== "");
  const fields: Change[] = [
    ...Object.entries(LIMITS).map(([name, label]) => ({
      name, label, from: guardrails[name as keyof typeof LIMITS], to: form[name] ? Number(form[name]) : null,
    })),
    ...Object.entries(NAMESPACES).map(([name, label]) => {
      const from = guardrails[name as keyof typeof NAMESPACES];
      const listed = lines(form[name]);
      return { name, label, from, to: listed.length > 0 || from?.length === 0 ? listed : null };
    }),
    {
      name: "memory_archive_required", label: "Archive at a task’s end", from: guardrails.memory_archive_required,
      to: form.memory_archive_required ? form.memory_archive_required === "true" : null,
    },
  ];
  return fields.filter(({ from, to }) => JSON.stringify(from) !== JSON.stringify(to));
}
