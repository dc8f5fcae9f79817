import { messageOf } from '../../errors.js';
import { isRecord, own } from '../../lib/own.js';
import { err, ok, type Result } from '../../lib/result.js';
import type { SettingNode } from '../../protocol/settings/setting-node.js';
import { SETTINGS_ROOT } from '../merge/merge.js';
import type { LiveSettings } from './watch.js';

/** Applies command-line settings to an open session, all of them or none. */
export async function applySettings(
  live: Pick<LiveSettings, 'current' | 'give'>,
  choices: { resolve(name: string): unknown },
  changes: Readonly<Record<string, unknown>>,
): Promise<Result<{ undo(): Promise<void> }, string>> {
  const content = live.current().files.find(({ source }) => source === 'cli')?.content;
  const before = isRecord(content) ? content : {};
  // Keys that are not given stay unchanged.
  const replaced = Object.fromEntries(Object.keys(changes).map((key) => [key, own(before, key)]));
  const dead = withoutEffect({
    path: '',
    node: SETTINGS_ROOT,
    restricts: false,
    now: changes,
    before: replaced,
  });
  // fail-closed: a change that would have no effect is refused.
  if (dead.length > 0) return err(`${dead.join(', ')} cannot be changed while the session is open`);
  const name = changes.model;
  if (typeof name === 'string') {
    try {
      choices.resolve(name);
    } catch (thrown) {
      return err(messageOf(thrown));
    }
  }
  const why = await live.give(changes);
  if (why !== undefined) return err(why);
  return ok({
    async undo() {
      const keys = Object.keys(changes);
      await live.give(Object.fromEntries(keys.map((key) => [key, own(before, key) ?? null])));
    },
  });
}

interface Change {
  /** A dotted path. */
  readonly path: string;
  readonly node: SettingNode;
  /** Inherited from the enclosing key unless the node says otherwise. */
  readonly restricts: boolean;
  readonly now: unknown;
  readonly before: unknown;
}

/** The changed keys that an open session would not apply. */
function withoutEffect({ path, node, restricts, now, before }: Change): readonly string[] {
  const isSame = JSON.stringify(now ?? null) === JSON.stringify(before ?? null);
  if (isSame || node.facts?.live === true) return [];
  const holdsBack = node.facts?.restricts ?? restricts;
  // Unsupported conveniences are ignored, as in a file.
  const { status, needsTrust } = node.facts ?? {};
  if (status !== undefined && !holdsBack && needsTrust !== true) return [];
  if (node.type !== 'object') return [path];
  const [after, earlier] = [now, before].map((value) => (isRecord(value) ? value : {}));
  // Unknown keys and wrong types are reported when the settings are checked.
  return Object.entries(node.keys).flatMap(([name, child]) =>
    withoutEffect({
      path: path === '' ? name : `${path}.${name}`,
      node: child,
      restricts: holdsBack,
      now: own(after ?? {}, name),
      before: own(earlier ?? {}, name),
    }),
  );
}
