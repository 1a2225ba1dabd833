import { useEffect, useRef, type ReactNode } from "react";
import { keepsNumbers } from "./api/json";
import { AccessScreen } from "./screens/Access";
import { AuditScreen } from "./screens/Audit";
import { ConversationScreen, ConversationsScreen } from "./screens/Conversations";
import { EntryScreen } from "./screens/Entry";
import { MemoryScreen } from "./screens/Memory";
import { OverviewScreen } from "./screens/Overview";
import { PrincipalsScreen } from "./screens/Principals";
import { RunScreen, RunsScreen } from "./screens/Runs";
import { SearchScreen } from "./screens/Search";
import { TaskScreen, TasksScreen } from "./screens/Tasks";
import { TimelineScreen } from "./screens/Timeline";
import { SignIn } from "./session/SignIn";
import { can, signOut, useSession, type Principal } from "./session/session";
import { toHref, useLocation } from "./ui/location";
import { Name } from "./ui/text";

type Screen = {
  title: string;
  show: (id: string, params: URLSearchParams) => ReactNode;
  listed?: "all" | "memory.admin"; // for whom the navigation has it
};

const SCREENS: Record<string, Screen> = {
  "": { title: "Overview", show: () => <OverviewScreen />, listed: "all" },
  memory: { title: "Memory", show: (_, params) => <MemoryScreen key={String(params)} params={params} />, listed: "all" },
  entry: { title: "Entry", show: (id) => <EntryScreen key={id} id={id} /> },
  search: { title: "Search", show: () => <SearchScreen />, listed: "all" },
  timeline: { title: "Timeline", show: (_, params) => <TimelineScreen key={String(params)} params={params} />, listed: "all" },
  tasks: { title: "Tasks", show: (_, params) => <TasksScreen key={String(params)} params={params} />, listed: "all" },
  task: { title: "Task", show: (id) => <TaskScreen key={id} id={id} /> },
  runs: { title: "Runs", show: (_, params) => <RunsScreen key={String(params)} params={params} />, listed: "all" },
  run: { title: "Run", show: (id) => <RunScreen key={id} id={id} /> },
  conversations: { title: "Conversations", show: (_, params) => <ConversationsScreen key={String(params)} params={params} />, listed: "all" },
  conversation: { title: "Conversation", show: (id) => <ConversationScreen key={id} id={id} /> },
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
  useEffect(() => {
    document.title = `${screen?.title ?? "Not found"} – Agent Memory`;
    heading.current?.focus();
  }, [name, id, screen]);
  return (
    <>
      <header>
        <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); heading.current?.focus(); }}>
          Skip to content
        </a>
        <nav aria-label="Screens">
          {Object.entries(SCREENS).filter(([, each]) => isListed(each, principal)).map(([path, each]) => (
            <a key={path} href={toHref([path])} aria-current={path === name ? "page" : undefined}>{each.title}</a>
          ))}
        </nav>
        <p className="who">
          <span><Name>{principal.id}</Name> ({principal.kind}) in <Name>{principal.tenant}</Name></span>
          <button type="button" onClick={() => signOut()}>Sign out</button>
        </p>
      </header>
      <main>
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
