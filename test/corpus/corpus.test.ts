import { describe, expect, it } from 'vitest';
import { agents } from './agents.js';
import { commands } from './commands.js';
import { hookFiles } from './hook-files.js';
import { READINGS } from './readings.js';
import type { CorpusTable } from './rows.js';
import { rules } from './rules.js';
import { settings } from './settings.js';
import { skills } from './skills.js';

const TABLES: readonly CorpusTable[] = [skills, commands, agents, rules, hookFiles, settings];

describe.each(TABLES)('the files people have: $kind', ({ kind, rows }) => {
  const read = READINGS[kind];

  it('have a reader and are told apart by their titles', () => {
    expect(read).toBeDefined();
    expect(new Set(rows.map(({ title }) => title)).size).toBe(rows.length);
  });

  it.each(rows)('$title', async ({ text, reads }) => {
    const reading = (await read?.(text)) ?? {};
    const part = Object.fromEntries(Object.keys(reads).map((name) => [name, reading[name]]));
    expect(part).toMatchObject(reads);
  });
});
