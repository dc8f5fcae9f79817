import { it } from 'vitest';
import { run, transcripts } from './worlds.js';
it('probe', async () => {
  let d = await run({ home: { '.claude': 'x' }, script: ['ok'] });
  console.log(d.stdout, d.stderr);
  d = await run({
      args: ['--allowedTools', 'Bash', 'Write'],
      script: [
        { tool: 'Bash', input: { command: 'rm -rf "$PWD"' } },
        { tool: 'Bash', input: { command: 'pwd; ls' } },
        { tool: 'Read', input: { file_path: 'a.txt' } },
        'The directory is gone.',
      ],
      files: { 'a.txt': 'x' },
    });
  console.log([0,1,2].map(d.toolResult), d.project.exists('.'));
  d = await run({ prompt: null, stdin: 'x'.repeat(5<<20), script: ['read'] });
  d = await run({ world: d.world, args: ['--continue'], script: ['still'] });
  console.log(JSON.stringify(d.result), d.requests.length, d.scriptProblems, d.requests.map(r=>r.raw.length));
}, 120000);
