import type { AnyTool } from '../tools/tool.js';
import { offersResources, type ResourceToolDeps, resourceTools } from './resources/resources.js';
import type { McpConnection } from './server.js';

/** The minimum time between two refreshes that list change notifications of one server cause. */
const GAP_MS = 500;

/**
 * Coalesces occasions: those that arrive during the work cause one more run after a pause, so a server cannot
 * trigger endless requests.
 */
export function oneAtATime<K extends object>(
  work: (key: K) => Promise<void>,
  gapMs = GAP_MS,
): (key: K) => void {
  /** The running keys; true when another occasion arrived since the run began. */
  const running = new Map<K, boolean>();
  const run = async (key: K): Promise<void> => {
    running.set(key, false);
    try {
      await work(key);
    } finally {
      const timer = setTimeout(() => {
        const isStale = running.get(key) === true;
        running.delete(key);
        if (isStale) void run(key);
      }, gapMs);
      // A pending refresh does not keep the process alive.
      timer.unref();
    }
  };
  return (key) => {
    if (running.has(key)) running.set(key, true);
    else void run(key);
  };
}

/** Per server and session. */
const MOST_TOLD = 25;

/** Reports each problem of a server once, up to a limit. */
export function problemTeller(
  tell: (text: string) => void,
): (server: string, problems: readonly string[]) => void {
  const told = new Map<string, Set<string>>();
  return (server, problems) => {
    const known = told.get(server) ?? new Set();
    told.set(server, known);
    for (const problem of problems) {
      if (known.has(problem) || known.size >= MOST_TOLD) continue;
      known.add(problem);
      tell(problem);
    }
  };
}

/** Tracks which servers have resources and offers the two resource tools once the first one has. */
export function resourcesOfServers(deps: ResourceToolDeps) {
  const known = new Map<string, boolean>();
  const has = (server: string): boolean => known.get(server) === true;
  let isOffered = false;
  return {
    has,
    isAsked: (server: string): boolean => known.has(server),
    /** Records that the server has resources. */
    note: (server: string): void => void known.set(server, true),
    /** Asks a server; one that had resources before keeps the mark. */
    async ask(connection: McpConnection): Promise<void> {
      const { name } = connection.declaration;
      known.set(name, (await offersResources([connection])) || has(name));
    },
    /** Returns the two tools once, when the first of these servers has resources. */
    tools(connections: readonly McpConnection[]): readonly AnyTool[] {
      if (isOffered || !connections.some(({ declaration }) => has(declaration.name))) return [];
      isOffered = true;
      const { list, read } = resourceTools(deps);
      return [list, read];
    },
  };
}
