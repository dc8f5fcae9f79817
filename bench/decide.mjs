// node bench/decide.mjs [--json]: how long the gate takes to decide a typical compound command, by the
// number of rules, and what the first Bash call pays for the shell parser.
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import os from 'node:os';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';

const ROOT = path.join(import.meta.dirname, '..');
const work = mkdtempSync(path.join(ROOT, 'node_modules', '.cache-decide-'));
const project = mkdtempSync(path.join(os.tmpdir(), 'decide-'));

const COMMANDS = {
  rule: 'cd src && npm run build 2>&1 | tail -20',
  /** The same, never seen before. */
  fresh: (count) => `cd src && npm run build -- --port ${count} 2>&1 | tail -20`,
  readOnly: "git status --short && git diff HEAD~1 -- src/a.ts | head -50 && grep -rn 'TODO' src",
  open: 'mkdir -p out && python3 tools/gen.py --fast > out/result.json',
};

async function bundle() {
  const outfile = path.join(work, 'gate.mjs');
  await build({
    absWorkingDir: ROOT,
    stdin: {
      contents: `
        export { createGate } from './src/permissions/gate.ts';
        export { parseRules } from './src/permissions/rules.ts';
        export { nodeFileSystem } from './src/env/node-fs.ts';
        export { bashTool } from './src/tools/builtin/bash.ts';
        export { createWorkspace } from './src/tools/workspace.ts';
        export { MAIN_AGENT } from './src/protocol/agent-ref.ts';`,
      resolveDir: ROOT,
      loader: 'ts',
    },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    loader: { '.md': 'text' },
    define: { __PORTCULLIS_VERSION__: '"0"' },
    external: ['unbash', '@vscode/ripgrep', 'unpdf'],
    outfile,
    logLevel: 'error',
  });
  return import(pathToFileURL(outfile).href);
}

/** Like the lists that people gather over time: mostly commands, some paths and hosts. */
function ruleTexts(count) {
  const allow = [];
  const ask = [];
  const deny = [];
  for (let at = 0; allow.length + ask.length + deny.length < count; at++) {
    const tool = ['npm', 'cargo', 'make', 'kubectl', 'git', 'docker', 'go', 'pytest'][at % 8];
    allow.push(`Bash(${tool} task-${at}:*)`, `Bash(tool-${at} *)`);
    deny.push(`Bash(danger-${at}:*)`, `Read(./secret-${at}/**)`, `Read(*.key${at})`);
    if (at % 3 === 0) {
      allow.push(`Edit(./src/part-${at}/**)`, `WebFetch(domain:host-${at}.example)`);
      ask.push(`Bash(git push remote-${at}:*)`, `mcp__server${at}__write`);
    }
  }
  allow.push('Bash(npm run build:*)');
  return { allow, ask, deny };
}

function sourced(texts) {
  return texts.map((text, index) => ({
    value: { text, root: project },
    source: 'user',
    file: path.join(project, 'settings.json'),
    line: index + 1,
    trusted: true,
  }));
}

/** The tenth shows what the work takes, the half what a loaded machine makes of it. */
function quantile(values, share) {
  const sorted = [...values].sort((a, b) => a - b);
  return Math.round((sorted[Math.floor(values.length * share)] ?? 0) * 10) / 10;
}

try {
  mkdirSync(path.join(project, 'src'));
  writeFileSync(path.join(project, 'src/a.ts'), '');
  const parts = await bundle();
  const { createGate, parseRules, nodeFileSystem, bashTool, createWorkspace, MAIN_AGENT } = parts;
  const tool = bashTool({ processes: {}, shells: {}, fs: nodeFileSystem, environment: () => ({}) });
  const report = { first: {}, microseconds: {} };
  for (const count of [10, 100, 1000, 4000]) {
    const texts = ruleTexts(count);
    const compileStart = performance.now();
    const { rules, problems } = parseRules(
      { allow: sourced(texts.allow), ask: sourced(texts.ask), deny: sourced(texts.deny) },
      { cwd: project, home: os.homedir() },
    );
    if (problems.length > 0) throw new Error(JSON.stringify(problems[0]));
    const compileMs = performance.now() - compileStart;
    const gate = createGate({
      fs: nodeFileSystem,
      home: os.homedir(),
      clock: { monotonic: () => performance.now() },
      mode: () => 'default',
      rules: () => rules,
      asker: () => undefined,
    });
    const workspace = createWorkspace([project]);
    const { signal } = new AbortController();
    const decide = (command) =>
      gate({
        toolUseId: 'toolu_1',
        tool,
        input: { command },
        subject: tool.subject({ command }, workspace),
        agent: MAIN_AGENT,
        workspace,
        signal,
      });
    const firstStart = performance.now();
    await decide(COMMANDS.rule);
    report.first[count] = { compileMs, firstCallMs: performance.now() - firstStart };
    const row = {};
    for (const [name, command] of Object.entries(COMMANDS)) {
      const text = (at) => (typeof command === 'string' ? command : command(at));
      for (let at = 0; at < 500; at++) await decide(text(-at));
      const times = [];
      const before = process.cpuUsage();
      for (let at = 0; at < 2000; at++) {
        const start = performance.now();
        await decide(text(at));
        times.push((performance.now() - start) * 1000);
      }
      const { user, system } = process.cpuUsage(before);
      row[name] = {
        median: quantile(times, 0.5),
        tenth: quantile(times, 0.1),
        processor: Math.round((user + system) / times.length),
      };
    }
    report.microseconds[count] = row;
  }
  console.log(JSON.stringify(report, null, 2));
} finally {
  rmSync(work, { recursive: true, force: true });
  rmSync(project, { recursive: true, force: true });
}
