import { useEffect, useRef, type ReactNode } from "react";
import { keepsNumbers } from "./api/json";
import { AccessScreen } from "./screens/Access";
import { AgentScreen } from "./screens/Agent";
import { AuditScreen } from "./screens/Audit";
import { ConversationScreen, ConversationsScreen } from "./screens/Conversations";
import { EntryScreen } from "./screens/Entry";
import { FactsScreen } from "./screens/Facts";
import { GuardrailsScreen } from "./screens/Guardrails";
import { IntentScreen } from "./screens/Intent";
import { MemoryScreen } from "./screens/Memory";
import { MemoryRunScreen, MemoryRunsScreen } from "./screens/MemoryRuns";
import { NamespaceScreen, NamespacesScreen } from "./screens/Namespaces";
import { ObjectScreen, SpaceScreen, SpacesScreen } from "./screens/Objects";
import { OverviewScreen } from "./screens/Overview";
import { PrincipalsScreen } from "./screens/Principals";
import { EpisodesScreen, RunScreen, RunsScreen } from "./screens/Runs";
import { SearchScreen } from "./screens/Search";
import { StatesScreen } from "./screens/States";
import { TaskScreen } from "./screens/Task";
import { TasksScreen } from "./screens/Tasks";
import { TimelineScreen } from "./screens/Timeline";
import { WorkflowsScreen } from "./screens/Workflows";
import { SignIn } from "./session/SignIn";
import { can, signOut, useSession, type Principal } from "./session/session";
import { toHref, useLocation } from "./ui/location";
import { Name } from "./ui/text";

type Screen = {
  title: string;
  show: (id: string, params: URLSearchParams) => ReactNode;
  listed?: "all" | "memory.admin"; // for whom the navigation has it
  under?: string; // the screen of the navigation that it belongs to
};

const SCREENS: Record<string, Screen> = {
  "": { title: "Overview", show: () => <OverviewScreen />, listed: "all" },
  agent: { title: "Agent", show: (id, params) => <AgentScreen key={id + params} id={id} params={params} />, under: "" },
  memory: { title: "Memory", show: (_, params) => <MemoryScreen key={String(params)} params={params} />, listed: "all" },
  entry: { title: "Entry", show: (id) => <EntryScreen key={id} id={id} />, under: "memory" },
  search: { title: "Search", show: () => <SearchScreen />, listed: "all" },
  namespaces: { title: "Namespaces", show: () => <NamespacesScreen />, listed: "all" },
  namespace: { title: "Namespace", show: (id, params) => <NamespaceScreen key={id + params} id={id} params={params} />, under: "namespaces" },
  timeline: { title: "Timeline", show: (_, params) => <TimelineScreen key={String(params)} params={params} />, listed: "all" },
  tasks: { title: "Tasks", show: (_, params) => <TasksScreen key={String(params)} params={params} />, listed: "all" },
  task: { title: "Task", show: (id, params) => <TaskScreen key={id + params} id={id} params={params} />, under: "tasks" },
  intent: { title: "Intent", show: (id, params) => <IntentScreen key={id + params} id={id} params={params} />, under: "tasks" },
  runs: { title: "Runs", show: (_, params) => <RunsScreen key={String(params)} params={params} />, listed: "all" },
  run: { title: "Run", show: (id) => <RunScreen key={id} id={id} />, under: "runs" },
  episodes: { title: "Episodes", show: (id) => <EpisodesScreen key={id} id={id} />, under: "runs" },
  "memory-runs": { title: "OpenWOP runs", show: () => <MemoryRunsScreen />, listed: "all" },
  "memory-run": { title: "OpenWOP run", show: (id) => <MemoryRunScreen key={id} id={id} />, under: "memory-runs" },
  facts: { title: "Facts", show: (_, params) => <FactsScreen key={String(params)} params={params} />, listed: "all" },
  workflows: { title: "Workflows", show: (_, params) => <WorkflowsScreen key={String(params)} params={params} />, listed: "all" },
  conversations: { title: "Conversations", show: (_, params) => <ConversationsScreen key={String(params)} params={params} />, listed: "all" },
  conversation: { title: "Conversation", show: (id) => <ConversationScreen key={id} id={id} />, under: "conversations" },
  states: { title: "States", show: (_, params) => <StatesScreen key={String(params)} params={params} />, listed: "all" },
  objects: { title: "Objects", show: () => <SpacesScreen />, listed: "all" },
  space: { title: "Space", show: (id, params) => <SpaceScreen key={id + params} id={id} params={params} />, under: "objects" },
  object: {
    title: "Object", under: "objects",
    show: (_, params) => <ObjectScreen key={String(params)} space={params.get("space") ?? ""} id={params.get("key") ?? ""} />,
  },
  guardrails: { title: "Guardrails", show: (_, params) => <GuardrailsScreen key={String(params)} params={params} />, listed: "all" },
  access: { title: "Access", show: (_, params) => <AccessScreen key={String(params)} params={params} />, listed: "all" },
  audit: { title: "Audit", show: (_, params) => <AuditScreen key={String(params)} params={params} />, listed: "memory.admin" },
  principals: { title: "Principals", show: () => <PrincipalsScreen />, listed: "memory.admin" },
};

function isListed({ listed }: Screen, principal: Principal): boolean {
  return listed === "all" || (listed !== undefined && can(principal, listed));
}

export function App() {
  const { principal } = useSession();
  return principal === undefined ? <SignIn /> : <SignedIn principal={principal} />;
}

function SignedIn({ principal }: { principal: Principal }) {
  const { path: [name = "", id = ""], params } = useLocation();
  const screen = SCREENS[name];
  const heading = useRef<HTMLHeadingElement>(null);
  const navigation = useRef<HTMLElement>(null);
  useEffect(() => {
    document.title = `${screen?.title ?? "Not found"} – Agent Memory`;
    heading.current?.focus();
    navigation.current?.querySelector("[aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" }); // on a phone
  }, [name, id, screen]);
  return (
    <>
      <header>
        <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); heading.current?.focus(); }}>
          Skip to content
        </a>
        <nav aria-label="Screens" ref={navigation}>
          {Object.entries(SCREENS).filter(([, each]) => isListed(each, principal)).map(([path, each]) => (
            <a key={path} href={toHref([path])} aria-current={path === name ? "page" : path === screen?.under || undefined}>{each.title}</a>
          ))}
        </nav>
        <p className="who">
          <span><Name>{principal.id}</Name> ({principal.kind}) in <Name>{principal.tenant}</Name></span>
          <button type="button" onClick={() => signOut()}>Sign out</button>
        </p>
      </header>
      <main id="main">
        <Warnings principal={principal} />
        <h1 ref={heading} tabIndex={-1}>{screen?.title ?? "Not found"}</h1>
        {screen ? screen.show(id, params) : <p>There is no such screen. <a href={toHref([""])}>Go to the overview.</a></p>}
      </main>
    </>
  );
}

function Warnings({ principal }: { principal: Principal }) {
  return (
    <>
      {principal.kind === "agent" && (
        <p className="notice">
          This is an agent&rsquo;s own key: what you change counts as the agent&rsquo;s doing. Looking changes nothing here.
          Better sign in with a key of kind <code>user</code>.
        </p>
      )}
      {!principal.permissions.includes("memory.read") && (
        <p className="notice">This key lacks <code>memory.read</code>: no value is shown.</p>
      )}
      {!keepsNumbers && (
        <p className="notice">This browser may show large or precise numbers rounded, so values can&rsquo;t be edited in it.</p>
      )}
    </>
  );
}
