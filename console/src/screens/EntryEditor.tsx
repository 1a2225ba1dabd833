import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useId, useRef, useState } from "react";
import { api, ApiError, ifMatch, read, type Schemas } from "../api/client";
import { parseValue, renderValue, showInvisible } from "../api/json";
import { reload } from "../api/reload";
import { Problem } from "../ui/data";
import { ChoiceField, Field, readForm } from "../ui/form";
import { LongText, Name, Time } from "../ui/text";
import { readEntry, type Entry } from "./entries";

const SENSITIVITIES = { "": "none", public: "public", internal: "internal", confidential: "confidential", restricted: "restricted" };
const PRIORITIES = { low: "low", normal: "normal", high: "high" };
type Change = Schemas["EntryChangeBody"];

/** Changes an entry under the version that was read; after a conflict both texts stand side by side. */
export function EntryEditor({ entry, onClose }: { entry: Entry; onClose: () => void }) {
  const client = useQueryClient();
  const form = useRef<HTMLFormElement>(null);
  const [base] = useState(entry);
  const [present, setPresent] = useState<Entry>();
  const id = useId();
  const version = (present ?? base).version;
  const save = useMutation({
    mutationFn: async () => {
      const body = readChange(base, readForm(form.current!));
      if (Object.keys(body).length === 0) throw new Error("Nothing is changed.");
      const params = { path: { id: base.id }, header: ifMatch(version) };
      return read(api.PATCH("/api/v1/memory/{id}", { params, body }));
    },
    onSuccess: (saved) => {
      client.setQueryData(["entry", saved.id], saved);
      void reload(client, "events");
      onClose();
    },
    onError: async (error) => {
      if (error instanceof ApiError && error.code === "VERSION_MISMATCH") setPresent(await readEntry(base.id));
    },
    gcTime: 0,
  });
  const takePresent = () => {
    client.setQueryData(["entry", base.id], present);
    onClose();
  };
  const isConflict = save.error instanceof ApiError && save.error.code === "VERSION_MISMATCH";
  return (
    <form ref={form} className="editor" onSubmit={(event) => { event.preventDefault(); save.mutate(); }}>
      {save.isError && !isConflict && <Problem error={save.error} />}
      {present && (
        <p role="alert" className="problem">
          <strong>Somebody else has changed the entry.</strong> You edited version {base.version}; by now it is version{" "}
          {present.version}, of <Time>{present.updated_at}</Time>{present.curated_by && <> by <Name>{present.curated_by}</Name></>}.
          Your text is kept. Compare, then choose.
        </p>
      )}
      <div className={present ? "side-by-side" : undefined}>
        <Field label={present ? "Your text" : "Value, a JSON object"} hint="It replaces the whole value.">
          {(field, hint) => (
            <textarea id={field} name="value" rows={16} dir="ltr" spellCheck={false} aria-describedby={hint} autoFocus
              defaultValue={showInvisible(renderValue(base.value))} />
          )}
        </Field>
        {present && <div><h2 id={id}>Present: version {present.version}</h2><LongText label="The present value" text={renderValue(present.value)} /></div>}
      </div>
      <div className="filters">
        <Field label="Tags, one a line">
          {(field) => <textarea id={field} name="tags" rows={3} spellCheck={false} defaultValue={base.tags.join("\n")} />}
        </Field>
        <ChoiceField label="Sensitivity" name="sensitivity" initial={base.sensitivity ?? ""} options={SENSITIVITIES} />
        {base.memory_type === "episodic" && (
          <>
            <ChoiceField label="Priority" name="priority" initial={base.priority} options={PRIORITIES} />
            <ChoiceField label="Pinned" name="pinned" initial={String(base.pinned)} options={{ true: "pinned: never evicted", false: "not pinned" }} />
          </>
        )}
      </div>
      <div className="actions">
        <button type="submit" className="primary" disabled={save.isPending}>
          {present ? `Write mine over version ${present.version}` : "Save"}
        </button>
        {present && <button type="button" onClick={takePresent}>Take the present one, drop mine</button>}
        <button type="button" onClick={onClose}>Cancel</button>
      </div>
    </form>
  );
}

/** Read from a form what differs from the entry. */
function readChange(base: Entry, form: Record<string, string>): Change {
  const change: Change = {};
  if (form.value !== showInvisible(renderValue(base.value)).replace(/\r\n?/g, "\n") && form.value !== undefined) {
    change.value = parseObject(form.value);
  }
  const tags = (form.tags ?? "").split(/\r?\n/).filter((tag) => tag !== "");
  if (tags.join("\n") !== base.tags.join("\n")) change.tags = tags;
  if ((form.sensitivity || null) !== base.sensitivity) change.sensitivity = (form.sensitivity || null) as Entry["sensitivity"];
  if (form.priority && form.priority !== base.priority) change.priority = form.priority as Entry["priority"];
  if (form.pinned && form.pinned !== String(base.pinned)) change.pinned = form.pinned === "true";
  return change;
}

function parseObject(text: string): Record<string, unknown> {
  let value: unknown;
  try {
    value = parseValue(text);
  } catch (error) {
    throw new Error(`The value is no JSON: ${(error as Error).message}`);
  }
  if (value === null || typeof value !== "object" || Array.isArray(value) || !/^\s*\{/.test(text)) {
    throw new Error("The value must be a JSON object: { … }");
  }
  return value as Record<string, unknown>;
}
