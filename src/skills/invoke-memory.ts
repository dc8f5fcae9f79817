import { sha256 } from '../platform/hash.js';
import { LONGEST_AGAIN, type SaidText } from './skills-again.js';

/** Which texts of skills stand in the conversation of which agent. */
export interface SaidBefore {
  has(agentPath: string, skill: string, text: string): boolean;
  add(agentPath: string, skill: string, text: string): void;
  remove(agentPath: string, skill: string, text: string): void;
  /** A summary took the place of the conversation: what skills said in it, the newest first. */
  summarised(agentPath: string): readonly SaidText[];
  /** The conversation has ended: nothing stands there any more. Absent: of everybody. */
  forget(agentPath?: string): void;
}

interface Said {
  /** Of whole texts. */
  readonly keys: Set<string>;
  /** The last one of each skill, as far as it is shown again; the newest last. */
  readonly texts: Map<string, string>;
}

export function createSaidBefore(): SaidBefore {
  const said = new Map<string, Said>();
  const keyOf = (skill: string, text: string): string => `${sha256(text)} ${skill}`;
  return {
    has: (agentPath, skill, text) => said.get(agentPath)?.keys.has(keyOf(skill, text)) === true,
    add(agentPath, skill, text) {
      const mine = said.get(agentPath) ?? { keys: new Set(), texts: new Map() };
      mine.keys.add(keyOf(skill, text));
      mine.texts.delete(skill);
      // One more than is shown: whoever shows it sees that there is more.
      mine.texts.set(skill, text.slice(0, LONGEST_AGAIN + 1));
      said.set(agentPath, mine);
    },
    remove(agentPath, skill, text) {
      const mine = said.get(agentPath);
      mine?.keys.delete(keyOf(skill, text));
      mine?.texts.delete(skill);
    },
    summarised(agentPath) {
      const mine = said.get(agentPath);
      mine?.keys.clear();
      return [...(mine?.texts ?? [])].map(([skill, text]) => ({ skill, text })).reverse();
    },
    forget(agentPath) {
      if (agentPath === undefined) said.clear();
      else said.delete(agentPath);
    },
  };
}
