import type { AnyTool } from '../tools/tool.js';
import { offersResources, type ResourceToolDeps, resourceTools } from './resources/resources.js';
import type { McpConnection } from './server.js';

/** Least time between two questions that a server brings about by saying that its lists are others. */
const GAP_MS = 500;

/**
 * Does the work for each of many occasions, but one at a time: those that come while it is done are
 * answered by doing it once more, after a pause. A server cannot make us ask without end.
 */
export function oneAtATime<K extends object>(
  work: (key: K) => Promise<void>,
  gapMs = GAP_MS,
): (key: K) => void {
  /** What is under way; true: something has changed since it began. */
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
      // Nobody waits for a list that may be asked for anew.
      timer.unref();
    }
  };
  return (key) => {
    if (running.has(key)) running.set(key, true);
    else void run(key);
  };
}

/** Of one server, in one session. */
const MOST_TOLD = 25;

/** Tells people what is wrong with a server: each thing once, and no more than they would read. */
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

/** Which servers of a session have resources, and the two tools for them, offered with the first one. */
export function resourcesOfServers(deps: ResourceToolDeps) {
  const known = new Map<string, boolean>();
  const has = (server: string): boolean => known.get(server) === true;
  let isOffered = false;
  return {
    has,
    isAsked: (server: string): boolean => known.has(server),
    /** It had some when it was last asked. */
    note: (server: string): void => void known.set(server, true),
    /** Asks a server; what it once had it may have again. */
    async ask(connection: McpConnection): Promise<void> {
      const { name } = connection.declaration;
      known.set(name, (await offersResources([connection])) || has(name));
    },
    /** The two tools, where one of these servers has resources and they are not offered yet. */
    tools(connections: readonly McpConnection[]): readonly AnyTool[] {
      if (isOffered || !connections.some(({ declaration }) => has(declaration.name))) return [];
      isOffered = true;
      const { list, read } = resourceTools(deps);
      return [list, read];
    },
  };
}
