import { type Guard, NOTHING } from '../../permissions/gate/guard.js';

/** The program's own name may be a path, a link or an alias. */
const ANSWERS = /\binbox\s+answer\b|portcullis[\s\S]*\binbox\b[\s\S]*\banswer\b/;

/** An agent does not answer its own questions, nor those of others. */
export const inboxGuard: Guard = {
  name: 'inbox',
  onFailure: 'deny',
  async decide({ call }) {
    const { command } = call.subject;
    if (command === undefined || !ANSWERS.test(command.replace(/['"\\\n]/g, ''))) return NOTHING;
    return {
      decision: 'deny',
      reason: 'only people answer the questions of agents; what an agent runs cannot',
      source: 'inbox',
    };
  },
};
