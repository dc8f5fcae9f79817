import { sha256 } from '../env/hash.js';

/** Which texts of skills stand in the conversation of which agent. */
export interface SaidBefore {
  has(agentPath: string, skill: string, text: string): boolean;
  add(agentPath: string, skill: string, text: string): void;
  remove(agentPath: string, skill: string, text: string): void;
  /** The conversation was cut or has ended: nothing stands there any more. Absent: of everybody. */
  forget(agentPath?: string): void;
}

export function createSaidBefore(): SaidBefore {
  const said = new Map<string, Set<string>>();
  const keyOf = (skill: string, text: string): string => `${sha256(text)} ${skill}`;
  return {
    has: (agentPath, skill, text) => said.get(agentPath)?.has(keyOf(skill, text)) === true,
    add(agentPath, skill, text) {
      const mine = said.get(agentPath) ?? new Set<string>();
      mine.add(keyOf(skill, text));
      said.set(agentPath, mine);
    },
    remove: (agentPath, skill, text) => void said.get(agentPath)?.delete(keyOf(skill, text)),
    forget(agentPath) {
      if (agentPath === undefined) said.clear();
      else said.delete(agentPath);
    },
  };
}
