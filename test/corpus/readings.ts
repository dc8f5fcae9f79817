import { readDefinition } from '../../src/agents/definition-reader.js';
import { KNOWN_TOOLS } from '../../src/agents/definition-tools.js';
import { readRuleHead } from '../../src/context/rule-files.js';
import { reasonsToAsk } from '../../src/skills/grant-approval.js';
import { readSkill } from '../../src/skills/head.js';
import { parseYaml } from '../../src/skills/parse-yaml.js';

type Reading = Readonly<Record<string, unknown>>;

/** Reads a file as a session does and says what came of it. One reader for each kind of table. */
export const READINGS: Readonly<Record<string, (text: string) => Promise<Reading>>> = {
  skill: (text) => skillReading(text, { isCommand: false }),
  command: (text) => skillReading(text, { isCommand: true }),
  agent: agentReading,
  rule: ruleReading,
};

/** `loads`, `refusal`, `asks` (why a call of the model asks), `notes`, and the fields of the head. */
async function skillReading(text: string, how: { readonly isCommand: boolean }): Promise<Reading> {
  const { head, body, problems, refusal } = await readSkill(text, { parseYaml, ...how });
  return {
    ...head,
    loads: refusal === undefined,
    refusal: refusal === undefined ? undefined : `${refusal.message}. ${refusal.remedy ?? ''}`,
    asks: reasonsToAsk({ head }, body),
    notes: problems.map(({ message }) => message),
    body: body.trim(),
  };
}

/** `loads`, `isDocument`, `name`, the fields of the definition, `errors` and `warnings`. */
async function agentReading(text: string): Promise<Reading> {
  const read = await readDefinition(text, { parseYaml, knownTools: KNOWN_TOOLS });
  const said = (severity: string): readonly string[] =>
    read.findings.filter((one) => one.severity === severity).map(({ message }) => message);
  return {
    ...read.fields,
    name: read.name,
    isDocument: read.isDocument,
    loads: read.fields !== undefined,
    errors: said('error'),
    warnings: said('warning'),
  };
}

/** `globs` (absent: the rule applies always), `notes`, `body`. */
async function ruleReading(text: string): Promise<Reading> {
  const { globs, notes, body } = await readRuleHead(text, parseYaml);
  return { globs, notes, body: body.trim() };
}
