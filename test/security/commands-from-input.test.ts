import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeTempProject, type TempProject } from '../../src/testing/temp-project.js';
import { gateRig } from '../support/gate-rig.js';

let project: TempProject;
beforeAll(() => {
  project = makeTempProject({ files: { 'a.db': '', 'q.sql': '.sh id\n' } });
});
afterAll(() => project.remove());

const judged = (command: string, allow: readonly string[], deny: readonly string[] = []) =>
  gateRig({ cwd: project.directory, home: project.home, allow, deny }).bash(command);

const PREFIXES = [
  'sqlite3',
  'sqlite',
  'ftp',
  'lftp',
  'gdb',
  'ed',
  'ex',
  'vi',
  'dc',
  'psql',
  'mysql',
  'mariadb',
  'redis-cli',
  'at',
  'python3',
  'node',
  'perl',
  'timeout',
  'cat',
  'echo',
  'printf',
].map((program) => `Bash(${program} *)`);

describe('a program that runs commands from its input', () => {
  it.each([
    "sqlite3 a.db <<< '.sh id'",
    "sqlite3 a.db <<< .s''h\\ id",
    "sqlite3 a.db <<< $'.sh id'",
    'sqlite3 a.db < q.sql',
    'cat q.sql | sqlite3 a.db',
    "sqlite3 a.db <<'E'\nselect 1;\n.shell id\nE",
    "sqlite3 a.db <<'E'\n  .import '|id' t\nE",
    'sqlite3 a.db <<< "select writefile(\'x\', 1)"',
    "timeout 5 sqlite3 a.db <<< '.sh id'",
    "/usr/bin/sqlite3 a.db <<< '.sh id'",
    "for x in 1; do sqlite3 a.db; done <<< '.sh id'",
    "printf '.sh id' | while true; do sqlite3 a.db; done",
    'if true; then sqlite3 a.db; fi < q.sql',
    "ftp host <<< '!id'",
    "lftp <<< '!id'",
    "gdb prog <<< 'shell id'",
    "ed a.db <<< '!id'",
    "ex a.db <<< ':!id'",
    "vi -es a.db <<< ':!id'",
    "dc <<< '!id'",
    "psql <<< '\\! id'",
    "psql <<< 'select 1 \\g |id'",
    "psql <<'E'\ncopy t from program 'id'\nE",
    'psql db < q.sql',
    "mysql <<< 'system id'",
    "mariadb db <<< '\\! id'",
    "redis-cli <<< 'x'",
    "at now <<< 'id'",
    "python3 - <<< 'import os'",
    "python3 <<'E'\nimport os\nE",
    "node <<< 'process.exit()'",
    'perl < q.sql',
  ])('needs a rule for the whole of it: %s', async (command) => {
    expect(await judged(command, PREFIXES)).toBe('asks');
  });

  it.each([
    "sqlite3 a.db <<< 'select 1'",
    "sqlite3 a.db <<'E'\n.tables\n.mode csv\nselect * from t where a = 'x.sh';\nE",
    "psql <<< 'select 1;'",
    "psql db <<< '\\dt+'",
    'psql -c "select 1" < q.sql',
    "mysql db <<< 'select 1'",
    "dc <<< '1 2 + p'",
    'python3 script.py < q.sql',
    'node script.js <<< text',
    'cat < q.sql',
    "cat <<< '.sh id'",
  ])('runs where the input can start nothing: %s', async (command) => {
    expect(await judged(command, PREFIXES)).toBe('runs');
  });

  it('may be allowed by the whole command', async () => {
    const command = "sqlite3 a.db <<< '.sh id'";
    expect(await judged(command, [`Bash(${command})`])).toBe('runs');
  });

  it.each(['cat q.sql | sqlite3 a.db', 'echo x | ftp host', 'for x in 1; do gdb; done < q.sql'])(
    'is asked about as soon as anything is denied: %s',
    async (command) => {
      expect(await judged(command, ['Bash'], ['Bash(rm:*)'])).not.toBe('runs');
      expect(await judged(command, ['Bash'])).toBe('runs');
    },
  );
});
