import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import type { AgentDefinition } from '../../src/agents/definition.js';
import { openAgentBook } from '../../src/agents/definitions.js';
import { forkDefinition } from '../../src/agents/fork.js';
import { openAgentListings } from '../../src/harness/agent-listing.js';
import { MAIN_AGENT } from '../../src/protocol/agent-ref.js';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import {
  at,
  type Change,
  memoryOf,
  moveOut,
  placesOf,
  settled,
  write,
} from '../skills/sealed-rig.js';

const agentText = (name: string, description: string, more = ''): string =>
  `---\nname: ${name}\ndescription: ${description}\n${more}---\n\nYou are ${name}.\n`;
const ONE = '.claude/agents/one.md';
const FILES = {
  [ONE]: agentText('one', 'The first.'),
  '.claude/agents/sub/two.md': agentText('two', 'The second.'),
};

interface Start {
  readonly shown: string;
  /** No file was made a definition. */
  readonly isRecalled: boolean;
  readonly told: readonly string[];
}

interface StartHow {
  readonly forks?: boolean;
  /** A rule is about single kinds: this one is not to be started. */
  readonly without?: string;
  readonly agent?: typeof MAIN_AGENT;
}

/** One start, with nothing in its memory but what earlier ones have written down. */
async function start(project: TempProject, how: StartHow = {}): Promise<Start> {
  const memory = memoryOf(project);
  const book = openAgentBook({
    memory: memory.drawer('agents'),
    ...placesOf(project),
  });
  let isRecalled = false;
  const told: string[] = [];
  const { without } = how;
  const listings = openAgentListings({
    book: {
      ...book,
      async recallListed(keyOf) {
        const text = await book.recallListed(keyOf);
        isRecalled = text !== undefined;
        return text;
      },
    },
    types: {
      leavesAll: () => without === undefined,
      allowed: async (_, kinds: readonly AgentDefinition[]) =>
        kinds.filter(({ name }) => name !== without),
    },
    forks: () => (how.forks === true ? forkDefinition() : undefined),
    tell: (text) => void told.push(text),
  });
  const shown = (await listings.of(how.agent ?? MAIN_AGENT)) ?? '';
  await new Promise((resolve) => setImmediate(resolve));
  await book.problems();
  await listings.settle();
  memory.keep();
  return { shown, isRecalled, told };
}

interface KindChange extends Change {
  readonly isRecalled?: boolean;
  /** What people are told. */
  readonly tells?: string;
}

const CHANGES: Readonly<Record<string, KindChange>> = {
  'nothing is different': {
    make: () => undefined,
    says: ['one: The first.', 'two: The second.'],
    isRecalled: true,
  },
  'all files are written again': {
    make: (project) => write(project, FILES),
    says: ['one: The first.', 'two: The second.'],
    isRecalled: true,
  },
  'only a prompt is another': {
    make: (project) => write(project, { [ONE]: `${FILES[ONE]}More.` }),
    says: ['one: The first.'],
    isRecalled: true,
  },
  'a description is another': {
    make: (project) => write(project, { [ONE]: agentText('one', 'The FIRST.') }),
    says: ['one: The FIRST.', 'two: The second.'],
  },
  'a limit has come': {
    make: (project) => write(project, { [ONE]: agentText('one', 'The first.', 'tools: Read\n') }),
    says: ['one: The first. (Tools: Read)'],
  },
  'one is new in a folder below': {
    make: (project) =>
      write(project, { '.claude/agents/sub/three.md': agentText('three', 'Third.') }),
    says: ['one: The first.', 'three: Third.'],
  },
  'a folder is new': {
    make: (project) =>
      write(project, { '.claude/agents/more/four.md': agentText('four', 'Fourth.') }),
    says: ['one: The first.', 'four: Fourth.'],
  },
  'one is gone': {
    make: (project) => rmSync(at(project, ONE)),
    says: ['two: The second.'],
    not: ['- one'],
  },
  'one is broken': {
    make: (project) => write(project, { [ONE]: agentText('one', 'The first.', 'maxTurns: x\n') }),
    says: ['two: The second.'],
    not: ['- one'],
    tells: 'one.md',
  },
  'one is no text below its head': {
    make: (project) => write(project, { [ONE]: `${FILES[ONE]}\0` }),
    says: ['one: The first.', 'two: The second.'],
  },
  'the user has one': {
    make(project) {
      const directory = path.join(project.home, '.claude/agents');
      mkdirSync(directory, { recursive: true });
      writeFileSync(path.join(directory, 'mine.md'), agentText('mine', 'Mine.'));
    },
    says: ['mine: Mine.', 'one: The first.'],
  },
  'a link leads out': {
    make: (project) => moveOut(project, '.claude/agents'),
    says: [],
    not: ['- one', '- two'],
    tells: 'one.md',
  },
};

const ready = new Map<string, TempProject>();
beforeAll(async () => {
  for (const name of [...Object.keys(CHANGES), 'keys']) {
    ready.set(name, makeTempProject({ files: FILES }));
  }
  await settled();
  return () => {
    for (const project of ready.values()) project.remove();
  };
});

function projectFor(name: string): TempProject {
  const project = ready.get(name);
  if (project === undefined) throw new Error('no project');
  return project;
}

describe('the list of kinds of agents that an earlier start has made', () => {
  it.each(Object.entries(CHANGES))('is right when %s', async (name, change) => {
    const project = projectFor(name);
    expect((await start(project)).isRecalled).toBe(false);
    expect((await start(project)).isRecalled).toBe(true);
    change.make(project);
    const { shown, isRecalled, told } = await start(project);
    for (const text of change.says) expect(shown).toContain(text);
    for (const text of change.not ?? []) expect(shown).not.toContain(text);
    expect(isRecalled).toBe(change.isRecalled === true);
    if (change.tells === undefined)
      expect(told.filter((text) => text.includes('one.md'))).toEqual([]);
    else {
      expect(told.join()).toContain(change.tells);
      // Told at each start, not only at the first that found it.
      expect((await start(project)).told.join()).toContain(change.tells);
    }
  });

  it('is for the main agent, where no rule is about single kinds, and with the same forks', async () => {
    const project = projectFor('keys');
    await start(project);
    expect((await start(project)).isRecalled).toBe(true);
    const held = await start(project, { without: 'one' });
    expect(held.isRecalled).toBe(false);
    expect(held.shown).not.toContain('- one');
    // What was made under rules is not noted.
    expect((await start(project)).shown).toContain('- one');
    const child = { ...MAIN_AGENT, id: 'a1', path: 'main/a1', depth: 1 };
    expect((await start(project, { agent: child })).isRecalled).toBe(false);
    const forks = await start(project, { forks: true });
    expect(forks.isRecalled).toBe(false);
    expect(forks.shown).toContain('- fork');
    expect((await start(project, { forks: true })).isRecalled).toBe(true);
  });
});
