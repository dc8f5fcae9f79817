// node bench/projects.mjs: what a large project adds to the time until the first request. The bound is for
// "heavy" (200 skills, 100 agents, 500 rules): at most 60 ms above "light". The options of bench/lib.mjs apply.
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { interleave, median, openBench, option, printTable, writeTo } from './lib.mjs';

const rounds = Number(option('rounds', '15'));
const SENTENCE = 'Do the steps in order and report what was found. ';
const files = (count, make) => Object.fromEntries(Array.from({ length: count }, (_, i) => make(i)));
const head = (name, what) =>
  `---\nname: ${name}\ndescription: ${what}. Use it when this topic comes up.\n---\n\n`;
const skills = (count) =>
  files(count, (i) => [
    `.claude/skills/skill-${i}/SKILL.md`,
    `${head(`skill-${i}`, `Skill number ${i}`)}# Skill ${i}\n\n${SENTENCE.repeat(20)}\n`,
  ]);
const agents = (count) =>
  files(count, (i) => [
    `.claude/agents/agent-${i}.md`,
    `${head(`agent-${i}`, `Agent number ${i}`)}You are agent ${i}. ${SENTENCE.repeat(10)}\n`,
  ]);
const ruleFiles = (count) =>
  files(count, (i) => [
    `.claude/rules/area-${i % 10}/rule-${i}.md`,
    `---\npaths: src/area-${i}/**/*.ts\n---\n# Rule ${i}\n\n${SENTENCE.repeat(4)}\n`,
  ]);

function settings(rules) {
  const allow = ['Read', 'Bash', 'Agent'];
  const deny = [];
  for (let i = 0; i < rules; i++)
    (i % 5 === 0 ? deny : allow).push(i % 2 === 0 ? `Read(./dir${i}/**)` : `Bash(tool${i} sub *)`);
  return { '.claude/settings.json': JSON.stringify({ permissions: { allow, deny } }) };
}

const PROJECTS = {
  light: settings(0),
  heavy: { ...skills(200), ...agents(100), ...settings(500) },
  // Many instruction files that wait for a path, and a start 40 directories below the root.
  deep: { ...skills(500), ...ruleFiles(300), ...settings(0) },
};

const bench = await openBench();
const startIn = (name) => {
  const root = path.join(bench.root, name);
  // A repository, so that all levels up to here belong to the project.
  writeTo(root, { '.git/HEAD': 'ref: refs/heads/main\n', ...PROJECTS[name] });
  for (const part of ['.git/objects', '.git/refs']) mkdirSync(path.join(root, part));
  const cwd = name === 'deep' ? path.join(root, ...Array(40).fill('level')) : root;
  mkdirSync(cwd, { recursive: true });
  return cwd;
};
const directories = Object.fromEntries(Object.keys(PROJECTS).map((name) => [name, startIn(name)]));
const variants = Object.fromEntries(
  Object.entries(bench.builds).flatMap(([build, program]) =>
    Object.entries(directories).map(([project, cwd]) => [
      `${project} ${build}`,
      () => bench.run({ program, cwd, plan: { op: 'Read', turns: 0 } }),
    ]),
  ),
);
try {
  const runs = await interleave(rounds, variants);
  const rows = Object.keys(variants).map((name) => {
    const light = runs[name.replace(/^\S+/, 'light')];
    // Neighbours in one round met the same load: their difference says more than that of two medians.
    const added = median(runs[name].map(({ first }, round) => first - light[round].first));
    const bound = name.startsWith('heavy') ? '≤ 60' : '';
    const first = median(runs[name].map((run) => run.first));
    return [name, first.toFixed(0), added.toFixed(1), bound, runs[name][0].records[0].bytes];
  });
  printTable(rounds, ['project', 'first request, ms', 'above light', 'bound', 'bytes'], rows);
} finally {
  bench.close();
}
