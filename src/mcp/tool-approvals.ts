import { messageOf, PortcullisError } from '../errors.js';
import { isRecord, own } from '../util/own.js';
import { definingParts } from './fingerprint.js';
import type { RawTool } from './server.js';
import type { ListedTool } from './tool-listing.js';
import { openServerFiles, type Read, type StoredServer, type StoreFiles } from './tool-store.js';

/** The definitions of a server's tools that somebody has agreed to. */
export interface ApprovedTools {
  /** Nobody can tell what else was approved: a tool without an approval must be asked about. */
  readonly damaged: boolean;
  /** Undefined: never approved, which is not the same as changed. */
  fingerprint(tool: string): string | undefined;
  /** The definition that was approved. Undefined when it cannot be told any more. */
  definition(tool: string): RawTool | undefined;
}

export interface ToolApprovals {
  read(server: StoredServer): Promise<ApprovedTools>;
  /**
   * Adds to what was approved, also by other programs in the meantime. Throws when it cannot be kept.
   * To have a damaged list forgotten, `forget` first.
   */
  record(server: StoredServer, tools: readonly ListedTool[]): Promise<void>;
  /** All tools of the server count as new again. */
  forget(server: StoredServer): Promise<void>;
}

export function openToolApprovals(place: {
  readonly fs: StoreFiles;
  readonly stateDirectory: string;
}): ToolApprovals {
  const files = openServerFiles({ ...place, folder: 'mcp-approvals' });
  let queue: Promise<unknown> = Promise.resolve();

  const add = async (server: StoredServer, tools: readonly ListedTool[]): Promise<void> => {
    const before = contentOf(await files.read(server));
    const prints = new Map(before.prints);
    const definitions = new Map(before.definitions());
    for (const tool of tools) {
      prints.set(tool.name, tool.fingerprint);
      definitions.set(tool.name, definingParts(tool.raw()));
    }
    // fail-closed: what was lost stays lost, or the next session would take every other tool for new.
    const lost = before.damaged ? { lost: true } : {};
    const columns = { names: [...prints.keys()], prints: [...prints.values()] };
    const head = { server: server.name, ...columns, ...lost };
    try {
      await files.write(server, head, [...definitions]);
    } catch (thrown) {
      throw new PortcullisError('io', `the approval could not be stored: ${messageOf(thrown)}`, {
        remedy: `make ${place.stateDirectory} writable`,
        cause: thrown,
      });
    }
  };

  return {
    async read(server) {
      const { prints, definitions, damaged } = contentOf(await files.read(server));
      return {
        damaged,
        fingerprint: (tool) => prints.get(tool),
        definition(tool) {
          const found = definitions().get(tool);
          return isRecord(found) && isRecord(own(found, 'inputSchema'))
            ? (found as unknown as RawTool)
            : undefined;
        },
      };
    },
    record(server, tools) {
      // One change at a time: two approvals at once must not undo each other.
      const adding = queue.then(() => add(server, tools));
      queue = adding.catch(() => undefined);
      return adding;
    },
    forget: (server) => files.remove(server),
  };
}

interface Content {
  readonly prints: ReadonlyMap<string, string>;
  definitions(): ReadonlyMap<string, unknown>;
  /** There was something that cannot be read, now or once. */
  readonly damaged: boolean;
}

function contentOf(read: Read): Content {
  const nothing = { prints: new Map(), definitions: () => new Map() };
  if (read.kind !== 'found') return { ...nothing, damaged: read.kind === 'damaged' };
  const { head, body } = read.file;
  const prints = printsOf(head.names, head.prints);
  // fail-closed: half a list would make the missing tools new ones.
  if (prints === undefined) return { ...nothing, damaged: true };
  const definitions = (): ReadonlyMap<string, unknown> => new Map(pairs(body()) ?? []);
  return { prints, definitions, damaged: head.lost === true };
}

function printsOf(names: unknown, prints: unknown): ReadonlyMap<string, string> | undefined {
  if (!Array.isArray(names) || !Array.isArray(prints) || names.length !== prints.length) {
    return undefined;
  }
  const made = new Map<string, string>();
  for (let index = 0; index < names.length; index++) {
    const name: unknown = names[index];
    const print: unknown = prints[index];
    if (typeof name !== 'string' || typeof print !== 'string') return undefined;
    made.set(name, print);
  }
  return made;
}

function pairs(value: unknown): readonly (readonly [string, unknown])[] | undefined {
  if (!Array.isArray(value)) return undefined;
  const found = value.filter(
    (pair): pair is [string, unknown] => Array.isArray(pair) && typeof pair[0] === 'string',
  );
  return found.length === value.length ? found : undefined;
}
